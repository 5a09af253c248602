// SPDX-License-Identifier: Apache-2.0
//
// What services have to know of a scheduler.
#include <tactus/scheduler/scheduler_services.hpp>

#include <tactus/scheduler/scheduler.hpp>

namespace tactus::inline v0 {

void full_scheduler_services::feed(scheduler& of, metrics_sink& to) noexcept {
    of.metrics().publish(to);
}

void full_scheduler_services::watch_driver() noexcept {
    if (driver_ == nullptr)
        return;
    listens_.store(1, std::memory_order_relaxed);
    driver_->listen(this);
}

// Not recorded in the log, and under no lock: what is lost is told with the next event.
bool full_scheduler_services::measured(const tick_driver_metrics& what) noexcept {
    (void)events_.publish({.kind = diagnostic_kind::driver_metrics,
                           .scheduled_at = what.wakeups,
                           .deadline = static_cast<tick>(what.jitter.ns()),
                           .at = scale_.floor(time_->now()),
                           .detail = what.lateness_recent.ns()});
    return events_.wants(diagnostic_kind::driver_metrics);
}

}  // namespace tactus::inline v0
