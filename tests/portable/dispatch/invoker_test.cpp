// SPDX-License-Identifier: Apache-2.0
//
// Goal: the order within a run, and what ends one (IN-1 ... IN-4, IN-6).
// Method: the conformance cases on a system driven by hand; the journal says what ran in what
// order.
#include <tactus/dispatch/invoker.hpp>

#include <cstdint>

#include "kernel_rig.hpp"
#include "portable_test.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::dead;
using tactus_test::failed;
using tactus_test::journal;
using tactus_test::kernel_rig;
using tactus_test::number;
using tactus_test::plain_actor;
using tactus_test::signal_node;
using tactus_test::system_actor;
// The offset of system messages in the journal.
constexpr std::int32_t sys = tactus_test::system;

namespace {

constexpr tactus_test::reaction reaction_none = nullptr;

auto throughput(std::uint32_t n) {
    return [n](kernel_rig::options& o) { o.throughput = n; };
}

}  // namespace

// TC-M01
TEST(invoker, TC_M01_a_run_processes_its_throughput_and_is_queued_again) {
    kernel_rig rig(throughput(2));
    const mailbox_index a = rig.spawn();
    rig.tell(a, {1, 2, 3, 4, 5});
    EXPECT_TRUE(rig.run_once());
    EXPECT_TRUE(journal().is({1, 2}));
    EXPECT_TRUE(rig.at(a).state().scheduled());
    EXPECT_TRUE(rig.run_once());
    EXPECT_TRUE(rig.run_once());
    EXPECT_FALSE(rig.run_once());
    EXPECT_TRUE(journal().is({3, 4, 5}));
    EXPECT_FALSE(rig.at(a).state().scheduled());
}

// C-MBX-13
TEST(invoker, C_MBX_13_runs_of_five_five_and_two) {
    kernel_rig rig(throughput(5));
    const mailbox_index a = rig.spawn();
    rig.tell(a, {1, 2, 3, 4, 5});
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_EQ(journal().count(), 5u);
    journal().clear();
    rig.tell(a, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    for (const unsigned n : {5u, 5u, 2u}) {
        EXPECT_TRUE(rig.run_once());
        EXPECT_EQ(journal().count(), n);
        journal().clear();
    }
    EXPECT_FALSE(rig.run_once());
}

// C-MBX-14
TEST(invoker, C_MBX_14_throughput_zero_is_one) {
    for (const std::uint32_t t : {0u, 1u}) {
        kernel_rig rig(throughput(t));
        const mailbox_index a = rig.spawn();
        rig.tell(a, {1, 2, 3});
        for (int n = 1; n <= 3; ++n) {
            EXPECT_TRUE(rig.run_once());
            EXPECT_TRUE(journal().is({n}));
        }
    }
}

// IN-2: an explicit throughput is exact, also for an actor that sends.
TEST(invoker, an_explicit_throughput_is_exact_for_an_actor_that_sends) {
    kernel_rig rig(throughput(3));
    const mailbox_index a = rig.spawn(+[](turn& t, std::uint32_t n) {
        if (n < 10) {
            for (int i = 0; i < 4; ++i)
                t.send(t.self(), number{n + 10});
        }
    });
    rig.tell(a, {1, 2, 3, 4});
    EXPECT_TRUE(rig.run_once());
    EXPECT_TRUE(journal().is({1, 2, 3}));
}

// TC-M02
TEST(invoker, TC_M02_system_messages_come_first) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn<system_actor>();
    signal_node m(system_kind::watch, 1);
    rig.tell(a, {1, 2});
    EXPECT_TRUE(rig->send_system(a, m));
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({sys + 1, 1, 2}));
}

// TC-M03
TEST(invoker, TC_M03_system_messages_do_not_use_up_throughput) {
    kernel_rig rig(throughput(2));
    const mailbox_index a = rig.spawn<system_actor>();
    signal_node m[3] = {
        {system_kind::watch, 1}, {system_kind::unwatch, 2}, {system_kind::watch, 3}};
    rig.tell(a, {1, 2, 3});
    for (signal_node& one : m)
        EXPECT_TRUE(rig->send_system(a, one));
    EXPECT_TRUE(rig.run_once());
    EXPECT_TRUE(journal().is({sys + 1, sys + 2, sys + 3, 1, 2}));
    EXPECT_TRUE(rig.run_once());
    EXPECT_TRUE(journal().is({3}));
}

