// SPDX-License-Identifier: Apache-2.0
//
// Actor context: what an actor may do about itself and its family, in its turn (AC-5).
//
// A value, which may be copied and kept: it is valid in every turn of its actor for as long as the
// instance lives that it was made for, so in a coroutine across its waits. Asking for one outside
// of a turn ends the program (check actor_context:1), so does that of another actor (2). Likewise
// one that was kept: outside of a turn (3), in that of another actor (4), after its instance (5).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <string_view>
#include <utility>

#include <tactus/actor/actor_log.hpp>
#include <tactus/actor/actor_ref.hpp>
#include <tactus/actor/actor_selection.hpp>
#include <tactus/actor/actor_world.hpp>
#include <tactus/actor/delay_source.hpp>
#include <tactus/actor/graceful_stop_source.hpp>
#include <tactus/actor/offer_awaiter.hpp>
#include <tactus/actor/props.hpp>
#include <tactus/actor/resolve_source.hpp>
#include <tactus/actor/typed_scheduler.hpp>
#include <tactus/base/check.hpp>
#include <tactus/scheduler/scheduler.hpp>

namespace tactus::inline v0 {

template <class... Ms>
class actor;
template <class... Ms>
class behavior;
template <class... Ms>
class functional_actor;

namespace detail {

/// actor_ref<Ms...> of an actor class, or what it says instead.
template <class A>
using ref_of = typename A::reference;

inline constexpr spawn_error no_memory_for_arguments{spawn_error::kind::memory_exhausted,
                                                     "no memory for the actor's arguments"};

/// A request with options of its own, for later.
class kept_request : public actor_world::spawn_request {
public:
    kept_request() = default;
    kept_request(const actor_world::spawn_request& r, const spawn_options& said)
        : spawn_request(r), own_(said) {
        how = &own_;
    }
    kept_request(const kept_request& other) : kept_request(other, other.own_) {}
    kept_request& operator=(const kept_request& other) {
        spawn_request::operator=(other);
        own_ = other.own_;
        how = &own_;
        return *this;
    }
    ~kept_request() = default;

private:
    spawn_options own_ = {};
};

template <class A, class... Args>
[[nodiscard]] std::expected<kept_request, spawn_error> request_for(memory_source& memory,
                                                                   std::string_view name,
                                                                   const spawn_options& how,
                                                                   Args&&... args) {
    actor_world::spawn_request r{.type = &actor_type_of<A>(), .name = name};
    if constexpr (sizeof...(Args) != 0) {
        r.maker = make_maker<A>(memory, std::forward<Args>(args)...);
        if (r.maker == nullptr)
            return std::unexpected(no_memory_for_arguments);
    }
    return kept_request(r, how);
}

/// What a request has of options: null when they say nothing. Asked for before anything else is
/// done, as the compiler knows then what a caller's `{}` says. Not on devices, where it would be
/// code at each place where an actor is spawned.
[[nodiscard, gnu::always_inline]] inline const spawn_options* said_by(
    const spawn_options& how) noexcept {
    return !port::has_interrupts && how.says_nothing() ? nullptr : &how;
}

/// Spawns an A by `spawn(request)`, which knows below whom. `how` is what said_by gave.
template <class A, class Spawn, class... Args>
[[nodiscard]] std::expected<ref_of<A>, spawn_error> spawn_with(actor_world& world, Spawn&& spawn,
                                                               std::string_view name,
                                                               const spawn_options* how,
                                                               Args&&... args) {
    actor_world::spawn_request r{.type = &actor_type_of<A>(), .name = name, .how = how};
    if constexpr (sizeof...(Args) != 0) {
        r.maker = make_maker<A>(world.memory(), std::forward<Args>(args)...);
        if (r.maker == nullptr)
            return std::unexpected(no_memory_for_arguments);
    }
    const std::expected<mailbox_index, spawn_error> made = spawn(r);
    if (!made)
        return std::unexpected(made.error());
    return ref_of<A>(any_ref(*made));
}
template <class A, class Spawn, class... Args>
[[nodiscard]] std::expected<ref_of<A>, spawn_error> spawn_by(actor_world& world, Spawn&& spawn,
                                                             std::string_view name,
                                                             const spawn_options& how,
                                                             Args&&... args) {
    return spawn_with<A>(world, std::forward<Spawn>(spawn), name, said_by(how),
                         std::forward<Args>(args)...);
}

}  // namespace detail

class actor_context {
public:
    /// What scheduling gives.
    using scheduled = std::expected<cancellable, scheduler_error>;
    /// What starting a timer with a key gives.
    using timer_started = std::expected<void, scheduler_error>;

