// SPDX-License-Identifier: Apache-2.0
//
// SysTick: the core's 24-bit down counter, as a count of ticks and a position within the tick.
//
// The hardware counts from cycles_per_tick - 1 down to 0 and pends the interrupt on reaching 0; the
// handler counts that tick, calls the hook if there is one, and does nothing else. read() puts the
// two halves together so that they belong to the same moment, also where the interrupt is pending
// but cannot be taken (in a critical section or a handler of higher priority).
//
// There is one such counter per core, hence no objects: the functions are the driver.
//
// Thread rule: start, attach, detach and stop by one owner; count and read from anywhere. A tick is
// lost, and nobody can tell, when interrupts stay masked for two ticks or more.
#pragma once

#include <cstdint>

#include <tactus/port/port.hpp>

namespace tactus::inline v0::port::systick {

/// Called by the interrupt handler after it has counted: one short thing, such as
/// tick_source::notify_tick.
struct tick_hook {
    void (*call)(void* context) noexcept = nullptr;
    void* context = nullptr;
};

struct options {
    std::uint32_t cycles_per_tick = 0;
    tick_hook on_tick = {};
    event_count::word first_count = 0;  // tests start it near its maximum
};

inline constexpr std::uint32_t cycles_per_tick_min = 2;
inline constexpr std::uint32_t cycles_per_tick_max = std::uint32_t{1} << 24;

/// Starts counting cycles of the core clock, at the beginning of a tick.
/// Requires: cycles_per_tick_min <= cycles_per_tick <= cycles_per_tick_max (check systick:1), and
/// it does not run (check systick:2).
void start(const options& o) noexcept;
/// Stops. The count stays; a tick that is complete but not yet counted is forgotten.
void stop() noexcept;
[[nodiscard]] bool running() noexcept;

/// Has the handler call this, too, from the next tick on. False: it does not run, or calls another.
[[nodiscard]] bool attach(const tick_hook& h) noexcept;
/// It calls nobody any more.
void detach() noexcept;

/// Ticks counted by the handler, plus first_count; wraps.
[[nodiscard]] event_count::word count() noexcept;

/// A moment: whole ticks, and cycles since then, less than cycles_per_tick.
struct reading {
    event_count::word ticks;
    std::uint32_t cycles;
};
[[nodiscard]] reading read() noexcept;

}  // namespace tactus::inline v0::port::systick
