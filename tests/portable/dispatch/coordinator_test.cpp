// SPDX-License-Identifier: Apache-2.0
//
// Goal: the coordinator by index, as an executor of one's own would use it (CO-1 ... CO-3).
// Method: TC-F01 ... F04, F11 and poll_wait_signal on a system driven by hand.
#include <tactus/dispatch/coordinator.hpp>
#include <tactus/dispatch/invoker.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "kernel_rig.hpp"
#include "portable_test.hpp"
#include "timed_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::kernel_rig;
using tactus_test::number;
using tactus_test::timed_rig;

namespace {

struct drained {
    mailbox_index out[16];
    std::size_t count = 0;
};
drained drain(kernel_rig& rig, std::size_t max) {
    drained d;
    d.count = rig->order().drain_ready_cycle(std::span(d.out).first(max));
    return d;
}
void report(kernel_rig& rig, mailbox_index who, invoke_result result) {
    EXPECT_TRUE(rig->order().handle_invoke_result(who, result));
}

/// What whoever is elected does.
void invoker_finalize(kernel_rig& rig, mailbox_index who) {
    const worker::binding bound(rig->worker_at(0));
    invoker::finalize(*rig, &rig->worker_at(0), rig.at(who));
}
constexpr std::uint32_t kernel_slots_beyond = tactus_test::kernel_slots + 1;

class flag_waker final : public waker {
public:
    void wake() noexcept override { ++woken; }
    unsigned woken = 0;
};

}  // namespace

// TC-F01
TEST(coordinator, TC_F01_registering_twice_drains_once) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn();
    EXPECT_TRUE(rig->order().register_ready(a));
    EXPECT_FALSE(rig->order().register_ready(a));
    const drained d = drain(rig, 10);
    EXPECT_EQ(d.count, 1u);
    EXPECT_EQ(d.out[0], a);
    EXPECT_FALSE(rig->order().register_ready(a));  // it runs: handled in this run or one more
    report(rig, a, {});
    EXPECT_TRUE(rig->order().register_ready(a));
}

// TC-F02
TEST(coordinator, TC_F02_drains_in_order_and_never_more_than_asked) {
    kernel_rig rig;
    mailbox_index all[5];
    for (mailbox_index& a : all) {
        a = rig.spawn();
        EXPECT_TRUE(rig->order().register_ready(a));
    }
    const std::size_t bytes = rig.memory.live_bytes;
    const drained first = drain(rig, 3);
    const drained rest = drain(rig, 10);
    EXPECT_EQ(first.count, 3u);
    EXPECT_EQ(rest.count, 2u);
    for (unsigned i = 0; i < 3; ++i)
        EXPECT_EQ(first.out[i], all[i]);
    for (unsigned i = 0; i < 2; ++i)
        EXPECT_EQ(rest.out[i], all[3 + i]);
    EXPECT_EQ(rig.memory.live_bytes, bytes);  // CO-1: no allocation
    EXPECT_EQ(drain(rig, 10).count, 0u);
    for (const mailbox_index a : all)
        report(rig, a, {});
}

// TC-F03
TEST(coordinator, TC_F03_unregistering_takes_it_out) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn();
    EXPECT_EQ(rig->order().unregister(a), unregistered::did_not_wait);
    EXPECT_TRUE(rig->order().register_ready(a));
    EXPECT_EQ(rig->order().unregister(a), unregistered::idle);
    EXPECT_EQ(rig->order().unregister(a), unregistered::did_not_wait);
    EXPECT_EQ(drain(rig, 10).count, 0u);
    EXPECT_TRUE(rig->order().register_ready(a));  // and it can be registered again
    EXPECT_EQ(drain(rig, 10).count, 1u);
    EXPECT_EQ(rig->order().unregister(a), unregistered::did_not_wait);  // it runs
    report(rig, a, {});
}

TEST(coordinator, unregistering_what_is_to_be_closed_elects_the_caller) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn();
    rig.tell(a, {1});
    EXPECT_TRUE(rig->stop(a));
    EXPECT_EQ(rig.events.closed_count, 0u);  // whoever runs it would
    EXPECT_EQ(rig->order().unregister(a), unregistered::finalize);
    invoker_finalize(rig, a);
    EXPECT_EQ(rig.events.closed_count, 1u);
    EXPECT_TRUE(tactus_test::journal().is({tactus_test::dead + 1, tactus_test::closed}));
}

