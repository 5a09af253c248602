// SPDX-License-Identifier: Apache-2.0
//
// Guarded user code: what the kernel calls beside handlers, for users whose code may throw (UP-4).
//
// The kernel's interfaces are noexcept, so an implementation that throws ends the program. Each
// adapter here implements one of them over a user's class with the same functions; it is compiled
// where the user's code is and turns what is thrown into the harmless answer, a count, and an
// event:
//
//   enqueue_middleware_of   the message goes its way
//   spawn_middleware_of     the spawn is refused; the reason is spawn_middleware_failed
//   tracer_of               the message is not traced; a mark, or a fact, is left out
//   governor_of             no preference
//   load_probe_of           zeros
//   kernel_events_of        what is shown is disposed of all the same; counted only
//
// Thread safety: as the interface; the count may be read by anybody.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <tactus/dispatch/behaviour.hpp>
#include <tactus/dispatch/events.hpp>
#include <tactus/dispatch/governor.hpp>
#include <tactus/dispatch/middleware.hpp>

namespace tactus::inline v0 {

/// The reason of a spawn that was refused because the middleware asked about it threw.
inline constexpr const char* spawn_middleware_failed = "the spawn middleware failed";

/// Calls user code of one kind; counts what it throws, and tells.
class user_calls {
public:
    /// `told` may be null; it outlives this.
    user_calls(user_code kind, kernel_events* told) noexcept : kind_(kind), told_(told) {}

