// SPDX-License-Identifier: Apache-2.0
//
// Mailbox, one situation at a time: who submits, what a suspended mailbox keeps, who finalizes and
// what the sink sees (ME-1, ME-3 … 6, C-MBX-9 … 12, 20, 23, TC-M25, TC-M26).
#include <tactus/mailbox/mailbox.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>

#include "portable_test.hpp"

using tactus::enqueued;
using tactus::envelope;
using tactus::mailbox;
using tactus::mailbox_owed;
using tactus::mailbox_state;
using tactus::schedule_hint;
using tactus::system_message;
using enum tactus::suspension;

namespace {

constexpr std::size_t many = tactus_test::board::roomy ? 1'000 : 100;
std::array<envelope, many> user;
std::array<system_message, 8> sys;

/// Remembers what the finalizer gave it, as addresses in order.
struct recorder {
    std::array<const void*, 16> seen{};
    std::size_t count = 0;
    void refused(envelope& e) { seen[count++] = &e; }
    void refused(system_message& m) { seen[count++] = &m; }
};

/// Ends a run that found nothing more to do.
void go_idle(mailbox& box) {
    EXPECT_EQ(box.end_run(), enqueued::accepted);
}

}  // namespace

TEST(mailbox, all_zero_memory_refuses_both_kinds) {
    alignas(mailbox) std::byte zeros[sizeof(mailbox)]{};
    mailbox& box = *std::launder(reinterpret_cast<mailbox*>(zeros));
    EXPECT_EQ(box.enqueue(user[0]), enqueued::closed);
    EXPECT_EQ(box.enqueue_system(sys[0]), enqueued::closed);
    EXPECT_FALSE(box.has_user_messages());
    EXPECT_FALSE(box.has_system_messages());
    EXPECT_FALSE(box.offer_work());
    EXPECT_EQ(box.generation(), 0u);
    for (const std::byte b : zeros)
        EXPECT_TRUE(b == std::byte{0});
}

TEST(mailbox, users_are_first_in_first_out_across_batches) {
    mailbox box;
    box.open(1, false);
    EXPECT_EQ(box.enqueue(user[0]), enqueued::submit);
    EXPECT_EQ(box.enqueue(user[1]), enqueued::accepted);
    EXPECT_TRUE(box.next_user() == &user[0]);
    EXPECT_EQ(box.enqueue(user[2]), enqueued::accepted);  // behind the batch
    EXPECT_TRUE(box.owner_has_user());
    EXPECT_EQ(box.fetch_batch(), 1u);
    EXPECT_FALSE(box.first_deadline().has_value());
    EXPECT_TRUE(box.next_user() == &user[1]);
    EXPECT_TRUE(box.next_user() == &user[2]);
    EXPECT_FALSE(box.owner_has_user());
    EXPECT_EQ(box.fetch_batch(), 0u);
    EXPECT_FALSE(box.first_deadline().has_value());
    EXPECT_TRUE(box.next_user() == nullptr);
    go_idle(box);
}

TEST(mailbox, what_is_put_back_comes_before_everything_queued) {
    mailbox box;
    box.open(1, true);
    for (std::size_t i = 0; i < 3; ++i)
        (void)box.enqueue(user[i]);
    envelope* first = box.next_user();
    box.put_back(*first);
    (void)box.enqueue(user[3]);
    for (std::size_t i = 0; i < 4; ++i)
        EXPECT_TRUE(box.next_user() == &user[i]);
    EXPECT_TRUE(box.next_user() == nullptr);
    // Into an empty batch, and over the end of the run.
    box.put_back(user[0]);
    EXPECT_EQ(box.end_run(), enqueued::submit);
    EXPECT_TRUE(box.next_user() == &user[0]);
    go_idle(box);
}

// C-MBX-9
TEST(mailbox, C_MBX_9_an_empty_open_mailbox_is_scheduled_by_a_hint_only) {
    for (const auto hint : {schedule_hint::user, schedule_hint::system}) {
        mailbox box;
        box.open(1, false);
        EXPECT_FALSE(box.offer_work());
        EXPECT_TRUE(box.state().request_schedule(hint));
    }
}