// TC-F04
TEST(coordinator, TC_F04_results_decide_whether_it_is_drained_again) {
    struct row {
        invoke_result result;
        bool suspend;
        bool again;
    };
    const row table[] = {
        {{.outcome = invoke_outcome::completed, .ready_hint = true}, false, true},
        {{.outcome = invoke_outcome::yielded}, false, true},
        {{.outcome = invoke_outcome::completed}, false, false},
        {{.outcome = invoke_outcome::suspended, .arranged = true}, true, false},
    };
    for (const row& r : table) {
        kernel_rig rig;
        const mailbox_index a = rig.spawn();
        EXPECT_TRUE(rig->order().register_ready(a));
        EXPECT_EQ(drain(rig, 10).count, 1u);
        if (r.suspend) {
            EXPECT_TRUE(rig->suspend(a, suspension::await));
        }
        report(rig, a, r.result);
        const drained again = drain(rig, 10);
        EXPECT_EQ(again.count, r.again ? 1u : 0u);
        if (r.again)
            report(rig, a, {});
    }
}

// CO-3: stopped is the caller's to finalize.
// TC-F04
TEST(coordinator, TC_F04_a_stopped_one_is_left_to_the_caller_and_not_drained_again) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn();
    EXPECT_TRUE(rig->order().register_ready(a));
    EXPECT_EQ(drain(rig, 10).count, 1u);
    EXPECT_TRUE(rig->stop(a));
    EXPECT_FALSE(rig->order().handle_invoke_result(a, {.outcome = invoke_outcome::stopped}));
    invoker_finalize(rig, a);
    EXPECT_EQ(drain(rig, 10).count, 0u);
    EXPECT_FALSE(rig->order().register_ready(a));
}

namespace {

/// An actor with a message, drained by a caller who reports what it likes.
mailbox_index drained_with_a_message(kernel_rig& rig) {
    const mailbox_index a = rig.spawn();
    rig.tell(a, {1});
    EXPECT_EQ(drain(rig, 10).count, 1u);
    return a;
}

}  // namespace

// CO-3: suspended {reason, resume_on}: out until resumed, whatever waits; then in once.
TEST(coordinator, a_result_suspended_holds_it_back_until_its_condition) {
    struct row {
        resume_condition until;
        void (*resume)(kernel_rig&);
    };
    const row table[] = {
        {resume_condition::signal(7), [](kernel_rig& r) { EXPECT_EQ(r->signal(7), 1u); }},
        {resume_condition::after(duration::from_ns(10)),
         [](kernel_rig& r) { r.time.advance(duration::from_ns(10)); }},
        {resume_condition::when_capacity_available(),
         [](kernel_rig& r) { EXPECT_EQ(r->waiting().capacity_available(), 1u); }},
    };
    for (const row& r : table) {
        timed_rig rig;
        const mailbox_index a = drained_with_a_message(rig);
        report(rig, a,
               {.outcome = invoke_outcome::suspended,
                .reason = suspend_reason::rate_limit,
                .resume_on = &r.until});
        EXPECT_EQ(rig.run(), 0u);
        EXPECT_EQ(rig.events.last_suspended, a);
        EXPECT_TRUE(rig.events.last_held == tactus::held_reason::rate_limit);
        const suspension_metrics m = rig->waiting().metrics();
        EXPECT_EQ(m.by_reason[static_cast<unsigned>(suspend_reason::rate_limit)], 1u);
        r.resume(rig);
        EXPECT_EQ(rig.run(), 1u);
        EXPECT_TRUE(tactus_test::journal().is({1}));
        EXPECT_EQ(rig.events.suspensions, 1u);
        EXPECT_EQ(rig.events.resumptions, 1u);
    }
}

// CO-3: a system message still brings it in; CO-6: its end ends the suspension.
TEST(coordinator, a_result_suspended_is_ended_by_the_actors_end) {
    kernel_rig rig;
    const mailbox_index a = drained_with_a_message(rig);
    const resume_condition until = resume_condition::signal(7);
    report(rig, a, {.outcome = invoke_outcome::suspended, .resume_on = &until});
    tactus_test::signal_node m(system_kind::terminate, 0);
    EXPECT_TRUE(rig->send_system(a, m));
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(tactus_test::journal().is({tactus_test::dead + 1, tactus_test::closed}));
    EXPECT_EQ(rig->waiting().waiting_count(), 0u);
}

