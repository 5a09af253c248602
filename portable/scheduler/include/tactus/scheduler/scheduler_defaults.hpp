// SPDX-License-Identifier: Apache-2.0
//
// Scheduler defaults: where the system preset `pekko` differs, as far as timers go (SC-26). Each
// can be had alone.
#pragma once

#include <tactus/dispatch/dispatch_rules.hpp>
#include <tactus/scheduler/scheduler_config.hpp>
#include <tactus/scheduler/timer_policy.hpp>

namespace tactus::inline v0 {

struct scheduler_preset {
    scheduler_config config = {};
    timer_policy policy = {};  // of timers that nobody says more about
};

[[nodiscard]] constexpr scheduler_preset scheduler_defaults(system_preset preset) noexcept {
    scheduler_preset p;
    if (preset == system_preset::pekko) {
        p.config.resolution = duration::from_ms(10);
        p.config.zero_delay = zero_delay_rule::next_tick;
        p.policy.fixed_rate.catch_up = catch_up_rule::each;
        p.policy.fixed_delay.after = delay_after::sent;
    }
    return p;
}

}  // namespace tactus::inline v0
