// SPDX-License-Identifier: Apache-2.0
//
// Durations as people write them: a whole number and its unit, "10ms".
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tactus/time/instant.hpp>

namespace tactus::inline v0::config {

struct duration_unit {
    std::string_view name;
    std::int64_t ns;
};
inline constexpr auto duration_units = std::to_array<duration_unit>({
    {"h", 3'600'000'000'000},
    {"min", 60'000'000'000},
    {"s", 1'000'000'000},
    {"ms", 1'000'000},
    {"us", 1'000},
    {"ns", 1},
});

/// Nothing when it is no duration, or one too long to be kept.
[[nodiscard]] inline std::optional<duration> parse_duration(std::string_view text) noexcept {
    if (text.empty() || text.front() == '-')
        return std::nullopt;
    std::int64_t count = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (failed != std::errc{})
        return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    for (const duration_unit& unit : duration_units) {
        if (unit.name != text)
            continue;
        const duration d = duration::from_ns(unit.ns) * count;
        return d == duration::max() ? std::nullopt : std::optional(d);
    }
    return std::nullopt;
}

/// In the largest unit that leaves nothing over.
[[nodiscard]] inline std::string to_text(duration d) {
    if (d == duration::max())
        return "none";
    for (const duration_unit& unit : duration_units) {
        if (d.ns() != 0 && d.ns() % unit.ns == 0)
            return std::to_string(d.ns() / unit.ns) + std::string(unit.name);
    }
    return "0ns";
}

}  // namespace tactus::inline v0::config
