// SPDX-License-Identifier: Apache-2.0
//
// Scheduler options: how a scheduler is made, from memory and objects that outlive it.
#pragma once

#include <cstdint>

#include <tactus/base/memory_region.hpp>
#include <tactus/base/memory_source.hpp>
#include <tactus/dispatch/task_local_slot.hpp>
#include <tactus/scheduler/scheduler_config.hpp>
#include <tactus/scheduler/scheduler_event.hpp>
#include <tactus/scheduler/scheduler_services.hpp>
#include <tactus/time/clock.hpp>

namespace tactus::inline v0 {

/// How a scheduler is made.
struct scheduler_options {
    const clock* time = nullptr;
    scheduler_config config = {};
    std::uint32_t timers_max = 0;  // of the profile unbounded; otherwise as the profile says
    // Where everything lives; they outlive the scheduler. See plan().
    memory_region* jobs = nullptr;
    memory_region* nodes = nullptr;
    memory_region* overflow = nullptr;
    memory_source* memory = nullptr;  // for what is too large for a cell; null: there is none
    task_local_slot* slot = nullptr;  // BT-3; null: batches travel with their message
    scheduler_listener* listener = nullptr;  // null: nobody is told
    scheduler_services* services = nullptr;  // null: none
    // SC-14: what there is.
    bool fixed_rate = true;
    bool fixed_delay = true;
};

}  // namespace tactus::inline v0
