// SPDX-License-Identifier: Apache-2.0
//
// Goal: instants and durations saturate at both ends and never wrap (TS-1); std::chrono durations
// convert exactly.
// Method: every operator at its limits, in constant expressions where that proves more.
#include <tactus/time/instant.hpp>

#include <chrono>
#include <cstdint>
#include <ratio>

#include "portable_test.hpp"

using tactus::duration;
using tactus::instant;
using namespace tactus::literals;

namespace {

constexpr auto max_s = duration::max();
constexpr auto min_s = duration::min();

constexpr duration ns(std::int64_t n) {
    return duration::from_ns(n);
}
constexpr instant at(std::uint64_t n) {
    return instant::from_ns(n);
}

}  // namespace

// TS-1
TEST(duration, units_saturate) {
    EXPECT_EQ(duration::from_us(3).ns(), 3'000);
    EXPECT_EQ(duration::from_ms(-3).ns(), -3'000'000);
    EXPECT_EQ(duration::from_s(3).ns(), 3'000'000'000);
    EXPECT_EQ(duration::from_s(9'223'372'036).ns(), 9'223'372'036'000'000'000);
    EXPECT_EQ(duration::from_s(9'223'372'037), max_s);
    EXPECT_EQ(duration::from_s(-9'223'372'037), min_s);
    EXPECT_EQ(duration::from_us(INT64_MAX), max_s);
    EXPECT_EQ(duration::from_ms(INT64_MIN), min_s);
    EXPECT_EQ(duration::from_ns(INT64_MIN), min_s);
    EXPECT_EQ(duration().ns(), 0);
    EXPECT_EQ(duration::zero(), ns(0));
}

// TS-1
TEST(duration, sums_and_differences_saturate_at_both_ends) {
    EXPECT_EQ(ns(2) + ns(3), ns(5));
    EXPECT_EQ(ns(2) - ns(3), ns(-1));
    EXPECT_EQ(max_s + ns(1), max_s);
    EXPECT_EQ(max_s + max_s, max_s);
    EXPECT_EQ(min_s + ns(-1), min_s);
    EXPECT_EQ(min_s + min_s, min_s);
    EXPECT_EQ(max_s + min_s, ns(-1));
    EXPECT_EQ(max_s - ns(-1), max_s);
    EXPECT_EQ(min_s - ns(1), min_s);
    EXPECT_EQ(max_s - min_s, max_s);
    EXPECT_EQ(min_s - max_s, min_s);
    EXPECT_EQ(ns(-1) - min_s, max_s);
    EXPECT_EQ(ns(0) - min_s, max_s);
    EXPECT_EQ(min_s - min_s, ns(0));
}

// TS-1
TEST(duration, negation_and_products_saturate) {
    EXPECT_EQ(-ns(5), ns(-5));
    EXPECT_EQ(-max_s, ns(-INT64_MAX));
    EXPECT_EQ(-min_s, max_s);
    EXPECT_EQ(ns(7) * 3, ns(21));
    EXPECT_EQ(-3 * ns(7), ns(-21));
    EXPECT_EQ(max_s * 2, max_s);
    EXPECT_EQ(max_s * -2, min_s);
    EXPECT_EQ(min_s * 2, min_s);
    EXPECT_EQ(min_s * -1, max_s);
    EXPECT_EQ(-1 * min_s, max_s);
    EXPECT_EQ(min_s * 0, ns(0));
}

TEST(duration, compares_by_length) {
    EXPECT_TRUE(ns(-1) < ns(0));
    EXPECT_TRUE(min_s < max_s);
    EXPECT_TRUE(duration::from_ms(1) == duration::from_us(1000));
}

// TS-1
TEST(instant, adding_a_duration_saturates_at_both_ends) {
    EXPECT_EQ(at(10) + ns(5), at(15));
    EXPECT_EQ(at(10) + ns(-5), at(5));
    EXPECT_EQ(at(10) + ns(-11), instant::epoch());
    EXPECT_EQ(at(10) + min_s, instant::epoch());
    EXPECT_EQ(instant::epoch() + max_s, at(INT64_MAX));
    EXPECT_EQ(instant::never() + ns(1), instant::never());
    EXPECT_EQ(at(UINT64_MAX - 4) + ns(4), instant::never());
    EXPECT_EQ(at(UINT64_MAX - 4) + ns(5), instant::never());
    EXPECT_EQ(at(UINT64_MAX - 4) + max_s, instant::never());
    EXPECT_EQ(instant::never() + min_s, at(UINT64_MAX - (std::uint64_t{1} << 63)));
}

// TS-1
TEST(instant, subtracting_a_duration_saturates_at_both_ends) {
    EXPECT_EQ(at(10) - ns(5), at(5));
    EXPECT_EQ(at(10) - ns(11), instant::epoch());
    EXPECT_EQ(at(10) - max_s, instant::epoch());
    EXPECT_EQ(at(10) - ns(-5), at(15));
    EXPECT_EQ(instant::epoch() - min_s, at(std::uint64_t{1} << 63));
    EXPECT_EQ(instant::never() - min_s, instant::never());
    EXPECT_EQ(instant::never() - ns(-1), instant::never());
    EXPECT_EQ(at(std::uint64_t{1} << 63) - min_s, instant::never());
    EXPECT_EQ(at((std::uint64_t{1} << 63) - 1) - min_s, instant::never());
    EXPECT_EQ(at((std::uint64_t{1} << 63) - 2) - min_s, at(UINT64_MAX - 1));
}

// TS-1
TEST(instant, the_distance_of_two_instants_saturates_at_both_ends) {
    EXPECT_EQ(at(15) - at(10), ns(5));
    EXPECT_EQ(at(10) - at(15), ns(-5));
    EXPECT_EQ(at(7) - at(7), ns(0));
    EXPECT_EQ(at(INT64_MAX) - instant::epoch(), max_s);
    EXPECT_EQ(at(std::uint64_t{1} << 63) - instant::epoch(), max_s);
    EXPECT_EQ(instant::never() - instant::epoch(), max_s);
    EXPECT_EQ(instant::epoch() - at(INT64_MAX), ns(-INT64_MAX));
    EXPECT_EQ(instant::epoch() - at(std::uint64_t{1} << 63), min_s);
    EXPECT_EQ(instant::epoch() - at((std::uint64_t{1} << 63) + 1), min_s);
    EXPECT_EQ(instant::epoch() - instant::never(), min_s);
}

TEST(instant, never_is_later_than_everything) {
    EXPECT_TRUE(at(UINT64_MAX - 1) < instant::never());
    EXPECT_TRUE(instant::epoch() < at(1));
    EXPECT_EQ(instant(), instant::epoch());
    EXPECT_EQ(instant::never().ns(), UINT64_MAX);
}

// TS-1: also when the compiler computes.
TEST(instant, arithmetic_is_constant) {
    static_assert((instant::never() + duration::max()).ns() == UINT64_MAX);
    static_assert((instant::epoch() - duration::from_ns(1)).ns() == 0);
    static_assert((instant::epoch() + duration::min()).ns() == 0);
    static_assert((5_ms).ns() == 5'000'000 && (1_h).ns() == 3'600'000'000'000);
    static_assert(2_min == 120_s && 3_us == 3000_ns);
}

TEST(duration, chrono_durations_convert_exactly) {
    using namespace std::chrono_literals;
    EXPECT_EQ(duration(5ms), duration::from_ms(5));
    EXPECT_EQ(duration(7ns).ns(), 7);
    EXPECT_EQ(duration(-3us).ns(), -3'000);
    EXPECT_EQ(duration(2h).ns(), 7'200'000'000'000);
    EXPECT_EQ(duration(std::chrono::days(1)).ns(), 86'400'000'000'000);
    const duration implicit = 10s;
    EXPECT_EQ(implicit, duration::from_s(10));
    EXPECT_EQ(at(5) + duration(1us), at(1005));
}

TEST(duration, odd_chrono_units_round_towards_zero) {
    using pico = std::chrono::duration<std::int64_t, std::pico>;
    EXPECT_EQ(duration(pico(1'999)).ns(), 1);
    EXPECT_EQ(duration(pico(-1'999)).ns(), -1);
    EXPECT_EQ(duration(pico(999)).ns(), 0);
    using frames = std::chrono::duration<std::int64_t, std::ratio<1, 60>>;
    EXPECT_EQ(duration(frames(60)).ns(), 1'000'000'000);
    EXPECT_EQ(duration(frames(1)).ns(), 16'666'666);
    EXPECT_EQ(duration(frames(-1)).ns(), -16'666'666);
    EXPECT_EQ(duration(frames(61)).ns(), 1'016'666'666);
    EXPECT_EQ(duration(frames(60LL * 9'223'372'036)).ns(), 9'223'372'036'000'000'000);
    using ntsc = std::chrono::duration<std::int64_t, std::ratio<1001, 30'000>>;
    EXPECT_EQ(duration(ntsc(30'000)).ns(), 1'001'000'000'000);
    EXPECT_EQ(duration(ntsc(1)).ns(), 33'366'666);
    using thirds = std::chrono::duration<std::int64_t, std::ratio<2, 3>>;
    EXPECT_EQ(duration(thirds(1)).ns(), 666'666'666);
    EXPECT_EQ(duration(thirds(2)).ns(), 1'333'333'333);
}

TEST(duration, long_chrono_durations_saturate) {
    EXPECT_EQ(duration(std::chrono::hours(3'000'000)), max_s);
    EXPECT_EQ(duration(std::chrono::hours(-3'000'000)), min_s);
    EXPECT_EQ(duration(std::chrono::duration<std::int64_t>(INT64_MAX)), max_s);
    EXPECT_EQ(duration(std::chrono::duration<std::int64_t, std::milli>(INT64_MIN)), min_s);
    EXPECT_EQ(duration(std::chrono::duration<std::int64_t, std::ratio<1, 60>>(INT64_MAX)), max_s);
    EXPECT_EQ(duration(std::chrono::duration<std::int64_t, std::ratio<1, 60>>(INT64_MIN)), min_s);
}

// TS-1: conversions saturate too.
TEST(duration, counts_too_large_for_it_are_the_longest_duration) {
    using unsigned_ns = std::chrono::duration<std::uint64_t, std::nano>;
    EXPECT_EQ(duration(unsigned_ns(UINT64_MAX)), duration::max());
    EXPECT_EQ(18446744073709551615_ns, duration::max());
    EXPECT_EQ(18446744073709551615_h, duration::max());
    using thirds = std::chrono::duration<std::int64_t, std::ratio<7, 3'000'000'000>>;
    EXPECT_EQ(duration(thirds(1)).ns(), 2);
    EXPECT_EQ(duration(thirds(3'000'000'000)).ns(), 7'000'000'000);
}
