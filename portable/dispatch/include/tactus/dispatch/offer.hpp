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
#include <type_traits>
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
        const system_table::visit v(to.system_number());
        if (v.system() == nullptr)
            return sent::no_system;
        return start_in(*v.system(), to, std::forward<M>(message), o);
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
    template <class M>
    [[nodiscard]] std::optional<sent> start_in(actor_scheduler& system, mailbox_index to,
                                               M&& message, const send_options& o) noexcept;
    static void served_now(gate_waiter& w) noexcept;
    void return_message(worker* w) noexcept;
    /// Tells the hub what came of it.
    void count(sent what, worker* w) noexcept;

    waker* wake_;
    actor_scheduler* system_ = nullptr;
    mailbox_gate* gate_ = nullptr;
    mailbox_index to_;
    port::atomic<std::uint32_t> told_{0};
    void* origin_ = nullptr;  // where the message came from, when it can go back
    void (*give_back_)(void* origin, envelope& e) noexcept = nullptr;
};

template <class M>
std::optional<sent> pending_offer::start_in(actor_scheduler& system, mailbox_index to, M&& message,
                                            const send_options& o) noexcept {
    using type = std::remove_cvref_t<M>;
    worker* w = system.own_worker();
    slot* s = system.slots_.find(to);
    mailbox_block* block = s != nullptr ? s->gated() : nullptr;
    if (block == nullptr || block->gate().when_full() != overflow::block ||
        system.phase() != system_phase::running)
        return system.try_deliver(w, to, std::forward<M>(message), o);
    const bool timed = o.deadline == 0 && actor_scheduler::gives_deadlines(*s, to.generation);
    const send_options with{o.sender, timed ? system.due_of(*s) : o.deadline};
    envelope* e = system.take_envelope(w);
    system_ = &system;
    told_.store(0, std::memory_order_relaxed);  // nobody knows it yet
    give_back_ = nullptr;
    if (e == nullptr) {
        count(sent::pool_exhausted, w);
        return system.exhausted();
    }
    if (const sent failed = system.fill<type>(w, *e, to, std::forward<M>(message), with);
        failed != sent::accepted) {
        count(failed, w);
        return failed == sent::pool_exhausted ? system.exhausted() : failed;
    }
    gate_ = &block->gate();
    to_ = to;
    carried = e;
    if constexpr (std::is_rvalue_reference_v<M&&> && !std::is_const_v<std::remove_reference_t<M>> &&
                  std::is_move_assignable_v<type>) {
        origin_ = &message;
        give_back_ = [](void* origin, envelope& from) noexcept {
            (void)call_user([&] {
                *static_cast<type*>(origin) = std::move(*static_cast<type*>(from.payload()));
            });
        };
    }
    switch (gate_->wait(to.generation, *this)) {
    case mailbox_gate::entry::entered: {
        system.warn_of_pressure(*block, to);
        const sent result = system.push(w, *s, *e);
        count(result, w);
        if (result != sent::accepted)
            return_message(w);
        return result;
    }
    case mailbox_gate::entry::ended:
        count(sent::recipient_terminated, w);
        return_message(w);
        return sent::recipient_terminated;
    case mailbox_gate::entry::full:
        break;
    }
    return std::nullopt;
}

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
