// SPDX-License-Identifier: Apache-2.0
//
// Probe: an actor that a test looks into (TK-1): it keeps what comes, and the test expects it.
//
//     test::probe<pong> probe(system);
//     system.spawn<player>("player").tell(ping{probe.ref()});
//     probe.expect(pong{1});
//     probe.expect_no(50ms);
//
// What is not as expected is told by test::fail, with the probe's name, what was expected, what
// came and how long that took. In a system with threads expectations block; in a test::kit they run
// its world, and times are the world's.
//
// A pilot answers in the probe's place, in its actor's turn. What is ignored never comes. What
// nobody took when the probe ends becomes dead letters.
//
// Thread safety: one thread, which is none of the system's workers; ref() is for anybody.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tactus/actor/actor.hpp>
#include <tactus/runtime/actor_system.hpp>
#include <tactus/test_kit/probe_core.hpp>

namespace tactus::inline v0::test {

/// What a fisher says of a message.
enum class fishing_outcome : std::uint8_t {
    proceed,             // it is one of those returned; goes on
    proceed_and_ignore,  // it is not; goes on
    done,                // it is the last one
    fail,                // it should not have come
};

namespace detail {

template <class... Ms>
class probe_actor : public actor<Ms..., probe_order> {
public:
    explicit probe_actor(std::shared_ptr<probe_core> core) : core_(std::move(core)) {}

    template <class M>
        requires(tactus::detail::same_count<M, Ms...> == 1)
    void on(M&& message) {
        core_->deliver(std::make_unique<received_of<M>>(std::forward<M>(message), this->sender()));
    }
    void on(const probe_order& order) { order.what(this->context()); }
    void on(const terminated& m) { core_->ended(m.who); }
    void post_stop() { core_->close(this->self()); }
    supervisor_strategy supervision() { return core_->strategy(); }

private:
    std::shared_ptr<probe_core> core_;
};

/// Calls `f` with what `m` is; it is one of Ms.
template <class Result, class... Ms, class F>
Result visit_message(F& f, const received_message& m) {
    std::optional<Result> r;
    ((&m.type() == &message_type_of<Ms>
          ? (void)r.emplace(f(static_cast<const received_of<Ms>&>(m).value))
          : void()),
     ...);
    return *r;  // NOLINT(bugprone-unchecked-optional-access): one of them it is
}

/// A host for a system that somebody else owns.
class system_host final : public probe_host {
public:
    explicit system_host(actor_system& of, const test_times& times = test_times::from_environment())
        : system_(of), times_(times) {}
    [[nodiscard]] actor_world& world() noexcept override { return system_.world(); }
    [[nodiscard]] instant now() const noexcept override {
        return system_.world().kernel().time()->now();
    }
    bool wait(place& at, instant until, const std::function<bool()>& ready,
              const std::source_location& /*where*/) override {
        std::unique_lock held(at.mutex);
        return at.changed.wait_for(held, std::chrono::nanoseconds((until - now()).ns()), ready);
    }
    [[nodiscard]] const test_times& times() const noexcept override { return times_; }

private:
    actor_system& system_;
    test_times times_;
};

}  // namespace detail

template <class... Ms>
class probe {
    static_assert(sizeof...(Ms) > 0, "a probe takes at least one message");
    using first_message = std::tuple_element_t<0, std::tuple<Ms...>>;
    /// What it is when nothing is said: of several, nothing.
    using only_message = std::conditional_t<sizeof...(Ms) == 1, first_message, void>;

public:
    /// In a system of its own times; the system outlives the probe.
    explicit probe(actor_system& in, std::string_view prefix = "probe",
                   std::source_location where = std::source_location::current())
        : own_(std::make_unique<detail::system_host>(in)) {
        begin(*own_, prefix, where);
    }
    /// The host outlives the probe.
    explicit probe(probe_host& in, std::string_view prefix = "probe",
                   std::source_location where = std::source_location::current()) {
        begin(in, prefix, where);
    }
    probe(probe&&) noexcept = default;
    probe& operator=(probe&&) = delete;
    ~probe() {
        if (core_ != nullptr)
            (void)core_->host().world().stop(core_->self().index());
    }

    [[nodiscard]] actor_ref<Ms...> ref() const noexcept { return actor_ref<Ms...>(core_->self()); }
    [[nodiscard]] const std::string& name() const noexcept { return core_->name(); }

    // ---- expecting

