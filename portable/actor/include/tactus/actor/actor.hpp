// SPDX-License-Identifier: Apache-2.0
//
// Actor: what users derive from.
//
//     class sum : public tactus::actor<add, total> {          // the protocol
//     public:
//         void on(const add& m) { total_ += m.value; }
//         void on(const total& m) { m.reply_to.tell(total_); }
//     ...
//
// A handler `on` takes its message by value, const reference or rvalue, and returns nothing, a
// failure, or an expected<void, failure>; or it is a coroutine, a task<> of these. While that waits
// other messages do, unless the class says `static constexpr bool reentrant = true`. Hooks are
// found by their names, and must be public: pre_start, post_stop, pre_restart, post_restart,
// supervision, decide, on(const terminated&), on(const child_failed&), on(const receive_timeout&);
// on_other(envelope&) gets what would be unhandled. `using requires_mailbox` says what its mailbox
// must be able to do. A member with the name of a hook that cannot be used as one does not compile.
//
// The class has no data and no virtual functions: a table of functions is made for each actor class
// where it is spawned.
#pragma once

#include <concepts>
#include <expected>
#include <new>
#include <type_traits>
#include <utility>

#include <tactus/actor/actor_context.hpp>
#include <tactus/actor/actor_type.hpp>
#include <tactus/actor/actor_world.hpp>
#include <tactus/actor/protocol_context.hpp>
#include <tactus/actor/task.hpp>
#include <tactus/dispatch/turn.hpp>

namespace tactus::inline v0 {

/// The message that an actor failed with, for pre_restart.
class failed_message {
public:
    explicit failed_message(envelope* e) noexcept : envelope_(e) {}
    /// Null: there was none, or it is something else.
    template <class M>
    [[nodiscard]] M* get_if() const noexcept {
        return envelope_ != nullptr ? envelope_->get_if<M>() : nullptr;
    }
    [[nodiscard]] bool has_value() const noexcept { return envelope_ != nullptr; }

private:
    envelope* envelope_;
};

struct stash_tag {};
/// ST-1: what an actor derives from to put messages aside: context().stash(), unstash_all(). It
/// gets a mailbox with two ends.
template <std::uint32_t Capacity = mailbox_options::unbounded>
struct with_stash : stash_tag {
    static constexpr std::uint32_t stash_capacity = Capacity;
};

/// What a class requires of its mailbox; counts beside the two ends that a stash needs:
///
///     using requires_mailbox = tactus::requirements<tactus::capability::bounded>;  // public
///
/// An actor_system finds a mailbox that has all of it, or refuses the spawn. Elsewhere the mailbox
/// of the spawn_options must have it; on a host a default one is made so.
template <capability... All>
struct requirements {
    static constexpr capability_set set = (capability_set() | ... | capability_set(All));
};

template <class... Ms>
class actor {
public:
    using reference = actor_ref<Ms...>;

    /// Nothing in these: a class that declares one of its own hides it.
    void pre_start() noexcept {}
    void post_stop() noexcept {}

protected:
    actor() = default;
    ~actor() = default;
    actor(const actor&) = default;
    actor(actor&&) = default;
    actor& operator=(const actor&) = default;
    actor& operator=(actor&&) = default;

    /// In the constructor, too.
    [[nodiscard]] protocol_context<Ms...> context() const noexcept {
        return protocol_context<Ms...>(own_turn());
    }
    [[nodiscard]] reference self() const noexcept { return reference(any_ref(own_turn().self())); }
    [[nodiscard]] any_ref sender() const noexcept { return any_ref(own_turn().sender()); }

private:
    TACTUS_CHECK_MODULE("actor_context");