    explicit actor_context(turn& t) noexcept
        : place_(&t.place()),
          generation_(place_->generation()),
          instance_(cell::of(t.place()).instance) {}

    [[nodiscard]] any_ref self() const noexcept { return any_ref(index_in(in())); }
    /// Of the message being handled; names nothing when there is none.
    [[nodiscard]] any_ref sender() const noexcept { return any_ref(in().sender()); }
    [[nodiscard]] any_ref parent() const noexcept {
        return any_ref(cell::of(in().place()).parent());
    }

    /// A child. Fails when the name is taken or not allowed, or there is no room.
    template <class A, class... Args>
    [[nodiscard]] std::expected<detail::ref_of<A>, spawn_error> try_spawn(std::string_view name,
                                                                          const spawn_options& how,
                                                                          Args&&... args) {
        static_assert(detail::constructor_arguments<A, Args...>::met);
        const spawn_options* const said = detail::said_by(how);
        turn& t = in();
        actor_world& of = actor_world::of(t.system());
        return detail::spawn_with<A>(
            of, [&](const actor_world::spawn_request& r) { return of.spawn_child(t, r); }, name,
            said, std::forward<Args>(args)...);
    }
    /// A child that behaves so; see behavior.hpp.
    template <class... Ms>
    [[nodiscard]] std::expected<actor_ref<Ms...>, spawn_error> try_spawn(
        behavior<Ms...> first, std::string_view name = {}, const spawn_options& how = {}) {
        return try_spawn<functional_actor<Ms...>>(name, how, std::move(first));
    }
    /// The same, for who cannot go on without it: the actor fails when there is none, and what it
    /// gets names nothing.
    template <class A, class... Args>
    detail::ref_of<A> spawn(std::string_view name, Args&&... args) {
        static_assert(detail::constructor_arguments<A, Args...>::met);
        return or_fail(name, try_spawn<A>(name, spawn_options{}, std::forward<Args>(args)...));
    }
    template <class... Ms>
    actor_ref<Ms...> spawn(behavior<Ms...> first, std::string_view name = {}) {
        return or_fail(name, try_spawn(std::move(first), name));
    }
    template <class A, class... Args>
    detail::ref_of<A> spawn_anonymous(Args&&... args) {
        static_assert(detail::constructor_arguments<A, Args...>::met);
        return spawn<A>(std::string_view{}, std::forward<Args>(args)...);
    }
    [[nodiscard]] std::size_t child_count() const noexcept { return world().child_count(in()); }
    /// Names nothing: there is none.
    [[nodiscard]] any_ref child(std::string_view name) const noexcept {
        return any_ref(world().child_named(in(), name));
    }

    /// Calls visit(any_ref) for each, in the order they were spawned; of one that has just ended it
    /// is the reference it had.
    template <class Visit>
    void for_each_child(Visit&& visit) const {
        turn& t = in();
        registry& slots = t.system().slots();
        children_of all(slots, cell::of(t.place()));
        while (slot* child = all.next())
            visit(any_ref(life_of(slots, *child)));
    }

    /// SV-3: this actor has failed, when the message is handled: as if it had returned `why`.
    void fail(const failure& why) noexcept { world().fail(in(), why); }
    /// The same, because a timer or a job was refused; the text is the sentence of describe().
    void fail(const scheduler_error& why) noexcept { world().fail_schedule(in(), why); }
    /// CO-6: messages wait, after this one, until the condition holds, or the limit is over; or it
    /// says why that cannot be, and they do not.
    [[nodiscard]] std::expected<void, suspend_error> suspend(
        suspend_reason reason, const resume_condition& until,
        const suspend_limit& limit = {}) noexcept {
        return in().suspend(reason, until, limit);
    }
    /// The number of its dispatcher; see runtime::dispatchers.
    [[nodiscard]] std::uint32_t dispatcher() const noexcept {
        return in().place().dispatcher_number();
    }
    /// Ends this actor when the message is handled.
    void stop() noexcept {
        turn& t = in();
        actor_world::of(t.system()).stop_self(t);
    }
    /// Ends a child. False: it is none, or has ended.
    bool stop(any_ref child) noexcept { return world().stop_child(in(), child.index()); }
    void stop_children() noexcept { world().stop_children(in()); }

