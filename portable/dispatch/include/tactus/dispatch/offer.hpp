// SPDX-License-Identifier: Apache-2.0
//
// Offers: messages that wait for room in a full mailbox whose strategy is block (MB-2).
//
// The waiting itself is the gate's: in the order of arrival, without spinning, and the message is
// delivered by the mailbox's owner, not by who waits. What differs is how the waiter learns of it:
// a thread sleeps (actor_scheduler::offer), everything else hands in a waker (EX-7).
//
// A pending offer must stay where it is until its waker was called, or cancel() said true.
#pragma once

#include <optional>
#include <utility>

#include <tactus/dispatch/actor_scheduler.hpp>
#include <tactus/dispatch/parker.hpp>
#include <tactus/dispatch/waker.hpp>

namespace tactus::inline v0 {

class pending_offer final : private gate_waiter {
public:
    /// `to` is woken once when the offer was decided, unless start() or cancel() said so already.
    explicit pending_offer(waker& to) noexcept : wake_(&to) { served = &served_now; }
    pending_offer(const pending_offer&) = delete;
    pending_offer& operator=(const pending_offer&) = delete;

    /// Sends, or waits: nothing then. An rvalue is given back, as try_tell does, when it was not
    /// accepted: it must live until the offer is decided.
    template <class M>
    [[nodiscard]] std::optional<sent> start(mailbox_index to, M&& message,
                                            const send_options& o = {}) noexcept {
        return start_parcel(to, detail::parcel::of<M>(message), o);
    }
    /// After the waker was called: accepted, or recipient_terminated.
    [[nodiscard]] sent decision() const noexcept {
        return decided == outcome::accepted ? sent::accepted : sent::recipient_terminated;
    }
    /// After start() said nothing: how long the mailbox wants its senders to wait.
    [[nodiscard]] duration push_timeout() const noexcept { return limit; }
    /// Gives up: the message becomes a dead letter (mailbox_timeout). False when it was decided
    /// meanwhile: the waker was called, or is about to be.
    [[nodiscard]] bool cancel() noexcept;

private:
    [[nodiscard]] std::optional<sent> start_parcel(mailbox_index to, const detail::parcel& p,
                                                   const send_options& o) noexcept;
    [[nodiscard]] std::optional<sent> start_in(actor_scheduler& system, mailbox_index to,
                                               const detail::parcel& p,
                                               const send_options& o) noexcept;
    static void served_now(gate_waiter& w) noexcept;
    void return_message(worker* w) noexcept;
    /// Tells the hub what came of it.
    void count(sent what, worker* w) noexcept;

    waker* wake_;
    actor_scheduler* system_ = nullptr;
    mailbox_gate* gate_ = nullptr;
    mailbox_index to_;
    port::atomic<std::uint32_t> told_{0};
    std::optional<detail::parcel> origin_;  // where the message goes back to
};

/// Wakes a thread that sleeps for it.
class thread_waker final : public waker {
public:
    void wake() noexcept override { place_.unpark(); }
    /// False when the time passed first. A negative time: no limit.
    [[nodiscard]] bool wait(duration limit) noexcept { return place_.park(limit.ns()); }

private:
    parker place_;
};

/// MB-2: sends, and waits for room where the mailbox is full and its strategy is block; as try_tell
/// everywhere else. `timed_out`: the message became a dead letter (mailbox_timeout). From a
/// worker's thread, which must not wait, `would_block` instead: see pending_offer. A negative time
/// waits without limit, zero not at all; none is the mailbox's push_timeout.
template <class M>
[[nodiscard]] sent offer(mailbox_index to, M&& message, std::optional<duration> timeout = {},
                         const send_options& o = {}) noexcept {
    if (worker::current() != nullptr)
        return actor_scheduler::try_offer(to, std::forward<M>(message), o);
    thread_waker here;
    pending_offer pending(here);
    if (const std::optional<sent> result = pending.start(to, std::forward<M>(message), o))
        return *result;
    if (!here.wait(timeout.value_or(pending.push_timeout()))) {
        if (pending.cancel())
            return sent::timed_out;
        (void)here.wait(duration::from_ns(-1));  // decided: about to be told
    }
    return pending.decision();
}

}  // namespace tactus::inline v0
