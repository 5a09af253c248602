// SPDX-License-Identifier: Apache-2.0
//
// Actor scheduler: the kernel of one system. It only builds and connects: registry (slots), pool
// (envelopes), coordinator (order), invoker (runs), suspensions; an executor supplies the threads.
//
// Life cycle (CO-5): running, stopping (nothing new is taken), draining (what is there is
// processed), stopped (everything left is closed and dead-lettered).
//
// Thread safety: everything from any thread, except run_one and friends, which belong to the thread
// that has bound the worker.
#pragma once

#include <cstdint>
#include <expected>
#include <new>
#include <optional>
#include <utility>

#include <tactus/dispatch/coordinator.hpp>
#include <tactus/dispatch/dispatcher.hpp>
#include <tactus/dispatch/events.hpp>
#include <tactus/dispatch/hub.hpp>
#include <tactus/dispatch/kernel_options.hpp>
#include <tactus/dispatch/middleware.hpp>
#include <tactus/dispatch/parcel.hpp>
#include <tactus/dispatch/spawn_options.hpp>
#include <tactus/dispatch/suspensions.hpp>
#include <tactus/dispatch/system_table.hpp>
#include <tactus/dispatch/worker.hpp>
#include <tactus/dispatch/worker_task.hpp>

namespace tactus::inline v0 {

enum class system_phase : std::uint8_t { running, stopping, draining, stopped };
[[nodiscard]] const char* name_of(system_phase phase) noexcept;

class actor_scheduler final : private resumer {
public:
    /// The first one included. A device has few.
    static constexpr std::uint32_t dispatchers_max =
        port::cache_line < 8 ? 4 : dispatcher::count_max;

    using options = kernel_options;

    /// PT-7: what `memory` is asked for when a system with these options is built; slots and
    /// envelopes have regions of their own.
    [[nodiscard]] static constexpr memory_plan plan(const options& o) noexcept { return o.plan(); }

    /// A system number, which the system made with it gives back.
    struct number_claim {
        std::uint32_t number;  // 0: none is free
        std::uint32_t first_generation;

        [[nodiscard]] static number_claim make() noexcept;
    };
    /// Requires: memory for what the options say (numbered checks), and a free system number.
    explicit actor_scheduler(const options& o) noexcept;
    /// Requires: there is a number.
    actor_scheduler(const options& o, number_claim c) noexcept;
    /// Stops by force if it still runs. Requires: no thread has a worker bound.
    ~actor_scheduler();
    actor_scheduler(const actor_scheduler&) = delete;
    actor_scheduler& operator=(const actor_scheduler&) = delete;

    // ---- actors

    /// An actor whose state is a State in the slot's user line, behaving as behaviour_of<State>().
    template <class State, class... Args>
    [[nodiscard]] std::expected<mailbox_index, spawn_error> spawn(const spawn_options& o,
                                                                  Args&&... args) noexcept {
        worker* w = own_worker();
        auto taken = begin_spawn(behaviour_of<State>(), o, w);
        if (!taken)
            return std::unexpected(taken.error());
        slot& s = **taken;
        const handled made =
            call_user([&] { ::new (s.user_state()) State(std::forward<Args>(args)...); });
        if (!made.is_ok()) {
            abandon_spawn(s, w);
            return std::unexpected(
                spawn_error{spawn_error::kind::constructor_failed, made.why().what});
        }
        const mailbox_index who = end_spawn(s, w);
        if (!who.valid())
            return std::unexpected(
                spawn_error{spawn_error::kind::shutting_down, "the system is shutting down"});
        return who;
    }

