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
// beside it (scheduler_services.hpp). The sources: registering, cancelling, firing, delivering,
// pressing (what is refused, and what gives way), closing, looking (snapshots for people).
//
// Invariants
//   K1  a job is in the wheel exactly while it is scheduled, except between a cancel and the moment
//       it is taken out: before the lock is next free or, of a one-shot where there is no quota, a
//       few cancels later (withdrawn_jobs.hpp), but before anybody looks at the wheel, at what is
//       active or in use, or finds that there is no room
//   K2  the right to end a job is one thread's: who cancelled it while it was scheduled; who is to
//       put it in while it is pending; who took it out while it is executing, and passes it on to
//       its flight or task, or to the actor whose timer it is
//   K3  a cell is given back when nothing refers to it: its holders are 0
//   K4  jobs of one tick are delivered in the order in which they were registered
//
// Thread safety: everything from any thread. Interrupt handlers count ticks on a tick source, and
// do nothing else (TS-4): what they would schedule is refused (within_interrupt), what they would
// cancel is not cancelled, and the rest ends the program (check command_lock:1) where it would wait
// for what was interrupted.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <expected>
#include <optional>
#include <type_traits>
#include <utility>

#include <tactus/base/memory_region.hpp>
#include <tactus/base/memory_source.hpp>
#include <tactus/dispatch/actor_scheduler.hpp>
#include <tactus/dispatch/task_local_slot.hpp>
#include <tactus/dispatch/timer_service.hpp>
#include <tactus/port/port.hpp>
#include <tactus/scheduler/backpressure.hpp>
#include <tactus/scheduler/cancellable.hpp>
#include <tactus/scheduler/command_lock.hpp>
#include <tactus/scheduler/drift_watch.hpp>
#include <tactus/scheduler/execution_batch.hpp>
#include <tactus/scheduler/job.hpp>
#include <tactus/scheduler/job_request.hpp>
#include <tactus/scheduler/job_store.hpp>
#include <tactus/scheduler/last_batch_holder.hpp>
#include <tactus/scheduler/owed_warnings.hpp>
#include <tactus/scheduler/scheduler_config.hpp>
#include <tactus/scheduler/scheduler_dump.hpp>
#include <tactus/scheduler/scheduler_error.hpp>
#include <tactus/scheduler/scheduler_event.hpp>
#include <tactus/scheduler/scheduler_metrics.hpp>
#include <tactus/scheduler/scheduler_services.hpp>
#include <tactus/scheduler/withdrawn_jobs.hpp>
#include <tactus/time/clock.hpp>
#include <tactus/time/timer_wheel.hpp>

namespace tactus::inline v0 {

/// Few timers and narrow links on devices.
using scheduler_wheel = std::conditional_t<port::has_interrupts, small_timer_wheel, timer_wheel>;

/// How a scheduler is made.
struct scheduler_options {
    const clock* time = nullptr;
    scheduler_config config = {};
    std::uint32_t timers_max = 0;  // of the profile unbounded; otherwise as the profile says
    // Where everything lives; they outlive the scheduler. See plan().
    memory_region* jobs = nullptr;
    memory_region* nodes = nullptr;
    memory_region* overflow = nullptr;
    memory_source* memory = nullptr;  // for what is too large for a cell; null: there is none
    task_local_slot* slot = nullptr;  // BT-3; null: batches travel with their message
    scheduler_listener* listener = nullptr;  // null: nobody is told
    scheduler_services* services = nullptr;  // null: none
    // SC-14: what there is.
    bool fixed_rate = true;
    bool fixed_delay = true;
};

/// SC-7.
struct scheduler_capabilities {
    double max_frequency_hz = 0;
    std::uint32_t min_delay_ticks = 1;
    duration tick_resolution;
    bool fixed_rate = true;
    bool fixed_delay = true;
};

class pending_delay;
class turn;

class scheduler final : public timer_service, private memory_source {
    using job = detail::job;
    using job_kind = detail::job_kind;

public:
    /// Cells of the store for so many timers: those whose message is still on its way have one,
    /// too, and copies of periodic messages.
    [[nodiscard]] static constexpr std::uint32_t cells_for(std::uint32_t timers) noexcept {
        return timers + timers / 4 + spares;
    }

