// SPDX-License-Identifier: Apache-2.0
//
// Job delivery: while one lives, the next message this thread sends is a timer's (OH-7).
//
// Whoever keeps timers says so around the send; the span of that message, if it has one, carries
// the job. It is a note of the thread, not a part of the message: an envelope has no room for it,
// senders that are no timers pay nothing, and it is read only where somebody traces.
//
//     const job_delivery now(job);
//     actor_scheduler::tell(to, message);
//
// Owner thread only; deliveries nest.
#pragma once

#include <utility>

#include <tactus/dispatch/events.hpp>
#include <tactus/port/port.hpp>

namespace tactus::inline v0 {

class job_delivery {
public:
    explicit job_delivery(job_id job) noexcept : before_(std::exchange(current(), job)) {}
    ~job_delivery() { current() = before_; }
    job_delivery(const job_delivery&) = delete;
    job_delivery& operator=(const job_delivery&) = delete;

    /// What the message about to be sent is delivered for, once: what its receiver, or whoever
    /// traces it, sends on this thread is none of the timer's. 0: nothing.
    [[nodiscard]] static job_id take() noexcept { return std::exchange(current(), 0); }

private:
    struct thread_state {
        job_id job = 0;
    };
    [[nodiscard]] static job_id& current() noexcept {
        return port::thread_instance<thread_state>().job;
    }

    job_id before_;
};

}  // namespace tactus::inline v0
