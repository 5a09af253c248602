// SPDX-License-Identifier: Apache-2.0
//
// Setting a sink, and giving it what there is. Locks: the hub's, then that of outside_.
#include "numerals.hpp"

#include <tactus/dispatch/actor_scheduler.hpp>

namespace tactus::inline v0 {

bool actor_scheduler::set_metrics_sink(metrics_sink* sink, actor_labels* labels) noexcept {
    // Not under the lock: who feeds a sink may take its time.
    for (;;) {
        hub_.lock().lock();
        if (hub_.set_sink(sink, labels))
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
        (void)hub_.set_sink(nullptr, nullptr);
    }
    hub_.lock().unlock();
    return on || sink == nullptr;
}

// OH-2: the label is dispatcher and worker, as a dump has them.
void actor_scheduler::feed_workers(metrics_sink& to) noexcept {
    each_dispatcher([&](dispatcher& at) {
        for (std::uint32_t i = 0; i < at.worker_count(); ++i) {
            const auto ratio = hub_.busy_ratio(at.worker_at(i).measured_);
            if (!ratio)
                continue;
            char label[24];
            const numeral home(at.number());
            const numeral own(i);
            std::size_t size = std::string_view(home).copy(label, 10);
            label[size++] = '/';
            size += std::string_view(own).copy(label + size, 10);
            to.gauge(info_of(metric::busy_ratio), {label, size}, *ratio);
        }
    });
}

void actor_scheduler::feed_actors(metrics_sink& to, actor_labels& labels) noexcept {
    for (std::uint32_t i = 0; i < slots_.constructed_count(); ++i) {
        slot& s = slots_.at(i);
        if (s.state().closed())
            continue;
        const mailbox_index who = slots_.index_of(s);
        char room[192];
        const std::string_view label = labels.label_of(who, room);
        if (label.empty())
            continue;
        const std::uint32_t depth = s.user_length();
        const std::uint32_t system_depth = s.system_length();
        if (s.generation() != who.generation)  // it has ended meanwhile
            continue;
        to.gauge(info_of(metric::mailbox_depth), label, depth);
        to.gauge(info_of(metric::system_depth), label, system_depth);
    }
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
    feed_workers(*sink);
    if (actor_labels* labels = hub_.labels())
        feed_actors(*sink, *labels);
    if (timers() != nullptr)
        timers()->feed(*sink);
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
