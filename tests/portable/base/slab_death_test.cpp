// SPDX-License-Identifier: Apache-2.0
//
// Goal: the numbered checks of the slab end the program and name themselves. Host only.
// Method: break each precondition in a child process.
#include <tactus/base/slab.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

#include "portable_test.hpp"

namespace {

struct cell {
    std::uint32_t generation;
    std::uint32_t next;
};
using slab = tactus::slab<cell, std::uint8_t>;

alignas(16) std::array<std::byte, 300 * sizeof(cell)> bytes;
tactus::fixed_memory memory{bytes};

}  // namespace

TEST(slab_death, check_1_a_capacity_is_required) {
    EXPECT_DEATH(slab({.memory = &memory, .capacity = 0}), "slab:1");
}

TEST(slab_death, check_2_a_capacity_must_fit_the_index) {
    EXPECT_DEATH(slab({.memory = &memory, .capacity = slab::capacity_limit + 1}), "slab:2");
}

TEST(slab_death, check_3_the_region_must_hold_the_capacity) {
    tactus::fixed_memory small(std::span<std::byte>(bytes).first(10 * sizeof(cell) - 1));
    EXPECT_DEATH(slab({.memory = &small, .capacity = 10}), "slab:3");
}

TEST(slab_death, check_4_and_5_generations_are_even) {
    EXPECT_DEATH(slab({.memory = &memory, .capacity = 1, .first_generation = 3}), "slab:4");
    EXPECT_DEATH(slab({.memory = &memory, .capacity = 1, .generation_count = 5}), "slab:5");
}

#ifndef NDEBUG
TEST(slab_death, check_6_a_cell_is_released_once) {
    slab cells({.memory = &memory, .capacity = 2});
    const auto index = cells.acquire();
    cells.release(index);
    EXPECT_DEATH(cells.release(index), "slab:6");
}
#endif

TEST(slab_death, check_7_memory_is_released_only_when_no_cell_is_in_use) {
    slab cells({.memory = &memory, .capacity = 2});
    const auto index = cells.acquire();
    EXPECT_DEATH(cells.release_memory(0), "slab:7");
    cells.release(index);
    cells.release_memory(0);
}
