// SPDX-License-Identifier: Apache-2.0
//
// A document: what TOML and JSON have in common, with the line each part stands on. Both are read
// into it, so that there is one place that knows the settings, and one wording of its errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include <tactus/config/settings.hpp>

namespace tactus::inline v0::config {

enum class shape : std::uint8_t { table, array, text, integer, boolean, other };

struct value {
    shape is = shape::other;
    std::string_view word = "a value of no use here";  // what it is, for people
    std::size_t line = 0;
    std::string key = {};           // in its table
    std::string text = {};          // of a text
    std::int64_t number = 0;        // of an integer, clamped; of a boolean 0 or 1
    std::vector<value> parts = {};  // of a table or an array, as they stand in the file
};

/// What is wrong with a document; the caller knows the file.
struct document_error {
    std::size_t line = 0;
    std::string key = {};  // with its sections
    std::string text = {};
};

[[nodiscard]] std::expected<value, document_error> read_toml(std::string_view text);
[[nodiscard]] std::expected<value, document_error> read_json(std::string_view text);

/// Text of a file as an error may show it: no control characters, not too long.
[[nodiscard]] std::string shown(std::string_view text);
/// A key with its sections, as an error shows it: `dispatchers."a.b".workers`.
[[nodiscard]] std::string under(std::string_view section, std::string_view key);
/// The closest of the known words, if it may have been meant; empty otherwise.
[[nodiscard]] std::string_view nearest(std::string_view word,
                                       const std::vector<std::string_view>& known);
/// ", did you mean 'x'?", or "; known are: x, y".
[[nodiscard]] std::string suggestion(std::string_view word,
                                     const std::vector<std::string_view>& known);

}  // namespace tactus::inline v0::config
