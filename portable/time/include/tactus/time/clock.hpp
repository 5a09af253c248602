// SPDX-License-Identifier: Apache-2.0
//
// Clock: the one way to read time (TS-2).
//
// A clock is handed in at run time; no other code reads time. `kind()` tells a runner how the clock
// behaves, so that it chooses its mode (manual, thread, hardware) without asking what type it was
// given. Implementations: manual_clock here, steady_clock in the hosted runtime, systick_clock on
// Cortex-M.
//
// Thread safety: now() may be called from any thread for the hosted clock; see each implementation.
#pragma once

#include <cstdint>

#include <tactus/time/instant.hpp>

namespace tactus::inline v0 {

enum class clock_kind : std::uint8_t {
    deterministic,      // moved by a test or a simulation
    realtime_host,      // the operating system's monotonic clock
    realtime_hardware,  // a counter of the microcontroller
};

[[nodiscard]] const char* to_text(clock_kind kind) noexcept;

class clock {
public:
    clock(const clock&) = delete;
    clock& operator=(const clock&) = delete;

    /// Never less than what it returned before.
    [[nodiscard]] virtual instant now() const noexcept = 0;
    [[nodiscard]] virtual clock_kind kind() const noexcept = 0;

protected:
    clock() = default;
    ~clock() = default;  // clocks are never deleted through this type
};

}  // namespace tactus::inline v0