    /// It gets `terminated` once when `who` has ended, or has ended already. Again: nothing. An
    /// actor of another system fails it.
    void watch(any_ref who) noexcept { world().watch(in(), who.index()); }
    /// The same with a message of its own instead of `terminated`, handled as if it was sent. It is
    /// not overwritten: watching again in another way fails the actor; unwatch first.
    template <message M>
    void watch_with(any_ref who, M message) noexcept(std::is_nothrow_move_constructible_v<M>) {
        held_message* held = detail::held_of<M>::make(world().memory(), std::move(message));
        if (held == nullptr)
            fail(failure("no memory to watch an actor"));
        else
            world().watch(in(), who.index(), held);
    }
    /// It does not, not even if that is in its mailbox.
    void unwatch(any_ref who) noexcept { world().unwatch(in(), who.index()); }

    /// Puts the message being handled aside; a failure, which a handler may return, when the stash
    /// is full. For actors with_stash.
    [[nodiscard]] std::expected<void, failure> stash() noexcept { return world().stash(in()); }
    /// What was put aside comes next, in its order; or the oldest of it.
    void unstash_all() noexcept { world().unstash(in(), actor_world::all_of_stash); }
    void unstash(std::uint32_t count) noexcept { world().unstash(in(), count); }
    [[nodiscard]] std::uint32_t stash_size() const noexcept { return world().stash_size(in()); }

    /// TM-1: timers with a key: starting one again replaces it. A timer that is refused leaves the
    /// one of its key as it is (SC-2); the error says why: a time is too long or not positive
    /// (SC-3), the quota is full, the system is under back-pressure, there is no memory, or the
    /// scheduler is closed.
    template <message M>
    [[nodiscard]] timer_started start_single_timer(timer_key key, M message, duration delay) {
        return start(key, std::move(message), timer_mode::single, delay, delay);
    }
    /// `delay` after the message was handled, the next one.
    template <message M>
        requires std::copy_constructible<M>
    [[nodiscard]] timer_started start_timer_with_fixed_delay(timer_key key, M message,
                                                             duration delay) {
        return start(key, std::move(message), timer_mode::fixed_delay, delay, delay);
    }
    template <message M>
        requires std::copy_constructible<M>
    [[nodiscard]] timer_started start_timer_with_fixed_delay(timer_key key, M message,
                                                             duration first, duration delay) {
        return start(key, std::move(message), timer_mode::fixed_delay, first, delay);
    }
    /// Every `interval`, counted from the start.
    template <message M>
        requires std::copy_constructible<M>
    [[nodiscard]] timer_started start_timer_at_fixed_rate(timer_key key, M message,
                                                          duration interval) {
        return start(key, std::move(message), timer_mode::fixed_rate, interval, interval);
    }
    template <message M>
        requires std::copy_constructible<M>
    [[nodiscard]] timer_started start_timer_at_fixed_rate(timer_key key, M message, duration first,
                                                          duration interval) {
        return start(key, std::move(message), timer_mode::fixed_rate, first, interval);
    }
    /// No message of it is handled from now on. False: there was none.
    bool cancel_timer(timer_key key) noexcept { return world().cancel_timer(in(), key); }
    void cancel_timers() noexcept { world().cancel_keyed_timers(in()); }
    [[nodiscard]] bool is_timer_active(timer_key key) const noexcept {
        return world().timer_active(in(), key);
    }
    /// SC-4: the calls of typed_scheduler.hpp in this actor's name. schedule_once(delay, to,
    /// message) sends to whomever, be it that this actor has ended. What it gives cancels that, and
    /// may be dropped. `more` are options, instead of those of the policy (SC-5).
    template <class Ref, class M, class... More>
    scheduled schedule_once(duration delay, const Ref& to, M message, const More&... more) {
        turn& t = in();
        return noted(t, to, message_type_of<M>, delay,
                     mine(t).schedule_once(delay, to, std::move(message), more...));
    }
    /// At `initial`, and every `interval` after that, on the grid that begins now.
    template <class Ref, class M, class... More>
        requires std::copy_constructible<M>
    scheduled schedule_at_fixed_rate(duration initial, duration interval, const Ref& to, M message,
                                     const More&... more) {
        turn& t = in();
        return noted(
            t, to, message_type_of<M>, initial,
            mine(t).schedule_at_fixed_rate(initial, interval, to, std::move(message), more...));
    }
    /// At `initial`, and `delay` after each was handled.
    template <class Ref, class M, class... More>
        requires std::copy_constructible<M>
    scheduled schedule_with_fixed_delay(duration initial, duration delay, const Ref& to, M message,
                                        const More&... more) {
        turn& t = in();
        return noted(
            t, to, message_type_of<M>, initial,
            mine(t).schedule_with_fixed_delay(initial, delay, to, std::move(message), more...));
    }
    /// The same for a function `f(const execution_batch&)`, which runs on this actor's dispatcher,
    /// and not in its turn. It is cancelled when this instance of the actor ends; a run that goes
    /// on then is not waited for. `system.timers()` schedules functions that no actor owns.
    template <class F, class... More>
    scheduled schedule_once_fn(duration delay, F f, const More&... more) {
        return own(std::move(f), [&](auto&& bound) {
            return mine(in()).schedule_once_fn(delay, std::move(bound), more...);
        });
    }
    template <class F, class... More>
    scheduled schedule_at_fixed_rate_fn(duration initial, duration interval, F f,
                                        const More&... more) {
        return own(std::move(f), [&](auto&& bound) {
            return mine(in()).schedule_at_fixed_rate_fn(initial, interval, std::move(bound),
                                                        more...);
        });
    }
    template <class F, class... More>
    scheduled schedule_with_fixed_delay_fn(duration initial, duration delay, F f,
                                           const More&... more) {
        return own(std::move(f), [&](auto&& bound) {
            return mine(in()).schedule_with_fixed_delay_fn(initial, delay, std::move(bound),
                                                           more...);
        });
    }
    /// The same calls with another sender or dispatcher, or for a subsystem (SC-1, SC-4):
    /// context().timers().as(other).schedule_once(...), .on(handle), .of(subsystem). Functions that
    /// it schedules are not cancelled when this instance of the actor ends.
    [[nodiscard]] typed_scheduler timers() const noexcept { return mine(in()); }
    /// The system's; null where there are no timers.
    [[nodiscard]] tactus::scheduler* scheduler() const noexcept { return world().timers(); }
    /// BT-1: what the message being handled was delivered for; nothing when no job sent it.
    [[nodiscard]] std::optional<execution_batch> scheduler_batch() const noexcept {
        return scheduler() != nullptr ? scheduler()->current_batch(&in())
                                      : std::optional<execution_batch>{};
    }
    /// TM-2: tells it receive_timeout when no message was handled for so long, again and again. One
    /// that it cannot have, or a time that is not positive (SC-3), fails the actor.
    void set_receive_timeout(duration after) noexcept { world().set_receive_timeout(in(), after); }
    void cancel_receive_timeout() noexcept { world().set_receive_timeout(in(), duration::max()); }

