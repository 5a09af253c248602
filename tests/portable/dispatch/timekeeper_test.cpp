// SPDX-License-Identifier: Apache-2.0
//
// Goal: among workers that sleep somebody waits for the earliest deadline, also when who did has
// found something to do (LN-4, LN-11).
// Method: one thread plays the workers; others sleep by being listed as sleeping. That nothing is
// lost between threads is in tests/model/timekeeper_test.cpp.
#include <tactus/dispatch/coordinator.hpp>

#include <tactus/time/manual_clock.hpp>

#include "lane_rig.hpp"
#include "portable_test.hpp"

using tactus::duration;
using tactus::idle_workers;
using tactus::instant;
using tactus::sleeper;
using tactus_test::lane_rig;
namespace port = tactus::port;

namespace {

struct one_deadline final : tactus::timer_phase {
    [[nodiscard]] instant next_deadline() noexcept override { return at; }
    void run_due(instant) noexcept override {
        clear_due();
        at = instant::never();
    }
    instant at = instant::never();
};

/// A clock that is not read before every dispatch.
class still_clock final : public tactus::clock {
public:
    [[nodiscard]] instant now() const noexcept override { return at; }
    [[nodiscard]] tactus::clock_kind kind() const noexcept override {
        return tactus::clock_kind::realtime_host;
    }
    instant at = instant::from_ns(1);
};

struct timed_rig {
    still_clock time;
    one_deadline timers;
    lane_rig lanes{{.workers = 3, .time = &time, .timers = &timers}};
    const port::atomic<std::uint32_t> go_on{0};
    const port::atomic<std::uint32_t> stop{1};

