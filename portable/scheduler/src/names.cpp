// SPDX-License-Identifier: Apache-2.0
//
// Names of everything the scheduler says, as they appear in the documentation.
#include <tactus/scheduler/execution_batch.hpp>
#include <tactus/scheduler/scheduler_error.hpp>
#include <tactus/scheduler/scheduler_event.hpp>

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
        "invalid_delay",     "invalid_options", "unsupported_mode", "quota_exceeded",
        "capacity_exceeded", "backpressured",   "closed",           "task_run_capacity_exceeded"};
    return name_in(names, code);
}

const char* name_of(backpressure_cause cause) noexcept {
    static constexpr const char* names[backpressure_cause_count] = {"none", "driver", "gauge",
                                                                    "adaptive_quota"};
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
        "diagnostics_overflow", "driver_stopped"};
    return name_in(names, kind);
}

const char* name_of(diagnostic_kind kind) noexcept {
    static constexpr const char* names[diagnostic_kind_count] = {
        "schedule", "fire", "cancel", "drop", "drift", "driver_status", "state", "on_close"};
    return name_in(names, kind);
}

}  // namespace tactus::inline v0