// C-MBX-10
TEST(mailbox, C_MBX_10_queued_users_schedule_an_open_mailbox_without_a_hint) {
    mailbox box;
    box.open(1, false);
    EXPECT_EQ(box.enqueue(user[0]), enqueued::submit);
    EXPECT_EQ(box.state().run_ended(), mailbox_owed::look_again);
    EXPECT_TRUE(box.offer_work());
    EXPECT_FALSE(box.offer_work());  // won once
}

// C-MBX-11
TEST(mailbox, C_MBX_11_a_suspended_mailbox_is_scheduled_by_system_messages_only) {
    mailbox box;
    box.open(1, false);
    EXPECT_TRUE(box.state().suspend(supervision));
    EXPECT_EQ(box.enqueue(user[0]), enqueued::accepted);
    EXPECT_FALSE(box.state().request_schedule(schedule_hint::user));
    EXPECT_FALSE(box.offer_work());
    EXPECT_EQ(box.enqueue_system(sys[0]), enqueued::submit);
    EXPECT_EQ(box.state().run_ended(), mailbox_owed::look_again);
    EXPECT_TRUE(box.offer_work());
    EXPECT_EQ(box.state().state(), mailbox_state::suspended_scheduled);
    EXPECT_TRUE(box.drain_system().pop() == &sys[0]);
}

// C-MBX-12, ME-6: with messages queued while it closes, and after.
TEST(mailbox, C_MBX_12_ME_6_a_closed_mailbox_is_never_scheduled) {
    mailbox box;
    box.open(1, false);
    EXPECT_TRUE(box.state().suspend(supervision));
    EXPECT_EQ(box.enqueue(user[0]), enqueued::accepted);
    EXPECT_EQ(box.state().request_close(), mailbox_owed::finalize);
    EXPECT_EQ(box.enqueue(user[1]), enqueued::accepted);
    EXPECT_EQ(box.enqueue_system(sys[0]), enqueued::accepted);
    const auto refuses = [&box] {
        EXPECT_FALSE(box.offer_work());
        EXPECT_FALSE(box.state().request_schedule(schedule_hint::user));
        EXPECT_FALSE(box.state().request_schedule(schedule_hint::system));
    };
    refuses();
    recorder sink;
    (void)box.finalize(2, {}, sink);
    EXPECT_EQ(sink.count, 3u);
    refuses();
    EXPECT_EQ(box.enqueue(user[2]), enqueued::closed);
    EXPECT_EQ(box.enqueue_system(sys[1]), enqueued::closed);
    refuses();
}

// C-MBX-20, ME-3, the part for one thread: the message comes after the last look of the run.
TEST(mailbox, C_MBX_20_ME_3_what_arrives_at_the_end_of_a_run_is_rescheduled) {
    mailbox box;
    box.open(1, false);
    EXPECT_EQ(box.enqueue(user[0]), enqueued::submit);
    EXPECT_TRUE(box.next_user() == &user[0]);
    EXPECT_TRUE(box.next_user() == nullptr);
    EXPECT_EQ(box.enqueue(user[1]), enqueued::accepted);  // the runner will see to it
    EXPECT_EQ(box.end_run(), enqueued::submit);
    EXPECT_TRUE(box.next_user() == &user[1]);
    EXPECT_EQ(box.enqueue_system(sys[0]), enqueued::accepted);
    EXPECT_EQ(box.end_run(), enqueued::submit);
    EXPECT_TRUE(box.drain_system().pop() == &sys[0]);
    go_idle(box);
}

// ME-3: counts every submit that anybody is told to do.
TEST(mailbox, ME_3_a_suspended_mailbox_full_of_users_is_not_submitted_again) {
    mailbox box;
    box.open(1, false);
    std::size_t submits = 0;
    const auto count = [&submits](enqueued result) {
        EXPECT_NE(result, enqueued::closed);
        submits += result == enqueued::submit ? 1 : 0;
    };
    EXPECT_TRUE(box.state().suspend(supervision));
    for (envelope& e : user)
        count(box.enqueue(e));
    EXPECT_EQ(submits, 0u);
    // Runs for system messages, also with a batch taken, do not make it more.
    for (std::size_t round = 1; round <= 10; ++round) {
        count(box.enqueue_system(sys[0]));
        EXPECT_EQ(submits, round);
        EXPECT_TRUE(box.drain_system().pop() == &sys[0]);
        EXPECT_EQ(box.fetch_batch(), std::size(user));
        count(box.end_run());
        EXPECT_EQ(submits, round);
    }
    EXPECT_TRUE(box.state().resume(supervision));
    EXPECT_TRUE(box.offer_work());
    for (envelope& e : user)
        ASSERT_TRUE(box.next_user() == &e);
    EXPECT_TRUE(box.next_user() == nullptr);
    count(box.end_run());
    EXPECT_EQ(submits, 10u);
}

