// SPDX-License-Identifier: Apache-2.0
//
// SD-5: every value of every enum has a name of its own.
#include <tactus/scheduler/backpressure.hpp>
#include <tactus/scheduler/on_close_tasks.hpp>
#include <tactus/scheduler/scheduler_config.hpp>
#include <tactus/scheduler/scheduler_event.hpp>
#include <tactus/scheduler/timer_policy.hpp>

#include <string_view>

#include "portable_test.hpp"

namespace tactus {
namespace {

template <class Enum>
bool all_named(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        const std::string_view name = name_of(static_cast<Enum>(i));
        if (name.empty() || name == "unknown")
            return false;
        for (std::size_t k = 0; k < i; ++k) {
            if (name == name_of(static_cast<Enum>(k)))
                return false;
        }
    }
    return std::string_view(name_of(static_cast<Enum>(count))) == "unknown";
}

TEST(scheduler_names, each_value_has_its_own) {
    EXPECT_TRUE(all_named<job_mode>(job_mode_count));
    EXPECT_TRUE(all_named<timer_priority>(timer_priority_count));
    EXPECT_TRUE(all_named<scheduler_errc>(scheduler_errc_count));
    EXPECT_TRUE(all_named<backpressure_cause>(backpressure_cause_count));
    EXPECT_TRUE(all_named<scheduler_warning_kind>(scheduler_warning_count));
    EXPECT_TRUE(all_named<diagnostic_kind>(diagnostic_kind_count));
    EXPECT_TRUE(all_named<timer_guardian>(timer_guardian_count));
    EXPECT_TRUE(all_named<backpressure_state>(backpressure_state_count));
    EXPECT_TRUE(all_named<backpressure_event>(backpressure_event_count));
    EXPECT_TRUE(all_named<close_priority>(close_priority_count));
    EXPECT_TRUE(all_named<catch_up_rule>(catch_up_rule_count));
    EXPECT_TRUE(all_named<delay_after>(delay_after_count));
    EXPECT_TRUE(all_named<scheduler_profile>(scheduler_profile_count));
    EXPECT_TRUE(all_named<runner_mode>(runner_mode_count));
    EXPECT_TRUE(all_named<scheduler_config_errc>(scheduler_config_errc_count));
}

}  // namespace
}  // namespace tactus
