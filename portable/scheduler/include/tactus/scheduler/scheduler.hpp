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
// Invariants
//   K1  a job is in the wheel exactly while it is scheduled, except between a cancel and the moment
//       it is taken out, which is before the lock is next free
//   K2  the right to end a job is one thread's: who cancelled it while it was scheduled; who is to
//       put it in while it is pending; who took it out while it is executing, and passes it on to
//       its flight or task
//   K3  a cell is given back when nothing refers to it: its holders are 0
//   K4  jobs of one tick are delivered in the order in which they were registered
//
// Thread safety: everything from any thread.
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
#include <tactus/scheduler/cancellable.hpp>
#include <tactus/scheduler/command_lock.hpp>
#include <tactus/scheduler/execution_batch.hpp>
#include <tactus/scheduler/job.hpp>
#include <tactus/scheduler/job_store.hpp>
#include <tactus/scheduler/scheduler_config.hpp>
#include <tactus/scheduler/scheduler_error.hpp>
#include <tactus/scheduler/scheduler_event.hpp>
#include <tactus/time/clock.hpp>
#include <tactus/time/timer_wheel.hpp>

namespace tactus::inline v0 {

/// Few timers and narrow links on devices.
using scheduler_wheel = std::conditional_t<port::has_interrupts, small_timer_wheel, timer_wheel>;

/// What a job is asked for with, whatever it carries.
struct job_request {
    job_mode mode = job_mode::one_shot;
    duration first;
    duration period = {};  // of periodic jobs
    mailbox_index to = {};
    mailbox_index sender = {};
    timer_priority priority = timer_priority::normal;
    std::uint16_t executor = 0;  // number of the dispatcher a function runs on
    // Of fixed rate.
    std::uint16_t backlog_limit = 8;
    std::uint16_t burst_threshold = 2;
    bool each = false;
    // Of fixed delay.
    bool after_sent = false;
};

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
        return register_job(r, job_kind::function, detail::function_cargo<type>,
                            std::forward<F>(f));
    }

    template <class M>
    [[nodiscard]] auto schedule_once(duration delay, mailbox_index to, M&& message,
                                     mailbox_index sender = {}) noexcept {
        return add({.first = delay, .to = to, .sender = sender}, std::forward<M>(message));
    }
    template <class M>
    [[nodiscard]] auto schedule_at_fixed_rate(duration initial, duration interval, mailbox_index to,
                                              M&& message, mailbox_index sender = {}) noexcept {
        return add({.mode = job_mode::fixed_rate,
                    .first = initial,
                    .period = interval,
                    .to = to,
                    .sender = sender},
                   std::forward<M>(message));
    }
    template <class M>
    [[nodiscard]] auto schedule_with_fixed_delay(duration initial, duration delay, mailbox_index to,
                                                 M&& message, mailbox_index sender = {}) noexcept {
        return add({.mode = job_mode::fixed_delay,
                    .first = initial,
                    .period = delay,
                    .to = to,
                    .sender = sender},
                   std::forward<M>(message));
    }
    template <class F>
    [[nodiscard]] auto schedule_once_fn(duration delay, F&& f) noexcept {
        return add_function({.first = delay}, std::forward<F>(f));
    }
    template <class F>
    [[nodiscard]] auto schedule_at_fixed_rate_fn(duration initial, duration interval,
                                                 F&& f) noexcept {
        return add_function({.mode = job_mode::fixed_rate, .first = initial, .period = interval},
                            std::forward<F>(f));
    }
    template <class F>
    [[nodiscard]] auto schedule_with_fixed_delay_fn(duration initial, duration delay,
                                                    F&& f) noexcept {
        return add_function({.mode = job_mode::fixed_delay, .first = initial, .period = delay},
                            std::forward<F>(f));
    }

    /// SC-13: a span of time, to be asked whether it has passed; see pending_delay.hpp.
    [[nodiscard]] pending_delay delay(duration d) noexcept;
    /// What delays are made of: `to` is woken once, on whatever thread runs what is due. Where
    /// `told` has a function `cancelled`, it is called with the waker's address when the job was
    /// cancelled instead, by whomever. Both must not block.
    [[nodiscard]] std::expected<cancellable, scheduler_error> schedule_wake(
        duration delay, waker& to, const detail::cargo_type& told = {}) noexcept;

    /// CN-5: the one way to cancel, for a handle too.
    bool cancel(const cancellable& which) noexcept {
        return which.serial_ == serial_ && cancel(which.index_, which.generation_);
    }
    [[nodiscard]] std::optional<job_state> state_of(const cancellable& which) const noexcept;

    // ---- timers of the runtime (timer_service)

    [[nodiscard]] std::optional<timer_handle> arm(timer_target& to,
                                                  duration delay) noexcept override;
    bool cancel(timer_handle which) noexcept override {
        return cancel(which.index(), which.generation());
    }
    [[nodiscard]] bool pending(timer_handle which) noexcept override;
    void attach(actor_scheduler& kernel) noexcept override { kernel_ = &kernel; }
    [[nodiscard]] scheduler* as_scheduler() noexcept override { return this; }

    // ---- running

    [[nodiscard]] instant next_deadline() noexcept override;
    void run_due(instant now) noexcept override;

    /// Of the message or function that this thread handles; nothing when it came from no job
    /// (BT-1). `t` is the turn it is in, if it is in one.
    [[nodiscard]] std::optional<execution_batch> current_batch(const turn* t) const noexcept;

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

    // ---- closing (SH-1)

    /// Takes nothing any more, and cancels what is left, in the order of registration. False: it
    /// was closed before.
    bool close() noexcept;
    [[nodiscard]] bool has_closed() const noexcept {
        return closed_.load(std::memory_order_relaxed) != 0;
    }

