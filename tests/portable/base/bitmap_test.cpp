// SPDX-License-Identifier: Apache-2.0
//
// Goal: the bitmap finds what a plain array of flags finds.
// Method: a naive model beside it, all positions at the word boundaries, random sets.
#include <tactus/base/bitmap.hpp>
#include <tactus/base/det_rng.hpp>

#include <array>
#include <cstddef>

#include "portable_test.hpp"

namespace {

template <std::size_t N>
struct model {
    std::array<bool, N> bits{};

    std::size_t first_from(std::size_t from) const {
        while (from < N && !bits[from])
            ++from;
        return from < N ? from : N;
    }
    std::size_t count() const {
        std::size_t sum = 0;
        for (const bool bit : bits)
            sum += bit ? 1 : 0;
        return sum;
    }
};

template <std::size_t N>
bool agree(const tactus::bitmap<N>& map, const model<N>& naive) {
    bool good = map.count() == naive.count() && map.empty() == (naive.count() == 0);
    for (std::size_t i = 0; i < N; ++i)
        good = good && map.test(i) == naive.bits[i];
    for (std::size_t i = 0; i <= N; ++i)
        good = good && map.first_from(i) == naive.first_from(i);
    return good;
}

template <std::size_t N>
void random_changes(std::uint64_t seed, unsigned changes, unsigned density) {
    tactus::bitmap<N> map;
    model<N> naive;
    tactus::det_rng rng(seed);
    for (unsigned i = 0; i < changes; ++i) {
        const auto bit = static_cast<std::size_t>(rng.below(N));
        if (rng.below(10) < density) {
            map.set(bit);
            naive.bits[bit] = true;
        } else {
            map.clear(bit);
            naive.bits[bit] = false;
        }
        if (i % 16 == 0) {
            EXPECT_TRUE(agree(map, naive));
        }
    }
    EXPECT_TRUE(agree(map, naive));
}

}  // namespace

TEST(bitmap, starts_empty) {
    const tactus::bitmap<256> map;
    EXPECT_TRUE(map.empty());
    EXPECT_EQ(map.count(), 0u);
    EXPECT_EQ(map.first_from(0), map.none);
    EXPECT_EQ(map.first_from(255), map.none);
    EXPECT_EQ(map.first_from(256), map.none);
    EXPECT_EQ(map.first_from(10'000), map.none);
}

TEST(bitmap, every_single_bit_is_found_from_everywhere) {
    for (std::size_t bit = 0; bit < 256; ++bit) {
        tactus::bitmap<256> map;
        map.set(bit);
        EXPECT_TRUE(map.test(bit));
        EXPECT_FALSE(map.empty());
        EXPECT_EQ(map.count(), 1u);
        EXPECT_EQ(map.first_from(0), bit);
        EXPECT_EQ(map.first_from(bit), bit);
        EXPECT_EQ(map.first_from(bit + 1), map.none);
        map.clear(bit);
        EXPECT_TRUE(map.empty());
    }
}

TEST(bitmap, setting_and_clearing_twice_is_as_once) {
    tactus::bitmap<64> map;
    map.set(63);
    map.set(63);
    EXPECT_EQ(map.count(), 1u);
    map.clear(63);
    map.clear(63);
    map.clear(0);
    EXPECT_TRUE(map.empty());
}

// Part 4: cursor 10 with slots 12 and 15 finds 12; nothing behind the last.
TEST(bitmap, searches_from_a_cursor) {
    tactus::bitmap<256> map;
    map.set(12);
    map.set(15);
    EXPECT_EQ(map.first_from(10), 12u);
    EXPECT_EQ(map.first_from(13), 15u);
    EXPECT_EQ(map.first_from(16), map.none);
}

TEST(bitmap, agrees_with_a_naive_model) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        random_changes<64>(seed, 200, 5);
        random_changes<128>(seed, 300, 2);
        random_changes<256>(seed, 400, 7);
    }
}

TEST(bitmap, works_in_constant_expressions) {
    static_assert([] {
        tactus::bitmap<128> map;
        map.set(70);
        return map.first_from(3) == 70 && map.count() == 1;
    }());
}
