// SPDX-License-Identifier: Apache-2.0
//
// Behavior kit: runs one actor, message by message, on the test's thread, and records what it asks
// of its world (TK-1, PK-TST-5).
//
//     test::behavior_kit<hire> kit(shop());                    // a behavior
//     auto kit = test::behavior_kit_of<shop>(3, "north");      // a class and its arguments
//     kit.run(hire{"anna"});
//     kit.expect_effect(test::spawned{"anna"});
//     kit.child_inbox<job>("anna").expect(job{1});
//
// The actor is the real one in a real world; only, nothing is handled but what the test runs. What
// it is sent meanwhile, by itself too, waits in its inbox: run_one() handles the first. Children
// are not begun, and keep what they get in their inboxes, until child_kit() runs one of them. No
// time passes: timers are effects, whose message the test sends; questions are, too.
//
// What the actor fails with is thrown to the test, after its post_stop: it has ended then.
//
// Thread safety: none; one thread has it and what comes from it.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <tactus/actor/actor.hpp>
#include <tactus/actor/behavior.hpp>
#include <tactus/actor/log.hpp>
#include <tactus/test_kit/bench.hpp>
#include <tactus/test_kit/effects.hpp>
#include <tactus/test_kit/inbox.hpp>
#include <tactus/test_kit/log_recorder.hpp>

namespace tactus::inline v0::test {

/// What came of run_ask.
template <class R>
class asked_reply {
public:
    explicit asked_reply(inbox<R> in) : in_(std::move(in)) {}
    [[nodiscard]] bool has_reply() const { return in_.has_messages(); }
    R receive_reply(std::source_location where = std::source_location::current()) {
        return in_.template receive<R>(where);
    }
    void expect_reply(const R& value,
                      std::source_location where = std::source_location::current()) {
        in_.expect(value, where);
    }
    void expect_no_reply(std::source_location where = std::source_location::current()) const {
        in_.expect_empty(where);
    }

private:
    inbox<R> in_;
};

template <class... Ms>
class behavior_kit {
public:
    static constexpr std::string_view default_name = "testkit";

    explicit behavior_kit(behavior<Ms...> first, std::string_view name = default_name)
        : behavior_kit(std::make_shared<bench>(), std::in_place_type<functional_actor<Ms...>>, name,
                       std::move(first)) {}
    /// An actor of a class; see behavior_kit_of.
    template <class A, class... Args>
    behavior_kit(std::shared_ptr<bench> in, std::in_place_type_t<A>, std::string_view name,
                 Args&&... args)
        : in_(std::move(in)), log_(std::make_shared<logging>()) {
        auto wanted = tactus::detail::request_for<A>(in_->world().world().memory(), name, {},
                                                     std::forward<Args>(args)...);
        if (!wanted)
            fail(std::string("the actor cannot be spawned: ") + wanted.error().reason);
        of_ = &in_->spawn(*wanted);
    }
    /// One that is there; begun, if it was not.
    behavior_kit(std::shared_ptr<bench> in, gate& of)
        : in_(std::move(in)), of_(&of), log_(std::make_shared<logging>()) {
        of_->begin();
    }

    [[nodiscard]] actor_ref<Ms...> ref() const noexcept { return actor_ref<Ms...>(of_->who()); }
    [[nodiscard]] bool is_alive() const { return of_->is_alive(); }

    // ---- running

    /// Handles this one now, whatever waits in the inbox.
    template <class M>
    void run(M&& message, any_ref sender = {},
             std::source_location where = std::source_location::current()) {
        static_assert(takes<M>, "the actor does not take this message");
        of_->expect_alive(where);
        envelope* e = in_->world().world().kernel().wrap(of_->who().index(),
                                                         std::forward<M>(message), sender.index());
        if (e == nullptr)
            fail("there is no envelope for the message, or it could not be made", where);
        of_->run(*e, where);
    }
    /// The first of the inbox. False: it is empty.
    bool run_one(std::source_location where = std::source_location::current()) {
        return of_->run_one(where);
    }
    /// What the actor replies to the message that `make` makes of a reference.
    template <class R, class Make>
    [[nodiscard]] asked_reply<R> run_ask(
        Make&& make, std::source_location where = std::source_location::current()) {
        inbox<R> replies = create_inbox<R>();
        run(std::forward<Make>(make)(replies.ref()), replies.ref(), where);
        return asked_reply<R>(std::move(replies));
    }
    void signal(const terminated& m, std::source_location where = std::source_location::current()) {
        of_->signal(m, where);
    }
    void signal(const receive_timeout& m,
                std::source_location where = std::source_location::current()) {
        of_->signal(m, where);
    }
    /// Its end, with post_stop.
    void stop() {
        (void)in_->world().world().stop(of_->who().index());
        in_->run();
    }
    /// Time passes: timers that are due come to the inbox, what waits for time goes on.
    void advance(duration d) { (void)in_->world().run_until(in_->world().now() + d, {}); }

    /// The instance. Requires: it is an A, and alive; both are expected.
    template <class A>
    [[nodiscard]] A& underlying(
        std::source_location where = std::source_location::current()) const {
        if (&of_->inner() != &actor_type_of<A>())
            fail("the actor is a " + std::string(of_->inner().name) + ", not a " +
                     std::string(type_name<A>()),
                 where);
        void* found = of_->instance();
        if (found == nullptr)
            fail("the actor has ended", where);
        return *std::launder(static_cast<A*>(found));
    }
    /// Of an actor made of functions: what handles the next message.
    [[nodiscard]] const behavior<Ms...>& current_behavior(
        std::source_location where = std::source_location::current()) const {
        return underlying<functional_actor<Ms...>>(where).current();
    }