// ME-4
TEST(mailbox, ME_4_users_of_a_suspended_mailbox_are_delivered_after_resume) {
    mailbox box;
    box.open(1, false);
    EXPECT_TRUE(box.state().suspend(await));
    EXPECT_FALSE(box.state().suspend(supervision));
    EXPECT_EQ(box.enqueue(user[0]), enqueued::accepted);
    EXPECT_EQ(box.enqueue(user[1]), enqueued::accepted);
    EXPECT_FALSE(box.state().resume(supervision));
    EXPECT_FALSE(box.offer_work());
    EXPECT_TRUE(box.state().resume(await));
    EXPECT_TRUE(box.has_user_messages());
    EXPECT_TRUE(box.offer_work());
    EXPECT_TRUE(box.next_user() == &user[0]);
    EXPECT_TRUE(box.next_user() == &user[1]);
    go_idle(box);
}

// ME-3, ME-4: the batch left the inbox before the suspension; only the owner's line has it.
TEST(mailbox, ME_4_a_batch_kept_over_a_suspension_is_found_after_resume) {
    mailbox box;
    box.open(1, false);
    for (std::size_t i = 0; i < 3; ++i)
        (void)box.enqueue(user[i]);
    EXPECT_TRUE(box.next_user() == &user[0]);
    EXPECT_TRUE(box.state().suspend(supervision));
    EXPECT_EQ(box.end_run(), enqueued::accepted);
    EXPECT_EQ(box.state().state(), mailbox_state::suspended);
    EXPECT_FALSE(box.offer_work());
    EXPECT_TRUE(box.state().resume(supervision));
    EXPECT_TRUE(box.has_user_messages());
    EXPECT_TRUE(box.offer_work());
    EXPECT_TRUE(box.next_user() == &user[1]);
    EXPECT_TRUE(box.next_user() == &user[2]);
    go_idle(box);
    EXPECT_FALSE(box.has_user_messages());
    EXPECT_FALSE(box.offer_work());  // it was not kept a second time
}

TEST(mailbox, ME_4_a_resume_before_the_run_ends_leaves_the_batch_to_its_runner) {
    mailbox box;
    box.open(1, false);
    (void)box.enqueue(user[0]);
    (void)box.enqueue(user[1]);
    EXPECT_TRUE(box.next_user() == &user[0]);
    EXPECT_TRUE(box.state().suspend(await));
    EXPECT_TRUE(box.state().resume(await));
    EXPECT_FALSE(box.offer_work());  // it is still running
    EXPECT_EQ(box.end_run(), enqueued::submit);
    EXPECT_TRUE(box.next_user() == &user[1]);
    go_idle(box);
}

