// SPDX-License-Identifier: Apache-2.0
//
// Behaviors: actors made of functions (AC-3).
//
//     system.spawn(tactus::behavior<add, total>(
//                      [n = 0](auto& ctx, const add& m) mutable { n += m.value; },
//                      [](auto& ctx, const total& m) { return tactus::stopped; }), "sum");
//
// A handler takes the context and a message, and returns nothing, or what comes next: `same`,
// `stopped`, `unhandled`, or another behavior of the same protocol (which is what ctx.become says,
// too). Handlers for signals may be among them: `terminated`, `child_failed`, `receive_timeout`,
// and, of an actor that is no class, `post_stop_signal` and `pre_restart_signal` (AC-6). A restart
// begins with a copy of the first behavior: functions can be copied. An actor that is a class may
// become one, too, until it says unbecome or is restarted.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include <tactus/actor/actor.hpp>
#include <tactus/actor/quietly_moved.hpp>

namespace tactus::inline v0 {

struct same_type {};
struct stopped_type {};
struct unhandled_type {};
/// Goes on as before.
inline constexpr same_type same;
/// Ends the actor.
inline constexpr stopped_type stopped;
/// Goes on as before; the message is published as unhandled.
inline constexpr unhandled_type unhandled;

template <class... Ms>
class behavior;
template <class... Ms>
class functional_actor;

/// What a handler may do: the context of an actor, which becomes what the actor says.
template <class... Ms>
class behavior_context : public protocol_context<Ms...> {
public:
    behavior_context(turn& t, functional_actor<Ms...>* of) noexcept
        : protocol_context<Ms...>(t), of_(of) {}
    /// From the next message on.
    void become(behavior<Ms...> next, become_mode how = become_mode::replace) {
        (void)this->in();  // of the same instance as `of_`
        if (of_ != nullptr && how == become_mode::replace)
            of_->become(std::move(next));
        else
            protocol_context<Ms...>::become(std::move(next), how);
    }

private:
    functional_actor<Ms...>* of_;  // null: of an actor that is a class
};

namespace detail {

/// What the compiler's first error names; see requirement.
template <class M>
struct behavior_has_no_function_for;

template <class... Fs>
struct overloaded : Fs... {
    using Fs::operator()...;
};
template <class... Fs>
overloaded(Fs...) -> overloaded<Fs...>;

enum class next_step : std::uint8_t { same, stopped, unhandled };

template <class... Ms>
using behavior_call = next_step (*)(void* handlers, behavior_context<Ms...>& ctx, void* message);

template <class... Ms>
struct behavior_table {
    behavior_call<Ms...> calls[sizeof...(Ms) == 0 ? 1 : sizeof...(Ms)];
    behavior_call<Ms...> on_terminated;    // null: not handled
    behavior_call<Ms...> on_child_failed;  // as on_terminated, unless there is one of its own
    behavior_call<Ms...> on_receive_timeout;
    behavior_call<Ms...> on_post_stop;
    behavior_call<Ms...> on_pre_restart;
    void (*copy)(void* to, const void* from);
    void (*move)(void* to, void* from) noexcept;
    void (*destroy)(void* handlers) noexcept;
};

template <class Handlers, class M, class... Ms>
next_step call_handler(void* handlers, behavior_context<Ms...>& ctx, void* message) {
    Handlers& h = static_cast<quietly_moved<Handlers>*>(handlers)->get();
    M& m = *std::launder(static_cast<M*>(message));
    using result = std::invoke_result_t<Handlers&, behavior_context<Ms...>&, const M&>;
    if constexpr (std::is_void_v<result>) {
        h(ctx, std::as_const(m));
        return next_step::same;
    } else if constexpr (std::is_same_v<result, same_type>) {
        (void)h(ctx, std::as_const(m));
        return next_step::same;
    } else if constexpr (std::is_same_v<result, stopped_type>) {
        (void)h(ctx, std::as_const(m));
        return next_step::stopped;
    } else if constexpr (std::is_same_v<result, unhandled_type>) {
        (void)h(ctx, std::as_const(m));
        return next_step::unhandled;
    } else {
        // A behavior of the same protocol: what was returned may be same, stopped or unhandled.
        behavior<Ms...> next = h(ctx, std::as_const(m));
        const next_step step = next.step();
        if (next.has_handlers())
            ctx.become(std::move(next));
        return step;
    }
}

}  // namespace detail

template <class... Ms>
class behavior {
public:
    static constexpr std::size_t room = 64;