    /// Requires: the configuration is valid, and the regions hold what it needs (numbered checks).
    explicit scheduler(const scheduler_options& o) noexcept;
    scheduler(const scheduler&) = delete;
    scheduler& operator=(const scheduler&) = delete;
    /// Requires: the kernel it is attached to has ended: no message of its jobs is on its way.
    ~scheduler();

    // ---- registering

    /// SC-1: the message is sent once, not before `r.first` has passed.
    template <class M>
    [[nodiscard]] std::expected<cancellable, scheduler_error> add(const job_request& r,
                                                                  M&& message) noexcept {
        using type = std::remove_cvref_t<M>;
        static_assert(tactus::message<type>);
        if constexpr (!std::copy_constructible<type>) {
            if (r.mode != job_mode::one_shot)
                return std::unexpected(scheduler_error{.code = scheduler_errc::unsupported_mode,
                                                       .value = static_cast<int>(r.mode)});
        }
        return register_job(r, job_kind::message, detail::message_cargo<type>,
                            std::forward<M>(message));
    }
    /// The same for a function `f(const execution_batch&)`, which runs on a dispatcher. If it has a
    /// member `cancelled()`, that is called when it is.
    template <class F>
    [[nodiscard]] std::expected<cancellable, scheduler_error> add_function(const job_request& r,
                                                                           F&& f) noexcept {
        using type = std::remove_cvref_t<F>;
        static_assert(std::invocable<type&, const execution_batch&>);
        const bool is_given = r.executor != timer_affinity::no_dispatcher;
        return register_job(is_given ? r : r.run_on(callers_dispatcher()), job_kind::function,
                            detail::function_cargo<type>, std::forward<F>(f));
    }

    // Without options the policies supply them (SC-5), by where the timer comes from. A dispatcher
    // that is not given is the calling actor's, else the first (SC-9): a function runs on it, of a
    // message it is where policies look, and what the log shows.

    static constexpr std::uint16_t no_dispatcher = timer_affinity::no_dispatcher;

