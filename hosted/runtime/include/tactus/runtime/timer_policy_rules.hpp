// SPDX-License-Identifier: Apache-2.0
//
// Timer policy rules: the policies that a hosted system begins with, by where timers come from
// (SC-5). A timer has the policy of its dispatcher, else of its guardian, else of its subsystem,
// else the system's default.
#pragma once

#include <map>
#include <string>

#include <tactus/scheduler/timer_policy.hpp>

namespace tactus::inline v0 {

struct timer_policy_rules {
    std::map<std::string, timer_policy> dispatchers = {};  // by id, or alias
    std::map<timer_guardian, timer_policy> guardians = {};
    std::map<timer_subsystem, timer_policy> subsystems = {};

    friend bool operator==(const timer_policy_rules&, const timer_policy_rules&) = default;
};

}  // namespace tactus::inline v0
