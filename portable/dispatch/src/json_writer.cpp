// SPDX-License-Identifier: Apache-2.0
//
// Separators and escapes of JSON (RFC 8259).
#include "numerals.hpp"

#include <tactus/dispatch/dump.hpp>

namespace tactus::inline v0 {

void json_writer::separate() noexcept {
    if (follows_)
        to_.write(",");
    follows_ = true;
}

json_writer& json_writer::open(char c) noexcept {
    separate();
    to_.write({&c, 1});
    follows_ = false;
    return *this;
}
json_writer& json_writer::close(char c) noexcept {
    to_.write({&c, 1});
    follows_ = true;
    return *this;
}

json_writer& json_writer::key(std::string_view name) noexcept {
    separate();
    quoted(name);
    to_.write(":");
    follows_ = false;
    return *this;
}
json_writer& json_writer::value(std::uint64_t n) noexcept {
    separate();
    to_.write(numeral(n));
    return *this;
}
json_writer& json_writer::value(std::string_view text) noexcept {
    separate();
    quoted(text);
    return *this;
}
json_writer& json_writer::value(bool b) noexcept {
    separate();
    to_.write(b ? "true" : "false");
    return *this;
}
json_writer& json_writer::null() noexcept {
    separate();
    to_.write("null");
    return *this;
}

void json_writer::quoted(std::string_view text) noexcept {
    to_.write("\"");
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        to_.write(text.substr(begin, i - begin));
        begin = i + 1;
        if (c >= 0x20) {
            const char escaped[] = {'\\', text[i]};
            to_.write({escaped, 2});
        } else {
            static constexpr char digits[] = "0123456789abcdef";
            const char escaped[] = {'\\', 'u', '0', '0', digits[c >> 4], digits[c & 15]};
            to_.write({escaped, 6});
        }
    }
    to_.write(text.substr(begin));
    to_.write("\"");
}

}  // namespace tactus::inline v0
