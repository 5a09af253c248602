// SPDX-License-Identifier: Apache-2.0
//
// Protocol context: an actor context that knows which messages its actor takes: what makes other
// messages into these, and other behavior for these (AC-5).
//
//   message_adapter<M>(f)     who answers with an M tells it to the reference; f makes it one of
//                             the protocol, in the actor's turn
//   pipe_to_self(task, f)     what the task gives, made one of the protocol by f, is told to it
//   ask<R>(..., f)            the same of a question; nothing waits
//   become(behavior)          from the next message on; unbecome() returns to what was before
//   co_await next<M>()        the next message M, instead of its handler
//
// An adapter's reference is the actor's own, for another message: it ends with the actor, and its
// messages keep their order with all others. Adapters and behaviors belong to the instance: a
// restart forgets them.
#pragma once

#include <concepts>
#include <expected>
#include <new>
#include <type_traits>
#include <utility>

#include <tactus/actor/actor_context.hpp>
#include <tactus/actor/ask_source.hpp>
#include <tactus/actor/effect_recorder.hpp>
#include <tactus/actor/next_message.hpp>
#include <tactus/actor/task.hpp>

namespace tactus::inline v0 {

enum class become_mode : std::uint8_t {
    replace,  // what was before is forgotten
    stack,    // unbecome returns to it
};

namespace detail {

/// What the compiler's first error names; see requirement.
template <class M, class... Ms>
struct adapter_makes_foreign_message;
template <class M, class... Ms>
struct adapted_message {
    static_assert(requirement < same_count<M, Ms...> == 1, adapter_makes_foreign_message < M,
                  Ms... >> ::met, "an adapter makes a message of the actor's protocol");
    static constexpr bool met = true;
};

template <class M, class... Ms>
struct actor_does_not_take_the_message;
template <class M, class... Ms>
struct awaited_message {
    static_assert(requirement < same_count<M, Ms...> == 1, actor_does_not_take_the_message < M,
                  Ms... >> ::met, "next<M>() waits for a message of the actor's protocol");
    static_assert(std::is_move_constructible_v<M>, "a message that a task takes is moved to it");
    static constexpr bool met = true;
};

template <class M>
struct periodic_message_cannot_be_copied;
template <class M>
struct periodic_message {
    static_assert(
        requirement<std::is_copy_constructible_v<M>, periodic_message_cannot_be_copied<M>>::met,
        "a periodic message is sent again and again: it must be copyable");
    static constexpr bool met = true;
};

/// Whether every actor takes an M, whatever its protocol.
template <class M>
inline constexpr bool taken_by_every_actor =
    same_count<M, poison_pill, tactus::kill, identify> != 0;
/// The message that an actor is told when it is given an M: itself, or the only one of its protocol
/// that it converts to, as with tell.
template <class... Ms, class M>
[[nodiscard]] auto own_message(M&& message) {
    using plain = std::remove_cvref_t<M>;
    if constexpr (taken_by_every_actor<plain> || same_count<plain, Ms...> == 1)
        return plain(std::forward<M>(message));
    else if constexpr (message_not_in_protocol<M, Ms...>::met)
        return typename sent_as<M, Ms...>::type(std::forward<M>(message));
}

template <class From, class F, class... Ms>
class adapter_of final : public message_adapter {
public:
    explicit adapter_of(F f) : message_adapter(message_type_of<From>), function_(std::move(f)) {}
    [[nodiscard]] handled adapt(turn& t, cell& c, envelope& from,
                                envelope*& made) noexcept override;
    void release(memory_source& memory) noexcept override {
        this->~adapter_of();
        memory.release(this, sizeof(adapter_of), alignof(adapter_of));
    }

private:
    ~adapter_of() = default;
    F function_;
};

/// How an actor behaves instead of its handlers.
template <class... Ms>
class become_frame final : public become_function {
public:
    explicit become_frame(behavior<Ms...>&& b) noexcept : now(std::move(b)) {}
    void release(memory_source& memory) noexcept override {
        this->~become_frame();
        memory.release(this, sizeof(become_frame), alignof(become_frame));
    }
    [[nodiscard]] bool takes(signal_kind what) const noexcept override;
    [[nodiscard]] handled tell(turn& t, cell& c, signal_kind what, void* signal) noexcept override;
    behavior<Ms...> now;

private:
    ~become_frame() = default;
};

}  // namespace detail

template <class... Ms>
class protocol_context : public actor_context {
public:
    using actor_context::actor_context;

    [[nodiscard]] actor_ref<Ms...> self() const noexcept {
        return actor_ref<Ms...>(actor_context::self());
    }

