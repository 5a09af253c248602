// SPDX-License-Identifier: Apache-2.0
//
// There is one SysTick: a second clock over it is refused by name.
#include <tactus/time/systick_clock.hpp>

#include "portable_test.hpp"

TEST(ending, builds_two_clocks) {
    const tactus::systick_clock first({.core_clock_hz = 16'000'000});
    const tactus::systick_clock second({.core_clock_hz = 16'000'000});
    EXPECT_EQ(first.now(), second.now());
}
