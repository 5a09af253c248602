// SPDX-License-Identifier: Apache-2.0
//
// Circuit breaker: spares a service that fails, and who waits for it (C-PAT-1 to C-PAT-3).
//
//     auto call = breaker.try_call();
//     if (!call)
//         return refuse(call.error().remaining);   // at once
//     auto answer = co_await ask<int>(service, question, 1_s);
//     answer ? call->succeed() : call->fail();
//
// Closed, calls pass; as many failures in a row as `max_failures` open it. Open, calls are refused
// for the reset time. Then it is half open: one call passes, and decides.
//
//     state      on         then
//     closed     success    closed      the count starts again
//     closed     failure    closed      one more
//     closed     too_many   open
//     open       due        half_open
//     half_open  success    closed      the reset time is the first one again
//     half_open  failure    open        the reset time grows by the factor
//
// A call that takes longer than call_timeout has failed, whatever it says at its end; so has one
// that ends without a word. What a call says that began before the state last changed counts no
// more. There is no timer: that the time has come is seen by who looks, and told then.
//
// Thread safety: any thread. Events are told on the thread that causes them, after the change.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <type_traits>
#include <utility>

#include <tactus/port/port.hpp>
#include <tactus/time/clock.hpp>

namespace tactus::inline v0 {

enum class breaker_state : std::uint8_t { closed, open, half_open };
inline constexpr std::size_t breaker_state_count = 3;
[[nodiscard]] const char* name_of(breaker_state s) noexcept;

/// What a breaker tells; all of it may be left out.
class breaker_events {
public:
    virtual void opened() noexcept {}
    virtual void half_opened() noexcept {}
    virtual void closed() noexcept {}
    virtual void call_succeeded(duration took) noexcept { (void)took; }
    virtual void call_failed(duration took) noexcept { (void)took; }
    virtual void call_timed_out(duration took) noexcept { (void)took; }
    virtual void call_refused(duration remaining) noexcept { (void)remaining; }

protected:
    ~breaker_events() = default;
};

/// A call was refused; it may be worth trying after this.
struct breaker_open {
    duration remaining;  // zero: half open, and a call is on its way
};

class circuit_breaker {
public:
    struct options {
        const clock* time = nullptr;  // required (check circuit_breaker:1); outlives this
        std::uint32_t max_failures = 5;
        duration call_timeout = duration::from_s(10);
        duration reset_timeout = duration::from_s(30);
        std::uint32_t reset_factor = 1;  // by which it grows with every failed trial
        duration reset_timeout_max = duration::from_s(std::int64_t{24} * 3'600);
        breaker_events* events = nullptr;  // outlives this
    };
    explicit circuit_breaker(const options& o) noexcept;
    circuit_breaker(const circuit_breaker&) = delete;
    circuit_breaker& operator=(const circuit_breaker&) = delete;

    /// A call that passes. What it comes to is said once; its end without a word is a failure.
    class [[nodiscard]] call {
    public:
        call(call&& other) noexcept
            : of_(std::exchange(other.of_, nullptr)), epoch_(other.epoch_), since_(other.since_) {}
        call& operator=(call&&) = delete;
        ~call() { fail(); }
        void succeed() noexcept { end(true); }
        void fail() noexcept { end(false); }

    private:
        friend class circuit_breaker;
        call(circuit_breaker& of, std::uint32_t epoch, instant since) noexcept
            : of_(&of), epoch_(epoch), since_(since) {}
        void end(bool well) noexcept {
            if (circuit_breaker* of = std::exchange(of_, nullptr))
                of->ended(epoch_, since_, well);
        }
        circuit_breaker* of_;
        std::uint32_t epoch_;
        instant since_;
    };
    [[nodiscard]] std::expected<call, breaker_open> try_call() noexcept;

    /// Calls `work` if it passes. A result that is an error of its own (std::expected) is a
    /// failure, or what `is_failure` says is one, or an exception, which goes on.
    template <std::invocable F, class R = std::invoke_result_t<F>>
    [[nodiscard]] std::expected<R, breaker_open> with(F&& work) {
        return with(std::forward<F>(work), [](const R& result) {
            if constexpr (requires { result.has_value(); })
                return !result.has_value();
            else
                return false;
        });
    }
    template <std::invocable F, class IsFailure, class R = std::invoke_result_t<F>>
        requires std::predicate<IsFailure, const R&>
    [[nodiscard]] std::expected<R, breaker_open> with(F&& work, IsFailure&& is_failure) {
        auto passed = try_call();
        if (!passed)
            return std::unexpected(passed.error());
        R result = std::invoke(std::forward<F>(work));
        if (std::invoke(std::forward<IsFailure>(is_failure), std::as_const(result)))
            passed->fail();
        else
            passed->succeed();
        return result;
    }

    /// As if a call had ended so just now; nothing while it is open.
    void succeed() noexcept { say(true); }
    void fail() noexcept { say(false); }

    [[nodiscard]] breaker_state state() noexcept;
    /// In a row, since it was closed.
    [[nodiscard]] std::uint32_t failure_count() noexcept;

    enum class event : std::uint8_t { success, failure, too_many, due };
    static constexpr std::size_t event_count = 4;
    struct row {
        breaker_state from;
        event on;
        breaker_state to;
    };
    static const row rows[];
    static const std::size_t row_count;

private:
    /// What has to be told, when the lock is free again.
    enum class news : std::uint8_t { none, opened, half_opened, closed };

    void ended(std::uint32_t epoch, instant since, bool well) noexcept;
    void say(bool well) noexcept;
    [[nodiscard]] news look(instant now) noexcept;
    [[nodiscard]] news note(bool well, instant now) noexcept;
    [[nodiscard]] news move(event on, instant now) noexcept;
    void tell(news what) noexcept;

    const options options_;
    port::mutex mutex_;
    // Under the mutex
    breaker_state state_ = breaker_state::closed;
    bool trial_ = false;  // half open: a call is on its way
    instant trial_since_;
    std::uint32_t failures_ = 0;
    std::uint32_t epoch_ = 0;  // of states
    duration reset_ = duration::zero();
    instant reopens_;
};

}  // namespace tactus::inline v0
