// SPDX-License-Identifier: Apache-2.0
//
// Goal: a wait that takes a token ends when its context is cancelled, in the actor's turn, and says
// so; whichever of the wake and the cancellation is first decides (CH-12, CH-15).
#include <tactus/actor/coroutine_set.hpp>

#include "coroutine_rig.hpp"
#include "portable_test.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace tactus_test;

namespace {

cancel_context* context = nullptr;
constexpr std::int32_t was_cancelled = 400;  // + the kind

task<> waits(std::uint32_t n) {
    const local here(static_cast<std::int32_t>(n));
    const auto result = co_await signals::at(n).wait(context->token());
    journal().add(result ? 200 + static_cast<std::int32_t>(n)
                         : was_cancelled + static_cast<std::int32_t>(result.error().kind));
}

struct fixture {
    fixture() noexcept { context = &all; }
    signals s;
    cancel_context all;
    kernel_rig rig;
    mailbox_index who = rig.spawn<coroutine_actor<>>(waits);
};

}  // namespace

// CH-15
TEST(cancelled_wait, CH_15_a_wait_ends_when_it_is_cancelled) {
    fixture f;
    f.rig.tell(f.who, {1, 2});
    f.rig.run();
    EXPECT_TRUE(f.all.cancel({cancel_kind::deadline_miss, "late"}));
    EXPECT_TRUE(journal().is({}));  // never inside the call
    f.rig.run();
    EXPECT_TRUE(journal().is({401, gone + 1, returned + 1, 401, gone + 2, returned + 2}));
    EXPECT_TRUE(frames_are_free());
    signals::at(1).wake();
    EXPECT_EQ(f.rig.run(), 0u);
}

// CH-12: what is cancelled before it begins leaves no trace in the source.
TEST(cancelled_wait, CH_12_what_is_cancelled_already_does_not_begin) {
    fixture f;
    EXPECT_TRUE(f.all.cancel({cancel_kind::user, ""}));
    f.rig.tell(f.who, {1, 1});
    f.rig.run();
    EXPECT_TRUE(journal().is({400, gone + 1, returned + 1, 400, gone + 1, returned + 1}));
    EXPECT_TRUE(frames_are_free());
    signals::at(1).wake();
    EXPECT_EQ(f.rig.run(), 0u);
}

// The wake is first: its result counts, though the cancellation is on its way.
TEST(cancelled_wait, a_wake_before_the_cancellation_counts) {
    fixture f;
    f.rig.tell(f.who, {1});
    f.rig.run();
    signals::at(1).wake();
    EXPECT_TRUE(f.all.cancel({}));
    f.rig.run();
    EXPECT_TRUE(journal().is({201, gone + 1, returned + 1}));
    EXPECT_TRUE(frames_are_free());
}

// The cancellation was sent first, but when it is handled the source has decided: it counts.
TEST(cancelled_wait, what_cannot_be_given_up_any_more_counts) {
    fixture f;
    f.rig.tell(f.who, {1});
    f.rig.run();
    EXPECT_TRUE(f.all.cancel({}));
    signals::at(1).wake();
    f.rig.run();
    EXPECT_TRUE(journal().is({201, gone + 1, returned + 1}));
    EXPECT_TRUE(frames_are_free());
}

// The frame is destroyed with both on their way, or with none.
TEST(cancelled_wait, an_actor_ends_with_both_on_their_way) {
    fixture f;
    f.rig.tell(f.who, {1, 2});
    f.rig.run();
    EXPECT_TRUE(f.rig->suspend(f.who, suspension::supervision));
    signals::at(1).wake();
    EXPECT_TRUE(f.all.cancel({}));
    f.rig.run();
    struct restart_node : system_message {
        restart_node() noexcept { kind = system_kind::recreate; }
    } restart;
    EXPECT_TRUE(f.rig->send_system(f.who, restart));
    f.rig.run();
    EXPECT_TRUE(journal().is({gone + 2, destroyed + 2, gone + 1, destroyed + 1}));
    EXPECT_TRUE(frames_are_free());
}
TEST(cancelled_wait, a_frame_that_goes_leaves_the_context) {
    fixture f;
    f.rig.tell(f.who, {1});
    f.rig.run();
    EXPECT_TRUE(f.rig->stop(f.who));
    f.rig.run();
    EXPECT_TRUE(journal().is({gone + 1, destroyed + 1, closed}));
    EXPECT_TRUE(frames_are_free());
    EXPECT_TRUE(f.all.cancel({}));  // nobody is called
}

// A token of no context: as without one.
TEST(cancelled_wait, a_token_of_no_context_is_never_cancelled) {
    const signals s;
    kernel_rig rig;
    const mailbox_index who = rig.spawn<coroutine_actor<>>(+[](std::uint32_t n) -> task<> {
        journal().add((co_await signals::at(n).wait(cancel_token())).has_value() ? 1 : 0);
    });
    rig.tell(who, {1});
    rig.run();
    signals::at(1).wake();
    rig.run();
    EXPECT_TRUE(journal().is({1, returned + 1}));
    EXPECT_TRUE(frames_are_free());
}
