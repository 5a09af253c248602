// SPDX-License-Identifier: Apache-2.0
//
// Goal: what the preset pekko means for timers (SC-26); the default preset means nothing.
#include <tactus/scheduler/scheduler_defaults.hpp>

#include "portable_test.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used

// SC-26
TEST(scheduler_defaults, SC_26_pekko_ticks_every_10_ms_and_delivers_each_run) {
    const scheduler_preset p = scheduler_defaults(system_preset::pekko);
    EXPECT_EQ(p.config.resolution, duration::from_ms(10));
    EXPECT_EQ(p.config.zero_delay, zero_delay_rule::next_tick);
    EXPECT_EQ(p.policy.fixed_rate.catch_up, catch_up_rule::each);
    EXPECT_EQ(p.policy.fixed_delay.after, delay_after::sent);
    EXPECT_TRUE(validate(p.policy).has_value());
}

// SC-26, SC-37
TEST(scheduler_defaults, SC_26_the_default_preset_changes_nothing) {
    const scheduler_preset p = scheduler_defaults(system_preset::tactus);
    const scheduler_config c;
    EXPECT_EQ(p.config.resolution, c.resolution);
    EXPECT_EQ(p.config.zero_delay, c.zero_delay);
    EXPECT_TRUE(p.policy == timer_policy{});
}

// SC-37: both are valid wherever they are used.
TEST(scheduler_defaults, SC_37_every_preset_is_valid) {
    for (std::size_t i = 0; i < system_preset_count; ++i) {
        scheduler_config c = scheduler_defaults(static_cast<system_preset>(i)).config;
        c.clock = port::has_interrupts ? clock_kind::realtime_hardware : clock_kind::realtime_host;
        EXPECT_TRUE(validate(c).has_value());
    }
}
