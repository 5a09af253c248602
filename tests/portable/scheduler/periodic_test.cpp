// SPDX-License-Identifier: Apache-2.0
//
// Goal: jobs that come again (SC-1, SC-11, SC-12, SC-20 … SC-26), and the batches they come in
// (BT-1, BT-2).
// Method: cases of conformance/scheduler.md in time that the test moves; k - 1, k and k + 1.
#include <tactus/scheduler/scheduler.hpp>

#include <cstdint>

#include "scheduler_rig.hpp"

using tactus::execution_batch;
using tactus::job_mode;
using tactus::job_request;
using tactus::job_state;
using tactus::scheduler_errc;
using tactus::scheduler_warning_kind;
using tactus_test::board;
using tactus_test::journal;
using tactus_test::ms;
using tactus_test::number;
using tactus_test::scheduler_rig;

namespace {

tactus::scheduler* looked_at = nullptr;
execution_batch batches[16];
unsigned batch_count = 0;

void note_batch(tactus::turn& t, std::uint32_t) {
    if (const auto b = looked_at->current_batch(&t); b && batch_count < 16)
        batches[batch_count++] = *b;
}

/// A rig whose actors write down in what batch a message came.
struct batch_rig : scheduler_rig {
    batch_rig() noexcept {
        looked_at = &**this;
        batch_count = 0;
    }
    [[nodiscard]] auto rate(std::uint16_t backlog, std::uint16_t burst, std::uint32_t value = 1,
                            job_mode mode = job_mode::fixed_rate) noexcept {
        return (*this)->add({.mode = mode,
                             .first = ms(1),
                             .period = ms(1),
                             .to = who,
                             .backlog_limit = backlog,
                             .burst_threshold = burst},
                            number{value});
    }
    tactus::mailbox_index who = spawn(note_batch);
};

// TC-S14
TEST(periodic, a_fixed_rate_keeps_its_grid) {
    batch_rig rig;
    ASSERT_TRUE(rig->schedule_at_fixed_rate(ms(2), ms(3), rig.who, number{1}).has_value());
    rig.jump(2);
    rig.jump(3);
    rig.jump(3);
    EXPECT_TRUE(journal().is({1, 1, 1}));
    rig.jump(2);
    EXPECT_TRUE(journal().is({}));
    rig.jump(1);
    EXPECT_TRUE(journal().is({1}));
}

// TC-S15, BT-1
TEST(periodic, missed_periods_are_folded_into_one_delivery) {
    batch_rig rig;
    const auto made = rig.rate(10, 10);
    ASSERT_TRUE(made.has_value());
    rig.jump(1);
    rig.jump(5);
    ASSERT_EQ(batch_count, 2u);
    EXPECT_TRUE((batches[0] == execution_batch{1, 0, job_mode::fixed_rate, made->id()}));
    EXPECT_TRUE((batches[1] == execution_batch{5, 4, job_mode::fixed_rate, made->id()}));
    EXPECT_EQ(rig->counted().missed, 4u);
}

// DF-28: a rate that is fired late within a tick has its next run in the tick of that run.
TEST(periodic, DF_28_a_rate_fired_late_within_its_tick_comes_once) {
    batch_rig rig;
    rig.time.advance(tactus::duration::from_us(300));
    ASSERT_TRUE(rig->schedule_at_fixed_rate(ms(1), ms(1), rig.who, number{1}).has_value());
    rig.time.advance(tactus::duration::from_us(2'200));  // due at 1.3 ms and 2.3 ms, now 2.5 ms
    rig.run();
    rig.run();
    EXPECT_TRUE(journal().is({1}));
    rig.time.advance(tactus::duration::from_us(499));
    rig.run();
    EXPECT_TRUE(journal().is({}));
    rig.time.advance(tactus::duration::from_us(1));
    rig.run();
    EXPECT_TRUE(journal().is({1}));
    EXPECT_EQ(rig.warnings.count, 0u);
}

// DF-31: the runs of a rate shorter than the tick are one delivery per tick, and no backlog.
TEST(periodic, DF_31_a_rate_shorter_than_the_tick_folds_and_goes_on) {
    batch_rig rig;
    const auto made = rig->add({.mode = job_mode::fixed_rate,
                                .first = ms(1),
                                .period = tactus::duration::from_us(100),
                                .to = rig.who,
                                .backlog_limit = 8,
                                .burst_threshold = 2},
                               number{1});
    ASSERT_TRUE(made.has_value());
    rig.pass(4);
    EXPECT_TRUE(journal().is({1, 1, 1, 1}));
    EXPECT_EQ(batches[0].runs, 1u);
    EXPECT_EQ(batches[3].runs, 10u);
    EXPECT_EQ(rig.warnings.count, 0u);
    rig.jump(5);  // 49 missed
    EXPECT_TRUE(journal().is({1}));
    EXPECT_EQ(rig.warnings.of(scheduler_warning_kind::burst_fire), 1u);
    rig.jump(10);
    EXPECT_EQ(rig.warnings.of(scheduler_warning_kind::backlog_exceeded), 1u);
    EXPECT_TRUE(made->is_cancelled());
}

// DF-25, SC-24: a function with a fixed delay has one run at a time, with after = sent, too.
TEST(periodic, DF_25_a_fixed_delay_function_waits_until_it_has_returned) {
    batch_rig rig;
    static unsigned runs;
    static unsigned most;
    runs = most = 0;
    const auto made = rig->add_function({.mode = job_mode::fixed_delay,
                                         .first = ms(1),
                                         .period = ms(1),
                                         .backlog_limit = 8,
                                         .burst_threshold = 2,
                                         .after_sent = true},
                                        [](const execution_batch& batch) {
                                            ++runs;
                                            most = batch.runs > most ? batch.runs : most;
                                        });
    ASSERT_TRUE(made.has_value());
    for (int i = 0; i < 20; ++i) {  // submitted at the first; the worker comes late
        rig.time.advance(ms(1));
        rig->run_due(rig.time.now());
    }
    rig.run();
    EXPECT_EQ(runs, 1u);
    EXPECT_EQ(most, 1u);
    EXPECT_FALSE(made->is_cancelled());
    rig.jump(1);
    EXPECT_EQ(runs, 2u);
    EXPECT_EQ(rig.warnings.count, 0u);
}

// TC-X06, SC-23: one advance of n folds, n of one deliver n times.
TEST(periodic, one_jump_folds_and_single_ticks_deliver_each) {
    batch_rig rig;
    ASSERT_TRUE(rig.rate(8, 8).has_value());
    rig.jump(5);
    EXPECT_TRUE(journal().is({1}));
    EXPECT_EQ(batches[0].runs, 5u);
    rig.pass(5);
    EXPECT_TRUE(journal().is({1, 1, 1, 1, 1}));
    for (unsigned i = 1; i < 6; ++i)
        EXPECT_EQ(batches[i].runs, 1u);
}

// SC-20, SC-21, C-SCH-31, PK-SCH-15: catch_up = each delivers every run in turn, more than a
// backlog_limit of them too, and is back on its grid.
TEST(periodic, each_missed_run_may_be_delivered_in_turn) {
    batch_rig rig;
    ASSERT_TRUE(rig->add({.mode = job_mode::fixed_rate,
                          .first = ms(2),
                          .period = ms(2),
                          .to = rig.who,
                          .each = true},
                         number{1})
                    .has_value());
    rig.jump(23);  // the due one and 10 more
    EXPECT_TRUE(journal().is({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
    for (unsigned i = 0; i < 11; ++i)
        EXPECT_EQ(batches[i].runs, 1u);
    rig.jump(1);
    EXPECT_TRUE(journal().is({1}));
    // SC-21: so many at once are told, though none is lost.
    ASSERT_EQ(rig.warnings.count, 1u);
    EXPECT_EQ(rig.warnings.all[0].kind, scheduler_warning_kind::burst_fire);
    EXPECT_EQ(rig.warnings.all[0].value, 10);
    EXPECT_EQ(rig->counted().missed, 0u);
}

// C-SCH-31, SC-24, PK-SCH-13: the same pause of a fixed delay is one run, and the next comes a full
// delay after it.
TEST(periodic, C_SCH_31_a_fixed_delay_does_not_catch_up) {
    batch_rig rig;
    ASSERT_TRUE(rig->schedule_with_fixed_delay(ms(2), ms(2), rig.who, number{1}).has_value());
    rig.jump(23);
    EXPECT_TRUE(journal().is({1}));
    rig.jump(1);
    EXPECT_TRUE(journal().is({}));
    rig.jump(1);
    EXPECT_TRUE(journal().is({1}));
    EXPECT_EQ(rig.warnings.count, 0u);
}

// SC-21, SC-22: k - 1, k, k + 1 for both limits. TC-S16: exactly one warning.
TEST(periodic, limits_are_exact) {
    struct row {
        std::uint32_t jump;  // missed + 1
        unsigned bursts;
        unsigned exceeded;
    };
    // burst_threshold 2, backlog_limit 4
    constexpr row rows[] = {{2, 0, 0}, {3, 0, 0}, {4, 1, 0}, {5, 1, 0}, {6, 0, 1}, {7, 0, 1}};
    for (const row& r : rows) {
        batch_rig rig;
        auto made = rig.rate(4, 2);
        ASSERT_TRUE(made.has_value());
        rig.jump(r.jump);
        EXPECT_EQ(rig.warnings.of(scheduler_warning_kind::burst_fire), r.bursts);
        EXPECT_EQ(rig.warnings.of(scheduler_warning_kind::backlog_exceeded), r.exceeded);
        EXPECT_EQ(rig.warnings.count, r.bursts + r.exceeded);
        EXPECT_EQ(made->is_cancelled(), r.exceeded != 0);
        EXPECT_EQ(rig->active_count(), r.exceeded != 0 ? 0u : 1u);
        if (rig.warnings.count != 0) {
            EXPECT_EQ(rig.warnings.all[0].value, static_cast<std::int64_t>(r.jump) - 1);
            EXPECT_TRUE(rig.warnings.all[0].job == made->id());
        }
        EXPECT_EQ(journal().count(), r.exceeded != 0 ? 0u : 1u);
        journal().clear();
        EXPECT_EQ(rig->cell_count(), rig->active_count());
    }
}

// TC-S16
TEST(periodic, a_limit_of_one_ends_it_after_two_missed) {
    batch_rig rig;
    auto made = rig.rate(1, 1);
    ASSERT_TRUE(made.has_value());
    rig.jump(10);
    EXPECT_TRUE(made->is_cancelled());
    EXPECT_EQ(rig->active_count(), 0u);
    EXPECT_EQ(rig.warnings.count, 1u);
    EXPECT_EQ(rig.warnings.of(scheduler_warning_kind::backlog_exceeded), 1u);
}

// TC-S17, TC-S28, SC-24: a pause never ends a fixed delay, and it misses nothing.
TEST(periodic, a_pause_ends_a_fixed_rate_and_not_a_fixed_delay) {
    batch_rig rig;
    auto fast = rig.rate(1, 1, 1);
    auto slow = rig.rate(1, 1, 2, job_mode::fixed_delay);
    ASSERT_TRUE(fast && slow);
    rig.jump(5);
    EXPECT_TRUE(fast->is_cancelled());
    ASSERT_EQ(rig.warnings.count, 1u);
    EXPECT_TRUE(rig.warnings.all[0].job == fast->id());
    EXPECT_FALSE(slow->is_cancelled());
    rig.jump(5);
    EXPECT_TRUE(journal().is({2, 2}));
    EXPECT_EQ(batches[1].missed_runs, 0u);
    EXPECT_EQ(rig->active_count(), 1u);
}

// TC-S19
TEST(periodic, a_burst_is_told_of_the_fixed_rate_alone) {
    batch_rig rig;
    auto fast = rig.rate(8, 1, 1);
    ASSERT_TRUE(fast && rig.rate(8, 1, 2, job_mode::fixed_delay));
    rig.jump(4);
    ASSERT_EQ(rig.warnings.count, 1u);
    EXPECT_EQ(rig.warnings.all[0].kind, scheduler_warning_kind::burst_fire);
    EXPECT_TRUE(rig.warnings.all[0].job == fast->id());
    journal().clear();
}

// TC-S21
TEST(periodic, it_goes_on_until_it_is_cancelled) {
    batch_rig rig;
    auto made = rig.rate(8, 2);
    ASSERT_TRUE(made.has_value());
    rig.pass(2);
    EXPECT_FALSE(made->is_completed());
    EXPECT_FALSE(made->is_cancelled());
    EXPECT_TRUE(made->cancel());
    journal().clear();
}

// SC-14, SC-5
TEST(periodic, options_are_checked) {
    batch_rig rig;
    struct row {
        std::uint16_t backlog;
        std::uint16_t burst;
        bool good;
    };
    for (const row& r : {row{0, 0, false}, row{1, 0, false}, row{1, 2, false}, row{2, 2, true}}) {
        const auto made = rig.rate(r.backlog, r.burst);
        EXPECT_EQ(made.has_value(), r.good);
        if (!made) {
            EXPECT_EQ(made.error().code, scheduler_errc::invalid_options);
        }
    }
}

scheduler_rig* working = nullptr;

// TC-X07, SC-24: 10 ms of delay and 100 ms of handling are 110 ms from start to start.
TEST(periodic, handling_time_is_added_to_a_fixed_delay) {
    scheduler_rig rig;
    working = &rig;
    static std::uint64_t starts[4];
    static unsigned count;
    count = 0;
    const auto who = rig.spawn([](tactus::turn&, std::uint32_t) {
        if (count < 4)
            starts[count++] = working->time.now().ns() / 1'000'000;
        working->time.advance(ms(100));
    });
    auto made = rig->schedule_with_fixed_delay(ms(10), ms(10), who, number{1});
    ASSERT_TRUE(made.has_value());
    for (int i = 0; i < 500 && count < 3; ++i)
        rig.jump(1);
    ASSERT_EQ(count, 3u);
    EXPECT_EQ(starts[0], 10u);
    EXPECT_EQ(starts[1], 120u);
    EXPECT_EQ(starts[2], 230u);
    EXPECT_EQ(rig->counted().missed, 0u);
    EXPECT_FALSE(made->is_cancelled());
    journal().clear();
}

// SC-26: after = sent begins the next wait when the message is in the mailbox.
TEST(periodic, a_fixed_delay_may_begin_when_it_is_sent) {
    for (const bool after_sent : {false, true}) {
        scheduler_rig rig;
        const auto who = rig.spawn();
        ASSERT_TRUE(rig->add({.mode = job_mode::fixed_delay,
                              .first = ms(1),
                              .period = ms(2),
                              .to = who,
                              .after_sent = after_sent},
                             number{1})
                        .has_value());
        rig.time.advance(ms(1));
        rig->run_due(rig.time.now());  // sent at 1
        rig.time.advance(ms(1));
        rig.run();  // handled at 2
        EXPECT_TRUE(journal().is({1}));
        rig.jump(1);  // 3
        EXPECT_EQ(journal().count(), after_sent ? 1u : 0u);
        rig.jump(1);  // 4
        EXPECT_TRUE(journal().is({1}));
    }
}

// SC-11, TC-P21, C-SCH-21, PK-SCH-17
TEST(periodic, it_ends_with_its_receiver) {
    for (const job_mode mode : {job_mode::fixed_rate, job_mode::fixed_delay}) {
        scheduler_rig rig;
        const auto who = rig.spawn();
        auto made = rig->add({.mode = mode, .first = ms(1), .period = ms(1), .to = who}, number{1});
        ASSERT_TRUE(made.has_value());
        rig.pass(2);
        (void)rig.kernel->stop(who);
        rig.run();
        journal().clear();
        rig.pass(3);
        EXPECT_TRUE(journal().is({}));
        EXPECT_TRUE(made->is_completed());
        EXPECT_FALSE(made->is_cancelled());
        EXPECT_EQ(rig->active_count(), 0u);
        EXPECT_EQ(rig->cell_count(), 0u);
    }
}

// BT-2: whatever becomes of the message, a fixed delay goes on.
TEST(periodic, a_run_that_is_lost_is_not_leaked) {
    scheduler_rig rig;
    const auto who = rig.spawn();
    auto made = rig->schedule_with_fixed_delay(ms(1), ms(1), who, number{1});
    ASSERT_TRUE(made.has_value());
    rig.time.advance(ms(1));
    rig->run_due(rig.time.now());  // in the mailbox
    (void)rig.kernel->stop(who);   // whose contents become dead letters
    rig.run();
    EXPECT_EQ(rig->active_count(), 1u);  // armed again; it finds out when it is due
    rig.jump(1);
    EXPECT_EQ(rig->active_count(), 0u);
    EXPECT_EQ(rig->cell_count(), 0u);
    EXPECT_TRUE(made->is_completed());
    journal().clear();
}

// BT-1: nowhere after, and not for other messages.
TEST(periodic, a_batch_is_seen_while_its_message_is_handled_and_nowhere_else) {
    batch_rig rig;
    ASSERT_TRUE(rig->schedule_once(ms(1), rig.who, number{1}).has_value());
    rig.kernel.tell(rig.who, {5});
    rig.run();
    EXPECT_EQ(batch_count, 0u);
    rig.jump(1);
    ASSERT_EQ(batch_count, 1u);
    EXPECT_EQ(batches[0].mode, job_mode::one_shot);
    EXPECT_EQ(batches[0].runs, 1u);
    rig.kernel.tell(rig.who, {6});
    rig.run();
    EXPECT_EQ(batch_count, 1u);
    EXPECT_FALSE(rig->current_batch(nullptr).has_value());
    EXPECT_TRUE(journal().is({5, 1, 6}));
}

// BT-3: the same in the port's task-local slot.
TEST(periodic, a_batch_may_lie_in_the_task_local_slot) {
    static tactus::port_local_slot<64> slot;
    scheduler_rig rig([](tactus::scheduler_options& o) { o.slot = &slot; });
    looked_at = &*rig;
    batch_count = 0;
    const auto who = rig.spawn([](tactus::turn&, std::uint32_t) {
        if (const auto b = looked_at->current_batch(nullptr))
            batches[batch_count++] = *b;
    });
    auto made = rig->schedule_at_fixed_rate(ms(1), ms(1), who, number{1});
    ASSERT_TRUE(made.has_value());
    rig.kernel.tell(who, {5});
    rig.run();
    EXPECT_EQ(batch_count, 0u);
    rig.jump(2);
    ASSERT_EQ(batch_count, 1u);
    EXPECT_TRUE((batches[0] == execution_batch{2, 1, job_mode::fixed_rate, made->id()}));
    EXPECT_FALSE(rig->current_batch(nullptr).has_value());
    journal().clear();
}

// ---- functions

// SC-1, SC-10, C-SCH-1
TEST(periodic, functions_run_on_a_dispatcher_and_know_their_batch) {
    scheduler_rig rig;
    static execution_batch seen;
    auto made = rig->schedule_once_fn(ms(3), [](const execution_batch& b) {
        seen = b;
        journal().add(1);
    });
    ASSERT_TRUE(made.has_value());
    rig.jump(2);
    EXPECT_TRUE(journal().is({}));
    rig.time.advance(ms(1));
    rig->run_due(rig.time.now());
    EXPECT_TRUE(journal().is({}));  // not on the thread that runs timers
    rig.run();
    EXPECT_TRUE(journal().is({1}));
    EXPECT_TRUE((seen == execution_batch{1, 0, job_mode::one_shot, made->id()}));
    EXPECT_TRUE(made->is_completed());
    EXPECT_EQ(rig->cell_count(), 0u);
}

TEST(periodic, functions_come_again) {
    for (const job_mode mode : {job_mode::fixed_rate, job_mode::fixed_delay}) {
        scheduler_rig rig;
        auto made = rig->add_function({.mode = mode, .first = ms(1), .period = ms(2)},
                                      [](const execution_batch&) { journal().add(7); });
        ASSERT_TRUE(made.has_value());
        rig.pass(6);
        EXPECT_TRUE(journal().is({7, 7, 7}));
        EXPECT_TRUE(made->cancel());
        rig.pass(6);
        EXPECT_TRUE(journal().is({}));
        EXPECT_EQ(rig->cell_count(), 0u);
    }
}

// SC-12, TC-P21, C-SCH-22, C-SCH-23, PK-SCH-19: it ends, is told once, and completed. By an error;
// exceptions are the host's.
TEST(periodic, a_function_that_fails_ends_its_job) {
    for (const job_mode mode : {job_mode::one_shot, job_mode::fixed_rate, job_mode::fixed_delay}) {
        scheduler_rig rig;
        auto made = rig->add_function({.mode = mode, .first = ms(1), .period = ms(1)},
                                      [n = 0](const execution_batch&) mutable {
                                          journal().add(++n);
                                          return n == 3 ? tactus::handled::failed("three")
                                                        : tactus::handled::ok();
                                      });
        ASSERT_TRUE(made.has_value());
        rig.pass(6);
        const bool once = mode == job_mode::one_shot;
        EXPECT_EQ(journal().count(), once ? 1u : 3u);
        journal().clear();
        EXPECT_TRUE(made->is_completed());
        EXPECT_FALSE(made->is_cancelled());
        EXPECT_FALSE(made->cancel());
        EXPECT_EQ(rig.warnings.of(scheduler_warning_kind::handler_failed), once ? 0u : 1u);
        EXPECT_EQ(rig->active_count(), 0u);
        EXPECT_EQ(rig->cell_count(), 0u);
    }
}

// SC-12, PK-SCH-20: a one-shot that fails is told, and has completed; others go on.
TEST(periodic, PK_SCH_20_a_one_shot_that_fails_is_told) {
    scheduler_rig rig;
    auto made = rig->schedule_once_fn(
        ms(1), [](const execution_batch&) { return tactus::handled::failed("one"); });
    ASSERT_TRUE(made.has_value());
    ASSERT_TRUE(
        rig->schedule_once_fn(ms(1), [](const execution_batch&) { journal().add(2); }).has_value());
    rig.pass(1);
    EXPECT_TRUE(made->is_completed());
    EXPECT_EQ(made->end(), tactus::job_end::failed);
    EXPECT_EQ(rig.warnings.of(scheduler_warning_kind::handler_failed), 1u);
    EXPECT_TRUE(journal().is({2}));
}

// A fixed rate whose function has not run yet owes it the runs.
TEST(periodic, runs_of_a_function_that_waits_are_folded) {
    scheduler_rig rig;
    static std::uint32_t runs;
    runs = 0;
    ASSERT_TRUE(rig->schedule_at_fixed_rate_fn(ms(1), ms(1),
                                               [](const execution_batch& b) {
                                                   runs += b.runs;
                                                   journal().add(1);
                                               })
                    .has_value());
    for (int i = 0; i < 3; ++i) {
        rig.time.advance(ms(1));
        rig->run_due(rig.time.now());
    }
    rig.run();
    EXPECT_TRUE(journal().is({1}));
    EXPECT_EQ(runs, 3u);
}

std::uint32_t seen_runs[4];
unsigned seen_count = 0;

void note_runs(const execution_batch& b) {
    if (seen_count < 4)
        seen_runs[seen_count] = b.runs;
    ++seen_count;
}

/// A function at a rate of 1 ms, with a burst threshold of 2 and a backlog limit of 4.
template <class F>
auto rated(scheduler_rig& rig, F f) {
    seen_count = 0;
    return rig->add_function({.mode = job_mode::fixed_rate,
                              .first = ms(1),
                              .period = ms(1),
                              .backlog_limit = 4,
                              .burst_threshold = 2},
                             f);
}

void fire_ticks(scheduler_rig& rig, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
        rig.time.advance(ms(1));
        rig->run_due(rig.time.now());
    }
}

struct limit_row {
    std::uint32_t runs;  // missed + 1
    unsigned bursts;
    unsigned exceeded;
};
constexpr limit_row limit_rows[] = {{1, 0, 0}, {3, 0, 0}, {4, 1, 0}, {5, 1, 0}, {6, 0, 1}};

void expect_limits(scheduler_rig& rig, tactus::cancellable& made, const limit_row& r) {
    EXPECT_EQ(rig.warnings.of(scheduler_warning_kind::burst_fire), r.bursts);
    EXPECT_EQ(rig.warnings.of(scheduler_warning_kind::backlog_exceeded), r.exceeded);
    EXPECT_EQ(rig.warnings.count, r.bursts + r.exceeded);
    if (rig.warnings.count != 0) {
        EXPECT_EQ(rig.warnings.all[0].value, static_cast<std::int64_t>(r.runs) - 1);
    }
    EXPECT_EQ(rig->counted().missed, r.runs - 1);
    EXPECT_EQ(made.is_cancelled(), r.exceeded != 0);
    EXPECT_EQ(rig->active_count(), r.exceeded != 0 ? 0u : 1u);
    EXPECT_EQ(rig->cell_count(), rig->active_count());
    if (r.exceeded != 0) {
        EXPECT_EQ(made.end(), tactus::job_end::backlog_exceeded);
    }
}

// SC-20 … SC-22: what a function misses while it waits is folded, counted and limited.
TEST(periodic, SC_22_a_function_that_waits_has_limits) {
    for (const limit_row& r : limit_rows) {
        scheduler_rig rig;
        auto made = rated(rig, note_runs);
        ASSERT_TRUE(made.has_value());
        fire_ticks(rig, r.runs);
        rig.run();
        EXPECT_EQ(seen_count, r.exceeded != 0 ? 0u : 1u);
        if (seen_count != 0) {
            EXPECT_EQ(seen_runs[0], r.runs);
        }
        expect_limits(rig, *made, r);
    }
}

// SC-20 … SC-22: the same while it is busy.
TEST(periodic, SC_22_a_busy_function_has_limits) {
    for (const limit_row& r : limit_rows) {
        scheduler_rig rig;
        working = &rig;
        static std::uint32_t busy;
        busy = r.runs;
        auto made = rated(rig, [](const execution_batch& b) {
            note_runs(b);
            fire_ticks(*working, std::exchange(busy, 0));
        });
        ASSERT_TRUE(made.has_value());
        rig.jump(1);
        EXPECT_EQ(seen_count, r.exceeded != 0 ? 1u : 2u);
        EXPECT_EQ(seen_runs[0], 1u);
        if (seen_count == 2) {
            EXPECT_EQ(seen_runs[1], r.runs);
        }
        expect_limits(rig, *made, r);
    }
}

// SC-21: what was told when it came due is not told, or counted, again.
TEST(periodic, SC_21_a_burst_of_a_function_is_told_once) {
    scheduler_rig rig;
    auto made = rated(rig, note_runs);
    ASSERT_TRUE(made.has_value());
    rig.time.advance(ms(4));
    rig->run_due(rig.time.now());  // 3 missed
    fire_ticks(rig, 1);
    rig.run();
    EXPECT_EQ(seen_count, 1u);
    EXPECT_EQ(seen_runs[0], 5u);
    EXPECT_EQ(rig.warnings.count, 1u);
    EXPECT_EQ(rig->counted().missed, 4u);
}

// SC-22, CN-1: one that was cancelled meanwhile has no backlog.
TEST(periodic, SC_22_a_cancelled_function_has_no_backlog) {
    scheduler_rig rig;
    auto made = rated(rig, note_runs);
    ASSERT_TRUE(made.has_value());
    fire_ticks(rig, 10);
    EXPECT_TRUE(made->cancel());
    rig.run();
    EXPECT_EQ(seen_count, 0u);
    EXPECT_EQ(rig.warnings.count, 0u);
    EXPECT_EQ(made->end(), tactus::job_end::as_asked);
    EXPECT_EQ(rig->cell_count(), 0u);
}

}  // namespace