    [[nodiscard]] turn& own_turn() const noexcept {
        turn* t = turn::current();
        TACTUS_CHECK(1, t != nullptr);
        TACTUS_CHECK(2, actor_world::is_in_turn(*t, this));
        return *t;
    }
};

namespace detail {

// What the compiler's first error names; see requirement.
template <class A, class M>
struct actor_has_no_public_handler_on;
template <class A>
struct actor_destructor_throws;

template <class A, class M>
struct handler_for {
    static constexpr bool there =
        requires(A& a, M& m) { a.on(std::move(m)); } || requires(A& a, M& m) { a.on(m); };
    static_assert(requirement<there, actor_has_no_public_handler_on<A, M>>::met,
                  "the actor has no public handler `on` for a message of its protocol");
    static constexpr bool found = true;
};
template <class A>
struct actor_requirements {
    static_assert(requirement<std::is_nothrow_destructible_v<A>, actor_destructor_throws<A>>::met,
                  "an actor's destructor does not throw");
    static constexpr bool met = true;
};

/// The hooks of A that can be called.
template <class A>
struct hooks {
    static constexpr bool pre_restart_with_message =
        requires(A& a, const failure_cause& w, failed_message m) { a.pre_restart(w, m); };
    static constexpr bool pre_restart =
        requires(A& a, const failure_cause& w) { a.pre_restart(w); };
    static constexpr bool post_restart =
        requires(A& a, const failure_cause& w) { a.post_restart(w); };
    static constexpr bool supervision =
        requires(A& a, supervisor_strategy& s) { s = a.supervision(); };
    static constexpr bool decide =
        requires(A& a, any_ref r, const failure_cause& w, directive& d) { d = a.decide(r, w); };
    static constexpr bool on_other = requires(A& a, envelope& e) { a.on_other(e); };
    static constexpr bool requires_mailbox = requires {
        typename std::integral_constant<std::size_t, sizeof(A::requires_mailbox::set)>;
    };
    static constexpr bool reentrant = requires { typename std::bool_constant<bool{A::reentrant}>; };
    /// A handler that takes a signal S only to change it or to move from it is never called.
    template <class S>
    static constexpr bool signal_is_constant = requires(A& a, const S& m) {
        a.on(m);
    } || !(requires(A& a, S& m) { a.on(m); } || requires(A& a, S& m) { a.on(std::move(m)); });
};

struct hook_names {
    struct nothing;
    void pre_restart();
    void post_restart();
    void supervision();
    void decide();
    void on_other();
    using requires_mailbox = nothing;
    static constexpr bool reentrant = false;
};
/// Never made. A name that A has, too, is ambiguous in it, whatever its access.
template <class A, bool Final = std::is_final_v<A>>
struct hook_lookup : A, hook_names {};
template <class A>
struct hook_lookup<A, true> : hook_names {};

// What the compiler's first error names; see requirement.
template <class A>
struct pre_restart_cannot_be_called;
template <class A>
struct post_restart_cannot_be_called;
template <class A>
struct supervision_cannot_be_called;
template <class A>
struct decide_cannot_be_called;
template <class A>
struct on_other_cannot_be_called;
template <class A>
struct requires_mailbox_cannot_be_read;
template <class A>
struct reentrant_cannot_be_read;
template <class A, class S>
struct on_cannot_be_called_with_const;

/// AC-20.
template <class A>
struct hook_requirements {
    using in = hook_lookup<A>;
    using can = hooks<A>;
    static_assert(
        requirement < can::pre_restart || can::pre_restart_with_message ||
            requires { &in::pre_restart; },
        pre_restart_cannot_be_called < A >> ::met,
        "a hook is public and is called as pre_restart(const failure_cause&, failed_message); the "
        "message may be left out");
    static_assert(
        requirement < can::post_restart || requires { &in::post_restart; },
        post_restart_cannot_be_called < A >> ::met,
        "a hook is public and is called as post_restart(const failure_cause&)");
    static_assert(
        requirement < can::supervision || requires { &in::supervision; },
        supervision_cannot_be_called < A >> ::met,
        "a hook is public and is called as supervisor_strategy supervision()");
    static_assert(
        requirement < can::decide || requires { &in::decide; },
        decide_cannot_be_called < A >> ::met,
        "a hook is public and is called as directive decide(any_ref, const failure_cause&)");
    static_assert(
        requirement < can::on_other || requires { &in::on_other; },
        on_other_cannot_be_called < A >> ::met,
        "a hook is public and is called as on_other(envelope&)");
    static_assert(
        requirement < can::requires_mailbox || requires { typename in::requires_mailbox; },
        requires_mailbox_cannot_be_read < A >> ::met,
        "what a mailbox must do is public: using requires_mailbox = tactus::requirements<...>");
    static_assert(
        requirement < can::reentrant || requires { in::reentrant; },
        reentrant_cannot_be_read < A >> ::met,
        "whether others are handled meanwhile is public: static constexpr bool reentrant");
    static_assert(requirement<can::template signal_is_constant<terminated>,
                              on_cannot_be_called_with_const<A, terminated>>::met,
                  "a hook is called as on(const terminated&)");
    static_assert(requirement<can::template signal_is_constant<child_failed>,
                              on_cannot_be_called_with_const<A, child_failed>>::met,
                  "a hook is called as on(const child_failed&)");
    static_assert(requirement<can::template signal_is_constant<receive_timeout>,
                              on_cannot_be_called_with_const<A, receive_timeout>>::met,
                  "a hook is called as on(const receive_timeout&)");
    static constexpr bool met = true;
};

/// Runs user code of an actor; what it throws or returns becomes a cause for its supervisor.
template <class Call>
[[nodiscard]] handled guard(cell& c, Call&& call) noexcept {
    const auto world = []() -> actor_world& { return actor_world::of(turn::current()->system()); };
    const auto run = [&]() -> handled {
        using result = std::invoke_result_t<Call>;
        if constexpr (std::is_void_v<result>) {
            call();
            return handled::ok();
        } else if constexpr (std::is_same_v<result, handled>) {
            return call();
        } else if constexpr (std::is_same_v<result, failure>) {
            return world().failed(c, failure_kind::returned, call());
        } else if constexpr (std::is_same_v<result, std::expected<void, failure>>) {
            const result r = call();
            return r ? handled::ok() : world().failed(c, failure_kind::returned, r.error());
        } else {
            static_assert(std::is_void_v<result>,
                          "a handler returns void, failure or expected<void, failure>");
        }
    };
#if defined(__cpp_exceptions)
    try {
        return run();
    } catch (...) {
        return world().failed(c, cause_ref::from_current_exception(world().memory()));
    }
#else
    return run();
#endif
}

template <class T>
inline constexpr bool is_task = false;
template <class T>
inline constexpr bool is_task<task<T>> = true;

/// A handler's coroutine, and what its supervisor is to know when it fails.
template <class T>
task<> supervised(task<T> handler) {
    cause_ref why;
    const auto memory = []() -> memory_source& {
        return actor_world::of(turn::current()->system()).memory();
    };
#if defined(__cpp_exceptions)
    try {
#endif
        if constexpr (std::is_void_v<T>) {
            co_await std::move(handler);
        } else if constexpr (std::is_same_v<T, failure>) {
            const failure returned = co_await std::move(handler);
            why = cause_ref::make(memory(), failure_kind::returned, returned);
        } else {
            const T returned = co_await std::move(handler);
            if (!returned)
                why = cause_ref::make(memory(), failure_kind::returned, returned.error());
        }
#if defined(__cpp_exceptions)
    } catch (...) {
        why = cause_ref::from_current_exception(memory());
    }
#endif
    if (why) {
        turn& t = *turn::current();
        const handled failed =
            actor_world::of(t.system()).failed(cell::of(t.place()), std::move(why));
        co_await fail_with(failed.why());
    }
}

template <class A, class... Ms>
struct actor_table {
    static A& instance(void* p) noexcept { return *std::launder(static_cast<A*>(p)); }