// IN-3
// TC-M04
TEST(invoker, TC_M04_a_suspend_during_message_1_holds_back_message_2) {
    kernel_rig rig;
    static signal_node suspend(system_kind::suspend, 1);
    suspend.linked = false;
    const mailbox_index a = rig.spawn<plain_actor>(+[](turn& t, std::uint32_t n) {
        if (n == 1)
            (void)t.system().send_system(t.self(), suspend);
    });
    rig.tell(a, {1, 2});
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({1}));
    EXPECT_TRUE(rig.at(a).state().suspended());
    EXPECT_FALSE(rig.at(a).state().scheduled());  // and is not queued again
    // TC-M06, ME-4
    rig.tell(a, {3});
    EXPECT_EQ(rig.run(), 0u);
    signal_node resume(system_kind::resume, 2);
    EXPECT_TRUE(rig->send_system(a, resume));
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({2, 3}));
}

TEST(invoker, IN_3_suspend_and_resume_in_between_hold_back_nothing) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn(+[](turn& t, std::uint32_t n) {
        if (n == 1) {
            EXPECT_TRUE(t.system().suspend(t.self(), suspension::supervision));
            EXPECT_TRUE(t.system().resume(t.self(), suspension::supervision));
        }
    });
    rig.tell(a, {1, 2});
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({1, 2}));
}

// TC-M06
TEST(invoker, TC_M06_what_came_while_suspended_is_delivered_after_resume) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn();
    EXPECT_TRUE(rig->suspend(a, suspension::supervision));
    EXPECT_TRUE(rig->suspend(a, suspension::await));
    rig.tell(a, {1, 2});
    EXPECT_EQ(rig.run(), 0u);
    EXPECT_TRUE(rig->resume(a, suspension::supervision));
    EXPECT_EQ(rig.run(), 0u);  // each kind is counted by itself
    EXPECT_TRUE(rig->resume(a, suspension::await));
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({1, 2}));
    EXPECT_TRUE(rig->resume(a, suspension::await));  // one too many is tolerated
    EXPECT_EQ(rig.run(), 0u);
}

// C-MBX-16
TEST(invoker, C_MBX_16_a_system_message_to_itself_is_handled_before_the_next_user_message) {
    kernel_rig rig;
    static signal_node m(system_kind::watch, 9);
    m.linked = false;
    const mailbox_index a = rig.spawn<system_actor>(+[](turn& t, std::uint32_t n) {
        if (n == 1) {
            EXPECT_TRUE(t.system().send_system(t.self(), m));
        }
    });
    rig.tell(a, {1, 2});
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({1, sys + 9, 2}));
}

TEST(invoker, C_MBX_17_system_messages_are_handled_in_the_order_they_came) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn<system_actor>();
    signal_node m[3] = {{system_kind::watch, 1, true},
                        {system_kind::unwatch, 2, true},
                        {system_kind::supervise, 3, true}};
    for (signal_node& one : m)
        EXPECT_TRUE(rig->send_system(a, one));
    EXPECT_EQ(rig.run(), 1u);
    constexpr std::int32_t freed = tactus_test::freed;
    EXPECT_TRUE(journal().is({sys + 1, freed + 1, sys + 2, freed + 2, sys + 3, freed + 3}));
}

// C-MBX-18
TEST(invoker, C_MBX_18_one_sent_while_others_are_handled_comes_after_them_and_before_users) {
    kernel_rig rig;
    static signal_node fourth(system_kind::watch, 4);
    fourth.linked = false;
    const mailbox_index a = rig.spawn<system_actor>(
        reaction_none, +[](turn& t, std::uint32_t n) {
            if (n == 1) {
                EXPECT_TRUE(t.system().send_system(t.self(), fourth));
            }
        });
    signal_node m[3] = {{system_kind::watch, 1}, {system_kind::watch, 2}, {system_kind::watch, 3}};
    rig.tell(a, {1});
    for (signal_node& one : m)
        EXPECT_TRUE(rig->send_system(a, one));
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({sys + 1, sys + 2, sys + 3, sys + 4, 1}));
}

namespace {

struct failing_actor {
    handled receive(turn&, envelope& e) {
        const std::uint32_t n = e.get_if<number>()->value;
        journal().add(static_cast<std::int32_t>(n));
        return n == 2 ? handled::failed({"two", nullptr}) : handled::ok();
    }
};

}  // namespace

// IN-6, C-MBX-19
TEST(invoker, C_MBX_19_a_failure_holds_the_rest_back_and_consumes_the_message) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn<failing_actor>();
    rig.tell(a, {1, 2, 3, 4, 5});
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({1, 2, failed}));
    EXPECT_EQ(rig.events.last_failed, a);
    EXPECT_EQ(rig.events.last_what[0], 't');
    EXPECT_EQ(rig.at(a).state().suspend_count(suspension::supervision), 1u);
    rig.tell(a, {6});
    EXPECT_EQ(rig.run(), 0u);  // no user message brings it in
    EXPECT_TRUE(rig->resume(a, suspension::supervision));
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({3, 4, 5, 6}));  // 2 is not redelivered
    EXPECT_EQ(rig.events.failed_count, 1u);
}

