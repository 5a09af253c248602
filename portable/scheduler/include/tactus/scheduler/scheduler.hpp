// SPDX-License-Identifier: Apache-2.0
//
// Scheduler: through which everything in a system waits (SC, CN, BT).
//
// It owns one timer wheel. Registering puts a job into it, running takes out what is due and
// delivers it: a message to an actor's mailbox, a function to a dispatcher, a word to the runtime's
// own. It never runs user code under its lock, nor on a thread that only counts ticks.
//
// Two things happen at once, and are kept apart:
//   the command lock (command_lock.hpp) protects the wheel and all that is plain here. It is held
//   for a few instructions per job; who finds it taken leaves its job for the holder, who puts it
//   in or takes it out before it lets go. So nobody waits, and everything is in the wheel when the
//   holder is gone.
//   firing: one thread at a time delivers what it took out, in order, without the lock. Others find
//   that somebody does and go on.
//
// Who is refused is the business of backpressure.hpp; what a small device does without stands
// beside it (scheduler_services.hpp). The calls that register are in scheduling_face.hpp, those of
// services in services_face.hpp, and what all this works on in scheduler_state.hpp.
//
// Invariants
//   K1  a job is in the wheel exactly while it is scheduled, except between a cancel and the moment
//       it is taken out: before the lock is next free or, of a one-shot where there is no quota, a
//       few cancels later (withdrawn_jobs.hpp), but before anybody looks at the wheel, at what is
//       active or in use, or finds that there is no room
//   K2  the right to end a job is one thread's: who cancelled it while it was scheduled; who is to
//       put it in while it is pending; who took it out while it is executing, and passes it on to
//       its task, or to the actor whose timer it is. One that waits for its message is nobody's
//       once that is sent (run_phase): the first who comes has it, be it the end of the message or
//       a cancel. So is one that wakes until its waker is called, though who fires it has it in
//       its list
//   K3  a cell is given back when nothing refers to it: its holders are 0
//   K4  jobs of one tick are delivered in the order in which they were registered
//
// Thread safety: everything from any thread. Interrupt handlers count ticks on a tick source, and
// do nothing else (TS-4): what they would schedule is refused (within_interrupt), what they would
// cancel is not cancelled, and the rest ends the program (check command_lock:1) where it would wait
// for what was interrupted.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>

#include <tactus/base/memory_source.hpp>
#include <tactus/dispatch/actor_scheduler.hpp>
#include <tactus/dispatch/timer_service.hpp>
#include <tactus/port/port.hpp>
#include <tactus/scheduler/cancellable.hpp>
#include <tactus/scheduler/execution_batch.hpp>
#include <tactus/scheduler/job.hpp>
#include <tactus/scheduler/job_request.hpp>
#include <tactus/scheduler/lone_run.hpp>
#include <tactus/scheduler/owed_warnings.hpp>
#include <tactus/scheduler/scheduler_dump.hpp>
#include <tactus/scheduler/scheduler_error.hpp>
#include <tactus/scheduler/scheduler_event.hpp>
#include <tactus/scheduler/scheduler_facts.hpp>
#include <tactus/scheduler/scheduler_metrics.hpp>
#include <tactus/scheduler/scheduler_options.hpp>
#include <tactus/scheduler/scheduler_services.hpp>
#include <tactus/scheduler/scheduler_state.hpp>
#include <tactus/scheduler/scheduling_face.hpp>
#include <tactus/scheduler/services_face.hpp>
#include <tactus/time/clock.hpp>
#include <tactus/time/timer_wheel.hpp>

