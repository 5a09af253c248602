// SPDX-License-Identifier: Apache-2.0
//
// Vector clocks: what of every thread's past is in a thread's past.
//
// Entry t counts steps of thread t. An access of thread t at its step e lies in the past of whoever
// has at(t) >= e. Step 0 is before everything: it stands for what was done outside of the check.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <tactus/port/model.hpp>

namespace tactus::inline v0::port::model::detail {

using thread_mask = std::uint16_t;
static_assert(thread_count_max <= 16);

inline constexpr unsigned no_thread = 255;

constexpr thread_mask bit(unsigned thread) noexcept {
    return static_cast<thread_mask>(1u << thread);
}

/// The set without its members in `other`.
constexpr thread_mask without(thread_mask set, thread_mask other) noexcept {
    return static_cast<thread_mask>(set & ~other);
}

constexpr unsigned lowest(thread_mask set) noexcept {
    return static_cast<unsigned>(__builtin_ctz(set));
}

/// Calls with every member, lowest first.
template <class Call>
constexpr void for_each(thread_mask set, Call call) {
    for (; set != 0; set = static_cast<thread_mask>(set & (set - 1)))
        call(lowest(set));
}

class vector_clock {
public:
    [[nodiscard]] std::uint32_t at(unsigned thread) const noexcept { return steps_[thread]; }
    void set(unsigned thread, std::uint32_t step) noexcept { steps_[thread] = step; }
    void tick(unsigned thread) noexcept { ++steps_[thread]; }
    [[nodiscard]] bool covers(unsigned thread, std::uint32_t step) const noexcept {
        return steps_[thread] >= step;
    }
    void join(const vector_clock& other) noexcept {
        for (std::size_t i = 0; i < thread_count_max; ++i)
            steps_[i] = steps_[i] < other.steps_[i] ? other.steps_[i] : steps_[i];
    }

private:
    std::array<std::uint32_t, thread_count_max> steps_{};
};

}  // namespace tactus::inline v0::port::model::detail
