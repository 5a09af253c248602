// SPDX-License-Identifier: Apache-2.0
//
// Goal: waiting for the end of an actor (AC-8), and for its answer who it is (AC-7), in a coroutine
// with a clock set by hand.
#include <tactus/actor/actor.hpp>
#include <tactus/actor/actor_selection.hpp>

#include <gtest/gtest.h>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::ms;
using tactus_test::world_rig;

namespace {

enum : std::int32_t { has_ended = 1'000, has_not = 1'001, found = 2'000, fault = 2'001 };

struct please_end {};
class target : public actor<int, please_end> {
public:
    void on(int v) { journal().add(v); }
    void on(please_end) {
        if (obeys)
            context().stop();
    }
    static inline bool obeys = true;
};

struct stop_it {
    any_ref who;
};
struct ask_it {
    any_ref who;
};
struct find_it {
    const char* path;
};
class stopper : public actor<stop_it, ask_it, find_it> {
public:
    task<> on(stop_it m) {
        const bool ended = co_await context().graceful_stop(m.who, limit);
        journal().add(ended ? has_ended : has_not);
    }
    task<> on(ask_it m) {
        const bool ended = co_await context().graceful_stop(m.who, limit, please_end{});
        journal().add(ended ? has_ended : has_not);
    }
    task<> on(find_it m) {
        const auto who = co_await context().resolve(context().select(m.path), limit);
        journal().add(who ? found : fault + static_cast<std::int32_t>(who.error()));
        last = who.value_or(any_ref{});
    }
    static inline duration limit = ms(100);
    static inline any_ref last;
};

struct stage : world_rig {
    stage() {
        stopper::limit = ms(100);
        target::obeys = true;
        t = spawn<target>("t");
        s = spawn<stopper>("s");
        run();
    }
    detail::ref_of<target> t;
    detail::ref_of<stopper> s;
};

}  // namespace

// AC-8, PK-ASK-6: true when it has ended; what was sent before is handled.
TEST(graceful_stop, AC_8_ends_and_says_so) {
    stage rig;
    rig.t.tell(1);
    rig.t.tell(2);
    rig.s.tell(stop_it{rig.t});
    rig.run();
    EXPECT_TRUE(journal().is({1, 2, has_ended}));
    EXPECT_FALSE(rig.world.find("/user/t").valid());
    EXPECT_EQ(rig.timing.pending(), 0u);
    // Again: it has ended; no dead letter.
    rig.s.tell(stop_it{rig.t});
    rig.run();
    EXPECT_TRUE(journal().is({has_ended}));
    EXPECT_EQ(rig.said.dead_letters, 0u);
    EXPECT_EQ(rig.timing.pending(), 0u);
    rig.end();
}

// PK-ASK-6: with a message of one's own; false when it has not ended in time, and nobody waits on.
TEST(graceful_stop, PK_ASK_6_with_a_message_and_too_late) {
    stage rig;
    target::obeys = false;
    rig.s.tell(ask_it{rig.t});
    rig.pass(99);
    EXPECT_TRUE(journal().is({}));
    rig.pass(3);
    EXPECT_TRUE(journal().is({has_not}));
    EXPECT_TRUE(rig.world.find("/user/t").valid());
    target::obeys = true;
    rig.s.tell(ask_it{rig.t});
    rig.run();
    EXPECT_TRUE(journal().is({has_ended}));
    EXPECT_EQ(rig.timing.pending(), 0u);
    rig.end();
}

// No time, no memory: false, and it is not told to end.
TEST(graceful_stop, AC_8_what_cannot_be_waited_for) {
    stage rig;
    stopper::limit = ms(0);
    rig.s.tell(stop_it{rig.t});
    rig.run();
    EXPECT_TRUE(journal().is({has_not}));
    EXPECT_TRUE(rig.world.find("/user/t").valid());
    stopper::limit = ms(100);
    // Each of the blocks it takes, refused; who cannot even begin to wait fails.
    bool done = false;
    for (std::size_t n = 0; n < 20 && !done; ++n) {
        const auto s = rig.spawn<stopper>("");
        rig.run();
        s.tell(stop_it{rig.t});
        rig.memory.allowance = n;
        rig.run();
        rig.memory.allowance = ~std::size_t{0};
        rig.pass(102);
        done = !rig.world.find("/user/t").valid();
        journal().clear();
    }
    EXPECT_TRUE(done);
    EXPECT_EQ(rig.timing.pending(), 0u);
    rig.end();
}