    /// For the layer above: an actor that behaves as `acts`, whose state `init(slot&)` puts into
    /// the user line, without failing. It has its first run at once, which calls acts.start.
    template <class Init>
    [[nodiscard]] std::expected<mailbox_index, spawn_error> spawn_as(const behaviour& acts,
                                                                     const spawn_options& o,
                                                                     Init&& init) noexcept {
        worker* w = own_worker();
        auto taken = begin_spawn(acts, o, w);
        if (!taken)
            return std::unexpected(taken.error());
        slot& s = **taken;
        init(s);
        const mailbox_index who = end_spawn(s, w, true);
        if (!who.valid())
            return std::unexpected(
                spawn_error{spawn_error::kind::shutting_down, "the system is shutting down"});
        submit_ready(s, w);
        return who;
    }
    /// Gives back the slot of an actor that has ended and whose behaviour keeps_slot. Any thread.
    void release(slot& s) noexcept;
    /// A message in an envelope of its own, for who handles or prepends it. Null: there is none,
    /// or the message's constructor threw.
    template <class M>
    [[nodiscard]] envelope* wrap(mailbox_index to, M&& message,
                                 mailbox_index sender = {}) noexcept {
        return wrap_parcel(own_worker(), to, detail::parcel::of<M>(message), sender);
    }
    [[nodiscard]] envelope* wrap_parcel(mailbox_index to, const detail::parcel& p) noexcept {
        return wrap_parcel(own_worker(), to, p, {});
    }
    /// Timers of options have a nearer deadline (the epoch: who knows when): somebody must keep it.
    /// Any thread.
    void deadline_added(instant deadline = instant::epoch()) noexcept {
        worker* w = own_worker();
        first_.order().deadline_added(
            w != nullptr && w->dispatcher_number_ == 0 ? &w->lanes_ : nullptr, deadline);
    }
    /// Sends an envelope that a handler kept, as it is: payload, sender and deadline. What cannot
    /// be delivered becomes a dead letter. `to` is an actor of this system. Any thread.
    void forward(mailbox_index to, envelope& e) noexcept { (void)send_filled(to, e); }
    /// Sends a message that lies in a block of `source`, with a guard in front of it (see
    /// envelope_guard.hpp), to an actor of this system. What is not accepted becomes a dead letter;
    /// the block is released when the message is gone, which may be before this returns. Any
    /// thread.
    sent send_guarded(mailbox_index to, void* block, const message_type& type,
                      memory_source& source, mailbox_index sender) noexcept;
    /// The same for a message that gets its room as any other, with a note for its sender, who is
    /// told of its end in any case: also when there was no room, or its constructor threw.
    sent send_noted(mailbox_index to, const detail::parcel& p, const envelope_note& note,
                    mailbox_index sender) noexcept;
    /// Sends a signal that the runtime owes the actor whose turn it is: it takes no credit of a
    /// bounded mailbox and is not evicted. Not accepted: there is no envelope, or the system takes
    /// nothing any more.
    template <class M>
    [[nodiscard]] sent send_owed(slot& s, M&& message, mailbox_index sender) noexcept {
        return send_owed_parcel(s, detail::parcel::of<M>(message), sender);
    }
    [[nodiscard]] sent send_owed_parcel(slot& s, const detail::parcel& p,
                                        mailbox_index sender) noexcept;
    /// As tell, for who does not know the type, and what came of it: what was not accepted is a
    /// dead letter.
    static sent tell_parcel(mailbox_index to, const detail::parcel& p,
                            mailbox_index sender) noexcept {
        return send_parcel(worker::current(), to, p, {.sender = sender});
    }
    /// Whether it has an actor of that name, now. Any thread.
    [[nodiscard]] bool is_alive(mailbox_index who) noexcept {
        return has(who) && slots_.find(who) != nullptr;
    }
    /// Disposes of an envelope that a handler kept. Any thread.
    void dispose_kept(envelope& e) noexcept { dispose(own_worker(), e); }
    /// What the layer above is known by; see options.
    [[nodiscard]] void* above() const noexcept { return above_; }
    [[nodiscard]] const clock* time() const noexcept { return time_; }
    /// TS-9: who makes time pass; without a name where nobody is known to.
    [[nodiscard]] driver_view driven_by() const noexcept {
        return driven_by_ != nullptr ? driven_by_->view() : driver_view{};
    }
    /// Those of the options; null: none.
    [[nodiscard]] timer_service* timers() const noexcept { return suspensions_.timers(); }
    [[nodiscard]] memory_source& memory() const noexcept { return memory_; }