// CO-3: without a condition only a resume ends it.
TEST(coordinator, a_result_suspended_without_a_condition_waits_for_resume) {
    kernel_rig rig;
    const mailbox_index a = drained_with_a_message(rig);
    report(rig, a, {.outcome = invoke_outcome::suspended});
    EXPECT_EQ(rig.run(), 0u);
    EXPECT_TRUE(rig->resume(a, suspension::await));
    EXPECT_EQ(rig.run(), 1u);
}

// What cannot be kept is not held back, as in turn::suspend.
TEST(coordinator, a_result_suspended_that_cannot_be_kept_does_not_hold_it_back) {
    kernel_rig rig([](kernel_rig::options& o) { o.time = nullptr; });
    const mailbox_index a = drained_with_a_message(rig);
    const resume_condition until = resume_condition::after(duration::from_ns(10));
    report(rig, a, {.outcome = invoke_outcome::suspended, .resume_on = &until});
    EXPECT_EQ(rig.events.suspensions, 1u);
    EXPECT_EQ(rig.events.resumptions, 1u);
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(tactus_test::journal().is({1}));
}

// CO-3: failed: supervision decides, alone.
TEST(coordinator, a_result_failed_is_left_to_supervision) {
    kernel_rig rig;
    const mailbox_index a = drained_with_a_message(rig);
    report(rig, a, {.outcome = invoke_outcome::failed});
    EXPECT_EQ(rig.run(), 0u);
    EXPECT_TRUE(tactus_test::journal().is({tactus_test::failed}));
    EXPECT_EQ(rig.events.last_failed, a);
    EXPECT_TRUE(rig.events.last_held == tactus::held_reason::supervision);
    EXPECT_TRUE(std::string_view(rig.events.last_what) == reported_failure);
    EXPECT_TRUE(rig->resume(a, suspension::supervision));
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(tactus_test::journal().is({1}));
}

// SQ-4: supervision lets the actor go between the last look of a run and its end: what it held back
// goes on, although the actor still awaits.
TEST(coordinator, a_continuation_is_not_left_behind_by_a_resume_during_the_run) {
    for (const bool during : {false, true}) {
        kernel_rig rig;
        const mailbox_index a = rig.spawn<tactus_test::system_actor>();
        EXPECT_TRUE(rig->suspend(a, suspension::await));
        EXPECT_TRUE(rig->suspend(a, suspension::supervision));
        tactus_test::signal_node m(system_kind::continuation, 5);
        EXPECT_TRUE(rig->send_system(a, m));
        {
            worker& w = rig->worker_at(0);
            const worker::binding bound(w);
            slot* s = rig->order().next(w.lanes());
            ASSERT_NE(s, nullptr);
            const invoke_result result = invoker::run(w, *s);
            if (during)
                (void)rig->resume(a, suspension::supervision);
            EXPECT_TRUE(rig->order().end_run(*s, &w.lanes(), result));
            if (!during)
                (void)rig->resume(a, suspension::supervision);
        }
        EXPECT_EQ(rig.run(), 1u);
        EXPECT_TRUE(tactus_test::journal().is({tactus_test::system + 5}));
    }
}

// CO-1: an actor belongs to the order of its dispatcher, and to no other.
TEST(coordinator, CO_1_an_actor_of_another_dispatcher_is_refused) {
    if (!tactus_test::board::roomy)
        return;
    kernel_rig rig;
    const auto other = rig->add_dispatcher({});
    ASSERT_TRUE(other.has_value());
    spawn_options o;
    o.dispatcher = 1;
    const auto a = rig->spawn<tactus_test::plain_actor>(o);
    ASSERT_TRUE(a.has_value());
    EXPECT_FALSE(rig->order().register_ready(*a));
    EXPECT_FALSE(rig->order().has_work(nullptr));
    EXPECT_TRUE((*other)->order().register_ready(*a));
    EXPECT_TRUE((*other)->order().has_work(nullptr));
}

// CO-1: what is taken out of its lane waits until somebody asks for it.
TEST(coordinator, CO_1_what_is_unregistered_runs_when_it_is_registered_again) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn();
    rig.tell(a, {1});
    EXPECT_TRUE(rig->order().unregister(a) == tactus::unregistered::idle);
    rig.tell(a, {2});
    EXPECT_EQ(rig.run(), 0u);
    EXPECT_TRUE(rig->order().register_ready(a));
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(tactus_test::journal().is({1, 2}));
}

