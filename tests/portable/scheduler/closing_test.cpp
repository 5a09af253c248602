// SPDX-License-Identifier: Apache-2.0
//
// Goal: the order in which a scheduler closes, and what is left afterwards (SH-1 … SH-5, SD-1).
// Method: everything that happens at the end goes into the journal; the deterministic log has the
// rest.
#include <tactus/scheduler/scheduler.hpp>

#include <cstdint>

#include <tactus/scheduler/pending_delay.hpp>

#include "scheduler_rig.hpp"

using tactus::close_priority;
using tactus::close_report;
using tactus::diagnostic;
using tactus::diagnostic_kind;
using tactus::execution_batch;
using tactus::job_end;
using tactus::job_state;
using tactus::scheduler_errc;
using tactus::scheduler_warning_kind;
using tactus_test::journal;
using tactus_test::ms;
using tactus_test::number;
using tactus_test::served_rig;

namespace {

/// A task that writes a number.
auto writes(std::int32_t what) {
    return [what] { journal().add(what); };
}

// TC-S32, SH-2: by priority, then by registration.
TEST(closing, TC_S32_tasks_run_by_priority) {
    served_rig rig;
    ASSERT_TRUE(rig->register_on_close(writes(3), close_priority::user).has_value());
    ASSERT_TRUE(rig->register_on_close(writes(2), close_priority::runtime).has_value());
    ASSERT_TRUE(rig->register_on_close(writes(1), close_priority::system_critical).has_value());
    ASSERT_TRUE(rig->register_on_close(writes(4), close_priority::user).has_value());
    const close_report report = rig->shutdown();
    EXPECT_TRUE(journal().is({1, 2, 3, 4}));
    EXPECT_EQ(report.succeeded, 4u);
    EXPECT_EQ(report.failed, 0u);
    const auto m = rig->metrics();
    EXPECT_EQ(m.on_close_run, 4u);
    EXPECT_EQ(m.on_close_failed, 0u);
    // TC-S35
    EXPECT_TRUE(rig->shutdown().empty());
    EXPECT_TRUE(journal().is({}));
    EXPECT_EQ(rig->metrics().on_close_run, 4u);
}

/// Is told that its timer is due, and does not arm it again.
struct owner {
    void receive(tactus::turn&, tactus::envelope& e) {
        EXPECT_NE(e.get_if<tactus::timer_due>(), nullptr);
    }
};

// SH-1, K3: a timer that its owner has not armed again yet ends with the others, and its cell is
// free, whether its owner was told or not.
TEST(closing, SH_1_a_timer_that_is_its_owners_gives_its_cell_back) {
    for (const bool is_told : {false, true}) {
        served_rig rig;
        const auto to = rig.kernel.spawn<owner>();
        const auto made =
            rig->arm(tactus::job_request::with_fixed_delay(ms(1), ms(1), {}).send(to, {}));
        ASSERT_TRUE(made.has_value());
        rig.time.advance(ms(2));
        rig->run_due(rig.time.now());
        if (is_told)
            rig.run();
        EXPECT_EQ(rig->cell_count(), 1u);
        EXPECT_EQ(rig->active_count(), 1u);
        EXPECT_TRUE(rig->close());
        EXPECT_EQ(rig->cell_count(), 0u);
        EXPECT_EQ(rig->active_count(), 0u);
        EXPECT_EQ(rig->counted().cancelled, 1u);
        EXPECT_FALSE(rig->cancel(*made));
        EXPECT_FALSE(rig->pending(*made));
        const auto again = rig->rearm(*made, rig.time.now() + ms(1));
        ASSERT_FALSE(again.has_value());
        EXPECT_EQ(again.error().code, scheduler_errc::closed);
        rig.run();
    }
}

// TC-S33, SH-2
TEST(closing, TC_S33_beyond_their_capacity_tasks_are_refused) {
    served_rig rig;
    for (std::int32_t i = 0; i < 4; ++i)
        ASSERT_TRUE(rig->register_on_close(writes(i), close_priority::user).has_value());
    const auto fifth = rig->register_on_close(writes(9), close_priority::system_critical);
    ASSERT_FALSE(fifth.has_value());
    EXPECT_EQ(fifth.error().code, scheduler_errc::task_run_capacity_exceeded);
    EXPECT_EQ(fifth.error().value, 4);
    EXPECT_EQ(fifth.error().limit, 4);
}

// TC-S34, C-SCH-37: one that fails is told, the next ones run; one that was cancelled does not.
TEST(closing, TC_S34_a_failing_task_is_told_and_the_rest_run) {
    served_rig rig;
    ASSERT_TRUE(
        rig->register_on_close([] { return tactus::failure("no disk"); }, close_priority::runtime)
            .has_value());
    const auto gone = rig->register_on_close(writes(1), close_priority::user);
    ASSERT_TRUE(gone.has_value());
    ASSERT_TRUE(rig->register_on_close(writes(2), close_priority::user).has_value());
    EXPECT_TRUE(rig->cancel_on_close(*gone));
    EXPECT_FALSE(rig->cancel_on_close(*gone));
    const close_report report = rig->shutdown();
    EXPECT_EQ(report.succeeded, 1u);
    EXPECT_EQ(report.failed, 1u);
    EXPECT_TRUE(journal().is({2}));
    ASSERT_EQ(rig.warnings.count, 1u);
    EXPECT_EQ(rig.warnings.all[0].kind, scheduler_warning_kind::task_run_failed);
    EXPECT_EQ(std::string_view(rig.warnings.all[0].text), "no disk");
    EXPECT_EQ(rig->metrics().on_close_failed, 1u);
}

// TC-P20, C-SCH-18, PK-SCH-27, SH-4: an ordinary timer does not run at the end; a task does, once.
TEST(closing, TC_P20_timers_that_are_not_due_do_not_run) {
    served_rig rig;
    const auto who = rig.spawn();
    auto timer = rig->schedule_once(ms(10'000), who, number{1});
    auto function =
        rig->schedule_once_fn(ms(10'000), [](const execution_batch&) { journal().add(2); });
    ASSERT_TRUE(timer && function);
    ASSERT_TRUE(rig->register_on_close(writes(3), close_priority::user).has_value());
    (void)rig->shutdown();
    rig.jump(20'000);
    EXPECT_TRUE(journal().is({3}));
    EXPECT_TRUE(timer->is_cancelled());
    EXPECT_EQ(timer->end(), job_end::closed);
    EXPECT_EQ(function->end(), job_end::closed);
    EXPECT_FALSE(timer->cancel());
    EXPECT_EQ(rig->active_count(), 0u);
    EXPECT_EQ(rig->cell_count(), 0u);
}

// SH-1: what is due is processed, then the gate closes, timers are cancelled in order of
// registration, tasks run. SD-1: the log has that order.
TEST(closing, SH_1_due_then_cancelled_then_tasks) {
    served_rig rig;
    ASSERT_TRUE(rig->enable_deterministic_log(16).has_value());
    const auto who = rig.spawn();
    ASSERT_TRUE(rig->schedule_once(ms(30), who, number{1}).has_value());
    ASSERT_TRUE(rig->schedule_once(ms(2), who, number{2}).has_value());
    ASSERT_TRUE(rig->schedule_at_fixed_rate(ms(20), ms(1), who, number{3}).has_value());
    ASSERT_TRUE(rig->register_on_close(writes(100), close_priority::user).has_value());
    rig.time.advance(ms(5));  // nobody looked
    const close_report report = rig->shutdown();
    rig.run();
    EXPECT_TRUE(journal().is({100, 2}));  // the message was sent before, and is handled now
    EXPECT_EQ(report.succeeded, 1u);
    constexpr diagnostic_kind expected[] = {
        diagnostic_kind::schedule, diagnostic_kind::schedule, diagnostic_kind::schedule,
        diagnostic_kind::fire,     diagnostic_kind::cancel,   diagnostic_kind::cancel,
        diagnostic_kind::on_close,
    };
    rig->read_log([&](const tactus::recorded_log& log) {
        ASSERT_EQ(log.records().size(), std::size(expected));
        for (unsigned i = 0; i < std::size(expected); ++i)
            EXPECT_EQ(log.records()[i].kind, expected[i]);
        EXPECT_EQ(log.records()[3].job, log.records()[1].job);
        EXPECT_EQ(log.records()[4].job, log.records()[0].job);
        EXPECT_EQ(log.records()[5].job, log.records()[2].job);
    });
}

// TC-S13, C-SCH-36, PK-SCH-28, SH-2: nothing is accepted afterwards, and a delay says why.
TEST(closing, TC_S13_nothing_is_accepted_afterwards) {
    served_rig rig;
    const auto who = rig.spawn();
    tactus::pending_delay waits = rig->delay(ms(10));
    EXPECT_FALSE(waits.poll().has_value());
    (void)rig->shutdown();
    EXPECT_TRUE(rig->has_closed());
    const auto outcome = waits.poll();
    ASSERT_TRUE(outcome.has_value() && !outcome->has_value());
    EXPECT_EQ(outcome->error().code, scheduler_errc::closed);
    const auto is_closed = [](const auto& made) {
        return !made.has_value() && made.error().code == scheduler_errc::closed;
    };
    const auto nothing = [](const execution_batch&) {};
    EXPECT_TRUE(is_closed(rig->schedule_once(ms(1), who, number{1})));
    EXPECT_TRUE(is_closed(rig->schedule_at_fixed_rate(ms(1), ms(1), who, number{1})));
    EXPECT_TRUE(is_closed(rig->schedule_with_fixed_delay(ms(1), ms(1), who, number{1})));
    EXPECT_TRUE(is_closed(rig->schedule_once_fn(ms(1), nothing)));
    EXPECT_TRUE(is_closed(rig->schedule_at_fixed_rate_fn(ms(1), ms(1), nothing)));
    EXPECT_TRUE(is_closed(rig->register_on_close(writes(1), close_priority::user)));
    tactus::timer_target to{.who = who};
    EXPECT_FALSE(rig->arm(to, ms(1)).has_value());
    tactus::pending_delay late = rig->delay(ms(1));
    const auto refused = late.poll();
    ASSERT_TRUE(refused.has_value() && !refused->has_value());
    EXPECT_EQ(refused->error().code, scheduler_errc::closed);
    EXPECT_EQ(rig->metrics().rejected[static_cast<unsigned>(scheduler_errc::closed)], 7u);
}

// SH-5: when time is over no task begins any more, and the report names the one it was over for.
TEST(closing, SH_5_tasks_have_so_much_time) {
    served_rig rig([](tactus::scheduler_options& o) { o.config.shutdown_timeout = ms(5); });
    const auto slow = [&rig] { (void)rig.time.advance(ms(6)); };
    ASSERT_TRUE(rig->register_on_close(slow, close_priority::runtime, "slow").has_value());
    ASSERT_TRUE(rig->register_on_close(writes(1), close_priority::user, "hook").has_value());
    const close_report report = rig->shutdown();
    EXPECT_EQ(std::string_view(report.unfinished), "slow");
    EXPECT_EQ(report.not_begun, 1u);
    EXPECT_EQ(report.elapsed, ms(6));
    EXPECT_TRUE(journal().is({}));
}

// CN-3, BP-2: a run that waits in a mailbox is over, too.
TEST(closing, SH_1_a_run_that_waits_is_cancelled) {
    served_rig rig;
    const auto who = rig.spawn();
    auto delay = rig->schedule_with_fixed_delay(ms(1), ms(1), who, number{1});
    auto rate = rig->schedule_at_fixed_rate(ms(1), ms(1), who, number{2});
    ASSERT_TRUE(delay && rate);
    rig.time.advance(ms(1));
    rig->run_due(rig.time.now());
    (void)rig->shutdown();
    EXPECT_EQ(rig->active_count(), 0u);
    EXPECT_EQ(delay->state(), job_state::cancelled);
    EXPECT_EQ(delay->end(), job_end::closed);
    rig.run();
    EXPECT_TRUE(journal().is({}));
    EXPECT_EQ(rig->cell_count(), 0u);
    EXPECT_EQ(rig->metrics().periodic, 0u);
}

// SD-1, SH-1: cancels are logged in the order of registration when it closes, those of jobs whose
// message waits too.
TEST(closing, SD_1_a_run_that_waits_is_logged_in_its_turn) {
    served_rig rig;
    auto seen = rig->subscribe(tactus::diagnostic_kind::cancel, 8);
    ASSERT_TRUE(seen.has_value());
    const auto who = rig.spawn();
    const auto first = rig->schedule_once(ms(100), who, number{1});
    const auto delay = rig->schedule_with_fixed_delay(ms(1), ms(1), who, number{2});
    const auto third = rig->schedule_once(ms(50), who, number{3});
    const auto other = rig->schedule_with_fixed_delay(ms(1), ms(1), who, number{4});
    ASSERT_TRUE(first && delay && third && other);
    rig.time.advance(ms(1));
    rig->run_due(rig.time.now());
    (void)rig->shutdown();
    for (const tactus::cancellable& expected : {*first, *delay, *third, *other}) {
        const auto next = seen->poll();
        ASSERT_TRUE(next.has_value());
        EXPECT_EQ(next->job, expected.id());
    }
    EXPECT_EQ(rig->counted().cancelled, 4u);
    rig.run();
    EXPECT_FALSE(seen->poll().has_value());
    EXPECT_EQ(rig->counted().cancelled, 4u);
    EXPECT_EQ(rig->cell_count(), 0u);
}

}  // namespace