    /// SC-13, SC-15: `co_await context().delay(d)` gives expected<execution_batch,
    /// scheduler_error>: the batch when the time has passed, or at once why it cannot be waited
    /// for. With a cancel_token: an expected<..., cancelled> of that.
    template <class Token = no_token>
    [[nodiscard]] auto delay(duration d, Token token = {}) const noexcept {
        return wait_awaiter<delay_source, Token>({world().timers(), d}, token);
    }
    /// `co_await context().offer(ref, message)` sends, and waits for room where the mailbox is full
    /// and its strategy is block: at most for the mailbox's push_timeout, or for `limit`. A
    /// negative limit waits without end, zero not at all. See offer_awaiter.hpp.
    template <class M, class Token = no_token>
        requires(!std::convertible_to<Token, duration>)
    [[nodiscard]] auto offer(any_ref to, M&& message, Token token = {}) const {
        return offer_awaiter(to.index(), std::forward<M>(message), token,
                             {.timers = world().timers()});
    }
    template <class M, class Token = no_token>
    [[nodiscard]] auto offer(any_ref to, M&& message, duration limit, Token token = {}) const {
        return offer_awaiter(to.index(), std::forward<M>(message), token,
                             {.timers = world().timers(), .limit = limit});
    }

    /// EV-4: lines with this actor's path. May be kept.
    [[nodiscard]] actor_log log() const noexcept { return {world(), self().index()}; }
    /// AC-7: actors by a path, from this one on; see actor_selection.hpp.
    [[nodiscard]] actor_selection select(std::string_view path) const noexcept {
        return {world(), self().index(), path};
    }
    /// `co_await context().resolve(selection, timeout)`: asks the first one who it is, and gives
    /// expected<any_ref, ask_fault>; target_terminated: there is nobody.
    template <class Token = no_token>
    [[nodiscard]] auto resolve(const actor_selection& which, duration timeout,
                               Token token = {}) const noexcept {
        return wait_awaiter<resolve_source, Token>({&world(), which.resolve(), timeout}, token);
    }
    /// AC-8: `co_await context().graceful_stop(ref, timeout)` tells it to end, by poison_pill or
    /// what is given; true when it has ended, false when it has not in time, or nobody can wait for
    /// it. Of another system: false at once, and it is not told. Longer than the scheduler's
    /// maximum_delay() it waits without end.
    template <class M = poison_pill, class Token = no_token>
    [[nodiscard]] auto graceful_stop(any_ref who, duration timeout, M&& message = {},
                                     Token token = {}) const {
        return wait_awaiter<graceful_stop_source<std::decay_t<M>>, Token, detail::needs_name<M>>(
            {&world(), who, timeout, std::forward<M>(message)}, token);
    }

