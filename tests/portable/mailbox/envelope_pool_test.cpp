// SPDX-License-Identifier: Apache-2.0
//
// Envelope pool: users get the capacity and never the reserve (SQ-5); what is given back is found
// again; payloads end once (MB-9, MB-11 as far as the pool goes).
#include <tactus/mailbox/envelope_pool.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "mailbox_memory.hpp"
#include "portable_test.hpp"

using tactus::envelope;
using tactus::envelope_cache;
using tactus::envelope_pool;
using tactus_test::counted;
using tactus_test::lives;

namespace {

constexpr std::size_t room = 32;
alignas(64) std::array<std::byte, room * sizeof(envelope)> bytes;

}  // namespace

// SQ-5, with a pool of 1.
TEST(envelope_pool, SQ_5_a_pool_of_one_keeps_its_reserve_from_users) {
    tactus::fixed_memory memory(bytes);
    envelope_pool pool(
        {.memory = &memory, .capacity = 1, .reserve_for_system = 1, .magazine_size = 1});
    EXPECT_EQ(pool.reserve_count(), 1u);
    envelope_cache cache(pool);
    EXPECT_TRUE(cache.pool() == &pool);
    for (int round = 0; round < 3; ++round) {
        envelope* user = cache.take();
        ASSERT_TRUE(user != nullptr);
        EXPECT_TRUE(cache.take() == nullptr);
        EXPECT_EQ(pool.reserve_count(), 1u);

        envelope& system = pool.take_for_system();
        EXPECT_TRUE(&system != user);
        EXPECT_EQ(pool.reserve_count(), 0u);
        EXPECT_TRUE(cache.take() == nullptr);
        pool.give_for_system(system);
        EXPECT_EQ(pool.reserve_count(), 1u);
        EXPECT_TRUE(cache.take() == nullptr);  // given back, it is still not the users'

        EXPECT_TRUE(user->emplace<int>(round, nullptr));
        cache.dispose(*user);
    }
}

// SQ-5: with a cache too, and after flushing.
TEST(envelope_pool, SQ_5_the_default_reserve_is_ten_and_comes_back_through_a_cache) {
    tactus::fixed_memory memory(bytes);
    envelope_pool pool({.memory = &memory, .capacity = 5, .magazine_size = 4});
    EXPECT_EQ(pool.reserve_count(), 10u);
    envelope_cache cache(pool);
    std::array<envelope*, 10> reserved{};
    for (envelope*& e : reserved)
        e = &pool.take_for_system();
    EXPECT_EQ(pool.reserve_count(), 0u);
    for (std::size_t i = 0; i < reserved.size(); ++i) {
        EXPECT_NE(reserved[i]->flags() & envelope::from_reserve, 0u);
        if (i % 2 == 0) {
            cache.give(*reserved[i]);
        } else {
            // What is put in says again where the envelope belongs.
            EXPECT_TRUE(reserved[i]->emplace<int>(1, nullptr, envelope::from_reserve));
            cache.dispose(*reserved[i]);
        }
    }
    EXPECT_EQ(pool.reserve_count(), 10u);
    cache.flush();
    std::uint32_t users = 0;
    while (envelope* e = cache.take()) {
        ++users;
        for (const envelope* r : reserved)
            EXPECT_TRUE(e != r);
    }
    EXPECT_EQ(users, 5u);
}

TEST(envelope_pool, without_a_reserve_all_of_it_is_for_users) {
    tactus::fixed_memory memory(bytes);
    envelope_pool pool(
        {.memory = &memory, .capacity = 3, .reserve_for_system = 0, .magazine_size = 2});
    EXPECT_EQ(pool.reserve_count(), 0u);
    envelope_cache cache(pool);
    for (int i = 0; i < 3; ++i)
        EXPECT_TRUE(cache.take() != nullptr);
    EXPECT_TRUE(cache.take() == nullptr);
}

// MB-11: used up is a nullptr, and passes.
TEST(envelope_pool, MB_11_a_pool_that_was_used_up_recovers_after_give) {
    tactus::fixed_memory memory(bytes);
    envelope_pool pool(
        {.memory = &memory, .capacity = 8, .reserve_for_system = 2, .magazine_size = 4});
    envelope_cache first(pool);
    envelope_cache second(pool);
    std::array<envelope*, 8> taken{};
    for (envelope*& e : taken) {
        e = first.take();
        ASSERT_TRUE(e != nullptr);
    }
    EXPECT_TRUE(first.take() == nullptr);
    EXPECT_TRUE(second.take() == nullptr);
    first.give(*taken[0]);
    EXPECT_TRUE(first.take() == taken[0]);
    first.give(*taken[0]);
    EXPECT_TRUE(second.take() == nullptr);  // it is in the other cache
    first.flush();
    EXPECT_TRUE(second.take() == taken[0]);
    // Given by another cache than it was taken with.
    for (envelope* e : taken)
        second.give(*e);
    second.flush();
    for (int i = 0; i < 8; ++i)
        EXPECT_TRUE(first.take() != nullptr);
    EXPECT_TRUE(first.take() == nullptr);
}

TEST(envelope_pool, disposing_ends_the_payload_once_and_frees_its_block) {
    tactus::fixed_memory memory(bytes);
    tactus_test::one_block_source source;
    envelope_pool pool({.memory = &memory,
                        .capacity = 2,
                        .reserve_for_system = 0,
                        .magazine_size = 1,
                        .large_payloads = &source});
    EXPECT_TRUE(pool.large_payloads() == &source);
    envelope_cache cache(pool);
    lives::reset();
    for (int round = 0; round < 3; ++round) {
        envelope* small = cache.take();
        envelope* large = cache.take();
        ASSERT_TRUE(small != nullptr && large != nullptr);
        EXPECT_TRUE(small->emplace<counted<8>>(counted<8>(1), pool.large_payloads()));
        EXPECT_TRUE(large->emplace<counted<99>>(counted<99>(2), pool.large_payloads()));
        EXPECT_EQ(large->get_if<counted<99>>()->mark(), 2);
        cache.dispose(*large);
        EXPECT_FALSE(source.in_use);
        EXPECT_EQ(small->get_if<counted<8>>()->mark(), 1);
        cache.dispose(*small);
    }
    EXPECT_EQ(lives::begun, 12u);
    EXPECT_EQ(lives::ended, 12u);
    EXPECT_EQ(source.released, 3u);
    EXPECT_TRUE(source.good);
}

// A message that found no memory leaves an envelope that is simply given back.
TEST(envelope_pool, an_envelope_that_stayed_empty_is_given_back) {
    tactus::fixed_memory memory(bytes);
    envelope_pool pool(
        {.memory = &memory, .capacity = 1, .reserve_for_system = 1, .magazine_size = 1});
    envelope_cache cache(pool);
    for (int round = 0; round < 3; ++round) {
        envelope* e = cache.take();
        ASSERT_TRUE(e != nullptr);
        EXPECT_FALSE(e->emplace<counted<64>>(counted<64>(1), pool.large_payloads()));
        cache.give(*e);
        EXPECT_EQ(pool.reserve_count(), 1u);
    }
}
