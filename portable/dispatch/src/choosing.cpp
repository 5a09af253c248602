// SPDX-License-Identifier: Apache-2.0
//
// The slow half of choosing what runs next; the order is written in the header.
#include <tactus/dispatch/coordinator.hpp>

#include <utility>

namespace tactus::inline v0 {

std::uint32_t coordinator::effective_limit(worker_lanes& w) noexcept {
    std::uint32_t limit = cancel_streak_limit_;
    if (w.suggestion_ == suggestion::drain_obligations ||
        w.suggestion_ == suggestion::drain_regions)
        limit *= 2;
    if (limit > w.certificate_.effective_limit)
        w.certificate_.effective_limit = limit;
    return limit;
}

void coordinator::run_timers(worker_lanes& w) noexcept {
    if (!every_dispatch_reads_clock_ && !timers_->marked_due() && w.step() % clock_interval != 0)
        return;
    (void)run_due_timers();
}

bool coordinator::run_due_timers() noexcept {
    const instant at = timers_->next_deadline();
    if (at == instant::never() && !timers_->marked_due())
        return false;
    const instant now = time_->now();
    const bool due = at <= now;
    if (due || timers_->marked_due())
        timers_->run_due(now);  // also takes the mark back
    return due;
}

slot* coordinator::next_slowly(worker_lanes& w) noexcept {
    if (timers_ != nullptr)
        run_timers(w);
    if (advice_ != nullptr && ++w.governor_step_ == governor_interval) {
        w.governor_step_ = 0;
        w.suggestion_ = advice_->suggest(load_ != nullptr ? load_->measure() : load_snapshot{});
    }
    slot* s = nullptr;
    bool cancel_allowed = true;
    if (w.is(worker_lanes::local_urgent) || w.cancel_streak_ != 0 || global_.urgent() ||
        w.pinned_.urgent_hint() != 0 || !standard()) {
        cancel_allowed = w.cancel_streak_ < effective_limit(w);
        if (!cancel_allowed)
            ++w.certificate_.fairness_yields;
        s = next_urgent(w, cancel_allowed);
    }
    if (s == nullptr)
        s = next_ready(w);
    // What looked like ready work may have been entries left behind.
    if (s == nullptr && w.timed_streak_ >= timed_streak_limit_) [[unlikely]]
        s = next_timed(w);
    if (s == nullptr && !cancel_allowed) {
        w.cancel_streak_ = 0;
        s = next_cancel(w);
        if (s != nullptr)
            ++w.certificate_.fallback_cancel_dispatches;
    }
    if (s == nullptr && mode_ == lane_mode::lab)
        s = lab_steal(w);
    // Before there is nothing to do: a timer may be due that nobody has looked for.
    if (s == nullptr && timers_ != nullptr && standard() && run_due_timers()) {
        s = next_urgent(w, true);
        if (s == nullptr)
            s = next_ready(w);
    }
    w.set(worker_lanes::in_streak, w.cancel_streak_ + w.timed_streak_ != 0);
    if (s != nullptr)
        found_work(w);
    return s;
}

void coordinator::end_idling(worker_lanes& w) noexcept {
    if (w.is(worker_lanes::searching))
        end_search(w);
    if (!w.is(worker_lanes::owes_time))
        return;
    w.set(worker_lanes::owes_time, false);
    const bool unknown = std::exchange(w.new_deadline_, false);
    if (timers_->next_deadline() != instant::never())
        idle_.time_unkept(unknown);
}

void coordinator::end_search(worker_lanes& w) noexcept {
    w.set(worker_lanes::searching, false);
    if (idle_.stop_search() && (has_work(&w) || time_unkept()))
        idle_.work_made();
}

bool coordinator::time_unkept() const noexcept {
    return timers_ != nullptr && !idle_.time_kept() && timers_->next_deadline() != instant::never();
}

void coordinator::deadline_added(worker_lanes* from, instant at) noexcept {
    // The worker may be busy for long, and so may all others.
    if (driver_ != nullptr)
        driver_->deadline_added(at);
    if (from == nullptr) {
        idle_.time_unkept(true);
        return;
    }
    from->new_deadline_ = true;
    from->set(worker_lanes::owes_time, true);
}

slot* coordinator::next_urgent(worker_lanes& w, bool cancel_allowed) noexcept {
    if (!standard())
        return parity_urgent(w, cancel_allowed);
    // After each that was found comes a look that finds nothing: it asks no lane.
    w.set(worker_lanes::local_urgent,
          !w.urgent_.looks_empty() || w.keyed_.urgent() || w.pinned_.urgent());
    if (!w.is(worker_lanes::local_urgent) && !global_.urgent())
        return nullptr;
    const bool timed_first = w.suggestion_ == suggestion::meet_deadlines;
    slot* s = nullptr;
    if (cancel_allowed && !timed_first && (s = next_cancel(w)) != nullptr)
        return s;
    if ((w.timed_streak_ < timed_streak_limit_ || !ready_waits(w)) &&
        (s = next_timed(w)) != nullptr)
        return s;
    if (cancel_allowed && timed_first && (s = next_cancel(w)) != nullptr)
        return s;
    return nullptr;
}

slot* coordinator::next_cancel(worker_lanes& w) noexcept {
    if (!standard())
        return parity_cancel(w);
    slot* s = take_from(global_, lane::cancel, w);
    if (s == nullptr)
        s = take_from(w.pinned_, lane::cancel, w);
    // The worker's own: higher priorities, the plain queue, lower priorities.
    if (s == nullptr && w.keyed_.cancel_count() != 0)
        s = take_preferred(lane::cancel, w);
    if (s == nullptr)
        s = first_current(w, [&] { return w.urgent_.pop(); });
    if (s == nullptr)
        s = take_from(w.keyed_, lane::cancel, w);
    return s == nullptr ? nullptr : dispatched(s, w, lane::cancel);
}

slot* coordinator::next_timed(worker_lanes& w) noexcept {
    // Earliest deadline first, wherever it waits; of equals the one from outside, then the worker's
    // own, then what is pinned.
    slot* s = first_current(w, [&] {
        const bool outside = global_.timed_count() != 0;
        const bool own = w.keyed_.timed_count() != 0;
        if (w.pinned_.timed_count() != 0) [[unlikely]] {
            const std::int64_t at = w.pinned_.earliest_deadline();
            if (at < global_.earliest_deadline() && at < w.keyed_.earliest_deadline())
                return w.pinned_.pop(lane::timed);
        }
        if (outside && (!own || global_.earliest_deadline() <= w.keyed_.earliest_deadline())) {
            // Another worker may have been quicker.
            if (const lane_entry e = global_.pop(lane::timed); e.valid())
                return e;
        }
        return own ? w.keyed_.pop(lane::timed) : lane_entry{};
    });
    if (s == nullptr)
        return nullptr;
    note_deadline(*s, w);
    return dispatched(s, w, lane::timed);
}

void coordinator::note_deadline(slot& s, worker_lanes& w) noexcept {
    if (time_ == nullptr)
        return;
    const auto deadline = s.first_deadline();
    if (!deadline)
        return;
    const duration late = time_->now() - instant::from_ns(static_cast<std::uint64_t>(*deadline));
    if (late <= duration::zero())
        return;
    w.deadline_misses_.store(w.deadline_misses_.load(std::memory_order_relaxed) + 1,
                             std::memory_order_relaxed);  // its own
    if (events_ != nullptr)
        events_->deadline_missed(slots_.index_of(s), late.ns());
}

bool coordinator::ready_waits(const worker_lanes& w) const noexcept {
    return w.next_.valid() || !w.fresh_.empty() || !w.ring_.looks_empty() ||
           w.keyed_.ready_count() != 0 || global_.ready_count() != 0 ||
           w.pinned_.ready_count() != 0;
}

slot* coordinator::next_ready(worker_lanes& w) noexcept {
    if (!standard())
        return parity_ready(w);
    slot* s = nullptr;
    // Not at every 16th step: that one could always be another lane's.
    const auto block = static_cast<std::uint8_t>(w.step() / aged_interval);
    if (block != w.block_) [[unlikely]] {
        w.block_ = block;
        s = next_aged(w);
    }
    if (s == nullptr && w.is(worker_lanes::local_keyed))
        s = take_preferred(lane::ready, w);
    if (s == nullptr)
        s = next_plain(w);
    if (s == nullptr && w.is(worker_lanes::local_keyed)) {
        s = take_from(w.keyed_, lane::ready, w);
        w.set(worker_lanes::local_keyed, s != nullptr);
    }
    if (s == nullptr)
        s = take_from(w.pinned_, lane::ready, w);
    if (s == nullptr)
        s = take_from(global_, lane::ready, w);
    if (s != nullptr)
        return dispatched(s, w, lane::ready);
    return w.shared_ ? steal(w) : nullptr;
}

slot* coordinator::next_plain(worker_lanes& w) noexcept {
    return next_plain_here(w);
}

// LN-2: four places take turns at being asked first, whatever their priorities are; within a place
// it is what has waited longest. Where the worker has no priorities its plain work comes first
// anyway, and has no turn.
slot* coordinator::next_aged(worker_lanes& w) noexcept {
    lane_set* const places[] = {&global_, nullptr, &w.pinned_, &w.keyed_};
    const unsigned stride = w.is(worker_lanes::local_keyed) ? 1 : 2;
    unsigned at = ++w.turn_ * stride;
    for (const unsigned end = at + 4; at != end; at += stride) {
        lane_set* const from = places[at % 4];
        slot* s = from == nullptr ? next_plain(w)
                                  : first_current(w, [&] { return from->pop_aged((at & 4) == 0); });
        if (s != nullptr)
            return s;
    }
    return nullptr;
}

slot* coordinator::others_turn(worker_lanes& w) noexcept {
    w.next_streak_ = 0;
    slot* s = first_current(w, [&] { return w.ring_.pop(); });
    if (s == nullptr)
        s = first_current(w,
                          [&] { return w.fresh_.empty() ? lane_entry{} : w.fresh_.pop_oldest(); });
    if (s == nullptr && w.is(worker_lanes::local_keyed))
        s = take_from(w.keyed_, lane::ready, w);
    if (s == nullptr)
        s = take_from(w.pinned_, lane::ready, w);
    if (s == nullptr)
        s = take_from(global_, lane::ready, w);
    return s;
}

slot* coordinator::pop_from(lane_set& from, lane of, worker_lanes& w) noexcept {
    return first_current(w, [&] { return from.pop(of); });
}

slot* coordinator::take_preferred(lane of, worker_lanes& w) noexcept {
    return first_current(w, [&] { return w.keyed_.pop_preferred(of); });
}

slot* coordinator::try_take_from(lane_set& from, lane of, worker_lanes& w) noexcept {
    return first_current(w, [&] { return from.try_pop(of); });
}

slot* coordinator::steal(worker_lanes& w) noexcept {
    // Nothing is drawn when there is nothing to take (LN-4).
    bool any = false;
    for (std::uint32_t i = 0; i < worker_count_ && !any; ++i) {
        const worker_lanes& other = *workers_[i];
        any = &other != &w &&
              (!other.ring_.looks_empty() || !other.urgent_.looks_empty() || !other.keyed_.empty());
    }
    if (!any)
        return nullptr;
    const std::uint32_t others = others_of(w);
    const auto start =
        static_cast<std::uint32_t>(w.streams_[random_stream::scheduling].below(others));
    for (std::uint32_t i = 0; i < others; ++i) {
        if (slot* s = steal_from(*workers_[victim_number(w.number_, start, i, others)], w))
            return dispatched(s, w, lane::ready, true);
    }
    // Work of a worker that is held up in a handler must not wait for it: take one.
    for (std::uint32_t i = 0; i < others; ++i) {
        worker_lanes& v = *workers_[victim_number(w.number_, start, i, others)];
        slot* s = nullptr;
        v.urgent_.steal_half(1, [&](lane_entry e) { s = claim(e, w); });
        if (s == nullptr)
            s = try_take_from(v.keyed_, lane::cancel, w);
        if (s != nullptr) {
            // Nothing else is ready here: beyond the limit it is a fallback (LN-2).
            if (w.cancel_streak_ >= effective_limit(w)) {
                w.cancel_streak_ = 0;
                ++w.certificate_.fallback_cancel_dispatches;
            }
            return dispatched(s, w, lane::cancel);
        }
        s = try_take_from(v.keyed_, lane::timed, w);
        if (s != nullptr) {
            note_deadline(*s, w);
            return dispatched(s, w, lane::timed);
        }
    }
    return nullptr;
}

slot* coordinator::steal_from(worker_lanes& other, worker_lanes& w) noexcept {
    // The first that counts runs now; the others keep their order in our own ring.
    slot* first = nullptr;
    const auto keep = [&](lane_entry e) {
        if (first == nullptr)
            first = claim(e, w);
        else
            push_ring(e, w);
    };
    const std::uint32_t room = visits(w) ? 1 : w.ring_.capacity() - w.ring_.size();
    while (other.ring_.steal_half(room, keep) != 0 && first == nullptr) {
        // All of them were left behind.
    }
    if (first != nullptr)
        return first;
    if (visits(w))
        return try_take_from(other.keyed_, lane::ready, w);
    // LN-5: half, at most a batch; what was left behind is not counted.
    for (auto n = other.keyed_.try_share(steal_batch_); n > 0;) {
        const lane_entry e = other.keyed_.try_pop(lane::ready);
        if (!e.valid())
            break;
        if (stale(e)) {
            ++w.stale_count_;
            continue;
        }
        --n;
        if (first == nullptr)
            first = claim(e, w);
        else
            push_unpinned(e, &w, {lane::ready, slots_.at(e.slot).priority(), 0});  // as it was
    }
    return first;
}

slot* coordinator::dispatched(slot* s, worker_lanes& w, lane from, bool stolen) noexcept {
    fairness_certificate& c = w.certificate_;
    switch (from) {
    case lane::cancel: {
        ++c.cancel_dispatches;
        const std::uint32_t streak = ++w.cancel_streak_;
        if (streak > c.observed_max_cancel_streak)
            c.observed_max_cancel_streak = streak;
        if (streak > cancel_streak_limit_)
            ++c.base_limit_exceedances;
        if (streak > effective_limit(w))
            ++c.effective_limit_exceedances;
        break;
    }
    case lane::timed:
        ++c.timed_dispatches;
        w.cancel_streak_ = 0;
        ++w.timed_streak_;
        break;
    case lane::ready:
        ++c.ready_dispatches;
        w.cancel_streak_ = 0;
        w.timed_streak_ = 0;
        break;
    }
    w.last_lane_ = stolen ? lane_stolen : static_cast<std::uint8_t>(from);
    if (certify_schedule_) [[unlikely]] {
        w.long_step_ += w.step() - static_cast<std::uint32_t>(w.long_step_);
        w.schedule_.add(slots_.number_of(*s), s->generation(), w.last_lane_, w.long_step_);
    }
    return s;
}

}  // namespace tactus::inline v0