namespace {

struct failing_system_actor {
    handled receive(turn&, envelope& e) {
        journal().add(static_cast<std::int32_t>(e.get_if<number>()->value));
        return handled::ok();
    }
    handled receive_system(turn&, system_message&) { return handled::failed({"no", nullptr}); }
};

}  // namespace

// DF-4:
// IN-6: each failure suspends the actor; beyond the largest count they are reported, not counted.
TEST(invoker, DF_4_more_failing_system_messages_than_can_be_counted) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn<failing_system_actor>();
    constexpr std::uint32_t count = state_word::suspension_count_max + 2;
    for (std::uint32_t i = 0; i < count; ++i) {
        signal_node m(system_kind::watch, 1);
        EXPECT_TRUE(rig->send_system(a, m));
        EXPECT_EQ(rig.run(), 1u);
    }
    journal().clear();
    EXPECT_EQ(rig.events.failed_count, count);
    rig.tell(a, {1});
    EXPECT_EQ(rig.run(), 0u);
    for (std::uint32_t i = 0; i < state_word::suspension_count_max; ++i) {
        EXPECT_TRUE(journal().is({}));
        EXPECT_TRUE(rig->resume(a, suspension::supervision));
    }
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({1}));
}

// IN-4
TEST(invoker, an_envelope_for_another_generation_is_a_dead_letter) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn();
    rig.tell(a, {1});
    // A sender that was delayed across the end of the actor it meant.
    const worker::binding bound(rig->worker_at(0));
    envelope* e = rig->worker_at(0).envelopes().take();
    ASSERT_TRUE(e->emplace<number>(number{2}, nullptr));
    e->set_generation(a.generation + 7);
    e->sender.write({});
    EXPECT_EQ(rig.at(a).enqueue(*e), enqueued::accepted);
    rig.tell(a, {3});
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({1, dead + 2, 3}));
    EXPECT_EQ(rig.events.count(dead_letter_cause::wrong_generation), 1u);
    EXPECT_EQ(rig.events.last_to, a.with_generation(a.generation + 7));
}

// SQ-4: counts against throughput.
TEST(invoker, continuations_count_against_throughput) {
    kernel_rig rig(throughput(3));
    const mailbox_index a = rig.spawn<system_actor>();
    signal_node c[2] = {{system_kind::continuation, 1}, {system_kind::continuation, 2}};
    rig.tell(a, {1, 2, 3});
    for (signal_node& one : c)
        EXPECT_TRUE(rig->send_system(a, one));
    EXPECT_TRUE(rig.run_once());
    EXPECT_TRUE(journal().is({sys + 1, sys + 2, 1}));
    EXPECT_TRUE(rig.run_once());
    EXPECT_TRUE(journal().is({2, 3}));
}

// SQ-4: more of them than a run may handle wait for the next run; other kinds do not wait for them.
TEST(invoker, continuations_beyond_the_throughput_wait_for_the_next_run) {
    kernel_rig rig(throughput(2));
    const mailbox_index a = rig.spawn<system_actor>();
    const mailbox_index b = rig.spawn<system_actor>();
    signal_node c[5] = {{system_kind::continuation, 1},
                        {system_kind::continuation, 2},
                        {system_kind::continuation, 3},
                        {system_kind::watch, 4},
                        {system_kind::continuation, 5}};
    for (signal_node& one : c)
        EXPECT_TRUE(rig->send_system(a, one));
    rig.tell(a, {1});
    rig.tell(b, {2});
    EXPECT_TRUE(rig.run_once());
    EXPECT_TRUE(journal().is({sys + 1, sys + 2, sys + 4, 1}));  // and one user message (IN-2)
    EXPECT_TRUE(rig.run_once());
    EXPECT_TRUE(journal().is({2}));  // somebody else's turn
    EXPECT_TRUE(rig.run_once());
    EXPECT_TRUE(journal().is({sys + 3, sys + 5}));
    EXPECT_FALSE(rig.run_once());
}

