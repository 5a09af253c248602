// SPDX-License-Identifier: Apache-2.0
//
// Typed scheduler: the calls of a scheduler with references of actors (SC-4). An inline face; who
// has one says in whose name: sender, dispatcher of functions, and where policies look (SC-5).
//
//     auto once = system.timers().schedule_once(5_s, ref, remind{});
//
// A message that the actor does not take is a compile error, as with tell; so is one that is to be
// sent again and cannot be copied.
//
// Thread safety: as the scheduler's.
#pragma once

#include <concepts>
#include <cstdint>
#include <expected>
#include <optional>
#include <type_traits>
#include <utility>

#include <tactus/actor/actor_ref.hpp>
#include <tactus/scheduler/scheduler.hpp>

namespace tactus::inline v0 {

namespace detail {

/// What is sent to `to` when it is told an M: an M, or what it converts to.
template <class M, class... Ms>
[[nodiscard]] constexpr auto taken_by(const actor_ref<Ms...>*) noexcept {
    if constexpr (same_count<std::remove_cvref_t<M>, Ms...> == 1)
        return std::type_identity<std::remove_cvref_t<M>>{};
    else if constexpr (message_not_in_protocol<M, Ms...>::met)
        return std::type_identity<typename sent_as<M, Ms...>::type>{};
}
template <class M>
[[nodiscard]] constexpr auto taken_by(const any_ref*) noexcept {
    static_assert(message_requirements<std::remove_cvref_t<M>>::met);
    return std::type_identity<std::remove_cvref_t<M>>{};
}
template <class Ref, class M>
using sent_to = typename decltype(taken_by<M>(static_cast<const Ref*>(nullptr)))::type;

}  // namespace detail

class typed_scheduler {
public:
    using result = std::expected<cancellable, scheduler_error>;
    struct origin {
        any_ref sender = {};
        timer_affinity from = {};  // its dispatcher is that of functions, too (SC-9)
    };

    /// Null: there are no timers, and every call says `closed`.
    typed_scheduler(scheduler* to, const origin& whose) noexcept : to_(to), whose_(whose) {}
    explicit typed_scheduler(scheduler* to) noexcept : to_(to) {}
    /// The same with that dispatcher, instead of the calling actor's or the first.
    [[nodiscard]] typed_scheduler on(std::uint16_t dispatcher) const noexcept {
        typed_scheduler there = *this;
        there.whose_.from.dispatcher = dispatcher;
        return there;
    }
    /// The same by its handle (DR-5): what dispatchers().find(id) and add() give.
    template <class Handle>
        requires requires(const Handle& h) {
            { h.number() } -> std::convertible_to<std::uint32_t>;
        }
    [[nodiscard]] typed_scheduler on(const Handle& dispatcher) const {
        return on(static_cast<std::uint16_t>(dispatcher.number()));
    }
    /// The same with that sender.
    [[nodiscard]] typed_scheduler as(any_ref sender) const noexcept {
        typed_scheduler there = *this;
        there.whose_.sender = sender;
        return there;
    }
    /// The same for timers of that part of the program: its policy is that of the subsystem, where
    /// the dispatcher and the guardian have none (SC-5).
    [[nodiscard]] typed_scheduler of(timer_subsystem subsystem) const noexcept {
        typed_scheduler there = *this;
        there.whose_.from.subsystem = subsystem;
        return there;
    }

