// SPDX-License-Identifier: Apache-2.0
//
// A kernel_rig whose actors may suspend themselves for a time, to the nanosecond.
#pragma once

#include "kernel_rig.hpp"
#include "naive_timers.hpp"

namespace tactus_test {

/// Outlives the kernel.
struct own_timers {
    naive_timers<> timers;
};

struct timed_rig : own_timers, kernel_rig {
    /// `change` is given the options: what the test wants different.
    template <class Change>
    explicit timed_rig(Change&& change) noexcept
        : kernel_rig([&](options& o) {
              timers.set_clock(o.time);
              o.timers = &timers;
              change(o);
          }) {
        timers.attach(*kernel);
    }
    timed_rig() noexcept : timed_rig([](options&) {}) {}
};

}  // namespace tactus_test