// C-MBX-23, TC-M26, ME-5
TEST(mailbox, C_MBX_23_TC_M26_leftovers_reach_the_sink_in_order_system_first) {
    mailbox box;
    box.open(7, true);
    user[0].sender.write(tactus::mailbox_index::make(1, 5, 9));
    user[1].sender.write(tactus::mailbox_index::make(1, 6, 10));
    (void)box.enqueue(user[0]);
    EXPECT_EQ(box.fetch_batch(), 1u);  // one in the batch, one in the inbox
    (void)box.enqueue(user[1]);
    for (std::size_t i = 0; i < 4; ++i)
        (void)box.enqueue_system(sys[i]);
    tactus::oldest_first drained = box.drain_system();
    EXPECT_TRUE(drained.pop() == &sys[0]);  // handled: it asks for the close
    EXPECT_EQ(box.state().request_close(), mailbox_owed::nothing);
    EXPECT_FALSE(box.state().should_process());
    (void)box.enqueue_system(sys[4]);
    EXPECT_EQ(box.end_run(), enqueued::closed);
    recorder sink;
    const auto left = box.finalize(8, drained, sink);
    EXPECT_EQ(left.system, 4u);
    EXPECT_EQ(left.user, 2u);
    const std::array<const void*, 6> expected{&sys[1], &sys[2],  &sys[3],
                                              &sys[4], &user[0], &user[1]};
    ASSERT_EQ(sink.count, expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_TRUE(sink.seen[i] == expected[i]);
    EXPECT_TRUE(user[0].sender.read() == tactus::mailbox_index::make(1, 5, 9));
    EXPECT_TRUE(user[1].sender.read() == tactus::mailbox_index::make(1, 6, 10));
    EXPECT_EQ(box.state().word() & ~tactus::state_word::life_mask, 1u);
    EXPECT_EQ(box.generation(), 8u);
    // TC-M26: nothing of it is there any more.
    EXPECT_TRUE(box.drain_system().empty());
    EXPECT_FALSE(box.has_user_messages());
    EXPECT_FALSE(box.has_system_messages());
}

// TC-M25, ME-5
TEST(mailbox, TC_M25_an_idle_mailbox_is_finalized_by_the_caller) {
    mailbox box;
    box.open(1, false);
    EXPECT_EQ(box.state().request_close(), mailbox_owed::finalize);
    EXPECT_EQ(box.state().request_close(), mailbox_owed::nothing);  // one is elected
    recorder sink;
    const auto left = box.finalize(2, {}, sink);
    EXPECT_EQ(left.system + left.user, 0u);
    EXPECT_TRUE(box.state().closed());
    EXPECT_EQ(box.state().request_close(), mailbox_owed::nothing);
}

// TC-M25, ME-5
TEST(mailbox, TC_M25_a_running_mailbox_is_finalized_by_its_runner) {
    mailbox box;
    box.open(1, true);
    EXPECT_EQ(box.state().request_close(), mailbox_owed::nothing);
    EXPECT_EQ(box.state().request_close(), mailbox_owed::nothing);
    EXPECT_EQ(box.enqueue(user[0]), enqueued::accepted);  // goes to the sink
    EXPECT_EQ(box.end_run(), enqueued::closed);
    recorder sink;
    EXPECT_EQ(box.finalize(2, {}, sink).user, 1u);
    EXPECT_TRUE(sink.seen[0] == &user[0]);
    EXPECT_TRUE(box.state().closed());
}

// ME-5: what a suspended mailbox kept is not lost, nor seen after the close.
TEST(mailbox, ME_5_a_kept_batch_reaches_the_sink_and_is_gone) {
    mailbox box;
    box.open(1, true);
    (void)box.enqueue(user[0]);
    (void)box.enqueue(user[1]);
    EXPECT_TRUE(box.next_user() == &user[0]);
    EXPECT_TRUE(box.state().suspend(supervision));
    EXPECT_EQ(box.end_run(), enqueued::accepted);
    EXPECT_EQ(box.state().request_close(), mailbox_owed::finalize);
    recorder sink;
    EXPECT_EQ(box.finalize(2, {}, sink).user, 1u);
    EXPECT_TRUE(sink.seen[0] == &user[1]);
    EXPECT_FALSE(box.has_user_messages());
}

// M3, ME-5: a refused message is still the sender's; a reopened mailbox starts from nothing.
TEST(mailbox, another_life_has_another_generation_and_nothing_of_the_last) {
    mailbox box;
    box.open(3, true);
    EXPECT_EQ(box.generation(), 3u);
    (void)box.enqueue(user[0]);
    (void)box.enqueue(user[1]);
    EXPECT_TRUE(box.next_user() == &user[0]);
    (void)box.state().suspend(await);
    (void)box.state().request_close();
    EXPECT_EQ(box.end_run(), enqueued::closed);
    recorder sink;
    (void)box.finalize(4, {}, sink);
    EXPECT_EQ(box.generation(), 4u);  // late senders fail on it already
    EXPECT_EQ(box.enqueue(user[2]), enqueued::closed);
    EXPECT_EQ(box.enqueue_system(sys[0]), enqueued::closed);

    box.open(4, false);
    EXPECT_EQ(box.state().word(), tactus::life::state_mark(4));
    EXPECT_FALSE(box.has_user_messages());
    EXPECT_FALSE(box.has_system_messages());
    EXPECT_EQ(box.enqueue(user[2]), enqueued::submit);
    EXPECT_EQ(box.enqueue_system(sys[0]), enqueued::accepted);
    EXPECT_TRUE(box.drain_system().pop() == &sys[0]);
    EXPECT_TRUE(box.next_user() == &user[2]);
    EXPECT_TRUE(box.next_user() == nullptr);
    go_idle(box);
}
