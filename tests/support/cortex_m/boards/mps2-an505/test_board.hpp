// SPDX-License-Identifier: Apache-2.0
//
// What the tests may use on the MPS2+: RAM by the megabyte, time by the emulator.
#pragma once

namespace tactus_test {

/// What this machine has room and time for (PT-9): the tests scale with it.
struct board {
    static constexpr unsigned timers_max = 2'000;          // in one wheel of a test
    static constexpr unsigned random_operations = 20'000;  // per differential run (TW-14)
    static constexpr bool roomy = true;                    // megabytes instead of kilobytes
};

}  // namespace tactus_test
