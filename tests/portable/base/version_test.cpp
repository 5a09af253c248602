// SPDX-License-Identifier: Apache-2.0
//
// Goal: the version's text says the same as its numbers.
// Method: write the numbers by hand and compare.
#include <tactus/base/version.hpp>

#include <cstddef>
#include <string_view>

#include "portable_test.hpp"

namespace {

std::size_t write(char* out, unsigned number) {
    if (number >= 10) {
        const std::size_t before = write(out, number / 10);
        out[before] = static_cast<char>('0' + number % 10);
        return before + 1;
    }
    out[0] = static_cast<char>('0' + number);
    return 1;
}

}  // namespace

TEST(version, the_text_is_made_of_the_numbers) {
    const auto version = tactus::version();
    char text[40] = {};
    std::size_t at = write(text, version.major);
    text[at++] = '.';
    at += write(text + at, version.minor);
    text[at++] = '.';
    at += write(text + at, version.patch);
    EXPECT_TRUE(std::string_view(text, at) == version.text);
}

TEST(version, is_constant) {
    EXPECT_TRUE(tactus::version().text == tactus::version().text);
}
