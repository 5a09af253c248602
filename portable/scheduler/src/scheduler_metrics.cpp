// SPDX-License-Identifier: Apache-2.0
//
// Counting, and giving the counts to a sink.
#include <tactus/scheduler/scheduler_metrics.hpp>

#include <algorithm>

namespace tactus::inline v0 {

void scheduler_metrics::count_rejected(const scheduler_error& error) noexcept {
    ++rejected[static_cast<std::size_t>(error.code)];
    if (error.code == scheduler_errc::backpressured)
        ++backpressured[static_cast<std::size_t>(error.cause)];
}

void scheduler_metrics::count_lateness(duration late) noexcept {
    const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(late.ns(), 0));
    ++lateness.counts[duration_buckets::of(ns)];
    lateness.total_us += ns / 1'000;
}

void scheduler_metrics::set_backlog(std::uint64_t ticks) noexcept {
    backlog = ticks;
    backlog_peak = std::max(backlog_peak, ticks);
}

void scheduler_metrics::note_drift(std::uint64_t ns) noexcept {
    drift_max_ns = std::max(drift_max_ns, ns);
}

std::uint64_t scheduler_metrics::rejected_total() const noexcept {
    std::uint64_t sum = 0;
    for (const std::uint64_t n : rejected)
        sum += n;
    return sum;
}

void scheduler_metrics::publish(metrics_sink& to) const noexcept {
    const auto gauge = [&to](timer_metric m, std::uint64_t n) { to.gauge(info_of(m), {}, n); };
    const auto counter = [&to](timer_metric m, std::uint64_t n) { to.counter(info_of(m), {}, n); };
    gauge(timer_metric::active, active);
    gauge(timer_metric::periodic, periodic);
    counter(timer_metric::fired, fired);
    counter(timer_metric::missed, missed);
    counter(timer_metric::cancelled, cancelled);
    counter(timer_metric::dropped, dropped);
    for (std::size_t i = 0; i < scheduler_errc_count; ++i)
        to.counter(info_of(timer_metric::rejected), name_of(static_cast<scheduler_errc>(i)),
                   rejected[i]);
    // Not `none`: what is refused has a cause.
    for (std::size_t i = 1; i < backpressure_cause_count; ++i)
        to.counter(info_of(timer_metric::backpressured),
                   name_of(static_cast<backpressure_cause>(i)), backpressured[i]);
    gauge(timer_metric::quota, quota);
    gauge(timer_metric::backlog, backlog);
    gauge(timer_metric::backlog_peak, backlog_peak);
    gauge(timer_metric::overflow, overflow);
    gauge(timer_metric::tick_backlog_peak, tick_backlog_peak);
    gauge(timer_metric::window, window);
    counter(timer_metric::above_window, above_window);
    counter(timer_metric::drift_compensations, drift_compensations);
    gauge(timer_metric::drift_max, drift_max_ns);
    to.histogram(info_of(timer_metric::lateness), {}, lateness);
    counter(timer_metric::on_close_run, on_close_run);
    counter(timer_metric::on_close_failed, on_close_failed);
    gauge(timer_metric::on_close_duration,
          static_cast<std::uint64_t>(on_close_duration.ns() / 1'000));
    gauge(timer_metric::pending_commands, pending_commands);
    counter(timer_metric::diagnostics_dropped, diagnostics_dropped);
}

}  // namespace tactus::inline v0
