// SPDX-License-Identifier: Apache-2.0
//
// Asking from outside without waiting (AS-1): the answer is a std::future.
//
//     auto answer = ask_future<int>(system, ref, [](auto me) { return total{me}; }, 1s);
//     ...
//     if (answer.get() == 5050)
//
// The reply comes to an actor made for it, which has the timeout as a timer, so that no thread
// waits; max() is no timeout. Whatever happens, the future gets a value: a reply, or why there is
// none. When the system ends first, that is target_terminated.
//
// Thread safety: any thread; within an actor too, as long as nobody there waits for it.
#pragma once

#include <algorithm>
#include <chrono>
#include <expected>
#include <future>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <tactus/runtime/actor_system.hpp>

namespace tactus::inline v0 {
namespace detail {

/// An answer that is owed: wherever it ends, somebody gets it.
template <class R>
class owed_answer {
public:
    using answer = std::expected<R, ask_error>;

    explicit owed_answer(ask_error why) : to_(std::in_place), why_(std::move(why)) {}
    owed_answer(owed_answer&& other) noexcept
        : to_(std::exchange(other.to_, std::nullopt)), why_(std::move(other.why_)) {}
    owed_answer& operator=(owed_answer&&) = delete;
    ~owed_answer() { fail(ask_error::kind::target_terminated); }

    [[nodiscard]] std::future<answer> future() { return to_->get_future(); }
    [[nodiscard]] duration timeout() const { return duration::from_ns(why_.after.count()); }
    void reply(R&& value) {
        if (auto to = std::exchange(to_, std::nullopt))
            to->set_value(std::move(value));
    }
    void fail(ask_error::kind what) {
        why_.what = what;
        if (auto to = std::exchange(to_, std::nullopt))
            to->set_value(std::unexpected(why_));
    }

private:
    std::optional<std::promise<answer>> to_;
    ask_error why_;
};

struct gave_up {};

template <class R>
class future_box : public actor<R, gave_up> {
public:
    future_box(owed_answer<R> to, instant asked_at) : to_(std::move(to)), asked_at_(asked_at) {}

    void pre_start() {
        if (to_.timeout() == duration::max())
            return;
        // Counted from the question: where workers are busy this comes later.
        const duration passed = this->context().world().kernel().time()->now() - asked_at_;
        const duration rest = std::max(to_.timeout() - passed, duration::from_ns(1));
        if (!this->context().start_single_timer(1, gave_up{}, rest))
            end(ask_error::kind::no_room);
    }
    void on(R&& reply) {
        to_.reply(std::move(reply));
        this->context().stop();
    }
    void on(gave_up) { end(ask_error::kind::timeout); }

private:
    void end(ask_error::kind what) {
        to_.fail(what);
        this->context().stop();
    }

    owed_answer<R> to_;
    instant asked_at_;
};

}  // namespace detail

template <class R, class Target, class Make>
[[nodiscard]] std::future<std::expected<R, ask_error>> ask_future(
    actor_system& system, const Target& target, Make&& make, std::chrono::nanoseconds timeout) {
    using message = std::remove_cvref_t<std::invoke_result_t<Make, actor_ref<R>>>;
    const ask_error why{ask_error::kind::invalid_timeout, any_ref(target), timeout,
                        message_type_of<message>.name, system.path_of(any_ref(target))};
    const auto failed = [&](ask_error::kind what) {
        detail::owed_answer<R> at_once(why);
        auto result = at_once.future();
        at_once.fail(what);
        return result;
    };
    const bool ends = timeout != std::chrono::nanoseconds::max();
    if (timeout <= std::chrono::nanoseconds::zero() ||
        (ends && duration::from_ns(timeout.count()) > system.scheduler().maximum_delay()))
        return failed(ask_error::kind::invalid_timeout);
    detail::owed_answer<R> later(why);
    auto result = later.future();
    actor_world& world = system.world();
    auto r = detail::request_for<detail::future_box<R>>(world.memory(), {}, {}, std::move(later),
                                                        world.kernel().time()->now());
    if (!r)
        return failed(ask_error::kind::no_room);
    const auto box = world.spawn_orphan(*r);
    if (!box)
        return failed(world.terminating() ? ask_error::kind::target_terminated
                                          : ask_error::kind::no_room);
    const auto sent_it = target.try_tell(std::forward<Make>(make)(actor_ref<R>(any_ref(*box))));
    if (sent_it)
        return result;
    (void)world.stop(*box);
    return failed(detail::fault_of(sent_it.error().why));
}

}  // namespace tactus::inline v0