// SQ-4: they go on while the actor awaits, and after a user message of the same run.
TEST(invoker, continuations_left_over_run_though_the_actor_awaits) {
    kernel_rig rig(throughput(1));
    const mailbox_index a = rig.spawn<system_actor>();
    signal_node c[3] = {{system_kind::continuation, 1},
                        {system_kind::continuation, 2},
                        {system_kind::continuation, 3}};
    EXPECT_TRUE(rig->suspend(a, suspension::await));
    for (signal_node& one : c)
        EXPECT_TRUE(rig->send_system(a, one));
    rig.tell(a, {7});
    EXPECT_EQ(rig.run(), 3u);
    EXPECT_TRUE(journal().is({sys + 1, sys + 2, sys + 3}));
    EXPECT_TRUE(rig->resume(a, suspension::await));
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({7}));
}

// SQ-4 and IN-1: those that arrive during a user message share its run's throughput.
TEST(invoker, continuations_that_arrive_during_a_run_are_bounded_too) {
    static signal_node c[4] = {{system_kind::continuation, 1},
                               {system_kind::continuation, 2},
                               {system_kind::continuation, 3},
                               {system_kind::continuation, 4}};
    kernel_rig rig(throughput(3));
    const mailbox_index a = rig.spawn(+[](turn& t, std::uint32_t n) {
        if (n != 1)
            return;
        for (signal_node& one : c)
            EXPECT_TRUE(t.system().send_system(t.self(), one));
    });
    for (signal_node& one : c) {
        one.done = [](system_message& m) noexcept {
            journal().add(sys + static_cast<signal_node&>(m).value);
        };
    }
    rig.tell(a, {1, 2, 3});
    EXPECT_TRUE(rig.run_once());
    EXPECT_TRUE(journal().is({1, sys + 1, sys + 2}));
    EXPECT_TRUE(rig.run_once());
    EXPECT_TRUE(journal().is({sys + 3, sys + 4, 2}));
    EXPECT_TRUE(rig.run_once());
    EXPECT_TRUE(journal().is({3}));
}

// SQ-4: run while suspended by await, held while suspended by supervision, and then in order.
TEST(invoker, continuations_run_while_awaiting_and_wait_for_supervision) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn<system_actor>();
    signal_node c[4] = {{system_kind::continuation, 1},
                        {system_kind::continuation, 2},
                        {system_kind::continuation, 3},
                        {system_kind::continuation, 4}};
    EXPECT_TRUE(rig->suspend(a, suspension::await));
    EXPECT_TRUE(rig->send_system(a, c[0]));
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({sys + 1}));
    EXPECT_TRUE(rig->suspend(a, suspension::supervision));
    EXPECT_TRUE(rig->send_system(a, c[1]));
    EXPECT_TRUE(rig->send_system(a, c[2]));
    (void)rig.run();
    signal_node other(system_kind::watch, 7);
    EXPECT_TRUE(rig->send_system(a, other));
    (void)rig.run();
    EXPECT_TRUE(journal().is({sys + 7}));  // other kinds are handled meanwhile
    signal_node resume(system_kind::resume, 8);
    EXPECT_TRUE(rig->send_system(a, resume));
    EXPECT_TRUE(rig->send_system(a, c[3]));
    (void)rig.run();
    // Held longest, handled first: after the resume that lets them go.
    EXPECT_TRUE(journal().is({sys + 8, sys + 2, sys + 3, sys + 4}));
}

// SQ-4 and CO-2: a resume that is no message lets them go too.
TEST(invoker, continuations_held_while_supervised_run_after_a_resume_from_outside) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn<system_actor>();
    signal_node c(system_kind::continuation, 1);
    EXPECT_TRUE(rig->suspend(a, suspension::supervision));
    EXPECT_TRUE(rig->send_system(a, c));
    (void)rig.run();
    EXPECT_EQ(journal().count(), 0u);
    EXPECT_TRUE(rig->resume(a, suspension::supervision));
    (void)rig.run();
    EXPECT_TRUE(journal().is({sys + 1}));
}

// ME-3: 1,000 messages to a suspended mailbox cause no submission.
TEST(invoker, messages_to_a_suspended_mailbox_cause_no_dispatch) {
    constexpr unsigned count = tactus_test::board::roomy ? 1'000 : 30;
    kernel_rig rig;
    const mailbox_index a = rig.spawn();
    EXPECT_TRUE(rig->suspend(a, suspension::supervision));
    const worker_lanes& lanes = rig->worker_at(0).lanes();
    for (unsigned i = 0; i < count; ++i) {
        rig.tell(a, {i});
        EXPECT_FALSE(rig->order().has_work(&lanes));
        EXPECT_FALSE(rig.run_once());
    }
    EXPECT_EQ(lanes.dispatch_count(), 0u);
    EXPECT_TRUE(rig->resume(a, suspension::supervision));
    EXPECT_GT(rig.run(), 0u);
    EXPECT_EQ(journal().count(), count);
}
