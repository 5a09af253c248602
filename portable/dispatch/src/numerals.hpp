// SPDX-License-Identifier: Apache-2.0
//
// Numbers as text, without a heap or a locale.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tactus::inline v0 {

/// Decimal; lives as long as the object.
class numeral {
public:
    explicit numeral(std::uint64_t n) noexcept {
        do {
            text_[--begin_] = static_cast<char>('0' + n % 10);
            n /= 10;
        } while (n != 0);
    }
    operator std::string_view() const noexcept {  // NOLINT: it is one
        return {text_ + begin_, sizeof text_ - begin_};
    }

private:
    char text_[20];
    std::size_t begin_ = sizeof text_;
};

}  // namespace tactus::inline v0