namespace tactus::inline v0 {

class pending_delay;
class turn;

class scheduler final : public timer_service,
                        public scheduling_face<scheduler>,
                        public services_face<scheduler>,
                        private memory_source,
                        private note_reader,
                        private detail::scheduler_state {
    using job = detail::job;
    using job_kind = detail::job_kind;

public:
    /// Cells of the store for so many timers: those whose message is still on its way have one,
    /// too, and copies of periodic messages; what finds none goes alone.
    [[nodiscard]] static constexpr std::uint32_t cells_for(std::uint32_t timers) noexcept {
        return timers + timers / 4 + spares;
    }

    /// Requires: the configuration is valid, and the regions hold what it needs (numbered checks).
    explicit scheduler(const scheduler_options& o) noexcept;
    scheduler(const scheduler&) = delete;
    scheduler& operator=(const scheduler&) = delete;
    /// Requires: the kernel it is attached to has ended: no message of its jobs is on its way.
    ~scheduler();

    // ---- registering: see scheduling_face.hpp, too

    /// SC-13: a span of time, to be asked whether it has passed; see pending_delay.hpp.
    [[nodiscard]] pending_delay delay(duration d) noexcept;
    /// What delays are made of: `to` is woken once, on whatever thread runs what is due, or, when
    /// the scheduler is closed, by who does that: see was_closed(). Where `told` has a function
    /// `cancelled`, it is called with the waker's address when the job was cancelled instead, by
    /// whomever. Both must not block. One that goes on with another is not refused under
    /// backpressure (BP-3).
    [[nodiscard]] std::expected<cancellable, scheduler_error> schedule_wake(
        duration delay, waker& to, const detail::cargo_type& told = {},
        bool goes_on = false) noexcept;

    /// CN-5: the one way to cancel, for a handle too.
    bool cancel(const cancellable& which) noexcept {
        return which.serial_ == serial_ && !which.is_cancelled_ &&
               cancel(which.index_, which.generation_);
    }
    /// CN-1: the handle knows from then on that it is cancelled.
    bool cancel(cancellable& which) noexcept {
        const bool is_done = cancel(std::as_const(which));
        if (is_done || state_of(which) == job_state::cancelled)
            which.is_cancelled_ = true;
        return is_done;
    }
    [[nodiscard]] std::optional<job_state> state_of(const cancellable& which) const noexcept;
    [[nodiscard]] std::optional<job_end> end_of(const cancellable& which) const noexcept;
    /// Of one that wakes, asked by who was woken: its time has not come, and will not.
    [[nodiscard]] bool was_closed(const cancellable& which) const noexcept;

    // ---- timers of the runtime (timer_service)

    [[nodiscard]] std::optional<timer_handle> arm(timer_target& to,
                                                  duration delay) noexcept override;
    bool cancel(timer_handle which) noexcept override {
        return cancel(which.index(), which.generation());
    }
    [[nodiscard]] bool pending(timer_handle which) noexcept override;
    /// The same with the reason.
    using armed = std::expected<timer_handle, scheduler_error>;
    [[nodiscard]] armed try_arm(const timer_target& to, duration delay) noexcept;
    /// SC-5: of the runtime's own timers: that of the subsystem `runtime`, whatever their
    /// dispatcher and guardian. On a device they are always high.
    [[nodiscard]] timer_policy runtime_policy() const noexcept {
        if constexpr (!port::has_interrupts) {
            if (has_policies()) [[unlikely]]
                return services_->policy_of({.subsystem = timer_subsystem::runtime});
        }
        return timer_policy::of(timer_priority::high);
    }
    /// The same for the actor `r.to`; its times are those that a user may ask for (SC-3). One that
    /// is periodic keeps its place from when it is due until it is armed again, or cancelled.
    [[nodiscard]] armed arm(const job_request& r) noexcept;
    /// Of one that is periodic and was due, by its owner: due again then, under a new handle.
    /// `closed`: it has ended.
    [[nodiscard]] armed rearm(timer_handle which, instant due) noexcept;
    /// SC-26: when its owner was told of it, to the end of that tick. Now: it was not due.
    [[nodiscard]] instant sent_at(timer_handle which) noexcept;
    /// When the present tick began. A run that is due later has not come: it is not missed.
    [[nodiscard]] instant present_tick() const noexcept;
    /// Counts runs that its owner has folded into another.
    void count_missed(std::uint32_t runs) noexcept {
        (void)missed_.fetch_add(runs, std::memory_order_relaxed);
    }
    void attach(actor_scheduler& kernel) noexcept override { kernel_ = &kernel; }
    [[nodiscard]] scheduler* as_scheduler() noexcept override { return this; }
    void feed(metrics_sink& to) noexcept override {
        if (services_ != nullptr)
            services_->feed(*this, to);
    }

    // ---- running

    /// On a host also the time of one that was cancelled: see kept_.
    [[nodiscard]] instant next_deadline() noexcept override;
    void run_due(instant now) noexcept override;
    /// This thread delivers what is due, of whichever scheduler: until it comes back nobody else
    /// does, so no handler is to run here (SC-10).
    [[nodiscard]] static bool fires_here() noexcept;
    /// SC-33: how late the driver wakes under no load, as it measured when it was started.
    void set_jitter(duration jitter) noexcept;
    /// Of who counts ticks (SC-32): how many were taken at once, before what is due is run.
    void ticks_taken(std::uint64_t ticks) noexcept;

    /// Of the message or function that this thread handles; nothing when it came from no job
    /// (BT-1). `t` is the turn it is in, if it is in one.
    [[nodiscard]] std::optional<execution_batch> current_batch(const turn* t) const noexcept;
    /// Makes a batch visible to who handles it.
    void show_batch(const execution_batch& what, envelope_guard::scope& during) const noexcept;

    // ---- looking at it

    [[nodiscard]] scheduler_capabilities capabilities() const noexcept;
    /// By the clock that timers count by.
    [[nodiscard]] instant now() const noexcept { return time_.now(); }
    [[nodiscard]] duration resolution() const noexcept { return scale_.resolution(); }
    /// SC-31: in ticks.
    [[nodiscard]] std::uint32_t catch_up_window() const noexcept { return pressure_.window(); }
    /// SC-3.
    [[nodiscard]] duration maximum_delay() const noexcept { return maximum_delay_; }
    [[nodiscard]] std::uint32_t active_count() noexcept;
    /// Cells that are in use: for tests of what is bounded.
    [[nodiscard]] std::uint32_t cell_count() noexcept;
    using counts = scheduler_counts;
    [[nodiscard]] counts counted() noexcept;
    using pressure = scheduler_pressure;
    [[nodiscard]] pressure pressure_now() noexcept;
    /// BP-8, BP-10.
    [[nodiscard]] scheduler_metrics metrics() noexcept;
    /// SD-3. Jobs are looked at one by one, and nobody waits for longer than that.
    void dump(text_sink& to, dump_format format, std::uint32_t jobs_max = 1'000) noexcept;
    /// SD-6: what was due last and went to its receiver or dispatcher.
    [[nodiscard]] std::optional<execution_batch> last_batch() noexcept;

    // ---- closing (SH-1)

    /// Delivers what is due, then takes nothing any more, cancels what is left in the order of
    /// registration, and runs the on-close tasks: by `runner`, else on this thread. A second call
    /// does nothing and gives an empty report. Requires: nobody counts ticks any more.
    [[nodiscard]] close_report shutdown(close_runner* runner = nullptr) noexcept;
    /// Of who waits for a shutdown that another thread is in: what runs now.
    [[nodiscard]] close_report shutdown_progress() noexcept {
        return services_ != nullptr ? services_->tasks().progress() : close_report{};
    }
    /// The same as a line for people; returns what fits.
    std::string_view describe_shutdown(std::span<char> out) noexcept {
        return services_ != nullptr ? services_->describe_closing(out) : std::string_view{};
    }
    /// The same without due timers and tasks. False: it was closed before.
    bool close() noexcept;
    [[nodiscard]] bool has_closed() const noexcept {
        return closed_.load(std::memory_order_relaxed) != 0;
    }

private:
    friend struct detail::job;
    friend struct detail::job_task;
    friend class scheduling_face<scheduler>;
    friend class services_face<scheduler>;
    friend class cancellable;

    /// A cell for what is registered, filled but for its cargo.
    struct place {
        job* cell = nullptr;
        scheduler_error why = {};
    };

    /// `whom`: the waker or listener, if it is for one.
    [[nodiscard]] armed arm_for(const job_request& wanted, job_kind kind,
                                const void* whom) noexcept;
    [[nodiscard]] std::expected<cancellable, scheduler_error> register_bytes(
        const job_request& r, job_kind kind, const detail::cargo_type& type,
        const void* bytes) noexcept;
    [[nodiscard]] place begin_registering(const job_request& r, job_kind kind,
                                          const detail::cargo_type& type) noexcept;
    [[nodiscard]] std::expected<cancellable, scheduler_error> commit(job& j) noexcept;
    void abandon(job& j) noexcept;
    [[nodiscard]] scheduler_error no_memory_for(const detail::cargo_type& type) noexcept;
    [[nodiscard]] scheduler_error construction_failed(job& j) noexcept;
    void count_rejected(scheduler_errc why) noexcept;

    [[nodiscard]] std::uint16_t callers_dispatcher() const noexcept;
    [[nodiscard]] timer_policy find_policy(timer_affinity from) const noexcept;
    [[nodiscard]] std::optional<scheduler_error> fault_of(const job_request& r,
                                                          detail::job_kind kind) const noexcept;
    [[nodiscard]] std::optional<scheduler_error> fault_of(duration d,
                                                          const char* field) const noexcept;
    [[nodiscard]] scheduler_error no_dispatcher_at(std::uint16_t number) const noexcept;
    [[nodiscard]] scheduler_error too_late(duration delay) const noexcept;
    [[nodiscard]] duration usable(duration d) const noexcept {
        return d > duration::zero() ? d : duration::from_ns(1);  // SC-3: next_tick
    }
    [[nodiscard]] bool give_cargo_room(job& j, const detail::cargo_type& type) noexcept;
    void fill(job& j, const job_request& r, job_kind kind, instant now) noexcept;
    [[nodiscard]] cancellable handle_of(const job& j) const noexcept;
    [[nodiscard]] job_id id_of(const job& j) const noexcept;
    /// A cell, or the lock; `inside` says which. With a cell one may be lost on its way in, and who
    /// wants it be told of that.
    [[nodiscard]] job* take_cell(const job_request& r, bool can_be_lost, bool& inside) noexcept;

    // ---- the lock's holder

    /// May it be registered? Reserves a place in overflow for it if it needs one.
    [[nodiscard]] std::optional<scheduler_error> admit(const job_request& r, instant now,
                                                       bool& takes_overflow,
                                                       owed_warnings& owed) noexcept;
    [[nodiscard]] bool is_far(duration delay, instant now) noexcept;
    [[nodiscard]] std::optional<scheduler_error> admit_slowly(const job_request& r,
                                                              owed_warnings& owed) noexcept;
    [[nodiscard]] std::optional<scheduler_error> admit_far(const job_request& r,
                                                           owed_warnings& owed) noexcept;
    /// A place in overflow, now or when somebody less important gives way. False: there is none.
    [[nodiscard]] bool reserve_far(timer_priority for_whom) noexcept;
    /// Of one that comes again, for which none is reserved. False: it is far, and there is none.
    [[nodiscard]] bool has_place(job& j) noexcept;
    [[nodiscard]] bool can_make_way(timer_priority for_whom, std::uint32_t count) noexcept;
    void make_way() noexcept;
    /// Of who goes into the wheel: its place in overflow is its own, if it still needs one.
    void take_reserved(job& j) noexcept;
    /// Ends one that gave way, or found no place: counted, and told when the lock is free.
    void lose(job& j, tick at) noexcept;
    void observe(tick at, std::uint64_t backlog, bool engaged, owed_warnings& owed) noexcept;
    void note_drift(instant due, instant now, owed_warnings& owed) noexcept;
    void owe(owed_warnings& owed, const pressure_warnings& what) noexcept;
    void owe_capacity(const scheduler_error& why, owed_warnings& owed) noexcept;
    [[nodiscard]] scheduler_error no_cell(bool takes_overflow, owed_warnings& owed) noexcept;
    void give_back_overflow(job& j) noexcept {
        if (j.has_overflow) [[unlikely]] {
            j.has_overflow = false;
            --overflow_reserved_;
        }
    }
    void note(diagnostic_kind kind, const job& j, tick at, std::int64_t detail = 0) noexcept {
        if (services_ != nullptr && services_->has(scheduler_services::watching)) [[unlikely]]
            note_watched(kind, &j, at, detail);
    }
    void note_watched(diagnostic_kind kind, const job* j, tick at, std::int64_t detail) noexcept;
    void note_watched(diagnostic& d) noexcept;
    [[nodiscard]] tick now_if_watched() const noexcept;
    [[nodiscard]] std::uint32_t backlog_of(const job& j, bool is_waiting, tick at) const noexcept;
    /// Nothing: it is no job that dumps show.
    [[nodiscard]] std::optional<job_view> view_of(const job& j, tick at) const noexcept;
    [[nodiscard]] bool insert(job& j) noexcept;
    /// Counts and notes it as registered, if it was not before.
    void enroll(job& j) noexcept;
    void note_nearer(instant due) noexcept;
    /// What who keeps the time is to wait for; no_deadline: nothing.
    [[nodiscard]] tick next_kept() noexcept;
    void apply(job& j) noexcept;
    void count_cancelled(job& j) noexcept;
    /// Of one that was cancelled while it was scheduled: keeps it, or does what apply does.
    void withdraw(job& j, job_word was) noexcept;
    void keep_withdrawn(job& j) noexcept;
    void end_withdrawn(job& j) noexcept;
    /// Takes out of the wheel what is kept (K1).
    void settle() noexcept {
        if (withdrawn_.count() != 0) [[unlikely]]
            settle_all();
    }
    void settle_all() noexcept;
    /// Waits for the lock: for who looks at what is there.
    void enter() noexcept {
        lock_.enter();
        settle();
    }
    [[nodiscard]] job* take_free_cell() noexcept;
    /// For who finds the lock taken: cells, and places in the quota and the wheel (SC-6).
    void put_spares_aside() noexcept;
    /// All there is, is for the holder: active_ is exact.
    void take_back_spares() noexcept;
    /// Does what was left so far.
    void do_left() noexcept;
    /// Of one that waits, and has no place: it is not to wait for ever (SC-13).
    void owe_wake(job& j) noexcept;
    [[nodiscard]] job* take_unwoken() noexcept;
    /// What is left to do for a job that was ended while it was scheduled, and is out of the wheel.
    void end_scheduled(job& j) noexcept;
    /// Lets go of the lock, and does what can only be done without it. The next deadline as it was
    /// at that moment, if it is asked for; no_deadline: there is none.
    tick leave(bool wants_next) noexcept;
    void let_go() noexcept {
        // Nearly always there is nothing else to do. A device has no room for this at each place.
        if constexpr (!port::has_interrupts) {
            if (!owes() && lock_.try_leave()) [[likely]]
                return;
        }
        (void)leave(false);
    }
    /// There is something to be done before or after the lock is let go of: see leave().
    [[nodiscard]] bool owes() const noexcept {
        return is_nearer_ || is_lossy_ || is_filling_ || doomed_ != nullptr ||
               store_.wants_spares();
    }
    static constexpr tick no_deadline = ~tick{0};
    void deactivate(job& j) noexcept {
        if (j.is_active) {
            j.is_active = false;
            --active_;
            if (j.is_periodic() && j.sequence != 0)
                --periodic_;
            if (active_ == 0 && store_.holds_more_than_retained()) [[unlikely]]
                plan_giving_back(time_.now());
        }
    }
    /// CN-3: cells that nobody has used for a while.
    void plan_giving_back(instant now) noexcept;
    void give_back_cells() noexcept;
    void give(job& cell) noexcept {
        store_.give(cell);
        if (store_.owes_giving_back()) [[unlikely]]
            plan_giving_back(time_.now());
    }
    void fold_counts() noexcept;
    void end_alive(job& j) noexcept;
    void doom(job& j) noexcept;
    /// False: it was cancelled meanwhile.
    [[nodiscard]] bool came_due(job& j, instant now) noexcept;
    /// The registration instant of a job that is armed again. A deadline that has passed within
    /// this tick keeps its own tick: a delay of 0 would make it due at once.
    [[nodiscard]] static instant registered_before(instant now, instant due) noexcept {
        return now < due ? now : due + duration::from_ns(-1);
    }
    /// Runs of a fixed rate that may fall into one tick; 1 unless its period is shorter.
    [[nodiscard]] std::uint64_t runs_per_tick(duration period) const noexcept {
        if (period >= scale_.resolution() || period <= duration::zero()) [[likely]]
            return 1;
        return static_cast<std::uint64_t>(scale_.resolution().ns() / period.ns()) + 1;
    }
    /// Of a fixed rate: periods that have passed since it was due.
    [[nodiscard]] std::uint32_t missed_by(const job& j, tick at) const noexcept;
    void note_fire(const job& j, tick at) noexcept;

    // ---- anybody

    /// Looks at the pressure, once per tick (SC-38). What is normal and not measured by others
    /// changes only when timers run. True: some mailboxes are too full, see refuse_for_mailbox.
    [[nodiscard]] bool look(instant now) noexcept {
        if (pressed_.load(std::memory_order_relaxed) == 0 &&
            (services_ == nullptr || !services_->has(scheduler_services::gauging)))
            return false;
        if (!has_looked(now)) [[unlikely]]
            look_closely(now);
        return services_ != nullptr && services_->has(scheduler_services::crowded);
    }
    /// Why a timer is not registered whose receiver's mailbox is too full (BP-5).
    [[nodiscard]] std::optional<scheduler_error> refuse_for_mailbox(const job_request& r) noexcept;
    /// In the tick of `now`, as far as that is known without its number.
    [[nodiscard]] bool has_looked(instant now) const noexcept {
        return looks_by_time &&
               now.ns() < reinterpret_cast<std::uintptr_t>(looked_.load(std::memory_order_relaxed));
    }
    [[nodiscard]] look_word look_of(tick at) const noexcept {
        return reinterpret_cast<look_word>(
            static_cast<std::uintptr_t>(looks_by_time ? scale_.begin_of(at + 1).ns() : at));
    }
    void look_closely(instant now) noexcept;
    void tell(owed_warnings& owed) noexcept;
    void note_task(const close_result& what) noexcept;
    /// Tells those who waited for their time when it closed that it will not come (SC-13).
    void end_waits() noexcept;
    /// Does what apply does, or leaves it for who holds the lock.
    void submit(job& j) noexcept;
    /// Ends a job whose word allows it; `to` is cancelled or completed.
    bool stop(std::uint32_t index, std::uint32_t generation, job_state to,
              job_end why = job_end::as_asked) noexcept;
    /// The change of its word; `seen` is what it was before.
    [[nodiscard]] bool end_word(job& j, job_word& seen, std::uint32_t generation, job_state to,
                                job_end why) const noexcept;
    bool cancel(std::uint32_t index, std::uint32_t generation) noexcept {
        return !port::in_interrupt() && stop(index, generation, job_state::cancelled);
    }
    /// Ends what it carries, outside the lock.
    void drop_cargo(job& j) noexcept;
    void free_room(job& j) noexcept;
    [[nodiscard]] bool changed(job& j, job_state from, job_state to,
                               job_end why = job_end::as_asked) noexcept;
    /// The same; `seen` is what it was last.
    [[nodiscard]] static bool changed(job& j, job_word& seen, job_state from, job_state to,
                                      job_end why) noexcept;

    // ---- firing

    /// False: somebody else does, and will look again.
    [[nodiscard]] bool begin_firing() noexcept;
    /// Waits until nobody else does. It does not ask to look again, which could go on forever.
    void wait_to_fire() noexcept;
    /// False: it has to look again, and still may.
    [[nodiscard]] bool end_firing() noexcept;
    /// Of who fires, by itself.
    void note_firing_thread() noexcept;
    /// Of who has begun; ends it.
    void fire_due(instant now) noexcept;
    [[nodiscard]] job* take_due(instant now, bool first) noexcept;
    void fire_wake(job& j) noexcept;
    /// Of who fires it and who cancelled it before it was woken: the last gives its cell back.
    void leave_cancelled_wake(job& j) noexcept;
    /// False: it has missed too much, and has ended.
    [[nodiscard]] bool pass_to_owner(job& j) noexcept;
    /// Of who fires it and of its owner: the last of them ends it.
    void let_go_of_owned(job& j, std::uint32_t parts) noexcept;
    [[nodiscard]] bool is_alive(mailbox_index who) noexcept;
    [[nodiscard]] bool has_receiver(const job& j) noexcept {
        return j.kind != job_kind::message || is_alive(j.to);
    }
    /// So many more of them cannot be used for messages on their way.
    [[nodiscard]] bool cells_are_scarce(std::uint32_t more) noexcept;
    [[nodiscard]] bool is_elsewhere(mailbox_index who) const noexcept {
        return who.system_number() != kernel_->system_number();
    }
    void fire(job& j) noexcept;
    /// Counts and tells what a delivery stands for beside its own run, less what was `told`. False:
    /// it has missed too much, and is to be ended.
    [[nodiscard]] bool keeps_up(job& j, std::uint32_t missed, std::uint32_t told = 0) noexcept;
    void fire_message(job& j) noexcept;
    void fire_copies(job& j) noexcept;
    [[nodiscard]] bool send_copy(job& j, job* flight, std::uint32_t missed) noexcept;
    [[nodiscard]] job* take_flight() noexcept;
    /// Of one that is passed on: from here on it is its message's.
    void send_alone(const job& j, const detail::parcel_kind& how, const detail::lone_run& run,
                    const char* if_it_throws) noexcept;
    void fire_function(job& j) noexcept;
    /// Of who has sent the message that its job waits for. False: the job is still its own, since
    /// the message is gone already, or the job was ended.
    [[nodiscard]] static bool leave_to_run(job& j) noexcept;
    /// Of a message that is gone, and that its job waits for, if that is still there.
    void run_over(job_id of) noexcept;
    /// CN-4: of a periodic job: it was cancelled, or has ended and its cell is another's.
    [[nodiscard]] bool is_withdrawn(job_id which) const noexcept;
    void rearm_or_end(job& j) noexcept;
    /// The times of the next run.
    void renew(job& j) noexcept;
    void finish(job& j, job_state to, job_end why = job_end::as_asked) noexcept;
    void release_hold(job& j, bool is_where_it_runs = false) noexcept;
    void flight_ended(job& flight) noexcept;
    void note_lost(const job& j) noexcept;
    void note_lost(const detail::lone_run& run) noexcept;
    void run_function(job& j) noexcept;
    void function_over(job& j, bool is_where_it_runs) noexcept;
    /// PK-SCH-25: of a function that is over: it wants to know that it was cancelled.
    [[nodiscard]] static bool is_to_be_told(const job& j) noexcept;
    /// True: it is told where it would have run, and ended there.
    [[nodiscard]] bool tell_cancelled(job& j) noexcept;
    void end_cargo(job& j) noexcept {
        drop_cargo(j);
        submit(j);
    }
    void warn_missed(scheduler_warning_kind kind, const detail::job& j, std::uint32_t missed,
                     std::uint32_t limit) noexcept;
    void warn(scheduler_warning_kind kind, const execution_batch& of, std::int64_t value,
              std::int64_t limit, const char* text = "") noexcept;
    [[nodiscard]] execution_batch batch_of(const job& j, std::uint32_t missed) const noexcept;

    /// memory_source: of messages on their way. Only they are given back here.
    [[nodiscard]] void* allocate(std::size_t, std::size_t) noexcept override { return nullptr; }
    void release(void* block, std::size_t size, std::size_t alignment) noexcept override;
    /// note_reader: of messages that go alone.
    [[nodiscard]] bool begins(const envelope_note& what,
                              envelope_guard::scope& during) noexcept override;
    void ended(const envelope_note& what, bool was_begun) noexcept override;
};

}  // namespace tactus::inline v0
