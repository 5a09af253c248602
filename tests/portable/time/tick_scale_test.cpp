// SPDX-License-Identifier: Apache-2.0
//
// Goal: instants map to ticks as plain division says, for every resolution and up to the end of
// time (TW-3: now rounds down, deadlines round up).
// Method: compare with / and % at the multiples, beside them, at the ends and at random.
#include <tactus/base/det_rng.hpp>
#include <tactus/time/tick_scale.hpp>

#include <cstdint>

#include "portable_test.hpp"

using tactus::duration;
using tactus::instant;
using tactus::tick_scale;

namespace {

constexpr std::int64_t resolutions[] = {1,
                                        2,
                                        3,
                                        7,
                                        10,
                                        255,
                                        256,
                                        1000,
                                        65'537,
                                        1'000'000,
                                        1'000'003,
                                        16'777'213,
                                        1'000'000'000,
                                        4'294'967'295,
                                        4'294'967'296,
                                        4'294'967'297,
                                        86'400'000'000'000,
                                        (std::int64_t{1} << 62) - 1,
                                        std::int64_t{1} << 62,
                                        (std::int64_t{1} << 62) + 1,
                                        INT64_MAX - 1,
                                        INT64_MAX};

bool agrees(const tick_scale& scale, std::uint64_t resolution, std::uint64_t ns) {
    const std::uint64_t floor = ns / resolution;
    const std::uint64_t ceil = floor + (ns % resolution == 0 ? 0 : 1);
    const bool good =
        scale.floor(instant::from_ns(ns)) == floor && scale.ceil(instant::from_ns(ns)) == ceil;
    if (!good) {
        TEST_LOG("resolution", resolution);
        TEST_LOG("instant", ns);
    }
    return good;
}

}  // namespace

// TW-3
TEST(tick_scale, floor_and_ceil_are_plain_division) {
    for (const std::int64_t signed_resolution : resolutions) {
        const auto resolution = static_cast<std::uint64_t>(signed_resolution);
        const tick_scale scale(duration::from_ns(signed_resolution));
        EXPECT_EQ(scale.resolution().ns(), signed_resolution);
        const std::uint64_t last = UINT64_MAX / resolution * resolution;
        for (std::uint64_t i = 0; i < 5; ++i) {
            EXPECT_TRUE(agrees(scale, resolution, i));
            EXPECT_TRUE(agrees(scale, resolution, UINT64_MAX - i));
            EXPECT_TRUE(agrees(scale, resolution, resolution + i));
            EXPECT_TRUE(agrees(scale, resolution, resolution - 1 - (resolution > i ? i : 0)));
            EXPECT_TRUE(agrees(scale, resolution, last - i));
            EXPECT_TRUE(agrees(scale, resolution, (std::uint64_t{1} << 63) - 2 + i));
            EXPECT_TRUE(agrees(scale, resolution, (std::uint64_t{1} << 32) - 2 + i));
        }
    }
}

// TW-3
TEST(tick_scale, random_instants_are_divided_exactly) {
    tactus::det_rng rng(20'26);
    constexpr unsigned rounds = tactus_test::board::random_operations / 100;
    for (unsigned i = 0; i < rounds; ++i) {
        const auto resolution =
            static_cast<std::int64_t>((rng.next_u64() >> (1 + rng.below(63))) | 1);
        const tick_scale scale(duration::from_ns(resolution));
        const auto d = static_cast<std::uint64_t>(resolution);
        for (unsigned j = 0; j < 8; ++j) {
            const std::uint64_t ns = rng.next_u64() >> rng.below(64);
            EXPECT_TRUE(agrees(scale, d, ns));
            const std::uint64_t multiple = ns / d * d;
            EXPECT_TRUE(agrees(scale, d, multiple));
            if (multiple > 0) {
                EXPECT_TRUE(agrees(scale, d, multiple - 1));
            }
        }
    }
}

TEST(tick_scale, begin_of_is_the_product_and_stops_at_the_end_of_time) {
    const tick_scale ms(duration::from_ms(1));
    EXPECT_EQ(ms.begin_of(0), instant::epoch());
    EXPECT_EQ(ms.begin_of(7).ns(), 7'000'000u);
    const std::uint64_t last = UINT64_MAX / 1'000'000;
    EXPECT_EQ(ms.begin_of(last).ns(), last * 1'000'000);
    EXPECT_EQ(ms.begin_of(last + 1), instant::never());
    EXPECT_EQ(ms.begin_of(UINT64_MAX), instant::never());
    const tick_scale one(duration::from_ns(1));
    EXPECT_EQ(one.begin_of(UINT64_MAX), instant::never());
    EXPECT_EQ(one.begin_of(UINT64_MAX - 1).ns(), UINT64_MAX - 1);
    const tick_scale longest(duration::max());
    EXPECT_EQ(longest.begin_of(2).ns(), 2 * static_cast<std::uint64_t>(INT64_MAX));
    EXPECT_EQ(longest.begin_of(3), instant::never());
}

TEST(tick_scale, begin_floor_and_ceil_fit_together) {
    for (const std::int64_t resolution : resolutions) {
        const tick_scale scale(duration::from_ns(resolution));
        for (const std::uint64_t n : {0u, 1u, 2u}) {
            const instant begin = scale.begin_of(n);
            EXPECT_EQ(scale.floor(begin), n);
            EXPECT_EQ(scale.ceil(begin), n);
            EXPECT_EQ(scale.ceil(begin + duration::from_ns(1)), n + 1);
        }
    }
}

TEST(tick_scale, ticks_in_counts_whole_ticks_and_nothing_negative) {
    const tick_scale ms(duration::from_ms(1));
    EXPECT_EQ(ms.ticks_in(duration::zero()), 0u);
    EXPECT_EQ(ms.ticks_in(duration::from_ns(999'999)), 0u);
    EXPECT_EQ(ms.ticks_in(duration::from_ns(1'000'000)), 1u);
    EXPECT_EQ(ms.ticks_in(duration::from_ns(1'999'999)), 1u);
    EXPECT_EQ(ms.ticks_in(duration::from_ns(-1)), 0u);
    EXPECT_EQ(ms.ticks_in(duration::min()), 0u);
    EXPECT_EQ(ms.ticks_in(duration::max()), static_cast<std::uint64_t>(INT64_MAX) / 1'000'000);
}

TEST(tick_scale, works_in_constant_expressions) {
    static_assert(tick_scale(duration::from_ns(7)).floor(instant::from_ns(20)) == 2);
    static_assert(tick_scale(duration::from_ns(7)).ceil(instant::from_ns(20)) == 3);
    static_assert(tick_scale(duration::from_ns(7)).ceil(instant::from_ns(21)) == 3);
}
