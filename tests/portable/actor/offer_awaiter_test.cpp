// SPDX-License-Identifier: Apache-2.0
//
// Goal: a task waits for room in a full mailbox; its message arrives once, or becomes a dead letter
// (MB-2, AC-2).
#include <tactus/actor/offer_awaiter.hpp>

#include "coroutine_rig.hpp"
#include "portable_test.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace tactus_test;

namespace {

mailbox_index target;
cancel_context* context = nullptr;

// The receiver writes its numbers down as they are, so what the sender notes is beside them.
constexpr std::int32_t result_of = 500;  // + what became of the offer
constexpr std::int32_t was_cancelled = 600;

task<> offers(std::uint32_t n) {
    const sent result = co_await offer_awaiter(target, number{n});
    journal().add(result_of + static_cast<std::int32_t>(result));
}
task<> offers_until_cancelled(std::uint32_t n) {
    const auto result = co_await offer_awaiter(target, number{n}, context->token());
    journal().add(result ? result_of + static_cast<std::int32_t>(*result) : was_cancelled);
}
constexpr std::int32_t code(sent s) {
    return result_of + static_cast<std::int32_t>(s);
}

/// A receiver with room for one, which does not run, and a sender.
struct fixture {
    explicit fixture(coroutine_actor<>::handler h = offers) noexcept {
        context = &all;
        mailbox_options room_for_one;
        room_for_one.capacity = 1;
        room_for_one.when_full = overflow::block;
        target = *rig->spawn<plain_actor>(
            {.mailbox = room_for_one}, +[](turn& t, std::uint32_t) { sender_seen = t.sender(); });
        from = rig.spawn<coroutine_actor<>>(h);
        EXPECT_TRUE(rig->suspend(target, suspension::supervision));
        rig.tell(target, {1});
    }
    void let_go() noexcept { EXPECT_TRUE(rig->resume(target, suspension::supervision)); }

    cancel_context all;
    kernel_rig rig;
    mailbox_index from;
    static inline mailbox_index sender_seen;
};

}  // namespace

// MB-2, AC-2: the offer waits, the message comes in its turn, the task goes on. C-PAT-8 here: what
// waits is the task, not its worker, which goes on with others; who would rather not is told.
TEST(offer_awaiter, MB_2_a_task_waits_for_room) {
    fixture f;
    f.rig.tell(f.from, {7});
    f.rig.run();
    EXPECT_TRUE(journal().is({}));
    const mailbox_index other = *f.rig->spawn<plain_actor>({}, +[](turn&, std::uint32_t) {});
    f.rig.tell(other, {3});
    f.rig.run();
    EXPECT_TRUE(journal().is({3}));
    EXPECT_TRUE(actor_scheduler::try_offer(target, number{8}) == sent::would_block);
    f.let_go();
    f.rig.run();
    EXPECT_EQ(fixture::sender_seen, f.from);
    EXPECT_TRUE(journal().is({1, 7, code(sent::accepted), returned + 7}));
    EXPECT_TRUE(frames_are_free());
}

// Where there is room, or nobody, it does not wait.
TEST(offer_awaiter, an_offer_that_is_decided_at_once_does_not_wait) {
    fixture f;
    f.let_go();
    f.rig.run();
    journal().clear();
    f.rig.tell(f.from, {8});
    f.rig.run();
    EXPECT_TRUE(journal().is({code(sent::accepted), returned + 8, 8}));
    EXPECT_TRUE(f.rig->stop(target));
    f.rig.run();
    journal().clear();
    f.rig.tell(f.from, {9});
    f.rig.run();
    EXPECT_TRUE(journal().is({code(sent::recipient_terminated), returned + 9}));
    EXPECT_TRUE(frames_are_free());
}

// MB-2: the receiver ends: who waits is told.
TEST(offer_awaiter, MB_2_the_receiver_ends) {
    fixture f;
    f.rig.tell(f.from, {7});
    f.rig.run();
    EXPECT_TRUE(f.rig->stop(target));
    f.rig.run();
    EXPECT_TRUE(journal().is({dead + 1, closed, code(sent::recipient_terminated), returned + 7}));
    EXPECT_TRUE(frames_are_free());
}

// AC-2: the sender ends while it waits: the offer is given up, the message a dead letter.
TEST(offer_awaiter, AC_2_the_sender_ends) {
    fixture f;
    f.rig.tell(f.from, {7});
    f.rig.run();
    EXPECT_TRUE(f.rig->stop(f.from));
    f.rig.run();
    EXPECT_TRUE(journal().is({dead + 7, destroyed + 7, closed}));
    EXPECT_EQ(f.rig.events.count(dead_letter_cause::mailbox_timeout), 1u);
    EXPECT_TRUE(frames_are_free());
    f.let_go();
    f.rig.run();
    EXPECT_TRUE(journal().is({1}));
}

// CH-12: cancelled while it waits: nothing is left in the line, and the task goes on.
TEST(offer_awaiter, CH_12_a_wait_for_room_is_cancelled) {
    fixture f(offers_until_cancelled);
    f.rig.tell(f.from, {7});
    f.rig.run();
    EXPECT_TRUE(f.all.cancel({}));
    f.rig.run();
    EXPECT_TRUE(journal().is({dead + 7, was_cancelled, returned + 7}));
    EXPECT_TRUE(frames_are_free());
    f.let_go();
    f.rig.run();
    EXPECT_TRUE(journal().is({1}));
}

// The system ends with offers and their senders in it.
TEST(offer_awaiter, UP_2_the_system_ends) {
    fixture f;
    f.rig.tell(f.from, {7});
    f.rig.run();
    f.rig.destroy();
    EXPECT_TRUE(frames_are_free());
}
