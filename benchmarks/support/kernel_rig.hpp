// SPDX-License-Identifier: Apache-2.0
//
// What the programs on the bare kernel share: a system on threads.
#pragma once

#include <cstdint>

#include <tactus/dispatch/turn.hpp>
#include <tactus/runtime/scheduler_memory.hpp>
#include <tactus/runtime/steady_clock.hpp>
#include <tactus/runtime/work_stealing_pool.hpp>

#include "done_flag.hpp"

namespace bench {

struct system_rig {
    explicit system_rig(std::uint32_t workers)
        : system(memory.fill({.worker_count = workers, .time = &time})), pool(system) {}
    ~system_rig() { pool.force_stop(); }

    tactus::runtime::scheduler_memory memory;
    tactus::runtime::steady_clock time;
    tactus::actor_scheduler system;
    tactus::runtime::work_stealing_pool pool;
};

}  // namespace bench
