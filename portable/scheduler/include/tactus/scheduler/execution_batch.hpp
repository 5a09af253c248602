// SPDX-License-Identifier: Apache-2.0
//
// What a job is known by, how it repeats, and what one delivery of it stands for (BT-1).
#pragma once

#include <cstddef>
#include <cstdint>

#include <tactus/dispatch/events.hpp>

namespace tactus::inline v0 {

enum class job_mode : std::uint8_t { one_shot, fixed_rate, fixed_delay };
inline constexpr std::size_t job_mode_count = 3;
[[nodiscard]] const char* name_of(job_mode mode) noexcept;

/// Who goes first when there is little room (BP-3, BP-7). In the order of importance.
enum class timer_priority : std::uint8_t { high, normal, low };
inline constexpr std::size_t timer_priority_count = 3;
[[nodiscard]] const char* name_of(timer_priority priority) noexcept;

/// One delivery: the run that is due, and those that were missed before it, folded (SC-20).
struct execution_batch {
    std::uint32_t runs = 1;         // at least 1
    std::uint32_t missed_runs = 0;  // runs - 1, or 0
    job_mode mode = job_mode::one_shot;
    job_id job = {};

    friend constexpr bool operator==(const execution_batch&, const execution_batch&) = default;
};

}  // namespace tactus::inline v0
