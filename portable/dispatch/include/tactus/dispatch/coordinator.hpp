// SPDX-License-Identifier: Apache-2.0
//
// Coordinator: which mailbox runs next (CO, LN).
//
// A mailbox with work is idle, queued or running; its own state word and ticket say which. Who wins
// the scheduled bit submits it: into the lanes of the worker it is on, or into the global ones when
// it comes from outside. There is no outer lock.
//
// The order of next() (LN-4), for one worker:
//
//   0  timers that are due
//   1  cancel (global, own), timed (the earlier of global and own); meet_deadlines: timed first.
//      At most `cancel_streak_limit` cancels in a row while other work is ready, doubled while
//      draining; at most `timed_streak_limit` timed in a row while ready work waits
//   2  own ready: priorities above the default, next, fresh, ring, then priorities below
//      At most `next_streak_limit` from next and fresh in a row while the ring waits.
//      Every 16th step (every 64th on the short way) something else comes first, whatever its
//      priority: see next_aged
//   3  pinned ready, global ready
//   4  stealing: half of another's ring, or up to `steal_batch` of its keyed ready work; when none
//      has any, what is stuck in another's cancel or timed lane
//   5  a cancel after all, when the streak alone forbade it
//
// In parity mode (DT-3) the same steps find their work in another order and draw among equals: see
// parity.cpp, which has all of the difference.
//
// Thread safety: everything from any thread; a worker_lanes is passed only by its worker.
#pragma once

#include <cstdint>
#include <span>

#include <tactus/dispatch/events.hpp>
#include <tactus/dispatch/governor.hpp>
#include <tactus/dispatch/idle_workers.hpp>
#include <tactus/dispatch/invoke_result.hpp>
#include <tactus/dispatch/registry.hpp>
#include <tactus/dispatch/suspensions.hpp>
#include <tactus/dispatch/ticket.hpp>
#include <tactus/dispatch/timer_phase.hpp>
#include <tactus/dispatch/waker.hpp>
#include <tactus/dispatch/worker_lanes.hpp>
#include <tactus/dispatch/worker_task.hpp>
#include <tactus/time/clock.hpp>
#include <tactus/time/tick_driver.hpp>

namespace tactus::inline v0 {

/// What supervision is told of a failure that was reported by index.
inline constexpr const char* reported_failure = "its run was reported as failed";

/// What unregister found.
enum class unregistered : std::uint8_t {
    did_not_wait,  // stale index, idle, or running
    idle,          // it waited; messages it has stay until it is registered again
    finalize,      // it waited and is to be closed: the caller is elected, and owns it
};

/// LN-5: of the `others`, which are all workers but the thief in ascending order, the i-th in a
/// circle from `start`. A thief whose number is behind all workers' leaves out nobody.
[[nodiscard]] constexpr std::uint32_t victim_number(std::uint32_t thief, std::uint32_t start,
                                                    std::uint32_t i,
                                                    std::uint32_t others) noexcept {
    const std::uint32_t at = (start + i) % others;
    return at < thief ? at : at + 1;
}

class coordinator final : private stale_test {
public:
    struct options {
        memory_source* memory = nullptr;
        registry* slots = nullptr;
        const clock* time = nullptr;     // null: deadlines order work but are never missed
        timer_phase* timers = nullptr;   // null: none
        tick_driver* driver = nullptr;   // keeps the time of those that are busy; null: none
        suspensions* waiting = nullptr;  // for results given by index; null: none is kept
        governor* advice = nullptr;      // null: none
        load_probe* load = nullptr;      // what the governor is told; null: zeros
        kernel_events* events = nullptr;
        const worker_task_queue* tasks =
            nullptr;                     // work too, which next() does not take; null: none
        std::uint32_t number = 0;        // of the dispatcher
        std::uint32_t worker_count = 1;  // as many as will be given to add_worker
        std::uint32_t cancel_streak_limit = 16;
        std::uint32_t timed_streak_limit = 64;
        std::uint32_t next_streak_limit = 16;
        std::uint32_t steal_batch = 4;
        std::uint32_t queue_capacity = 64;  // fixed memory: at least one place per mailbox
        std::uint32_t keyed_capacity = 16;  // the same for priorities and deadlines
        lane_mode mode = lane_mode::standard;
        bool certify_schedule = false;  // keep schedule certificates: some 100 ns per dispatch
    };
    static constexpr std::uint32_t governor_interval = 32;
    static constexpr std::uint32_t global_interval = 64;
    static constexpr std::uint32_t clock_interval = 64;
    static constexpr std::uint32_t aged_interval = 16;

