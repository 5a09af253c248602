// SPDX-License-Identifier: Apache-2.0
//
// Goal: the SysTick driver counts every tick on its host's source, and says why it does not start
// (TS-4, TS-8).
#include <tactus/time/systick_driver.hpp>

#include <tactus/port/board.hpp>

#include <string_view>

#include <tactus/time/manual_clock.hpp>

#include "portable_test.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used

namespace {

constexpr std::uint32_t hz = port::board::core_clock_hz;

struct counting_host final : tick_host {
    explicit counting_host(const tactus::clock& c) : of(&c) {}
    const tactus::clock& time() const noexcept override { return *of; }
    duration resolution() const noexcept override { return tick_length; }
    tick_source* ticks() noexcept override { return source; }
    bool acts() const noexcept override { return false; }
    void driver_stopped(tick_driver_error) noexcept override { ++stops; }

    const tactus::clock* of;
    duration tick_length = duration::from_ms(1);
    tick_source* source = nullptr;
    unsigned stops = 0;
};

void wait(const systick_clock& c, duration d) {
    const instant end = c.now() + d;
    while (c.now() < end) {
    }
}

}  // namespace

// TS-4, TS-8
TEST(systick_driver, TS_8_counts_ticks_while_it_is_started) {
    const systick_clock clock({.core_clock_hz = hz});
    systick_driver driver(clock);
    tick_source source;
    auto lease = source.acquire();
    counting_host host(clock);
    host.source = &source;
    EXPECT_TRUE(std::string_view(driver.name()) == "systick");
    EXPECT_EQ(driver.kind(), clock_kind::realtime_hardware);
    wait(clock, duration::from_ms(3));
    EXPECT_EQ(lease.pending(), 0u);
    EXPECT_TRUE(driver.start(host).has_value());
    wait(clock, duration::from_ms(5));
    const std::uint64_t counted = lease.pending();
    EXPECT_GE(counted, 4u);
    EXPECT_LE(counted, 6u);
    EXPECT_EQ(driver.metrics().wakeups, counted);
    driver.stop();
    driver.stop();
    const std::uint64_t before = lease.pending();
    wait(clock, duration::from_ms(3));
    EXPECT_EQ(lease.pending(), before);
    EXPECT_EQ(host.stops, 0u);
}

// TS-5: the handler's count wraps, what is told of it does not.
TEST(systick_driver, TS_5_goes_on_where_the_count_wraps) {
    const systick_clock clock(
        {.core_clock_hz = hz, .first_count = ~port::event_count::word{0} - 1});
    const std::uint64_t begun = clock.ticks();
    systick_driver driver(clock);
    tick_source source;
    counting_host host(clock);
    host.source = &source;
    EXPECT_TRUE(driver.start(host).has_value());
    wait(clock, duration::from_ms(5));
    EXPECT_GE(clock.ticks(), begun + 4);
    EXPECT_GE(clock.ticks(), std::uint64_t{1} << 32U);
    EXPECT_GE(driver.metrics().wakeups, 4u);
    EXPECT_LE(driver.metrics().wakeups, 7u);
    driver.stop();
    EXPECT_GE(driver.metrics().wakeups, 4u);
}

// TS-8
TEST(systick_driver, TS_8_says_why_it_does_not_start) {
    const systick_clock clock({.core_clock_hz = hz});
    systick_driver driver(clock);
    tick_source source;
    counting_host host(clock);
    host.source = &source;
    const manual_clock other;
    counting_host elsewhere(other);
    EXPECT_EQ(driver.start(elsewhere).error(), tick_driver_error::unsupported_environment);
    counting_host finer(clock);
    finer.tick_length = duration::from_us(100);
    EXPECT_EQ(driver.start(finer).error(), tick_driver_error::invalid_resolution);
    counting_host nowhere(clock);
    EXPECT_EQ(driver.start(nowhere).error(), tick_driver_error::unsupported_executor);
    EXPECT_TRUE(driver.start(host).has_value());
    systick_driver second(clock);
    EXPECT_EQ(second.start(host).error(), tick_driver_error::handle_unavailable);
    second.stop();  // not the other's
    driver.stop();
    EXPECT_TRUE(second.start(host).has_value());
}
