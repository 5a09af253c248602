// SPDX-License-Identifier: Apache-2.0
//
// Goal: the scheduler of a system keeps real time: TC-P03 to TC-P10, C-SCH-27, C-SCH-29, C-SCH-30.
// Method: the cases with the tolerances they give, several at once on as many workers, so that
// they take seconds together. Beside them a thread sleeps plainly, and notes how late it wakes: by
// what this machine was late in the same time a case may be later than it says. Nothing may ever
// be early.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <random>
#include <thread>
#include <vector>

#include <tactus/runtime/actor_system.hpp>

#include "pool_rig.hpp"

using namespace tactus;
using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;
using tactus_test::until;

namespace {

/// How late plain sleeping is on this machine while it lives.
class oversleep {
public:
    oversleep() : thread_([this] { measure(); }) {}
    ~oversleep() {
        stop_ = true;
        thread_.join();
    }
    [[nodiscard]] std::chrono::nanoseconds worst() const {
        return std::chrono::nanoseconds(worst_.load());
    }
    [[nodiscard]] std::chrono::nanoseconds all() const {
        return std::chrono::nanoseconds(all_.load());
    }

private:
    void measure() {
        timespec next{};
        (void)clock_gettime(CLOCK_MONOTONIC, &next);
        while (!stop_) {
            next.tv_nsec += 5'000'000;
            if (next.tv_nsec >= 1'000'000'000) {
                next.tv_nsec -= 1'000'000'000;
                ++next.tv_sec;
            }
            (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nullptr);
            timespec now{};
            (void)clock_gettime(CLOCK_MONOTONIC, &now);
            const std::int64_t late =
                (now.tv_sec - next.tv_sec) * 1'000'000'000 + (now.tv_nsec - next.tv_nsec);
            all_ = all_ + late;
            if (late > worst_)
                worst_ = late;
            next = now;
        }
    }

