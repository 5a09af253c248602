// SPDX-License-Identifier: Apache-2.0
//
// Goal: the driver's thread acts at the deadline and never before, is woken by a nearer one and by
// nothing else, sleeps for ever when there is none, and is gone when stop returns (SC-35, SC-36,
// TS-7, TS-8).
// Method: real threads and the real clock, a host with one deadline. What must happen is waited
// for; what must not is looked for after a while.
#include <tactus/runtime/steady_driver.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <limits>
#include <thread>
#include <vector>

#include <tactus/runtime/steady_clock.hpp>
#include <tactus/time/manual_clock.hpp>
#include <tactus/time/tick_scale.hpp>

#include "pool_rig.hpp"
#include "thread_names.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using runtime::steady_driver;
using tactus_test::sized;
using tactus_test::threads_named;
using tactus_test::until;

namespace {

constexpr std::uint64_t never = ~std::uint64_t{0};

class one_deadline final : public tick_host {
public:
    const tactus::clock& time() const noexcept override { return *of; }
    duration resolution() const noexcept override { return tick_length; }
    bool acts() const noexcept override { return driven; }
    instant next_act() noexcept override {
        // On the way to sleep: it looks a second time once it has said until when.
        if (due.load() != never && stall_ms.load() != 0 && looks.fetch_add(1) == 1)
            std::this_thread::sleep_for(std::chrono::milliseconds(stall_ms.load()));
        return due.load() == never ? instant::never() : instant::from_ns(due.load());
    }
    bool act(instant now) noexcept override {
        const std::uint64_t at = due.exchange(never);
        if (at == never)
            return false;
        if (now.ns() < at)
            early.fetch_add(1);
        acted_late_ns.store(static_cast<std::int64_t>(of->now().ns() - at));
        acts_count.fetch_add(1);
        return true;
    }
    void driver_stopped(tick_driver_error why) noexcept override {
        cause.store(why);
        stops.fetch_add(1);
    }

    /// Something is due then.
    void add(steady_driver& d, instant at) {
        due.store(at.ns());
        d.deadline_added(at);
    }
    [[nodiscard]] instant in(duration d) const { return of->now() + d; }

    runtime::steady_clock real;
    const tactus::clock* of = &real;
    duration tick_length = duration::from_ms(1);
    bool driven = true;
    std::atomic<std::uint64_t> due{never};
    std::atomic<unsigned> acts_count{0};
    std::atomic<unsigned> early{0};
    std::atomic<std::int64_t> acted_late_ns{0};
    std::atomic<int> stall_ms{0};  // of the second look from now on
    std::atomic<unsigned> looks{0};
    std::atomic<unsigned> stops{0};
    std::atomic<tick_driver_error> cause{};
};

/// It has measured itself, so it is in its loop.
bool settled(const steady_driver& d) {
    return until([&] { return d.jitter() > duration::zero(); });
}

struct tellings final : driver_listener {
    bool measured(const tick_driver_metrics& what) noexcept override {
        wakeups.store(what.wakeups);
        count.fetch_add(1);
        return true;
    }
    std::atomic<std::uint64_t> wakeups{0};
    std::atomic<unsigned> count{0};
};

}  // namespace

// TS-7, TS-8
TEST(steady_driver, TS_7_acts_at_the_deadline_and_never_before) {
    one_deadline host;
    steady_driver driver;
    EXPECT_STREQ(driver.name(), "tactus-time");
    EXPECT_EQ(driver.kind(), clock_kind::realtime_host);
    ASSERT_TRUE(driver.start(host));
    for (unsigned i = 1; i <= 10; ++i) {
        host.add(driver, host.in(duration::from_ms(i)));
        ASSERT_TRUE(until([&] { return host.acts_count.load() == i; }));
    }
    EXPECT_EQ(host.early.load(), 0U);
    driver.stop();
    EXPECT_EQ(driver.metrics().acts, 10U);
    EXPECT_GT(driver.metrics().lateness_max, duration::zero());
}

