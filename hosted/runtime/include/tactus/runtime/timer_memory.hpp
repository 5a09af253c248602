// SPDX-License-Identifier: Apache-2.0
//
// Memory for the timers of one scheduler on a host.
//
// Of the unbounded profile it grows with them: it reserves addresses for `timers_max` timers and
// takes pages as they are needed. Of a bounded one it is all there from the start (BP-1). Outlives
// the scheduler.
//
// Thread safety: none; as who holds the scheduler's lock.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tactus/runtime/virtual_memory.hpp>
#include <tactus/scheduler/scheduler.hpp>
#include <tactus/time/timer_wheel.hpp>

namespace tactus::inline v0::runtime {

class timer_memory {
public:
    static constexpr std::uint32_t timers_max_default = 100'000'000;

    explicit timer_memory(std::uint32_t timers_max = timers_max_default) noexcept
        : nodes_(timer_wheel::node_bytes(timers_max)),
          overflow_(timer_wheel::overflow_bytes(timers_max)),
          jobs_(job_store::bytes(scheduler::cells_for(timers_max))),
          timers_max_(timers_max),
          overflow_max_(timers_max) {}
    /// For a bounded profile. Requires: its timers are limited.
    explicit timer_memory(const scheduler_capacity& profile) noexcept
        : nodes_(timer_wheel::node_bytes(profile.timers), virtual_memory::pages::at_once),
          overflow_(timer_wheel::overflow_bytes(profile.overflow), virtual_memory::pages::at_once),
          jobs_(job_store::bytes(scheduler::cells_for(profile.timers)),
                virtual_memory::pages::at_once),
          timers_max_(profile.timers),
          overflow_max_(profile.overflow) {}

    /// False: the system refused the addresses, or the pages of a bounded profile.
    [[nodiscard]] bool usable() const noexcept {
        return nodes_.size_max() != 0 && jobs_.size_max() != 0 &&
               (overflow_max_ == 0 || overflow_.size_max() != 0);
    }
    /// BP-1: all that a bounded profile needs; of the unbounded one addresses, for `most` timers.
    [[nodiscard]] static timer_memory of(const scheduler_config& c, std::uint32_t most) noexcept {
        const scheduler_capacity profile = capacity_of(c);
        if (profile.timers == scheduler_capacity::unlimited)
            return timer_memory(most);
        return timer_memory(profile);
    }

    /// The options of a wheel with this memory filled in. A capacity that is already set stays.
    [[nodiscard]] timer_wheel_options options(timer_wheel_options o = {}) noexcept {
        if (o.timers_max == 0)
            o.timers_max = timers_max_;
        o.nodes = &nodes_;
        o.overflow = &overflow_;
        return o;
    }
    /// The same of a scheduler.
    [[nodiscard]] scheduler_options options(scheduler_options o) noexcept {
        if (o.timers_max == 0)
            o.timers_max = timers_max_;
        o.jobs = &jobs_;
        o.nodes = &nodes_;
        o.overflow = &overflow_;
        return o;
    }

private:
    virtual_memory nodes_;
    virtual_memory overflow_;
    virtual_memory jobs_;
    std::uint32_t timers_max_;
    std::uint32_t overflow_max_;
};

}  // namespace tactus::inline v0::runtime
