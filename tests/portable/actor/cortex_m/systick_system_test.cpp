// SPDX-License-Identifier: Apache-2.0
//
// Goal: a system that SysTick drives counts every tick, fires nothing early, names its driver, and
// goes on when that has stopped (TS-7, TS-8, TS-9, SC-1).
// Method: the real interrupt, and a driver that can be broken around the real one. The actor reads
// the clock itself, at different places within a tick.
#include <tactus/actor/device_system.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tactus/port/board.hpp>
#include <tactus/time/systick_clock.hpp>
#include <tactus/time/systick_driver.hpp>

#include "portable_test.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used

namespace {

constexpr device_config config{
    .actors_max = 1, .messages_max = 4, .timers_max = 2, .overflow_max = 1};
alignas(16) std::byte room[device_system::required_bytes(config)];

/// The real one, until it breaks.
class fragile_driver final : public tick_driver {
public:
    explicit fragile_driver(const systick_clock& time) : real_(time) {}
    const char* name() const noexcept override { return real_.name(); }
    clock_kind kind() const noexcept override { return real_.kind(); }
    std::expected<void, tick_driver_error> start(tick_host& to) noexcept override {
        host_ = &to;
        return real_.start(to);
    }
    void stop() noexcept override { real_.stop(); }
    tick_driver_metrics metrics() const noexcept override { return real_.metrics(); }
    void break_down() noexcept {
        real_.stop();
        host_->driver_stopped(tick_driver_error::drift_exceeded);
    }

private:
    systick_driver real_;
    tick_host* host_ = nullptr;
};

void wait(const systick_clock& c, duration d) {
    const instant end = c.now() + d;
    while (c.now() < end) {
    }
}

struct measured {
    duration shortest = duration::max();
    duration longest = duration::min();
    unsigned count = 0;
};

constexpr duration delay = duration::from_ms(5);
constexpr unsigned rounds = 20;

/// Waits for 5 ms again and again, each time from elsewhere within a tick.
class stopwatch : public actor<int> {
public:
    stopwatch(const systick_clock* time, measured* all) : time_(time), all_(all) {}
    void pre_start() { begin(); }
    void on(int) {
        const duration took = time_->now() - began_;
        if (took < all_->shortest)
            all_->shortest = took;
        if (took > all_->longest)
            all_->longest = took;
        if (++all_->count == rounds)
            context().world().terminate();
        else
            begin();
    }

private:
    void begin() {
        wait(*time_, duration::from_us(50 * static_cast<std::int64_t>(all_->count)));
        began_ = time_->now();
        (void)context().start_single_timer("due", 1, delay);
    }
    const systick_clock* time_;
    measured* all_;
    instant began_;
};

constexpr unsigned beats = 6;

/// Breaks its driver at half time.
class breaker : public actor<int> {
public:
    breaker(fragile_driver* driver, unsigned* count) : driver_(driver), count_(count) {}
    void pre_start() { (void)context().start_timer_at_fixed_rate("beat", 1, duration::from_ms(2)); }
    void on(int) {
        if (++*count_ == beats / 2)
            driver_->break_down();
        if (*count_ == beats)
            context().world().terminate();
    }

private:
    fragile_driver* driver_;
    unsigned* count_;
};

struct last_line final : log_sink {
    void write(const log_record& r) noexcept override { size = r.text.copy(text, sizeof text); }
    char text[60];
    std::size_t size = 0;
};

}  // namespace

// TS-4, TS-7, TS-9, SC-1
TEST(systick_system, TS_7_SC_1_counts_all_ticks_and_fires_nothing_early) {
    const systick_clock clock({.core_clock_hz = port::board::core_clock_hz});
    systick_driver driver(clock);
    tick_source ticks;
    measured all;
    const instant begun = clock.now();
    auto system = device_system::create(
        "test", {.time = &clock, .ticks = &ticks, .driver = &driver, .memory = room}, config);
    ASSERT_TRUE(system.has_value());
    const driver_view who = system->driver();
    EXPECT_TRUE(std::string_view(who.name) == "systick");
    EXPECT_TRUE(std::string_view(who.kind) == "hardware");
    EXPECT_EQ(who.resolution, duration::from_ms(1));
    EXPECT_GE(who.since, begun);
    EXPECT_EQ(who.restarts, 0u);
    ASSERT_TRUE(system->spawn<stopwatch>("stopwatch", &clock, &all).has_value());
    system->run();
    const auto elapsed = static_cast<std::uint64_t>((clock.now() - who.since).ns() / 1'000'000);
    EXPECT_EQ(all.count, rounds);
    EXPECT_GE(all.shortest, delay);
    EXPECT_LE(all.longest, delay + duration::from_ms(2));  // one tick, and the way to the actor
    EXPECT_GE(driver.metrics().wakeups, elapsed);
    EXPECT_LE(driver.metrics().wakeups, elapsed + 1);
    EXPECT_GE(system->world().timers()->metrics().tick_backlog_peak, 1u);  // they were pulled
}

// TS-7, TS-8, TS-9
TEST(systick_system, TS_8_a_driver_that_stopped_is_told_of_and_started_again) {
    const systick_clock clock({.core_clock_hz = port::board::core_clock_hz});
    fragile_driver driver(clock);
    tick_source ticks;
    last_line log;
    unsigned count = 0;
    auto system = device_system::create(
        "test", {.time = &clock, .ticks = &ticks, .driver = &driver, .memory = room, .log = &log},
        config);
    ASSERT_TRUE(system.has_value());
    const instant first = system->driver().since;
    ASSERT_TRUE(system->spawn<breaker>("breaker", &driver, &count).has_value());
    system->run();
    EXPECT_EQ(count, beats);
    EXPECT_TRUE(std::string_view(log.text, log.size) ==
                "scheduler: driver_stopped systick, drift_exceeded");
    EXPECT_EQ(system->driver().restarts, 1u);
    EXPECT_GT(system->driver().since, first);
    EXPECT_GT(driver.metrics().wakeups, 0u);
}
