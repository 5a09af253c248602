// SPDX-License-Identifier: Apache-2.0
//
// Pending delay: a span of time that passes, for code outside actors (SC-13). It is asked, and may
// wake somebody; the same in a loop on bare metal, under a clock set by hand, and on a host.
//
//     pending_delay rest = timers.delay(duration::from_ms(5));
//     ...
//     if (const auto over = rest.poll())      // nothing: not yet
//         use(*over);                         // the batch of its job, or why there is none
//
// It says one thing and stays with it: the batch, when the time has passed; why it was refused; or
// that the scheduler was closed meanwhile. It never says that time has passed when it has not.
//
// The scheduler tells it exactly once of each job: it was due, or it was cancelled, by this object
// or because everything was. What ends this object cancels, and waits until it was told: another
// thread may be about to.
//
// Invariants
//   D1  who tells does not touch this object after `telling` is gone from the word
//   D2  the waker is called at most once, and never after the destructor has begun unless it was
//       being called then
//
// Thread safety: poll from any thread. Its end is not the waker's business.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>

#include <tactus/scheduler/scheduler.hpp>

namespace tactus::inline v0 {

class pending_delay final : private waker {
public:
    using result = std::expected<execution_batch, scheduler_error>;

    /// Begins to wait. The scheduler lives until this has ended or has something to say; so does
    /// `to_wake`, which is called when it has, unless it has at once. It must not block.
    pending_delay(scheduler& timers, duration d, waker* to_wake = nullptr,
                  bool goes_on = false) noexcept;
    pending_delay(const pending_delay&) = delete;
    pending_delay& operator=(const pending_delay&) = delete;
    /// Cancels what has not come yet.
    ~pending_delay();

    /// Nothing: not yet.
    [[nodiscard]] std::optional<result> poll() const noexcept;
    /// The job, while it waits.
    [[nodiscard]] job_id job() const noexcept { return made_ ? made_->id() : job_id{}; }

private:
    enum state : std::uint32_t {
        waiting = 0,
        due = 1,
        closed = 2,
        no_memory = 3,   // for a timer that another thread was to put in
        what = 3,        // the bits of these
        telling = 4,     // somebody calls the waker
        is_dropped = 8,  // nobody is to be woken any more
    };

    void wake() noexcept override { tell(due); }
    static void was_cancelled(void* self) noexcept;
    static const detail::cargo_type tells;
    void tell(state how) noexcept;

    scheduler& timers_;
    waker* const to_wake_;
    // "job-state" (job.hpp): who tells has done so before its end is seen here.
    port::atomic<std::uint32_t> word_{waiting};
    const std::expected<cancellable, scheduler_error> made_;  // the last: it may be told at once
};

inline pending_delay scheduler::delay(duration d) noexcept {
    return {*this, d};
}

}  // namespace tactus::inline v0
