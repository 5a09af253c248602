// SPDX-License-Identifier: Apache-2.0
//
// Metrics of a scheduler: what it has counted, and the names under which a sink gets it (BP-8,
// BP-10).
//
// Plain numbers that the scheduler's owner counts in; publish() is given a copy, so that a sink may
// be slow. Names, kinds and labels are one table beside that of the kernel's (metrics.hpp).
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tactus/dispatch/metrics.hpp>
#include <tactus/scheduler/scheduler_error.hpp>
#include <tactus/time/instant.hpp>

namespace tactus::inline v0 {

/// The rows of timer_metric_table, in order.
enum class timer_metric : std::uint8_t {
    active,
    periodic,
    fired,
    missed,
    cancelled,
    dropped,
    rejected,
    backpressured,
    quota,
    backlog,
    backlog_peak,
    overflow,
    tick_backlog_peak,
    window,
    above_window,
    drift_compensations,
    drift_max,
    lateness,
    on_close_run,
    on_close_failed,
    on_close_duration,
    pending_commands,
    diagnostics_dropped,
};

inline constexpr metric_info timer_metric_table[] = {
    {"scheduler.timer.active", metric_kind::gauge, "", "timers that are pending"},
    {"scheduler.timer.periodic", metric_kind::gauge, "", "those of them that repeat"},
    {"scheduler.timer.fired_total", metric_kind::counter, "", "deliveries"},
    {"scheduler.timer.missed_total", metric_kind::counter, "",
     "runs of periodic timers that were late and folded into others"},
    {"scheduler.timer.cancelled_total", metric_kind::counter, "", "timers that were cancelled"},
    {"scheduler.timer.dropped_total", metric_kind::counter, "",
     "timers that gave way to more important ones, and runs that were due and not handled"},
    {"scheduler.timer.rejected_total", metric_kind::counter, "reason",
     "timers that were not accepted"},
    {"scheduler.timer.backpressured_total", metric_kind::counter, "cause",
     "those of them refused under backpressure"},
    {"scheduler.timer.quota", metric_kind::gauge, "", "how many may be pending; 0: any number"},
    {"scheduler.timer.backlog_ticks", metric_kind::gauge, "",
     "ticks by which the earliest due timer was late when somebody last looked"},
    {"scheduler.timer.backlog_peak_ticks", metric_kind::gauge, "", "the most there ever were"},
    {"scheduler.timer.overflow", metric_kind::gauge, "", "timers too far away for the wheel"},
    {"scheduler.timer.tick_backlog_peak", metric_kind::gauge, "",
     "the most ticks that were taken at once"},
    {"scheduler.timer.window_ticks", metric_kind::gauge, "", "the catch-up window"},
    {"scheduler.timer.above_window_total", metric_kind::counter, "",
     "times the backlog exceeded the window"},
    {"scheduler.timer.drift_compensations_total", metric_kind::counter, "", "catch-ups"},
    {"scheduler.timer.drift_max_ns", metric_kind::gauge, "",
     "the latest that a tick was processed"},
    {"scheduler.timer.lateness_ms", metric_kind::histogram, "",
     "from a timer's deadline to its delivery"},
    {"scheduler.timer.on_close.run_total", metric_kind::counter, "",
     "on-close tasks that were run"},
    {"scheduler.timer.on_close.failed_total", metric_kind::counter, "",
     "those of them that failed"},
    {"scheduler.timer.on_close.duration_us", metric_kind::gauge, "",
     "how long all of them have taken"},
    {"scheduler.timer.pending_commands", metric_kind::gauge, "",
     "registrations and cancels that wait for the wheel"},
    {"scheduler.timer.diagnostics_dropped_total", metric_kind::counter, "",
     "events that subscribers lost"},
};
inline constexpr std::size_t timer_metric_count = std::size(timer_metric_table);
static_assert(timer_metric_count ==
              static_cast<std::size_t>(timer_metric::diagnostics_dropped) + 1);

[[nodiscard]] constexpr const metric_info& info_of(timer_metric m) noexcept {
    return timer_metric_table[static_cast<std::size_t>(m)];
}

struct scheduler_metrics {
    std::uint32_t active = 0;
    std::uint32_t periodic = 0;
    std::uint64_t fired = 0;
    std::uint64_t missed = 0;
    std::uint64_t cancelled = 0;
    std::uint64_t dropped = 0;
    std::uint64_t rejected[scheduler_errc_count] = {};
    std::uint64_t backpressured[backpressure_cause_count] = {};
    std::uint32_t quota = 0;  // 0: none
    std::uint64_t backlog = 0;
    std::uint64_t backlog_peak = 0;
    std::uint32_t overflow = 0;
    std::uint64_t tick_backlog_peak = 0;
    std::uint32_t window = 0;
    std::uint64_t above_window = 0;
    std::uint64_t drift_compensations = 0;
    std::uint64_t drift_max_ns = 0;
    histogram_sums lateness = {};
    std::uint32_t on_close_run = 0;
    std::uint32_t on_close_failed = 0;
    duration on_close_duration = {};
    std::uint32_t pending_commands = 0;
    std::uint64_t diagnostics_dropped = 0;

    /// Counts a refusal by its code, and under backpressure by its cause.
    void count_rejected(const scheduler_error& error) noexcept;
    /// Counts how late a timer was delivered; early is not late.
    void count_lateness(duration late) noexcept;
    /// The backlog as it is now, and its peak.
    void set_backlog(std::uint64_t ticks) noexcept;
    /// By how much a tick was late.
    void note_drift(std::uint64_t ns) noexcept;

    [[nodiscard]] std::uint64_t rejected_total() const noexcept;

    /// Gives everything to the sink, in the order of the table. Labels that never occurred are 0.
    void publish(metrics_sink& to) const noexcept;
};

}  // namespace tactus::inline v0
