// SPDX-License-Identifier: Apache-2.0
//
// Goal: a worker sleeps only when there is nothing it could take, not longer than the next deadline
// or its limit, and says why it came back (LN-4, LN-11, EX-4, EX-5); TC-F12.
// Method: one thread plays all workers. What happens between going on the list and sleeping is done
// by what the coordinator asks then: the clock and the timers. That nothing is lost between threads
// is in tests/model.
#include <tactus/dispatch/coordinator.hpp>

#include <cstdint>

#include "lane_rig.hpp"
#include "portable_test.hpp"

using tactus::idle_workers;
using tactus::instant;
using tactus::lane_mode;
using tactus::sleeper;
using tactus_test::lane_rig;
namespace port = tactus::port;

namespace {

using deed = void (*)(lane_rig&);

/// A clock that stands still, and does something when it is read.
class busy_clock final : public tactus::clock {
public:
    [[nodiscard]] instant now() const noexcept override {
        const instant before = at;
        at = at + step;
        if (deed once = on_look; once != nullptr) {
            on_look = nullptr;
            once(*rig);
        }
        return before;
    }
    [[nodiscard]] tactus::clock_kind kind() const noexcept override {
        return tactus::clock_kind::realtime_host;
    }
    static constexpr instant start = instant::from_ns(1'000);
    mutable instant at = start;
    tactus::duration step = tactus::duration::zero();
    mutable deed on_look = nullptr;
    lane_rig* rig = nullptr;
};

struct one_deadline final : tactus::timer_phase {
    [[nodiscard]] instant next_deadline() noexcept override {
        if (deed once = on_look; once != nullptr) {
            on_look = nullptr;
            once(*rig);
        }
        return at;
    }
    void run_due(instant) noexcept override { clear_due(); }
    instant at = instant::never();
    deed on_look = nullptr;
    lane_rig* rig = nullptr;
};

struct counting_waker final : tactus::waker {
    void wake() noexcept override { ++woken; }
    unsigned woken = 0;
};

const port::atomic<std::uint32_t> go_on{0};
const port::atomic<std::uint32_t> stopping{1};

/// Two workers with a clock and timers.
struct timed_rig {
    explicit timed_rig(lane_mode mode = lane_mode::standard)
        : lanes({.workers = 2, .time = &time, .timers = &timers, .mode = mode}) {
        time.rig = &lanes;
        timers.rig = &lanes;
    }
    bool await(std::int64_t limit, unsigned worker = 0) {
        return lanes.order().await_work(lanes.worker(worker), go_on, limit);
    }
    [[nodiscard]] idle_workers& idle() { return lanes.order().idle(); }
    [[nodiscard]] instant in(std::uint64_t ns) const { return instant::from_ns(time.at.ns() + ns); }

