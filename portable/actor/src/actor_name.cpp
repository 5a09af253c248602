// SPDX-License-Identifier: Apache-2.0
//
// Names of actors and systems, character by character.
#include <tactus/actor/actor_name.hpp>

namespace tactus::inline v0 {
namespace {

constexpr bool is_letter_or_digit(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
constexpr bool is_hexadecimal(char c) noexcept {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

}  // namespace

const char* name_of(name_fault fault) noexcept {
    static constexpr const char* names[name_fault_count] = {
        "empty",      "starts_with_dollar", "bad_character",
        "bad_escape", "too_long",           "bad_system_character"};
    return names[static_cast<std::size_t>(fault)];
}

const char* text_of(name_fault fault) noexcept {
    static constexpr const char* texts[name_fault_count] = {
        "a name must not be empty",
        "names that start with '$' are the runtime's",
        "a name has letters, digits and -_.*$+:@&=,!~';() only",
        "'%' is followed by two hexadecimal digits",
        "a name has at most 255 characters",
        "a system's name begins with a letter or digit, and has letters, digits, '-' and '_' only",
    };
    return texts[static_cast<std::size_t>(fault)];
}

std::optional<name_fault> fault_of_name(std::string_view name) noexcept {
    if (name.empty())
        return name_fault::empty;
    if (name.size() > name_size_max)
        return name_fault::too_long;
    if (name.front() == '$')
        return name_fault::starts_with_dollar;
    constexpr std::string_view others = "-_.*$+:@&=,!~';()";
    for (std::size_t i = 0; i < name.size(); ++i) {
        const char c = name[i];
        if (is_letter_or_digit(c) || others.find(c) != std::string_view::npos)
            continue;
        if (c != '%')
            return name_fault::bad_character;
        if (i + 2 >= name.size() || !is_hexadecimal(name[i + 1]) || !is_hexadecimal(name[i + 2]))
            return name_fault::bad_escape;
        i += 2;
    }
    return {};
}

std::optional<name_fault> fault_of_system_name(std::string_view name) noexcept {
    if (name.empty())
        return name_fault::empty;
    if (name.size() > name_size_max)
        return name_fault::too_long;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const char c = name[i];
        if (!is_letter_or_digit(c) && (i == 0 || (c != '-' && c != '_')))
            return name_fault::bad_system_character;
    }
    return {};
}

}  // namespace tactus::inline v0