    /// Sends; what cannot be delivered becomes a dead letter. Never blocks, never fails towards the
    /// caller: a constructor of the message that throws loses it (message_lost). From any thread.
    template <class M>
    static void tell(mailbox_index to, M&& message, const send_options& o = {}) noexcept {
        if (worker* w = worker::current(); w != nullptr) {
            w->system_.tell_from(*w, to, std::forward<M>(message), o);
            return;
        }
        (void)send_parcel(nullptr, to, detail::parcel::of<M>(message), o);
    }
    /// As tell, without the short way, which is compiled for each type: for what is sent rarely.
    template <class M>
    static void tell_rarely(mailbox_index to, M&& message) noexcept {
        send_parcel(to, detail::parcel::of<M>(message));
    }
    /// Sends, and says what came of it. `message` is as it was unless it was accepted; only a type
    /// that cannot be move-assigned, or throws then, stays moved from when the mailbox was closed
    /// at the last moment, and one that throws when it is moved is as it left itself.
    template <class M>
    [[nodiscard]] static sent try_tell(mailbox_index to, M&& message,
                                       const send_options& o = {}) noexcept {
        return try_send_parcel(to, detail::parcel::of<M>(message), o);
    }
    /// As try_tell, for who would rather wait and must not: `would_block` where waiting would help.
    template <class M>
    [[nodiscard]] static sent try_offer(mailbox_index to, M&& message,
                                        const send_options& o = {}) noexcept {
        return try_offer_parcel(to, detail::parcel::of<M>(message), o);
    }
    /// As tell, from one of the workers.
    template <class M>
    void tell_from(worker& w, mailbox_index to, M&& message, const send_options& o) noexcept {
        using type = std::remove_cvref_t<M>;
        if constexpr (envelope::fits<type>(0) && std::is_nothrow_constructible_v<type, M>) {
            // The short way: one of ours, alive, an envelope at hand, nothing special.
            const std::uint32_t number = to.slot - w.first_slot_;
            if (number < slot_limit_.load(slots_made.acquire()) && !watched_ && o.deadline == 0)
                [[likely]] {
                slot& s = w.slot_base_[number];
                const std::uint32_t life = s.plain_generation();
                envelope* e = nullptr;
                if (life == to.generation) [[likely]]
                    e = w.envelopes_.take();
                else if (life == mailbox::is_gated)
                    e = enter_gate(w, s, to);
                if (e != nullptr) [[likely]] {
                    e->fill<type>(std::forward<M>(message), o.sender, to.generation);
                    if (w.lanes_.count_send()) [[unlikely]]
                        counted_send(w, *e, envelope::fits<type>(envelope::has_stamp));
                    const enqueued result = s.enqueue(*e);
                    if (result == enqueued::accepted)
                        return;
                    if (result == enqueued::submit) [[likely]] {
                        submit_ready(s, &w);
                        return;
                    }
                    refused_late(&w, to, *e);
                    return;
                }
            }
        }
        tell_slowly(w, to, std::forward<M>(message), o);
    }

    /// A system message; false when the mailbox is closed or stale, and then it was reported as a
    /// dead letter and `done` called. From any thread.
    bool send_system(mailbox_index to, system_message& m) noexcept;

    /// As above, for who has no node: in an envelope of the reserve. Finding none is fatal (check
    /// envelope_pool:1), never a silent loss.
    bool send_system(mailbox_index to, system_kind kind, mailbox_index subject = {},
                     void* data = nullptr) noexcept;

    /// Asks an actor to end, from any thread. False when it has ended.
    bool stop(mailbox_index who) noexcept;
    /// Holds back, or lets go, user messages of an actor; counted. False when stale, or held back
    /// as often as can be counted. Letting go of an await also ends its oldest wait, if it has one
    /// (see turn::suspend).
    bool suspend(mailbox_index who, suspension why) noexcept;
    bool resume(mailbox_index who, suspension why) noexcept;
    /// CO-6: resumes all that wait for the key; how many.
    std::size_t signal(std::uint64_t key) noexcept {
        const caller c(*this);
        return c.gone() ? 0 : suspensions_.signal(key);
    }

    // ---- running: for executors

