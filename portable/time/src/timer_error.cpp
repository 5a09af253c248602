// SPDX-License-Identifier: Apache-2.0
//
// Texts of the timer errors: one row per code, with the words around the two numbers.
#include <tactus/time/timer_error.hpp>

#include <array>
#include <charconv>
#include <concepts>

namespace tactus::inline v0 {

namespace {

struct error_text {
    const char* name;
    const char* before_value;
    const char* before_limit;  // nullptr: the limit is not shown
    const char* after;
};

constexpr auto error_texts = std::to_array<error_text>({
    {"invalid_resolution", "resolution of ", " ns is below the minimum of ", " ns"},
    {"invalid_capacity", "capacity of ", " is below the minimum of ", ""},
    {"capacity_too_large", "capacity of ", " exceeds the limit of ", ""},
    {"node_memory_too_small", "memory for nodes has ", " bytes, needed are ", " bytes"},
    {"overflow_memory_too_small", "memory for overflow has ", " bytes, needed are ", " bytes"},
    {"duration_exceeded", "delay of ", " ns exceeds the maximum of ", " ns"},
    {"deadline_overflow", "delay of ",
     " ns reaches beyond the end of time, longest possible now is ", " ns"},
    {"capacity_exceeded", "", " timers are pending, capacity is ", ""},
    {"overflow_exceeded", "", " timers wait in overflow, its capacity is ", ""},
    {"memory_exhausted", "no memory for another timer, ", " are pending, capacity is ", ""},
    {"unknown_timer", "timer ", nullptr, " is not pending under this handle"},
    {"time_went_back", "tick ", " lies before the current tick ", ""},
});

constexpr error_text unknown_text{"unknown timer error", "unknown timer error, value ", ", limit ",
                                  ""};

const error_text& text_of(timer_errc code) noexcept {
    const auto index = static_cast<std::size_t>(code);
    return index < error_texts.size() ? error_texts[index] : unknown_text;
}

// Appends as much as fits.
class text_writer {
public:
    explicit text_writer(std::span<char> out) noexcept : out_(out) {}

    void add(std::string_view text) noexcept {
        for (const char c : text) {
            if (used_ == out_.size())
                return;
            out_[used_++] = c;
        }
    }
    template <std::integral T>
    void add(T number) noexcept {
        std::array<char, 20> digits{};  // 20 digits, or the sign and 19
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
        add(std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())));
    }
    [[nodiscard]] std::string_view written() const noexcept { return {out_.data(), used_}; }

private:
    std::span<char> out_;
    std::size_t used_ = 0;
};

}  // namespace

const char* to_text(timer_errc code) noexcept {
    return text_of(code).name;
}

std::string_view describe(const timer_error& error, std::span<char> out) noexcept {
    const error_text& text = text_of(error.code);
    text_writer writer(out);
    // Everything but a resolution counts from zero and may need all 64 bits (ticks do).
    const auto number = [&](std::int64_t n) {
        if (error.code == timer_errc::invalid_resolution)
            writer.add(n);
        else
            writer.add(static_cast<std::uint64_t>(n));
    };
    writer.add(text.before_value);
    number(error.value);
    if (text.before_limit != nullptr) {
        writer.add(text.before_limit);
        number(error.limit);
    }
    writer.add(text.after);
    return writer.written();
}

}  // namespace tactus::inline v0
