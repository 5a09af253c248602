// SPDX-License-Identifier: Apache-2.0
//
// Saturating integer arithmetic: results that do not fit stop at the nearest limit instead of
// wrapping.
//
// Time is computed with these (TS-1): a deadline that would lie beyond the end of time lies at the
// end of time, not in the past.
#pragma once

#include <concepts>
#include <limits>
#include <type_traits>

namespace tactus::inline v0 {

template <std::integral T>
[[nodiscard]] constexpr T saturating_add(T a, T b) noexcept {
    T sum{};
    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    return std::is_signed_v<T> && b < T{0} ? std::numeric_limits<T>::min()
                                           : std::numeric_limits<T>::max();
}

template <std::integral T>
[[nodiscard]] constexpr T saturating_sub(T a, T b) noexcept {
    T difference{};
    if (!__builtin_sub_overflow(a, b, &difference))
        return difference;
    if constexpr (std::is_signed_v<T>)
        return b < T{0} ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min();
    return T{0};
}

template <std::integral T>
[[nodiscard]] constexpr T saturating_mul(T a, T b) noexcept {
    T product{};
    if (!__builtin_mul_overflow(a, b, &product))
        return product;
    return (a < T{0}) != (b < T{0}) ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
}

}  // namespace tactus::inline v0