// SC-36, TS-7: an act that is late does not make the next one late. Each try acts in the middle of
// a tick, and again when the next begins: half a tick later, not a whole one.
TEST(steady_driver, TS_7_a_late_act_does_not_put_off_the_next_tick) {
    one_deadline host;
    host.tick_length = duration::from_ms(60);
    const tick_scale ticks(host.tick_length);
    steady_driver driver;
    ASSERT_TRUE(driver.start(host));
    std::int64_t least_late_ns = std::numeric_limits<std::int64_t>::max();
    // A machine that is busy is late by itself, but not each time.
    for (unsigned i = 0; i < 10 && least_late_ns > 10'000'000; ++i) {
        const tick next = ticks.floor(host.of->now()) + 1;
        host.add(driver, ticks.begin_of(next) + duration::from_ms(30));
        ASSERT_TRUE(until([&] { return host.acts_count.load() == 2 * i + 1; }));
        host.add(driver, ticks.begin_of(next + 1));
        ASSERT_TRUE(until([&] { return host.acts_count.load() == 2 * i + 2; }));
        least_late_ns = std::min(least_late_ns, host.acted_late_ns.load());
    }
    EXPECT_LT(least_late_ns, 10'000'000);
    EXPECT_EQ(host.early.load(), 0U);
    driver.stop();
}

