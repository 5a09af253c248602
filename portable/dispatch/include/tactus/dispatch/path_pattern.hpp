// SPDX-License-Identifier: Apache-2.0
//
// Paths of deployments: `*` stands for one name, `**` at the end for any path below (C-SYS-7).
#pragma once

#include <string_view>

namespace tactus::inline v0 {

inline constexpr std::string_view any_name = "*";
inline constexpr std::string_view any_path = "**";

/// Takes the first name off; empty: there is none.
[[nodiscard]] inline std::string_view take_name(std::string_view& path) noexcept {
    if (path.starts_with('/'))
        path.remove_prefix(1);
    const std::string_view name = path.substr(0, path.find('/'));
    path.remove_prefix(name.size());
    return name;
}

[[nodiscard]] inline bool is_path_pattern(std::string_view path) noexcept {
    while (!path.empty()) {
        const std::string_view name = take_name(path);
        if (name == any_name || name == any_path)
            return true;
    }
    return false;
}

[[nodiscard]] inline bool path_fits(std::string_view pattern, std::string_view path) noexcept {
    while (!pattern.empty() && !path.empty()) {
        const std::string_view wanted = take_name(pattern);
        const std::string_view name = take_name(path);
        if (wanted == any_path && pattern.empty())
            return true;
        if (wanted != name && wanted != any_name)
            return false;
    }
    return pattern.empty() && path.empty();
}

/// Of two different patterns that fit the same path: the first name that differs decides.
[[nodiscard]] inline bool is_more_exact(std::string_view a, std::string_view b) noexcept {
    const auto vagueness = [](std::string_view name) {
        return name == any_path ? 2 : name == any_name ? 1 : 0;
    };
    while (!a.empty() && !b.empty()) {
        const int of_a = vagueness(take_name(a));
        const int of_b = vagueness(take_name(b));
        if (of_a != of_b)
            return of_a < of_b;
    }
    return false;
}

}  // namespace tactus::inline v0
