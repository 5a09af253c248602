// SPDX-License-Identifier: Apache-2.0
//
// Goal: texts built without a heap, and what is left out of them (EV-4).
#include <tactus/dispatch/text_buffer.hpp>

#include "portable_test.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used

// EV-4
TEST(text_buffer, EV_4_pieces_and_numbers) {
    text_buffer<64> text;
    EXPECT_TRUE(text.view().empty());
    text.add("a").add(0).add(" ").add(-12).add(" ").add(18'446'744'073'709'551'615U);
    EXPECT_TRUE(text.view() == "a0 -12 18446744073709551615");
    EXPECT_FALSE(text.is_cut());
    text.clear();
    text.add(300_s).add(", ").add(1'500_ms).add(", ").add(2_us).add(", ").add(-1_ns);
    EXPECT_TRUE(text.view() == "5 min, 1500 ms, 2 us, -1 ns");
    text.clear();
    text.add(7_s).add(", ").add(duration::zero());
    EXPECT_TRUE(text.view() == "7 s, 0 ns");
    text.clear();
    text.add(duration::min());
    EXPECT_TRUE(text.view() == "-9223372036854775808 ns");
}

// EV-4: the end is left out, and said so; a character is not divided.
TEST(text_buffer, EV_4_what_does_not_fit_is_left_out) {
    text_buffer<8> text;
    text.add("12345678");
    EXPECT_FALSE(text.is_cut());
    text.add("").add("9").add("0");
    EXPECT_TRUE(text.view() == "12345...");
    EXPECT_TRUE(text.is_cut());
    text.clear();
    text.add("ok");
    EXPECT_TRUE(text.view() == "ok" && !text.is_cut());
    text.clear();
    text.add(
        "1234\xc3\xa4"
        "67890");   // the fifth and the sixth byte are one character
    text.add("x");  // would fit, and is not what follows
    EXPECT_TRUE(text.view() == "1234...");
    text.clear();
    text.add(
        "123\xc3\xa4"
        "67890");
    EXPECT_TRUE(text.view() == "123\xc3\xa4...");
}

// EV-4: over memory of the caller of every size, also where the mark does not fit.
TEST(text_buffer, EV_4_memory_of_the_caller_may_be_of_any_size) {
    char room[8] = {'#', '#', '#', '#', '#', '#', '#', '#'};
    constexpr std::string_view wanted[] = {"", ".", "..", "...", "a...", "ab...", "abc..."};
    for (std::size_t size = 0; size <= 6; ++size) {
        text_in text(std::span(room, size));
        text.add("abcdefg");
        EXPECT_TRUE(text.view() == wanted[size]);
        EXPECT_TRUE(text.is_cut());
        EXPECT_EQ(room[size], '#');
    }
    text_in text(std::span(room, 7));
    EXPECT_TRUE(text.add("abcdefg").view() == "abcdefg" && !text.is_cut());
}