    /// Messages M told to the reference are given to `f`, and what it makes of them is handled. The
    /// latest function for M is used. Names nothing when there is no memory.
    template <message M, class F>
    [[nodiscard]] actor_ref<M> message_adapter(F f) {
        static_assert(detail::same_count<M, Ms...> == 0, "the actor takes this message as it is");
        static_assert(detail::adapted_message<std::remove_cvref_t<std::invoke_result_t<F&, M&&>>,
                                              Ms...>::met);
        using adapter = detail::adapter_of<M, F, Ms...>;
        memory_source& memory = world().memory();
        cell_extras* x = world().extras_of(cell::of(in().place()));
        if (x == nullptr)
            return {};
        unused_block block(memory, memory.allocate(sizeof(adapter), alignof(adapter)),
                           sizeof(adapter), alignof(adapter));
        if (block.place == nullptr)
            return {};
        auto* made = ::new (block.place) adapter(std::move(f));
        block.place = nullptr;
        forget_adapter(*x, message_type_of<M>);
        made->next = x->adapters;
        x->adapters = made;
        if (effect_recorder* recorder = world().recorder()) [[unlikely]]
            recorder->adapting(in(), message_type_of<M>);
        return actor_ref<M>(actor_context::self());
    }

    // As those of actor_context, of messages that the actor takes (AC-18): one of its protocol, one
    // that converts to exactly one of these, poison_pill, kill or identify.
    template <class M>
    void watch_with(any_ref who, M&& message) {
        actor_context::watch_with(who, detail::own_message<Ms...>(std::forward<M>(message)));
    }
    template <class M>
    [[nodiscard]] timer_started start_single_timer(timer_key key, M&& message, duration delay) {
        return actor_context::start_single_timer(
            key, detail::own_message<Ms...>(std::forward<M>(message)), delay);
    }
    template <class M>
    [[nodiscard]] timer_started start_timer_with_fixed_delay(timer_key key, M&& message,
                                                             duration delay) {
        return start_timer_with_fixed_delay(key, std::forward<M>(message), delay, delay);
    }
    template <class M>
    [[nodiscard]] timer_started start_timer_with_fixed_delay(timer_key key, M&& message,
                                                             duration first, duration delay) {
        static_assert(detail::periodic_message<std::remove_cvref_t<M>>::met);
        return actor_context::start_timer_with_fixed_delay(
            key, detail::own_message<Ms...>(std::forward<M>(message)), first, delay);
    }
    template <class M>
    [[nodiscard]] timer_started start_timer_at_fixed_rate(timer_key key, M&& message,
                                                          duration interval) {
        return start_timer_at_fixed_rate(key, std::forward<M>(message), interval, interval);
    }
    template <class M>
    [[nodiscard]] timer_started start_timer_at_fixed_rate(timer_key key, M&& message,
                                                          duration first, duration interval) {
        static_assert(detail::periodic_message<std::remove_cvref_t<M>>::met);
        return actor_context::start_timer_at_fixed_rate(
            key, detail::own_message<Ms...>(std::forward<M>(message)), first, interval);
    }

    /// From the next message on. Without memory for it the actor fails.
    void become(behavior<Ms...> next, become_mode how = become_mode::replace);
    /// As it was before the last become; nothing when there was none.
    void unbecome() noexcept;

    /// Starts the task; what it gives is given to `f`, and what that makes is told to this actor.
    /// Other messages are handled meanwhile. What the task or `f` throws fails the actor.
    template <class T, class F>
    void pipe_to_self(task<T> from, F f);
    /// Asks; the std::expected<R, ask_failure> is given to `f`, as with pipe_to_self.
    template <class R, class Make, class F>
        requires std::invocable<F&, std::expected<R, ask_failure>>
    void ask(any_ref target, Make make, duration timeout, F f);
    /// `co_await context().ask<R>(target, make, timeout)` gives expected<R, ask_failure>.
    template <class R, class Make, class Token = no_token>
        requires(std::same_as<Token, no_token> || std::same_as<Token, cancel_token>)
    [[nodiscard]] auto ask(any_ref target, Make&& make, duration timeout, Token token = {}) const {
        using source = ask_source<R, std::decay_t<Make>>;
        return wait_awaiter<source, Token, detail::function_needs_name<Make>>(
            {&world(), target, std::forward<Make>(make), timeout}, token);
    }

    /// `co_await context().next<M>()` gives the next M that the actor is sent, which its handler
    /// does not get then; with a limit expected<M, next_error>, with a cancel_token an
    /// expected<..., cancelled> of that. Of several tasks that wait for an M the earliest gets it.
    /// See docs/coroutines.md.
    template <class M, class Token = no_token>
        requires(std::same_as<Token, no_token> || std::same_as<Token, cancel_token>)
    [[nodiscard]] auto next(Token token = {}) const noexcept {
        static_assert(detail::awaited_message<M, Ms...>::met);
        return next_awaiter<M, false, Token>(duration::max(), token);
    }
    template <class M, class Token = no_token>
        requires(std::same_as<Token, no_token> || std::same_as<Token, cancel_token>)
    [[nodiscard]] auto next(duration limit, Token token = {}) const noexcept {
        static_assert(detail::awaited_message<M, Ms...>::met);
        return next_awaiter<M, true, Token>(limit, token);
    }

private:
    void forget_adapter(cell_extras& x, const message_type& of) noexcept {
        for (instance_function** at = &x.adapters; *at != nullptr; at = &(*at)->next) {
            instance_function* f = *at;
            if (!same_message(static_cast<tactus::message_adapter*>(f)->takes, of))
                continue;
            *at = f->next;
            world().leave(x, *f);
            return;
        }
    }
};

}  // namespace tactus::inline v0
