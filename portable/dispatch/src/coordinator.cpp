// SPDX-License-Identifier: Apache-2.0
//
// The slow half of choosing what runs next; the order is written in the header.
#include <tactus/dispatch/coordinator.hpp>

#include <new>
#include <utility>

namespace tactus::inline v0 {

coordinator::coordinator(const options& o) noexcept
    : memory_(*o.memory),
      slots_(*o.slots),
      time_(o.time),
      timers_(o.timers),
      waiting_(o.waiting),
      due_(o.timers != nullptr ? &o.timers->due_flag() : &never_due_),
      advice_(o.advice),
      load_(o.load),
      events_(o.events),
      tasks_(o.tasks),
      worker_capacity_(o.worker_count),
      cancel_streak_limit_(o.cancel_streak_limit > 0 ? o.cancel_streak_limit : 1),
      timed_streak_limit_(o.timed_streak_limit),
      next_streak_limit_(o.next_streak_limit),
      steal_batch_(o.steal_batch > 0 ? o.steal_batch : 1),
      certify_schedule_(o.certify_schedule),
      every_dispatch_reads_clock_(o.time != nullptr && o.time->kind() == clock_kind::deterministic),
      global_({.memory = o.memory,
               .stale = this,
               .queue_capacity = o.queue_capacity,
               .heap_capacity = o.keyed_capacity}) {
    TACTUS_CHECK(1, o.worker_count > 0);
    void* block =
        memory_.allocate(worker_capacity_ * sizeof(worker_lanes*), alignof(worker_lanes*));
    TACTUS_CHECK(2, block != nullptr);
    workers_ = ::new (block) worker_lanes*[worker_capacity_];
}

coordinator::~coordinator() {
    memory_.release(workers_, worker_capacity_ * sizeof(worker_lanes*), alignof(worker_lanes*));
}

void coordinator::add_worker(worker_lanes& w) noexcept {
    TACTUS_CHECK(3, worker_count_ < worker_capacity_);
    prepare(w);
    workers_[worker_count_++] = &w;
}

void coordinator::prepare(worker_lanes& w) const noexcept {
    w.set(worker_lanes::always_slowly,
          advice_ != nullptr || certify_schedule_ || every_dispatch_reads_clock_);
}

void coordinator::set_visitor(worker_lanes& w) noexcept {
    visitor_ = &w;
    prepare(w);
}

// ---- by index

bool coordinator::register_ready(mailbox_index index) noexcept {
    slot* s = slots_.find(index);
    if (s == nullptr)
        return false;
    if (s->has_system_messages() && s->state().request_schedule(schedule_hint::system)) {
        push({slots_.number_of(*s), ticket::issue(s->ticket(), lane::cancel)}, nullptr,
             {lane::cancel, s->priority(), 0});
        return true;
    }
    if (!s->state().request_schedule(schedule_hint::user))
        return false;
    submit_ready(*s, nullptr);
    return true;
}

unregistered coordinator::unregister(mailbox_index index) noexcept {
    slot* s = slots_.find(index);
    if (s == nullptr)
        return unregistered::did_not_wait;
    // The ticket first, then whose it is: when the generation still matches, so did the ticket, and
    // one issued since then has another number.
    for (;;) {
        const std::uint32_t seen = s->ticket().load(ticket::edge.acquire());
        if ((seen & ticket::phase_mask) == ticket::apart || s->generation() != index.generation)
            return unregistered::did_not_wait;
        if (ticket::take(s->ticket(), seen))
            break;
    }
    // The caller owns it now. A close that was requested meanwhile elects whoever ends the run.
    return s->state().run_ended() == mailbox_owed::finalize ? unregistered::finalize
                                                            : unregistered::idle;
}

std::size_t coordinator::drain_ready_cycle(std::span<mailbox_index> out) noexcept {
    TACTUS_CHECK(5, visitor_ != nullptr);
    const port::lock_guard held(visitor_mutex_);
    std::size_t count = 0;
    while (count < out.size()) {
        slot* s = next(*visitor_);
        if (s == nullptr)
            break;
        out[count++] = slots_.index_of(*s);
    }
    return count;
}

bool coordinator::handle_invoke_result(mailbox_index index, const invoke_result& result) noexcept {
    slot* s = slots_.find(index);
    if (s == nullptr)
        return true;  // a stale report ends nobody's run
    if (!result.arranged)
        carry_out(*s, index, result);
    return end_run(*s, nullptr, result);
}

void coordinator::carry_out(slot& s, mailbox_index index, const invoke_result& result) noexcept {
    switch (result.outcome) {
    case invoke_outcome::completed:
    case invoke_outcome::yielded:
        break;
    case invoke_outcome::suspended: {
        // Held back first: whoever ends it finds it so.
        (void)s.state().suspend(suspension::await);
        if (result.resume_on == nullptr)
            break;
        const suspension_added how =
            waiting_ == nullptr ? suspension_added::refused
                                : waiting_->add(index, result.reason, *result.resume_on, {});
        if (how == suspension_added::refused)
            (void)s.state().resume(suspension::await);
        else
            s.waits = true;
        if (how == suspension_added::earliest)
            deadline_added(nullptr);
        break;
    }
    case invoke_outcome::failed:
        (void)s.state().suspend(suspension::supervision);
        if (events_ != nullptr)
            events_->actor_failed(index, {reported_failure, nullptr});
        break;
    case invoke_outcome::stopped:
        (void)s.state().request_close();  // the end of the run finalizes
        break;
    }
}

bool coordinator::poll_wait_signal(waker& w) noexcept {
    waiter_.exchange(&w, signal.seq_cst());
    // Where one thread does everything, what waits for its next run is work too.
    if (!has_work(visitor_ != nullptr && !visitor_->shared_ ? visitor_ : nullptr))
        return false;
    // Something is there: unless it was woken meanwhile, it must not be woken later.
    waker* mine = &w;
    (void)waiter_.compare_exchange_strong(mine, nullptr, std::memory_order_relaxed,
                                          std::memory_order_relaxed);  // it learns nothing
    return true;
}

bool coordinator::withdraw_signal(waker& w) noexcept {
    waker* mine = &w;
    if (waiter_.compare_exchange_strong(mine, nullptr, std::memory_order_relaxed,
                                        std::memory_order_relaxed))
        return true;  // as it was: nobody has seen it
    // Whoever took it counted itself before, and every write since was a read-modify-write. Others
    // are waited for too, which does no harm.
    (void)waiter_.load(signal.acquire());
    for (;;) {
        const std::uint32_t calls = waking_.load(woken.acquire());
        if (calls == 0) {
            port::wake_one(waking_);  // somebody else may wait for the same
            return false;
        }
        (void)port::wait_on(waking_, calls, -1);
    }
}

// ---- submitting

void coordinator::made_work() noexcept {
    if (waiter_.load(signal.seq_cst()) != nullptr) [[unlikely]]
        wake_waiter();
    idle_.work_made();
}

void coordinator::wake_waiter() noexcept {
    waking_.fetch_add(1, std::memory_order_relaxed);  // published by the exchange
    if (waker* w = waiter_.exchange(nullptr, signal.acq_rel()))
        w->wake();
    waking_.fetch_sub(1, woken.release());
    port::wake_one(waking_);
}

void coordinator::submit(slot& s, worker_lanes* from, const lane_place& place) noexcept {
    if (place.where == lane::ready) {
        submit_ready(s, from);
        return;
    }
    push({slots_.number_of(s), ticket::issue(s.ticket(), place.where)}, from, place);
}

// LN-3: a system message may have come between winning the scheduled bit and the ticket; its sender
// found nothing to promote. So who puts an entry behind others looks once more. What is left is the
// time a store takes to be seen: a message can still wait in ready then, never be lost.
void coordinator::look_for_system(lane_entry e, worker_lanes* from) noexcept {
    slot& s = slots_.at(e.slot);
    if (s.has_system_messages()) [[unlikely]]
        promote(s, from);
}

void coordinator::push(lane_entry e, worker_lanes* from, const lane_place& place) noexcept {
    if (from == nullptr) {
        global_.push(e, place);
        if (place.where != lane::cancel)
            look_for_system(e, from);
        made_work();
        return;
    }
    if (place.where != lane::ready)
        from->set(worker_lanes::local_urgent, true);
    if (place.where == lane::cancel && place.priority == default_priority) {
        if (!from->urgent_.push(e))
            global_.push(e, place);
    } else if (place.where == lane::ready && place.priority == default_priority) {
        push_ring(e, *from);
        return;
    } else {
        if (place.where == lane::ready)
            from->set(worker_lanes::local_keyed, true);
        from->keyed_.push(e, place);
        if (place.where != lane::cancel)
            look_for_system(e, from);
    }
    if (from->shared_)
        made_work();
}

void coordinator::push_ring(lane_entry e, worker_lanes& w) noexcept {
    if (w.shared_ && w.sends_ > worker_lanes::publish_at_once && !w.later_.full()) [[unlikely]] {
        w.later_.push(e);
        return;
    }
    push_shared(e, w);
    if (w.shared_)
        made_work();
}

void coordinator::push_shared(lane_entry e, worker_lanes& w) noexcept {
    while (!w.ring_.push(e)) [[unlikely]] {
        // The older half goes where everybody looks; a thief at work makes room by itself.
        const lane_place ready{};
        const std::uint32_t moved =
            w.ring_.spill_half([&](lane_entry old) { global_.push(old, ready); });
        if (moved == 0) {
            global_.push(e, ready);
            break;
        }
    }
    look_for_system(e, &w);
}

void coordinator::publish_later(worker_lanes& w) noexcept {
    while (!w.later_.empty())
        push_shared(w.later_.pop_oldest(), w);
    made_work();
}

void coordinator::push_fresh(lane_entry e, worker_lanes& w) noexcept {
    if (w.fresh_.full()) [[unlikely]] {
        for (std::uint32_t n = w.fresh_.size() / 2 + 1; n > 0; --n)
            global_.push(w.fresh_.pop_oldest(), {});
        if (w.shared_)
            made_work();
    }
    w.fresh_.push(e);
}

void coordinator::share_fresh(worker_lanes& w) noexcept {
    for (std::uint32_t n = w.fresh_.size() / 2; n > 0; --n)
        push_ring(w.fresh_.pop_oldest(), w);
}

void coordinator::requeue(slot& s, worker_lanes* from) noexcept {
    if (s.has_system_messages()) {
        submit(s, from, {lane::cancel, s.priority(), 0});
        return;
    }
    if (const envelope* first = s.peek_user();
        first != nullptr && (first->flags.read() & envelope::has_deadline) != 0) {
        submit(s, from, {lane::timed, s.priority(), first->deadline()});
        return;
    }
    // Who has had a run waits behind what came from outside meanwhile.
    if (from != nullptr && global_.ready_count() != 0) [[unlikely]]
        from = nullptr;
    push({slots_.number_of(s), ticket::issue(s.ticket(), lane::ready)}, from,
         {lane::ready, s.priority(), 0});
}

void coordinator::promote(slot& s, worker_lanes* from, std::uint8_t at_least) noexcept {
    // One that waits in cancel keeps its place unless its priority rises (LN-3).
    const std::uint8_t own = s.priority();
    const std::uint32_t t = ticket::promote(s.ticket(), at_least > own);
    if (t == 0)
        return;
    push({slots_.number_of(s), t}, from, {lane::cancel, own > at_least ? own : at_least, 0});
}

bool coordinator::end_run(slot& s, worker_lanes* from, const invoke_result& result) noexcept {
    const bool more = result.outcome == invoke_outcome::yielded ||
                      (result.outcome == invoke_outcome::completed && result.ready_hint);
    // SQ-4: continuations that did not fit into the run go on although the actor awaits.
    if (more && (s.state().should_process() || s.owes_continuations())) {
        s.note_length();
        requeue(s, from);
        return true;
    }
    switch (s.end_run(!s.held.empty())) {
    case enqueued::accepted:
        return true;
    case enqueued::submit:
        requeue(s, from);
        return true;
    case enqueued::closed:
        break;
    }
    return false;
}

// ---- choosing

template <class Pop>
slot* coordinator::first_current(worker_lanes& w, Pop&& pop) noexcept {
    for (;;) {
        const lane_entry e = pop();
        if (!e.valid())
            return nullptr;
        if (slot* s = claim(e, w))
            return s;
    }
}

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
    if (!every_dispatch_reads_clock_ && !timers_->marked_due() && w.step_ % clock_interval != 0)
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
    if (w.is(worker_lanes::local_urgent) || w.cancel_streak_ != 0 || global_.urgent()) {
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
    // Before there is nothing to do: a timer may be due that nobody has looked for.
    if (s == nullptr && timers_ != nullptr && run_due_timers()) {
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

void coordinator::deadline_added(worker_lanes* from) noexcept {
    if (from == nullptr) {
        idle_.time_unkept(true);
        return;
    }
    from->new_deadline_ = true;
    from->set(worker_lanes::owes_time, true);
}

slot* coordinator::next_urgent(worker_lanes& w, bool cancel_allowed) noexcept {
    const bool timed_first = w.suggestion_ == suggestion::meet_deadlines;
    slot* s = nullptr;
    if (cancel_allowed && !timed_first && (s = next_cancel(w)) != nullptr)
        return s;
    if ((w.timed_streak_ < timed_streak_limit_ || !ready_waits(w)) &&
        (s = next_timed(w)) != nullptr)
        return s;
    if (cancel_allowed && timed_first && (s = next_cancel(w)) != nullptr)
        return s;
    w.set(worker_lanes::local_urgent, !w.urgent_.looks_empty() || w.keyed_.urgent());
    return nullptr;
}

slot* coordinator::next_cancel(worker_lanes& w) noexcept {
    slot* s = first_current(w, [&] { return global_.pop(lane::cancel); });
    // The worker's own: higher priorities, the plain queue, lower priorities.
    if (s == nullptr && w.keyed_.cancel_count() != 0)
        s = first_current(w, [&] { return w.keyed_.pop_preferred(lane::cancel); });
    if (s == nullptr)
        s = first_current(w, [&] { return w.urgent_.pop(); });
    if (s == nullptr)
        s = first_current(w, [&] { return w.keyed_.pop(lane::cancel); });
    return s == nullptr ? nullptr : dispatched(s, w, lane::cancel);
}

slot* coordinator::next_timed(worker_lanes& w) noexcept {
    // Earliest deadline first, wherever it waits; of equals the one from outside.
    slot* s = first_current(w, [&] {
        const bool outside = global_.timed_count() != 0;
        const bool own = w.keyed_.timed_count() != 0;
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
    const envelope* first = s.peek_user();
    if (first == nullptr || (first->flags.read() & envelope::has_deadline) == 0)
        return;
    const duration late =
        time_->now() - instant::from_ns(static_cast<std::uint64_t>(first->deadline()));
    if (late <= duration::zero())
        return;
    w.deadline_misses_.store(w.deadline_misses_.load(std::memory_order_relaxed) + 1,
                             std::memory_order_relaxed);  // its own
    if (events_ != nullptr)
        events_->deadline_missed(slots_.index_of(s), late.ns());
}

bool coordinator::ready_waits(const worker_lanes& w) const noexcept {
    return w.next_.valid() || !w.fresh_.empty() || !w.ring_.looks_empty() ||
           w.keyed_.ready_count() != 0 || global_.ready_count() != 0;
}

slot* coordinator::next_ready(worker_lanes& w) noexcept {
    slot* s = nullptr;
    if (w.is(worker_lanes::local_keyed)) {
        s = first_current(w, [&] { return w.keyed_.pop_preferred(lane::ready); });
        if (s != nullptr)
            return dispatched(s, w, lane::ready);
    }
    if (w.step_ % global_interval == 0 && (s = next_global(w)) != nullptr)
        return s;
    if ((s = next_plain(w)) != nullptr)
        return dispatched(s, w, lane::ready);
    if (w.is(worker_lanes::local_keyed)) {
        s = first_current(w, [&] { return w.keyed_.pop(lane::ready); });
        if (s != nullptr)
            return dispatched(s, w, lane::ready);
        w.set(worker_lanes::local_keyed, false);
    }
    if ((s = next_global(w)) != nullptr)
        return s;
    return w.shared_ ? steal(w) : nullptr;
}

slot* coordinator::next_global(worker_lanes& w) noexcept {
    slot* s = first_current(w, [&] { return global_.pop(lane::ready); });
    return s == nullptr ? nullptr : dispatched(s, w, lane::ready);
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
    const auto others = visits(w) ? worker_count_ : worker_count_ - 1;
    const auto start = static_cast<std::uint32_t>(w.rng_.below(others));
    // The others in ascending order, w left out, circular from the drawn one.
    const auto victim = [&](std::uint32_t i) -> worker_lanes& {
        const std::uint32_t at = (start + i) % others;
        return *workers_[at < w.number_ ? at : at + 1];
    };
    for (std::uint32_t i = 0; i < others; ++i) {
        if (slot* s = steal_from(victim(i), w))
            return dispatched(s, w, lane::ready, true);
    }
    // Work of a worker that is held up in a handler must not wait for it: take one.
    for (std::uint32_t i = 0; i < others; ++i) {
        worker_lanes& v = victim(i);
        slot* s = nullptr;
        v.urgent_.steal_half(1, [&](lane_entry e) { s = claim(e, w); });
        if (s == nullptr)
            s = first_current(w, [&] { return v.keyed_.try_pop(lane::cancel); });
        if (s != nullptr) {
            // Nothing else is ready here: beyond the limit it is a fallback (LN-2).
            if (w.cancel_streak_ >= effective_limit(w)) {
                w.cancel_streak_ = 0;
                ++w.certificate_.fallback_cancel_dispatches;
            }
            return dispatched(s, w, lane::cancel);
        }
        s = first_current(w, [&] { return v.keyed_.try_pop(lane::timed); });
        if (s != nullptr) {
            note_deadline(*s, w);
            return dispatched(s, w, lane::timed);
        }
    }
    return nullptr;
}

slot* coordinator::steal_from(worker_lanes& victim, worker_lanes& w) noexcept {
    // The first that counts runs now; the others keep their order in our own ring.
    slot* first = nullptr;
    const auto keep = [&](lane_entry e) {
        if (first == nullptr)
            first = claim(e, w);
        else
            push_ring(e, w);
    };
    const std::uint32_t room = visits(w) ? 1 : w.ring_.capacity() - w.ring_.size();
    while (victim.ring_.steal_half(room, keep) != 0 && first == nullptr) {
        // All of them were left behind.
    }
    if (first != nullptr)
        return first;
    if (visits(w))
        return first_current(w, [&] { return victim.keyed_.try_pop(lane::ready); });
    for (std::uint32_t n = 0; n < steal_batch_; ++n) {
        const lane_entry e = victim.keyed_.try_pop(lane::ready);
        if (!e.valid())
            break;
        if (first == nullptr)
            first = claim(e, w);
        else
            push(e, &w, {lane::ready, slots_.at(e.slot).priority(), 0});
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
    if (certify_schedule_) [[unlikely]]
        w.schedule_.add(slots_.number_of(*s), s->generation(),
                        stolen ? lane_stolen : static_cast<std::uint8_t>(from), w.step_);
    return s;
}

// ---- waiting

bool coordinator::has_work(const worker_lanes* w) const noexcept {
    if (!global_.empty() || (tasks_ != nullptr && !tasks_->empty()))
        return true;
    if (w != nullptr && (w->next_.valid() || !w->fresh_.empty()))
        return true;
    for (std::uint32_t i = 0; i < worker_count_; ++i) {
        const worker_lanes& other = *workers_[i];
        if (!other.ring_.looks_empty() || !other.urgent_.looks_empty() || !other.keyed_.empty())
            return true;
    }
    return false;
}

void coordinator::await_work(worker_lanes& w, const port::atomic<std::uint32_t>& stop) noexcept {
    constexpr unsigned spins = 100;
    constexpr unsigned yields = 2;
    w.cancel_streak_ = 0;
    // After a wake by the time there is what the timer made, or nothing: no search (LN-11).
    bool searches =
        w.is(worker_lanes::searching) || (!w.woken_by_time_ && idle_.start_search(worker_count_));
    w.set(worker_lanes::searching, searches);
    if (searches) {
        for (unsigned i = 0; i < spins + yields; ++i) {
            if (has_work(&w))
                return;
            if (i < spins)
                port::pause();
            else
                port::yield();
        }
    }
    const bool keeps_time = idle_.prepare_sleep(w.sleeper_, searches, w.new_deadline_);
    w.set(worker_lanes::searching, false);
    w.new_deadline_ = false;
    // Acquire is not needed: whoever sets it wakes everybody afterwards.
    if (has_work(&w) || stop.load(std::memory_order_relaxed) != 0) {
        w.set(worker_lanes::searching, idle_.cancel_sleep(w.sleeper_, searches));
        w.set(worker_lanes::owes_time, idle_workers::left_time(w.sleeper_) && timers_ != nullptr);
        return;
    }
    std::int64_t timeout = -1;
    if (keeps_time && timers_ != nullptr) {
        const instant at = timers_->next_deadline();
        if (at != instant::never()) {
            const std::int64_t left = (at - time_->now()).ns();
            timeout = left > 0 ? left : 0;
        }
    }
    searches = idle_.sleep(w.sleeper_, timeout);
    w.set(worker_lanes::searching, searches);
    w.set(worker_lanes::owes_time, idle_workers::left_time(w.sleeper_) && timers_ != nullptr);
    w.woken_by_time_ = timeout >= 0 && !searches;
}

bool coordinator::rest(worker_lanes& w, bool certainly) noexcept {
    const bool searched = w.is(worker_lanes::searching);
    w.cancel_streak_ = 0;
    w.set(worker_lanes::searching, false);
    (void)idle_.prepare_sleep(w.sleeper_, searched);
    if (certainly || !has_work(&w))
        return true;
    if (!idle_.try_cancel_sleep(w.sleeper_, searched))
        return true;  // and its waker knows
    w.set(worker_lanes::searching, searched);
    return false;
}

std::uint32_t coordinator::queued_count(lane l) const noexcept {
    const auto waiting = [l](const lane_set& s) {
        return l == lane::cancel  ? s.cancel_count()
               : l == lane::timed ? s.timed_count()
                                  : s.ready_count();
    };
    std::uint32_t sum = waiting(global_);
    for (std::uint32_t i = 0; i < worker_count_; ++i) {
        const worker_lanes& w = *workers_[i];
        sum += waiting(w.keyed_);
        if (l == lane::ready)
            sum += w.ring_.size();
        else if (l == lane::cancel)
            sum += w.urgent_.size();
    }
    return sum;
}

std::uint64_t coordinator::deadline_misses() const noexcept {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < worker_count_; ++i)
        sum += workers_[i]->deadline_misses_.load(std::memory_order_relaxed);  // a count
    if (visitor_ != nullptr && visits(*visitor_))
        sum += visitor_->deadline_misses_.load(std::memory_order_relaxed);
    return sum;
}

}  // namespace tactus::inline v0