    template <class M>
    static handled call(turn& t, cell& c, A& a, envelope& e) noexcept {
        static_assert(handler_for<A, M>::found);
        M& m = *std::launder(static_cast<M*>(e.payload()));
        const auto handle = [&] {
            if constexpr (requires { a.on(std::move(m)); })
                return a.on(std::move(m));
            else
                return a.on(m);
        };
        if constexpr (is_task<decltype(handle())>)
            return start(t, c, e, handle);
        else
            return guard(c, handle);
    }
    static constexpr bool reentrant = [] {
        if constexpr (hooks<A>::reentrant)
            return bool{A::reentrant};
        else
            return false;
    }();

    /// AC-2: runs a coroutine until it waits; the message is its, and others wait, unless the actor
    /// is reentrant.
    template <class Handle>
    static handled start(turn& t, cell& c, envelope& e, const Handle& handle) noexcept {
        actor_world& world = actor_world::of(t.system());
        coroutine_keep keep{&e, &actor_world::coroutine_ended};
        coroutine_set* set = world.coroutines_for(t, c, keep);
        if (set == nullptr)
            return world.failed(c, failure_kind::runtime, failure(no_frame_memory));
        t.keep();
        const auto call = [&] {
#if defined(__cpp_exceptions)
            try {
                return supervised(handle());
            } catch (...) {
                // Copying the message into the frame.
                (void)world.failed(c, cause_ref::from_current_exception(world.memory()));
                throw;
            }
#else
            return supervised(handle());
#endif
        };
        const handled result = set->start_handler(call, keep);
        if (!result.is_ok())
            return result;
        if (!reentrant && set->last_waits())
            world.await_coroutine(c);
        return handled::kept();
    }

