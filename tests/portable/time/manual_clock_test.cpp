// SPDX-License-Identifier: Apache-2.0
//
// Goal: a clock that moves only when told to, keeps the remainder of a tick, never goes back, and
// pauses without a jump (TS-2, TS-3).
// Method: short scripts; every advance says how many ticks it must complete.
#include <tactus/time/manual_clock.hpp>

#include <string_view>

#include "portable_test.hpp"

using tactus::clock_kind;
using tactus::duration;
using tactus::instant;
using tactus::manual_clock;

// TS-2
TEST(manual_clock, is_a_deterministic_clock) {
    const manual_clock manual;
    const tactus::clock& clock = manual;
    EXPECT_EQ(clock.kind(), clock_kind::deterministic);
    EXPECT_EQ(clock.now(), instant::epoch());
    EXPECT_EQ(manual.resolution(), duration::from_ms(1));
    EXPECT_EQ(manual.ticks(), 0u);
}

// TS-2
TEST(clock_kind, every_kind_has_a_text_of_its_own) {
    const std::string_view texts[] = {to_text(clock_kind::deterministic),
                                      to_text(clock_kind::realtime_host),
                                      to_text(clock_kind::realtime_hardware)};
    EXPECT_TRUE(texts[0] == "deterministic");
    EXPECT_TRUE(texts[1].find("host") != std::string_view::npos);
    EXPECT_TRUE(texts[2].find("hardware") != std::string_view::npos);
}

// TS-3: two times 5 ms at 10 ms is one tick.
TEST(manual_clock, keeps_the_remainder_of_a_tick) {
    manual_clock clock(duration::from_ms(10));
    EXPECT_EQ(clock.advance(duration::from_ms(5)), 0u);
    EXPECT_EQ(clock.now().ns(), 5'000'000u);
    EXPECT_EQ(clock.advance(duration::from_ms(5)), 1u);
    EXPECT_EQ(clock.ticks(), 1u);
    for (int i = 0; i < 9; ++i)
        EXPECT_EQ(clock.advance(duration::from_ns(1'111'111)), 0u);
    EXPECT_EQ(clock.advance(duration::from_ns(1)), 1u);
    EXPECT_EQ(clock.now().ns(), 20'000'000u);
    EXPECT_EQ(clock.advance(duration::from_ms(35)), 3u);
    EXPECT_EQ(clock.advance(duration::from_ms(4)), 0u);
    EXPECT_EQ(clock.advance(duration::from_ms(1)), 1u);
}

// TS-3: however a stretch is cut, it has the same number of ticks.
TEST(manual_clock, pieces_complete_as_many_ticks_as_the_whole) {
    manual_clock clock(duration::from_ns(7));
    tactus::tick sum = 0;
    for (int i = 0; i < 1000; ++i)
        sum += clock.advance(duration::from_ns(i % 5));
    EXPECT_EQ(clock.now().ns(), 2000u);
    EXPECT_EQ(sum, 2000u / 7);
    EXPECT_EQ(clock.ticks(), sum);
}

TEST(manual_clock, starts_in_the_middle_of_a_tick_if_told_so) {
    manual_clock clock(duration::from_ms(10), instant::from_ns(7'000'000));
    EXPECT_EQ(clock.now().ns(), 7'000'000u);
    EXPECT_EQ(clock.advance(duration::from_ns(2'999'999)), 0u);
    EXPECT_EQ(clock.advance(duration::from_ns(1)), 1u);
}

// TS-3
TEST(manual_clock, advance_to_never_goes_back) {
    manual_clock clock(duration::from_ms(10));
    EXPECT_EQ(clock.advance_to(instant::from_ns(25'000'000)), 2u);
    EXPECT_EQ(clock.advance_to(instant::from_ns(24'999'999)), 0u);
    EXPECT_EQ(clock.now().ns(), 25'000'000u);
    EXPECT_EQ(clock.advance_to(instant::epoch()), 0u);
    EXPECT_EQ(clock.now().ns(), 25'000'000u);
    EXPECT_EQ(clock.advance_to(instant::from_ns(25'000'000)), 0u);
    EXPECT_EQ(clock.advance_to(instant::from_ns(30'000'000)), 1u);
}

TEST(manual_clock, a_negative_advance_moves_nothing) {
    manual_clock clock(duration::from_ms(10), instant::from_ns(50'000'000));
    EXPECT_EQ(clock.advance(duration::from_ms(-20)), 0u);
    EXPECT_EQ(clock.advance(duration::min()), 0u);
    EXPECT_EQ(clock.advance(duration::zero()), 0u);
    EXPECT_EQ(clock.now().ns(), 50'000'000u);
}

// TS-3
TEST(manual_clock, pauses_and_resumes_without_a_jump) {
    manual_clock clock(duration::from_ms(10));
    EXPECT_FALSE(clock.paused());
    EXPECT_EQ(clock.advance(duration::from_ms(7)), 0u);
    clock.pause();
    EXPECT_TRUE(clock.paused());
    EXPECT_EQ(clock.advance(duration::from_ms(100)), 0u);
    EXPECT_EQ(clock.advance_to(instant::from_ns(500'000'000)), 0u);
    EXPECT_EQ(clock.now().ns(), 7'000'000u);
    clock.pause();
    clock.resume();
    EXPECT_FALSE(clock.paused());
    EXPECT_EQ(clock.now().ns(), 7'000'000u);
    EXPECT_EQ(clock.advance(duration::from_ms(3)), 1u);
    EXPECT_EQ(clock.now().ns(), 10'000'000u);
}

// TS-1
TEST(manual_clock, stops_at_the_end_of_time) {
    manual_clock clock(duration::from_ns(1), instant::from_ns(UINT64_MAX - 5));
    EXPECT_EQ(clock.advance(duration::from_ns(3)), 3u);
    EXPECT_EQ(clock.advance(duration::max()), 2u);
    EXPECT_EQ(clock.now(), instant::never());
    EXPECT_EQ(clock.advance(duration::from_ns(1)), 0u);
    EXPECT_EQ(clock.ticks(), UINT64_MAX);
}
