// SPDX-License-Identifier: Apache-2.0
//
// A tick that is no whole number of core cycles is refused by name.
#include <tactus/time/systick_clock.hpp>

#include "portable_test.hpp"

TEST(ending, asks_for_part_of_a_cycle) {
    const tactus::systick_clock clock(
        {.core_clock_hz = 16'000'000, .resolution = tactus::duration::from_ns(100)});
    EXPECT_EQ(clock.now().ns(), 0u);
}