    [[nodiscard]] actor_world& world() const noexcept { return actor_world::of(in().system()); }
    /// The turn of its actor that this thread is in. Not inline: a coroutine may go on on another
    /// thread, and must not find the first one's turn in an address it has kept.
    [[nodiscard]] turn& in() const noexcept;

private:
    TACTUS_CHECK_MODULE("actor_context");

    /// Sender, dispatcher and guardian filled in.
    [[nodiscard]] typed_scheduler mine(turn& t) const noexcept {
        actor_world& of = actor_world::of(t.system());
        const auto dispatcher = static_cast<std::uint16_t>(t.place().dispatcher_number());
        return typed_scheduler(of.timers(),
                               {.sender = any_ref(index_in(t)),
                                .from = {.dispatcher = dispatcher, .guardian = of.guardian_of(t)}});
    }
    /// Schedules a function that ends with this instance.
    template <class F, class Schedule>
    [[nodiscard]] scheduled own(F f, const Schedule& schedule) {
        owned_function* const record = world().make_owned_function(in());
        if (record == nullptr)
            return std::unexpected(
                scheduler_error{.code = scheduler_errc::capacity_exceeded, .field = "function"});
        detail::unbound_record unbound(*record);
        detail::instance_bound<F> bound(*record, std::move(f));
        unbound.forget();
        scheduled made = schedule(std::move(bound));
        world().keep_owned_function(in(), *record, made);
        return made;
    }
    [[nodiscard]] scheduled noted(turn& t, any_ref to, const message_type& what, duration first,
                                  scheduled made) {
        actor_world& of = actor_world::of(t.system());
        if (made && of.recorder() != nullptr) [[unlikely]]
            of.note_scheduled(t, to, what, first);
        return made;
    }

    template <class Ref>
    Ref or_fail(std::string_view name, const std::expected<Ref, spawn_error>& made) noexcept {
        if (made)
            return *made;
        world().fail_spawn(in(), name, made.error());
        return {};
    }
    template <class A, class... Args>
    friend class backoff_supervisor;
    /// A single timer for who goes on with what was there: backpressure does not refuse it (BP-3).
    template <message M>
    [[nodiscard]] timer_started go_on_after(timer_key key, M message, duration delay) {
        return start(key, std::move(message), timer_mode::single, delay, delay, true);
    }
    template <class M>
    [[nodiscard]] timer_started start(timer_key key, M message, timer_mode mode, duration first,
                                      duration interval, bool goes_on = false) {
        using timer = detail::timer_of<M>;
        turn& t = in();
        actor_world& of = actor_world::of(t.system());
        memory_source& memory = of.memory();
        unused_block block(memory, memory.allocate(sizeof(timer), alignof(timer)), sizeof(timer),
                           alignof(timer));
        if (block.place == nullptr)
            return std::unexpected(scheduler_error{.code = scheduler_errc::capacity_exceeded});
        auto* made = ::new (block.place) timer(std::move(message));
        block.place = nullptr;
        made->key = key;
        made->mode = mode;
        made->interval = interval;
        made->target.goes_on = goes_on;
        made->is_internal = goes_on;
        return of.start_timer(t, *made, first);
    }

    /// This actor, also when its slot has the generation of the next life already.
    [[nodiscard]] mailbox_index index_in(const turn& t) const noexcept {
        return t.self().with_generation(generation_);
    }

    // Which instance it is for: a slot, a life of it, and an instance of that life.
    const slot* place_;
    std::uint32_t generation_;
    std::uint16_t instance_;
};

}  // namespace tactus::inline v0