private:
    friend struct job;
    friend struct job_task;
    friend class cancellable;

    static constexpr std::uint32_t spares = port::has_interrupts ? 0 : 32;

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
    [[nodiscard]] std::expected<cancellable, scheduler_error> register_bytes(
        const job_request& r, job_kind kind, const detail::cargo_type& type,
        const void* bytes) noexcept;
    [[nodiscard]] place begin_registering(const job_request& r, job_kind kind,
                                          const detail::cargo_type& type) noexcept;
    [[nodiscard]] std::expected<cancellable, scheduler_error> commit(job& j) noexcept;
    void abandon(job& j) noexcept;

    [[nodiscard]] std::optional<scheduler_error> fault_of(const job_request& r) const noexcept;
    [[nodiscard]] std::optional<scheduler_error> fault_of(duration d,
                                                          const char* field) const noexcept;
    [[nodiscard]] duration usable(duration d) const noexcept {
        return d > duration::zero() ? d : duration::from_ns(1);  // SC-3: next_tick
    }
    [[nodiscard]] std::optional<scheduler_error> admit(timer_priority priority) noexcept;
    [[nodiscard]] bool give_cargo_room(job& j, const detail::cargo_type& type) noexcept;
    void fill(job& j, const job_request& r, job_kind kind, instant now) noexcept;
    [[nodiscard]] cancellable handle_of(const job& j) const noexcept;
    [[nodiscard]] job_id id_of(const job& j) const noexcept;
    /// A cell, with the lock held or not; `inside` says which.
    [[nodiscard]] job* take_cell(bool& inside) noexcept;

    // ---- the lock's holder

    [[nodiscard]] bool insert(job& j) noexcept;
    void apply(job& j) noexcept;
    /// Lets go of the lock, and does what can only be done without it.
    void let_go() noexcept;
    void deactivate(job& j) noexcept;
    void end_alive(job& j) noexcept;
    void doom(job& j) noexcept;
    /// False: it was cancelled meanwhile.
    [[nodiscard]] bool came_due(job& j, tick now) noexcept;

    // ---- anybody

    /// Does what apply does, or leaves it for who holds the lock.
    void submit(job& j) noexcept;
    /// Ends a job whose word allows it; `to` is cancelled or completed.
    bool stop(std::uint32_t index, std::uint32_t generation, job_state to) noexcept;
    bool cancel(std::uint32_t index, std::uint32_t generation) noexcept {
        return stop(index, generation, job_state::cancelled);
    }
    /// Ends what it carries, outside the lock.
    void drop_cargo(job& j) noexcept;
    void free_room(job& j) noexcept;
    [[nodiscard]] bool changed(job& j, job_state from, job_state to) noexcept;

    // ---- firing

    [[nodiscard]] job* take_due(instant now) noexcept;
    void fire(job& j) noexcept;
    /// False: it has missed too much, and was ended.
    [[nodiscard]] bool keeps_up(job& j) noexcept;
    void fire_message(job& j) noexcept;
    void fire_copies(job& j) noexcept;
    [[nodiscard]] bool send_copy(job& j, job* flight, std::uint32_t missed) noexcept;
    [[nodiscard]] job* take_flight() noexcept;
    void fire_function(job& j) noexcept;
    void rearm_or_end(job& j) noexcept;
    void finish(job& j, job_state to) noexcept;
    void release_hold(job& j) noexcept;
    void flight_ended(job& flight) noexcept;
    void run_function(job& j) noexcept;
    void function_over(job& j) noexcept;
    void warn(scheduler_warning_kind kind, const job& j, std::int64_t value, std::int64_t limit,
              const char* text = "") noexcept;
    [[nodiscard]] execution_batch batch_of(const job& j, std::uint32_t missed) const noexcept;
    /// Makes a batch visible to who handles it.
    void show_batch(const execution_batch& what, envelope_guard::scope& during) const noexcept;

    /// memory_source: of messages on their way. Only they are given back here.
    [[nodiscard]] void* allocate(std::size_t, std::size_t) noexcept override { return nullptr; }
    void release(void* block, std::size_t size, std::size_t alignment) noexcept override;

    TACTUS_CHECK_MODULE("scheduler");

    // Constant.
    const clock& time_;
    const tick_scale scale_;
    const duration maximum_delay_;
    memory_source* const memory_;
    task_local_slot* const slot_;
    scheduler_listener* const listener_;
    const std::uint32_t serial_;
    const std::uint32_t quota_;
    const zero_delay_rule zero_delay_;
    actor_scheduler* kernel_ = nullptr;

    command_lock<job> lock_;
    // Under the lock.
    scheduler_wheel wheel_;
    job_store store_;
    std::uint32_t active_ = 0;
    std::uint64_t sequence_ = 0;
    counts counts_;
    job* doomed_ = nullptr;   // their cargo is to be ended without the lock
    bool is_nearer_ = false;  // somebody must be told of an earlier deadline
    bool is_closed_ = false;
    port::atomic<std::uint32_t> closed_{0};  // the same, for who looks without the lock: a hint

    // Who delivers. Relaxed: it keeps others out; what they share is under the lock.
    port::atomic<std::uint32_t> firing_{0};
    port::atomic<const void*> firing_thread_{nullptr};
    // Counted while firing, or by who is told; relaxed, for people.
    port::atomic<std::uint32_t> dropped_{0};
    port::atomic<std::uint32_t> fired_{0};
    port::atomic<std::uint32_t> missed_{0};
};

}  // namespace tactus::inline v0
