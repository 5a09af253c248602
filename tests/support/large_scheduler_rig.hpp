// SPDX-License-Identifier: Apache-2.0
//
// A scheduler with room for many timers and a kernel, in time that one thread moves and all read;
// for hosted tests of load and races.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

#include <tactus/scheduler/scheduler.hpp>

#include "kernel_rig.hpp"

namespace tactus_test {

#if defined(TACTUS_TEST_SANITIZED)
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif

/// The size of the specification with TACTUS_LONG=1; otherwise a part of it, under a sanitizer a
/// smaller one.
inline std::uint32_t size_of_run(std::uint32_t whole, std::uint32_t part, std::uint32_t sanitized) {
    const char* set = std::getenv("TACTUS_LONG");
    if (set != nullptr && *set == '1') {
        // ./test shows these lines, so that who reads its end sees what was run.
        std::printf("whole size: %u\n", whole);
        return whole;
    }
    return is_sanitized ? sanitized : part;
}

/// A clock that one thread moves and all read.
class moved_clock final : public tactus::clock {
public:
    [[nodiscard]] tactus::instant now() const noexcept override {
        return tactus::instant::from_ns(now_.load(std::memory_order_acquire));
    }
    [[nodiscard]] tactus::clock_kind kind() const noexcept override {
        return tactus::clock_kind::deterministic;
    }
    void advance(tactus::duration d) noexcept {
        now_.fetch_add(static_cast<std::uint64_t>(d.ns()), std::memory_order_acq_rel);
    }

private:
    std::atomic<std::uint64_t> now_{0};
};

class large_memory final : public tactus::memory_region {
public:
    explicit large_memory(std::size_t bytes)
        : bytes_(static_cast<std::byte*>(::operator new(bytes, std::align_val_t(64)))) {
        data_ = bytes_;
        size_ = bytes;
        size_max_ = bytes;
    }
    ~large_memory() { ::operator delete(bytes_, std::align_val_t(64)); }
    [[nodiscard]] bool resize(std::size_t bytes) noexcept override { return bytes <= size_max_; }

private:
    std::byte* bytes_;
};

class large_scheduler_rig {
public:
    explicit large_scheduler_rig(std::uint32_t timers_max = 1U << 17U)
        : large_scheduler_rig(timers_max, [](tactus::scheduler_options&) {}) {}
    /// `change` is given the options: what the test wants different.
    template <class Change>
    large_scheduler_rig(std::uint32_t timers_max, Change&& change)
        : jobs_(tactus::job_store::bytes(tactus::scheduler::cells_for(timers_max))),
          nodes_(tactus::scheduler_wheel::node_bytes(timers_max)),
          overflow_(tactus::scheduler_wheel::overflow_bytes(timers_max)),
          timers(changed(timers_max, change)),
          kernel([this](kernel_rig::options& o) {
              o.timers = &timers;
              o.time = &time;
          }) {
        timers.attach(*kernel);
    }
    ~large_scheduler_rig() { kernel.destroy(); }

    /// So many ticks, one by one.
    void pass(std::uint32_t ticks) noexcept {
        for (std::uint32_t i = 0; i < ticks; ++i) {
            time.advance(timers.resolution());
            (void)kernel.run();
        }
    }

    moved_clock time;

private:
    template <class Change>
    [[nodiscard]] tactus::scheduler_options changed(std::uint32_t timers_max, Change& change) {
        tactus::scheduler_options o{
            .time = &time,
            .config = tactus::scheduler_config::for_clock(tactus::clock_kind::deterministic),
            .timers_max = timers_max,
            .jobs = &jobs_,
            .nodes = &nodes_,
            .overflow = &overflow_};
        change(o);
        return o;
    }

    large_memory jobs_;
    large_memory nodes_;
    large_memory overflow_;

public:
    tactus::scheduler timers;
    kernel_rig kernel;
};

}  // namespace tactus_test
