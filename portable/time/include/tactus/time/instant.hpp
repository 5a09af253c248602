// SPDX-License-Identifier: Apache-2.0
//
// Instants and durations: nanoseconds in 64 bits, monotonic, saturating (TS-1).
//
// An instant counts from an epoch of its own: it says nothing about the time of day, and instants
// of different clocks must not be mixed. Arithmetic stops at the ends of the range instead of
// wrapping. `instant::never()` is the end of time: no deadline can be later.
//
// Any std::chrono duration with an integral count converts to `duration` (rounding towards zero
// below a nanosecond), without this header including <chrono>.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <utility>

#include <tactus/base/saturating.hpp>

namespace tactus::inline v0 {

/// What std::chrono::duration looks like from here.
template <class D>
concept chrono_duration = requires(const D d) {
    d.count();
    D::period::num;
    D::period::den;
    requires std::integral<typename D::rep>;
};

/// A span of time; may be negative.
class duration {
public:
    constexpr duration() = default;

    // Implicit on purpose: 5ms is a duration.
    template <chrono_duration D>
    constexpr duration(D d) noexcept  // NOLINT(google-explicit-constructor)
        : ns_(from_ratio(clamped(d.count()), D::period::num, D::period::den)) {}

    [[nodiscard]] static constexpr duration from_ns(std::int64_t n) noexcept { return duration(n); }
    [[nodiscard]] static constexpr duration from_us(std::int64_t n) noexcept {
        return scaled(n, 1'000);
    }
    [[nodiscard]] static constexpr duration from_ms(std::int64_t n) noexcept {
        return scaled(n, 1'000'000);
    }
    [[nodiscard]] static constexpr duration from_s(std::int64_t n) noexcept {
        return scaled(n, 1'000'000'000);
    }
    [[nodiscard]] static constexpr duration zero() noexcept { return duration(0); }
    [[nodiscard]] static constexpr duration max() noexcept {
        return duration(std::numeric_limits<std::int64_t>::max());
    }
    [[nodiscard]] static constexpr duration min() noexcept {
        return duration(std::numeric_limits<std::int64_t>::min());
    }

    [[nodiscard]] constexpr std::int64_t ns() const noexcept { return ns_; }

    friend constexpr auto operator<=>(duration, duration) = default;
    friend constexpr duration operator+(duration a, duration b) noexcept {
        return duration(saturating_add(a.ns_, b.ns_));
    }
    friend constexpr duration operator-(duration a, duration b) noexcept {
        return duration(saturating_sub(a.ns_, b.ns_));
    }
    friend constexpr duration operator-(duration d) noexcept { return zero() - d; }
    friend constexpr duration operator*(duration d, std::int64_t n) noexcept {
        return scaled(d.ns_, n);
    }
    friend constexpr duration operator*(std::int64_t n, duration d) noexcept {
        return scaled(d.ns_, n);
    }

    /// A count too large for the type is the longest there is, not a negative one.
    template <std::integral T>
    [[nodiscard]] static constexpr std::int64_t clamped(T count) noexcept {
        return std::in_range<std::int64_t>(count) ? static_cast<std::int64_t>(count)
                                                  : std::numeric_limits<std::int64_t>::max();
    }

private:
    explicit constexpr duration(std::int64_t ns) noexcept : ns_(ns) {}

    static constexpr duration scaled(std::int64_t n, std::int64_t unit) noexcept {
        return duration(saturating_mul(n, unit));
    }
    static constexpr std::int64_t from_ratio(std::int64_t count, std::intmax_t num,
                                             std::intmax_t den) noexcept {
        constexpr std::int64_t ns_per_s = 1'000'000'000;
        if (ns_per_s % den == 0)
            return saturating_mul(count, saturating_mul<std::int64_t>(num, ns_per_s / den));
        // Other units, such as 1/60 s: whole multiples first, so that the product of the rest is
        // small; it is exact up to 2^63.
        const std::int64_t whole =
            saturating_mul(count / den, saturating_mul<std::int64_t>(num, ns_per_s));
        const std::int64_t rest = count % den;
        if (den % ns_per_s == 0)
            return saturating_add(whole,
                                  saturating_mul<std::int64_t>(rest, num) / (den / ns_per_s));
        return saturating_add(
            whole, saturating_mul(saturating_mul<std::int64_t>(rest, num), ns_per_s) / den);
    }

    std::int64_t ns_ = 0;
};

/// A point in monotonic time: nanoseconds since its clock's epoch.
class instant {
public:
    constexpr instant() = default;

    [[nodiscard]] static constexpr instant from_ns(std::uint64_t ns) noexcept {
        return instant(ns);
    }
    [[nodiscard]] static constexpr instant epoch() noexcept { return instant(0); }
    [[nodiscard]] static constexpr instant never() noexcept {
        return instant(std::numeric_limits<std::uint64_t>::max());
    }

    [[nodiscard]] constexpr std::uint64_t ns() const noexcept { return ns_; }

    friend constexpr auto operator<=>(instant, instant) = default;

    friend constexpr instant operator+(instant t, duration d) noexcept {
        return d.ns() >= 0 ? instant(saturating_add(t.ns_, magnitude(d)))
                           : instant(saturating_sub(t.ns_, magnitude(d)));
    }
    friend constexpr instant operator-(instant t, duration d) noexcept {
        return d.ns() >= 0 ? instant(saturating_sub(t.ns_, magnitude(d)))
                           : instant(saturating_add(t.ns_, magnitude(d)));
    }
    friend constexpr duration operator-(instant a, instant b) noexcept {
        constexpr auto limit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
        if (a.ns_ >= b.ns_) {
            const std::uint64_t ahead = a.ns_ - b.ns_;
            return ahead > limit ? duration::max()
                                 : duration::from_ns(static_cast<std::int64_t>(ahead));
        }
        const std::uint64_t behind = b.ns_ - a.ns_;
        return behind > limit ? duration::min()
                              : duration::from_ns(-static_cast<std::int64_t>(behind));
    }

private:
    explicit constexpr instant(std::uint64_t ns) noexcept : ns_(ns) {}

    static constexpr std::uint64_t magnitude(duration d) noexcept {
        // Unsigned negation is right for the most negative value too, whose positive twin does not
        // exist.
        const auto bits = static_cast<std::uint64_t>(d.ns());
        return d.ns() >= 0 ? bits : ~bits + 1;
    }

    std::uint64_t ns_ = 0;
};

inline namespace literals {
consteval duration operator""_ns(unsigned long long n) {
    return duration::from_ns(duration::clamped(n));
}
consteval duration operator""_us(unsigned long long n) {
    return duration::from_us(duration::clamped(n));
}
consteval duration operator""_ms(unsigned long long n) {
    return duration::from_ms(duration::clamped(n));
}
consteval duration operator""_s(unsigned long long n) {
    return duration::from_s(duration::clamped(n));
}
consteval duration operator""_min(unsigned long long n) {
    return duration::from_s(saturating_mul<std::int64_t>(duration::clamped(n), 60));
}
consteval duration operator""_h(unsigned long long n) {
    return duration::from_s(saturating_mul<std::int64_t>(duration::clamped(n), 3600));
}
}  // namespace literals

}  // namespace tactus::inline v0
