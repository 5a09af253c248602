// SPDX-License-Identifier: Apache-2.0
//
// Warning text: what a warning quotes. A copy, cut to `size_max`, since warnings go to other
// threads, and what user code has thrown is gone by then. On a device, where nothing is thrown,
// texts are constants, and a pointer is enough.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>

#include <tactus/port/port.hpp>

namespace tactus::inline v0 {

class copied_warning_text {
public:
    static constexpr std::size_t size_max = 120;

    // NOLINTNEXTLINE(google-explicit-constructor): a text is a text
    constexpr copied_warning_text(const char* text = "") noexcept {
        for (std::size_t i = 0; i < size_max && text[i] != '\0'; ++i)
            text_[i] = text[i];
    }
    // NOLINTNEXTLINE(google-explicit-constructor): a text is a text
    constexpr copied_warning_text(std::string_view text) noexcept { text.copy(text_, size_max); }
    // NOLINTNEXTLINE(google-explicit-constructor): so it is read as one
    constexpr operator const char*() const noexcept { return text_; }

private:
    char text_[size_max + 1] = {};
};

using warning_text = std::conditional_t<port::has_interrupts, const char*, copied_warning_text>;

/// Sets a text that was put together; a device keeps only constants and ignores it.
constexpr void assign(copied_warning_text& to, std::string_view text) noexcept {
    to = text;
}
constexpr void assign(const char*&, std::string_view) noexcept {}

}  // namespace tactus::inline v0
