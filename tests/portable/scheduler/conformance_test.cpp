// SPDX-License-Identifier: Apache-2.0
//
// Goal: cases of conformance/scheduler.md and pekko.md that are about time itself: sleeping too
// long, rounds of the wheel, the ends of the counters, quota, and what becomes of jobs whose run
// ends them.
// Method: the case as it stands, in time that the test moves. Where Pekko does something else,
// docs/deviations.md says why.
#include <tactus/scheduler/scheduler.hpp>

#include <cstdint>
#include <limits>

#include <tactus/time/tick_source.hpp>

#include "scheduler_rig.hpp"

using tactus::cancellable;
using tactus::duration;
using tactus::execution_batch;
using tactus::instant;
using tactus::job_mode;
using tactus::job_state;
using tactus::manual_clock;
using tactus::scheduler_errc;
using tactus::scheduler_options;
using tactus::scheduler_warning_kind;
using tactus_test::board;
using tactus_test::journal;
using tactus_test::ms;
using tactus_test::number;
using tactus_test::scheduler_rig;

namespace {

/// As the preset `pekko` has it.
void by_the_preset(scheduler_options& o) {
    o.config.zero_delay = tactus::zero_delay_rule::next_tick;
    o.config.resolution = ms(10);
}

/// A rig whose clock does not begin at zero.
auto begun_at(instant start) {
    return [start](scheduler_options& o) {
        auto& time = const_cast<manual_clock&>(static_cast<const manual_clock&>(*o.time));
        (void)time.advance_to(start);
    };
}

// ---- quota

// TC-S12: released when it fires, and when it is cancelled.
TEST(scheduler_conformance, a_quota_of_one) {
    scheduler_rig rig([](scheduler_options& o) { o.config.custom = {1, 0, 1}; });
    const auto who = rig.spawn();
    ASSERT_TRUE(rig->schedule_once(ms(1), who, number{1}).has_value());
    const auto second = rig->schedule_once(ms(1), who, number{2});
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(second.error().code, scheduler_errc::quota_exceeded);
    EXPECT_EQ(second.error().value, 1);
    EXPECT_EQ(second.error().limit, 1);
    rig.jump(1);
    auto third = rig->schedule_once(ms(1), who, number{3});
    ASSERT_TRUE(third.has_value());
    EXPECT_FALSE(rig->schedule_once(ms(1), who, number{4}).has_value());
    EXPECT_TRUE(third->cancel());
    EXPECT_TRUE(rig->schedule_once(ms(1), who, number{5}).has_value());
    rig.jump(1);
    EXPECT_TRUE(journal().is({1, 5}));
}

// TC-X18, BP-2: exact at quota - 1 and quota; periodic jobs and functions count as well, and one
// that is being handled still does.
TEST(scheduler_conformance, a_quota_is_exact) {
    constexpr std::uint32_t quota = 5;
    scheduler_rig rig([](scheduler_options& o) { o.config.custom = {quota, 0, 1}; });
    const auto who = rig.spawn();
    auto rate = rig->schedule_at_fixed_rate(ms(1), ms(1), who, number{1});
    ASSERT_TRUE(rate && rig->schedule_with_fixed_delay(ms(1), ms(1), who, number{2}));
    ASSERT_TRUE(rig->schedule_once_fn(ms(5), [](const execution_batch&) {}).has_value());
    ASSERT_TRUE(rig->schedule_once(ms(5), who, number{3}).has_value());
    EXPECT_EQ(rig->active_count(), quota - 1);
    ASSERT_TRUE(rig->schedule_once(ms(5), who, number{4}).has_value());
    EXPECT_EQ(rig->active_count(), quota);
    const auto more = rig->schedule_once(ms(5), who, number{5});
    ASSERT_FALSE(more.has_value());
    EXPECT_EQ(more.error().code, scheduler_errc::quota_exceeded);
    rig.time.advance(ms(1));
    rig->run_due(rig.time.now());  // both periodic ones are in the mailbox
    EXPECT_EQ(rig->active_count(), quota);
    EXPECT_FALSE(rig->schedule_once(ms(5), who, number{6}).has_value());
    rig.run();
    EXPECT_TRUE(rate->cancel());
    EXPECT_EQ(rig->active_count(), quota - 1);
    EXPECT_TRUE(rig->schedule_once(ms(5), who, number{7}).has_value());
    EXPECT_FALSE(rig->schedule_once(ms(5), who, number{8}).has_value());
    journal().clear();
}

// ---- runs that end their job

// TC-S24: completed or cancelled by somebody else while it runs: not armed again.
TEST(scheduler_conformance, a_job_that_ends_during_its_run_is_not_armed_again) {
    static cancellable* running;
    for (const job_mode mode : {job_mode::fixed_rate, job_mode::fixed_delay}) {
        for (const bool by_cancel : {false, true}) {
            scheduler_rig rig;
            auto made = rig->add_function({.mode = mode, .first = ms(1), .period = ms(1)},
                                          [by_cancel](const execution_batch&) {
                                              journal().add(1);
                                              if (!by_cancel)
                                                  return tactus::handled::failed("over");
                                              EXPECT_TRUE(running->cancel());
                                              return tactus::handled::ok();
                                          });
            ASSERT_TRUE(made.has_value());
            running = &*made;
            rig.jump(1);
            EXPECT_EQ(rig->active_count(), 0u);
            EXPECT_EQ(rig->cell_count(), 0u);
            rig.pass(5);
            EXPECT_TRUE(journal().is({1}));
            EXPECT_EQ(made->state(), by_cancel ? job_state::cancelled : job_state::completed);
        }
    }
}

// C-SCH-34, PK-SCH-24: what ended by a failure has completed. It was not cancelled, and cannot be.
TEST(scheduler_conformance, a_job_that_failed_is_completed_for_good) {
    scheduler_rig rig;
    auto made = rig->schedule_at_fixed_rate_fn(
        ms(1), ms(1), [](const execution_batch&) { return tactus::handled::failed("over"); });
    ASSERT_TRUE(made.has_value());
    rig.pass(3);
    EXPECT_FALSE(made->is_cancelled());
    EXPECT_TRUE(made->is_completed());
    EXPECT_FALSE(made->cancel());
    EXPECT_FALSE(made->is_cancelled());
}

// C-SCH-35, PK-SCH-21: a dispatcher that takes no functions is told of, and everything else goes
// on.
TEST(scheduler_conformance, a_function_that_nobody_runs_is_told_and_others_go_on) {
    scheduler_rig rig;
    const auto who = rig.spawn();
    auto nobody_s = rig->schedule_once_fn(ms(1), [](const execution_batch&) { journal().add(-1); });
    auto again = rig->schedule_at_fixed_rate_fn(ms(1), ms(1),
                                                [](const execution_batch&) { journal().add(-1); });
    ASSERT_TRUE(nobody_s && again && rig->schedule_once(ms(1), who, number{1}));
    rig.kernel->dispatcher_at(0)->tasks().close();
    rig.jump(1);
    EXPECT_EQ(rig.warnings.of(scheduler_warning_kind::handler_failed), 2u);
    EXPECT_EQ(rig->counted().dropped, 2u);
    ASSERT_TRUE(rig->schedule_once(ms(1), who, number{2}).has_value());
    rig.jump(1);
    EXPECT_TRUE(journal().is({1, 2}));
    EXPECT_TRUE(again->cancel());
    EXPECT_EQ(rig->cell_count(), 0u);
}

// TC-S48: whoever runs in a tick may ask for the time, and for everything else.
TEST(scheduler_conformance, a_function_reads_the_time_inside_its_tick) {
    static scheduler_rig* looked_at;
    static instant seen;
    scheduler_rig rig;
    looked_at = &rig;
    const auto who = rig.spawn();
    static tactus::mailbox_index to;
    to = who;
    ASSERT_TRUE(rig->schedule_once_fn(
                       ms(3),
                       [](const execution_batch&) {
                           seen = looked_at->time.now();
                           EXPECT_EQ((*looked_at)->active_count(), 0u);
                           EXPECT_EQ((*looked_at)->next_deadline(), instant::never());
                           EXPECT_TRUE(
                               (*looked_at)->schedule_once(ms(1), to, number{2}).has_value());
                       })
                    .has_value());
    rig.pass(3);
    EXPECT_EQ(seen, instant::from_ns(3'000'000));
    rig.jump(1);
    EXPECT_TRUE(journal().is({2}));
}

/// Asks the scheduler while it is being woken by it.
struct asking_waker final : tactus::waker {
    tactus::scheduler* timers = nullptr;
    std::uint32_t active = 99;
    void wake() noexcept override { active = timers->active_count(); }
};

// TC-S48, SC-10: the runtime's own are called without a lock, too.
TEST(scheduler_conformance, who_is_woken_may_ask_the_scheduler) {
    scheduler_rig rig;
    asking_waker w;
    w.timers = &*rig;
    tactus::timer_target target{.wake = &w};
    ASSERT_TRUE(rig->arm(target, ms(1)).has_value());
    rig.jump(1);
    EXPECT_EQ(w.active, 0u);
}

// ---- sleeping too long

// TC-P14, C-SCH-12, PK-SCH-3: four jobs at 1/2 + i steps, and a look after 4 1/2 steps at once: all
// four, and the next look half a step later.
TEST(scheduler_conformance, all_that_was_overslept_comes_at_once) {
    const duration step = ms(10);
    scheduler_rig rig([](scheduler_options& o) { o.config.resolution = ms(10); });
    const auto who = rig.spawn();
    for (std::uint32_t i = 0; i < 4; ++i)
        ASSERT_TRUE(rig->schedule_once(ms(5) + step * i, who, number{i + 1}).has_value());
    ASSERT_TRUE(rig->schedule_once(ms(46), who, number{5}).has_value());
    EXPECT_EQ(rig->next_deadline(), instant::from_ns(10'000'000));
    rig.time.advance(ms(45));
    rig.run();
    EXPECT_TRUE(journal().is({1, 2, 3, 4}));
    EXPECT_EQ(rig->next_deadline() - rig.time.now(), ms(5));
    rig.time.advance(ms(5));
    rig.run();
    EXPECT_TRUE(journal().is({5}));
    EXPECT_EQ(rig->next_deadline(), instant::never());  // tickless: nothing to look for
}

// TC-P15, C-SCH-13, PK-SCH-6, PK-SCH-9: a delay counts from the call, not from when somebody has
// seen it.
TEST(scheduler_conformance, a_delay_counts_from_the_call) {
    scheduler_rig rig([](scheduler_options& o) { o.config.resolution = ms(10); });
    const auto who = rig.spawn();
    ASSERT_TRUE(rig->schedule_once(ms(1'000), who, number{9}).has_value());
    rig.time.advance(ms(20));  // nobody looks
    ASSERT_TRUE(rig->schedule_once(ms(30), who, number{1}).has_value());
    rig.time.advance(ms(50));
    rig.run();
    EXPECT_TRUE(journal().is({1}));
    // Nor is it early for having been registered late in a time that nobody had looked at.
    rig.time.advance(ms(500));
    ASSERT_TRUE(rig->schedule_once(ms(30), who, number{2}).has_value());
    rig.run();
    rig.time.advance(ms(29));
    rig.run();
    EXPECT_TRUE(journal().is({}));
    rig.time.advance(ms(1));
    rig.run();
    EXPECT_TRUE(journal().is({2}));
}

// TC-P16, C-SCH-14, PK-SCH-4: jobs that share a slot of the wheel, a round or several apart, come
// one by one.
TEST(scheduler_conformance, rounds_of_the_wheel_are_told_apart) {
    for (const std::int64_t round : {1, 2, 256, 65'536}) {
        scheduler_rig rig([](scheduler_options& o) { o.config.resolution = ms(1); });
        const auto who = rig.spawn();
        for (std::uint32_t i = 0; i < 4; ++i)
            ASSERT_TRUE(
                rig->schedule_once(ms(round * (i + 1)) - duration::from_us(500), who, number{i + 1})
                    .has_value());
        for (std::int32_t i = 0; i < 4; ++i) {
            rig.jump(static_cast<std::uint64_t>(round - 1));
            EXPECT_TRUE(journal().is({}));
            rig.jump(1);
            EXPECT_TRUE(journal().is({i + 1}));
        }
        EXPECT_EQ(rig->next_deadline(), instant::never());
    }
}

// C-SCH-7: an exact multiple of a round comes once, on time.
TEST(scheduler_conformance, an_exact_multiple_of_a_round_comes_once) {
    scheduler_rig rig([](scheduler_options& o) { o.config.resolution = ms(10); });
    const auto who = rig.spawn();
    // 320 and 256 slots of 10 ms; and the rounds of the levels above.
    for (const std::int64_t delay : {3'200, 2'560, 655'360, 167'772'160}) {
        ASSERT_TRUE(rig->schedule_once(ms(delay), who, number{1}).has_value());
        rig.time.advance(ms(delay - 1));
        rig.run();
        EXPECT_TRUE(journal().is({}));
        rig.time.advance(ms(1));
        rig.run();
        EXPECT_TRUE(journal().is({1}));
        rig.time.advance(ms(2 * delay));
        rig.run();
        EXPECT_TRUE(journal().is({}));
    }
}

// ---- the ends of counters

// TC-P17, C-SCH-16, PK-SCH-2, PK-SCH-30: one per step, in order, across every width a counter of
// ticks may have.
TEST(scheduler_conformance, ticks_go_on_where_a_counter_would_wrap) {
    for (const unsigned bits : {31U, 32U}) {
        scheduler_rig rig(begun_at(instant::from_ns(((1ULL << bits) - 20) * 1'000'000)));
        const auto who = rig.spawn();
        constexpr std::uint32_t count = board::roomy ? 40 : 8;
        for (std::uint32_t i = 1; i <= count; ++i)
            ASSERT_TRUE(rig->schedule_once(ms(i), who, number{i}).has_value());
        for (std::int32_t i = 1; i <= static_cast<std::int32_t>(count); ++i) {
            rig.jump(1);
            EXPECT_TRUE(journal().is({i}));
        }
        // And after as many ticks as 31 bits have.
        ASSERT_TRUE(rig->schedule_once(rig->maximum_delay(), who, number{7}).has_value());
        rig.jump(static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max()) - 1);
        EXPECT_TRUE(journal().is({}));
        rig.jump(1);
        EXPECT_TRUE(journal().is({7}));
    }
}

// TC-P17: near the end of time nothing wraps: what fits comes in order, what does not is refused.
TEST(scheduler_conformance, nothing_wraps_at_the_end_of_time) {
    const instant start = instant::never() - ms(20);
    scheduler_rig rig(begun_at(start));
    const auto who = rig.spawn();
    constexpr std::uint32_t count = board::roomy ? 15 : 8;
    for (std::uint32_t i = 1; i <= count; ++i)
        ASSERT_TRUE(rig->schedule_once(ms(i), who, number{i}).has_value());
    EXPECT_FALSE(rig->schedule_once(ms(40), who, number{40}).has_value());
    std::int32_t next = 1;
    for (int i = 0; i < 18; ++i) {
        rig.jump(1);
        for (unsigned k = 0; k < journal().count(); ++k) {
            EXPECT_EQ(journal().at(k), next);
            EXPECT_GE(rig.time.now() - start, ms(next));
            ++next;
        }
        journal().clear();
    }
    EXPECT_EQ(next, count + 1);
    rig.jump(100);
    rig.jump(100);
    EXPECT_TRUE(journal().is({}));
}

// TC-X17: ticks that nobody took for 10 s, counted by a counter that wraps meanwhile: afterwards
// logical time is the time that has passed.
TEST(scheduler_conformance, a_feed_that_stalled_loses_nothing) {
    constexpr std::uint64_t stall = 10'000;
    scheduler_rig rig;
    tactus::tick_source source(
        {.first_count = std::numeric_limits<tactus::port::event_count::word>::max() - 2'000});
    auto lease = source.acquire();
    const auto who = rig.spawn();
    auto rate = rig->add({.mode = job_mode::fixed_rate,
                          .first = ms(1),
                          .period = ms(1),
                          .to = who,
                          .backlog_limit = 60'000,
                          .burst_threshold = 60'000},
                         number{1});
    ASSERT_TRUE(rate && rig->schedule_once(ms(stall), who, number{2}));
    ASSERT_TRUE(rig->schedule_once(ms(stall + 1), who, number{3}).has_value());
    for (std::uint64_t i = 0; i < stall; ++i)
        source.notify_tick();
    const auto event = lease.try_pull();
    ASSERT_TRUE(event.has_value());
    EXPECT_EQ(event->ticks, stall);
    tactus::tick_chunks chunks(event->ticks, 1'024);
    std::uint64_t delivered = 0;
    while (const std::uint32_t n = chunks.next()) {
        rig.jump(n);
        delivered += journal().count();
        journal().clear();
    }
    EXPECT_EQ(rig.time.now(), instant::epoch() + ms(stall));
    EXPECT_EQ(rig->counted().fired, delivered);
    EXPECT_EQ(rig->counted().fired - 1 + rig->counted().missed, stall);  // all runs, and the one
    rig.jump(1);
    EXPECT_EQ(journal().count(), 2u);  // the run of this tick, and what was due at it
    journal().clear();
    EXPECT_EQ(rig->counted().fired - 2 + rig->counted().missed, stall + 1);
}

// ---- zero, and closed

// C-SCH-20, SC-3: by the preset an initial delay of zero is the next tick; a period is not.
TEST(scheduler_conformance, an_initial_delay_of_zero_by_the_preset) {
    scheduler_rig rig(by_the_preset);
    const auto who = rig.spawn();
    ASSERT_TRUE(rig->schedule_at_fixed_rate(ms(0), ms(50), who, number{1}).has_value());
    ASSERT_TRUE(rig->add_function({.mode = job_mode::fixed_delay, .first = ms(0), .period = ms(50)},
                                  [](const execution_batch&) { journal().add(2); })
                    .has_value());
    EXPECT_TRUE(journal().is({}));
    rig.jump(1);
    EXPECT_TRUE(journal().is({1, 2}));
    rig.pass(99);  // 1 s
    EXPECT_GE(journal().count(), 6u);
    journal().clear();
    EXPECT_FALSE(rig->schedule_at_fixed_rate(ms(0), ms(0), who, number{1}).has_value());
}

// C-SCH-32, PK-SCH-10: by the preset a delay of zero is the next tick, through the dispatcher, and
// can be cancelled until then.
TEST(scheduler_conformance, a_delay_of_zero_by_the_preset) {
    scheduler_rig rig(by_the_preset);
    auto made = rig->schedule_once_fn(ms(0), [](const execution_batch&) { journal().add(1); });
    auto dropped = rig->schedule_once_fn(ms(0), [](const execution_batch&) { journal().add(2); });
    ASSERT_TRUE(made && dropped);
    rig.run();
    EXPECT_TRUE(journal().is({}));
    EXPECT_TRUE(dropped->cancel());
    rig.jump(1);
    EXPECT_TRUE(journal().is({1}));
    EXPECT_FALSE(made->cancel());
    EXPECT_FALSE(made->is_cancelled());
}

// C-SCH-36, TC-S13: whatever is asked for after the end is refused; a second end is none.
TEST(scheduler_conformance, everything_is_refused_after_the_end) {
    scheduler_rig rig(by_the_preset);
    const auto who = rig.spawn();
    EXPECT_TRUE(rig->close());
    const auto refused = [](const auto& made) {
        return !made.has_value() && made.error().code == scheduler_errc::closed;
    };
    EXPECT_TRUE(refused(rig->schedule_once(ms(0), who, number{1})));
    EXPECT_TRUE(refused(rig->schedule_once(ms(10), who, number{1})));
    EXPECT_TRUE(refused(rig->schedule_at_fixed_rate(ms(10), ms(10), who, number{1})));
    EXPECT_TRUE(refused(rig->schedule_with_fixed_delay(ms(10), ms(10), who, number{1})));
    EXPECT_TRUE(refused(rig->schedule_once_fn(ms(10), [](const execution_batch&) {})));
    EXPECT_FALSE(rig->close());
    EXPECT_EQ(rig->cell_count(), 0u);
}

// C-SCH-19: a tick is as long as it was asked to be, down to a nanosecond.
TEST(scheduler_conformance, a_tick_may_be_a_nanosecond) {
    scheduler_rig rig([](scheduler_options& o) { o.config.resolution = duration::from_ns(1); });
    const auto who = rig.spawn();
    EXPECT_EQ(rig->resolution(), duration::from_ns(1));
    ASSERT_TRUE(rig->schedule_once(duration::from_ns(3), who, number{1}).has_value());
    rig.jump(2);
    EXPECT_TRUE(journal().is({}));
    rig.jump(1);
    EXPECT_TRUE(journal().is({1}));
    auto config = tactus::scheduler_config::for_clock(tactus::clock_kind::deterministic);
    config.resolution = duration::zero();
    EXPECT_FALSE(tactus::validate(config).has_value());
}

// SC-3, C-SCH-10: the longest delay comes exactly then, as first delay and as period.
TEST(scheduler_conformance, the_longest_delay_comes_exactly_then) {
    scheduler_rig rig;
    const auto who = rig.spawn();
    constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
    const duration longest = rig->maximum_delay();
    const duration more = longest + rig->resolution();
    ASSERT_TRUE(rig->schedule_once(longest, who, number{1}).has_value());
    rig.jump(1);  // three at once would be more than a small board has cells for
    ASSERT_TRUE(rig->schedule_at_fixed_rate(longest, longest, who, number{2}).has_value());
    ASSERT_TRUE(rig->schedule_with_fixed_delay(longest, longest, who, number{3}).has_value());
    EXPECT_FALSE(rig->schedule_once(more, who, number{4}).has_value());
    EXPECT_FALSE(rig->schedule_at_fixed_rate(more, ms(1), who, number{4}).has_value());
    EXPECT_FALSE(rig->schedule_at_fixed_rate(ms(1), more, who, number{4}).has_value());
    EXPECT_FALSE(rig->schedule_with_fixed_delay(more, ms(1), who, number{4}).has_value());
    EXPECT_FALSE(rig->schedule_with_fixed_delay(ms(1), more, who, number{4}).has_value());
    EXPECT_EQ(rig->active_count(), 3u);
    rig.jump(most - 2);
    EXPECT_TRUE(journal().is({}));
    rig.jump(1);
    EXPECT_TRUE(journal().is({1}));
    rig.jump(1);
    EXPECT_TRUE(journal().is({2, 3}));
    rig.jump(most - 1);
    EXPECT_TRUE(journal().is({}));
    rig.jump(1);
    EXPECT_TRUE(journal().is({2, 3}));
}

}  // namespace
