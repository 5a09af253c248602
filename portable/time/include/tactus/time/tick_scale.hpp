// SPDX-License-Identifier: Apache-2.0
//
// Ticks: how instants map to the steps a timer wheel counts in.
//
// Now rounds down and deadlines round up, so that nothing fires early (TW-3). The division is by a
// constant that is only known at run time; on machines with a 64 x 64 -> 128 bit product it becomes
// a multiplication by the reciprocal.
#pragma once

#include <cstdint>

#include <tactus/base/saturating.hpp>
#include <tactus/time/instant.hpp>

namespace tactus::inline v0 {

/// A number of ticks since the clock's epoch.
using tick = std::uint64_t;

class tick_scale {
public:
    /// Requires: resolution is positive (the wheel's create() and the clocks check it and name the
    /// error).
    explicit constexpr tick_scale(duration resolution) noexcept
        : ns_per_tick_(static_cast<std::uint64_t>(resolution.ns())),
          reciprocal_(~std::uint64_t{0} / ns_per_tick_) {}

    [[nodiscard]] constexpr duration resolution() const noexcept {
        return duration::from_ns(static_cast<std::int64_t>(ns_per_tick_));
    }

    /// The tick that `t` lies in.
    [[nodiscard]] constexpr tick floor(instant t) const noexcept {
        const estimate e = divide(t.ns());
        return e.quotient + (e.remainder >= ns_per_tick_ ? 1u : 0u);
    }

    /// The first tick that begins at `t` or later.
    [[nodiscard]] constexpr tick ceil(instant t) const noexcept {
        const estimate e = divide(t.ns());
        return e.quotient + (e.remainder > 0 ? 1u : 0u) + (e.remainder > ns_per_tick_ ? 1u : 0u);
    }

    /// Where tick `n` begins; instant::never() when that is beyond the end of time.
    [[nodiscard]] constexpr instant begin_of(tick n) const noexcept {
        return instant::from_ns(saturating_mul(n, ns_per_tick_));
    }

    /// Whole ticks in `d`; nothing for a negative one.
    [[nodiscard]] constexpr tick ticks_in(duration d) const noexcept {
        return d.ns() <= 0 ? 0 : floor(instant::from_ns(static_cast<std::uint64_t>(d.ns())));
    }

private:
    // The quotient or one less, and what remains: less than twice the divisor.
    struct estimate {
        std::uint64_t quotient;
        std::uint64_t remainder;
    };

    [[nodiscard]] constexpr estimate divide(std::uint64_t n) const noexcept {
#ifdef __SIZEOF_INT128__
        // With r = floor((2^64 - 1) / d), n * r / 2^64 is at most n / d and more than n / d - 1.
        __extension__ using wide = unsigned __int128;
        const auto quotient =
            static_cast<std::uint64_t>((static_cast<wide>(n) * reciprocal_) >> 64);
#else
        const std::uint64_t quotient = n / ns_per_tick_;
#endif
        return {quotient, n - quotient * ns_per_tick_};
    }

    std::uint64_t ns_per_tick_;
    std::uint64_t reciprocal_;
};

}  // namespace tactus::inline v0
