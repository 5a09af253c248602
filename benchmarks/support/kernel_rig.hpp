// SPDX-License-Identifier: Apache-2.0
//
// What the programs on the bare kernel share: a system on threads, what is sent in it, and how the
// main thread learns that the work is done.
#pragma once

#include <atomic>
#include <cstdint>

#include <tactus/dispatch/turn.hpp>
#include <tactus/runtime/scheduler_memory.hpp>
#include <tactus/runtime/steady_clock.hpp>
#include <tactus/runtime/work_stealing_pool.hpp>

namespace bench {

/// Tells the main thread that the work is done.
class done_flag {
public:
    void set() { flag_.store(1, std::memory_order_release), flag_.notify_one(); }
    void wait() {
        flag_.wait(0, std::memory_order_acquire);
        flag_.store(0, std::memory_order_relaxed);
    }

private:
    std::atomic<int> flag_{0};
};
inline done_flag done;

struct system_rig {
    explicit system_rig(std::uint32_t workers)
        : system(memory.fill({.worker_count = workers, .time = &time})), pool(system) {}
    ~system_rig() { pool.force_stop(); }

    tactus::runtime::scheduler_memory memory;
    tactus::runtime::steady_clock time;
    tactus::actor_scheduler system;
    tactus::runtime::work_stealing_pool pool;
};

struct number {
    std::uint64_t value;
};
struct go {
    std::uint64_t count;
};

}  // namespace bench
