// SPDX-License-Identifier: Apache-2.0
//
// Goal: how an actor ends, and where what it still had goes (ME-5, ME-8, CO-5, IN-1; LN-8).
// Method: closing at every moment of a mailbox's life; the journal has the order.
#include <tactus/dispatch/invoker.hpp>

#include <cstdint>

#include "kernel_rig.hpp"
#include "portable_test.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::closed;
using tactus_test::dead;
using tactus_test::ended;
using tactus_test::ending_actor;
using tactus_test::failed;
using tactus_test::freed;
using tactus_test::journal;
using tactus_test::kernel_rig;
using tactus_test::number;
using tactus_test::plain_actor;
using tactus_test::refused;
using tactus_test::signal_node;
using tactus_test::system_actor;
constexpr std::int32_t sys = tactus_test::system;

// CO-5: the state, the leftovers, the event; the slot is free then.
TEST(invoker_close, an_idle_actor_is_closed_by_who_stops_it) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn<ending_actor>();
    EXPECT_EQ(rig->live_count(), 1u);
    EXPECT_TRUE(rig->stop(a));
    EXPECT_TRUE(journal().is({ended, closed}));
    EXPECT_EQ(rig.events.last_closed, a);
    EXPECT_EQ(rig->live_count(), 0u);
    EXPECT_FALSE(rig->stop(a));
    EXPECT_EQ(rig.events.closed_count, 1u);
}

TEST(invoker_close, a_waiting_actor_is_closed_by_who_runs_it_and_handles_nothing_more) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn<ending_actor>();
    rig.tell(a, {1, 2});
    EXPECT_TRUE(rig->stop(a));
    EXPECT_TRUE(journal().is({}));
    rig.tell(a, {3});  // still accepted, and left over
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({ended, dead + 1, dead + 2, dead + 3, closed}));
    EXPECT_EQ(rig.events.closed_user, 3u);
    EXPECT_EQ(rig.events.closed_system, 0u);
    EXPECT_EQ(rig.events.count(dead_letter_cause::recipient_terminated), 3u);
}

// TC-M26, C-MBX-23: system before user, in order, exactly once; no system message is processed.
TEST(invoker_close, C_MBX_23_leftovers_are_refused_in_order_system_first) {
    kernel_rig rig;
    const mailbox_index sender = rig.spawn();
    const mailbox_index a = rig.spawn<system_actor>();
    signal_node m[2] = {{system_kind::watch, 1, true}, {system_kind::unwatch, 2, true}};
    actor_scheduler::tell(a, number{8}, {.sender = sender});
    actor_scheduler::tell(a, number{9}, {.sender = sender});
    for (signal_node& one : m)
        EXPECT_TRUE(rig->send_system(a, one));
    EXPECT_TRUE(rig->stop(a));
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(
        journal().is({refused + 1, freed + 1, refused + 2, freed + 2, dead + 8, dead + 9, closed}));
    EXPECT_EQ(rig.events.last_to, a);
    EXPECT_EQ(rig.events.last_sender, sender);
    EXPECT_EQ(rig.events.closed_system, 2u);
    EXPECT_EQ(rig.events.closed_user, 2u);
}

// C-MBX-21, as far as the kernel goes: each Watch behind the Terminate is refused once, in order.
// Not shown here: that both watchers then get a notification with existence_confirmed = false. Who
// watches whom is known to the layer of actors, which makes it of system_dead_letter.
TEST(invoker_close, C_MBX_21_what_was_drained_behind_terminate_is_refused) {
    for (const bool plain : {false, true}) {
        kernel_rig rig;
        const mailbox_index a = plain ? rig.spawn<plain_actor>() : rig.spawn<system_actor>();
        signal_node m[3] = {{system_kind::terminate, 1, true},
                            {system_kind::watch, 2, true},
                            {system_kind::watch, 3, true}};
        rig.tell(a, {5});
        for (signal_node& one : m)
            EXPECT_TRUE(rig->send_system(a, one));
        EXPECT_EQ(rig.run(), 1u);
        if (!plain) {
            EXPECT_TRUE(journal().is({sys + 1, freed + 1, refused + 2, freed + 2, refused + 3,
                                      freed + 3, dead + 5, closed}));
        } else {
            EXPECT_TRUE(journal().is(
                {freed + 1, refused + 2, freed + 2, refused + 3, freed + 3, dead + 5, closed}));
        }
        EXPECT_EQ(rig.events.closed_system, 2u);
        EXPECT_EQ(rig.events.last_to, a);
    }
}