    template <class Ref, class M>
    result schedule_once(duration delay, const Ref& to, M&& message) const noexcept {
        return send(job_request::once(delay, policy().one_shot), to, std::forward<M>(message));
    }
    /// Options of its own instead of the policy's.
    template <class Ref, class M>
    result schedule_once(duration delay, const Ref& to, M&& message,
                         timer_priority priority) const noexcept {
        return send(job_request::once(delay, priority), to, std::forward<M>(message));
    }
    template <class Ref, class M>
    result schedule_at_fixed_rate(duration initial, duration interval, const Ref& to,
                                  M&& message) const noexcept {
        return schedule_at_fixed_rate(initial, interval, to, std::forward<M>(message),
                                      policy().fixed_rate);
    }
    template <class Ref, class M>
    result schedule_at_fixed_rate(duration initial, duration interval, const Ref& to, M&& message,
                                  const fixed_rate_options& o) const noexcept {
        return send_again(job_request::at_fixed_rate(initial, interval, o), to,
                          std::forward<M>(message));
    }
    template <class Ref, class M>
    result schedule_with_fixed_delay(duration initial, duration delay, const Ref& to,
                                     M&& message) const noexcept {
        return schedule_with_fixed_delay(initial, delay, to, std::forward<M>(message),
                                         policy().fixed_delay);
    }
    template <class Ref, class M>
    result schedule_with_fixed_delay(duration initial, duration delay, const Ref& to, M&& message,
                                     const fixed_delay_options& o) const noexcept {
        return send_again(job_request::with_fixed_delay(initial, delay, o), to,
                          std::forward<M>(message));
    }

    /// The same for a function `f(const execution_batch&)`.
    template <class F>
    result schedule_once_fn(duration delay, F&& f) const noexcept {
        return run(job_request::once(delay, policy().one_shot), std::forward<F>(f));
    }
    template <class F>
    result schedule_once_fn(duration delay, F&& f, timer_priority priority) const noexcept {
        return run(job_request::once(delay, priority), std::forward<F>(f));
    }
    template <class F>
    result schedule_at_fixed_rate_fn(duration initial, duration interval, F&& f) const noexcept {
        return schedule_at_fixed_rate_fn(initial, interval, std::forward<F>(f),
                                         policy().fixed_rate);
    }
    template <class F>
    result schedule_at_fixed_rate_fn(duration initial, duration interval, F&& f,
                                     const fixed_rate_options& o) const noexcept {
        return run(job_request::at_fixed_rate(initial, interval, o), std::forward<F>(f));
    }
    template <class F>
    result schedule_with_fixed_delay_fn(duration initial, duration delay, F&& f) const noexcept {
        return schedule_with_fixed_delay_fn(initial, delay, std::forward<F>(f),
                                            policy().fixed_delay);
    }
    template <class F>
    result schedule_with_fixed_delay_fn(duration initial, duration delay, F&& f,
                                        const fixed_delay_options& o) const noexcept {
        return run(job_request::with_fixed_delay(initial, delay, o), std::forward<F>(f));
    }

private:
    [[nodiscard]] timer_policy policy() const noexcept {
        return to_ != nullptr ? to_->policy_of(whose_.from) : timer_policy{};
    }
    [[nodiscard]] static result none() noexcept {
        return std::unexpected(scheduler_error{.code = scheduler_errc::closed});
    }
    template <class Ref, class M>
    [[nodiscard]] result send(const job_request& r, const Ref& to, M&& message) const noexcept {
        if (to_ == nullptr)
            return none();
        using type = detail::sent_to<Ref, M>;
        const job_request wanted =
            r.send(to.index(), whose_.sender.index()).run_on(whose_.from.dispatcher);
        if constexpr (std::is_same_v<type, std::remove_cvref_t<M>>) {
            return to_->add(wanted, std::forward<M>(message));
        } else {
            // Conversions are user code: what one throws is an error of the call.
            std::optional<type> converted;
            if (!call_user([&] { converted.emplace(std::forward<M>(message)); }).is_ok())
                return std::unexpected(
                    scheduler_error{.code = scheduler_errc::construction_failed});
            return to_->add(wanted, std::move(*converted));
        }
    }
    template <class Ref, class M>
    [[nodiscard]] result send_again(const job_request& r, const Ref& to,
                                    M&& message) const noexcept {
        detail::require_copies<detail::sent_to<Ref, M>>();
        return send(r, to, std::forward<M>(message));
    }
    template <class F>
    [[nodiscard]] result run(const job_request& r, F&& f) const noexcept {
        return to_ != nullptr
                   ? to_->add_function(r.run_on(whose_.from.dispatcher), std::forward<F>(f))
                   : none();
    }

    scheduler* to_;
    origin whose_;
};

}  // namespace tactus::inline v0
