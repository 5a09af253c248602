// SPDX-License-Identifier: Apache-2.0
//
// Goal: drift is the time from when a tick was due to when it was processed; beyond its budget it
// is warned of, once a second at most (SC-33).
#include <tactus/scheduler/drift_watch.hpp>

#include "portable_test.hpp"

using tactus::clock_kind;
using tactus::drift_watch;
using tactus::duration;
using tactus::instant;

namespace {

constexpr instant at(std::int64_t us) {
    return instant::epoch() + duration::from_us(us);
}

}  // namespace

// SC-33: 5 % of the resolution, or three times the jitter; nothing where time is exact.
TEST(drift_watch, SC_33_the_budget_is_the_larger_of_two) {
    constexpr auto budget = [](clock_kind kind, duration resolution, duration jitter) {
        return drift_watch::budget_of({.clock = kind, .resolution = resolution, .jitter = jitter});
    };
    constexpr clock_kind host = clock_kind::realtime_host;
    EXPECT_EQ(budget(host, duration::from_ms(5), {}), duration::from_us(250));
    EXPECT_EQ(budget(host, duration::from_ms(5), duration::from_us(83)), duration::from_us(250));
    EXPECT_EQ(budget(host, duration::from_ms(5), duration::from_us(84)), duration::from_us(252));
    EXPECT_EQ(budget(clock_kind::realtime_hardware, duration::from_ms(1), {}),
              duration::from_us(50));
    EXPECT_EQ(budget(clock_kind::deterministic, duration::from_ms(5), duration::from_us(84)),
              duration());
}

// DF-80: the share can be set, and stays when the driver is measured again.
TEST(drift_watch, DF_80_the_share_of_the_resolution_can_be_set) {
    drift_watch w({.resolution = duration::from_ms(5)}, 20);
    EXPECT_EQ(w.budget(), duration::from_us(1'000));
    w.set_budget({.resolution = duration::from_ms(1), .jitter = duration::from_us(50)});
    EXPECT_EQ(w.budget(), duration::from_us(200));
    w.set_budget({.resolution = duration::from_ms(1), .jitter = duration::from_us(100)});
    EXPECT_EQ(w.budget(), duration::from_us(300));
    // Of none only the jitter is left.
    EXPECT_EQ(drift_watch({.jitter = duration::from_us(7)}, 0).budget(), duration::from_us(21));
    EXPECT_EQ(drift_watch({.resolution = duration::from_ns(60)}).budget(), duration::from_ns(3));
    EXPECT_EQ(drift_watch({.clock = clock_kind::deterministic}, 100).budget(), duration());
}

// TC-S46: resolution 5 ms, 5 %; due at tick 1, processed at tick 2.
TEST(drift_watch, TC_S46_a_tick_late_is_beyond_the_budget) {
    drift_watch w({.resolution = duration::from_ms(5)});
    EXPECT_TRUE(w.note(at(5'000), at(10'000)));
    EXPECT_EQ(w.counted().exceeded, 1u);
    EXPECT_EQ(w.counted().largest, duration::from_ms(5));
}

// SC-33: the boundary, and what came early.
TEST(drift_watch, SC_33_exactly_the_budget_is_within_it) {
    drift_watch w({.resolution = duration::from_ms(5)});
    EXPECT_FALSE(w.note(at(5'000), at(5'250)));
    EXPECT_FALSE(w.note(at(10'000), at(9'000)));
    EXPECT_FALSE(w.note(at(10'000), at(10'000)));
    EXPECT_EQ(w.counted().exceeded, 0u);
    EXPECT_EQ(w.counted().noted, 3u);
    EXPECT_EQ(w.counted().largest, duration::from_us(250));
    EXPECT_TRUE(w.note(at(15'000), at(15'251)));
    EXPECT_EQ(w.counted().latest, duration::from_us(251));
}

// SC-33: one warning per second of elapsed time; all are counted.
TEST(drift_watch, SC_33_warns_once_a_second) {
    drift_watch w({.resolution = duration::from_ms(1)});
    EXPECT_TRUE(w.note(at(0), at(1'000)));
    EXPECT_FALSE(w.note(at(1'000), at(900'000)));
    EXPECT_FALSE(w.note(at(2'000), at(1'000'999)));
    EXPECT_TRUE(w.note(at(3'000), at(1'001'000)));
    EXPECT_EQ(w.counted().exceeded, 4u);
    EXPECT_EQ(w.counted().warned, 2u);
    EXPECT_EQ(w.counted().largest, duration::from_us(998'999));
}

// SC-33
TEST(drift_watch, SC_33_a_deterministic_clock_has_no_excuse) {
    drift_watch w({.clock = clock_kind::deterministic, .resolution = duration::from_ms(5)});
    EXPECT_FALSE(w.note(at(5'000), at(5'000)));
    EXPECT_TRUE(w.note(at(5'000), at(5'000) + duration::from_ns(1)));
    w.set_budget({.resolution = duration::from_ms(5)});
    EXPECT_EQ(w.budget(), duration::from_us(250));
}
