// SPDX-License-Identifier: Apache-2.0
//
// Text of a limited size, built piece by piece without a heap: lines of the log,
// sentences about errors.
//
// What does not fit is left out, and the text then ends with "...": a character of several bytes is
// there as a whole or not at all, and nothing is added any more.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <tactus/dispatch/text_sink.hpp>
#include <tactus/time/instant.hpp>

namespace tactus::inline v0 {

/// The part that knows nothing of the size.
class text_builder : public text_sink {
public:
    text_builder(const text_builder&) = delete;
    text_builder& operator=(const text_builder&) = delete;

    void write(std::string_view piece) noexcept override;

    text_builder& add(std::string_view piece) noexcept {
        write(piece);
        return *this;
    }
    text_builder& add(const char* piece) noexcept { return add(std::string_view(piece)); }
    template <std::integral Number>
        requires(!std::same_as<Number, bool> && !std::same_as<Number, char>)
    text_builder& add(Number n) noexcept {
        const auto bits = static_cast<std::uint64_t>(n);
        return n < 0 ? add("-").add_number(~bits + 1) : add_number(bits);
    }
    /// In the largest unit in which it is a whole number: "5 min", "1500 ms".
    text_builder& add(duration d) noexcept;

    [[nodiscard]] std::string_view view() const noexcept { return {place_.data(), size_}; }
    /// Something did not fit.
    [[nodiscard]] bool is_cut() const noexcept { return cut_; }
    void clear() noexcept {
        size_ = 0;
        cut_ = false;
    }

protected:
    explicit text_builder(std::span<char> place) noexcept : place_(place) {}
    ~text_builder() = default;

private:
    text_builder& add_number(std::uint64_t n) noexcept;

    std::span<char> place_;
    std::size_t size_ = 0;
    bool cut_ = false;
};

/// Over memory of the caller, of whatever size: below three characters the mark is cut, too.
class text_in final : public text_builder {
public:
    explicit text_in(std::span<char> place) noexcept : text_builder(place) {}
};

template <std::size_t Size>
class text_buffer final : public text_builder {
public:
    static_assert(Size >= 3, "room for the mark of what is left out");
    text_buffer() noexcept : text_builder(place_) {}

private:
    char place_[Size];
};

}  // namespace tactus::inline v0
