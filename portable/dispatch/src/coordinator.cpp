// SPDX-License-Identifier: Apache-2.0
//
// Putting mailboxes into lanes, asking by index, and waiting for work. What is chosen next is in
// choosing.cpp, parity mode in parity.cpp.
#include <tactus/dispatch/coordinator.hpp>

#include <limits>
#include <new>
#include <utility>

namespace tactus::inline v0 {

coordinator::coordinator(const options& o) noexcept
    : memory_(*o.memory),
      slots_(*o.slots),
      time_(o.time),
      timers_(o.timers),
      driver_(o.driver),
      waiting_(o.waiting),
      due_(o.timers != nullptr ? &o.timers->due_flag() : &never_due_),
      advice_(o.advice),
      load_(o.load),
      events_(o.events),
      tasks_(o.tasks),
      number_(o.number),
      worker_capacity_(o.worker_count),
      cancel_streak_limit_(o.cancel_streak_limit > 0 ? o.cancel_streak_limit : 1),
      timed_streak_limit_(o.mode == lane_mode::standard
                              ? o.timed_streak_limit
                              : std::numeric_limits<std::uint32_t>::max()),
      next_streak_limit_(o.next_streak_limit),
      steal_batch_(o.steal_batch > 0 ? o.steal_batch : 1),
      mode_(o.mode),
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
          advice_ != nullptr || certify_schedule_ || every_dispatch_reads_clock_ || !standard());
}

void coordinator::set_visitor(worker_lanes& w) noexcept {
    visitor_ = &w;
    prepare(w);
}

// ---- by index