    std::atomic<bool> stop_{false};
    std::atomic<std::int64_t> worst_{0};
    std::atomic<std::int64_t> all_{0};  // added up
    std::thread thread_;
};

double seconds(steady::duration d) {
    return std::chrono::duration<double>(d).count();
}

/// Counts its runs; says how long it took from registration to the last one.
struct paced {
    std::uint32_t wanted;
    steady::time_point begun = steady::now();
    std::atomic<std::uint32_t> runs{0};
    std::atomic<steady::duration> took{steady::duration::zero()};
    std::atomic<steady::duration> overslept{steady::duration::zero()};  // within its runs
    steady::duration asleep{};                                          // one run at a time
    void run(const execution_batch& b, steady::duration body) {
        if (body > 0ms) {
            const auto from = steady::now();
            std::this_thread::sleep_for(body);
            asleep += steady::now() - from;
        }
        const std::uint32_t before = runs.load();
        runs = before + b.runs;
        if (before < wanted && runs >= wanted) {
            overslept = asleep - body * wanted;
            took = steady::now() - begun;
        }
    }
    [[nodiscard]] bool over() const { return runs.load() >= wanted; }
};

struct late_message {};
class counter : public actor<late_message> {
public:
    explicit counter(paced* to) : to_(to) {}
    void on(late_message) { to_->run(*context().scheduler_batch(), 0ms); }

private:
    paced* to_;
};

actor_system::options with_workers(std::uint32_t n) {
    actor_system::options o;
    o.dispatcher.workers = n;
    return o;
}

job_request rate_of(std::int64_t first_ms, std::int64_t period_ms) {
    return {.mode = job_mode::fixed_rate,
            .first = duration::from_ms(first_ms),
            .period = duration::from_ms(period_ms),
            .backlog_limit = 10'000,
            .burst_threshold = 10'000};
}

}  // namespace

// TC-P04, TC-P07, TC-P08, TC-P09, TC-P10, C-SCH-27, C-SCH-29, C-SCH-30, PK-SCH-16
TEST(real_time, periods_are_kept) {
    const oversleep machine;
    // Before the system: periodic ones go on until it ends.
    paced quick{.wanted = 200};
    paced slow{.wanted = 22};
    paced delayed{.wanted = 12};
    paced third{.wanted = 3};
    paced once{.wanted = 1};
    actor_system system("paced", with_workers(6));
    scheduler& timers = system.scheduler();
    const auto to_third = system.spawn<counter>("third", &third);
    const auto to_once = system.spawn<counter>("once", &once);
    // BP-3: a machine that was away for longer than the window refuses for a moment.
    const auto begin = [](paced& p, auto&& add) {
        return until([&] {
            p.begun = steady::now();
            return add().has_value();
        });
    };
    ASSERT_TRUE(begin(quick, [&] {
        return timers.add_function(rate_of(25, 25),
                                   [&](const execution_batch& b) { quick.run(b, 0ms); });
    }));
    ASSERT_TRUE(begin(slow, [&] {
        return timers.add_function(rate_of(225, 225),
                                   [&](const execution_batch& b) { slow.run(b, 100ms); });
    }));
    ASSERT_TRUE(begin(delayed, [&] {
        return timers.schedule_with_fixed_delay_fn(
            duration::from_ms(125), duration::from_ms(125),
            [&](const execution_batch& b) { delayed.run(b, 100ms); });
    }));
    ASSERT_TRUE(begin(third, [&] {
        return timers.schedule_at_fixed_rate(duration::from_ms(1'000), duration::from_ms(300),
                                             to_third.any().index(), late_message{});
    }));
    ASSERT_TRUE(begin(once, [&] {
        return timers.schedule_once(duration::from_ms(3'200), to_once.any().index(),
                                    late_message{});
    }));
    EXPECT_TRUE(until([&] {
        return quick.over() && slow.over() && delayed.over() && third.over() && once.over();
    }));
    const double late = seconds(machine.worst());
    std::printf("plain sleeping was late by up to %.1f ms, in all %.1f ms\n", late * 1e3,
                seconds(machine.all()) * 1e3);
    const auto took = [](const paced& p) { return seconds(p.took.load()); };

    // 40 +- 4 per second. What was late at the end counts for the machine.
    EXPECT_GE(took(quick), 200 * 0.025);
    EXPECT_LE(200 / took(quick), 44.0);
    EXPECT_GE(200 / (took(quick) - late), 36.0);
    // 4.4 +- 0.5 per second, though each run takes 100 ms: to the end of the last.
    EXPECT_GE(took(slow), 22 * 0.225 + 0.1);
    EXPECT_LE(22 / (took(slow) - 0.1), 4.9);
    EXPECT_GE(22 / (took(slow) - 0.1 - late), 3.9);
    // The same, since 125 ms begin when the run is over. Sleeping within the runs was measured.
    EXPECT_GE(took(delayed), 12 * 0.225);
    EXPECT_LE(12 / took(delayed), 4.9);
    EXPECT_GE(12 / (took(delayed) - seconds(delayed.overslept.load()) - late), 3.9);
    // 1,750 +- 250 ms until the third; nominally 1,600.
    EXPECT_GE(took(third), 1.6);
    EXPECT_LE(took(third) - late, 2.0);
    // A multiple of what would be the period of Pekko's wheel.
    EXPECT_GE(took(once), 3.2);
    EXPECT_LE(took(once) - late, 5.0);
}

namespace {

struct stamped {
    std::uint64_t due_ns;  // of the steady clock
};
struct arrivals {
    std::atomic<std::uint32_t> count{0};
    std::atomic<std::uint32_t> early{0};
    // How late, in powers of two of a millisecond; the receiver's.
    std::uint32_t histogram[16] = {};
};
class stamp_reader : public actor<stamped> {
public:
    explicit stamp_reader(arrivals* to) : to_(to) {}
    void on(const stamped& s) {
        const auto now = static_cast<std::uint64_t>(steady::now().time_since_epoch().count());
        if (now < s.due_ns)
            to_->early.fetch_add(1);
        unsigned bucket = 0;
        for (std::uint64_t late = now < s.due_ns ? 0 : (now - s.due_ns) / 1'000'000; late != 0;
             late /= 2)
            ++bucket;
        ++to_->histogram[bucket < 16 ? bucket : 15];
        to_->count.fetch_add(1);
    }

private:
    arrivals* to_;
};

bool schedule_stamped(actor_system& system, any_ref to, std::chrono::milliseconds delay) {
    for (;;) {
        // Before the call: what it takes is no excuse for being early.
        const auto due = (steady::now() + delay).time_since_epoch();
        const auto made = system.scheduler().schedule_once(
            delay, to.index(), stamped{static_cast<std::uint64_t>(due.count())});
        if (made || made.error().code != scheduler_errc::backpressured)
            return made.has_value();
        // BP-3: a machine that was away for longer than the window refuses for a moment.
        std::this_thread::sleep_for(1ms);
    }
}

}  // namespace

// TC-P03
TEST(real_time, none_of_300_arrives_early) {
    arrivals seen;
    actor_system system("steady");
    const auto to = system.spawn<stamp_reader>("reader", &seen);
    for (int i = 0; i < 300; ++i) {
        ASSERT_TRUE(schedule_stamped(system, to.any(), 20ms));
        std::this_thread::sleep_for(5ms);
    }
    EXPECT_TRUE(until([&] { return seen.count.load() == 300; }));
    EXPECT_EQ(seen.early.load(), 0u);
}

// TC-P05, C-SCH-8: and how late they came is not spread all over.
TEST(real_time, many_random_ones_arrive_in_time) {
    const oversleep machine;
    const std::uint32_t count = tactus_test::under_sanitizer ? 20'000 : 100'000;
    arrivals seen;
    actor_system system("crowded");
    const auto to = system.spawn<stamp_reader>("reader", &seen);
    const auto begun = steady::now();
    std::minstd_rand random(5);
    for (std::uint32_t i = 0; i < count; ++i)
        ASSERT_TRUE(
            schedule_stamped(system, to.any(), std::chrono::milliseconds(1 + random() % 3'000)));
    EXPECT_TRUE(until([&] { return seen.count.load() == count; }));
    EXPECT_LE(seconds(steady::now() - begun - machine.worst()), 10.0);
    EXPECT_EQ(seen.early.load(), 0u);
    EXPECT_EQ(system.scheduler().active_count(), 0u);
    std::uint32_t within = 0;
    const auto limit = 64ms + machine.worst();
    for (unsigned b = 0; b < 16; ++b) {
        std::printf("%s%u", b == 0 ? "late by less than 1, 2, 4, ... ms: " : ", ",
                    seen.histogram[b]);
        if ((1U << b) <= limit / 1ms || b <= 6)
            within += seen.histogram[b];
    }
    std::printf("\n");
    EXPECT_GE(within, count / 2);
}