    /// DR-5: another dispatcher, while running too. Nobody runs its workers yet. From any thread.
    [[nodiscard]] std::expected<dispatcher*, const char*> add_dispatcher(
        dispatcher::options o) noexcept;
    /// Null when there is none with that number.
    [[nodiscard]] dispatcher* dispatcher_at(std::uint32_t number) const noexcept {
        return number < dispatchers_max ? dispatchers_[number].at.load(added.acquire()) : nullptr;
    }
    /// Of the first dispatcher.
    [[nodiscard]] worker& worker_at(std::uint32_t number) noexcept {
        return first_.worker_at(number);
    }
    [[nodiscard]] std::uint32_t worker_count() const noexcept { return first_.worker_count(); }
    /// One dispatch, or one task. False when there was nothing. The worker's thread.
    bool run_one(worker& w) noexcept;
    /// Runs until `stop` is set; sleeps when there is nothing, but not longer than `idle_limit_ns`
    /// at a time (negative: for ever), and then ends. The worker's thread.
    void run_until(worker& w, const port::atomic<std::uint32_t>& stop,
                   std::int64_t idle_limit_ns = -1) noexcept;
    void wake_workers() noexcept { first_.order().wake_all(); }
    /// Runs a task on some worker of the first dispatcher. False when the system is being stopped:
    /// then the task is still the caller's. From any thread.
    [[nodiscard]] bool execute(worker_task& t) noexcept { return first_.execute(t); }
    /// Says that a task will never be run: counted, and it is told so.
    void drop(worker_task& t) noexcept;
    /// Tasks that were never run: those that still waited when the system ended, and those given to
    /// drop.
    [[nodiscard]] std::uint32_t dropped_task_count() const noexcept {
        return dropped_tasks_.load(std::memory_order_relaxed);
    }
    /// Tasks whose code threw.
    [[nodiscard]] std::uint32_t failed_task_count() const noexcept {
        return failed_tasks_.load(std::memory_order_relaxed);
    }

    // ---- life cycle

    [[nodiscard]] system_phase phase() const noexcept {
        return static_cast<system_phase>(phase_.load(std::memory_order_relaxed));
    }
    [[nodiscard]] std::uint32_t dispatcher_count() const noexcept {
        const port::lock_guard held(outside_.mutex);
        return dispatcher_count_;
    }
    /// Nothing new is taken from now on; what is queued is processed.
    void begin_stop() noexcept;
    /// CO-5: from now on messages of threads outside are refused (`draining`), but not those for
    /// actors without a parent, which are replies. True: no such thread is within a send any more;
    /// false: one still was after the limit. Hosts only.
    [[nodiscard]] bool refuse_senders(std::int64_t limit_ns) noexcept {
        return system_table::shut_door(number_, limit_ns);
    }
    /// Nothing waits any more at the first dispatcher (and no worker runs, which the executor
    /// knows).
    [[nodiscard]] bool drained() const noexcept { return first_.drained(); }
    /// Closes everything that is left, and drops the tasks. Requires: no worker runs; `w` is bound
    /// by the caller.
    void finish_stop(worker& w) noexcept;

    // ---- parts

    [[nodiscard]] registry& slots() noexcept { return slots_; }
    [[nodiscard]] envelope_pool& envelopes() noexcept { return pool_; }
    [[nodiscard]] coordinator& order() noexcept { return first_.order(); }
    [[nodiscard]] suspensions& waiting() noexcept { return suspensions_; }
    [[nodiscard]] std::uint32_t system_number() const noexcept { return number_; }
    /// MB-8: messages in a bounded mailbox, some just handled among them (see mailbox_block);
    /// nothing for others: their senders count nothing.
    [[nodiscard]] std::optional<std::uint32_t> depth_of(mailbox_index who) const noexcept;
    /// Replaces the middleware; applies from the next message. Null: none.
    void set_middleware(const middleware_chain* chain) noexcept {
        chain_.store(chain, installed.release());
    }

    // ---- measuring (OH-1)

    /// Measures from now on, for `sink`; null: not any more. False when there is no memory for the
    /// shards, and then nothing is measured. When this returns, no other sink is being called, so
    /// within a function of a sink or of labels it would wait for itself for ever. From any thread,
    /// while running too. `labels` says which actors are measured by name, and lives as long as the
    /// sink; null: none.
    bool set_metrics_sink(metrics_sink* sink, actor_labels* labels = nullptr) noexcept;
    /// Gives the sink what there is now; false when there is none, or somebody else does. The sink
    /// is called on this thread, under no lock.
    bool collect_metrics() noexcept;
    [[nodiscard]] hub& measures() noexcept { return hub_; }
    /// Actors alive; exact when nothing runs.
    [[nodiscard]] std::uint32_t live_count() const noexcept;

private:
    friend class dispatcher;
    friend class invoker;
    friend class pending_offer;
    friend class turn;
    friend class worker;