    explicit coordinator(const options& o) noexcept;
    ~coordinator();

    /// At the start, before anybody submits. The lanes outlive the coordinator's use.
    void add_worker(worker_lanes& w) noexcept;
    /// Whose lanes drain_ready_cycle uses: a worker's, where one thread does everything, or a set
    /// of their own, numbered behind the workers. After all workers. A set of their own keeps
    /// nothing: the visitor takes one mailbox at a time, so nobody has to look there.
    void set_visitor(worker_lanes& w) noexcept;

    // ---- by index, for everybody

    /// CO-1: asks for a run as if a message had come; idempotent. False when the index is stale or
    /// of an actor of another dispatcher, or a run is on its way anyway.
    bool register_ready(mailbox_index index) noexcept;
    /// Takes a waiting mailbox out of its lane. Messages it has stay, and more may come; but who
    /// sends to a mailbox that is not empty does not wake it: it runs after register_ready, a
    /// resume or a system message.
    [[nodiscard]] unregistered unregister(mailbox_index index) noexcept;
    /// Fills `out` with what runs next, in order, and returns how many; never more than there is
    /// room. Each is the caller's to run, and to report. From any thread where visitors have lanes
    /// of their own (see actor_scheduler::options::visited); where they share a worker's, from the
    /// thread that runs it.
    [[nodiscard]] std::size_t drain_ready_cycle(std::span<mailbox_index> out) noexcept;
    /// CO-3: completed and yielded put it back if there is work; suspended holds it back until
    /// `resume_on` (not at all when that cannot be kept: see suspensions); failed holds it back and
    /// tells kernel_events, for supervision to decide; stopped closes it. Returns false when the
    /// mailbox is to be finalized by the caller, who still owns it. A stale index is ignored.
    /// Requires: the caller has run it.
    bool handle_invoke_result(mailbox_index index, const invoke_result& result) noexcept;
    /// True when something is ready; otherwise `w` is woken once when something is. One waiter at a
    /// time: a later one replaces it.
    [[nodiscard]] bool poll_wait_signal(waker& w) noexcept;
    /// Takes the waker back: when this returns, it is not being woken, nor will be. False when it
    /// was woken meanwhile, or replaced. Waits for a wake() under way: not from within one, nor
    /// from an interrupt.
    bool withdraw_signal(waker& w) noexcept;

    // ---- by slot, for senders and workers; `from` is null outside of workers