    busy_clock time;
    one_deadline timers;
    lane_rig lanes;
};

}  // namespace

// LN-5, LN-11: what waits where only its worker looks is that worker's work alone.
TEST(worker_sleep, work_is_what_a_worker_could_take) {
    struct row {
        void (*put)(lane_rig&);
        bool for_others;
    };
    constexpr row table[] = {
        {[](lane_rig& r) { r.ready(1); }, true},
        {[](lane_rig& r) { r.timed(1, 5); }, true},
        {[](lane_rig& r) { r.ready(1, &r.worker(0)); }, false},  // next
        {[](lane_rig& r) {
             r.fresh(1);
             r.ready(1, &r.worker(0));
         },
         false},
        {[](lane_rig& r) {
             r.at(1).pin_to(0);
             r.ready(1);
         },
         false},
        {[](lane_rig& r) {
             r.ready(1, &r.worker(0));
             r.ready(2, &r.worker(0));  // 1 goes to the ring
         },
         true},
        {[](lane_rig& r) { r.cancel(1, &r.worker(0)); }, true},
        {[](lane_rig& r) { r.ready(1, &r.worker(0), 200); }, true},
    };
    for (const row& at : table) {
        lane_rig rig({.workers = 2});
        EXPECT_FALSE(rig.order().has_work(&rig.worker(0)));
        at.put(rig);
        EXPECT_TRUE(rig.order().has_work(&rig.worker(0)));
        EXPECT_EQ(rig.order().has_work(&rig.worker(1)), at.for_others);
        EXPECT_EQ(rig.order().has_work(nullptr), at.for_others);
    }
}

// DT-3: the same in parity mode, where what is not due is no work.
TEST(worker_sleep, parity_work_is_what_is_due_and_could_be_taken) {
    struct row {
        void (*put)(lane_rig&);
        bool for_own;
        bool for_others;
        bool for_anybody;
    };
    constexpr row table[] = {
        {[](lane_rig& r) { r.cancel(1); }, true, true, true},
        {[](lane_rig& r) { r.ready(1); }, true, true, true},
        {[](lane_rig& r) { r.timed(1, 1'000); }, true, true, true},
        {[](lane_rig& r) { r.timed(1, 1'001); }, false, false, false},
        {[](lane_rig& r) { r.ready(1, &r.worker(0)); }, true, true, true},
        {[](lane_rig& r) { r.cancel(1, &r.worker(0)); }, true, false, true},
        {[](lane_rig& r) { r.timed(1, 1'000, &r.worker(0)); }, true, false, true},
        {[](lane_rig& r) { r.timed(1, 1'001, &r.worker(0)); }, false, false, false},
        {[](lane_rig& r) {
             r.at(1).pin_to(0);
             r.ready(1);
         },
         true, false, false},
    };
    for (const row& at : table) {
        timed_rig rig(lane_mode::parity);
        at.put(rig.lanes);
        EXPECT_EQ(rig.lanes.order().has_work(&rig.lanes.worker(0)), at.for_own);
        EXPECT_EQ(rig.lanes.order().has_work(&rig.lanes.worker(1)), at.for_others);
        EXPECT_EQ(rig.lanes.order().has_work(nullptr), at.for_anybody);
    }
}

// EX-7
TEST(worker_sleep, a_task_is_work_for_everybody) {
    for (const lane_mode mode : {lane_mode::standard, lane_mode::parity}) {
        tactus::worker_task_queue tasks;
        lane_rig rig({.tasks = &tasks, .mode = mode});
        EXPECT_FALSE(rig.order().has_work(nullptr));
        tactus::worker_task_of t([] {});
        EXPECT_TRUE(tasks.push(t));
        EXPECT_TRUE(rig.order().has_work(nullptr));
        EXPECT_TRUE(rig.order().await_work(rig.worker(), go_on));
        EXPECT_EQ(tasks.pop(), &t);
        EXPECT_FALSE(rig.order().has_work(nullptr));
    }
}

// EX-5: in vain as long as its limit; whatever else ends its sleep is not in vain. Nothing here
// takes time: a board without a timer would wait for ever.
TEST(worker_sleep, a_sleep_ends_in_vain_only_by_its_limit) {
    struct row {
        instant deadline;
        std::int64_t limit;
        bool expected;
    };
    constexpr instant now = busy_clock::start;
    constexpr row table[] = {
        {instant::never(), 0, false},
        {instant::from_ns(now.ns() + 1), 0, false},  // a later one
        {now, 0, true},                              // the deadline, not the limit
        {now, -1, true},                             // no limit
        {now, 1'000'000'000, true},
        {instant::from_ns(now.ns() - 1), 0, true},  // late already
    };
    for (const row& at : table) {
        timed_rig rig;
        rig.timers.at = at.deadline;
        EXPECT_EQ(rig.await(at.limit), at.expected);
        EXPECT_FALSE(rig.idle().anybody());
    }
}

// LN-11: who was woken by the time does not search; who slept for as long as its limit does.
TEST(worker_sleep, after_a_wake_by_the_time_nobody_searches) {
    for (const bool by_time : {false, true}) {
        timed_rig rig;
        rig.timers.at = by_time ? rig.time.at : instant::never();
        EXPECT_EQ(rig.await(by_time ? -1 : 0), by_time);
        EXPECT_EQ(rig.idle().searching_count(), 0u);
        // Stopped, it says whether it was searching when it meant to sleep.
        EXPECT_TRUE(rig.lanes.order().await_work(rig.lanes.worker(0), stopping));
        EXPECT_EQ(rig.idle().searching_count(), by_time ? 0u : 1u);
    }
}

// Woken by somebody: there may be something, whatever its limit; and it searches, then and the next
// time.
TEST(worker_sleep, who_is_woken_before_its_limit_or_the_deadline_searches) {
    for (const std::int64_t limit : {0, -1}) {
        for (const bool deadline : {false, true}) {
            timed_rig rig;
            if (deadline)
                rig.timers.at = rig.in(1'000'000'000);
            rig.timers.on_look = [](lane_rig& r) { r.ready(1); };  // it is on the list by then
            EXPECT_TRUE(rig.await(limit));
            EXPECT_EQ(rig.idle().searching_count(), 1u);
            EXPECT_TRUE(rig.lanes.takes({1}, 0));
            EXPECT_FALSE(rig.idle().anybody());
            EXPECT_TRUE(rig.lanes.order().await_work(rig.lanes.worker(0), stopping));
            EXPECT_EQ(rig.idle().searching_count(), 1u);
        }
    }
}

// LN-4: half of the workers search; the others look once before they sleep.
TEST(worker_sleep, who_may_not_search_looks_once_before_it_sleeps) {
    timed_rig rig;
    EXPECT_TRUE(rig.idle().start_search(2));  // worker 1 does
    EXPECT_FALSE(rig.await(0));
    rig.lanes.ready(1);
    EXPECT_TRUE(rig.await(0));
    EXPECT_EQ(rig.idle().searching_count(), 1u);  // it was not counted
    EXPECT_EQ(rig.idle().sleeping_count(), 0u);
    EXPECT_TRUE(rig.lanes.takes({1}, 0));
    EXPECT_EQ(rig.idle().searching_count(), 1u);
}

// Who was woken searches already, and is counted once; also where there are no timers.
TEST(worker_sleep, who_searches_already_is_not_counted_again) {
    lane_rig rig({.workers = 2});
    EXPECT_TRUE(rig.order().idle().start_search(2));
    rig.order().begin(rig.worker(0));
    rig.ready(1);
    EXPECT_TRUE(rig.order().await_work(rig.worker(0), go_on));
    EXPECT_EQ(rig.order().idle().searching_count(), 1u);
    EXPECT_TRUE(rig.takes({1}, 0));
    EXPECT_FALSE(rig.order().idle().anybody());
    EXPECT_FALSE(rig.order().await_work(rig.worker(0), go_on, 0));
    EXPECT_FALSE(rig.order().idle().anybody());
}

// Only the timekeeper waits for the deadline.
TEST(worker_sleep, who_does_not_keep_the_time_sleeps_beyond_the_deadline) {
    timed_rig rig;
    sleeper keeper;
    EXPECT_TRUE(rig.idle().prepare_sleep(keeper, false));
    rig.timers.at = rig.time.at;  // due: the timekeeper's
    EXPECT_FALSE(rig.await(0));
    EXPECT_TRUE(rig.lanes.order().await_work(rig.lanes.worker(0), stopping));
    EXPECT_TRUE(rig.idle().time_kept());
    EXPECT_EQ(rig.idle().sleeping_count(), 1u);
    EXPECT_FALSE(rig.idle().sleep(keeper, 0));
}

// DT-3: in parity mode what is held until its time ends the sleep, as timers do. The clock moves on
// with every look: what is soon has become due between the look for work and the sleep.
TEST(worker_sleep, parity_sleeps_until_the_first_of_what_is_held_and_the_timers) {
    constexpr std::uint64_t none = 0;
    constexpr std::uint64_t soon = 500;
    constexpr std::uint64_t late = 100'000;
    struct row {
        std::uint64_t own;
        std::uint64_t outside;
        std::uint64_t timer;
    };
    constexpr row table[] = {
        {soon, none, none}, {none, soon, none}, {soon, late, none}, {late, soon, none},
        {soon, none, late}, {late, none, soon}, {none, none, soon},
    };
    for (const row& at : table) {
        for (const bool in_vain : {false, true}) {
            timed_rig rig(lane_mode::parity);
            const auto due = [&](std::uint64_t ns) {
                return static_cast<std::int64_t>(rig.in(ns).ns());
            };
            if (at.own != none)
                rig.lanes.timed(1, due(at.own), &rig.lanes.worker(0));
            if (at.outside != none)
                rig.lanes.timed(2, due(at.outside));
            if (at.timer != none)
                rig.timers.at = rig.in(at.timer);
            EXPECT_TRUE(rig.idle().start_search(2));  // half of them search: it looks once
            rig.time.step = tactus::duration::from_ns(in_vain ? 0 : 1'000);
            EXPECT_EQ(rig.await(in_vain ? 0 : 1), !in_vain);
        }
    }
}

TEST(worker_sleep, parity_sleeps_as_long_as_its_limit_when_nothing_is_held) {
    timed_rig rig(lane_mode::parity);
    EXPECT_FALSE(rig.await(0));
}

// EX-7: a worker without a thread goes on when there is something, unless it is told to wait.
TEST(worker_sleep, a_lent_worker_rests_only_when_there_is_nothing_or_it_must) {
    lane_rig rig({.workers = 2});
    counting_waker w;
    rig.order().lend(rig.worker(0), w);
    EXPECT_FALSE(rig.order().asleep(rig.worker(0)));
    rig.ready(1);
    EXPECT_FALSE(rig.order().rest(rig.worker(0)));
    EXPECT_FALSE(rig.order().asleep(rig.worker(0)));
    EXPECT_TRUE(rig.order().rest(rig.worker(0), true));
    EXPECT_TRUE(rig.order().asleep(rig.worker(0)));
    EXPECT_EQ(w.woken, 0u);
    rig.ready(2);
    EXPECT_EQ(w.woken, 1u);
    EXPECT_FALSE(rig.order().asleep(rig.worker(0)));
    rig.order().begin(rig.worker(0));
    EXPECT_TRUE(rig.takes({1, 2}, 0));
    EXPECT_TRUE(rig.order().rest(rig.worker(0)));
    EXPECT_EQ(w.woken, 1u);
}

// EX-7: what is made while it looks wakes it: it is not its caller's any more.
TEST(worker_sleep, a_lent_worker_that_is_woken_while_it_looks_belongs_to_its_waker) {
    timed_rig rig(lane_mode::parity);
    counting_waker w;
    rig.lanes.order().lend(rig.lanes.worker(0), w);
    rig.time.on_look = [](lane_rig& r) { r.ready(1); };
    EXPECT_TRUE(rig.lanes.order().rest(rig.lanes.worker(0)));
    EXPECT_EQ(w.woken, 1u);
    EXPECT_FALSE(rig.lanes.order().asleep(rig.lanes.worker(0)));
    rig.lanes.order().begin(rig.lanes.worker(0));
    EXPECT_TRUE(rig.lanes.takes({1}, 0));
    EXPECT_FALSE(rig.idle().anybody());
}

// EX-5: one that stands by is woken when nobody else is left.
TEST(worker_sleep, who_stands_by_is_woken_last) {
    lane_rig rig({.workers = 2});
    counting_waker sleeping;
    counting_waker standing_by;
    rig.order().lend(rig.worker(0), sleeping);
    EXPECT_TRUE(rig.order().rest(rig.worker(0)));
    EXPECT_TRUE(rig.order().stand_by(rig.worker(1), standing_by));  // the last to sleep
    rig.ready(1);
    EXPECT_EQ(sleeping.woken, 1u);
    EXPECT_EQ(standing_by.woken, 0u);
    rig.order().begin(rig.worker(0));
    EXPECT_TRUE(rig.takes({1}, 0));
    rig.ready(2);
    EXPECT_EQ(sleeping.woken, 1u);
    EXPECT_EQ(standing_by.woken, 1u);
    EXPECT_FALSE(rig.order().stand_down(rig.worker(1)));  // too late
    rig.order().take_back(rig.worker(1), true);
    EXPECT_TRUE(rig.takes({2}, 1));
    EXPECT_FALSE(rig.order().idle().anybody());
}

// EX-5: it need not stand by when there is something, and can stand down; then it is as any other.
TEST(worker_sleep, who_stands_by_can_stand_down) {
    lane_rig rig({.workers = 2});
    counting_waker w;
    rig.ready(1);
    EXPECT_FALSE(rig.order().stand_by(rig.worker(1), w));
    EXPECT_TRUE(rig.takes({1}, 0));
    EXPECT_TRUE(rig.order().stand_by(rig.worker(1), w));
    EXPECT_FALSE(rig.order().idle().time_kept());
    EXPECT_TRUE(rig.order().stand_down(rig.worker(1)));
    rig.order().take_back(rig.worker(1), false);
    EXPECT_FALSE(rig.order().idle().anybody());
    rig.ready(2);
    EXPECT_EQ(w.woken, 0u);
    EXPECT_TRUE(rig.takes({2}, 1));
    EXPECT_FALSE(rig.order().await_work(rig.worker(1), go_on, 0));  // by a thread of its own
}

// CO-5
TEST(worker_sleep, waking_all_wakes_everybody_once) {
    lane_rig rig({.workers = 3});
    counting_waker w[3];
    for (unsigned n = 0; n < 3; ++n) {
        rig.order().lend(rig.worker(n), w[n]);
        EXPECT_TRUE(rig.order().rest(rig.worker(n)));
    }
    rig.order().wake_all();
    for (unsigned n = 0; n < 3; ++n) {
        EXPECT_EQ(w[n].woken, 1u);
        EXPECT_FALSE(rig.order().asleep(rig.worker(n)));
    }
    rig.order().wake_all();
    EXPECT_EQ(w[0].woken + w[1].woken + w[2].woken, 3u);
}