bool coordinator::register_ready(mailbox_index index) noexcept {
    slot* s = slots_.find(index);
    if (s == nullptr || s->dispatcher_number() != number_)
        return false;
    const std::uint32_t life = life::state_mark(index.generation);
    if (s->has_system_messages() && s->state().request_schedule(schedule_hint::system, life)) {
        submit(*s, nullptr, {lane::cancel, s->priority(), 0});
        return true;
    }
    if (!s->state().request_schedule(schedule_hint::user, life))
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

void coordinator::about_to_hold(slot& s, mailbox_index who, held_reason why) noexcept {
    s.note_held_by(why, time_);
    if (events_ != nullptr)
        events_->suspended(who, why);
}

void coordinator::carry_out(slot& s, mailbox_index index, const invoke_result& result) noexcept {
    switch (result.outcome) {
    case invoke_outcome::completed:
    case invoke_outcome::yielded:
        break;
    case invoke_outcome::suspended: {
        about_to_hold(s, index, held_by(result.reason));
        // Suspended before the record exists: the end of the wait finds it suspended. A suspension
        // that was not counted needs no resume, so it gets no record.
        const bool counted = s.state().try_suspend(suspension::await);
        if (counted && result.resume_on == nullptr)
            break;
        if (counted && waiting_ != nullptr &&
            waiting_->add(index, result.reason, *result.resume_on, {}).has_value()) {
            s.waits = true;
            break;
        }
        if (counted)
            (void)s.state().resume(suspension::await);
        if (events_ != nullptr)
            events_->resumed(index);
        break;
    }
    case invoke_outcome::failed:
        about_to_hold(s, index, held_reason::supervision);
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
    tell_waiter();
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
    const bool highest = place.priority == highest_priority;
    const slot_traits is = s.traits();  // before the ticket (life.hpp, L3)
    push({slots_.number_of(s), ticket::issue(s.ticket(), place.where, highest)}, is, from, place);
}

// LN-3: a system message may have come between winning the scheduled bit and the ticket; its sender
// found nothing to promote. So who puts an entry behind others looks once more. What is left is the
// time a store takes to be seen: a message can still wait in ready then, never be lost.
void coordinator::look_for_system(lane_entry e, worker_lanes* from) noexcept {
    slot& s = slots_.at(e.slot);
    if (!s.has_system_messages()) [[likely]]
        return;
    // This entry's ticket or none (life.hpp, L5). A ticket that is not the slot's any more was
    // taken or promoted: a run handles the message.
    const slot_traits is = s.traits();
    const bool highest = is.priority() == highest_priority;
    if (!ticket::can_rise(e.ticket, highest))
        return;
    if (const std::uint32_t t = ticket::promote(s.ticket(), e.ticket, highest); t != 0)
        push({e.slot, t}, is, from, {lane::cancel, is.priority(), 0});
}

// LN-5: a pinned mailbox waits at home, whoever made it ready and in whichever lane.
void coordinator::push_pinned(lane_entry e, slot_traits is, worker_lanes* from,
                              const lane_place& place) noexcept {
    TACTUS_CHECK(6, is.home() < worker_count_);
    worker_lanes& owner = *workers_[is.home()];
    if (standard())
        owner.pinned_.push(e, place);
    else if (place.where == lane::ready)
        owner.pinned_.push_newest(e);
    else
        owner.keyed_.push(e, place);
    if (place.where != lane::cancel)
        look_for_system(e, from);
    if (from == &owner)
        return;
    tell_waiter();
    idle_.work_made_for(owner.sleeper_);
}

void coordinator::push_apart(lane_entry e, slot_traits is, worker_lanes& w) noexcept {
    if (is.pinned())
        push_pinned(e, is, &w, {lane::ready, is.priority(), 0});
    else
        push_fresh(e, w);
}

void coordinator::push(lane_entry e, slot_traits is, worker_lanes* from,
                       const lane_place& place) noexcept {
    if (is.pinned()) [[unlikely]]
        push_pinned(e, is, from, place);
    else
        push_unpinned(e, from, place);
}

void coordinator::push_unpinned(lane_entry e, worker_lanes* from,
                                const lane_place& place) noexcept {
    if (!standard() && from != nullptr) [[unlikely]] {
        parity_push(e, *from, place);
        return;
    }
    if (from == nullptr) {
        // Parity: who comes from outside is served in order, whatever its priority.
        global_.push(
            e, standard() ? place : lane_place{place.where, default_priority, place.deadline});
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
    // Who has nothing to do need not wait for the end of this run.
    if (w.shared_ && !w.fresh_.empty() && idle_.anybody()) [[unlikely]]
        push_ring(w.fresh_.pop_oldest(), w);
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
    if (const auto deadline = s.first_deadline()) {
        submit(s, from, {lane::timed, s.priority(), *deadline});
        return;
    }
    // Who has had a run waits behind what came from outside meanwhile.
    if (from != nullptr && (global_.ready_count() != 0 || mode_ == lane_mode::parity)) [[unlikely]]
        from = nullptr;
    const slot_traits is = s.traits();  // before the ticket (life.hpp, L3)
    push({slots_.number_of(s), ticket::issue(s.ticket(), lane::ready)}, is, from,
         {lane::ready, is.priority(), 0});
}

void coordinator::promote(slot& s, mailbox_index who, worker_lanes* from,
                          std::uint8_t at_least) noexcept {
    for (;;) {
        // The ticket first, then whose it is, then that ticket or none (life.hpp, L4).
        const std::uint32_t seen = s.ticket().load(ticket::edge.acquire());
        const slot_traits is = s.traits();
        if (s.generation() != who.generation || is.dispatcher() != number_)
            return;
        // One that waits in cancel keeps its place unless its priority rises (LN-3).
        const std::uint8_t priority = is.priority() > at_least ? is.priority() : at_least;
        const bool highest = priority == highest_priority;
        if (!ticket::can_rise(seen, highest))
            return;
        if (const std::uint32_t t = ticket::promote(s.ticket(), seen, highest); t != 0) {
            push({slots_.number_of(s), t}, is, from, {lane::cancel, priority, 0});
            return;
        }
    }
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

// ---- waiting

bool coordinator::has_work(const worker_lanes* w) const noexcept {
    if (!standard())
        return parity_has_work(w);
    if (!global_.empty() || (tasks_ != nullptr && !tasks_->empty()))
        return true;
    if (w != nullptr &&
        (w->next_.valid() || !w->fresh_.empty() || !w->later_.empty() || !w->pinned_.empty()))
        return true;
    for (std::uint32_t i = 0; i < worker_count_; ++i) {
        const worker_lanes& other = *workers_[i];
        if (!other.ring_.looks_empty() || !other.urgent_.looks_empty() || !other.keyed_.empty())
            return true;
    }
    return false;
}

bool coordinator::await_work(worker_lanes& w, const port::atomic<std::uint32_t>& stop,
                             std::int64_t idle_limit_ns) noexcept {
    const unsigned spins = standard() ? 100 : 8;
    constexpr unsigned yields = 2;
    w.cancel_streak_ = 0;
    // After a wake by the time there is what the timer made, or nothing: no search (LN-11).
    bool searches =
        w.is(worker_lanes::searching) || (!w.woken_by_time_ && idle_.start_search(worker_count_));
    w.set(worker_lanes::searching, searches);
    if (searches) {
        for (unsigned i = 0; i < spins + yields; ++i) {
            if (has_work(&w))
                return true;
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
        return true;
    }
    std::int64_t timeout = -1;
    // A clock that is set by hand does not move while somebody sleeps: who sets it runs what is
    // due.
    if (keeps_time && timers_ != nullptr && !every_dispatch_reads_clock_) {
        const instant at = timers_->next_deadline();
        if (at != instant::never()) {
            const std::int64_t left = (at - time_->now()).ns();
            timeout = left > 0 ? left : 0;
        }
    }
    if (!standard())
        timeout = parity_timeout(w, timeout);
    const bool limited = idle_limit_ns >= 0 && (timeout < 0 || idle_limit_ns < timeout);
    searches = idle_.sleep(w.sleeper_, limited ? idle_limit_ns : timeout);
    w.set(worker_lanes::searching, searches);
    w.set(worker_lanes::owes_time, idle_workers::left_time(w.sleeper_) && timers_ != nullptr);
    w.woken_by_time_ = timeout >= 0 && !limited && !searches;
    return searches || !limited;
}

bool coordinator::rest(worker_lanes& w, bool certainly) noexcept {
    // What only its own thread may read is read first: once it is listed, another may run it.
    if (!certainly && (w.next_.valid() || !w.fresh_.empty() || !w.later_.empty()))
        return false;
    const bool searched = w.is(worker_lanes::searching);
    w.cancel_streak_ = 0;
    w.set(worker_lanes::searching, false);
    (void)idle_.prepare_sleep(w.sleeper_, searched);
    const auto work_waits = [&] {
        return standard() ? has_work(nullptr) || !w.pinned_.empty() : parity_has_work(&w);
    };
    if (certainly || !work_waits())
        return true;
    if (!idle_.try_cancel_sleep(w.sleeper_, searched))
        return true;  // and its waker knows
    w.set(worker_lanes::searching, searched);
    return false;
}

bool coordinator::stand_by(worker_lanes& w, waker& to) noexcept {
    w.sleeper_.last = true;
    lend(w, to);
    return rest(w);
}

void coordinator::surrender(worker_lanes& w) noexcept {
    if (w.next_.valid())
        global_.push(w.next_.read(), {});
    w.next_.clear();
    while (!w.fresh_.empty())
        global_.push(w.fresh_.pop_oldest(), {});
    while (!w.later_.empty())
        global_.push(w.later_.pop_oldest(), {});
}

// The entry may have been read while its owner wrote it, or be out of date. As in promote: the
// ticket first, then whose it is, then that ticket or none (life.hpp, L4), so what is moved is a
// mailbox of this dispatcher that waits. Of the two entries it then has, claim takes the new one.
bool coordinator::share(lane_entry e) noexcept {
    if (!e.valid())
        return false;
    slot& s = slots_.at(e.slot);
    const std::uint32_t seen = s.ticket().load(ticket::edge.acquire());
    if (seen != e.ticket || (seen & ticket::phase_mask) != ticket::queued)
        return false;
    const slot_traits is = s.traits();
    if (is.dispatcher() != number_ || is.pinned())
        return false;
    const std::uint32_t t = ticket::move(s.ticket(), seen);
    if (t == 0)
        return false;
    global_.push({e.slot, t}, {lane::ready, is.priority(), 0});
    look_for_system({e.slot, t}, nullptr);
    return true;
}

std::uint32_t coordinator::share_kept(worker_lanes& w, kept_look& last) noexcept {
    const std::uint32_t step = w.step();
    if (step != std::exchange(last.step, step)) {
        last = {.step = step, .fresh = w.fresh_.bottom(), .later = w.later_.bottom()};
        return 0;
    }
    std::uint32_t moved = 0;
    const auto each = [&](lane_entry e) { moved += share(e) ? 1 : 0; };
    last.fresh = w.fresh_.look(last.fresh, each);
    last.later = w.later_.look(last.later, each);
    each(w.next_.look());
    if (moved != 0)
        made_work();
    return moved;
}

std::uint32_t coordinator::queued_count(lane l) const noexcept {
    const auto in = [l](const lane_set& lanes) {
        return l == lane::cancel  ? lanes.cancel_count()
               : l == lane::timed ? lanes.timed_count()
                                  : lanes.ready_count();
    };
    std::uint32_t count = in(global_);
    for (std::uint32_t i = 0; i < worker_count_; ++i) {
        const worker_lanes& w = *workers_[i];
        count += in(w.keyed_);
        if (l == lane::timed)
            continue;
        const run_ring& ring = l == lane::ready ? w.ring_ : w.urgent_;
        const std::uint32_t size = ring.size();
        count += size < ring.capacity() ? size : ring.capacity();  // looked at in between
    }
    return count;
}

std::uint32_t coordinator::waiting_count() const noexcept {
    return queued_count(lane::cancel) + queued_count(lane::timed) + queued_count(lane::ready);
}

mailbox_index coordinator::first_waiting() noexcept {
    const lane_entry e = global_.peek();
    return e.valid() ? slots_.index_of(slots_.at(e.slot)) : mailbox_index{};
}

std::uint32_t coordinator::progress() const noexcept {
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < worker_count_; ++i)
        sum += workers_[i]->step();
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