    /// Puts a mailbox into a lane. Requires: the caller won the scheduled bit, or has run it.
    void submit(slot& s, worker_lanes* from, const lane_place& place) noexcept;
    /// The common case: ready, default or own priority.
    void submit_ready(slot& s, worker_lanes* from) noexcept {
        const slot_traits is = s.traits();  // before the ticket (life.hpp, L3)
        const lane_entry e{slots_.number_of(s), ticket::issue(s.ticket(), lane::ready)};
        if (from == nullptr || is.priority() != default_priority || !standard()) [[unlikely]] {
            push(e, is, from, {lane::ready, is.priority(), 0});
            return;
        }
        if (is.set_apart()) {
            push_apart(e, is, *from);
            return;
        }
        put_next(e, *from);
    }
    /// As submit_ready, for a mailbox of default priority that has run before.
    void submit_next(slot& s, worker_lanes& from) noexcept {
        put_next({slots_.number_of(s), ticket::issue(s.ticket(), lane::ready)}, from);
    }
    /// Puts what a run made ready, and kept to itself, where others can take it: at the end of the
    /// run, and when count_send says so.
    void publish(worker_lanes& w) noexcept {
        if (!w.later_.empty()) [[unlikely]]
            publish_later(w);
    }
    /// Puts a mailbox that has run at the end of the worker's ring.
    void requeue(slot& s, worker_lanes* from) noexcept;
    /// A system message was pushed to a mailbox that was queued or running already: if it waits in
    /// another lane, it now waits in cancel (LN-3), with its own priority or `at_least` that.
    /// Nothing happens when `who` has ended or belongs to another dispatcher.
    void promote(slot& s, mailbox_index who, worker_lanes* from,
                 std::uint8_t at_least = 0) noexcept;
    /// The end of a run: idle, or queued again. False when the caller must finalize the mailbox.
    [[nodiscard]] bool end_run(slot& s, worker_lanes* from, const invoke_result& result) noexcept;

    // ---- for workers

    /// The mailbox to run now, taken out of its lane; nullptr when there is nothing.
    [[nodiscard]] slot* next(worker_lanes& w) noexcept {
        const std::uint32_t step = w.step() + 1;
        w.step_.store(step, std::memory_order_relaxed);  // its own
        // Nearly always nothing is urgent, due or special: then it is the worker's own plain work.
        if ((w.special_ | global_.urgent_hint() | w.pinned_.urgent_hint() |
             due_->load(std::memory_order_relaxed)) == 0 &&
            step % global_interval != 0) [[likely]] {
            if (slot* s = port::has_interrupts ? next_plain(w) : next_plain_here(w)) [[likely]] {
                ++w.certificate_.ready_dispatches;
                return s;
            }
        }
        return next_slowly(w);
    }
    /// Lab mode: the same, with the number drawn for this step.
    [[nodiscard]] slot* next(worker_lanes& w, std::uint64_t hint) noexcept {
        w.hint_ = hint;
        return next(w);
    }
    [[nodiscard]] std::uint32_t worker_count() const noexcept { return worker_count_; }
    [[nodiscard]] worker_lanes& worker_at(std::uint32_t number) const noexcept {
        return *workers_[number];
    }
    /// Spins a bounded time, then sleeps, until there may be something, or `stop` is set and
    /// wake_all was called. False when it has slept for `idle_limit_ns` (negative: never) in vain.
    bool await_work(worker_lanes& w, const port::atomic<std::uint32_t>& stop,
                    std::int64_t idle_limit_ns = -1) noexcept;
    void wake_all() noexcept { idle_.wake_all(); }

    // For workers without a thread of their own: `to` is called when there is something to do, and
    // makes somebody call begin(), then next() until there is nothing, then rest().

    void lend(worker_lanes& w, waker& to) noexcept { w.sleeper_.instead = &to; }
    void begin(worker_lanes& w) noexcept { w.set(worker_lanes::searching, true); }
    /// True when there was nothing to do: the worker waits for its waker, which may be called
    /// before this returns, and is not the caller's any more. False: go on. With `certainly` it
    /// waits whatever there is, until somebody makes more: for who was woken and cannot run.
    [[nodiscard]] bool rest(worker_lanes& w, bool certainly = false) noexcept;
    /// A worker that nobody runs waits for `to` to be called when nobody else is left to wake:
    /// somebody then gives it a thread. False when there is something to do now.
    [[nodiscard]] bool stand_by(worker_lanes& w, waker& to) noexcept;
    /// It does not wait any more. False when its waker was called, or is about to be.
    [[nodiscard]] bool stand_down(worker_lanes& w) noexcept {
        return idle_.try_cancel_sleep(w.sleeper_, false);
    }
    /// It has a thread of its own from now on. `was_woken`: its waker was called.
    void take_back(worker_lanes& w, bool was_woken) noexcept {
        w.sleeper_.instead = nullptr;
        w.sleeper_.last = false;
        if (was_woken)
            begin(w);
    }
    /// A look.
    [[nodiscard]] static bool asleep(const worker_lanes& w) noexcept {
        return idle_workers::asleep(w.sleeper_);
    }

