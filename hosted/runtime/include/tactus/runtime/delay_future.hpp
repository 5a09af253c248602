// SPDX-License-Identifier: Apache-2.0
//
// Delay future: a span of time that a thread outside can wait for, or look at (SC-13); a waiting
// face of pending_delay.hpp, which has the rest.
//
//     delay_future rest(system.scheduler(), 5_ms);
//     ...
//     if (rest.wait(1s) && rest.poll()->has_value())      // the time has passed
//
// It is cancelled when it ends before. When the system ends first, it says `closed`.
//
// Thread safety: wait and poll from any thread.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include <tactus/dispatch/worker.hpp>
#include <tactus/runtime/blocking_wait.hpp>
#include <tactus/scheduler/pending_delay.hpp>

namespace tactus::inline v0 {

class delay_future {
public:
    using result = pending_delay::result;

    delay_future(scheduler& timers, duration d) : parts_(std::make_unique<parts>(timers, d)) {}

    /// The batch, or why there is none; nothing: not yet.
    [[nodiscard]] std::optional<result> poll() const noexcept { return parts_->later.poll(); }
    /// True: poll() has something to say. Within an actor, and where timers are fired, nothing may
    /// wait: there it says at once whether it has.
    bool wait(std::chrono::nanoseconds limit = std::chrono::nanoseconds::max()) {
        if (!poll() && worker::current() == nullptr && !scheduler::fires_here())
            (void)parts_->woken.wait(limit);
        return poll().has_value();
    }

private:
    struct parts {
        parts(scheduler& timers, duration d) : later(timers, d, &woken) {}
        detail::thread_waker woken;
        pending_delay later;
    };
    std::unique_ptr<parts> parts_;
};

}  // namespace tactus::inline v0
