// SPDX-License-Identifier: Apache-2.0
//
// DT-1: det_rng and det_hasher reproduce every vector, on the host and on the microcontroller.
#include <tactus/base/det_hasher.hpp>
#include <tactus/base/det_rng.hpp>

#include <array>
#include <cstdint>
#include <numeric>
#include <span>

#include "portable_test.hpp"
#include "vectors.hpp"

namespace vectors = tactus_test::vectors;

// DT-1
TEST(det_rng, reproduces_the_streams_of_the_vectors) {
    for (const auto& row : vectors::rng_next) {
        tactus::det_rng rng(row.seed);
        for (const std::uint64_t expected : row.next)
            EXPECT_EQ(rng.next_u64(), expected);
    }
}

// DT-1
TEST(det_rng, bounded_draws_reproduce_the_vectors) {
    for (const auto& row : vectors::rng_below) {
        tactus::det_rng rng(row.seed);
        for (const std::uint64_t expected : row.next)
            EXPECT_EQ(rng.below(row.bound), expected);
    }
}

// DT-1, trap H1: no modulo bias. Draws are counted by a second generator that follows the state.
TEST(det_rng, rejects_draws_of_the_incomplete_group) {
    tactus::det_rng rng(vectors::rejection_seed);
    tactus::det_rng counting(vectors::rejection_seed);
    for (std::size_t i = 0; i < std::size(vectors::rejection_outputs); ++i) {
        EXPECT_EQ(rng.below(vectors::rejection_bound), vectors::rejection_outputs[i]);
        unsigned draws = 0;
        do {
            ++draws;
        } while (counting.next_u64() != rng.state());
        EXPECT_EQ(draws, vectors::rejection_draws[i]);
    }
}

// DT-1
TEST(det_rng, words_bools_bytes_and_shuffles_reproduce_the_vectors) {
    tactus::det_rng words(42);
    for (const std::uint32_t expected : vectors::misc_next_u32)
        EXPECT_EQ(words.next_u32(), expected);
    tactus::det_rng bools(42);
    for (const bool expected : vectors::misc_next_bool)
        EXPECT_EQ(bools.next_bool(), expected);
    std::array<std::uint8_t, std::size(vectors::misc_fill_bytes)> bytes{};
    tactus::det_rng(42).fill(bytes);
    for (std::size_t i = 0; i < bytes.size(); ++i)
        EXPECT_EQ(bytes[i], vectors::misc_fill_bytes[i]);
    std::array<int, std::size(vectors::misc_shuffle)> items{};
    std::iota(items.begin(), items.end(), 0);
    tactus::det_rng(42).shuffle(std::span<int>(items));
    for (std::size_t i = 0; i < items.size(); ++i)
        EXPECT_EQ(items[i], vectors::misc_shuffle[i]);
}

TEST(det_rng, a_bound_of_zero_gives_zero) {
    tactus::det_rng rng(7);
    EXPECT_EQ(rng.below(0), 0u);
}

// DT-1
TEST(det_hasher, reproduces_the_vectors_byte_by_byte) {
    for (const auto& row : vectors::hasher) {
        tactus::det_hasher hasher;
        hasher.add_bytes(std::span(row.bytes, row.count));
        EXPECT_EQ(hasher.finish(), row.hash);
    }
}

template <class... Values>
std::uint64_t hash_of(Values... values) {
    tactus::det_hasher hasher;
    (hasher.add(values), ...);
    return hasher.finish();
}

// DT-1, traps H1 and H2: integers are their little-endian bytes, sizes are 8 bytes, on every
// machine.
TEST(det_hasher, integers_hash_as_their_little_endian_bytes) {
    EXPECT_EQ(hash_of(std::uint8_t{7}), 0xc3305e1df0a49ff8u);
    EXPECT_EQ(hash_of(true), 0x62345d56c575a81fu);
    EXPECT_EQ(hash_of(std::uint16_t{0x0102}), 0xa573bf1ad5ca2d1fu);
    EXPECT_EQ(hash_of(std::uint32_t{0x01020304}), 0xb865e0a7b1226040u);
    EXPECT_EQ(hash_of(std::uint64_t{42}), 0xe836585f8a67caa9u);
    EXPECT_EQ(hash_of(std::int32_t{-1}), 0x4202d647483ce77cu);
    EXPECT_EQ(hash_of(std::uint32_t{5}, std::uint32_t{9}), 0x86e5448193f7a037u);
    tactus::det_hasher size;
    size.add_size(42);
    EXPECT_EQ(size.finish(), 0xe836585f8a67caa9u);
}

TEST(det_hasher, finish_leaves_the_running_hash_alone) {
    tactus::det_hasher hasher;
    hasher.add(std::uint32_t{5});
    (void)hasher.finish();
    hasher.add(std::uint32_t{9});
    EXPECT_EQ(hasher.finish(), 0x86e5448193f7a037u);
}
