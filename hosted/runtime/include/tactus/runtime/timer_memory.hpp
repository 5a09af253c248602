// SPDX-License-Identifier: Apache-2.0
//
// Memory for one timer wheel that grows with it: the unbounded profile of a hosted system.
//
// Reserves addresses for `timers_max` timers and takes pages as they are needed. Outlives the
// wheel.
//
// Thread safety: none; as the wheel.
#pragma once

#include <cstddef>

#include <tactus/runtime/virtual_memory.hpp>
#include <tactus/time/timer_wheel.hpp>

namespace tactus::inline v0::runtime {

class timer_memory {
public:
    static constexpr std::size_t timers_max_default = 100'000'000;

    explicit timer_memory(std::size_t timers_max = timers_max_default) noexcept
        : nodes_(timer_wheel::node_bytes(timers_max)),
          overflow_(timer_wheel::overflow_bytes(timers_max)),
          timers_max_(timers_max) {}

    /// The options with this memory filled in. A capacity that is already set stays.
    [[nodiscard]] timer_wheel_options options(timer_wheel_options o = {}) noexcept {
        if (o.timers_max == 0)
            o.timers_max = timers_max_;
        o.nodes = &nodes_;
        o.overflow = &overflow_;
        return o;
    }

private:
    virtual_memory nodes_;
    virtual_memory overflow_;
    std::size_t timers_max_;
};

}  // namespace tactus::inline v0::runtime
