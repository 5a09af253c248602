// SPDX-License-Identifier: Apache-2.0
//
// Span sink: text into room that somebody has; cut where that is too small.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include <tactus/dispatch/dump.hpp>

namespace tactus::inline v0 {

class span_sink final : public text_sink {
public:
    explicit span_sink(std::span<char> room) noexcept : room_(room) {}
    void write(std::string_view piece) noexcept override {
        for (const char c : piece) {
            if (size_ < room_.size())
                room_[size_++] = c;
        }
    }
    [[nodiscard]] std::string_view text() const noexcept { return {room_.data(), size_}; }

private:
    std::span<char> room_;
    std::size_t size_ = 0;
};

}  // namespace tactus::inline v0
