// SPDX-License-Identifier: Apache-2.0
//
// Toolbox: everything a system is given when it is built, in one object (PT-7). Which platform it
// is for was decided when compiling (the port); what is here differs between two systems of one
// program.
//
// Each part may be replaced alone. On a host runtime::host_toolbox has all of them; a device has
// its clock and its array, and leaves out what it does not need:
//
//   part      left out
//   time      not allowed (no_clock)
//   ticks     nobody counts ticks: whoever runs the system sleeps until the next deadline
//   driver    on a host a thread of the system; on a device who counts ticks is its own business
//   memory    not allowed (arena_too_small)
//   runs      whoever calls run_once, run_until_idle or run
//   local     facts about a message travel in its envelope (BT-3)
//   log       nothing is logged
//   seed      1
//   fixed_rate, fixed_delay
//             there are such timers. On a host false refuses them: unsupported_mode (SC-14)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <tactus/actor/log.hpp>
#include <tactus/dispatch/executor.hpp>
#include <tactus/dispatch/task_local_slot.hpp>
#include <tactus/time/clock.hpp>
#include <tactus/time/tick_driver.hpp>
#include <tactus/time/tick_source.hpp>

namespace tactus::inline v0 {

/// All of it outlives the system.
struct toolbox {
    const clock* time = nullptr;
    tick_source* ticks = nullptr;   // where a driver counts: SysTick, a thread, a test
    tick_driver* driver = nullptr;  // TS-8: started and stopped by the system
    std::span<std::byte> memory = {};
    executor* runs = nullptr;
    task_local_slot* local = nullptr;
    log_sink* log = nullptr;
    std::uint64_t seed = 1;
    bool fixed_rate = true;
    bool fixed_delay = true;
};

}  // namespace tactus::inline v0
