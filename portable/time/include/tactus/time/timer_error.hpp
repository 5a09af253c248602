// SPDX-License-Identifier: Apache-2.0
//
// What a timer wheel can refuse, with the numbers and a text for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <tactus/time/instant.hpp>

namespace tactus::inline v0 {

// The comment says what `value` and `limit` of the error hold.
enum class timer_errc : std::uint8_t {
    invalid_resolution,         // resolution in ns | 1
    invalid_capacity,           // timers (or overflow entries) asked for | 1
    capacity_too_large,         // timers asked for | what the index width allows; or
                                // overflow entries asked for | timers asked for
    node_memory_too_small,      // bytes given | bytes needed
    overflow_memory_too_small,  // bytes given | bytes needed
    duration_exceeded,          // delay in ns | max_timer_duration in ns
    deadline_overflow,          // delay in ns | longest delay that is still representable, in ns
    capacity_exceeded,          // timers pending | capacity without retired nodes
    overflow_exceeded,          // entries in overflow | its capacity
    memory_exhausted,           // timers pending | capacity: a region did not grow
    unknown_timer,   // handle index | 0: the handle is stale, fired, cancelled or never given out
    time_went_back,  // tick asked for | current tick
};

/// The name of the code, as it appears in the documentation.
[[nodiscard]] const char* to_text(timer_errc code) noexcept;

struct timer_error {
    timer_errc code{};
    std::int64_t value = 0;
    std::int64_t limit = 0;

    /// Of duration_exceeded: the delay asked for and the longest allowed.
    [[nodiscard]] constexpr duration delay() const noexcept { return duration::from_ns(value); }
    [[nodiscard]] constexpr duration max() const noexcept { return duration::from_ns(limit); }

    friend constexpr bool operator==(const timer_error&, const timer_error&) = default;
};

/// Writes a sentence such as "delay of 7200000000000 ns exceeds the maximum of 3600000000000 ns"
/// into `out`, cut to its size, and returns the part written.
std::string_view describe(const timer_error& error, std::span<char> out) noexcept;

}  // namespace tactus::inline v0
