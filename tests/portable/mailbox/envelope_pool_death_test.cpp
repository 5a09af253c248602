// SPDX-License-Identifier: Apache-2.0
//
// Goal: a reserve used up, and memory that cannot hold what is asked, end the program and name
// themselves. Host only.
#include <tactus/mailbox/envelope_pool.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <span>

#include "mailbox_memory.hpp"

using tactus::envelope;
using tactus::envelope_cache;
using tactus::envelope_pool;

namespace {

alignas(64) std::array<std::byte, 8 * sizeof(envelope)> bytes;

}  // namespace

// SQ-5: with a pool of 1, users in it or not.
TEST(envelope_pool_death, SQ_5_check_1_a_reserve_that_is_gone_is_fatal) {
    tactus::fixed_memory memory(bytes);
    envelope_pool pool(
        {.memory = &memory, .capacity = 1, .reserve_for_system = 1, .magazine_size = 1});
    envelope& last = pool.take_for_system();
    EXPECT_DEATH((void)pool.take_for_system(), "envelope_pool:1");
    envelope_cache cache(pool);
    EXPECT_NE(cache.take(), nullptr);  // free ones of the users do not help, nor do they lack
    EXPECT_DEATH((void)pool.take_for_system(), "envelope_pool:1");
    pool.give_for_system(last);
    EXPECT_EQ(&pool.take_for_system(), &last);
}

TEST(envelope_pool_death, check_2_the_reserve_is_there_from_the_start) {
    tactus_test::stepped_memory memory(bytes, 2 * sizeof(envelope));
    EXPECT_DEATH(
        envelope_pool(
            {.memory = &memory, .capacity = 1, .reserve_for_system = 3, .magazine_size = 1}),
        "envelope_pool:2");
}

TEST(envelope_pool_death, depot_check_1_the_region_can_hold_the_capacity) {
    tactus::fixed_memory memory(bytes);
    EXPECT_DEATH(envelope_pool({.memory = &memory, .capacity = 7, .reserve_for_system = 2}),
                 "depot:1");
}

TEST(envelope_pool_death, depot_check_2_the_region_is_aligned_for_the_nodes) {
    tactus::fixed_memory memory(std::span<std::byte>(bytes).subspan(16));
    EXPECT_DEATH(envelope_pool({.memory = &memory, .capacity = 1, .reserve_for_system = 1}),
                 "depot:2");
}
