// SPDX-License-Identifier: Apache-2.0
//
// Test framework for tests that also run on bare metal, host side: GoogleTest.
//
// Portable tests use only what the bare-metal twin of this file offers too: TEST(suite, name),
// EXPECT_ and ASSERT_ with TRUE, FALSE, EQ, NE, LT, LE, GT, GE, and no streamed messages.
// TEST_LOG(text, number) prints a line on both.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>

/// Says something about a failure or a run, such as the seed.
#define TEST_LOG(text, number) \
    std::printf("%s %llu\n", text, static_cast<unsigned long long>(number))

namespace tactus_test {

/// What this machine has room and time for (PT-9): the tests scale with it.
struct board {
    static constexpr unsigned timers_max = 20'000;          // in one wheel of a test
    static constexpr unsigned random_operations = 100'000;  // per differential run (TW-14)
    static constexpr bool roomy = true;                     // megabytes instead of kilobytes
};

}  // namespace tactus_test