    /// Caches for threads that are no workers of this system.
    struct alignas(2 * port::cache_line) outside {
        mutable port::mutex mutex;
        envelope_cache envelopes;
        slot_cache slots;
        std::uint32_t spawned = 0;
        std::uint32_t ended = 0;
    };

    /// MB-11: when it was last said that there are no envelopes, and who has been refused since.
    struct exhaustion {
        port::mutex mutex;
        bool told_before = false;
        instant told_at;
        std::uint32_t refused = 0;
    };

    /// This thread's worker, if it is one of ours.
    [[nodiscard]] worker* own_worker() const noexcept {
        worker* w = worker::current();
        return w != nullptr && &w->system_ == this ? w : nullptr;
    }
    // Through the worker's cache, or the shared one under its lock when `w` is null.
    [[nodiscard]] envelope* take_envelope(worker* w) noexcept {
        return w != nullptr ? w->envelopes_.take() : take_envelope_outside();
    }
    void give_envelope(worker* w, envelope& e) noexcept {
        if (w != nullptr)
            w->envelopes_.give(e);
        else
            give_envelope_outside(e);
    }
    void dispose(worker* w, envelope& e) noexcept {
        e.destroy_payload();
        give_envelope(w, e);
    }
    [[nodiscard]] envelope* take_envelope_outside() noexcept;
    void give_envelope_outside(envelope& e) noexcept;

    [[nodiscard]] bool has(mailbox_index to) const noexcept {
        return to.system_number() == number_;
    }

    // ---- sending, whatever the type (sending.cpp). `w` is this thread's worker, when it is one of
    // this system's; otherwise null.

    template <class M>
    [[gnu::noinline]] static void tell_slowly(worker& w, mailbox_index to, M&& message,
                                              const send_options& o) noexcept {
        (void)send_parcel(&w, to, detail::parcel::of<M>(message), o);
    }
    /// What tell is. `w` is this thread's worker, if any, of whatever system.
    static sent send_parcel(worker* w, mailbox_index to, const detail::parcel& p,
                            const send_options& o) noexcept;
    static void send_parcel(mailbox_index to, const detail::parcel& p) noexcept;
    /// Why there is no system: none, or it was left behind by fork().
    [[nodiscard]] static sent not_found() noexcept;
    using delivery = sent (actor_scheduler::*)(worker*, mailbox_index, const detail::parcel&,
                                               const send_options&) noexcept;
    /// CO-5: of a thread outside that has found no system by the senders' door. Hosts only.
    [[nodiscard]] static sent send_by_shut_door(mailbox_index to, const detail::parcel& p,
                                                const send_options& o, delivery deliver_it,
                                                bool is_lost) noexcept;
    /// An actor without a parent: it takes the reply to a question, also while the system drains.
    [[nodiscard]] bool is_reply_place(mailbox_index to) noexcept;
    [[nodiscard]] static sent try_send_parcel(mailbox_index to, const detail::parcel& p,
                                              const send_options& o) noexcept;
    [[nodiscard]] static sent try_offer_parcel(mailbox_index to, const detail::parcel& p,
                                               const send_options& o) noexcept;
    [[nodiscard]] envelope* wrap_parcel(worker* w, mailbox_index to, const detail::parcel& p,
                                        mailbox_index sender) noexcept;

