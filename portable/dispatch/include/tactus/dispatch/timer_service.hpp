// SPDX-License-Identifier: Apache-2.0
//
// Timer service: through which the runtime itself waits (TM-1, TM-2): timers of actors, receive
// timeouts, questions, delays, suspensions. What a timer means its owner knows; the service says
// that one is due, by a message to an actor's mailbox, by waking what waits, or by telling who
// keeps an account of many.
//
// Thread safety: any thread; run_due by workers. A timer may be armed or cancelled by whoever is
// told of one, at once.
#pragma once

#include <cstdint>
#include <optional>

#include <tactus/dispatch/events.hpp>
#include <tactus/dispatch/timer_phase.hpp>
#include <tactus/dispatch/waker.hpp>
#include <tactus/mailbox/mailbox_index.hpp>
#include <tactus/time/instant.hpp>
#include <tactus/time/timer_wheel.hpp>

namespace tactus::inline v0 {

class actor_scheduler;
class scheduler;

/// What an actor is told. Which of its timers the handle says; it may have been cancelled since.
struct timer_due {
    timer_handle which;
    std::uint32_t missed = 0;  // runs it was late for, and counted (SC-20)
    bool is_over = false;      // the last: it was ended (SC-22)
    bool is_refused = false;   // not due: there was no room to arm it
};

/// Who is told of timers of many actors. It is there for as long as the service runs: cancel() does
/// not wait for it, and it is not told of what is left when the service is closed.
class timer_listener {
public:
    /// Whose timer was due, and which. On whatever thread runs what is due; must not block.
    virtual void expired(mailbox_index whose, timer_handle which) noexcept = 0;

protected:
    ~timer_listener() = default;
};

/// Whom a timer is for: an actor, which gets timer_due, or something that is woken or told instead.
/// What is woken stays where it is until the timer has fired, or cancel() has returned.
struct timer_target {
    mailbox_index who = {};
    waker* wake = nullptr;               // must not block
    timer_listener* listener = nullptr;  // is told that the timer of `who` was due
    // It continues a timer that was there: backpressure does not refuse it, since it discards none.
    bool goes_on = false;
};

/// The job of a timer: one registration. Never 0, since generations are not.
[[nodiscard]] constexpr job_id job_of(timer_handle which) noexcept {
    return job_id{which.generation()} << 32 | which.index();
}

class timer_service : public timer_phase {
public:
    /// Tells the target after `delay`; nothing when there is no room, or the delay is too long.
    [[nodiscard]] virtual std::optional<timer_handle> arm(timer_target& to,
                                                          duration delay) noexcept = 0;
    /// False: it has fired: the message is on its way or was handled, the waker was called. By who
    /// is being woken itself: is being called. A listener may be told of it later. Waits for no
    /// other timer; only, while its own waker is being called elsewhere, for the end of that.
    virtual bool cancel(timer_handle which) noexcept = 0;
    /// False: it has fired, or was cancelled.
    [[nodiscard]] virtual bool pending(timer_handle which) noexcept = 0;
    /// Whom to wake for a nearer deadline. Before the first timer.
    virtual void attach(actor_scheduler& kernel) noexcept = 0;

protected:
    ~timer_service() = default;
};

}  // namespace tactus::inline v0