// CO-3: stopped by the report alone: closed, and the caller's to finalize.
TEST(coordinator, a_result_stopped_closes_it) {
    kernel_rig rig;
    const mailbox_index a = drained_with_a_message(rig);
    EXPECT_FALSE(rig->order().handle_invoke_result(a, {.outcome = invoke_outcome::stopped}));
    invoker_finalize(rig, a);
    EXPECT_TRUE(tactus_test::journal().is({tactus_test::dead + 1, tactus_test::closed}));
    EXPECT_EQ(rig.run(), 0u);
    EXPECT_TRUE(rig->order().handle_invoke_result(a, {.outcome = invoke_outcome::stopped}));
}

// CO-3: what the invoker has arranged is not done twice: resumed meanwhile, it runs again.
TEST(coordinator, an_arranged_result_is_taken_as_it_is) {
    for (const invoke_outcome outcome : {invoke_outcome::suspended, invoke_outcome::failed}) {
        kernel_rig rig;
        const mailbox_index a = drained_with_a_message(rig);
        report(rig, a, {.outcome = outcome, .arranged = true});
        EXPECT_EQ(rig.events.failed_count, 0u);
        EXPECT_EQ(rig.run(), 1u);
        EXPECT_TRUE(tactus_test::journal().is({1}));
    }
}

// CO-2: a message that came during the run brings it in exactly once more.
TEST(coordinator, an_enqueue_during_a_run_is_one_more_run) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn();
    EXPECT_TRUE(rig->order().register_ready(a));
    EXPECT_EQ(drain(rig, 10).count, 1u);
    rig.tell(a, {1, 2, 3});
    EXPECT_EQ(drain(rig, 10).count, 0u);  // it runs: never twice at once
    report(rig, a, {});
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(tactus_test::journal().is({1, 2, 3}));
}

// CO-3: suspended, a system message still brings it in.
TEST(coordinator, a_suspended_one_comes_in_for_system_messages_only) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn<tactus_test::system_actor>();
    EXPECT_TRUE(rig->suspend(a, suspension::await));
    rig.tell(a, {1});
    EXPECT_EQ(rig.run(), 0u);
    tactus_test::signal_node m(system_kind::watch, 7);
    EXPECT_TRUE(rig->send_system(a, m));
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(tactus_test::journal().is({tactus_test::system + 7}));
    EXPECT_TRUE(rig->resume(a, suspension::await));
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(tactus_test::journal().is({1}));
}

// TC-F11
TEST(coordinator, TC_F11_a_batch_of_zero_and_indices_at_the_limit_do_nothing) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn();
    EXPECT_TRUE(rig->order().register_ready(a));
    EXPECT_EQ(drain(rig, 0).count, 0u);
    constexpr std::uint32_t max = 0xffff'ffff;
    for (const mailbox_index bad :
         {mailbox_index{max, max}, mailbox_index{max, 1}, mailbox_index{}, mailbox_index{a.slot, 0},
          a.with_generation(max), mailbox_index{a.slot + kernel_slots_beyond, 1}}) {
        EXPECT_FALSE(rig->order().register_ready(bad));
        EXPECT_EQ(rig->order().unregister(bad), unregistered::did_not_wait);
    }
    EXPECT_EQ(drain(rig, 10).count, 1u);
    report(rig, a, {});
}

// CO-1
TEST(coordinator, poll_wait_signal_wakes_once_when_something_is_ready) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn();
    flag_waker w;
    EXPECT_FALSE(rig->order().poll_wait_signal(w));
    EXPECT_EQ(w.woken, 0u);
    rig.tell(a, {1});
    EXPECT_EQ(w.woken, 1u);
    rig.tell(rig.spawn(), {2});
    EXPECT_EQ(w.woken, 1u);  // once per registration
    EXPECT_TRUE(rig->order().poll_wait_signal(w));
    EXPECT_EQ(rig.run(), 2u);
    rig.tell(a, {3});
    EXPECT_EQ(w.woken, 1u);  // what was said to be ready needs no wake
    EXPECT_EQ(rig.run(), 1u);
}

TEST(coordinator, a_later_waiter_replaces_an_earlier_one) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn();
    flag_waker first;
    flag_waker second;
    EXPECT_FALSE(rig->order().poll_wait_signal(first));
    EXPECT_FALSE(rig->order().poll_wait_signal(second));
    rig.tell(a, {1});
    EXPECT_EQ(first.woken, 0u);
    EXPECT_EQ(second.woken, 1u);
}

