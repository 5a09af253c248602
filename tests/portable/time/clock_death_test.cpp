// SPDX-License-Identifier: Apache-2.0
//
// Goal: the numbered checks of the manual clock and the tick source end the program and name
// themselves. Host only.
// Method: break each documented precondition in a child process.
#include <tactus/time/manual_clock.hpp>
#include <tactus/time/tick_source.hpp>

#include <memory>

#include "portable_test.hpp"

using tactus::duration;
using tactus::manual_clock;
using tactus::tick_chunks;
using tactus::tick_source;

TEST(manual_clock_death, check_1_a_resolution_must_be_positive) {
    EXPECT_DEATH((void)manual_clock{duration::zero()}, "manual_clock:1");
    EXPECT_DEATH((void)manual_clock{duration::from_ns(-1)}, "manual_clock:1");
    EXPECT_DEATH((void)manual_clock{duration::min()}, "manual_clock:1");
}

TEST(tick_source_death, check_1_a_window_has_at_least_one_tick) {
    tick_source::options o;
    o.catch_up_window = 0;
    EXPECT_DEATH(tick_source{o}, "tick_source:1");
}

TEST(tick_source_death, check_2_there_is_one_lease_at_a_time) {
    tick_source source;
    auto lease = source.acquire();
    EXPECT_DEATH((void)source.acquire(), "tick_source:2");
    auto moved = std::move(lease);
    EXPECT_DEATH((void)source.acquire(), "tick_source:2");
}

TEST(tick_source_death, check_3_the_lease_ends_before_the_source) {
    const auto outlive = [] {
        auto source = std::make_unique<tick_source>();
        const auto lease = source->acquire();
        source.reset();
    };
    EXPECT_DEATH(outlive(), "tick_source:3");
}

TEST(tick_chunks_death, check_1_a_chunk_has_at_least_one_tick) {
    EXPECT_DEATH(tick_chunks(5, 0), "tick_chunks:1");
}