    static constexpr bool stashes = std::is_base_of_v<stash_tag, A>;
    static constexpr bool wants_message = stashes || requires { A::wants_message; };

    static handled receive(turn& t, void* place, envelope& e) noexcept {
        cell& c = cell::at(place);
        if (c.is(cell::special)) [[unlikely]] {
            if (actor_world::of(t.system()).receive_special(t, c, e))
                return handled::kept();
            if (instance_function* as = c.extras()->becomes; as != nullptr)
                return receive_as(t, c, e, static_cast<become_frame<Ms...>&>(*as));
        }
        A& a = instance(fits_slot(sizeof(A), alignof(A)) ? t.place().room() : t.place().extras());
        [[maybe_unused]] const message_type* type = e.type.read();
        handled result;
        const bool known =
            ((type == &message_type_of<Ms> && (result = call<Ms>(t, c, a, e), true)) || ...);
        if (!known) [[unlikely]]
            return receive_other(t, c, a, e);
        if constexpr (stashes) {
            if (result.is_ok() && t.keeps())
                return handled::kept();
        }
        if (!result.is_ok() && !t.keeps()) [[unlikely]]
            actor_world::of(t.system()).note_failed_message(t, c, e);
        return result;
    }
    /// The same, for who may ask for the message: what comes behind it in the same run handles
    /// none, or its own (ST-1).
    static handled receive_noted(turn& t, void* place, envelope& e) noexcept {
        envelope* const outer = t.current_message();
        t.set_current_message(&e);
        const handled result = receive(t, place, e);
        t.set_current_message(outer);
        return result;
    }
    /// It has become something else.
    [[gnu::noinline]] static handled receive_as(turn& t, cell& c, envelope& e,
                                                become_frame<Ms...>& as) noexcept {
        envelope* const outer = t.current_message();
        t.set_current_message(&e);
        handled result;
        [[maybe_unused]] const message_type* type = e.type.read();
        const bool outermost = !std::exchange(as.runs, true);
        const bool known = ((same_message(*type, message_type_of<Ms>) &&
                             (result = call_as<Ms>(t, c, as, e.payload()), true)) ||
                            ...);
        if (!known)
            result = actor_world::of(t.system()).receive_other(t, c, e);
        if (outermost) {
            as.runs = false;
            actor_world::of(t.system()).forget_left(c);
        }
        t.set_current_message(outer);
        if (result.is_ok() && t.keeps())
            return handled::kept();
        if (known && !result.is_ok() && !t.keeps())
            actor_world::of(t.system()).note_failed_message(t, c, e);
        return result;
    }
    template <class M>
    static handled call_as(turn& t, cell& c, become_frame<Ms...>& as, void* payload) noexcept;

