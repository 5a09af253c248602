// SPDX-License-Identifier: Apache-2.0
//
// Asking from outside without waiting (AS-1): the answer is a std::future.
//
//     auto answer = ask_future<int>(system, ref, [](auto me) { return total{me}; }, 1s);
//     ...
//     if (answer.get() == 5050)
//
// The reply comes to an actor made for it, and so does the end of its time, so that no thread
// waits; max() is no timeout. Whatever happens, the future gets a value: a reply, or why there is
// none. When the system ends first, that is target_terminated: no later than wait() returns true.
//
// Within an actor nothing waits (UP-3): get() of an answer that has not come gives
// would_block_worker at once, and the answer may be looked at again later.
//
// Thread safety: any thread.
#pragma once

#include <chrono>
#include <expected>
#include <future>
#include <memory>
#include <type_traits>
#include <utility>

#include <tactus/runtime/actor_system.hpp>
#include <tactus/runtime/owed_answers.hpp>

namespace tactus::inline v0 {
namespace detail {

/// The promise of an answer, kept at the latest by its destructor or by the end of the system.
template <class R>
class owed_answer {
public:
    using answer = std::expected<R, ask_error>;

    owed_answer(owed_answers& all, ask_error why)
        : it_(std::make_unique<entry>(all, std::move(why))) {}
    owed_answer(owed_answer&&) noexcept = default;
    owed_answer& operator=(owed_answer&&) = delete;
    ~owed_answer() {
        if (it_ != nullptr)
            fail(ask_error::kind::target_terminated);
    }

    [[nodiscard]] std::future<answer> future() { return it_->to.get_future(); }
    /// False: the system had ended before, and that is the answer.
    [[nodiscard]] bool is_open() const noexcept { return it_->was_added; }
    void reply(R&& value) { it_->reply(std::move(value)); }
    void fail(ask_error::kind what) noexcept { it_->fail(what); }

private:
    // In memory of its own: it is listed by its address, and the promise moves between threads.
    struct entry final : owed_answers::entry {
        entry(owed_answers& list, ask_error e)
            : all(list), why(std::move(e)), was_added(all.add(*this)) {
            if (!was_added)
                give(ask_error::kind::target_terminated);
        }
        void reply(R&& value) {
            if (!all.take(*this))
                return;
            // Moving the reply is user code: when it throws, the future still gets an answer.
            try {
                to.set_value(answer(std::in_place, std::move(value)));
            } catch (...) {
                give(ask_error::kind::reply_failed);
            }
        }
        void fail(ask_error::kind what) noexcept {
            if (all.take(*this))
                give(what);
        }
        /// Once, without memory: the text is moved, not copied.
        void give(ask_error::kind what) noexcept {
            why.what = what;
            to.set_value(std::unexpected(std::move(why)));
        }
        void system_ended() noexcept override { give(ask_error::kind::target_terminated); }

        owed_answers& all;
        std::promise<answer> to;
        ask_error why;
        const bool was_added;  // last: from then on the end of the system may answer
    };
    std::unique_ptr<entry> it_;  // null: moved from
};

struct gave_up {};
/// Comes before any reply.
struct give_up_by {
    cancellable timer;
};

template <class R>
class future_box : public actor<R, gave_up, give_up_by> {
public:
    explicit future_box(owed_answer<R> to) : to_(std::move(to)) {}

    void on(const give_up_by& m) { timer_ = m.timer; }
    void on(R&& reply) {
        to_.reply(std::move(reply));
        this->context().stop();
    }
    void on(gave_up) {
        to_.fail(ask_error::kind::timeout);
        this->context().stop();
    }
    void post_stop() { (void)timer_.cancel(); }

private:
    owed_answer<R> to_;
    cancellable timer_;
};

/// The timer of a question that was not asked, be it that making the message threw.
struct unasked_timer {
    cancellable timer;
    bool was_asked = false;
    ~unasked_timer() {
        if (!was_asked)
            (void)timer.cancel();
    }
};

}  // namespace detail

/// A std::future that does not wait on a worker, nor where timers fire: such a thread may be the
/// one that the answer needs. Moved into a plain std::future it is one.
template <class R>
class answer_future : public std::future<std::expected<R, ask_error>> {
public:
    using answer = std::expected<R, ask_error>;
    using base = std::future<answer>;