    /// The next message, which is a T.
    template <class T = only_message>
    T receive(std::optional<duration> max = {},
              std::source_location where = std::source_location::current()) {
        return expect<T>(max, where);
    }
    template <class T = only_message>
    T expect(std::optional<duration> max = {},
             std::source_location where = std::source_location::current()) {
        static_assert(tactus::detail::same_count<T, Ms...> == 1,
                      "the probe does not take this message, or takes several: say which");
        auto m = next("a message of type " + std::string(type_name<T>()), max, where);
        return take<T>(*m, "a message of type " + std::string(type_name<T>()), where);
    }
    /// The next message, which equals `value`.
    template <class T>
        requires(tactus::detail::same_count<T, Ms...> == 1 && std::equality_comparable<T>)
    T expect(const T& value, std::optional<duration> max = {},
             std::source_location where = std::source_location::current()) {
        auto m = next(describe(value), max, where);
        T found = take<T>(*m, describe(value), where);
        if (!(found == value))
            core_->fail("expected " + describe(value) + ", found " + describe(found), where);
        return found;
    }
    /// Nothing comes for so long.
    void expect_no(std::optional<duration> during = {},
                   std::source_location where = std::source_location::current()) {
        const instant since = core_->host().now();
        expect_silence(core_->quiet_limit(during), core_->quiet_limit(during), since, where);
    }
    /// For kits that wait for several: nothing has come until now, of a silence of `limit`.
    void expect_none_yet(duration limit, instant since,
                         std::source_location where = std::source_location::current()) {
        expect_silence(duration::zero(), limit, since, where);
    }
    /// `n` messages of one type within the time, in their order.
    template <class T = only_message>
    std::vector<T> receive_n(std::size_t n, std::optional<duration> max = {},
                             std::source_location where = std::source_location::current()) {
        const instant since = core_->host().now();
        const duration limit = core_->limit(max);
        std::vector<T> all;
        while (all.size() < n) {
            auto m = core_->next(rest(since, limit), where);
            if (m == nullptr)
                core_->fail_late(limit, since,
                                 "while expecting " + std::to_string(n) + " messages (got " +
                                     std::to_string(all.size()) + ")",
                                 where);
            all.push_back(take<T>(*m, "a message of type " + std::string(type_name<T>()), where));
        }
        return all;
    }
    /// Looks at messages until `fisher` is done; returns those it did not ignore.
    template <class T = only_message, class Fisher>
        requires std::is_invocable_r_v<fishing_outcome, Fisher&, const T&>
    std::vector<T> fish(Fisher&& fisher, std::optional<duration> max = {},
                        std::source_location where = std::source_location::current()) {
        const instant since = core_->host().now();
        const duration limit = core_->limit(max);
        std::vector<T> kept;
        std::string seen;
        for (;;) {
            auto m = core_->next(rest(since, limit), where);
            if (m == nullptr)
                core_->fail_late(limit, since, "during fish, seen messages [" + seen + "]", where);
            seen += (seen.empty() ? "" : ", ") + m->text();
            T value = take<T>(*m, "while fishing a message of type " + std::string(type_name<T>()),
                              where);
            switch (fisher(std::as_const(value))) {
            case fishing_outcome::proceed:
                kept.push_back(std::move(value));
                break;
            case fishing_outcome::proceed_and_ignore:
                break;
            case fishing_outcome::done:
                kept.push_back(std::move(value));
                return kept;
            case fishing_outcome::fail:
                core_->fail("the fisher failed, seen messages [" + seen + "]", where);
            default:
                core_->fail("the fisher gave no outcome that is known", where);
            }
        }
    }
    /// Watches `who`, unless it does, and waits for its end.
    void expect_terminated(any_ref who, std::optional<duration> max = {},
                           std::source_location where = std::source_location::current()) {
        const instant since = core_->host().now();
        const duration limit = core_->limit(max);
        const std::string path = core_->host().path_of(who);
        if (!core_->await_end(who, limit, where))
            core_->fail_late(limit, since, "while expecting the end of [" + path + "]", where);
    }
    /// Runs `block`, whose expectations without a time of their own share `max`; it takes at least
    /// `min`.
    template <class Block>
    decltype(auto) within(duration min, duration max, Block&& block,
                          std::source_location where = std::source_location::current()) {
        struct guard {
            probe_core& core;
            probe_core::window w;
            ~guard() { core.leave_window(w); }
        } in{*core_, core_->open_window(min, max)};
        if constexpr (std::is_void_v<std::invoke_result_t<Block>>) {
            std::forward<Block>(block)();
            core_->close_window(in.w, where);
        } else {
            auto result = std::forward<Block>(block)();
            core_->close_window(in.w, where);
            return result;
        }
    }
    template <class Block>
    decltype(auto) within(duration max, Block&& block,
                          std::source_location where = std::source_location::current()) {
        return within(duration::zero(), max, std::forward<Block>(block), where);
    }
    /// What is left of the innermost within(); else the default.
    [[nodiscard]] duration remaining() const { return core_->limit({}); }
    /// Calls `check` until it throws nothing; what it throws at last is thrown. What it gives.
    template <class Check>
    decltype(auto) await_assert(Check&& check, std::optional<duration> max = {},
                                duration interval = duration::from_ms(100),
                                std::source_location where = std::source_location::current()) {
        const instant end = core_->host().now() + core_->limit(max);
        for (;;) {
            try {
                return check();
            } catch (...) {
                const duration left = end - core_->host().now();
                if (left <= duration::zero())
                    throw;
                (void)core_->await(interval < left ? interval : left, [] { return false; }, where);
            }
        }
    }
    [[nodiscard]] bool has_messages() const { return core_->has_messages(); }