    /// UP-5: the descriptor may be another shared object's copy of ours.
    [[gnu::noinline]] static handled receive_other(turn& t, cell& c, A& a, envelope& e) noexcept {
        [[maybe_unused]] const message_type* type = e.type.read();
        handled result;
        const bool known =
            ((same_message(*type, message_type_of<Ms>) && (result = call<Ms>(t, c, a, e), true)) ||
             ...);
        if (!known)
            result = actor_world::of(t.system()).receive_other(t, c, e);
        if (result.is_ok() && t.keeps())
            return handled::kept();
        if (known && !result.is_ok() && !t.keeps())
            actor_world::of(t.system()).note_failed_message(t, c, e);
        return result;
    }

    static handled construct(cell& c, void* place, actor_maker* maker) noexcept {
        return guard(c, [&] {
            if constexpr (std::is_default_constructible_v<A>) {
                if (maker == nullptr) {
                    ::new (place) A();
                    return;
                }
            }
            maker->make(place, !maker->again());
        });
    }

    static constexpr actor_type make() noexcept {
        actor_type t{};
        t.receive = wants_message ? &receive_noted : &receive;
        t.receive_system = &actor_world::receive_system;
        t.destroy = &actor_world::destroy;
        t.start = &actor_world::start;
        t.keeps_slot = true;
        t.size = sizeof(A);
        t.alignment = alignof(A);
        t.name = message_name<A>();
        t.construct = &construct;
        t.destruct = [](void* p) noexcept { instance(p).~A(); };
        if constexpr (!std::is_same_v<decltype(&A::pre_start), void (actor<Ms...>::*)() noexcept>)
            t.pre_start = [](cell& c, void* p) noexcept {
                return guard(c, [&] { return instance(p).pre_start(); });
            };
        if constexpr (!std::is_same_v<decltype(&A::post_stop), void (actor<Ms...>::*)() noexcept>)
            t.post_stop = [](cell& c, void* p) noexcept {
                return guard(c, [&] { return instance(p).post_stop(); });
            };
        if constexpr (hooks<A>::pre_restart_with_message)
            t.pre_restart = [](cell& c, void* p, const failure_cause& why, envelope* e) noexcept {
                return guard(c, [&] { return instance(p).pre_restart(why, failed_message(e)); });
            };
        else if constexpr (hooks<A>::pre_restart)
            t.pre_restart = [](cell& c, void* p, const failure_cause& why, envelope*) noexcept {
                return guard(c, [&] { return instance(p).pre_restart(why); });
            };
        if constexpr (hooks<A>::post_restart)
            t.post_restart = [](cell& c, void* p, const failure_cause& why) noexcept {
                return guard(c, [&] { return instance(p).post_restart(why); });
            };
        if constexpr (requires(A& a, const terminated& m) { a.on(m); })
            t.on_terminated = [](cell& c, void* p, const terminated& m) noexcept {
                return guard(c, [&] { return instance(p).on(m); });
            };
        // The nearest handler: one for terminated takes this, too.
        if constexpr (requires(A& a, const child_failed& m) { a.on(m); })
            t.on_child_failed = [](cell& c, void* p, const child_failed& m) noexcept {
                return guard(c, [&] { return instance(p).on(m); });
            };
        if constexpr (requires(A& a, const receive_timeout& m) { a.on(m); })
            t.on_receive_timeout = [](cell& c, void* p, const receive_timeout& m) noexcept {
                return guard(c, [&] { return instance(p).on(m); });
            };
        if constexpr (hooks<A>::on_other)
            t.on_other = [](cell& c, void* p, envelope& e) noexcept {
                return guard(c, [&] { return instance(p).on_other(e); });
            };
        if constexpr (stashes) {
            t.mailbox_requirement = capability::deque;
            t.stash_capacity = A::stash_capacity;
        }
        if constexpr (hooks<A>::requires_mailbox)
            t.mailbox_requirement = t.mailbox_requirement | A::requires_mailbox::set;
        if constexpr (hooks<A>::supervision)
            t.supervision = [](cell& c, void* p, const failure_cause& why, supervisor_strategy& s,
                               directive& d) noexcept {
                return guard(c, [&]() -> std::expected<void, failure> {
                    s = instance(p).supervision();
                    if (const char* fault = s.backoff.fault())
                        return std::unexpected(failure(fault));
                    d = s.decide(why);
                    return {};
                });
            };
        if constexpr (hooks<A>::decide)
            t.decide = [](cell& c, void* p, any_ref child, const failure_cause& why,
                          directive& d) noexcept {
                return guard(c, [&] { d = instance(p).decide(child, why); });
            };
        return t;
    }
};

template <class A, class... Ms>
const actor_type& table_of(const actor<Ms...>*) noexcept {
    static_assert(actor_requirements<A>::met);
    static_assert(hook_requirements<A>::met);
    static_assert((message_requirements<Ms>::met && ...));
    static constexpr actor_type table = actor_table<A, Ms...>::make();
    return table;
}

}  // namespace detail

template <class A>
const actor_type& actor_type_of() noexcept {
    return detail::table_of<A>(static_cast<const A*>(nullptr));
}

// ---- protocol_context

template <class From, class F, class... Ms>
handled detail::adapter_of<From, F, Ms...>::adapt(turn& t, cell& c, envelope& from,
                                                  envelope*& made) noexcept {
    return guard(c, [&] {
        auto& message = *std::launder(static_cast<From*>(from.payload()));
        made = t.system().wrap(t.self(), function_(std::move(message)));
    });
}

namespace detail {

/// A result that the actor whose turn it is waits for: a full mailbox takes it.
template <class M>
void tell_result(M message) {
    turn& t = *turn::current();
    if (t.system().send_owed(t.place(), std::move(message), t.self()) != sent::accepted)
        any_ref(t.self()).tell(std::move(message));  // a dead letter
}
template <class T, class F>
task<> piped(task<T> from, F f) {
    if constexpr (std::is_void_v<T>) {
        co_await std::move(from);
        tell_result(f());
    } else {
        auto given = co_await std::move(from);
        tell_result(f(std::move(given)));
    }
}
template <class R, class Make, class F>
task<> piped_ask(actor_world* world, any_ref target, Make make, duration timeout, F f) {
    // Named: what g++ 12 makes of a temporary with a function of the user's in it is no copy.
    using source = ask_source<R, Make>;
    typename source::request what{world, target, std::move(make), timeout};
    wait_awaiter<source> wait(std::move(what));
    auto given = co_await wait;
    tell_result(f(std::move(given)));
}

}  // namespace detail

template <class... Ms>
template <class T, class F>
void protocol_context<Ms...>::pipe_to_self(task<T> from, F f) {
    world().start_beside(
        in(), [&] { return detail::supervised(detail::piped(std::move(from), std::move(f))); });
}
template <class... Ms>
template <class R, class Make, class F>
    requires std::invocable<F&, std::expected<R, ask_failure>>
void protocol_context<Ms...>::ask(any_ref target, Make make, duration timeout, F f) {
    static_assert(detail::adapted_message<
                  std::remove_cvref_t<std::invoke_result_t<F&, std::expected<R, ask_failure>>>,
                  Ms...>::met);
    world().start_beside(in(), [&] {
        return detail::supervised(
            detail::piped_ask<R>(&world(), target, std::move(make), timeout, std::move(f)));
    });
}

}  // namespace tactus::inline v0

// What actors may become.
#include <tactus/actor/behavior.hpp>
