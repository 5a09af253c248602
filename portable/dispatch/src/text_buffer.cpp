// SPDX-License-Identifier: Apache-2.0
//
// Pieces, numbers and durations as text, as far as there is room.
#include <tactus/dispatch/text_buffer.hpp>

#include <algorithm>
#include <charconv>
#include <iterator>

namespace tactus::inline v0 {
namespace {

constexpr std::string_view left_out = "...";

/// Of UTF-8: not the first byte of a character.
bool continues(char c) noexcept {
    return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
}

}  // namespace

void text_builder::write(std::string_view piece) noexcept {
    if (cut_)
        return;
    const std::size_t fits = piece.copy(place_.data() + size_, place_.size() - size_);
    size_ += fits;
    if (fits == piece.size())
        return;
    cut_ = true;
    const std::string_view mark = left_out.substr(0, place_.size());
    std::size_t end = place_.size() - mark.size();
    while (end > 0 && continues(place_[end]))
        --end;
    std::ranges::copy(mark, place_.data() + end);
    size_ = end + mark.size();
}

text_builder& text_builder::add_number(std::uint64_t n) noexcept {
    char digits[20];
    const auto done = std::to_chars(std::begin(digits), std::end(digits), n);
    return add(std::string_view(digits, static_cast<std::size_t>(done.ptr - digits)));
}

text_builder& text_builder::add(duration d) noexcept {
    struct unit {
        std::int64_t ns;
        const char* name;
    };
    static constexpr unit units[] = {
        {60'000'000'000, " min"}, {1'000'000'000, " s"}, {1'000'000, " ms"}, {1'000, " us"}};
    for (const unit& u : units) {
        if (d.ns() != 0 && d.ns() % u.ns == 0)
            return add(d.ns() / u.ns).add(u.name);
    }
    return add(d.ns()).add(" ns");
}

}  // namespace tactus::inline v0
