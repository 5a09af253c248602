// SPDX-License-Identifier: Apache-2.0
//
// The SysTick clock: monotonic, exact to the tick, for years; and SysTick driving timers.
#include <tactus/time/systick_clock.hpp>

#include <tactus/port/board.hpp>
#include <tactus/port/systick.hpp>

#include <array>
#include <cstdint>

#include "wheel_fixture.hpp"

using tactus::duration;
using tactus::instant;
using tactus::systick_clock;
using namespace tactus::literals;
namespace port = tactus::port;

namespace {

constexpr std::uint32_t hz = port::board::core_clock_hz;
constexpr std::uint32_t readings_max = 200'000;  // more than any wait here takes

// Reads until `ticks` ticks have passed; counts how many readings were less than the one before.
struct reading_counts {
    std::uint32_t readings = 0;
    std::uint32_t backward = 0;
    std::uint32_t forward = 0;
};
reading_counts read_for(const systick_clock& clock, std::uint32_t ticks) noexcept {
    reading_counts counts;
    instant last = clock.now();
    const instant end = last + clock.resolution() * static_cast<std::int64_t>(ticks);
    // A clock that stands still ends the loop too.
    while (last < end && counts.readings < readings_max) {
        const instant next = clock.now();
        counts.backward += next < last ? 1 : 0;
        counts.forward += next > last ? 1 : 0;
        ++counts.readings;
        last = next;
    }
    return counts;
}

}  // namespace

// TS-2
TEST(systick_clock, says_what_it_is) {
    const systick_clock clock({.core_clock_hz = hz});
    EXPECT_EQ(clock.kind(), tactus::clock_kind::realtime_hardware);
    EXPECT_EQ(clock.resolution(), 1_ms);
    EXPECT_LT(clock.now(), instant::epoch() + 1_ms);  // it starts at its epoch
}

