// SPDX-License-Identifier: Apache-2.0
//
// Retry: to try again, a limited number of times, with time between (C-PAT-4).
//
// In an actor's coroutine; what is tried gives a std::expected, or is something to co_await that
// gives one:
//
//     auto answer = co_await retry({.retries = 3, .delay = duration::from_ms(100)}, [&] {
//         return ask<int>(service, question, duration::from_s(1));
//     });
//
// Elsewhere retry_counter says whether, and after what time, to try again. The first try is no
// retry: `retries` 0 is one try. An exception is a failure, too; the last one goes on to who
// awaits. So does what came last when there is no timer for the time between (SC-13): a scheduler
// that takes no more is not helped by tries that follow each other at once.
#pragma once

#include <cstdint>
#if defined(__cpp_exceptions)
#include <exception>
#endif
#include <optional>
#include <type_traits>
#include <utility>

#include <tactus/actor/actor_context.hpp>
#include <tactus/actor/task.hpp>
#include <tactus/time/instant.hpp>

namespace tactus::inline v0 {

struct retry_options {
    std::uint32_t retries = 3;
    duration delay = duration::zero();  // before each
    std::uint32_t factor = 1;           // by which it grows each time
    duration delay_max = duration::from_s(60);
    duration (*delay_of)(std::uint32_t retry) = nullptr;  // instead: of the first, 1, and so on
};

/// Counts the retries of one attempt.
class retry_counter {
public:
    explicit retry_counter(const retry_options& o) noexcept : how_(o), delay_(o.delay) {}
    /// After a failure: how long to wait before the next try; none: that was the last.
    [[nodiscard]] std::optional<duration> next() noexcept {
        if (count_ == how_.retries)
            return std::nullopt;
        ++count_;
        if (how_.delay_of != nullptr)
            return how_.delay_of(count_);
        const duration now = delay_ < how_.delay_max ? delay_ : how_.delay_max;
        delay_ = delay_ * how_.factor;
        return now;
    }
    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }

private:
    retry_options how_;
    duration delay_;
    std::uint32_t count_ = 0;
};

namespace detail {

struct has_no_value {
    template <class R>
    [[nodiscard]] bool operator()(const R& result) const noexcept {
        return !result.has_value();
    }
};

template <class T>
concept tried_at_once = requires(const T& t) {
    t.has_value();
    t.error();
};

template <class T>
struct awaited {
    using type = decltype(std::declval<T>().await_resume());
};
template <class T>
struct awaited<task<T>> {
    using type = T;
};
template <class T>
    requires tried_at_once<T>
struct awaited<T> {
    using type = T;
};
template <class Make>
using result_of_try = typename awaited<std::invoke_result_t<Make&>>::type;

/// One try.
template <class Make, class R = result_of_try<Make>>
task<R> try_once(Make& make) {
    if constexpr (tried_at_once<std::invoke_result_t<Make&>>)
        co_return make();
    else
        co_return co_await make();
}

template <class Make, class IsFailure>
task<result_of_try<Make>> retry_by(retry_options how, Make make, IsFailure is_failure) {
    using result = result_of_try<Make>;
    retry_counter counter(how);
    for (;;) {
        std::optional<result> tried;
#if defined(__cpp_exceptions)
        std::exception_ptr thrown;
        try {
#endif
            result given = co_await try_once(make);
            if (!is_failure(std::as_const(given)))
                co_return given;
            tried.emplace(std::move(given));
#if defined(__cpp_exceptions)
        } catch (...) {
            thrown = std::current_exception();
        }
#endif
        const std::optional<duration> wait = counter.next();
        bool goes_on = wait.has_value();
        if (goes_on && *wait > duration::zero()) {
            const auto waited = co_await actor_context(*turn::current()).delay(*wait);
            goes_on = waited.has_value();
        }
        if (goes_on)
            continue;
#if defined(__cpp_exceptions)
        if (thrown)
            std::rethrow_exception(thrown);
#endif
        co_return std::move(*tried);
    }
}

}  // namespace detail

/// A task. `is_failure(result)` says what is tried again; by default what has no value.
template <class Make, class IsFailure = detail::has_no_value>
[[nodiscard]] auto retry(const retry_options& how, Make&& make, IsFailure&& is_failure = {}) {
    auto made = detail::retry_by<std::decay_t<Make>, std::decay_t<IsFailure>>(
        how, std::forward<Make>(make), std::forward<IsFailure>(is_failure));
    if constexpr (detail::function_needs_name<Make> || detail::function_needs_name<IsFailure>)
        return detail::unnamed_task(std::move(made));
    else
        return made;
}

}  // namespace tactus::inline v0
