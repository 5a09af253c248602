// SPDX-License-Identifier: Apache-2.0
//
// Scheduler facts: what a scheduler says of itself when it is asked. Plain values, as they were at
// that moment.
#pragma once

#include <cstdint>

#include <tactus/scheduler/backpressure.hpp>
#include <tactus/time/instant.hpp>
#include <tactus/time/tick_source.hpp>

namespace tactus::inline v0 {

/// SC-7.
struct scheduler_capabilities {
    double max_frequency_hz = 0;
    std::uint32_t min_delay_ticks = 1;
    duration tick_resolution;
    bool fixed_rate = true;
    bool fixed_delay = true;
    bool manual_clock = false;  // its clock is set by hand (SC-34); one-shots there always are
};

/// What it has done since it was made.
struct scheduler_counts {
    std::uint64_t registered = 0;
    std::uint64_t fired = 0;  // deliveries
    std::uint64_t missed = 0;
    std::uint64_t cancelled = 0;
    std::uint64_t dropped = 0;
    std::uint64_t commands_left = 0;  // for who held the lock (SC-6)
};

/// BP-3.
struct scheduler_pressure {
    backpressure_state state = backpressure_state::normal;
    backpressure_cause cause = backpressure_cause::none;
    tick_mode mode = tick_mode::normal;
    tick_status status = {};
    std::uint32_t chunk_ticks = 0;
};

}  // namespace tactus::inline v0