    /// Puts what only this worker could take where others look, and wakes nobody: it will not come
    /// back for a while.
    void surrender(worker_lanes& w) noexcept;

    /// From any thread that is no worker, one at a time, every so often: when the worker is in the
    /// same run as at the last look, moves what it keeps to itself (next, fresh, later) to the
    /// global lane, and wakes a worker for it. Returns how many it moved.
    std::uint32_t share_kept(worker_lanes& w, kept_look& last) noexcept;

    /// The worker has found something to do, but not by next(): it does not search any more, nor
    /// watch the time.
    void found_work(worker_lanes& w) noexcept {
        if ((w.special_ & (worker_lanes::searching | worker_lanes::owes_time)) != 0) [[unlikely]]
            end_idling(w);
    }
    /// A deadline was added to the timers that is earlier than all others, at `at` (the epoch: who
    /// knows). `from` is the worker whose run added it, if workers need not keep it before the end
    /// of that run; null: at once.
    void deadline_added(worker_lanes* from, instant at = instant::epoch()) noexcept;
    /// Something waits in a lane that `w` could take from (null: in any), or a task does.
    [[nodiscard]] bool has_work(const worker_lanes* w) const noexcept;
    /// Mailboxes that wait where others can see them; about, while workers are at work.
    [[nodiscard]] std::uint32_t waiting_count() const noexcept;
    /// The one that has waited longest among those from outside; invalid when there is none.
    [[nodiscard]] mailbox_index first_waiting() noexcept;
    /// Changes whenever a worker looks for something to run; from any thread.
    [[nodiscard]] std::uint32_t progress() const noexcept;
    /// Something was made that a sleeping worker, or whoever polls, should see.
    void made_work() noexcept;
    [[nodiscard]] idle_workers& idle() noexcept { return idle_; }
    /// For lanes that are made for this coordinator.
    [[nodiscard]] const stale_test& staleness() const noexcept { return *this; }
    /// What waits in a lane, of everybody; a look. What a worker alone may take (next, fresh,
    /// later) is not in it.
    [[nodiscard]] std::uint32_t queued_count(lane l) const noexcept;
    /// LN-9: timed mailboxes that came to run late; modulo 2^32 for each worker.
    [[nodiscard]] std::uint64_t deadline_misses() const noexcept;

private:
    TACTUS_CHECK_MODULE("coordinator");

    [[nodiscard]] bool stale(lane_entry e) const noexcept override {
        return !ticket::current(slots_.at(e.slot).ticket(), e.ticket);
    }
    // `is`: the traits of the life that the entry's ticket was issued for.
    void push(lane_entry e, slot_traits is, worker_lanes* from, const lane_place& place) noexcept;
    void push_unpinned(lane_entry e, worker_lanes* from, const lane_place& place) noexcept;
    void look_for_system(lane_entry e, worker_lanes* from) noexcept;
    void push_pinned(lane_entry e, slot_traits is, worker_lanes* from,
                     const lane_place& place) noexcept;
    void push_apart(lane_entry e, slot_traits is, worker_lanes& w) noexcept;
    void push_ring(lane_entry e, worker_lanes& w) noexcept;
    void push_fresh(lane_entry e, worker_lanes& w) noexcept;
    void put_next(lane_entry e, worker_lanes& w) noexcept {
        if (!w.next_.valid()) {
            w.next_.write(e);
            return;
        }
        const lane_entry displaced = w.next_.read();
        w.next_.write(e);
        push_ring(displaced, w);
    }
    void share_fresh(worker_lanes& w) noexcept;
    [[nodiscard]] bool share(lane_entry e) noexcept;
    void publish_later(worker_lanes& w) noexcept;
    void push_shared(lane_entry e, worker_lanes& w) noexcept;

