// SPDX-License-Identifier: Apache-2.0
//
// Blocking wait: a thread outside waits for what a task would co_await; see wait_awaiter.hpp.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

#include <tactus/actor/wait_awaiter.hpp>

namespace tactus::inline v0::detail {

/// As wait_for, also for a time whose end no clock can say, as that of max(): it never comes.
template <class Condition>
bool wait_at_most(std::condition_variable& changed, std::unique_lock<std::mutex>& held,
                  std::chrono::nanoseconds limit, Condition&& condition) {
    using steady = std::chrono::steady_clock;
    if (limit < steady::time_point::max() - steady::now())
        return changed.wait_for(held, limit, std::forward<Condition>(condition));
    changed.wait(held, std::forward<Condition>(condition));
    return true;
}

class thread_waker final : public waker {
public:
    void wake() noexcept override {
        // Who waits may go on, and this be gone, as soon as it sees it.
        const std::shared_ptr<place> to = place_;
        {
            const std::lock_guard held(to->mutex);
            to->woken = true;
        }
        to->changed.notify_all();
    }
    /// True: it was woken within the time. For who may outlive the scheduler, so has no timer.
    bool wait(std::chrono::nanoseconds limit) {
        std::unique_lock held(place_->mutex);
        return wait_at_most(place_->changed, held, limit, [this] { return place_->woken; });
    }
    void wait() {
        std::unique_lock held(place_->mutex);
        place_->changed.wait(held, [this] { return place_->woken; });
    }

private:
    struct place {
        std::mutex mutex;
        std::condition_variable changed;
        bool woken = false;
    };
    const std::shared_ptr<place> place_ = std::make_shared<place>();
};

/// Its limit is the source's: a timer of the scheduler. `limit` is for a source whose own limit no
/// timer can count.
template <wait_source Source>
typename Source::result wait_here(
    typename Source::request&& what,
    std::chrono::nanoseconds limit = std::chrono::nanoseconds::max()) {
    thread_waker woken;
    Source source(std::move(what), woken, {});
    if (source.start() && !woken.wait(limit) && !source.give_up())
        woken.wait();  // it was decided meanwhile
    return source.take();
}

}  // namespace tactus::inline v0::detail
