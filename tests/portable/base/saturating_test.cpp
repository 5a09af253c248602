// SPDX-License-Identifier: Apache-2.0
//
// Goal: results that do not fit stop at the nearest limit (TS-1).
// Method: every pair of 8-bit values against wider arithmetic, then the ends of 64 bits.
#include <tactus/base/saturating.hpp>

#include <cstdint>
#include <limits>

#include "portable_test.hpp"

using tactus::saturating_add;
using tactus::saturating_mul;
using tactus::saturating_sub;

namespace {

template <class T>
T cut(int exact) {
    if (exact < std::numeric_limits<T>::min())
        return std::numeric_limits<T>::min();
    if (exact > std::numeric_limits<T>::max())
        return std::numeric_limits<T>::max();
    return static_cast<T>(exact);
}

template <class T>
bool all_pairs_agree() {
    constexpr int low = std::numeric_limits<T>::min();
    constexpr int high = std::numeric_limits<T>::max();
    bool good = true;
    for (int a = low; a <= high; ++a) {
        for (int b = low; b <= high; ++b) {
            const T x = static_cast<T>(a);
            const T y = static_cast<T>(b);
            good = good && saturating_add(x, y) == cut<T>(a + b) &&
                   saturating_sub(x, y) == cut<T>(a - b) && saturating_mul(x, y) == cut<T>(a * b);
        }
    }
    return good;
}

}  // namespace

// TS-1
TEST(saturating, all_signed_bytes_agree_with_wider_arithmetic) {
    EXPECT_TRUE(all_pairs_agree<std::int8_t>());
}

// TS-1
TEST(saturating, all_unsigned_bytes_agree_with_wider_arithmetic) {
    EXPECT_TRUE(all_pairs_agree<std::uint8_t>());
}

// TS-1
TEST(saturating, the_ends_of_64_bits_hold) {
    constexpr std::int64_t top = INT64_MAX;
    constexpr std::int64_t bottom = INT64_MIN;
    EXPECT_EQ(saturating_add<std::int64_t>(top, 1), top);
    EXPECT_EQ(saturating_add<std::int64_t>(bottom, -1), bottom);
    EXPECT_EQ(saturating_add(top, bottom), -1);
    EXPECT_EQ(saturating_sub<std::int64_t>(0, bottom), top);
    EXPECT_EQ(saturating_sub<std::int64_t>(bottom, 1), bottom);
    EXPECT_EQ(saturating_mul<std::int64_t>(bottom, -1), top);
    EXPECT_EQ(saturating_mul<std::int64_t>(-1, bottom), top);
    EXPECT_EQ(saturating_mul<std::int64_t>(top, -2), bottom);
    EXPECT_EQ(saturating_mul<std::int64_t>(bottom, 0), 0);
    EXPECT_EQ(saturating_add<std::uint64_t>(UINT64_MAX, 1), UINT64_MAX);
    EXPECT_EQ(saturating_sub<std::uint64_t>(3, 4), 0u);
    EXPECT_EQ(saturating_mul<std::uint64_t>(UINT64_MAX, 2), UINT64_MAX);
}

TEST(saturating, works_in_constant_expressions) {
    static_assert(saturating_add<std::int32_t>(INT32_MAX, 1) == INT32_MAX);
    static_assert(saturating_sub<std::int32_t>(INT32_MIN, 1) == INT32_MIN);
    static_assert(saturating_mul<std::int32_t>(INT32_MIN, INT32_MIN) == INT32_MAX);
}
