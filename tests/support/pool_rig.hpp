// SPDX-License-Identifier: Apache-2.0
//
// A system with a pool of threads, for hosted tests, and what they have in common.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <thread>
#include <utility>

#include <tactus/dispatch/turn.hpp>
#include <tactus/runtime/heap_memory.hpp>
#include <tactus/runtime/scheduler_memory.hpp>
#include <tactus/runtime/steady_clock.hpp>
#include <tactus/runtime/timer_memory.hpp>
#include <tactus/runtime/work_stealing_pool.hpp>
#include <tactus/scheduler/scheduler.hpp>

namespace tactus_test {

#if defined(TACTUS_TEST_SANITIZED)
inline constexpr bool under_sanitizer = true;
#else
inline constexpr bool under_sanitizer = false;
#endif

/// TACTUS_LONG=1: everything at the size the specification says.
inline bool long_run() {
    const char* set = std::getenv("TACTUS_LONG");
    return set != nullptr && *set == '1';
}
/// The full size in a long run, which says so; otherwise a part of it, under sanitizers a tenth of
/// that.
inline std::uint64_t sized(std::uint64_t full, std::uint64_t part) {
    if (long_run()) {
        // ./test shows these lines, so that who reads its end sees what was run.
        std::printf("whole size: %llu\n", static_cast<unsigned long long>(full));
        return full;
    }
    return full / part / (under_sanitizer ? 10 : 1);
}

/// Waits for something another thread does; false when it does not come within a minute, in a long
/// run within twenty: whole sizes under a sanitizer take their time.
template <class Condition>
bool until(Condition&& condition) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(long_run() ? 20 : 1);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > limit)
            return false;
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return true;
}

struct pool_rig {
    explicit pool_rig(std::uint32_t workers, tactus::runtime::work_stealing_pool::options o = {},
                      tactus::actor_scheduler::options with = {})
        : system(memory.fill([&] {
              with.worker_count = workers;
              if (with.time == nullptr)
                  with.time = &time;
              return with;
          }())),
          pool(std::in_place, system, std::move(o)) {}

    tactus::runtime::scheduler_memory memory{{.actors_max = 1U << 17, .messages_max = 1U << 23}};
    tactus::runtime::steady_clock time;
    tactus::actor_scheduler system;
    std::optional<tactus::runtime::work_stealing_pool> pool;
};

/// Outlives the kernel.
struct pool_timers {
    explicit pool_timers(tactus::duration resolution)
        : timers(blocks.options(tactus::scheduler_options{
              .time = &timers_time, .config = config(resolution), .memory = &heap})) {}
    [[nodiscard]] static tactus::scheduler_config config(tactus::duration resolution) {
        auto c = tactus::scheduler_config::for_clock(tactus::clock_kind::realtime_host);
        c.resolution = resolution;
        return c;
    }
    tactus::runtime::steady_clock timers_time;
    tactus::runtime::heap_memory heap;
    tactus::runtime::timer_memory blocks;
    tactus::scheduler timers;
};

/// The same with a scheduler, whose time the workers keep.
struct timed_pool_rig : pool_timers, pool_rig {
    explicit timed_pool_rig(std::uint32_t workers, tactus::actor_scheduler::options with = {},
                            tactus::duration resolution = tactus::duration::from_ms(1))
        : pool_timers(resolution), pool_rig(workers, {}, [&] {
              with.time = &timers_time;
              with.timers = &timers;
              return with;
          }()) {
        timers.attach(system);
    }
};

struct counting_actor {
    std::atomic<std::uint64_t>* count;
    void receive(tactus::turn&, tactus::envelope&) { count->fetch_add(1); }
};

}  // namespace tactus_test