    /// False when it threw.
    template <class Call>
    bool operator()(Call&& call) noexcept {
        const handled result = call_user(std::forward<Call>(call));
        if (result.is_ok()) [[likely]]
            return true;
        failures_.fetch_add(1, std::memory_order_relaxed);  // a count
        if (told_ != nullptr)
            told_->user_code_failed(kind_, result.why());
        return false;
    }
    [[nodiscard]] std::uint32_t failure_count() const noexcept {
        return failures_.load(std::memory_order_relaxed);
    }

private:
    user_code kind_;
    kernel_events* told_;
    port::atomic<std::uint32_t> failures_{0};
};

/// `void enqueuing(mailbox_index, const message_type&)`.
template <class User>
class enqueue_middleware_of final : public enqueue_middleware {
public:
    explicit enqueue_middleware_of(User& user, kernel_events* told = nullptr) noexcept
        : user_(user), calls_(user_code::enqueue_middleware, told) {}
    void enqueuing(mailbox_index to, const message_type& type) noexcept override {
        calls_([&] { user_.enqueuing(to, type); });
    }
    [[nodiscard]] std::uint32_t failure_count() const noexcept { return calls_.failure_count(); }

private:
    User& user_;
    user_calls calls_;
};

/// `const char* spawning(const spawn_middleware::request&)`.
template <class User>
class spawn_middleware_of final : public spawn_middleware {
public:
    explicit spawn_middleware_of(User& user, kernel_events* told = nullptr) noexcept
        : user_(user), calls_(user_code::spawn_middleware, told) {}
    [[nodiscard]] const char* spawning(const request& r) noexcept override {
        const char* reason = nullptr;
        return calls_([&] { reason = user_.spawning(r); }) ? reason : spawn_middleware_failed;
    }
    [[nodiscard]] std::uint32_t failure_count() const noexcept { return calls_.failure_count(); }

private:
    User& user_;
    user_calls calls_;
};

/// `std::int64_t begin(mailbox_index from, mailbox_index to, const message_type&)` and
/// `void mark(std::int64_t, tracer::point, mailbox_index)`; `void carry(std::int64_t, span_fact,
/// std::uint64_t)` may be left out.
template <class User>
class tracer_of final : public tracer {
public:
    explicit tracer_of(User& user, kernel_events* told = nullptr) noexcept
        : user_(user), calls_(user_code::tracer, told) {}
    [[nodiscard]] std::int64_t begin(mailbox_index from, mailbox_index to,
                                     const message_type& type) noexcept override {
        std::int64_t span = 0;
        return calls_([&] { span = user_.begin(from, to, type); }) ? span : 0;
    }
    void mark(std::int64_t span, point where, mailbox_index who) noexcept override {
        calls_([&] { user_.mark(span, where, who); });
    }
    void carry(std::int64_t span, span_fact what, std::uint64_t value) noexcept override {
        if constexpr (requires { user_.carry(span, what, value); })
            calls_([&] { user_.carry(span, what, value); });
    }
    [[nodiscard]] std::uint32_t failure_count() const noexcept { return calls_.failure_count(); }

private:
    User& user_;
    user_calls calls_;
};

/// `suggestion suggest(const load_snapshot&)`.
template <class User>
class governor_of final : public governor {
public:
    explicit governor_of(User& user, kernel_events* told = nullptr) noexcept
        : user_(user), calls_(user_code::governor, told) {}
    [[nodiscard]] suggestion suggest(const load_snapshot& snapshot) noexcept override {
        suggestion said = suggestion::no_preference;
        return calls_([&] { said = user_.suggest(snapshot); }) ? said : suggestion::no_preference;
    }
    [[nodiscard]] std::uint32_t failure_count() const noexcept { return calls_.failure_count(); }

private:
    User& user_;
    user_calls calls_;
};

/// `load_snapshot measure()`.
template <class User>
class load_probe_of final : public load_probe {
public:
    explicit load_probe_of(User& user, kernel_events* told = nullptr) noexcept
        : user_(user), calls_(user_code::load_probe, told) {}
    [[nodiscard]] load_snapshot measure() noexcept override {
        load_snapshot seen;
        return calls_([&] { seen = user_.measure(); }) ? seen : load_snapshot{};
    }
    [[nodiscard]] std::uint32_t failure_count() const noexcept { return calls_.failure_count(); }

private:
    User& user_;
    user_calls calls_;
};

/// The functions of kernel_events; pressure, suspended, resumed and
/// pool_exhausted may be left out.
template <class User>
class kernel_events_of final : public kernel_events {
public:
    explicit kernel_events_of(User& user) noexcept
        : user_(user), calls_(user_code::kernel_events, nullptr) {}
    void dead_letter(mailbox_index to, envelope& message,
                     dead_letter_cause cause) noexcept override {
        calls_([&] { user_.dead_letter(to, message, cause); });
    }
    void message_lost(mailbox_index to, const message_type& type,
                      dead_letter_cause cause) noexcept override {
        calls_([&] { user_.message_lost(to, type, cause); });
    }
    void system_dead_letter(mailbox_index to, system_message& message) noexcept override {
        calls_([&] { user_.system_dead_letter(to, message); });
    }
    void mailbox_closed(mailbox_index who, std::size_t system_drained,
                        std::size_t user_drained) noexcept override {
        calls_([&] { user_.mailbox_closed(who, system_drained, user_drained); });
    }
    void actor_failed(mailbox_index who, const failure& why) noexcept override {
        calls_([&] { user_.actor_failed(who, why); });
    }
    void deadline_missed(mailbox_index who, std::int64_t late_ns) noexcept override {
        calls_([&] { user_.deadline_missed(who, late_ns); });
    }
    void pressure(const mailbox_pressure& what) noexcept override {
        if constexpr (requires { user_.pressure(what); })
            calls_([&] { user_.pressure(what); });
    }
    void suspended(mailbox_index who, held_reason why) noexcept override {
        if constexpr (requires { user_.suspended(who, why); })
            calls_([&] { user_.suspended(who, why); });
    }
    void resumed(mailbox_index who) noexcept override {
        if constexpr (requires { user_.resumed(who); })
            calls_([&] { user_.resumed(who); });
    }
    void pool_exhausted(std::uint32_t refused) noexcept override {
        if constexpr (requires { user_.pool_exhausted(refused); })
            calls_([&] { user_.pool_exhausted(refused); });
    }
    void user_code_failed(user_code where, const failure& why) noexcept override {
        calls_([&] { user_.user_code_failed(where, why); });
    }
    [[nodiscard]] std::uint32_t failure_count() const noexcept { return calls_.failure_count(); }

private:
    User& user_;
    user_calls calls_;
};

}  // namespace tactus::inline v0
