// SPDX-License-Identifier: Apache-2.0
//
// Goal: what our bounded mailboxes have of the contract of a blocking queue (C-MQ-16), and that a
// full one does not keep a system message waiting (TC-F09).
// Method: one system run by the test; waiting is a pending offer. With threads that really sleep:
// tests/hosted/runtime/queue_contract_threads_test.cpp.
//
//   theirs                      ours
//   offer                       try_tell
//   put, timed offer            offer with a time: negative, or how long
//   interrupt of a put          pending_offer::cancel
//   poll, take                  a run; without messages there is none, and the next causes one
//   size, remainingCapacity     depth_of, and the capacity less that
//   drainTo                     the close, in order, to dead letters; with a limit: the throughput
//
// Without a counterpart, since nobody but the owner sees what is in a mailbox: peek and element,
// contains, toArray, iterator and its remove, remove, removeAll and retainAll, timed poll and the
// interrupt of a take. Elements are values, so there is no null to refuse; two kinds of backing
// queue are two kinds of mailbox (mailbox_kinds_test).
#include <array>
#include <cstdint>
#include <utility>

#include "mailbox_rig.hpp"
#include "portable_test.hpp"

using namespace tactus;
using namespace tactus_test;
using cause = tactus::dead_letter_cause;

namespace {

constexpr std::uint32_t capacity = 3;

struct counting_waker final : waker {
    unsigned woken = 0;
    void wake() noexcept override { ++woken; }
};

std::uint32_t remaining(mailbox_rig& rig, mailbox_index a) {
    const auto depth = rig->depth_of(a);
    EXPECT_TRUE(depth.has_value() && *depth <= capacity);
    return capacity - depth.value_or(0);
}

/// One message per run.
void one_at_a_time(kernel_rig::options& o) {
    o.throughput = 1;
}

}  // namespace

// C-MQ-16: offer, size, remainingCapacity; the message that did not fit is its sender's.
TEST(queue_contract, C_MQ_16_offer_is_taken_until_full_and_then_given_back) {
    for (const overflow how : {overflow::reject, overflow::block}) {
        mailbox_rig rig(&one_at_a_time);
        parcel::live = 0;
        const mailbox_index a = rig.with(bounded(capacity, how));
        for (std::uint32_t i = 1; i <= capacity; ++i) {
            EXPECT_EQ(remaining(rig, a), capacity - i + 1);
            EXPECT_TRUE(actor_scheduler::try_tell(a, parcel(i)) == sent::accepted);
        }
        EXPECT_EQ(remaining(rig, a), 0u);
        {
            parcel late(9);
            EXPECT_TRUE(actor_scheduler::try_tell(a, std::move(late)) == sent::mailbox_full);
            EXPECT_EQ(late.value(), 9u);
            EXPECT_EQ(remaining(rig, a), 0u);
            EXPECT_TRUE(rig.run_once());  // a place is free again
            EXPECT_EQ(remaining(rig, a), 1u);
            EXPECT_TRUE(actor_scheduler::try_tell(a, std::move(late)) == sent::accepted);
        }
        (void)rig.run();
        EXPECT_TRUE(journal().is({1, 2, 3, 9}));
        EXPECT_EQ(remaining(rig, a), capacity);
        EXPECT_EQ(parcel::live, 0);
        EXPECT_EQ(rig.events.letters, 0u);
    }
}

// C-MQ-16: poll and take: in order, nothing where there is nothing, and nothing is missed after it.
TEST(queue_contract, C_MQ_16_messages_are_taken_in_order_and_an_empty_mailbox_gives_none) {
    mailbox_rig rig(&one_at_a_time);
    const mailbox_index a = rig.with(bounded(capacity, overflow::block));
    for (std::uint32_t round = 0; round < 3; ++round) {
        EXPECT_FALSE(rig.run_once());
        rig.tell(a, {1, 2});
        EXPECT_TRUE(rig.run_once());
        EXPECT_TRUE(journal().is({1}));
        rig.tell(a, {3});
        EXPECT_TRUE(rig.run_once());
        EXPECT_TRUE(rig.run_once());
        EXPECT_TRUE(journal().is({2, 3}));
        EXPECT_EQ(remaining(rig, a), capacity);
    }
}