    // ---- effects, in order; what was expected or retrieved is gone

    [[nodiscard]] bool has_effects() const noexcept { return !of_->effects.empty(); }
    [[nodiscard]] effect retrieve_effect() {
        if (of_->effects.empty())
            return no_effects{};
        effect e = std::move(of_->effects.front());
        of_->effects.pop_front();
        return e;
    }
    [[nodiscard]] std::vector<effect> retrieve_all_effects() {
        std::vector<effect> all(of_->effects.begin(), of_->effects.end());
        of_->effects.clear();
        return all;
    }
    /// The next one, which is an E.
    template <class E>
    E expect_effect(std::source_location where = std::source_location::current()) {
        const effect next = retrieve_effect();
        if (const E* e = std::get_if<E>(&next))
            return *e;
        wrong("an effect of type " + std::string(type_name<E>()), next, where);
    }
    /// The next one, which equals `value`.
    template <class E>
        requires std::constructible_from<effect, const E&>
    E expect_effect(const E& value, std::source_location where = std::source_location::current()) {
        const effect next = retrieve_effect();
        if (const E* e = std::get_if<E>(&next); e != nullptr && *e == value)
            return *e;
        wrong(describe(value), next, where);
    }
    /// The next one, which is an E for which `matches` is true.
    template <class E, std::predicate<const E&> Matches>
    E expect_effect_matching(Matches&& matches,
                             std::source_location where = std::source_location::current()) {
        const effect next = retrieve_effect();
        if (const E* e = std::get_if<E>(&next); e != nullptr && matches(*e))
            return *e;
        fail("expected matching effect but got: " + describe(next), where);
    }

    // ---- others

    /// What the actor was sent and has not handled.
    [[nodiscard]] inbox<Ms...> self_inbox() const { return inbox<Ms...>(in_, *of_); }
    /// Somebody who can be sent things, for a message to refer to.
    template <class... Others>
    [[nodiscard]] inbox<Others...> create_inbox() const {
        return inbox<Others...>(in_, in_->spawn_inbox());
    }
    template <class... Others>
    [[nodiscard]] inbox<Others...> child_inbox(
        std::string_view name, std::source_location where = std::source_location::current()) const {
        return inbox<Others...>(in_, in_->child(*of_, name, where));
    }
    template <class... Others>
    [[nodiscard]] inbox<Others...> child_inbox(
        actor_ref<Others...> child,
        std::source_location where = std::source_location::current()) const {
        return inbox<Others...>(in_, gate_of(child, where));
    }
    /// Runs a child, with an inbox and effects of its own; begins it, if it was not.
    template <class... Others>
    [[nodiscard]] behavior_kit<Others...> child_kit(
        std::string_view name, std::source_location where = std::source_location::current()) const {
        return behavior_kit<Others...>(in_, in_->child(*of_, name, where));
    }
    template <class... Others>
    [[nodiscard]] behavior_kit<Others...> child_kit(
        actor_ref<Others...> child,
        std::source_location where = std::source_location::current()) const {
        return behavior_kit<Others...>(in_, gate_of(child, where));
    }
    /// Ends a child, as if by itself.
    void stop_child(std::string_view name,
                    std::source_location where = std::source_location::current()) {
        (void)in_->world().world().stop(in_->child(*of_, name, where).who().index());
        in_->run();
    }

    // ---- logging

    /// For actors that are given a logger.
    [[nodiscard]] tactus::logger& logger() noexcept { return log_->to; }
    [[nodiscard]] std::vector<log_entry> log_entries() const { return log_->sink.entries(); }
    void clear_log() { log_->sink.clear(); }

private:
    template <class M>
    static constexpr bool takes =
        tactus::detail::same_count<std::remove_cvref_t<M>, Ms..., poison_pill, tactus::kill,
                                   identify> == 1;
    struct logging {
        log_recorder sink;
        tactus::logger to{{.sink = &sink, .level = log_level::debug}};
    };

    [[nodiscard]] gate& gate_of(any_ref who, const std::source_location& where) const {
        gate* found = in_->find(who);
        if (found == nullptr)
            fail("there was no such child", where);
        return *found;
    }
    [[noreturn]] static void wrong(const std::string& expected, const effect& found,
                                   const std::source_location& where) {
        if (std::holds_alternative<no_effects>(found))
            fail("expected: " + expected + " but no effects were recorded", where);
        fail("expected: " + expected + " but found " + describe(found), where);
    }

    std::shared_ptr<bench> in_;
    gate* of_ = nullptr;
    std::shared_ptr<logging> log_;
};

namespace detail {

template <class... Ms>
behavior_kit<Ms...> kit_for(const actor<Ms...>*);

}  // namespace detail

/// A kit for an actor of class A, made of these arguments. What its constructor throws is thrown.
template <class A, class... Args>
[[nodiscard]] auto behavior_kit_of(Args&&... args) {
    static_assert(tactus::detail::constructor_arguments<A, Args...>::met);
    using kit_type = decltype(detail::kit_for(static_cast<const A*>(nullptr)));
    return kit_type(std::make_shared<bench>(), std::in_place_type<A>, kit_type::default_name,
                    std::forward<Args>(args)...);
}

}  // namespace tactus::inline v0::test
