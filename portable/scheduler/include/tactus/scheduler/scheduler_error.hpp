// SPDX-License-Identifier: Apache-2.0
//
// Why the scheduler refuses (SC-2): a code, the numbers, and a text for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <tactus/scheduler/execution_batch.hpp>

namespace tactus::inline v0 {

// The comment says what `value` and `limit` of the error hold.
enum class scheduler_errc : std::uint8_t {
    invalid_delay,               // delay or period in ns | the longest in ns (SC-3)
    invalid_options,             // what `field` was given | what it may be at the least or most
    unsupported_mode,            // the job_mode | 0 (SC-14)
    quota_exceeded,              // timers active | quota (BP-2)
    capacity_exceeded,           // entries in use | their capacity: of overflow (BP-7), or what
                                 // `field` names; where memory is refused, what there is | the
                                 // same; of a message its size | what a cell holds
    backpressured,               // timers active | adaptive quota, 0: there is none; `cause` says
                                 // why (BP-3, BP-9); of a mailbox its messages | its capacity
    closed,                      // 0 | 0 (SH-1)
    task_run_capacity_exceeded,  // on-close tasks | their capacity (SH-2)
    construction_failed,         // 0 | 0: the constructor of what is to be sent or run threw
    within_interrupt,            // 0 | 0: an interrupt handler only counts ticks (TS-4)
};
inline constexpr std::size_t scheduler_errc_count = 10;
[[nodiscard]] const char* name_of(scheduler_errc code) noexcept;

/// Why state backpressure or rejecting was entered. `mailbox` is no reason for a state: it refuses
/// timers whose receiver has that mailbox.
enum class backpressure_cause : std::uint8_t { none, driver, gauge, adaptive_quota, mailbox };
inline constexpr std::size_t backpressure_cause_count = 5;
[[nodiscard]] const char* name_of(backpressure_cause cause) noexcept;

struct scheduler_error {
    scheduler_errc code{};
    backpressure_cause cause = backpressure_cause::none;  // of backpressured
    const char* field = "";                               // of invalid_options, invalid_delay
    std::int64_t value = 0;
    std::int64_t limit = 0;

    /// Of unsupported_mode.
    [[nodiscard]] constexpr job_mode mode() const noexcept { return static_cast<job_mode>(value); }
};

/// Writes a sentence such as "16 timers are active, the quota is 16: cancel some or choose a larger
/// profile" into `out`, cut to its size, and returns the part written.
std::string_view describe(const scheduler_error& error, std::span<char> out) noexcept;

}  // namespace tactus::inline v0