// C-MQ-16: put: it waits for room, is in when there is some, and puts keep their order.
TEST(queue_contract, C_MQ_16_put_waits_for_room) {
    mailbox_rig rig(&one_at_a_time);
    const mailbox_index a = rig.with(bounded(capacity, overflow::block));
    std::array<counting_waker, 3> woken;
    pending_offer at_once(woken[0]);
    EXPECT_TRUE(at_once.start(a, number{1}) == sent::accepted);
    EXPECT_EQ(woken[0].woken, 0u);  // it did not wait
    rig.tell(a, {2, 3});
    pending_offer first(woken[1]);
    pending_offer second(woken[2]);
    number messages[] = {{4}, {5}};
    EXPECT_FALSE(first.start(a, std::move(messages[0])).has_value());
    EXPECT_FALSE(second.start(a, std::move(messages[1])).has_value());
    EXPECT_EQ(remaining(rig, a), 0u);  // what waits is not in
    EXPECT_TRUE(rig.run_once());
    EXPECT_EQ(woken[1].woken, 1u);
    EXPECT_TRUE(first.decision() == sent::accepted);
    EXPECT_EQ(woken[2].woken, 0u);
    EXPECT_EQ(remaining(rig, a), 0u);
    (void)rig.run();
    EXPECT_EQ(woken[2].woken, 1u);
    EXPECT_TRUE(second.decision() == sent::accepted);
    EXPECT_TRUE(journal().is({1, 2, 3, 4, 5}));
    EXPECT_EQ(remaining(rig, a), capacity);
}

// C-MQ-16: a timed offer whose time is over, and a put that is interrupted, leave no trace in the
// mailbox, nor a place for which nobody waits any more.
TEST(queue_contract, C_MQ_16_who_gives_up_leaves_the_mailbox_as_it_was) {
    mailbox_rig rig(&one_at_a_time);
    const mailbox_index a = rig.with(bounded(capacity, overflow::block));
    EXPECT_TRUE(offer(a, number{1}, duration()) == sent::accepted);  // room: no time needed
    rig.tell(a, {2, 3});
    EXPECT_TRUE(offer(a, number{8}, duration()) == sent::timed_out);
    counting_waker woken;
    pending_offer interrupted(woken);
    number message{9};
    EXPECT_FALSE(interrupted.start(a, std::move(message)).has_value());
    EXPECT_TRUE(interrupted.cancel());
    EXPECT_EQ(remaining(rig, a), 0u);
    EXPECT_TRUE(rig.run_once());
    EXPECT_EQ(remaining(rig, a), 1u);
    EXPECT_EQ(woken.woken, 0u);
    EXPECT_TRUE(actor_scheduler::try_tell(a, number{4}) == sent::accepted);
    (void)rig.run();
    EXPECT_TRUE(journal().is({dead + 8, dead + 9, 1, 2, 3, 4}));
    EXPECT_EQ(rig.events.count(cause::mailbox_timeout), 2u);
}

// C-MQ-16: drainTo: all that is left, in order, once; with a limit no more than that.
TEST(queue_contract, C_MQ_16_draining_takes_all_in_order) {
    mailbox_rig rig([](kernel_rig::options& o) { o.throughput = 2; });
    const mailbox_index a = rig.with(bounded(capacity, overflow::reject));
    rig.tell(a, {1, 2, 3});
    EXPECT_TRUE(rig.run_once());
    EXPECT_TRUE(journal().is({1, 2}));
    EXPECT_EQ(remaining(rig, a), 2u);
    rig.tell(a, {4, 5});
    EXPECT_TRUE(rig->stop(a));
    (void)rig.run();
    EXPECT_TRUE(journal().is({dead + 3, dead + 4, dead + 5, closed}));
    EXPECT_TRUE(actor_scheduler::try_tell(a, number{6}) == sent::recipient_terminated);
    EXPECT_FALSE(rig->depth_of(a).has_value());
    (void)rig.run();
    EXPECT_TRUE(journal().is({}));
}

// TC-F09: user capacity 1, full; two system messages beside it. Ours need no capacity (SQ-3), so
// that the second is taken like the first; both are handled before the user's.
TEST(queue_contract, TC_F09_a_full_mailbox_handles_system_messages_first) {
    for (const overflow how : {overflow::drop_oldest, overflow::drop_newest, overflow::reject,
                               overflow::dead_letter, overflow::block}) {
        mailbox_rig rig;
        const mailbox_index a = rig.with<system_actor>(bounded(1, how));
        signal_node first(system_kind::watch, 1);
        signal_node second(system_kind::watch, 2);
        rig.tell(a, {7});
        EXPECT_EQ(*rig->depth_of(a), 1u);
        EXPECT_TRUE(rig->send_system(a, first));
        EXPECT_TRUE(rig->send_system(a, second));
        EXPECT_EQ(*rig->depth_of(a), 1u);  // they take no place of a user message
        (void)rig.run();
        EXPECT_TRUE(journal().is({tactus_test::system + 1, tactus_test::system + 2, 7}));
        EXPECT_EQ(rig.events.letters, 0u);
    }
}
