// SPDX-License-Identifier: Apache-2.0
//
// Setting a sink, and giving it what there is. Locks: the hub's, then that of outside_.
#include <tactus/dispatch/actor_scheduler.hpp>

namespace tactus::inline v0 {

bool actor_scheduler::set_metrics_sink(metrics_sink* sink) noexcept {
    // Not under the lock: who feeds a sink may take its time.
    for (;;) {
        hub_.lock().lock();
        if (hub_.set_sink(sink))
            break;
        hub_.lock().unlock();
        hub_.await_feeding();
    }
    const port::lock_guard held(outside_.mutex);
    bool on = sink != nullptr && hub_.turn_on_outside();
    const auto all = [this](auto&& visit) {
        for (std::uint32_t d = 0; d < dispatcher_count_; ++d) {
            dispatcher& at = *dispatcher_at(d);
            for (std::uint32_t i = 0; i < at.worker_count(); ++i)
                visit(at.worker_at(i).measured_);
        }
    };
    all([&](hub_place& p) { on = on && hub_.turn_on(p); });
    if (!on) {
        all([&](hub_place& p) { hub_.turn_off(p); });
        hub_.turn_off_outside();
        (void)hub_.set_sink(nullptr);
    }
    hub_.lock().unlock();
    return on || sink == nullptr;
}

bool actor_scheduler::collect_metrics() noexcept {
    metrics_sink* sink = nullptr;
    {
        const port::lock_guard held(hub_.lock());
        sink = hub_.begin_feeding();
    }
    if (sink == nullptr)
        return false;
    hub_.feed(*sink);
    for (const lane l : {lane::cancel, lane::timed, lane::ready}) {
        std::uint64_t waiting = 0;
        for (std::uint32_t d = 0; dispatcher_at(d) != nullptr; ++d)
            waiting += dispatcher_at(d)->order().queued_count(l);
        sink->gauge(info_of(metric::ready_queue_depth), name_of(l), waiting);
    }
    const suspension_metrics held_back = suspensions_.metrics();
    if (held_back.measured) {
        sink->gauge(info_of(metric::suspended_total), {}, held_back.total_ns / 1'000'000);
        sink->gauge(info_of(metric::suspended_last), {}, held_back.last_ns / 1'000'000);
    }
    sink->counter(info_of(metric::unheard_signals), {}, held_back.unheard_signals);
    const port::lock_guard held(hub_.lock());
    hub_.end_feeding();
    return true;
}

}  // namespace tactus::inline v0
