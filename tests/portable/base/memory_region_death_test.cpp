// SPDX-License-Identifier: Apache-2.0
//
// Goal: memory that is given must be aligned; a device would fault on the first access.
#include <tactus/base/memory_region.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <span>

TEST(memory_region_death, check_1_fixed_memory_is_aligned) {
    alignas(16) std::array<std::byte, 64> bytes{};
    const tactus::fixed_memory fine(bytes);
    EXPECT_EQ(fine.size(), 64u);
    EXPECT_DEATH((void)tactus::fixed_memory(std::span(bytes).subspan(1)), "fixed_memory:1");
}
