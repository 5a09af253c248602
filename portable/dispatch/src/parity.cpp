// SPDX-License-Identifier: Apache-2.0
//
// Parity mode (DT-3): the coordinator's steps in the order of the conformance vectors.
//
// The same lanes, tickets, streaks and certificates; what differs is where each step looks, and
// that equals are chosen by a drawn number:
//
//   urgent    global (cancel, timed that is due), then with one draw, made in any case, the
//             worker's own; meet_deadlines turns each pair round
//   ready     own deque newest first, pinned newest first, global in order; then with a second draw
//             the worker's own heap
//   steal     with a third draw the oldest of another's deque; with a fourth half of another's
//             ready heap, at most a batch, best first
//   fallback  global, or with one more draw the worker's own
//
// Deadlines are times before which work is held; there is no limit to timed work in a row; what
// comes from outside is served in order whatever its priority; a mailbox that has run waits behind
// what is global. next, fresh and later are not used.
//
// Lab mode is the same for workers whose steps somebody else draws for (see lab_driver): the number
// drawn is every hint of the step, the deque is not used, and of another's heap one is taken.
#include <tactus/dispatch/coordinator.hpp>

#include <bit>
#include <limits>

namespace tactus::inline v0 {

std::uint64_t coordinator::draw(worker_lanes& w) const noexcept {
    return mode_ == lane_mode::lab ? w.hint_ : w.streams_[random_stream::scheduling].next_u64();
}

std::int64_t coordinator::now_ns() const noexcept {
    return time_ == nullptr ? 0 : static_cast<std::int64_t>(time_->now().ns());
}

void coordinator::parity_push(lane_entry e, worker_lanes& w, const lane_place& place) noexcept {
    const bool plain = place.where == lane::ready && place.priority == default_priority;
    if (plain && mode_ == lane_mode::parity)
        w.keyed_.push_newest(e);
    else
        w.keyed_.push(e, place);
    if (place.where != lane::cancel)
        look_for_system(e, &w);
    if (w.shared_)
        made_work();
}

slot* coordinator::parity_urgent(worker_lanes& w, bool cancel_allowed) noexcept {
    // The oldest of equals: nothing is drawn for what is global.
    if (slot* s = parity_urgent_of(global_, w, cancel_allowed, 0))
        return s;
    return parity_urgent_of(w.keyed_, w, cancel_allowed, draw(w));
}

slot* coordinator::parity_urgent_of(lane_set& lanes, worker_lanes& w, bool cancel_allowed,
                                    std::uint64_t hint) noexcept {
    const std::int64_t now = now_ns();
    const bool timed_first = w.suggestion_ == suggestion::meet_deadlines;
    for (const bool timed : {timed_first, !timed_first}) {
        if (!timed && !cancel_allowed)
            continue;
        const lane from = timed ? lane::timed : lane::cancel;
        const bool in_order = &lanes == &global_ && !timed;
        slot* s = first_current(
            w, [&] { return in_order ? lanes.pop(from) : lanes.pop_equal(from, hint, now); });
        if (s != nullptr)
            return dispatched(s, w, from);
    }
    return nullptr;
}

// The fallback of LN-2.
slot* coordinator::parity_cancel(worker_lanes& w) noexcept {
    slot* s = take_from(global_, lane::cancel, w);
    if (s == nullptr) {
        const std::uint64_t hint = draw(w);
        s = first_current(w, [&] { return w.keyed_.pop_equal(lane::cancel, hint, 0); });
    }
    return s == nullptr ? nullptr : dispatched(s, w, lane::cancel);
}

slot* coordinator::parity_ready(worker_lanes& w) noexcept {
    slot* s = first_current(w, [&] { return w.keyed_.pop_newest(); });
    if (s == nullptr)
        s = first_current(w, [&] { return w.pinned_.pop_newest(); });
    if (s == nullptr)
        s = take_from(global_, lane::ready, w);
    if (s == nullptr) {
        const std::uint64_t hint = draw(w);
        s = first_current(w, [&] { return w.keyed_.pop_equal(lane::ready, hint, 0); });
    }
    if (s != nullptr)
        return dispatched(s, w, lane::ready);
    return mode_ == lane_mode::parity ? parity_steal(w) : nullptr;
}

slot* coordinator::parity_steal(worker_lanes& w) noexcept {
    const std::uint32_t others = others_of(w);
    if (others == 0)
        return nullptr;
    det_rng& stream = w.streams_[random_stream::scheduling];
    auto start = static_cast<std::uint32_t>(stream.below(others));
    for (std::uint32_t i = 0; i < others; ++i) {
        worker_lanes& other = *workers_[victim_number(w.number_, start, i, others)];
        if (slot* s = first_current(w, [&] { return other.keyed_.pop_oldest(); }))
            return dispatched(s, w, lane::ready, true);
    }
    start = static_cast<std::uint32_t>(stream.below(others));
    for (std::uint32_t i = 0; i < others; ++i) {
        worker_lanes& other = *workers_[victim_number(w.number_, start, i, others)];
        slot* first = nullptr;
        for (auto n = other.keyed_.try_share(visits(w) ? 1 : steal_batch_); n > 0; --n) {
            const lane_entry e = other.keyed_.try_pop_equal(lane::ready, 0, 0);
            if (!e.valid())
                break;
            // The own deque is empty: putting each below the last, they come out as taken.
            if (first == nullptr)
                first = claim(e, w);
            else
                w.keyed_.push_oldest(e);
        }
        if (first != nullptr)
            return dispatched(first, w, lane::ready, true);
    }
    return nullptr;
}

slot* coordinator::lab_steal(worker_lanes& w) noexcept {
    // Turned, since the number has chosen the worker already.
    const std::uint64_t hint = std::rotl(w.hint_, 17);
    const auto start = static_cast<std::uint32_t>(hint % worker_count_);
    for (std::uint32_t i = 0; i < worker_count_; ++i) {
        worker_lanes& other = *workers_[(start + i) % worker_count_];
        if (&other == &w)
            continue;
        slot* s =
            first_current(w, [&] { return other.keyed_.try_pop_equal(lane::ready, hint + i, 0); });
        if (s != nullptr)
            return dispatched(s, w, lane::ready, true);
    }
    return nullptr;
}

// What is not due yet is no work, nor is what another alone may take.
bool coordinator::parity_has_work(const worker_lanes* w) const noexcept {
    const auto holds = [now = now_ns()](const lane_set& lanes) {
        return lanes.cancel_count() != 0 || lanes.ready_count() != 0 ||
               (lanes.timed_count() != 0 && lanes.earliest_deadline() <= now);
    };
    if (holds(global_) || (tasks_ != nullptr && !tasks_->empty()))
        return true;
    if (w != nullptr && (holds(w->keyed_) || !w->pinned_.empty()))
        return true;
    for (std::uint32_t i = 0; i < worker_count_; ++i) {
        if (workers_[i]->keyed_.ready_count() != 0 || (w == nullptr && holds(workers_[i]->keyed_)))
            return true;
    }
    return false;
}

// Not later than what becomes due: the worker's own, and what everybody may take.
std::int64_t coordinator::parity_timeout(worker_lanes& w, std::int64_t timeout) noexcept {
    const std::int64_t own = w.keyed_.earliest_deadline();
    const std::int64_t outside = global_.earliest_deadline();
    const std::int64_t at = own < outside ? own : outside;
    if (at == std::numeric_limits<std::int64_t>::max())
        return timeout;
    const std::int64_t now = now_ns();
    const std::int64_t left = at > now ? at - now : 0;
    return timeout < 0 || left < timeout ? left : timeout;
}

}  // namespace tactus::inline v0