    // NOLINTBEGIN(google-explicit-constructor): what a handler returns
    behavior(same_type) noexcept {}
    behavior(stopped_type) noexcept : step_(detail::next_step::stopped) {}
    behavior(unhandled_type) noexcept : step_(detail::next_step::unhandled) {}
    // NOLINTEND(google-explicit-constructor)
    /// One function per message of the protocol; more than one may be given by one that is generic.
    template <class... Fs>
        requires(sizeof...(Fs) > 0 && (!std::is_same_v<std::remove_cvref_t<Fs>, behavior> && ...) &&
                 (std::is_class_v<std::remove_cvref_t<Fs>> && ...) &&
                 (!std::is_same_v<std::remove_cvref_t<Fs>, same_type> && ...) &&
                 (!std::is_same_v<std::remove_cvref_t<Fs>, stopped_type> && ...) &&
                 (!std::is_same_v<std::remove_cvref_t<Fs>, unhandled_type> && ...))
    explicit behavior(Fs... fs) : table_(&table_of<detail::overloaded<Fs...>>) {
        using handlers = detail::overloaded<Fs...>;
        static_assert(
            (detail::requirement<std::invocable<handlers&, behavior_context<Ms...>&, const Ms&>,
                                 detail::behavior_has_no_function_for<Ms>>::met &&
             ...),
            "a behavior has a function (auto& context, const M&) for each message");
        static_assert((std::copy_constructible<Fs> && ...),
                      "functions of a behavior can be copied: a restart begins with a copy");
        static_assert(sizeof(handlers) <= room && alignof(handlers) <= alignof(std::max_align_t),
                      "what the functions of a behavior capture must fit behavior::room");
        ::new (static_cast<void*>(place_))
            detail::quietly_moved<handlers>(handlers{std::move(fs)...});
    }
    behavior(const behavior& other) : step_(other.step_) {
        if (other.table_ != nullptr)
            other.table_->copy(place_, other.place_);
        table_ =
            other.table_;  // NOLINT(cppcoreguidelines-prefer-member-initializer): a copy may throw
    }
    behavior(behavior&& other) noexcept : step_(other.step_), table_(other.table_) {
        if (table_ != nullptr)
            table_->move(place_, other.place_);
    }
    behavior& operator=(behavior other) noexcept {
        end();
        step_ = other.step_;
        table_ = other.table_;
        if (table_ != nullptr)
            table_->move(place_, other.place_);
        return *this;
    }
    ~behavior() { end(); }