    /// What is not accepted is given back.
    [[nodiscard]] sent deliver(worker* w, mailbox_index to, const detail::parcel& p,
                               const send_options& o) noexcept;
    /// deliver for who gets the message back: what the strategy of a full mailbox says happens.
    [[nodiscard]] sent try_deliver(worker* w, mailbox_index to, const detail::parcel& p,
                                   const send_options& o) noexcept;
    /// deliver for who does not: it becomes a dead letter.
    sent deliver_or_lose(worker* w, mailbox_index to, const detail::parcel& p,
                         const send_options& o) noexcept;
    void dead_letter(worker* w, mailbox_index to, const detail::parcel& p, mailbox_index sender,
                     sent why) noexcept;
    /// Everything an envelope says. When it fails, the envelope was given back.
    [[nodiscard]] sent fill(worker* w, envelope& e, mailbox_index to, const detail::parcel& p,
                            const send_options& o) noexcept;
    /// Puts a message into an envelope of ours; when that fails, gives the envelope back and says
    /// why. The constructor is the user's code (UP-4), and nothing is committed before it is done.
    [[nodiscard]] sent put(worker* w, envelope& e, const detail::parcel& p,
                           std::uint32_t extras) noexcept;
    /// Puts a filled envelope into a mailbox that is not gated, or whose gate was passed.
    [[nodiscard]] sent push(worker* w, slot& s, envelope& e) noexcept;
    /// Passes the gate first, evicting where the strategy says so.
    [[nodiscard]] sent push_gated(worker* w, slot& s, mailbox_block& block, envelope& e,
                                  mailbox_index to) noexcept;
    /// The short way through a gate: a credit and an envelope; or nothing, and neither.
    [[nodiscard]] envelope* enter_gate(worker& w, slot& s, mailbox_index to) noexcept;
    /// Nothing would be gained by filling an envelope.
    [[nodiscard]] static bool looks_full(worker* w, slot& s, mailbox_block& block) noexcept;
    [[nodiscard]] bool loses_newest(mailbox_index to) const noexcept;
    /// MB-11: pool_exhausted, and the event when a second has passed since the last.
    [[nodiscard]] sent exhausted() noexcept;
    void release_blocks() noexcept;
    void warn_of_pressure(mailbox_block& block, mailbox_index who) noexcept;
    /// The mailbox was closed between the look and the push.
    void refused_late(worker* w, mailbox_index to, envelope& e) noexcept;

    /// Somebody who is about to change an actor, from any thread: the end of the system waits for
    /// it, or has begun.
    class caller {
    public:
        explicit caller(actor_scheduler& system) noexcept : own_(system.own_worker()) {
            if (own_ == nullptr)
                visit_.emplace(system.number_);
        }
        [[nodiscard]] worker* own() const noexcept { return own_; }
        [[nodiscard]] bool gone() const noexcept {
            return visit_.has_value() && visit_->system() == nullptr;
        }

    private:
        worker* own_;
        std::optional<system_table::visit> visit_;
    };

    template <class Visit>
    void each_dispatcher(Visit&& visit) const noexcept {
        for (std::uint32_t i = 0; i < dispatchers_max; ++i) {
            dispatcher* d = dispatcher_at(i);
            if (d == nullptr)
                return;
            visit(*d);
        }
    }
    [[nodiscard]] static hub_place* place_of(worker* w) noexcept {
        return w != nullptr ? &w->measured_ : nullptr;
    }
    /// LN-8. The first look is at what senders read anyway.
    [[nodiscard]] static bool gives_deadlines(const slot& s, std::uint32_t generation) noexcept {
        return s.plain_generation() != generation && s.deadline_us() != 0;
    }
    /// When a message sent now to an actor that gives deadlines is due.
    [[nodiscard]] std::int64_t due_of(const slot& s) const noexcept {
        return static_cast<std::int64_t>(time_->now().ns()) + std::int64_t{s.deadline_us()} * 1'000;
    }
    /// Counts a message about to be pushed. True: uncount_send, should that fail.
    [[nodiscard]] bool count_send(worker* w, envelope& e, bool has_room) noexcept;
    void uncount_send(worker* w) noexcept;
    /// Every some hundred sends of a worker: what is due. `has_room`: in the envelope, for a stamp.
    void counted_send(worker& w, envelope& e, bool has_room) noexcept;
    [[nodiscard]] bool counted_send_outside(envelope& e, bool has_room) noexcept;