// AC-8, AC-2: who waits is stopped itself: nothing is left of the wait.
TEST(graceful_stop, AC_8_the_waiting_one_ends) {
    stage rig;
    target::obeys = false;
    rig.s.tell(ask_it{rig.t});
    rig.run();
    EXPECT_EQ(rig.timing.pending(), 1u);
    (void)rig.world.stop(rig.s.index());
    rig.run();
    EXPECT_EQ(rig.timing.pending(), 0u);
    EXPECT_TRUE(journal().is({}));
    rig.end();
}

// C-REF-6: resolving: found, or not; who does not answer in time is a timeout.
TEST(graceful_stop, C_REF_6_resolving) {
    stage rig;
    rig.s.tell(find_it{"../t"});
    rig.run();
    EXPECT_TRUE(journal().is({found}));
    EXPECT_TRUE(stopper::last == rig.t.any());
    rig.s.tell(find_it{"../?"});
    rig.run();
    EXPECT_TRUE(journal().is({found}));
    rig.s.tell(find_it{"/user/nobody"});
    rig.run();
    EXPECT_TRUE(journal().is({fault + static_cast<std::int32_t>(ask_fault::target_terminated)}));
    ASSERT_TRUE(rig.kernel->suspend(rig.t.index(), suspension::supervision));
    rig.s.tell(find_it{"/user/t"});
    rig.pass(102);
    EXPECT_TRUE(journal().is({fault + static_cast<std::int32_t>(ask_fault::timeout)}));
    // It ends before it has answered.
    rig.s.tell(find_it{"/user/t"});
    rig.run();
    (void)rig.world.stop(rig.t.index());
    rig.run();
    EXPECT_TRUE(journal().is({fault + static_cast<std::int32_t>(ask_fault::target_terminated)}));
    EXPECT_EQ(rig.timing.pending(), 0u);
    rig.end();
}

namespace {

struct counting_waker final : waker {
    void wake() noexcept override { ++count; }
    int count = 0;
};
/// Its steps, one by one: between them others run.
class steps : public detail::stop_wait {
public:
    steps(stage& rig, waker& to_wake) : stop_wait(rig.world, rig.t, ms(100), to_wake) {}
    using stop_wait::over;
    using stop_wait::told;
    using stop_wait::watch;
};

}  // namespace

// AC-8, AC-2: whoever is faster, the message that finds nobody, the watcher or the timer: the
// waker is called exactly when there is said to be something to wait for.
TEST(graceful_stop, AC_8_whoever_is_faster) {
    stage rig;
    (void)rig.world.stop(rig.t.index());
    rig.run();
    {
        counting_waker w;
        steps s(rig, w);
        EXPECT_TRUE(s.watch());
        rig.run();
        EXPECT_EQ(w.count, 1);
        EXPECT_TRUE(s.told(sent::recipient_terminated));
        EXPECT_TRUE(s.take());
    }
    {
        counting_waker w;
        steps s(rig, w);
        EXPECT_TRUE(s.watch());
        EXPECT_FALSE(s.told(sent::recipient_terminated));
        rig.run();
        EXPECT_EQ(w.count, 0);
        EXPECT_TRUE(s.take());
    }
    {
        counting_waker w;
        steps s(rig, w);
        EXPECT_TRUE(s.watch());
        rig.run();
        EXPECT_TRUE(s.over());  // as if there were no timer
        EXPECT_EQ(w.count, 1);
        EXPECT_TRUE(s.take());
    }
    const auto alive = rig.spawn<target>("alive");
    rig.t = alive;
    {
        counting_waker w;
        steps s(rig, w);
        EXPECT_TRUE(s.watch());
        rig.pass(102);
        EXPECT_EQ(w.count, 1);
        EXPECT_TRUE(s.told(sent::mailbox_full));
        EXPECT_FALSE(s.take());
    }
    rig.run();
    EXPECT_EQ(rig.timing.pending(), 0u);
    rig.end();
}
