// SPDX-License-Identifier: Apache-2.0
//
// Scheduling face: the calls that register a message or a function with a scheduler (SC-1, SC-4,
// SC-5). Each makes a job_request and adds it; typed_scheduler.hpp has the same calls for
// references of actors.
//
// A base of the scheduler, which it is given as `Scheduler`: it has no data and costs nothing.
//
// Thread safety: as the scheduler's.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <new>
#include <type_traits>
#include <utility>

#include <tactus/dispatch/behaviour.hpp>
#include <tactus/mailbox/mailbox_index.hpp>
#include <tactus/mailbox/message_type.hpp>
#include <tactus/scheduler/cancellable.hpp>
#include <tactus/scheduler/execution_batch.hpp>
#include <tactus/scheduler/job.hpp>
#include <tactus/scheduler/job_request.hpp>
#include <tactus/scheduler/scheduler_error.hpp>
#include <tactus/scheduler/timer_policy.hpp>
#include <tactus/time/instant.hpp>

namespace tactus::inline v0 {

template <class Scheduler>
class scheduling_face {
public:
    /// SC-1: the message is sent once, not before `r.first` has passed. One that cannot be copied
    /// cannot be sent more often: `unsupported_mode`; the calls below do not compile then.
    template <class M>
    [[nodiscard]] std::expected<cancellable, scheduler_error> add(const job_request& r,
                                                                  M&& message) noexcept {
        using type = std::remove_cvref_t<M>;
        static_assert(tactus::message<type>);
        if constexpr (!std::copy_constructible<type>) {
            if (r.mode != job_mode::one_shot)
                return std::unexpected(scheduler_error{.code = scheduler_errc::unsupported_mode,
                                                       .field = "message",
                                                       .value = static_cast<int>(r.mode)});
        }
        return register_job(r, detail::job_kind::message, detail::message_cargo<type>,
                            std::forward<M>(message));
    }
    /// The same for a function `f(const execution_batch&)`, which runs on a dispatcher. If it has a
    /// member `cancelled()`, that is called there, once, when a run that was to come is cancelled,
    /// but not when the scheduler is closed.
    template <class F>
    [[nodiscard]] std::expected<cancellable, scheduler_error> add_function(const job_request& r,
                                                                           F&& f) noexcept {
        using type = std::remove_cvref_t<F>;
        static_assert(std::invocable<type&, const execution_batch&>);
        return register_job(r, detail::job_kind::function, detail::function_cargo<type>,
                            std::forward<F>(f));
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
        detail::require_copies<M>();
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
        detail::require_copies<M>();
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
        if (self().has_policies()) [[unlikely]]
            return self().find_policy(from);
        return {};
    }

private:
    friend Scheduler;
    scheduling_face() = default;
    ~scheduling_face() = default;

    template <class T>
    [[nodiscard]] std::expected<cancellable, scheduler_error> register_job(
        const job_request& wanted, detail::job_kind kind, const detail::cargo_type& type,
        T&& cargo) noexcept {
        const bool is_given = wanted.executor != no_dispatcher;
        const job_request r = is_given ? wanted : wanted.run_on(self().callers_dispatcher());
        using object = std::remove_cvref_t<T>;
        if constexpr (alignof(object) > alignof(std::max_align_t))
            return std::unexpected(scheduler_error{.code = scheduler_errc::invalid_options,
                                                   .field = "alignment of the message",
                                                   .value = alignof(object),
                                                   .limit = alignof(std::max_align_t)});
        if constexpr (std::is_trivially_copyable_v<object>)
            return self().register_bytes(r, kind, type, &cargo);
        const auto p = self().begin_registering(r, kind, type);
        if (p.cell == nullptr)
            return std::unexpected(p.why);
        const handled made =
            call_user([&] { ::new (p.cell->cargo) object(std::forward<T>(cargo)); });
        if (!made.is_ok())
            return std::unexpected(self().construction_failed(*p.cell));
        return self().commit(*p.cell);
    }
    [[nodiscard]] Scheduler& self() noexcept { return static_cast<Scheduler&>(*this); }
    [[nodiscard]] const Scheduler& self() const noexcept {
        return static_cast<const Scheduler&>(*this);
    }
};

}  // namespace tactus::inline v0