    template <class M>
    [[nodiscard]] auto schedule_once(duration delay, mailbox_index to, M&& message,
                                     mailbox_index sender = {},
                                     const timer_affinity& from = {}) noexcept {
        return schedule_once(delay, to, std::forward<M>(message), sender, policy_of(from).one_shot,
                             from.dispatcher);
    }
    template <class M>
    [[nodiscard]] auto schedule_once(duration delay, mailbox_index to, M&& message,
                                     mailbox_index sender, timer_priority priority,
                                     std::uint16_t dispatcher = no_dispatcher) noexcept {
        return add(job_request::once(delay, priority).send(to, sender).run_on(dispatcher),
                   std::forward<M>(message));
    }
    template <class M>
    [[nodiscard]] auto schedule_at_fixed_rate(duration initial, duration interval, mailbox_index to,
                                              M&& message, mailbox_index sender = {},
                                              const timer_affinity& from = {}) noexcept {
        return schedule_at_fixed_rate(initial, interval, to, std::forward<M>(message), sender,
                                      policy_of(from).fixed_rate, from.dispatcher);
    }
    template <class M>
    [[nodiscard]] auto schedule_at_fixed_rate(duration initial, duration interval, mailbox_index to,
                                              M&& message, mailbox_index sender,
                                              const fixed_rate_options& o,
                                              std::uint16_t dispatcher = no_dispatcher) noexcept {
        return add(
            job_request::at_fixed_rate(initial, interval, o).send(to, sender).run_on(dispatcher),
            std::forward<M>(message));
    }
    template <class M>
    [[nodiscard]] auto schedule_with_fixed_delay(duration initial, duration delay, mailbox_index to,
                                                 M&& message, mailbox_index sender = {},
                                                 const timer_affinity& from = {}) noexcept {
        return schedule_with_fixed_delay(initial, delay, to, std::forward<M>(message), sender,
                                         policy_of(from).fixed_delay, from.dispatcher);
    }
    template <class M>
    [[nodiscard]] auto schedule_with_fixed_delay(
        duration initial, duration delay, mailbox_index to, M&& message, mailbox_index sender,
        const fixed_delay_options& o, std::uint16_t dispatcher = no_dispatcher) noexcept {
        return add(
            job_request::with_fixed_delay(initial, delay, o).send(to, sender).run_on(dispatcher),
            std::forward<M>(message));
    }
    template <class F>
    [[nodiscard]] auto schedule_once_fn(duration delay, F&& f,
                                        std::uint16_t dispatcher = no_dispatcher) noexcept {
        return schedule_once_fn(delay, std::forward<F>(f), dispatcher,
                                policy_of({.dispatcher = dispatcher}).one_shot);
    }
    template <class F>
    [[nodiscard]] auto schedule_once_fn(duration delay, F&& f, std::uint16_t dispatcher,
                                        timer_priority priority) noexcept {
        return add_function(job_request::once(delay, priority).run_on(dispatcher),
                            std::forward<F>(f));
    }
    template <class F>
    [[nodiscard]] auto schedule_at_fixed_rate_fn(
        duration initial, duration interval, F&& f,
        std::uint16_t dispatcher = no_dispatcher) noexcept {
        return schedule_at_fixed_rate_fn(initial, interval, std::forward<F>(f), dispatcher,
                                         policy_of({.dispatcher = dispatcher}).fixed_rate);
    }
    template <class F>
    [[nodiscard]] auto schedule_at_fixed_rate_fn(duration initial, duration interval, F&& f,
                                                 std::uint16_t dispatcher,
                                                 const fixed_rate_options& o) noexcept {
        return add_function(job_request::at_fixed_rate(initial, interval, o).run_on(dispatcher),
                            std::forward<F>(f));
    }
    template <class F>
    [[nodiscard]] auto schedule_with_fixed_delay_fn(
        duration initial, duration delay, F&& f,
        std::uint16_t dispatcher = no_dispatcher) noexcept {
        return schedule_with_fixed_delay_fn(initial, delay, std::forward<F>(f), dispatcher,
                                            policy_of({.dispatcher = dispatcher}).fixed_delay);
    }
    template <class F>
    [[nodiscard]] auto schedule_with_fixed_delay_fn(duration initial, duration delay, F&& f,
                                                    std::uint16_t dispatcher,
                                                    const fixed_delay_options& o) noexcept {
        return add_function(job_request::with_fixed_delay(initial, delay, o).run_on(dispatcher),
                            std::forward<F>(f));
    }
    /// SC-5: what a timer that comes from there gets.
    [[nodiscard]] timer_policy policy_of(const timer_affinity& from) const noexcept {
        if (has_policies()) [[unlikely]]
            return find_policy(from);
        return {};
    }

    /// SC-13: a span of time, to be asked whether it has passed; see pending_delay.hpp.
    [[nodiscard]] pending_delay delay(duration d) noexcept;
    /// What delays are made of: `to` is woken once, on whatever thread runs what is due, or, when
    /// the scheduler is closed, by who does that: see was_closed(). Where `told` has a function
    /// `cancelled`, it is called with the waker's address when the job was cancelled instead, by
    /// whomever. Both must not block.
    [[nodiscard]] std::expected<cancellable, scheduler_error> schedule_wake(
        duration delay, waker& to, const detail::cargo_type& told = {}) noexcept;

