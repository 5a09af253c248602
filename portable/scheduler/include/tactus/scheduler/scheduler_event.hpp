// SPDX-License-Identifier: Apache-2.0
//
// What the scheduler tells: warnings for whoever runs the system, and diagnostics for whoever
// looks (SD-2, SD-6). Values; they say everything themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <tactus/mailbox/mailbox_index.hpp>
#include <tactus/scheduler/execution_batch.hpp>
#include <tactus/scheduler/scheduler_error.hpp>
#include <tactus/scheduler/warning_text.hpp>
#include <tactus/time/instant.hpp>
#include <tactus/time/tick_scale.hpp>

namespace tactus::inline v0 {

// The comment says what `value` and `limit` hold beside `job`.
enum class scheduler_warning_kind : std::uint8_t {
    // missed | burst_threshold (SC-21). `period` and `to` are the job's; on a host `text` names its
    // key, message or function, and the actor.
    burst_fire,
    backlog_exceeded,  // missed | backlog_limit: the job was cancelled (SC-22); rest as burst_fire
    // 0 | 0; `text` is the error, `batch` the run (SC-12). Also of a run that could not be
    // delivered: the copy of its message threw, or its dispatcher takes no functions any more.
    handler_failed,
    driver_catch_up_exceeded,  // backlog in ticks | window in ticks (SC-32)
    drift_exceeded,            // observed ns | budget ns (SC-33)
    quota_reached,             // limit | adaptive limit (BP-2)
    // engaged | the state's number; `cause` (BP-4). Of the cause mailbox: engaged | how full, in
    // thousandths; `to` is whose it is, and on a host `text` says so.
    backpressure_state,
    overflow_near_capacity,  // entries | capacity (BP-6)
    dropped_low_priority,    // the priority's number | entries of overflow; 0: no place (BP-7)
    capacity_exceeded,       // entries | capacity (BP-10)
    task_run_failed,         // the task's number | 0; `text` is the error (SH-2)
    diagnostics_dropped,     // dropped | capacity (SD-2)
    // restarts so far | restarts at most; `about` is the driver's name, `text` the cause (TS-8)
    driver_stopped,
};
inline constexpr std::size_t scheduler_warning_count = 13;
[[nodiscard]] const char* name_of(scheduler_warning_kind kind) noexcept;

struct scheduler_warning {
    scheduler_warning_kind kind{};
    backpressure_cause cause = backpressure_cause::none;
    job_id job = {};
    std::int64_t value = 0;
    std::int64_t limit = 0;
    const char* about = "";  // who, where it is about no job; a constant
    warning_text text = "";
    execution_batch batch = {};
    instant at = {};
    duration period = {};   // of burst_fire, backlog_exceeded
    mailbox_index to = {};  // the receiver, of the same; invalid for functions; or whose mailbox
};

/// Writes a sentence such as "timer 7 (key beat of /user/pump, every 10 ms) missed 12 runs, more
/// than its backlog_limit of 8: cancelled".
std::string_view describe(const scheduler_warning& warning, std::span<char> out) noexcept;

/// Who is told of warnings: on whatever thread it happens, under no lock of the scheduler. Must not
/// block.
class scheduler_listener {
public:
    virtual void warned(const scheduler_warning& what) noexcept = 0;

protected:
    ~scheduler_listener() = default;
};

/// SD-6: kinds of diagnostics, one bit each in a subscription.
enum class diagnostic_kind : std::uint8_t {
    schedule,
    fire,
    cancel,
    drop,
    drift,
    driver_status,
    state,
    on_close,
    driver_metrics,        // once a second while somebody wants them (TS-7)
    diagnostics_overflow,  // to the subscriber that lost so many events in a row, unasked (SD-6)
};
inline constexpr std::size_t diagnostic_kind_count = 10;
[[nodiscard]] const char* name_of(diagnostic_kind kind) noexcept;

/// What happened to a job, or to the scheduler. Of the deterministic log too (SD-1).
struct diagnostic {
    diagnostic_kind kind{};
    job_mode mode{};
    std::uint16_t executor = 0;  // number of the dispatcher
    job_id job = {};             // 0 where it is about no job
    tick scheduled_at = 0;
    tick deadline = 0;
    tick at = 0;              // fired at, cancelled at; when it was
    std::int64_t detail = 0;  // drift in ns, state's number, backlog in ticks, task's number, lost

    // Of driver_metrics, which are about no job; see tick_driver_metrics.
    /// The latest that the driver woke since the last ones.
    [[nodiscard]] constexpr duration driver_lateness() const noexcept {
        return duration::from_ns(detail);
    }
    /// How late it wakes under no load.
    [[nodiscard]] constexpr duration driver_jitter() const noexcept {
        return duration::from_ns(static_cast<std::int64_t>(deadline));
    }
    /// How often it has woken since it was started.
    [[nodiscard]] constexpr std::uint64_t driver_wakeups() const noexcept { return scheduled_at; }

    friend constexpr bool operator==(const diagnostic&, const diagnostic&) = default;
};

/// Writes a sentence such as "tick 9: timer 7 (one_shot) fired, due at tick 8".
std::string_view describe(const diagnostic& what, std::span<char> out) noexcept;

}  // namespace tactus::inline v0