    [[nodiscard]] bool has_handlers() const noexcept { return table_ != nullptr; }
    [[nodiscard]] detail::next_step step() const noexcept { return step_; }
    /// Made of functions of the same types, whatever they captured.
    [[nodiscard]] bool has_functions_of(const behavior& other) const noexcept {
        return table_ == other.table_;
    }
    /// Requires: it has handlers.
    template <class M>
    detail::next_step call(behavior_context<Ms...>& ctx, M& message) {
        constexpr std::size_t at = index_of<M>();
        return table_->calls[at](place_, ctx, &message);
    }
    /// By its kind; requires: it takes that.
    detail::next_step call(behavior_context<Ms...>& ctx, signal_kind what, void* signal) {
        return function_for(what)(place_, ctx, signal);
    }
    [[nodiscard]] bool takes(signal_kind what) const noexcept {
        return table_ != nullptr && function_for(what) != nullptr;
    }
    /// The end, and a restart; nothing when it has no function for it.
    void stopping(behavior_context<Ms...>& ctx) {
        post_stop_signal signal;
        if (table_ != nullptr && table_->on_post_stop != nullptr)
            (void)table_->on_post_stop(place_, ctx, &signal);
    }
    void restarting(behavior_context<Ms...>& ctx, const failure_cause& why) {
        pre_restart_signal signal{why};
        if (table_ != nullptr && table_->on_pre_restart != nullptr)
            (void)table_->on_pre_restart(place_, ctx, &signal);
        else
            stopping(ctx);
    }

private:
    [[nodiscard]] detail::behavior_call<Ms...> function_for(signal_kind what) const noexcept {
        switch (what) {
        case signal_kind::terminated:
            return table_->on_terminated;
        case signal_kind::child_failed:
            return table_->on_child_failed;
        case signal_kind::receive_timeout:
            return table_->on_receive_timeout;
        }
        return nullptr;
    }
    template <class Handlers, class Signal>
    [[nodiscard]] static constexpr detail::behavior_call<Ms...> function_of() noexcept {
        if constexpr (std::invocable<Handlers&, behavior_context<Ms...>&, const Signal&>)
            return &detail::call_handler<Handlers, Signal, Ms...>;
        else
            return nullptr;
    }
    template <class M>
    [[nodiscard]] static constexpr std::size_t index_of() noexcept {
        constexpr bool same_as[] = {std::is_same_v<M, Ms>...};
        std::size_t at = 0;
        while (!same_as[at])
            ++at;
        return at;
    }
    void end() noexcept {
        if (table_ != nullptr)
            table_->destroy(place_);
        table_ = nullptr;
    }

    template <class Handlers>
    using held = detail::quietly_moved<Handlers>;
    template <class Handlers>
    static constexpr detail::behavior_table<Ms...> table_of{
        {&detail::call_handler<Handlers, Ms, Ms...>...},
        function_of<Handlers, terminated>(),
        function_of<Handlers, child_failed>(),
        function_of<Handlers, receive_timeout>(),
        function_of<Handlers, post_stop_signal>(),
        function_of<Handlers, pre_restart_signal>(),
        [](void* to, const void* from) {
            ::new (to) held<Handlers>(*static_cast<const held<Handlers>*>(from));
        },
        [](void* to, void* from) noexcept {
            ::new (to) held<Handlers>(std::move(*static_cast<held<Handlers>*>(from)));
        },
        [](void* h) noexcept { std::destroy_at(static_cast<held<Handlers>*>(h)); }};

    detail::next_step step_ = detail::next_step::same;
    const detail::behavior_table<Ms...>* table_ = nullptr;  // null: only a step
    alignas(std::max_align_t) std::byte place_[room];
};

namespace detail {

/// What a handler said is to happen.
template <class Context>
void take_step(const Context& in, next_step step) {
    actor_context of(in.in());
    switch (step) {
    case next_step::same:
        break;
    case next_step::stopped:
        of.stop();
        break;
    case next_step::unhandled:
        of.world().note_unhandled(of.in());
        break;
    }
}
/// PK-TYP-1: the end of another that is unhandled is a death pact.
template <class Context>
[[nodiscard]] handled take_signal_step(const Context& in, cell& c, signal_kind what,
                                       next_step step) {
    if (step == next_step::unhandled && what != signal_kind::receive_timeout)
        return in.world().death_pact(c);
    take_step(in, step);
    return handled::ok();
}

}  // namespace detail

/// The actor that behaves as a behavior says.
template <class... Ms>
class functional_actor : public actor<Ms...> {
public:
    explicit functional_actor(behavior<Ms...> first) : now_(std::move(first)) {}

