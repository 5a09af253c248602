// SPDX-License-Identifier: Apache-2.0
//
// A clock without a resolution is refused by name.
#include <tactus/time/systick_clock.hpp>

#include "portable_test.hpp"

TEST(ending, asks_for_a_zero_resolution) {
    const tactus::systick_clock clock({.core_clock_hz = 16'000'000, .resolution = {}});
    EXPECT_EQ(clock.now().ns(), 0u);
}
