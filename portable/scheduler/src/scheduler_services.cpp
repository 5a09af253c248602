// SPDX-License-Identifier: Apache-2.0
//
// What services have to know of a scheduler.
#include <tactus/scheduler/scheduler_services.hpp>

#include <tactus/scheduler/scheduler.hpp>

namespace tactus::inline v0 {

bool full_scheduler_services::engaged(tick at, instant now, scheduler_listener* told) noexcept {
    if (const auto mailboxes = probes_.judge_mailboxes(at)) {
        // Who judges at the next tick sets it right if two of them come here at once.
        if (mailboxes->any_full != has(crowded))
            mailboxes->any_full ? begin(crowded) : end(crowded);
        for (std::uint32_t i = 0; i < mailboxes->count && told != nullptr; ++i) {
            const auto& m = mailboxes->all[i];
            told->warned({.kind = scheduler_warning_kind::backpressure_state,
                          .cause = backpressure_cause::mailbox,
                          .value = m.is_full ? 1 : 0,
                          .limit = m.permille,
                          .at = now,
                          .to = m.who});
        }
    }
    return gauge_.sample(at);
}

std::optional<scheduler_error> full_scheduler_services::refuse_for_mailbox(
    const job_request& r) noexcept {
    if (r.goes_on || r.priority == timer_priority::high)
        return std::nullopt;
    const auto full = probes_.full_mailbox(r.to);
    if (!full)
        return std::nullopt;
    return scheduler_error{.code = scheduler_errc::backpressured,
                           .cause = backpressure_cause::mailbox,
                           .value = full->messages,
                           .limit = full->capacity};
}

void full_scheduler_services::feed(scheduler& of, metrics_sink& to) noexcept {
    of.metrics().publish(to);
}

void full_scheduler_services::watch_driver() noexcept {
    if (driver_ == nullptr)
        return;
    listens_.store(1, std::memory_order_relaxed);
    driver_->listen(this);
}

// Not recorded in the log. Under a lock of the driver: what is lost is told with the next event.
bool full_scheduler_services::measured(const tick_driver_metrics& what) noexcept {
    (void)events_.publish({.kind = diagnostic_kind::driver_metrics,
                           .scheduled_at = what.wakeups,
                           .deadline = static_cast<tick>(what.jitter.ns()),
                           .at = scale_.floor(time_->now()),
                           .detail = what.lateness_recent.ns()});
    return events_.wants(diagnostic_kind::driver_metrics);
}

}  // namespace tactus::inline v0
