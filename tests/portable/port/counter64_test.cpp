// SPDX-License-Identifier: Apache-2.0
//
// PT-9, TS-5: what one side counts in a word that wraps, the other unfolds into 64 bits. The word
// is 32 bits on Cortex-M and 64 on the host; every test starts near its maximum.
#include <tactus/port/port.hpp>

#include <cstdint>
#include <limits>

#include "portable_test.hpp"

namespace port = tactus::port;
using word = port::event_count::word;

namespace {

constexpr std::uint64_t word_max = std::numeric_limits<word>::max();

}  // namespace

// PT-9
TEST(counter64, starts_at_zero_and_folds_what_was_added) {
    port::counter64 counter;
    EXPECT_EQ(counter.value(), 0u);
    EXPECT_EQ(counter.fold(7), 7u);
    EXPECT_EQ(counter.value(), 7u);
    EXPECT_EQ(counter.fold(7), 0u);
    EXPECT_EQ(counter.value(), 7u);
}

// PT-9, TS-5
TEST(counter64, goes_on_when_the_word_wraps) {
    constexpr std::uint64_t start = word_max - 4;
    port::counter64 counter(start);
    EXPECT_EQ(counter.fold(static_cast<word>(start + 4)), 4u);
    EXPECT_EQ(counter.value(), word_max);
    EXPECT_EQ(counter.fold(static_cast<word>(start + 5)), 1u);
    EXPECT_EQ(counter.value(), word_max + 1);
    EXPECT_EQ(counter.fold(static_cast<word>(start + 20)), 15u);
    EXPECT_EQ(counter.value(), start + 20);
}

// PT-9: once per wrap is often enough, the longest step included.
TEST(counter64, folds_the_longest_step) {
    port::counter64 counter(word_max - 1);
    EXPECT_EQ(counter.fold(static_cast<word>(word_max - 2)), word_max);
    EXPECT_EQ(counter.value(), word_max - 1 + word_max);
}

// TS-5: many wraps of the word, in steps that do not divide it.
TEST(counter64, counts_through_many_wraps) {
    port::event_count events(static_cast<word>(word_max - 9));
    port::counter64 counter(word_max - 9);
    constexpr word step = std::numeric_limits<word>::max() / 3 * 2 + 12'345;
    std::uint64_t expected = word_max - 9;
    for (int i = 0; i < 100; ++i) {
        events.add(step);
        expected += step;
        ASSERT_EQ(counter.fold(events.read()), step);
        ASSERT_EQ(counter.value(), expected);
    }
}

// TS-4, TS-5: the counting side alone.
TEST(event_count, adds_and_wraps) {
    port::event_count events;
    EXPECT_EQ(events.read(), 0u);
    events.add(3);
    events.add(4);
    EXPECT_EQ(events.read(), 7u);
    port::event_count last(std::numeric_limits<word>::max());
    last.add(2);
    EXPECT_EQ(last.read(), 1u);
}