// TS-2: ticks of 20 µs, so that the interrupt meets the reading at many places.
TEST(systick_clock, never_goes_back) {
    const systick_clock clock({.core_clock_hz = hz, .resolution = 20_us});
    const reading_counts counts = read_for(clock, 2'000);
    EXPECT_EQ(counts.backward, 0u);
    EXPECT_GT(counts.readings, 4'000u);
    // It does not stand still between ticks either: the fraction comes from the counter.
    EXPECT_GT(counts.forward, 4'000u);
    TEST_LOG("readings:", counts.readings);
}

// TS-5: the handler's 32-bit count wraps, the clock goes on. With 1 ms per tick this is day 50.
TEST(systick_clock, goes_on_when_the_count_wraps) {
    constexpr std::uint32_t before_wrap = 5;
    constexpr std::uint64_t wrap = std::uint64_t{1} << 32;
    constexpr std::uint64_t tick_ns = 100'000;
    const systick_clock clock({.core_clock_hz = hz,
                               .resolution = 100_us,
                               .first_count = static_cast<std::uint32_t>(wrap - before_wrap)});
    EXPECT_GE(clock.now().ns(), (wrap - before_wrap) * tick_ns);
    EXPECT_LT(clock.now().ns(), (wrap - before_wrap + 1) * tick_ns);
    const reading_counts counts = read_for(clock, 2 * before_wrap);
    EXPECT_EQ(counts.backward, 0u);
    EXPECT_LT(port::systick::count(), 2 * before_wrap);  // it has wrapped
    const std::uint64_t now = clock.now().ns();
    EXPECT_GE(now, (wrap + before_wrap) * tick_ns);
    EXPECT_LT(now, (wrap + before_wrap + 1) * tick_ns);
}

// TS-2: whole ticks of the clock are the interrupts counted, neither ahead nor behind.
TEST(systick_clock, agrees_with_the_interrupts_counted) {
    constexpr std::uint64_t tick_ns = 50'000;
    const systick_clock clock({.core_clock_hz = hz, .resolution = 50_us});
    for (std::uint32_t tick = 1; tick <= 200; ++tick) {
        while (port::systick::count() < tick) {
        }
        // Somewhere in the tick, also near its end.
        for (std::uint32_t i = tick * 37 % 1'000; i != 0; --i)
            asm volatile("nop");
        const std::uint32_t before = port::systick::count();
        const std::uint64_t now = clock.now().ns();
        const std::uint32_t after = port::systick::count();
        ASSERT_GE(now, before * tick_ns);
        ASSERT_LT(now, (std::uint64_t{after} + 1) * tick_ns);
    }
}

// TS-2: the tick is over but its interrupt cannot be taken.
TEST(systick_clock, goes_on_in_a_critical_section) {
    const systick_clock clock({.core_clock_hz = hz, .resolution = 100_us});
    for (int round = 0; round < 20; ++round) {
        const port::critical_section section;
        const std::uint32_t counted = port::systick::count();
        const instant entered = clock.now();
        instant last = entered;
        for (std::uint32_t i = 0; last - entered < 95_us; ++i) {
            ASSERT_LT(i, readings_max);
            const instant next = clock.now();
            ASSERT_GE(next, last);
            // A jump of a whole tick would be a pending interrupt counted twice.
            ASSERT_LT(next - last, 50_us);
            last = next;
        }
        EXPECT_EQ(port::systick::count(), counted);
    }
}

// C1: a tick lost under a mask that lasts too long delays the clock and does not turn it back.
TEST(systick_clock, never_goes_back_when_a_tick_was_lost) {
    const systick_clock clock({.core_clock_hz = hz, .resolution = 20_us});
    for (int round = 0; round < 10; ++round) {
        const port::critical_section section;
        instant last = clock.now();
        for (int i = 0; i < 2'000; ++i) {
            const instant next = clock.now();
            ASSERT_GE(next, last);
            last = next;
        }
    }
}

// TS-4: SysTick at 1 kHz notifies a tick source, which drives a wheel: every timer fires at its
// tick, in order.
TEST(systick_clock, drives_a_wheel_through_a_tick_source) {
    constexpr std::size_t timers = 16;
    static tactus_test::wheel_memory<timers, tactus::small_timer_wheel> memory;
    static tactus_test::basic_wheel_box<tactus::small_timer_wheel> box;
    auto& wheel = box.make(memory.options());

    tactus::tick_source source;
    {
        auto lease = source.acquire();
        const systick_clock clock({.core_clock_hz = hz, .resolution = 1_ms, .ticks = &source});
        // Out of order, some together, some beyond the first level of the wheel.
        constexpr std::array<int, timers> delays_ms{300, 2, 7,  7, 1,   40, 255, 256,
                                                    5,   5, 99, 3, 257, 40, 128, 64};
        for (std::size_t i = 0; i < timers; ++i)
            ASSERT_TRUE(
                wheel.insert(instant::epoch(), duration::from_ms(delays_ms[i]), i).has_value());

        tactus_test::fired_log<timers> fired;
        std::uint64_t ticks = 0;
        std::uint64_t late = 0;
        while (fired.count < timers) {
            ASSERT_LT(clock.now(), instant::epoch() + 400_ms);
            const auto event = lease.try_pull();
            if (!event)
                continue;
            ticks += event->ticks;
            const std::size_t before = fired.count;
            ASSERT_TRUE(wheel.advance(clock.now(), fired).has_value());
            for (std::size_t i = before; i < fired.count; ++i)
                late += fired.deadlines[i] == wheel.now() ? 0 : 1;
            // The source and the clock hear the same interrupt.
            ASSERT_EQ(wheel.now(), ticks);
            ASSERT_LE(ticks, 300u);
        }
        EXPECT_EQ(late, 0u);
        EXPECT_EQ(ticks, 300u);
        for (std::size_t i = 0; i < timers; ++i) {
            const auto delay =
                static_cast<tactus::tick>(delays_ms[static_cast<std::size_t>(fired.payloads[i])]);
            EXPECT_EQ(fired.deadlines[i], delay);
            if (i == 0)
                continue;
            const bool in_order = fired.deadlines[i - 1] < fired.deadlines[i] ||
                                  (fired.deadlines[i - 1] == fired.deadlines[i] &&
                                   fired.payloads[i - 1] < fired.payloads[i]);
            EXPECT_TRUE(in_order);
        }
        TEST_LOG("finished at ns", clock.now().ns());
    }
    EXPECT_FALSE(port::systick::running());
}