    // ---- acting

    /// To who sent what was taken last.
    template <class M>
    void reply(M&& message, std::source_location where = std::source_location::current()) {
        if (!core_->last_sender())
            core_->fail("there is nobody to reply to: no message was taken, or it had no sender",
                        where);
        core_->last_sender().tell(std::forward<M>(message), core_->self());
    }
    [[nodiscard]] any_ref last_sender() const noexcept { return core_->last_sender(); }
    /// As its sender.
    template <class Target, class M>
    void send(const Target& to, M&& message) {
        to.tell(std::forward<M>(message), core_->self());
    }
    void watch(any_ref who) { core_->watch(who); }
    void unwatch(any_ref who) { core_->unwatch(who); }
    /// A watched actor has ended; expect_terminated was not called for it yet.
    [[nodiscard]] bool has_terminated(any_ref who) const { return core_->knows_ended(who); }
    void stop() { (void)core_->host().world().stop(core_->self().index()); }
    /// A child of the probe, supervised so.
    template <class A, class... Args>
    tactus::detail::ref_of<A> spawn_child(const supervisor_strategy& how,
                                          located<std::string_view> name, Args... args) {
        static_assert(tactus::detail::constructor_arguments<A, Args...>::met);
        using made = std::expected<tactus::detail::ref_of<A>, spawn_error>;
        core_->set_strategy(how);
        auto result = std::make_shared<std::optional<made>>();
        core_->order([=, core = core_, called = std::string(name.value)](actor_context c) {
            made child = c.template try_spawn<A>(called, {}, args...);
            core->note([&] { result->emplace(std::move(child)); });
        });
        if (!core_->await(core_->limit({}), [&] { return result->has_value(); }, name.where))
            core_->fail("the probe's actor does not answer", name.where);
        if (!**result)
            core_->fail(std::string("cannot spawn a child: ") + (**result).error().reason,
                        name.where);
        return ***result;
    }
    /// `f(sender, message)` gives a test::pilot; for each message, before the test can see it.
    template <class F>
        requires(std::is_invocable_r_v<pilot, F&, any_ref, const Ms&> && ...)
    void auto_pilot(F f) {
        core_->set_pilot([f = std::move(f)](any_ref from, const received_message& m) mutable {
            auto call = [&](const auto& value) { return f(from, value); };
            return detail::visit_message<pilot, Ms...>(call, m);
        });
    }
    /// Messages for which `f(message)` is true do not come any more.
    template <class F>
        requires(std::is_invocable_r_v<bool, F&, const Ms&> && ...)
    void ignore(F f) {
        core_->set_ignore([f = std::move(f)](const received_message& m) mutable {
            return detail::visit_message<bool, Ms...>(f, m);
        });
    }
    void ignore_none() { core_->set_ignore(nullptr); }
    /// A part of every failure's text from now on; empty: none.
    void hint(std::string text) { core_->set_hint(std::move(text)); }

private:
    void begin(probe_host& in, std::string_view prefix, const std::source_location& where) {
        core_ = std::make_shared<probe_core>(in, unique_name(prefix));
        using acts = detail::probe_actor<Ms...>;
        auto wanted =
            tactus::detail::request_for<acts>(in.world().memory(), core_->name(), {}, core_);
        if (!wanted)
            test::fail(core_->name() + ": cannot be spawned: " + wanted.error().reason, where);
        const auto made = in.world().spawn_top(*wanted);
        if (!made)
            test::fail(core_->name() + ": cannot be spawned: " + made.error().reason, where);
        core_->set_self(any_ref(*made));
    }
    [[nodiscard]] std::unique_ptr<received_message> next(const std::string& what,
                                                         std::optional<duration> max,
                                                         const std::source_location& where) {
        const instant since = core_->host().now();
        const duration limit = core_->limit(max);
        auto m = core_->next(limit, where);
        if (m == nullptr)
            core_->fail_late(limit, since, "during expect while waiting for " + what, where);
        return m;
    }
    void expect_silence(duration wait, duration limit, instant since,
                        const std::source_location& where) {
        if (const auto m = core_->next(wait, where); m != nullptr)
            core_->fail("received unexpected message " + m->text() + " after " +
                            describe(core_->host().now() - since) + " of " + describe(limit) +
                            " without any",
                        where);
    }
    template <class T>
    [[nodiscard]] T take(received_message& m, const std::string& expected,
                         const std::source_location& where) {
        if (&m.type() != &message_type_of<T>)
            core_->fail("expected " + expected + ", found " + m.text() + " of type " +
                            std::string(m.type().name),
                        where);
        return std::move(static_cast<received_of<T>&>(m).value);
    }
    [[nodiscard]] duration rest(instant since, duration limit) const {
        const duration left = since + limit - core_->host().now();
        return left > duration::zero() ? left : duration::zero();
    }

    std::unique_ptr<detail::system_host> own_;
    std::shared_ptr<probe_core> core_;
};

}  // namespace tactus::inline v0::test
