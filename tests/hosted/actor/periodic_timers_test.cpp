// SPDX-License-Identifier: Apache-2.0
//
// Goal: keyed timers that come again are jobs like others: they keep their place at a full quota
// (TM-1, BP-2, BP-3), fold what they missed, have limits (SC-20 … SC-22) and a batch (BT-1).
// Method: time moves by hand; a quota of 1,000 is filled up by others.
#include <tactus/actor/actor.hpp>
#include <tactus/runtime/actor_system.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "clockwork.hpp"
#include "pool_rig.hpp"
#include "still_time.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::beat;
using tactus_test::clock_rig;
using tactus_test::clockwork;
using tactus_test::journal;
using tactus_test::ms;
using tactus_test::stalled_driver;
using tactus_test::still_clock;
using tactus_test::until;
using tactus_test::want;

// TM-1, BP-2, BP-3: what is there stays admitted while it goes on.
TEST(periodic_timers, TM_1_one_that_goes_on_keeps_its_place) {
    for (const want w : {want::rate, want::delay, want::idle}) {
        SCOPED_TRACE(static_cast<int>(w));
        clock_rig rig;
        rig.tell(w);
        EXPECT_EQ(rig.fill(), 999u);
        for (int round = 0; round < 3; ++round) {
            rig.fire(10);
            EXPECT_EQ(rig.timers().active_count(), 1'000u);
            EXPECT_EQ(rig.fill(), 0u);  // its place is not free while its message waits
            rig.run();
            EXPECT_EQ(journal().count(), 1u);
            journal().clear();
            EXPECT_EQ(rig.timers().active_count(), 1'000u);
        }
        EXPECT_EQ(rig.said.decision_count, 0u);
        rig.tell(want::cancel);
        EXPECT_EQ(rig.fill(), 1u);
        journal().clear();
        rig.end();
    }
}

// TM-1, CN-3: cancelled while its message waits, its place is free at once, and nothing is handled.
TEST(periodic_timers, TM_1_one_that_is_cancelled_while_its_message_waits_gives_its_place_back) {
    for (const want w : {want::rate, want::delay}) {
        clock_rig rig;
        rig.tell(w);
        const std::uint32_t cells = rig.timers().cell_count();
        rig.who.tell(want::cancel);
        rig.fire(10);
        rig.run();
        EXPECT_TRUE(journal().is({100}));
        EXPECT_EQ(rig.timers().active_count(), 0u);
        EXPECT_EQ(rig.timers().cell_count(), cells - 1);
        rig.pass(30);
        EXPECT_TRUE(journal().is({}));
        rig.end();
    }
}

// TM-1, BP-3: nor does backpressure refuse what goes on.
TEST(periodic_timers, BP_3_one_that_goes_on_is_not_refused_under_pressure) {
    for (const want w : {want::rate, want::delay, want::idle}) {
        SCOPED_TRACE(static_cast<int>(w));
        clock_rig rig;
        rig.tell(w);
        for (int i = 0; i < 2; ++i) {
            (void)rig.timers().add(
                job_request::once(ms(1), timer_priority::high).send(rig.who.index(), {}), beat{7});
            rig.fire(80);
        }
        EXPECT_EQ(rig.timers().pressure_now().state, backpressure_state::rejecting);
        rig.run();
        EXPECT_EQ(rig.timers().pressure_now().state, backpressure_state::rejecting);
        journal().clear();
        rig.pass(10);
        EXPECT_EQ(journal().count(), 1u);
        EXPECT_EQ(rig.said.decision_count, 0u);
        journal().clear();
        rig.end();
    }
}

namespace {

class started_under_pressure : public actor<beat> {
public:
    void on(const beat&) {
        journal().add(context().start_single_timer(1, beat{1}, ms(10)) ? 1 : 0);
        journal().add(context().start_timer_at_fixed_rate(2, beat{1}, ms(10)) ? 1 : 0);
        journal().add(context().start_timer_with_fixed_delay(3, beat{1}, ms(10)) ? 1 : 0);
    }
};

}  // namespace

// DF-74, BP-3: keyed timers have the priority of their policy, so back-pressure refuses new ones.
TEST(periodic_timers, DF_74_keyed_timers_have_the_priority_of_their_policy) {
    clock_rig rig;
    const auto who = rig.spawn<started_under_pressure>("p");
    (void)rig.timers().add(job_request::once(ms(1), timer_priority::high).send(rig.who.index(), {}),
                           beat{7});
    rig.fire(80);
    EXPECT_EQ(rig.timers().pressure_now().state, backpressure_state::backpressure);
    who.tell(beat{0});
    rig.run();
    EXPECT_TRUE(journal().is({0, 0, 0, 7}));
    rig.end();
}

// BT-1: a batch while its message is handled, whatever the mode.
TEST(periodic_timers, BT_1_the_message_of_a_timer_has_a_batch) {
    constexpr job_mode modes[] = {job_mode::one_shot, job_mode::fixed_rate, job_mode::fixed_delay};
    for (const want w : {want::single, want::rate, want::delay}) {
        clock_rig rig;
        rig.tell(w);
        rig.fire(10);
        rig.who.tell(beat{7});  // in the same run
        rig.run();
        EXPECT_EQ(journal().count(), 2u);
        ASSERT_EQ(clockwork::batches.size(), 1u);  // nowhere after
        EXPECT_EQ(clockwork::batches[0].runs, 1u);
        EXPECT_EQ(clockwork::batches[0].missed_runs, 0u);
        EXPECT_EQ(clockwork::batches[0].mode, modes[static_cast<int>(w)]);
        EXPECT_NE(clockwork::batches[0].job, job_id{});
        journal().clear();
        rig.end();
    }
}

// SC-20: runs whose time has passed while its message waited are folded; it is on its grid after.
TEST(periodic_timers, SC_20_what_passes_while_its_message_waits_is_folded) {
    clock_rig rig;
    rig.tell(want::rate);
    rig.fire(10);
    rig.time.advance(ms(245));
    rig.run();
    ASSERT_EQ(clockwork::batches.size(), 1u);
    EXPECT_EQ(clockwork::batches[0].runs, 25u);  // at 10, 20, ... 250
    EXPECT_EQ(clockwork::batches[0].missed_runs, 24u);
    EXPECT_EQ(rig.timers().counted().missed, 24u);
    rig.pass(4);
    EXPECT_EQ(journal().count(), 1u);
    rig.pass(1);  // 260
    EXPECT_EQ(journal().count(), 2u);
    journal().clear();
    rig.end();
}

namespace {

constexpr duration grid = duration::from_us(8'400);

class off_the_ticks : public actor<beat> {
public:
    void on(const beat& b) {
        if (b.number == 0) {
            EXPECT_TRUE(context().start_timer_at_fixed_rate("t", beat{1}, grid));
            return;
        }
        journal().add(b.number);
        batches[static_cast<std::size_t>(b.number) - 1].push_back(
            context().scheduler_batch()->missed_runs);
    }
    static inline std::vector<std::uint32_t> batches[2];
};

}  // namespace

// SC-20: a run whose tick has not come is not missed, for keyed rates (1) as for others (2). With a
// tick of 1 ms the runs of 8.4 and 16.8 ms come at 9 and 17 ms.
TEST(periodic_timers, SC_20_a_run_whose_tick_has_not_come_is_not_folded) {
    for (auto& batches : off_the_ticks::batches)
        batches.clear();
    clock_rig rig;
    const auto who = rig.spawn<off_the_ticks>("o");
    who.tell(beat{0});
    ASSERT_TRUE(rig.timers().schedule_at_fixed_rate(grid, grid, who.index(), beat{2}));
    rig.run();
    ASSERT_EQ(rig.timers().resolution(), ms(1));
    rig.time.advance(duration::from_us(16'900));
    rig.timers().run_due(rig.time.now());
    rig.run();
    EXPECT_EQ(off_the_ticks::batches[0], (std::vector<std::uint32_t>{0}));
    EXPECT_EQ(off_the_ticks::batches[1], (std::vector<std::uint32_t>{0}));
    EXPECT_EQ(rig.timers().counted().missed, 0u);
    rig.time.advance(duration::from_us(100));
    rig.timers().run_due(rig.time.now());
    rig.run();
    EXPECT_EQ(off_the_ticks::batches[0], (std::vector<std::uint32_t>{0, 0}));
    EXPECT_EQ(off_the_ticks::batches[1], (std::vector<std::uint32_t>{0, 0}));
    journal().clear();
    rig.end();
}

// SC-24: a fixed delay misses nothing.
TEST(periodic_timers, SC_24_a_pause_does_not_end_a_fixed_delay) {
    clock_rig rig;
    rig.tell(want::delay);
    rig.time.advance(ms(1'000));
    rig.run();
    EXPECT_TRUE(journal().is({3}));
    ASSERT_EQ(clockwork::batches.size(), 1u);
    EXPECT_EQ(clockwork::batches[0].runs, 1u);
    rig.pass(10);
    EXPECT_TRUE(journal().is({3}));
    rig.end();
}

// TM-2: who cannot have its receive timeout fails, and says why; restarted, it has none.
TEST(periodic_timers, TM_2_the_failure_of_a_receive_timeout_names_the_reason) {
    clock_rig rig;
    EXPECT_EQ(rig.fill(), 1'000u);
    rig.tell(want::idle);
    EXPECT_EQ(clockwork::failed_with, "the scheduler refuses a timer: quota_exceeded");
    EXPECT_EQ(rig.said.decision_count, 1u);
    // Nor does the next restart ask for it.
    rig.tell(want::fail);
    EXPECT_EQ(clockwork::failed_with, "as it was told");
    EXPECT_EQ(rig.said.decision_count, 2u);
    EXPECT_EQ(rig.timers().active_count(), 1'000u);
    journal().clear();
    rig.end();
}

namespace {

std::atomic<int> beats{0};
std::atomic<std::uint32_t> most_runs{0};

class busy_once : public actor<beat> {
public:
    void pre_start() { EXPECT_TRUE(context().start_timer_at_fixed_rate("t", beat{1}, ms(5))); }
    void on(const beat&) {
        const std::uint32_t runs = context().scheduler_batch()->runs;
        if (runs > most_runs)
            most_runs = runs;
        if (beats++ == 0)
            std::this_thread::sleep_for(std::chrono::milliseconds(60));
    }
};

}  // namespace

// SC-20, SC-5: with the policy `each` no run is folded, and none is lost.
TEST(periodic_timers, SC_20_the_policy_says_whether_runs_are_folded) {
    for (const catch_up_rule rule : {catch_up_rule::each, catch_up_rule::fold}) {
        beats = 0;
        most_runs = 0;
        actor_system::options o;
        o.timer_policy.fixed_rate.catch_up = rule;
        o.timer_policy.fixed_rate.backlog_limit = 100'000;
        actor_system system("policy", o);
        (void)system.spawn<busy_once>("busy");
        const int wanted = rule == catch_up_rule::each ? 14 : 3;
        ASSERT_TRUE(tactus_test::until([&] { return beats >= wanted; }));
        if (rule == catch_up_rule::each) {
            EXPECT_EQ(most_runs, 1u);
        } else {
            EXPECT_GE(most_runs, 2u);
        }
    }
}

namespace {

struct kept_warnings final : world_events {
    void timer_warned(const scheduler_warning& what) noexcept override {
        char text[300];
        if (what.kind == scheduler_warning_kind::burst_fire)
            all.emplace_back(describe(what, text));
    }
    std::vector<std::string> all;
};

class heart : public actor<beat> {
public:
    void pre_start() { EXPECT_TRUE(context().start_timer_at_fixed_rate("pulse", beat{1}, ms(10))); }
    void on(const beat&) { runs += context().scheduler_batch()->runs; }
    static inline std::atomic<std::uint32_t> runs;
};

}  // namespace

// DF-24: with the default options a pause of 100 periods ends no periodic timer.
TEST(periodic_timers, DF_24_a_pause_ends_no_timer_and_the_warning_names_it) {
    heart::runs = 0;
    std::atomic<std::uint32_t> calls = 0;
    still_clock time;
    stalled_driver driver;
    kept_warnings warnings;
    actor_system::options o;
    o.tools.time = &time;
    o.tools.driver = &driver;
    o.events = &warnings;
    actor_system system("paused", o);
    const auto who = system.spawn<heart>("heart");
    ASSERT_TRUE(until([&] { return system.scheduler().active_count() == 1; }));
    ASSERT_TRUE(system.timers().schedule_at_fixed_rate(ms(10), ms(10), who, beat{2}));
    ASSERT_TRUE(system.timers().schedule_at_fixed_rate_fn(
        ms(10), ms(10), [&](const execution_batch& batch) { calls += batch.runs; }));
    driver.pass(time, ms(1'000));
    ASSERT_TRUE(until([&] { return heart::runs == 200 && calls == 100; }))
        << heart::runs << ' ' << calls;
    ASSERT_TRUE(until([&] { return system.scheduler().active_count() == 3; }));
    driver.pass(time, ms(10));
    EXPECT_TRUE(until([&] { return heart::runs == 202 && calls == 101; }));
    ASSERT_EQ(warnings.all.size(), 3u);
    for (const char* part : {"(key pulse of ", "/user/heart, every 10 ms) missed 99 runs"})
        EXPECT_NE(warnings.all[0].find(part), std::string::npos) << warnings.all[0];
    for (const char* part :
         {"(message tactus_test::beat of ", "/user/heart, every 10 ms) missed 99"})
        EXPECT_NE(warnings.all[1].find(part), std::string::npos) << warnings.all[1];
    EXPECT_NE(warnings.all[2].find("(function "), std::string::npos) << warnings.all[2];
}

// SC-20 … SC-22: a limit of the policy counts what the scheduler was late for: 8 missed, one less,
// and one more.
TEST(periodic_timers, SC_22_a_timer_that_missed_more_than_its_limit_is_ended) {
    for (const unsigned missed : {7U, 8U, 9U}) {
        SCOPED_TRACE(missed);
        heart::runs = 0;
        still_clock time;
        stalled_driver driver;
        actor_system::options o;
        o.timer_policy.fixed_rate.backlog_limit = 8;
        o.tools.time = &time;
        o.tools.driver = &driver;
        actor_system system("limited", o);
        (void)system.spawn<heart>("heart");
        ASSERT_TRUE(until([&] { return system.scheduler().active_count() == 1; }));
        driver.pass(time, ms(10 + 10 * static_cast<int>(missed)));
        if (missed > 8) {
            EXPECT_TRUE(until([&] { return system.scheduler().active_count() == 0; }));
            EXPECT_EQ(heart::runs, 0u);
            continue;
        }
        EXPECT_TRUE(until([&] {
            return heart::runs == missed + 1 &&
                   system.scheduler().next_deadline() == time.now() + ms(10);
        }));
        EXPECT_EQ(system.scheduler().counted().missed, missed);
        driver.pass(time, ms(10));
        EXPECT_TRUE(until([&] { return heart::runs == missed + 2; }));
    }
}

namespace {

class slow_handler : public actor<beat> {
public:
    slow_handler(std::counting_semaphore<>* in, std::counting_semaphore<>* go) : in_(in), go_(go) {}
    void pre_start() { EXPECT_TRUE(context().start_timer_with_fixed_delay("t", beat{1}, ms(50))); }
    void on(const beat&) {
        EXPECT_EQ(context().scheduler_batch()->missed_runs, 0u);
        in_->release();
        go_->acquire();
    }

private:
    std::counting_semaphore<>* in_;
    std::counting_semaphore<>* go_;
};

}  // namespace

// SC-26, TM-1: a keyed timer, too, counts its delay from where its policy says.
TEST(periodic_timers, SC_26_a_delay_counts_from_when_its_message_was_sent_or_handled) {
    for (const delay_after after : {delay_after::sent, delay_after::handled}) {
        SCOPED_TRACE(name_of(after));
        std::counting_semaphore<> in(0);
        std::counting_semaphore<> go(0);
        still_clock time;
        stalled_driver driver;
        actor_system::options o;
        o.timer_policy.fixed_delay.after = after;
        o.tools.time = &time;
        o.tools.driver = &driver;
        actor_system system("after", o);
        (void)system.spawn<slow_handler>("slow", &in, &go);
        scheduler& timers = system.scheduler();
        ASSERT_TRUE(until([&] { return timers.active_count() == 1; }));
        driver.pass(time, ms(50));
        ASSERT_TRUE(in.try_acquire_for(std::chrono::seconds(60)));
        // While it is handled another delay passes.
        const instant next = timers.next_deadline();
        EXPECT_EQ(next == instant::never(), after == delay_after::handled);
        driver.pass(time, ms(49));
        driver.pass(time, ms(2));
        go.release();
        if (after == delay_after::handled) {
            ASSERT_TRUE(until([&] { return timers.next_deadline() != instant::never(); }));
            EXPECT_EQ(timers.next_deadline(), time.now() + ms(50));
            EXPECT_FALSE(in.try_acquire());
            driver.pass(time, ms(50));
        } else {
            EXPECT_GE(next, instant::from_ns(0) + ms(100));  // never early
            EXPECT_LE(next, instant::from_ns(0) + ms(101));
        }
        EXPECT_TRUE(in.try_acquire_for(std::chrono::seconds(60)));
        go.release(100);
        EXPECT_TRUE(system.terminate_and_wait(std::chrono::seconds(60)));
    }
}
