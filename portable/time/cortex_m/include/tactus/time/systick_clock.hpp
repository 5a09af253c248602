// SPDX-License-Identifier: Apache-2.0
//
// SysTick clock: ticks counted by the interrupt handler plus the fraction in the counter register
// (TS-2).
//
// The handler's count has 32 bits; this clock, its single reader, folds it into 64 (TS-5). It also
// connects the handler to a tick source, so that one interrupt both carries the clock and wakes the
// timers (TS-4).
//
// The resolution is a whole number of core cycles, so the clock does not drift against the core.
//
// Invariants
//   C1  now() never returns less than before, whatever was lost while interrupts were masked
//   C2  the fraction stays below the resolution: it is rounded down, like the ticks
//
// Thread rule: one owner constructs, reads and destroys it, outside interrupt handlers; reading
// inside a critical section is allowed. It is read at least once per 2^32 ticks (49 days at 1 kHz).
#pragma once

#include <cstdint>

#include <tactus/port/port.hpp>
#include <tactus/time/clock.hpp>
#include <tactus/time/tick_scale.hpp>
#include <tactus/time/tick_source.hpp>

namespace tactus::inline v0 {

class systick_clock final : public clock {
public:
    struct options {
        std::uint32_t core_clock_hz = 0;
        duration resolution = duration::from_ms(1);
        tick_source* ticks = nullptr;             // notified of every tick; outlives the clock
        port::event_count::word first_count = 0;  // tests start it near its maximum
    };

    /// Starts SysTick, which must not run yet (check systick:2).
    /// Requires: the resolution is positive (check systick_clock:1) and a whole number of core
    /// cycles (check systick_clock:2) that fits the counter, 2 … 2^24 (check systick:1).
    explicit systick_clock(const options& o) noexcept;
    /// Stops SysTick.
    ~systick_clock();

    [[nodiscard]] instant now() const noexcept override;
    [[nodiscard]] clock_kind kind() const noexcept override {
        return clock_kind::realtime_hardware;
    }
    [[nodiscard]] duration resolution() const noexcept { return scale_.resolution(); }
    /// Ticks since it was made, and `first_count`; does not wrap (TS-5).
    [[nodiscard]] std::uint64_t ticks() const noexcept;

private:
    // Constant after construction.
    tick_scale scale_;
    std::uint64_t ns_per_cycle_;  // fixed point, fraction_bits after the point

    // Owner only; reading the clock moves them.
    mutable port::counter64 ticks_;
    mutable instant last_;
};

}  // namespace tactus::inline v0