    /// PK-TYP-2: a first behavior has handlers, or is stopped.
    std::expected<void, failure> pre_start() {
        if (now_.has_handlers())
            return {};
        if (now_.step() != detail::next_step::stopped)
            return std::unexpected(failure("a first behavior cannot be same or unhandled"));
        this->context().stop();
        return {};
    }
    template <class M>
        requires(detail::same_count<M, Ms...> == 1)
    void on(M&& message) {
        settle();
        behavior_context<Ms...> ctx(*turn::current(), this);
        const detail::next_step step = now_.call(ctx, message);
        settle();
        detail::take_step(this->context(), step);
    }
    handled on(const terminated& m) { return signal(m, signal_kind::terminated); }
    handled on(const child_failed& m) { return signal(m, signal_kind::child_failed); }
    handled on(const receive_timeout& m) { return signal(m, signal_kind::receive_timeout); }
    void post_stop() {
        settle();
        behavior_context<Ms...> ctx(*turn::current(), this);
        now_.stopping(ctx);
    }
    void pre_restart(const failure_cause& why) {
        settle();
        behavior_context<Ms...> ctx(*turn::current(), this);
        ctx.stop_children();
        now_.restarting(ctx, why);
    }
    void become(behavior<Ms...> next) { next_.emplace(std::move(next)); }
    /// What handles the next message.
    [[nodiscard]] const behavior<Ms...>& current() const noexcept { return next_ ? *next_ : now_; }
    static constexpr bool wants_message = true;

private:
    template <class Signal>
    handled signal(Signal m, signal_kind what) {
        settle();
        turn& t = *turn::current();
        if (!now_.takes(what))
            return detail::take_signal_step(this->context(), cell::of(t.place()), what,
                                            detail::next_step::unhandled);
        behavior_context<Ms...> ctx(t, this);
        const detail::next_step step = now_.call(ctx, what, &m);
        settle();
        return detail::take_signal_step(this->context(), cell::of(t.place()), what, step);
    }
    /// What was said to become holds from the next message on, though the handler that said so has
    /// failed, or it was said between two messages.
    void settle() noexcept {
        if (next_) {
            now_ = std::move(*next_);
            next_.reset();
        }
    }

    behavior<Ms...> now_;
    std::optional<behavior<Ms...>> next_;  // `now_` may be running
};

// ---- becoming, of actors that are classes

template <class... Ms>
void protocol_context<Ms...>::become(behavior<Ms...> next, become_mode how) {
    using frame = detail::become_frame<Ms...>;
    if (!next.has_handlers()) {
        detail::take_step(*this, next.step());
        return;
    }
    memory_source& memory = world().memory();
    cell& c = cell::of(in().place());
    cell_extras* x = world().extras_of(c);
    void* block = x != nullptr ? memory.allocate(sizeof(frame), alignof(frame)) : nullptr;
    if (block == nullptr) {
        fail(failure("no memory for what it becomes"));
        return;
    }
    if (how == become_mode::replace)
        unbecome();
    auto* made = ::new (block) frame(std::move(next));
    made->next = x->becomes;
    x->becomes = made;
    c.set(cell::special);
}
template <class... Ms>
void protocol_context<Ms...>::unbecome() noexcept {
    cell_extras* x = cell::of(in().place()).extras();
    if (x == nullptr || x->becomes == nullptr)
        return;
    instance_function* f = x->becomes;
    x->becomes = f->next;
    world().leave(*x, *f);
    actor_world::settle_special(cell::of(in().place()));
}

template <class... Ms>
bool detail::become_frame<Ms...>::takes(signal_kind what) const noexcept {
    return now.takes(what);
}
template <class... Ms>
handled detail::become_frame<Ms...>::tell(turn& t, cell& c, signal_kind what,
                                          void* signal) noexcept {
    return guard(c, [&] {
        behavior_context<Ms...> ctx(t, nullptr);
        return take_signal_step(ctx, c, what, now.call(ctx, what, signal));
    });
}

template <class A, class... Ms>
template <class M>
handled detail::actor_table<A, Ms...>::call_as(turn& t, cell& c, become_frame<Ms...>& as,
                                               void* payload) noexcept {
    return guard(c, [&] {
        behavior_context<Ms...> ctx(t, nullptr);
        take_step(ctx, as.now.call(ctx, *std::launder(static_cast<M*>(payload))));
    });
}

}  // namespace tactus::inline v0