// CO-1
TEST(coordinator, a_withdrawn_waiter_is_not_woken) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn();
    flag_waker first;
    flag_waker second;
    EXPECT_FALSE(rig->order().poll_wait_signal(first));
    EXPECT_TRUE(rig->order().withdraw_signal(first));
    EXPECT_FALSE(rig->order().withdraw_signal(first));  // it does not wait any more
    EXPECT_FALSE(rig->order().poll_wait_signal(second));
    EXPECT_FALSE(rig->order().withdraw_signal(first));  // and takes nobody else's place
    rig.tell(a, {1});
    EXPECT_EQ(first.woken, 0u);
    EXPECT_EQ(second.woken, 1u);
    EXPECT_FALSE(rig->order().withdraw_signal(second));  // it was woken
}

// EX-7: a task wakes the waiter too.
TEST(coordinator, a_task_wakes_the_waiter) {
    kernel_rig rig;
    flag_waker w;
    EXPECT_FALSE(rig->order().poll_wait_signal(w));
    worker_task_of t([] {});
    EXPECT_TRUE(rig->execute(t));
    EXPECT_EQ(w.woken, 1u);
    EXPECT_EQ(rig.run(), 1u);
}

// LN-9: may run before its deadline; late ones are counted and reported.
TEST(coordinator, missed_deadlines_are_counted_and_reported) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn();
    const mailbox_index b = rig.spawn();
    actor_scheduler::tell(a, number{1}, {.deadline = 1'000});
    actor_scheduler::tell(b, number{2}, {.deadline = 500});
    EXPECT_EQ(rig.run(), 2u);  // at once, the earlier first
    EXPECT_TRUE(tactus_test::journal().is({2, 1}));
    EXPECT_EQ(rig.events.missed, 0u);
    actor_scheduler::tell(a, number{3}, {.deadline = 1'000});
    rig.time.advance(duration::from_ns(1'000));
    EXPECT_EQ(rig.run(), 1u);  // at its deadline: not late
    EXPECT_EQ(rig.events.missed, 0u);
    actor_scheduler::tell(a, number{4}, {.deadline = 1'001});
    rig.time.advance(duration::from_ns(6));
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_EQ(rig.events.missed, 1u);
    EXPECT_EQ(rig.events.last_late, a);
    EXPECT_EQ(rig.events.last_late_ns, 5);
    EXPECT_EQ(rig->order().deadline_misses(), 1u);
    EXPECT_EQ(rig->worker_at(0).lanes().certificate().timed_dispatches, 4u);
}

// CO-1, TC-F12: what was taken out with a system message comes back into the cancel lane.
TEST(coordinator, registering_what_has_system_messages_puts_it_into_cancel) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn<tactus_test::system_actor>();
    tactus_test::signal_node m(system_kind::watch, 7);
    EXPECT_TRUE(rig->send_system(a, m));
    EXPECT_EQ(rig->order().unregister(a), unregistered::idle);
    EXPECT_EQ(rig.run(), 0u);
    EXPECT_TRUE(rig->order().register_ready(a));
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(tactus_test::journal().is({tactus_test::system + 7}));
    EXPECT_EQ(rig->worker_at(0).lanes().certificate().cancel_dispatches, 1u);
}

// CO-3, LN-8, TC-F12: what is left decides where a mailbox waits after its run.
TEST(coordinator, a_yielded_one_waits_where_its_next_message_belongs) {
    kernel_rig rig([](kernel_rig::options& o) { o.throughput = 1; });
    const mailbox_index a = rig.spawn<tactus_test::system_actor>();
    for (const std::uint32_t n : {1u, 2u})
        actor_scheduler::tell(a, number{n}, {.deadline = 1'000});
    EXPECT_EQ(rig.run(), 2u);
    EXPECT_EQ(rig->worker_at(0).lanes().certificate().timed_dispatches, 2u);
    rig.tell(a, {3});
    EXPECT_EQ(drain(rig, 10).count, 1u);
    tactus_test::signal_node m(system_kind::watch, 7);
    EXPECT_TRUE(rig->send_system(a, m));
    report(rig, a, {.outcome = invoke_outcome::yielded});
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_EQ(rig->worker_at(0).lanes().certificate().cancel_dispatches, 1u);
    EXPECT_TRUE(tactus_test::journal().is({1, 2, tactus_test::system + 7, 3}));
}

// LN-8: an actor that gives deadlines: what it is sent is due so much later; who says when,
// decides.
TEST(coordinator, LN_8_an_actor_gives_what_it_is_sent_a_deadline) {
    kernel_rig rig;
    spawn_options o;
    o.deadline = duration::from_ms(5);
    const auto a = rig->spawn<tactus_test::plain_actor>(o);
    const auto b = rig->spawn<tactus_test::plain_actor>({});
    ASSERT_TRUE(a.has_value() && b.has_value());
    rig.tell(*b, {1});
    rig.tell(*a, {2});
    rig.run();
    EXPECT_TRUE(tactus_test::journal().is({2, 1}));  // timed before ready
    EXPECT_EQ(rig.events.missed, 0u);

    rig.tell(*a, {3});
    rig.time.advance(duration::from_ms(6));
    rig.run();
    EXPECT_EQ(rig.events.missed, 1u);
    EXPECT_EQ(rig.events.last_late_ns, 1'000'000);

    const std::int64_t at = static_cast<std::int64_t>(rig.time.now().ns()) + 10'000'000;
    tactus::actor_scheduler::tell(*a, tactus_test::number{4}, {.deadline = at});
    rig.time.advance(duration::from_ms(6));
    rig.run();
    EXPECT_EQ(rig.events.missed, 1u);
}
// LN-8: also from a worker, where the short way has no place for a deadline, and through a gate.
TEST(coordinator, LN_8_a_worker_gives_the_deadline_too) {
    for (const std::uint32_t capacity : {tactus::mailbox_options{}.capacity, std::uint32_t{4}}) {
        kernel_rig rig;
        spawn_options o;
        o.deadline = duration::from_ms(5);
        o.mailbox.capacity = capacity;
        static mailbox_index to;
        to = *rig->spawn<tactus_test::plain_actor>(o);
        const mailbox_index from =
            rig.spawn(+[](turn& t, std::uint32_t n) { t.send(to, tactus_test::number{n + 1}); });
        rig.tell(from, {1});
        EXPECT_TRUE(rig.run_once());
        rig.time.advance(duration::from_ms(7));
        rig.run();
        EXPECT_EQ(rig.events.missed, 1u);
        EXPECT_EQ(rig.events.last_late_ns, 2'000'000);
    }
}

// CO-1, TC-F12: a system message has asked for the run already.
TEST(coordinator, registering_what_waits_with_a_system_message_changes_nothing) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn<tactus_test::system_actor>();
    tactus_test::signal_node m(system_kind::watch, 7);
    EXPECT_TRUE(rig->send_system(a, m));
    EXPECT_FALSE(rig->order().register_ready(a));
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(tactus_test::journal().is({tactus_test::system + 7}));
}

// CO-3, TC-F12: more to do is no reason to run what is held back.
TEST(coordinator, a_yielded_one_that_was_suspended_meanwhile_stays_out) {
    kernel_rig rig;
    const mailbox_index a = drained_with_a_message(rig);
    EXPECT_TRUE(rig->suspend(a, suspension::await));
    report(rig, a, {.outcome = invoke_outcome::yielded});
    EXPECT_EQ(rig.run(), 0u);
    EXPECT_TRUE(rig->resume(a, suspension::await));
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(tactus_test::journal().is({1}));
}

// LN-9, TC-F12: only a message that has a deadline can be late.
TEST(coordinator, a_message_without_a_deadline_is_not_late_in_the_timed_lane) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn();
    rig.tell(a, {1});
    EXPECT_EQ(rig->order().unregister(a), unregistered::idle);
    EXPECT_TRUE(rig.at(a).state().request_schedule(schedule_hint::user));
    rig->order().submit(rig.at(a), nullptr, {lane::timed, default_priority, 0});
    rig.time.advance(duration::from_ns(1'000));
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_EQ(rig->worker_at(0).lanes().certificate().timed_dispatches, 1u);
    EXPECT_EQ(rig->order().deadline_misses(), 0u);
}

// LN-9, TC-F12: what a visitor runs late counts as well, and also where nobody listens.
TEST(coordinator, missed_deadlines_of_visitors_are_counted) {
    for (const bool visited : {false, tactus_test::board::roomy}) {
        kernel_rig rig([&](kernel_rig::options& o) {
            o.visited = visited;  // by others, with lanes of their own: too much for a small board
            o.events = nullptr;
        });
        const mailbox_index a = rig.spawn();
        actor_scheduler::tell(a, number{1}, {.deadline = 500});
        rig.time.advance(duration::from_ns(1'000));
        EXPECT_EQ(drain(rig, 2).count, 1u);
        EXPECT_EQ(rig->order().deadline_misses(), 1u);
        report(rig, a, {});
        EXPECT_EQ(rig.run(), 1u);  // the message is there still, and late again
        EXPECT_EQ(rig->order().deadline_misses(), 2u);
    }
}