// C-MBX-22, as far as the kernel goes: every kind is shown to system_dead_letter, at once. Not
// tested here: that a Watch is answered, and that a Terminate is not published as a dead letter.
// Both belong to the layer of actors, which decides by the kind.
TEST(invoker_close, C_MBX_22_a_system_message_to_a_closed_mailbox_is_refused_at_once) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn();
    EXPECT_TRUE(rig->stop(a));
    journal().clear();
    signal_node m[2] = {{system_kind::watch, 1, true}, {system_kind::terminate, 2, true}};
    for (signal_node& one : m)
        EXPECT_FALSE(rig->send_system(a, one));
    EXPECT_TRUE(journal().is({refused + 1, freed + 1, refused + 2, freed + 2}));
    EXPECT_EQ(rig.events.last_to, a);
    EXPECT_FALSE(m[0].linked);
}

// C-DSP-9
TEST(invoker_close, C_DSP_9_an_actor_that_stops_itself_twice_ends_once) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn<ending_actor>(+[](turn& t, std::uint32_t) {
        t.stop();
        t.stop();
        EXPECT_TRUE(t.system().stop(t.self()));
    });
    rig.tell(a, {1, 2});
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({1, ended, dead + 2, closed}));
    EXPECT_EQ(rig->live_count(), 0u);
}

// ME-5: nothing more after the request, whichever message made it.
TEST(invoker_close, a_continuation_that_stops_the_actor_is_the_last_thing_handled) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn<system_actor>(
        tactus_test::reaction{}, +[](turn& t, std::uint32_t n) {
            if (n == 1)
                t.stop();
        });
    signal_node c[3] = {{system_kind::continuation, 1},
                        {system_kind::continuation, 2},
                        {system_kind::continuation, 3}};
    EXPECT_TRUE(rig->suspend(a, suspension::supervision));
    for (signal_node& one : c)
        EXPECT_TRUE(rig->send_system(a, one));
    (void)rig.run();
    signal_node rest[2] = {{system_kind::resume, 4}, {system_kind::watch, 5}};
    for (signal_node& one : rest)
        EXPECT_TRUE(rig->send_system(a, one));
    (void)rig.run();
    EXPECT_TRUE(journal().is({sys + 4, sys + 1, refused + 2, refused + 3, refused + 5, closed}));
}

TEST(invoker_close, continuations_still_held_are_refused_first) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn<system_actor>();
    signal_node c[2] = {{system_kind::continuation, 1}, {system_kind::continuation, 2}};
    EXPECT_TRUE(rig->suspend(a, suspension::supervision));
    for (signal_node& one : c)
        EXPECT_TRUE(rig->send_system(a, one));
    (void)rig.run();
    signal_node m(system_kind::watch, 3);
    EXPECT_TRUE(rig->send_system(a, m));
    EXPECT_TRUE(rig->stop(a));
    (void)rig.run();
    EXPECT_TRUE(journal().is({refused + 1, refused + 2, refused + 3, closed}));
}

// ME-6: closed beats suspended.
// TC-M07
TEST(invoker_close, TC_M07_a_suspended_actor_is_closed_and_refuses) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn();
    EXPECT_TRUE(rig->suspend(a, suspension::supervision));
    rig.tell(a, {1});
    EXPECT_TRUE(rig->stop(a));
    EXPECT_TRUE(journal().is({dead + 1, closed}));
    EXPECT_EQ(actor_scheduler::try_tell(a, number{2}), sent::recipient_terminated);
    EXPECT_FALSE(rig->suspend(a, suspension::await));
    EXPECT_FALSE(rig->resume(a, suspension::await));
}

// LN table, LN-8: a terminating actor waits in cancel, before everybody.
TEST(invoker_close, a_terminating_actor_comes_before_other_work) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn();
    const mailbox_index b = rig.spawn();
    rig.tell(a, {1});
    rig.tell(b, {2});
    EXPECT_TRUE(rig->stop(b));
    EXPECT_TRUE(rig.run_once());
    EXPECT_TRUE(journal().is({dead + 2, closed}));
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({1}));
}
TEST(invoker_close, a_terminate_message_has_the_highest_priority) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn<system_actor>();
    const mailbox_index b = rig.spawn<system_actor>();
    signal_node watch(system_kind::watch, 1);
    signal_node end(system_kind::terminate, 2);
    EXPECT_TRUE(rig->send_system(a, watch));
    EXPECT_TRUE(rig->send_system(b, end));
    EXPECT_EQ(rig.run(), 2u);
    EXPECT_TRUE(journal().is({sys + 2, closed, sys + 1}));
}