    /// The slot of an entry, if its registration still waited: the caller owns it then.
    [[nodiscard]] slot* claim(lane_entry e, worker_lanes& w) noexcept {
        slot& s = slots_.at(e.slot);
        if (ticket::take(s.ticket(), e.ticket)) [[likely]]
            return &s;
        ++w.stale_count_;
        return nullptr;
    }
    template <class Pop>
    [[nodiscard]] slot* first_current(worker_lanes& w, Pop&& pop) noexcept {
        for (;;) {
            const lane_entry e = pop();
            if (!e.valid())
                return nullptr;
            if (slot* s = claim(e, w))
                return s;
        }
    }

    [[nodiscard]] slot* next_slowly(worker_lanes& w) noexcept;
    void end_idling(worker_lanes& w) noexcept;
    void end_search(worker_lanes& w) noexcept;
    [[nodiscard]] bool time_unkept() const noexcept;
    void about_to_hold(slot& s, mailbox_index who, held_reason why) noexcept;
    void carry_out(slot& s, mailbox_index index, const invoke_result& result) noexcept;
    [[nodiscard]] slot* next_urgent(worker_lanes& w, bool cancel_allowed) noexcept;
    [[nodiscard]] slot* next_cancel(worker_lanes& w) noexcept;
    [[nodiscard]] slot* next_timed(worker_lanes& w) noexcept;
    [[nodiscard]] slot* next_ready(worker_lanes& w) noexcept;
    [[nodiscard]] slot* next_aged(worker_lanes& w) noexcept;
    /// Most lanes are empty: a host looks before it calls. On devices a call is less code.
    [[nodiscard]] slot* take_from(lane_set& from, lane of, worker_lanes& w) noexcept {
        return port::has_interrupts || !from.empty(of) ? pop_from(from, of, w) : nullptr;
    }
    [[nodiscard]] slot* pop_from(lane_set& from, lane of, worker_lanes& w) noexcept;
    [[nodiscard]] slot* take_preferred(lane of, worker_lanes& w) noexcept;
    [[nodiscard]] slot* try_take_from(lane_set& from, lane of, worker_lanes& w) noexcept;
    [[nodiscard]] slot* steal(worker_lanes& w) noexcept;
    [[nodiscard]] slot* steal_from(worker_lanes& other, worker_lanes& w) noexcept;
    [[nodiscard]] std::uint32_t others_of(const worker_lanes& w) const noexcept {
        return visits(w) ? worker_count_ : worker_count_ - 1;
    }

    // ---- parity mode: parity.cpp
    [[nodiscard]] bool standard() const noexcept { return mode_ == lane_mode::standard; }
    [[nodiscard]] std::uint64_t draw(worker_lanes& w) const noexcept;
    [[nodiscard]] std::int64_t now_ns() const noexcept;
    void parity_push(lane_entry e, worker_lanes& w, const lane_place& place) noexcept;
    [[nodiscard]] slot* parity_urgent(worker_lanes& w, bool cancel_allowed) noexcept;
    [[nodiscard]] slot* parity_urgent_of(lane_set& lanes, worker_lanes& w, bool cancel_allowed,
                                         std::uint64_t hint) noexcept;
    [[nodiscard]] slot* parity_cancel(worker_lanes& w) noexcept;
    [[nodiscard]] slot* parity_ready(worker_lanes& w) noexcept;
    [[nodiscard]] slot* parity_steal(worker_lanes& w) noexcept;
    [[nodiscard]] slot* lab_steal(worker_lanes& w) noexcept;
    [[nodiscard]] bool parity_has_work(const worker_lanes* w) const noexcept;
    [[nodiscard]] std::int64_t parity_timeout(worker_lanes& w, std::int64_t timeout) noexcept;