    /// The order a slot's actor belongs to.
    [[nodiscard]] coordinator& order_of(const slot& s) const noexcept {
        return dispatcher_at(s.dispatcher_number())->order();
    }
    /// The lanes of a worker, when they are among those the slot's actor may wait in.
    [[nodiscard]] static worker_lanes* lanes_of(worker* w, const slot& s) noexcept {
        return w != nullptr && w->dispatcher_number_ == s.dispatcher_number() ? w->kept_ : nullptr;
    }
    void submit_ready(slot& s, worker* w) noexcept {
        if (w != nullptr && w->plain_traits_ == s.traits().word()) [[likely]]
            w->home_.order().submit_next(s, w->lanes_);
        else
            submit_slowly(s, w);
    }
    void submit_slowly(slot& s, worker* w) noexcept;
    sent send_filled(mailbox_index to, envelope& e) noexcept;
    /// What an envelope of a message with a guard or a note has beside it.
    [[nodiscard]] std::uint32_t extras_for(mailbox_index to) noexcept;
    sent send_with_extras(mailbox_index to, envelope& e, mailbox_index sender) noexcept;
    [[nodiscard]] static dead_letter_cause cause_of(mailbox_index to, sent why) noexcept;
    /// MB-2: what tell cannot wait for, it may not call full.
    [[nodiscard]] sent reason_of(mailbox_index to, sent why) const noexcept;
    [[nodiscard]] sent beyond_limit(std::uint32_t number) const noexcept;
    void watch_enqueue(envelope& e, mailbox_index to, mailbox_index from) noexcept;
    void feed_workers(metrics_sink& to) noexcept;
    void feed_actors(metrics_sink& to, actor_labels& labels) noexcept;

    [[nodiscard]] std::optional<spawn_error> prepare_mailbox(slot& s,
                                                             const spawn_options& o) noexcept;
    [[nodiscard]] std::expected<slot*, spawn_error> begin_spawn(const behaviour& acts,
                                                                const spawn_options& o,
                                                                worker* w) noexcept;
    [[nodiscard]] mailbox_index end_spawn(slot& s, worker* w, bool scheduled = false) noexcept;
    void abandon_spawn(slot& s, worker* w) noexcept;
    void leave_dispatcher(const slot& s) noexcept;
    void give_slot(slot& s, worker* w) noexcept;
    /// What give_slot does, but the slot stays.
    void give_up(slot& s, worker* w) noexcept;
    void note_slots() noexcept;
    bool run_task(worker& w) noexcept;
    /// Whoever suspends an actor says so first, for who looks (OH-4).
    void about_to_hold(slot& s, mailbox_index who, held_reason why) noexcept;

    [[nodiscard]] bool has_room(mailbox_index who) noexcept;
    bool let_go(slot& s, mailbox_index who, suspension why) noexcept;
    void end_actor(worker& w, slot& s) noexcept;

    void resume_suspended(mailbox_index who) noexcept override;
    void suspension_limit(mailbox_index who, suspend_limit_action action) noexcept override;

    // Constant after construction; what every send reads comes first.
    std::uint32_t number_ = 0;
    bool watched_ = false;  // somebody traces, or looks at what is enqueued
    // Slots that exist; 0 when nothing is taken any more. "slots made": a slot is constructed
    // before anybody looks at it, be it with a reference of an earlier system.
    static constexpr port::edge slots_made{"slots-made"};
    port::atomic<std::uint32_t> slot_limit_{0};
    registry slots_;
    envelope_pool pool_;
    memory_source& memory_;
    const clock* time_;
    void* above_;
    const driver_source* driven_by_;
    hub hub_;
    enqueue_middleware* on_enqueue_;
    spawn_middleware* on_spawn_;
    class tracer* trace_;
    suspensions suspensions_;
    dispatcher first_;
    // "added": a dispatcher is made before it is found. The count is under the lock of outside_.
    static constexpr port::edge added{"dispatcher-added"};
    struct dispatcher_place {
        port::atomic<dispatcher*> at{nullptr};
    };
    dispatcher_place dispatchers_[dispatchers_max];
    /// What all dispatchers have from the system.
    struct common {
        std::uint64_t seed;
        governor* advice;
        load_probe* load;
        std::uint32_t cancel_streak_limit;
        bool certify_schedule;
    };
    const common common_;
    std::uint32_t dispatcher_count_ = 1;

    // "installed": what the chain refers to happens before a run that uses it.
    static constexpr port::edge installed{"middleware-installed"};
    port::atomic<const middleware_chain*> chain_{nullptr};
    port::atomic<std::uint32_t> phase_{0};
    port::atomic<std::uint32_t> failed_tasks_{0};
    port::atomic<std::uint32_t> dropped_tasks_{0};
    exhaustion exhaustion_;
    outside outside_;
};

}  // namespace tactus::inline v0
