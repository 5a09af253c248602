// SPDX-License-Identifier: Apache-2.0
//
// Kit: a whole world of actors for one test, on the test's thread and in virtual time (TK-1).
//
//     test::kit kit;
//     auto probe = kit.create_probe<tock>();
//     kit.spawn<ticker>("ticker", probe.ref());
//     kit.advance(12s);                        // takes no time
//     probe.expect<tock>();
//
// Actors run when the kit, or a probe of it, is told to expect or run something, and only then.
// expect() lets time pass up to its timeout, from deadline to deadline, and stops at the message;
// times are not dilated. advance() runs whoever is due, each at its time, and those that became due
// meanwhile.
//
// Thread safety: none; one thread has it. Messages may come from any.
#pragma once

#include <concepts>
#include <expected>
#include <functional>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <tactus/actor/actor.hpp>
#include <tactus/actor/behavior.hpp>
#include <tactus/runtime/actor_system.hpp>
#include <tactus/test_kit/probe.hpp>
#include <tactus/test_kit/probe_host.hpp>
#include <tactus/test_kit/virtual_world.hpp>

namespace tactus::inline v0::test {

template <class A>
class actor_under_test;

namespace detail {

template <class... Args>
inline constexpr bool begins_with_options = false;
template <class First, class... Rest>
inline constexpr bool begins_with_options<First, Rest...> =
    std::same_as<std::remove_cvref_t<First>, spawn_options>;

}  // namespace detail

class kit final : public probe_host {
public:
    using options = virtual_world::options;

    explicit kit(options o) : world_(std::move(o)) {}
    kit() : kit(options{}) {}

    // ---- actors

    /// A top-level actor; spawn_exception as actor_system::spawn.
    template <class A, class... Args>
        requires(!detail::begins_with_options<Args...>)
    tactus::detail::ref_of<A> spawn(std::string_view name, Args&&... args) {
        static_assert(tactus::detail::constructor_arguments<A, Args...>::met);
        return spawn<A>(name, spawn_options{}, std::forward<Args>(args)...);
    }
    template <class A, class... Args>
    tactus::detail::ref_of<A> spawn(std::string_view name, const spawn_options& how,
                                    Args&&... args) {
        static_assert(tactus::detail::constructor_arguments<A, Args...>::met);
        const auto made = tactus::detail::spawn_by<A>(
            world(), [&](const actor_world::spawn_request& r) { return world().spawn_top(r); },
            name, how, std::forward<Args>(args)...);
        if (!made)
            throw spawn_exception(made.error(), name);
        return *made;
    }
    template <class... Ms>
    actor_ref<Ms...> spawn(behavior<Ms...> first, std::string_view name = {},
                           const spawn_options& how = {}) {
        return spawn<functional_actor<Ms...>>(name, how, std::move(first));
    }
    /// C-TST-6: one whose instance the test can see; see actor_under_test.hpp.
    template <class A, class... Args>
    actor_under_test<A> spawn_under_test(std::string_view name, Args&&... args) {
        static_assert(tactus::detail::constructor_arguments<A, Args...>::met);
        return actor_under_test<A>(*this, spawn<A>(name, std::forward<Args>(args)...));
    }
    template <class... Ms>
    [[nodiscard]] probe<Ms...> create_probe(
        std::string_view prefix = "probe",
        std::source_location where = std::source_location::current()) {
        return probe<Ms...>(*this, prefix, where);
    }
    /// Asks, and runs the world until the reply has come, or time is up.
    template <class R, class Target, class Make>
    [[nodiscard]] std::optional<R> ask(
        const Target& target, Make&& make, duration timeout,
        std::source_location where = std::source_location::current()) {
        probe<R> asker(*this, "ask", where);
        target.tell(std::forward<Make>(make)(actor_ref<R>(asker.ref())), asker.ref());
        if (!run_until([&] { return asker.has_messages(); }, timeout, where))
            return std::nullopt;
        return asker.receive({}, where);
    }
    bool stop(any_ref who) noexcept { return world().stop(who.index()); }
    [[nodiscard]] any_ref select(std::string_view path) noexcept {
        return any_ref(world().find(path));
    }
    [[nodiscard]] bool is_alive(any_ref who) noexcept { return world_.lives(who); }

    // ---- time

    [[nodiscard]] instant now() const noexcept override { return world_.now(); }
    /// Whoever has something to do now does it.
    void run_until_idle(std::source_location where = std::source_location::current()) {
        world_.run_until_idle(where);
    }
    /// Time passes, and whoever is due runs. Not dilated. Not negative.
    void advance(duration d, std::source_location where = std::source_location::current());
    /// Time passes and nobody runs, as if the machine had stood still: who was due meanwhile is
    /// late when the kit runs next (SC-20).
    void stall(duration d, std::source_location where = std::source_location::current());
    /// True when `ready` was, within the time.
    [[nodiscard]] bool run_until(const std::function<bool()>& ready, duration max,
                                 std::source_location where = std::source_location::current()) {
        return world_.run_until(now() + max, ready, where);
    }
    /// Time passes, and none of the probes gets anything.
    template <class... Probes>
    void expect_no_message_for(located<duration> d, Probes&... probes) {
        const instant since = now();
        (void)run_until([&] { return (probes.has_messages() || ...); }, d.value, d.where);
        (probes.expect_none_yet(d.value, since, d.where), ...);
    }

    /// Of the world: for subscribers of diagnostics, policies, on-close tasks, and the calls that
    /// register.
    [[nodiscard]] tactus::scheduler& scheduler() noexcept { return world_.timers(); }

    /// Ends all actors. Who is left is told as a failed expectation.
    void shutdown(std::source_location where = std::source_location::current());

    // ---- for probes

    [[nodiscard]] actor_world& world() noexcept override { return world_.world(); }
    bool wait(place& at, instant until, const std::function<bool()>& ready,
              const std::source_location& where) override;
    [[nodiscard]] const test_times& times() const noexcept override { return times_; }
    [[nodiscard]] std::string take_recent_failures() override {
        return world_.take_recent_failures();
    }
    [[nodiscard]] virtual_world& inside() noexcept { return world_; }

private:
    virtual_world world_;
    test_times times_;
};

}  // namespace tactus::inline v0::test