    answer_future() = default;
    answer_future(base&& from, const ask_error& why) : base(std::move(from)), why_(why) {}

    /// The answer. On a thread that must not wait, and before it has come: would_block_worker, and
    /// the future stays valid.
    [[nodiscard]] answer get() {
        if (waits_here() || is_ready())
            return base::get();
        ask_error refused = why_;
        refused.what = ask_error::kind::would_block_worker;
        return std::unexpected(std::move(refused));
    }
    [[nodiscard]] bool is_ready() const {
        return base::wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    }
    /// These return at once on a thread that must not wait.
    void wait() const {
        if (waits_here())
            base::wait();
    }
    template <class Rep, class Period>
    std::future_status wait_for(const std::chrono::duration<Rep, Period>& limit) const {
        return base::wait_for(waits_here() ? limit : limit.zero());
    }
    template <class Clock, class Duration>
    std::future_status wait_until(const std::chrono::time_point<Clock, Duration>& end) const {
        return waits_here() ? base::wait_until(end) : base::wait_for(std::chrono::seconds(0));
    }

private:
    [[nodiscard]] static bool waits_here() noexcept {
        return worker::current() == nullptr && !scheduler::fires_here();
    }
    ask_error why_{};
};

template <class R, class Target, class Make>
[[nodiscard]] answer_future<R> ask_future(actor_system& system, const Target& target, Make&& make,
                                          std::chrono::nanoseconds timeout) {
    using message = std::remove_cvref_t<std::invoke_result_t<Make, actor_ref<R>>>;
    const ask_error why{ask_error::kind::invalid_timeout, any_ref(target), timeout,
                        message_type_of<message>.name, system.path_of(any_ref(target))};
    const auto failed = [&](ask_error::kind what) {
        std::promise<std::expected<R, ask_error>> at_once;
        answer_future<R> result(at_once.get_future(), why);
        ask_error error = why;
        error.what = what;
        at_once.set_value(std::unexpected(std::move(error)));
        return result;
    };
    if (const auto refused = system.ask_refused()) [[unlikely]]
        return failed(*refused);
    const bool ends = timeout != std::chrono::nanoseconds::max();
    if (timeout <= std::chrono::nanoseconds::zero() ||
        (ends && duration::from_ns(timeout.count()) > system.scheduler().maximum_delay()))
        return failed(ask_error::kind::invalid_timeout);
    detail::owed_answer<R> later(system.owed_answers(), why);
    answer_future<R> result(later.future(), why);
    if (!later.is_open())
        return result;
    actor_world& world = system.world();
    auto r = detail::request_for<detail::future_box<R>>(world.memory(), {}, {}, std::move(later));
    if (!r)
        return failed(ask_error::kind::no_room);
    const auto box = world.spawn_orphan(*r);
    if (!box)
        return failed(world.terminating() ? ask_error::kind::target_terminated
                                          : ask_error::kind::no_room);
    detail::unanswered_box unanswered{world, *box};
    detail::unasked_timer unasked;
    if (ends) {
        // Before the question: without a timer it is not asked.
        const actor_ref<detail::gave_up, detail::give_up_by> waits{any_ref(*box)};
        job_request limit = job_request::once(duration::from_ns(timeout.count()),
                                              system.scheduler().runtime_policy().one_shot)
                                .send(*box, {});
        limit.goes_on = true;  // back-pressure after a pause does not fail a question
        const auto timer = system.scheduler().add(limit, detail::gave_up{});
        if (!timer)
            return failed(world.terminating() ? ask_error::kind::target_terminated
                                              : ask_error::kind::no_room);
        unasked.timer = *timer;
        waits.tell(detail::give_up_by{*timer});
    }
    const auto sent_it = target.try_tell(std::forward<Make>(make)(actor_ref<R>(any_ref(*box))));
    if (!sent_it)
        return failed(detail::fault_of(sent_it.error().why));
    unanswered.box = {};
    unasked.was_asked = true;
    return result;
}

}  // namespace tactus::inline v0
