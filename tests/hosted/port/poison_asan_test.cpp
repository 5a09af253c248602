// SPDX-License-Identifier: Apache-2.0
//
// UP-6, the port's part under AddressSanitizer: poisoned memory is reported, unpoisoned is not.
#include <tactus/port/port.hpp>

#include <gtest/gtest.h>
#include <sanitizer/asan_interface.h>

#include <cstddef>

namespace port = tactus::port;

// UP-6
TEST(poison_asan, UP_6_what_is_poisoned_is_reported_when_touched) {
    alignas(16) static std::byte bytes[32];
    EXPECT_TRUE(port::poisoning());
    port::poison(bytes + 8, 16);
    EXPECT_FALSE(__asan_address_is_poisoned(bytes + 7));
    EXPECT_TRUE(__asan_address_is_poisoned(bytes + 8));
    EXPECT_TRUE(__asan_address_is_poisoned(bytes + 23));
    EXPECT_FALSE(__asan_address_is_poisoned(bytes + 24));
    // Not looked through by the compiler, which trusts what it knows to be inside an array.
    std::byte* volatile touched = bytes + 8;
    EXPECT_DEATH(*touched = std::byte{1}, "use-after-poison");
    port::unpoison(bytes + 8, 16);
    EXPECT_EQ(__asan_region_is_poisoned(bytes, sizeof bytes), nullptr);
    *touched = std::byte{1};
}