    [[nodiscard]] idle_workers& idle() { return lanes.order().idle(); }
};

constexpr instant later = instant::from_ns(1'000);

}  // namespace

// The deadline of a run is handed on when its worker goes on with something else.
TEST(timekeeper, a_deadline_of_a_run_wakes_nobody_until_its_worker_does_something_else) {
    timed_rig rig;
    sleeper other;
    EXPECT_TRUE(rig.idle().prepare_sleep(other, false));
    rig.timers.at = later;
    rig.lanes.order().deadline_added(&rig.lanes.worker(0));
    EXPECT_EQ(rig.idle().sleeping_count(), 1u);
    rig.lanes.ready(1, &rig.lanes.worker(0));
    EXPECT_TRUE(rig.lanes.takes({1}, 0));
    EXPECT_EQ(rig.idle().sleeping_count(), 0u);
    EXPECT_TRUE(rig.idle().sleep(other, -1));
    EXPECT_FALSE(idle_workers::left_time(other));  // relieved: it knew of none
    // Once: the next dispatch wakes nobody.
    EXPECT_TRUE(rig.idle().prepare_sleep(other, true));
    rig.lanes.ready(2, &rig.lanes.worker(0));
    EXPECT_TRUE(rig.lanes.takes({2}, 0));
    EXPECT_EQ(rig.idle().sleeping_count(), 1u);
    EXPECT_FALSE(rig.idle().sleep(other, 0));
}

// A worker that goes to sleep waits for its deadline itself, whoever kept the time before.
TEST(timekeeper, a_worker_that_goes_to_sleep_keeps_its_own_deadline) {
    timed_rig rig;
    sleeper other;
    EXPECT_TRUE(rig.idle().prepare_sleep(other, false));
    rig.timers.at = later;
    rig.time.at = later;  // due: it does not sleep long
    rig.lanes.order().deadline_added(&rig.lanes.worker(0));
    rig.lanes.order().await_work(rig.lanes.worker(0), rig.go_on);
    EXPECT_EQ(rig.idle().sleeping_count(), 1u);  // it was not the other
    EXPECT_FALSE(rig.idle().time_kept());        // it has left, and the other was relieved
    EXPECT_FALSE(rig.idle().sleep(other, 0));
    EXPECT_FALSE(idle_workers::left_time(other));
}

// Who is not the timekeeper sleeps without a limit; here it would for ever, but for the stop.
TEST(timekeeper, who_cancels_its_sleep_hands_the_time_on) {
    timed_rig rig;
    sleeper other;
    rig.timers.at = later;
    rig.lanes.order().await_work(rig.lanes.worker(0), rig.stop);  // was it, and left
    EXPECT_TRUE(rig.idle().prepare_sleep(other, false));          // takes it up
    rig.lanes.ready(1, &rig.lanes.worker(0));
    EXPECT_TRUE(rig.lanes.takes({1}, 0));
    EXPECT_EQ(rig.idle().sleeping_count(), 1u);  // it is kept: nobody is woken
    EXPECT_FALSE(rig.idle().sleep(other, 0));
}

TEST(timekeeper, a_deadline_from_outside_wakes_a_sleeper_at_once) {
    timed_rig rig;
    sleeper other;
    rig.lanes.order().deadline_added(nullptr);
    EXPECT_TRUE(rig.idle().prepare_sleep(other, false));
    rig.timers.at = later;
    rig.lanes.order().deadline_added(nullptr);
    EXPECT_EQ(rig.idle().sleeping_count(), 0u);
    EXPECT_TRUE(rig.idle().sleep(other, -1));
}

// TS-7, TC-F12: all workers may be busy for long, so the driver is told at once, by whomever it was
// added.
TEST(timekeeper, TS_7_a_driver_is_told_of_every_deadline) {
    class listening final : public tactus::tick_driver {
    public:
        [[nodiscard]] const char* name() const noexcept override { return "listening"; }
        [[nodiscard]] tactus::clock_kind kind() const noexcept override {
            return tactus::clock_kind::realtime_host;
        }
        [[nodiscard]] std::expected<void, tactus::tick_driver_error> start(
            tactus::tick_host&) noexcept override {
            return {};
        }
        void stop() noexcept override {}
        void deadline_added(instant at) noexcept override { told = at; }

        instant told = instant::never();
    };
    still_clock time;
    one_deadline timers;
    listening driver;
    lane_rig rig({.time = &time, .timers = &timers, .driver = &driver});
    rig.order().deadline_added(&rig.worker(), later);
    EXPECT_TRUE(driver.told == later);
    rig.order().deadline_added(nullptr, time.at);
    EXPECT_TRUE(driver.told == time.at);
}

// TC-F12: a clock that is set by hand stands still while a worker sleeps; who sets it runs
// what is due.
TEST(timekeeper, nobody_sleeps_until_a_time_that_is_set_by_hand) {
    tactus::manual_clock time{duration::from_ns(1)};
    one_deadline timers;
    lane_rig rig({.time = &time, .timers = &timers});
    const port::atomic<std::uint32_t> go_on{0};
    timers.at = time.now();  // due: with another clock this would be what ends the sleep
    EXPECT_FALSE(rig.order().await_work(rig.worker(), go_on, 0));
}

// What was handed on to who searches is not lost when that one finds something.
TEST(timekeeper, the_last_to_search_looks_for_a_deadline_nobody_keeps) {
    for (const bool pending : {false, true}) {
        timed_rig rig;
        sleeper was;
        sleeper other;
        rig.timers.at = pending ? later : instant::never();
        EXPECT_TRUE(rig.idle().prepare_sleep(was, false));
        EXPECT_FALSE(rig.idle().prepare_sleep(other, false));
        EXPECT_FALSE(rig.idle().cancel_sleep(was, false));
        rig.lanes.at(1).set_traits(tactus::default_priority, false);
        EXPECT_TRUE(rig.idle().start_search(3));  // so that the work below wakes nobody
        rig.lanes.ready(1);
        rig.lanes.order().await_work(rig.lanes.worker(1), rig.go_on);  // finds it at once
        EXPECT_FALSE(rig.idle().stop_search());
        EXPECT_EQ(rig.idle().sleeping_count(), 1u);
        EXPECT_TRUE(rig.lanes.takes({1}, 1));
        EXPECT_EQ(rig.idle().sleeping_count(), pending ? 0u : 1u);
        if (pending) {
            EXPECT_TRUE(rig.idle().sleep(other, -1));
        } else {
            EXPECT_FALSE(rig.idle().sleep(other, 0));
        }
    }
}

// A task is something to do as well.
TEST(timekeeper, found_work_hands_the_time_on) {
    timed_rig rig;
    sleeper other;
    rig.timers.at = later;
    rig.lanes.order().deadline_added(&rig.lanes.worker(0));
    EXPECT_TRUE(rig.idle().prepare_sleep(other, false));
    rig.lanes.order().found_work(rig.lanes.worker(0));
    EXPECT_EQ(rig.idle().sleeping_count(), 0u);
    EXPECT_TRUE(rig.idle().sleep(other, -1));
}

// LN-4, TC-F12: before there is nothing to do the clock is read, whatever the step.
TEST(timekeeper, a_worker_without_work_runs_what_is_due_and_takes_what_that_made_ready) {
    struct waking final : tactus::timer_phase {
        [[nodiscard]] instant next_deadline() noexcept override {
            return armed ? later : instant::never();
        }
        void run_due(instant) noexcept override {
            armed = false;
            rig->ready(1);
        }
        lane_rig* rig = nullptr;
        bool armed = true;
    };
    still_clock time;
    waking timers;
    lane_rig rig({.time = &time, .timers = &timers});
    timers.rig = &rig;
    EXPECT_TRUE(rig.idle());
    time.at = later;
    EXPECT_TRUE(rig.takes({1}));
    EXPECT_TRUE(rig.idle());
}

// trap S5: what looks like work and is none any more is looked at once, not again and again. A
// worker that has gone through the entries left behind, its own and others', may sleep.
TEST(timekeeper, entries_left_behind_keep_nobody_awake) {
    using tactus::lane;
    using tactus::lane_mode;
    constexpr tactus::lane_place places[] = {
        {lane::ready, 128, 0}, {lane::ready, 60, 0}, {lane::timed, 128, 0}, {lane::cancel, 128, 0}};
    constexpr unsigned count = 6;
    for (unsigned kind = 0; kind < 16; ++kind) {
        const lane_mode mode = kind % 2 == 0 ? lane_mode::standard : lane_mode::parity;
        lane_rig rig({.workers = 2, .mode = mode});
        const tactus::lane_place& place = places[kind / 4];
        const bool outside = kind % 4 < 2;
        // In parity mode cancel and timed work of another is its own alone.
        const unsigned who = mode == lane_mode::standard || place.where == lane::ready ? 1 : 0;
        for (unsigned n = 0; n < count; ++n)
            rig.wait(n, place, outside ? nullptr : &rig.worker(0));
        for (unsigned n = 0; n < count; ++n)
            EXPECT_EQ(rig.order().unregister(rig.index(n)), tactus::unregistered::idle);
        EXPECT_TRUE(rig.order().has_work(&rig.worker(who)));  // so it looks
        unsigned passes = 0;
        while (rig.order().has_work(&rig.worker(who)) && passes <= count) {
            EXPECT_TRUE(rig.idle(who));
            ++passes;
        }
        EXPECT_LE(passes, count);
        EXPECT_EQ(rig.worker(who).certificate().ready_dispatches, 0u);
    }
}

// TC-F12
TEST(timekeeper, work_in_anybodys_lanes_is_work) {
    timed_rig rig;
    EXPECT_FALSE(rig.lanes.order().has_work(nullptr));
    rig.lanes.cancel(1, &rig.lanes.worker(0));
    EXPECT_TRUE(rig.lanes.order().has_work(nullptr));
    EXPECT_TRUE(rig.lanes.takes({1}, 0));
    rig.lanes.timed(2, 5, &rig.lanes.worker(0));  // no message: nothing to be late for
    EXPECT_TRUE(rig.lanes.order().has_work(&rig.lanes.worker(1)));
    EXPECT_TRUE(rig.lanes.takes({2}, 1));
    EXPECT_EQ(rig.lanes.order().deadline_misses(), 0u);
}

namespace {

/// Timers that are marked by somebody, as an interrupt does, and count how often they are run.
struct marked final : tactus::timer_phase {
    [[nodiscard]] instant next_deadline() noexcept override { return at; }
    void run_due(instant) noexcept override {
        clear_due();
        ++runs;
        if (then != nullptr)
            then(*rig);
    }
    instant at = instant::never();
    unsigned runs = 0;
    void (*then)(lane_rig&) = nullptr;
    lane_rig* rig = nullptr;
};

}  // namespace

// LN-4, TC-F12: a mark is taken back by the next dispatch, also when nothing is due after all.
TEST(timekeeper, timers_that_were_marked_are_run_whatever_the_clock_says) {
    for (const instant at : {instant::never(), later}) {
        still_clock time;
        marked timers;
        lane_rig rig({.time = &time, .timers = &timers});
        timers.at = at;
        rig.ready(1);
        rig.ready(2);
        timers.mark_due();
        EXPECT_TRUE(rig.takes({1}));
        EXPECT_EQ(timers.runs, 1u);
        EXPECT_TRUE(rig.takes({2, -1}));
        EXPECT_EQ(timers.runs, 1u);
    }
}

// LN-4, TC-F12: what the timers make urgent is taken at once, and what they make of nothing is not.
TEST(timekeeper, a_worker_without_work_takes_what_is_due_in_the_order_of_the_lanes) {
    constexpr void (*makes[])(lane_rig&) = {
        [](lane_rig& r) {
            r.ready(2);
            r.cancel(1);
        },
        [](lane_rig& r) { r.ready(1); },
        [](lane_rig&) {},
    };
    for (const auto& then : makes) {
        still_clock time;
        marked timers;
        lane_rig rig({.time = &time, .timers = &timers});
        timers.rig = &rig;
        timers.then = then;
        timers.at = time.at;
        EXPECT_EQ(rig.take(), &then == &makes[2] ? lane_rig::nothing : 1);
        EXPECT_EQ(timers.runs, 1u);
    }
}

// DT-3, TC-F12: in parity mode a step looks at the clock once, before it chooses.
TEST(timekeeper, parity_does_not_run_timers_a_second_time_before_there_is_nothing) {
    still_clock time;
    marked timers;
    lane_rig rig({.time = &time, .timers = &timers, .mode = tactus::lane_mode::parity});
    timers.at = time.at;
    EXPECT_TRUE(rig.idle());
    EXPECT_EQ(timers.runs, 0u);  // a clock that is read every 64th step
}

// LN-9, TC-F12: a missed deadline counts where nobody listens, too.
TEST(timekeeper, a_missed_deadline_counts_without_events) {
    tactus::manual_clock time{duration::from_ns(1)};
    tactus_test::lane_rig rig({.time = &time});
    static tactus::envelope e;
    EXPECT_TRUE(e.emplace<int>(7, nullptr, tactus::envelope::has_deadline));
    e.set_deadline(500);
    EXPECT_TRUE(rig.at(3).enqueue(e) == tactus::enqueued::submit);
    rig.order().submit(rig.at(3), nullptr, {tactus::lane::timed, tactus::default_priority, 500});
    time.advance(duration::from_ns(1'000));
    EXPECT_EQ(rig.order().next(rig.worker()), &rig.at(3));
    EXPECT_EQ(rig.order().deadline_misses(), 1u);
    EXPECT_EQ(rig.at(3).next_user(), &e);
}
