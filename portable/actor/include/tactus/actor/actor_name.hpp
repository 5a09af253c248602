// SPDX-License-Identifier: Apache-2.0
//
// Names of actors and systems: which are allowed, and what is wrong with one that is not (AC-7).
//
// A name is a part of a path, so it has no slash, and what starts with '$' is numbered by the
// runtime. What a URI would escape may be written as %hh.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tactus::inline v0 {

enum class name_fault : std::uint8_t {
    empty,
    starts_with_dollar,  // kept for actors without a name
    bad_character,
    bad_escape,  // '%' without two hexadecimal digits
    too_long,
    bad_system_character,  // the names of systems have fewer characters
};
inline constexpr std::size_t name_fault_count = 6;
inline constexpr std::size_t name_size_max = 255;
/// Of a path that says of which system it is.
inline constexpr std::string_view path_scheme = "tactus://";
[[nodiscard]] const char* name_of(name_fault fault) noexcept;
/// One line for people, without the name.
[[nodiscard]] const char* text_of(name_fault fault) noexcept;

/// Nothing: an actor may have this name.
[[nodiscard]] std::optional<name_fault> fault_of_name(std::string_view name) noexcept;
/// Nothing: a system may have this name: a letter or digit, then those, '-' and '_'.
[[nodiscard]] std::optional<name_fault> fault_of_system_name(std::string_view name) noexcept;

}  // namespace tactus::inline v0
