// SPDX-License-Identifier: Apache-2.0
//
// Durations kept in a word: whole microseconds, rounded up, so that a short one is not none.
#pragma once

#include <cstdint>
#include <limits>

#include <tactus/time/instant.hpp>

namespace tactus::inline v0 {

/// 0 for none or less; the largest number for 71 minutes and more.
[[nodiscard]] constexpr std::uint32_t whole_us(duration d) noexcept {
    constexpr std::int64_t max = std::numeric_limits<std::uint32_t>::max();
    if (d <= duration::zero())
        return 0;
    const std::int64_t us = (d.ns() - 1) / 1'000 + 1;
    return static_cast<std::uint32_t>(us < max ? us : max);
}

}  // namespace tactus::inline v0
