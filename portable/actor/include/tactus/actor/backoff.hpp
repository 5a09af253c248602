// SPDX-License-Identifier: Apache-2.0
//
// Back-off: how long to wait before the next attempt (SV-4).
//
//     delay = min * 2^restarts, at most max; and up to random_factor of that more
//
// The random part is what keeps those that failed together from coming back together; with it a
// delay may exceed max. Whole numbers all the way: the same draws give the same delays everywhere.
#pragma once

#include <cstdint>
#include <optional>

#include <tactus/base/det_rng.hpp>
#include <tactus/time/instant.hpp>

namespace tactus::inline v0 {

/// The delay after so many restarts. Draws once, whatever the factor.
[[nodiscard]] duration backoff_delay(std::uint32_t restarts, duration min, duration max,
                                     double random_factor, det_rng& random) noexcept;

/// When a strategy restarts later instead of at once. Without a max: at once.
struct backoff_options {
    duration min = {};
    duration max = {};
    double random_factor = 0.2;                      // 0 to 1
    std::optional<duration> reset_after = {};        // without a failure; none: (min + max) / 2
    std::optional<std::uint32_t> max_restarts = {};  // since the last reset; then it is stopped

    [[nodiscard]] bool is_on() const noexcept {
        return min != duration::zero() || max != duration::zero();
    }
    [[nodiscard]] duration resets_after() const noexcept;
    /// PK-BKO-1: null, or what is wrong with it.
    [[nodiscard]] const char* fault() const noexcept;
};

}  // namespace tactus::inline v0