/// Another clock of the same machine, with an epoch of its own.
class shifted_clock final : public tactus::clock {
public:
    instant now() const noexcept override { return steady.now() + duration::from_s(1'000); }
    clock_kind kind() const noexcept override { return clock_kind::realtime_host; }
    runtime::steady_clock steady;
};

// TS-7: until an instant. One that slept for a while would be as late as it was slow before: each
// time, whatever the machine does, so the best of several rounds tells.
TEST(steady_driver, TS_7_being_slow_before_it_sleeps_makes_it_no_later) {
    const shifted_clock other;
    for (const tactus::clock* clock :
         {static_cast<const tactus::clock*>(nullptr), static_cast<const tactus::clock*>(&other)}) {
        one_deadline host;
        if (clock != nullptr)
            host.of = clock;
        steady_driver driver;
        ASSERT_TRUE(driver.start(host));
        ASSERT_TRUE(settled(driver));
        constexpr int slow_ms = 100;
        std::int64_t best = std::numeric_limits<std::int64_t>::max();
        for (unsigned i = 1; i <= 20 && best >= slow_ms * 500'000; ++i) {
            host.looks.store(0);
            host.stall_ms.store(slow_ms);
            host.add(driver, host.in(duration::from_ms(3 * slow_ms)));
            ASSERT_TRUE(until([&] { return host.acts_count.load() == i; }));
            best = std::min(best, host.acted_late_ns.load());
        }
        EXPECT_LT(best, slow_ms * 500'000);
        EXPECT_EQ(host.early.load(), 0U);
    }
}

// TS-7: measured when it starts.
TEST(steady_driver, TS_7_measures_how_late_it_wakes) {
    one_deadline host;
    steady_driver driver;
    ASSERT_TRUE(driver.start(host));
    ASSERT_TRUE(settled(driver));
    EXPECT_EQ(driver.jitter(), driver.metrics().jitter);
    std::printf("wake-up jitter under no load: %lld us\n",
                static_cast<long long>(driver.jitter().ns() / 1'000));
}

// SC-36: woken early by a nearer one.
TEST(steady_driver, SC_36_a_nearer_deadline_wakes_it) {
    one_deadline host;
    steady_driver driver;
    ASSERT_TRUE(driver.start(host));
    host.add(driver, host.in(duration::from_s(3'600)));
    ASSERT_TRUE(settled(driver));
    std::this_thread::sleep_for(
        20ms);  // it is asleep, most likely; the loop below does not need it
    host.add(driver, host.in(duration::from_ms(5)));
    EXPECT_TRUE(until([&] { return host.acts_count.load() == 1; }));
    EXPECT_EQ(host.early.load(), 0U);
}

// SC-36, EX-4: for ever when there is none.
TEST(steady_driver, SC_36_makes_no_wake_ups_when_nothing_is_due) {
    one_deadline host;
    steady_driver driver;
    ASSERT_TRUE(driver.start(host));
    ASSERT_TRUE(settled(driver));
    std::this_thread::sleep_for(300ms);
    EXPECT_EQ(driver.metrics().wakeups, 0U);
    EXPECT_EQ(driver.metrics().acts, 0U);
}

// SC-36: only a nearer one wakes it.
TEST(steady_driver, SC_36_a_later_deadline_does_not_wake_it) {
    one_deadline host;
    host.due.store(host.in(duration::from_s(3'600)).ns());
    steady_driver driver;
    ASSERT_TRUE(driver.start(host));
    ASSERT_TRUE(settled(driver));
    std::this_thread::sleep_for(100ms);
    const std::uint64_t before = driver.metrics().wakeups;
    for (int i = 0; i < 100; ++i)
        driver.deadline_added(host.in(duration::from_s(7'200)));
    std::this_thread::sleep_for(100ms);
    EXPECT_EQ(driver.metrics().wakeups, before);
}

// SC-36: one that is cancelled wakes it once, at its time, and then no more.
TEST(steady_driver, SC_36_a_deadline_that_is_gone_wakes_it_once) {
    one_deadline host;
    steady_driver driver;
    ASSERT_TRUE(driver.start(host));
    ASSERT_TRUE(settled(driver));
    host.add(driver, host.in(duration::from_ms(50)));
    ASSERT_TRUE(until([&] { return driver.metrics().wakeups == 1; }));  // called for it
    host.due.store(never);
    ASSERT_TRUE(until([&] { return driver.metrics().wakeups == 2; }));
    std::this_thread::sleep_for(150ms);
    EXPECT_EQ(driver.metrics().wakeups, 2U);
    EXPECT_EQ(driver.metrics().calls, 1U);
    EXPECT_EQ(host.acts_count.load(), 0U);
}

// SC-36, LN-7: many deadlines, from several threads, while it goes to sleep and wakes.
TEST(steady_driver, SC_36_no_deadline_is_lost) {
    one_deadline host;
    steady_driver driver;
    ASSERT_TRUE(driver.start(host));
    const std::uint64_t rounds = sized(200'000, 100);
    std::atomic<bool> over{false};
    std::vector<std::thread> others;
    for (int i = 0; i < 2; ++i)
        others.emplace_back([&] {
            while (!over.load()) {
                driver.deadline_added(host.in(duration::from_ms(1)));  // of nothing
                std::this_thread::sleep_for(50us);
            }
        });
    std::uint64_t seen = 0;
    for (; seen < rounds; ++seen) {
        host.due.store(0);
        driver.deadline_added(instant::epoch());
        const auto begun = std::chrono::steady_clock::now();
        while (host.due.load() != never) {
            if (std::chrono::steady_clock::now() - begun > 60s)
                break;
        }
        if (host.due.load() != never)
            break;
    }
    over = true;
    for (auto& t : others)
        t.join();
    EXPECT_EQ(seen, rounds);
}

// SC-35, TC-S52
TEST(steady_driver, TC_S52_stop_joins_its_thread) {
    one_deadline host;
    steady_driver driver({.name = "drv-joined"});
    driver.stop();
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(driver.start(host));
        ASSERT_TRUE(until([] { return threads_named("drv-joined") == 1; }));
        driver.stop();
        // The kernel forgets one that was joined a moment later.
        EXPECT_TRUE(until([] { return threads_named("drv-joined") == 0; }));
        driver.stop();
    }
    EXPECT_EQ(host.stops.load(), 0U);
}

// SC-35, TC-S52: what its thread does is over when stop returns.
TEST(steady_driver, TC_S52_stop_waits_for_what_it_does) {
    struct slow_host final : tick_host {
        const tactus::clock& time() const noexcept override { return real; }
        duration resolution() const noexcept override { return duration::from_ms(1); }
        instant next_act() noexcept override { return instant::epoch(); }
        bool act(instant) noexcept override {
            inside.store(true);
            // Long enough for the other thread to return if it does not wait.
            std::this_thread::sleep_for(30ms);
            left.store(true);
            return true;
        }
        void driver_stopped(tick_driver_error) noexcept override {}
        runtime::steady_clock real;
        std::atomic<bool> inside{false};
        std::atomic<bool> left{false};
    };
    slow_host host;
    steady_driver driver;
    ASSERT_TRUE(driver.start(host));
    ASSERT_TRUE(until([&] { return host.inside.load(); }));
    driver.stop();
    EXPECT_TRUE(host.left.load());
}

// UP-7
TEST(steady_driver, blocks_signals_and_has_a_name) {
    one_deadline host;
    steady_driver driver({.name = "drv-signals-15c"});
    ASSERT_TRUE(driver.start(host));
    ASSERT_TRUE(until([] { return threads_named("drv-signals-15c") == 1; }));
    tactus_test::each_thread_named("drv-signals-15c", [](const auto& thread) {
        const std::uint64_t blocked = tactus_test::blocked_by(thread);
        for (const int n : {SIGTERM, SIGINT, SIGUSR1})
            EXPECT_NE(blocked & std::uint64_t{1} << (n - 1), 0U) << n;
    });
}

// TS-8: each reason not to start.
TEST(steady_driver, TS_8_says_why_it_does_not_start) {
    const auto refusal = [](steady_driver& d, tick_host& to) {
        const auto begun = d.start(to);
        EXPECT_FALSE(begun);
        return begun ? tick_driver_error{} : begun.error();
    };
    steady_driver driver;
    one_deadline host;
    steady_driver too_large({.stack_bytes = ~std::size_t{0} / 2});
    EXPECT_EQ(refusal(too_large, host), tick_driver_error::spawn_failed);
    too_large.stop();
    ASSERT_TRUE(driver.start(host));
    EXPECT_EQ(refusal(driver, host), tick_driver_error::handle_unavailable);
    driver.stop();
    const manual_clock by_hand;
    one_deadline manual;
    manual.of = &by_hand;
    EXPECT_EQ(refusal(driver, manual), tick_driver_error::unsupported_environment);
    one_deadline counting;
    counting.driven = false;
    EXPECT_EQ(refusal(driver, counting), tick_driver_error::unsupported_executor);
    one_deadline no_ticks;
    no_ticks.tick_length = {};
    EXPECT_EQ(refusal(driver, no_ticks), tick_driver_error::invalid_resolution);
}

// TS-7, TS-8, TC-S52: it stops by itself, says so once, and can be stopped and started again.
TEST(steady_driver, TS_8_one_that_wakes_too_late_stops_and_says_so) {
    one_deadline host;
    steady_driver driver({.name = "drv-late", .lateness_max = {}});
    ASSERT_TRUE(driver.start(host));
    // It need not sleep when the machine was slower than that.
    ASSERT_TRUE(until([&] {
        if (host.due.load() == never)
            host.add(driver, host.in(duration::from_ms(20)));
        return host.stops.load() == 1;
    }));
    EXPECT_EQ(host.cause.load(), tick_driver_error::drift_exceeded);
    driver.stop();
    EXPECT_TRUE(until([] { return threads_named("drv-late") == 0; }));
    EXPECT_TRUE(driver.start(host));
    driver.stop();
    EXPECT_LE(host.stops.load(), 2U);
}

// TS-7: every second while somebody listens; nothing, and no wake-ups, otherwise.
TEST(steady_driver, TS_7_tells_its_metrics_every_second_while_somebody_listens) {
    one_deadline host;
    steady_driver driver;
    ASSERT_TRUE(driver.start(host));
    ASSERT_TRUE(settled(driver));
    tellings told;
    driver.listen(&told);
    const auto begun = std::chrono::steady_clock::now();
    ASSERT_TRUE(until([&] { return told.count.load() >= 2; }));
    EXPECT_GE(std::chrono::steady_clock::now() - begun, 999ms);
    EXPECT_GE(told.wakeups.load(), 1U);
    driver.listen(nullptr);
    std::this_thread::sleep_for(50ms);
    const unsigned count = told.count.load();
    const std::uint64_t wakeups = driver.metrics().wakeups;
    std::this_thread::sleep_for(1'200ms);
    EXPECT_EQ(told.count.load(), count);
    EXPECT_EQ(driver.metrics().wakeups, wakeups);
}

// TS-7: who ends is not told any more; who listens instead is.
TEST(steady_driver, TS_7_forgets_who_listened) {
    one_deadline host;
    tellings before;
    tellings after;
    steady_driver driver;
    ASSERT_TRUE(driver.start(host));
    driver.listen(&before);
    driver.listen(&after);
    driver.forget(before);
    ASSERT_TRUE(until([&] { return after.count.load() >= 1; }));
    driver.forget(after);
    const unsigned count = after.count.load();
    std::this_thread::sleep_for(1'200ms);
    EXPECT_EQ(after.count.load(), count);
    EXPECT_EQ(before.count.load(), 0U);
}

/// The machine's clock, and what the test adds to it.
class pushed_clock final : public tactus::clock {
public:
    instant now() const noexcept override {
        return real_.now() + duration::from_ms(pushed_ms.load());
    }
    clock_kind kind() const noexcept override { return clock_kind::realtime_host; }
    std::atomic<std::int64_t> pushed_ms{0};

private:
    runtime::steady_clock real_;
};

struct recent_lateness final : driver_listener {
    bool measured(const tick_driver_metrics& what) noexcept override {
        const bool is_long = what.lateness_recent >= duration::from_s(3'000);
        (is_long ? longs : shorts).fetch_add(1);
        if (what.lateness_recent >= what.lateness + duration::from_ms(200))
            earlier.fetch_add(1);
        last_max_ns.store(what.lateness_max.ns());
        return true;
    }
    std::atomic<unsigned> longs{0};
    std::atomic<unsigned> shorts{0};
    std::atomic<unsigned> earlier{0};  // not the last wake-up was the latest
    std::atomic<std::int64_t> last_max_ns{0};
};

// TS-7: one wake-up that was late is told once, not every second from then on.
TEST(steady_driver, TS_7_tells_how_late_it_woke_since_it_told_last) {
    pushed_clock time;
    one_deadline host;
    host.of = &time;
    recent_lateness told;
    steady_driver driver;
    ASSERT_TRUE(driver.start(host));
    ASSERT_TRUE(settled(driver));
    driver.listen(&told);
    ASSERT_TRUE(until([&] { return told.shorts.load() >= 1; }));
    EXPECT_EQ(told.longs.load(), 0U);
    // Within its sleep of a second the time becomes an hour later.
    time.pushed_ms.store(3'600'000);
    ASSERT_TRUE(until([&] { return told.longs.load() >= 1; }));
    const unsigned before = told.shorts.load();
    ASSERT_TRUE(until([&] { return told.shorts.load() > before; }));
    EXPECT_EQ(told.longs.load(), 1U);
    EXPECT_GE(told.last_max_ns.load(), duration::from_s(3'000).ns());
    // The latest of all since then, not the last: late for a deadline, and in time to tell. Again
    // where this thread was too slow for that.
    for (unsigned i = 0; i < 20 && told.earlier.load() == 0; ++i) {
        const unsigned tellings = told.shorts.load();
        ASSERT_TRUE(until([&] { return told.shorts.load() > tellings; }));
        host.add(driver, host.in(duration::from_ms(100)));
        std::this_thread::sleep_for(20ms);
        time.pushed_ms.fetch_add(400);
        ASSERT_TRUE(until([&] { return told.shorts.load() > tellings + 1; }));
    }
    EXPECT_GE(told.earlier.load(), 1U);
    driver.stop();
}