    /// CN-5: the one way to cancel, for a handle too.
    bool cancel(const cancellable& which) noexcept {
        return which.serial_ == serial_ && cancel(which.index_, which.generation_);
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
    /// The same as arm() of a service, for the actor `r.to` and with the reason. One that is
    /// periodic keeps its place from when it is due until it is armed again, or cancelled.
    using armed = std::expected<timer_handle, scheduler_error>;
    [[nodiscard]] armed arm(const job_request& r) noexcept {
        return arm_for(r, job_kind::note, nullptr);
    }
    /// Of one that is periodic and was due, by its owner: due again then, under a new handle.
    /// `closed`: it has ended.
    [[nodiscard]] armed rearm(timer_handle which, instant due) noexcept;
    /// SC-26: when its owner was told of it, to the end of that tick. Now: it was not due.
    [[nodiscard]] instant sent_at(timer_handle which) noexcept;
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
    [[nodiscard]] duration resolution() const noexcept { return scale_.resolution(); }
    /// SC-3.
    [[nodiscard]] duration maximum_delay() const noexcept { return maximum_delay_; }
    [[nodiscard]] std::uint32_t active_count() noexcept;
    /// Cells that are in use: for tests of what is bounded.
    [[nodiscard]] std::uint32_t cell_count() noexcept;
    struct counts {
        std::uint64_t registered = 0;
        std::uint64_t fired = 0;  // deliveries
        std::uint64_t missed = 0;
        std::uint64_t cancelled = 0;
        std::uint64_t dropped = 0;
        std::uint64_t commands_left = 0;  // for who held the lock (SC-6)
    };
    [[nodiscard]] counts counted() noexcept;
    /// BP-3.
    struct pressure {
        backpressure_state state = backpressure_state::normal;
        backpressure_cause cause = backpressure_cause::none;
        tick_mode mode = tick_mode::normal;
        tick_status status = {};
        std::uint32_t chunk_ticks = 0;
    };
    [[nodiscard]] pressure pressure_now() noexcept;
    /// BP-8, BP-10.
    [[nodiscard]] scheduler_metrics metrics() noexcept;
    /// SD-3. Jobs are looked at one by one, and nobody waits for longer than that.
    void dump(text_sink& to, dump_format format, std::uint32_t jobs_max = 1'000) noexcept;
    /// SD-6: what was due last and went to its receiver or dispatcher.
    [[nodiscard]] std::optional<execution_batch> last_batch() noexcept;

    // ---- services: refused where there are none

    /// SD-2. Its queue has room for scheduler_config::diagnostics_capacity events, unless told.
    [[nodiscard]] auto subscribe(diagnostic_kinds kinds) noexcept {
        return subscribe(kinds, diagnostics_capacity_);
    }
    [[nodiscard]] std::expected<diagnostics::subscription, scheduler_error> subscribe(
        diagnostic_kinds kinds, std::uint32_t capacity) noexcept {
        if (services_ == nullptr)
            return std::unexpected(no_services("subscription"));
        services_->begin(scheduler_services::watching);
        auto made = services_->events().subscribe(kinds, capacity);
        if (made && kinds.has(diagnostic_kind::driver_metrics))
            services_->watch_driver();
        return made;
    }
    /// SD-1.
    [[nodiscard]] std::expected<void, scheduler_error> enable_deterministic_log(
        std::uint32_t capacity) noexcept {
        if (services_ == nullptr)
            return std::unexpected(no_services("log"));
        services_->begin(scheduler_services::watching);
        enter();
        const auto done = services_->log().enable(capacity);
        let_go();
        return done;
    }
    /// Calls read(const deterministic_log&) while nothing is recorded: be quick.
    template <class Read>
    void read_log(Read&& read) noexcept {
        if (services_ == nullptr)
            return;
        enter();
        read(std::as_const(services_->log()));
        let_go();
    }
    /// BP-5; null: there is none.
    [[nodiscard]] backpressure_gauge* gauge() noexcept {
        if (services_ == nullptr)
            return nullptr;
        services_->begin(scheduler_services::gauging);
        return &services_->gauge();
    }
    [[nodiscard]] bool has_policies() const noexcept {
        return services_ != nullptr && services_->has(scheduler_services::ruling);
    }
    /// SC-5; null: there are none.
    [[nodiscard]] timer_policies* policies() noexcept {
        if (services_ == nullptr)
            return nullptr;
        services_->begin(scheduler_services::ruling);
        return &services_->policies();
    }
    /// SH-2: see on_close_tasks.
    template <class Task>
    [[nodiscard]] std::expected<on_close_tasks::handle, scheduler_error> register_on_close(
        Task&& what, close_priority priority, const char* name = "") noexcept {
        if (services_ == nullptr)
            return std::unexpected(
                scheduler_error{.code = scheduler_errc::task_run_capacity_exceeded});
        return services_->tasks().add(std::forward<Task>(what), priority, name);
    }
    bool cancel_on_close(on_close_tasks::handle which) noexcept {
        return services_ != nullptr && services_->tasks().cancel(which);
    }

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
    friend class cancellable;

    static constexpr std::uint32_t spares = port::has_interrupts ? 0 : 32;

    [[nodiscard]] static scheduler_error no_services(const char* field) noexcept {
        return {.code = scheduler_errc::capacity_exceeded, .field = field};
    }

    /// A cell for what is registered, filled but for its cargo.
    struct place {
        job* cell = nullptr;
        scheduler_error why = {};
    };

    template <class T>
    [[nodiscard]] std::expected<cancellable, scheduler_error> register_job(
        const job_request& r, job_kind kind, const detail::cargo_type& type, T&& cargo) noexcept {
        using object = std::remove_cvref_t<T>;
        if constexpr (std::is_trivially_copyable_v<object>)
            return register_bytes(r, kind, type, &cargo);
        const place p = begin_registering(r, kind, type);
        if (p.cell == nullptr)
            return std::unexpected(p.why);
        const handled made =
            call_user([&] { ::new (p.cell->cargo) object(std::forward<T>(cargo)); });
        if (!made.is_ok()) {
            abandon(*p.cell);
            return std::unexpected(scheduler_error{.code = scheduler_errc::construction_failed});
        }
        return commit(*p.cell);
    }
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

    [[nodiscard]] std::uint16_t callers_dispatcher() const noexcept;
    [[nodiscard]] timer_policy find_policy(timer_affinity from) const noexcept;
    [[nodiscard]] std::optional<scheduler_error> fault_of(const job_request& r) const noexcept;
    [[nodiscard]] std::optional<scheduler_error> fault_of(duration d,
                                                          const char* field) const noexcept;
    [[nodiscard]] scheduler_error too_late(duration delay) const noexcept;
    [[nodiscard]] duration usable(duration d) const noexcept {
        return d > duration::zero() ? d : duration::from_ns(1);  // SC-3: next_tick
    }
    [[nodiscard]] bool give_cargo_room(job& j, const detail::cargo_type& type) noexcept;
    void fill(job& j, const job_request& r, job_kind kind, instant now) noexcept;
    [[nodiscard]] cancellable handle_of(const job& j) const noexcept;
    [[nodiscard]] job_id id_of(const job& j) const noexcept;
    /// A cell, with the lock held or not; `inside` says which.
    [[nodiscard]] job* take_cell(bool& inside) noexcept;

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
    [[nodiscard]] bool can_make_way(timer_priority for_whom, std::uint32_t count) noexcept;
    void make_way() noexcept;
    /// Of who goes into the wheel: its place in overflow is its own, if it still needs one.
    void take_reserved(job& j) noexcept;
    /// Counts and tells that it gave way, or found no place.
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
    [[nodiscard]] tick now_if_watched() const noexcept;
    /// Nothing: it is no job that dumps show.
    [[nodiscard]] std::optional<job_view> view_of(const job& j) const noexcept;
    [[nodiscard]] bool insert(job& j) noexcept;
    void note_nearer(instant due) noexcept;
    /// What who keeps the time is to wait for; no_deadline: nothing.
    [[nodiscard]] tick next_kept() noexcept;
    void apply(job& j) noexcept;
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
        return is_nearer_ || is_lossy_ || has_lost_ || doomed_ != nullptr || store_.wants_spares();
    }
    static constexpr tick no_deadline = ~tick{0};
    void deactivate(job& j) noexcept;
    void fold_counts() noexcept;
    void end_alive(job& j) noexcept;
    void doom(job& j) noexcept;
    /// False: it was cancelled meanwhile.
    [[nodiscard]] bool came_due(job& j, instant now) noexcept;
    void note_fire(const job& j, tick at) noexcept;

    // ---- anybody

    /// Looks at the pressure, once per tick (SC-38). What is normal and not measured by others
    /// changes only when timers run.
    void look(instant now) noexcept {
        if (pressed_.load(std::memory_order_relaxed) != 0 ||
            (services_ != nullptr && services_->has(scheduler_services::gauging))) {
            if (!has_looked(now)) [[unlikely]]
                look_closely(now);
        }
    }
    /// In the tick of `now`, as far as that is known without its number.
    [[nodiscard]] bool has_looked(instant now) const noexcept {
        return looks_by_time &&
               now.ns() < reinterpret_cast<std::uintptr_t>(looked_.load(std::memory_order_relaxed));
    }
    /// What is remembered of a look: where its tick ends or, where an address is too small for
    /// that, the low half of its number.
    static constexpr bool looks_by_time = sizeof(std::uintptr_t) >= sizeof(std::uint64_t);
    using look_word = const struct look_bits*;
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

    // ---- firing

    /// False: somebody else does, and will look again.
    [[nodiscard]] bool begin_firing() noexcept;
    /// Waits until nobody else does. It does not ask to look again, which could go on forever.
    void wait_to_fire() noexcept;
    /// False: it has to look again, and still may.
    [[nodiscard]] bool end_firing() noexcept;
    /// Of who has begun; ends it.
    void fire_due(instant now) noexcept;
    [[nodiscard]] job* take_due(instant now, bool first) noexcept;
    void fire_wake(job& j, job_end why) noexcept;
    /// False: it has missed too much, and has ended.
    [[nodiscard]] bool pass_to_owner(job& j) noexcept;
    /// Of who fires it and of its owner: the last of them ends it.
    void let_go_of_owned(job& j, std::uint32_t parts) noexcept;
    [[nodiscard]] bool is_alive(mailbox_index who) noexcept;
    [[nodiscard]] bool cells_are_scarce() noexcept;
    void fire(job& j) noexcept;
    /// Counts and tells what a delivery stands for beside its own run, less what was `told`. False:
    /// it has missed too much, and is to be ended.
    [[nodiscard]] bool keeps_up(job& j, std::uint32_t missed, std::uint32_t told = 0) noexcept;
    void fire_message(job& j) noexcept;
    void fire_copies(job& j) noexcept;
    [[nodiscard]] bool send_copy(job& j, job* flight, std::uint32_t missed) noexcept;
    [[nodiscard]] job* take_flight() noexcept;
    void send_alone(const job& j) noexcept;
    void fire_function(job& j) noexcept;
    /// `delay` is that of a fixed delay.
    void rearm_or_end(job& j, duration delay) noexcept;
    void rearm_or_end(job& j) noexcept { rearm_or_end(j, j.period); }
    void finish(job& j, job_state to, job_end why = job_end::as_asked) noexcept;
    void release_hold(job& j) noexcept;
    void flight_ended(job& flight) noexcept;
    void note_lost(const job& j) noexcept;
    void run_function(job& j) noexcept;
    void function_over(job& j) noexcept;
    void warn(scheduler_warning_kind kind, const execution_batch& of, std::int64_t value,
              std::int64_t limit, const char* text = "") noexcept;
    [[nodiscard]] execution_batch batch_of(const job& j, std::uint32_t missed) const noexcept;

    /// memory_source: of messages on their way. Only they are given back here.
    [[nodiscard]] void* allocate(std::size_t, std::size_t) noexcept override { return nullptr; }
    void release(void* block, std::size_t size, std::size_t alignment) noexcept override;

    // Constant.
    const clock& time_;
    const tick_scale scale_;
    const duration maximum_delay_;
    memory_source* const memory_;
    task_local_slot* const slot_;
    scheduler_listener* const listener_;
    scheduler_services* const services_;
    const duration shutdown_timeout_;
    const std::uint32_t diagnostics_capacity_;
    const std::uint32_t serial_;
    const std::uint32_t quota_;
    const std::uint32_t timers_limit_;    // so many have a node, whoever finds the lock taken
    const std::uint32_t overflow_limit_;  // unlimited: grows
    const zero_delay_rule zero_delay_;
    const clock_kind clock_kind_;
    const bool fixed_rate_;
    const bool fixed_delay_;
    actor_scheduler* kernel_ = nullptr;

    command_lock<job> lock_;
    // Under the lock.
    scheduler_wheel wheel_;
    job_store store_;
    backpressure pressure_;
    std::uint32_t active_ = 0;
    std::uint32_t periodic_ = 0;           // of those
    std::uint32_t overflow_reserved_ = 0;  // for jobs that are on their way into the wheel
    std::uint64_t sequence_ = 0;
    tick observed_at_ = 0;           // the last look at the pressure
    tick noted_at_ = 0;              // the last note, for whose order it is
    std::uint64_t ticks_taken_ = 0;  // when ticks were last taken
    std::uint64_t ticks_taken_peak_ = 0;
    std::uint64_t catch_ups_ = 0;
    counts counts_;
    std::uint64_t rejected_[scheduler_errc_count] = {};
    last_batch_holder last_;
    static constexpr std::uint32_t withdrawn_places = port::has_interrupts ? 0 : 8;
    [[no_unique_address]] detail::withdrawn_jobs<withdrawn_places> withdrawn_;
    job* doomed_ = nullptr;  // their cargo is to be ended without the lock
    // Who keeps the time was told of this deadline, or took it when it asked last; after that it
    // asks again. So only an earlier one is news. When it is cancelled it stays until it has
    // passed: they wake once in vain, and are not woken by each that is the only one for a moment.
    instant kept_ = instant::never();
    bool is_nearer_ = false;  // somebody must be told of an earlier deadline
    bool is_lossy_ = false;   // diagnostics have something to tell
    bool has_lost_ = false;   // `lost_` is to be told
    timer_priority lost_priority_ = timer_priority::normal;
    job_id lost_ = {};
    bool is_closed_ = false;
    bool more_due_ = false;                  // the last chunk was not all
    port::atomic<std::uint32_t> closed_{0};  // for who looks without the lock: a hint
    // Hints of the same kind: not normal; the tick in which somebody looked.
    port::atomic<std::uint32_t> pressed_{0};
    port::atomic<look_word> looked_{nullptr};

    // Who delivers: nobody, somebody, somebody who is to look again. "fired": what one has done is
    // done before the next one begins, and who looks again sees the time, and the jobs, of who
    // asked for it.
    enum firing_state : std::uint32_t { nobody, somebody, again };
    static constexpr port::edge fired_before{"scheduler-firing"};
    port::atomic<std::uint32_t> firing_{nobody};
    // Relaxed: a thread only looks for itself.
    port::atomic<const void*> firing_thread_{nullptr};
    port::plain<job*> waking_{nullptr};  // whose waker is being called; of the firing thread
    job* waits_left_ = nullptr;  // of one that is closed: who waits, to be told; of who closed it
    // Counted while firing, or by who is told; relaxed, for people.
    port::atomic<std::uint32_t> dropped_{0};
    port::atomic<std::uint32_t> fired_{0};
    port::atomic<std::uint32_t> missed_{0};
};

}  // namespace tactus::inline v0
