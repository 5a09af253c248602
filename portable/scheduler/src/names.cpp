// SPDX-License-Identifier: Apache-2.0
//
// Names of everything the scheduler says, as they appear in the documentation.
#include <tactus/scheduler/backpressure.hpp>
#include <tactus/scheduler/execution_batch.hpp>
#include <tactus/scheduler/on_close_tasks.hpp>
#include <tactus/scheduler/scheduler_config.hpp>
#include <tactus/scheduler/scheduler_error.hpp>
#include <tactus/scheduler/scheduler_event.hpp>
#include <tactus/scheduler/timer_policy.hpp>

#include <tactus/base/check.hpp>

namespace tactus::inline v0 {
namespace {

template <class Enum, std::size_t Count>
const char* name_in(const char* const (&names)[Count], Enum value) noexcept {
    const auto i = static_cast<std::size_t>(value);
    return i < Count ? names[i] : "unknown";
}

}  // namespace

const char* name_of(job_mode mode) noexcept {
    static constexpr const char* names[job_mode_count] = {"one_shot", "fixed_rate", "fixed_delay"};
    return name_in(names, mode);
}

const char* name_of(timer_priority priority) noexcept {
    static constexpr const char* names[timer_priority_count] = {"high", "normal", "low"};
    return name_in(names, priority);
}

const char* name_of(scheduler_errc code) noexcept {
    static constexpr const char* names[scheduler_errc_count] = {
        "invalid_delay",       "invalid_options", "unsupported_mode", "quota_exceeded",
        "capacity_exceeded",   "backpressured",   "closed",           "task_run_capacity_exceeded",
        "construction_failed", "within_interrupt"};
    return name_in(names, code);
}

const char* name_of(backpressure_cause cause) noexcept {
    static constexpr const char* names[backpressure_cause_count] = {"none", "driver", "gauge",
                                                                    "adaptive_quota", "mailbox"};
    return name_in(names, cause);
}

const char* name_of(scheduler_warning_kind kind) noexcept {
    static constexpr const char* names[scheduler_warning_count] = {
        "burst_fire",           "backlog_exceeded",
        "handler_failed",       "driver_catch_up_exceeded",
        "drift_exceeded",       "quota_reached",
        "backpressure_state",   "overflow_near_capacity",
        "dropped_low_priority", "capacity_exceeded",
        "task_run_failed",      "diagnostics_dropped",
        "driver_stopped"};
    return name_in(names, kind);
}

const char* name_of(diagnostic_kind kind) noexcept {
    static constexpr const char* names[diagnostic_kind_count] = {
        "schedule",      "fire",  "cancel",   "drop",           "drift",
        "driver_status", "state", "on_close", "driver_metrics", "diagnostics_overflow"};
    return name_in(names, kind);
}

const char* name_of(scheduler_profile profile) noexcept {
    static constexpr const char* names[scheduler_profile_count] = {
        "micro", "tiny", "small", "standard", "large", "unbounded", "custom"};
    return name_in(names, profile);
}

const char* name_of(runner_mode mode) noexcept {
    static constexpr const char* names[runner_mode_count] = {"manual", "async_host", "hardware"};
    return name_in(names, mode);
}

const char* name_of(backpressure_state state) noexcept {
    static constexpr const char* names[backpressure_state_count] = {"normal", "backpressure",
                                                                    "rejecting"};
    return name_in(names, state);
}

const char* name_of(backpressure_event event) noexcept {
    static constexpr const char* names[backpressure_event_count] = {
        "behind", "engaged", "stalled", "no_quota", "recovered", "calm"};
    return name_in(names, event);
}

const char* name_of(close_priority priority) noexcept {
    static constexpr const char* names[close_priority_count] = {"system_critical", "runtime",
                                                                "user"};
    return name_in(names, priority);
}

const char* name_of(catch_up_rule rule) noexcept {
    static constexpr const char* names[catch_up_rule_count] = {"fold", "each"};
    return name_in(names, rule);
}

const char* name_of(timer_guardian guardian) noexcept {
    static constexpr const char* names[timer_guardian_count] = {"none", "root", "user", "system"};
    return name_in(names, guardian);
}

const char* name_of(delay_after after) noexcept {
    static constexpr const char* names[delay_after_count] = {"handled", "sent"};
    return name_in(names, after);
}

}  // namespace tactus::inline v0
