// SPDX-License-Identifier: Apache-2.0
//
// A tick that the counter cannot hold is refused by name.
#include <tactus/time/systick_clock.hpp>

#include "portable_test.hpp"

TEST(ending, asks_for_ten_seconds) {
    const tactus::systick_clock clock(
        {.core_clock_hz = 16'000'000, .resolution = tactus::duration::from_s(10)});
    EXPECT_EQ(clock.now().ns(), 0u);
}