    [[nodiscard]] bool ready_waits(const worker_lanes& w) const noexcept;
    void wake_waiter() noexcept;
    void tell_waiter() noexcept {
        if (waiter_.load(signal.seq_cst()) != nullptr) [[unlikely]]
            wake_waiter();
    }
    /// Lanes of no worker: they keep nothing.
    [[nodiscard]] bool visits(const worker_lanes& w) const noexcept {
        return w.number_ >= worker_count_;
    }
    void prepare(worker_lanes& w) const noexcept;

    /// next, fresh and ring: what takes no lock.
    [[nodiscard]] slot* next_plain(worker_lanes& w) noexcept;
    /// The same for the shortest way of a message, where a call would be felt.
    [[nodiscard, gnu::always_inline]] slot* next_plain_here(worker_lanes& w) noexcept {
        if (w.next_streak_ >= next_streak_limit_) [[unlikely]] {
            if (slot* s = others_turn(w))
                return s;
        }
        ++w.next_streak_;
        // Once: the compiler would read an atomic word twice.
        if (const std::uint32_t ticket = w.next_.ticket(); ticket != 0) {
            const lane_entry e{w.next_.slot(), ticket};
            w.next_.clear();
            if (slot* s = claim(e, w)) [[likely]]
                return s;
        }
        if (w.shared_ && w.fresh_.size() > 1 && idle_.anybody()) [[unlikely]]
            share_fresh(w);
        while (!w.fresh_.empty()) {
            if (slot* s = claim(w.fresh_.pop_newest(), w)) [[likely]]
                return s;
        }
        w.next_streak_ = 0;
        return first_current(w, [&w] { return w.ring_.pop(); });
    }
    /// LN-11: after so many from next and fresh, somebody else that waits.
    [[nodiscard]] slot* others_turn(worker_lanes& w) noexcept;

    slot* dispatched(slot* s, worker_lanes& w, lane from, bool stolen = false) noexcept;
    void run_timers(worker_lanes& w) noexcept;
    bool run_due_timers() noexcept;
    [[nodiscard]] std::uint32_t effective_limit(worker_lanes& w) noexcept;
    void note_deadline(slot& s, worker_lanes& w) noexcept;

    // Constant after the start.
    memory_source& memory_;
    registry& slots_;
    const clock* time_;
    timer_phase* timers_;
    tick_driver* driver_;
    suspensions* waiting_;
    const port::atomic<std::uint32_t>* due_;  // of the timers, or one that is never set
    governor* advice_;
    load_probe* load_;
    kernel_events* events_;
    const worker_task_queue* tasks_;
    std::uint32_t number_;
    worker_lanes** workers_ = nullptr;
    std::uint32_t worker_capacity_;
    std::uint32_t worker_count_ = 0;
    std::uint32_t cancel_streak_limit_;
    std::uint32_t timed_streak_limit_;
    std::uint32_t next_streak_limit_;
    std::uint32_t steal_batch_;
    lane_mode mode_;
    bool certify_schedule_;
    bool every_dispatch_reads_clock_;
    worker_lanes* visitor_ = nullptr;
    port::mutex visitor_mutex_;

    const port::atomic<std::uint32_t> never_due_{0};

    // Written by whoever waits for work without being a worker, and by who makes some.
    // "signal": what the waiter did before it polled -> its wake-up; and who takes a waiter has
    // counted itself in waking_ before that is seen by who withdraws it.
    static constexpr port::edge signal{"coordinator-signal"};
    alignas(2 * port::cache_line) port::atomic<waker*> waiter_{nullptr};
    // "woken": a wake() -> whoever withdrew its waker.
    static constexpr port::edge woken{"coordinator-woken"};
    port::atomic<std::uint32_t> waking_{0};  // calls of wake() under way

    alignas(2 * port::cache_line) lane_set global_;
    alignas(2 * port::cache_line) idle_workers idle_;
};

}  // namespace tactus::inline v0
