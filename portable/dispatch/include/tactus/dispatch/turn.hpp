// SPDX-License-Identifier: Apache-2.0
//
// Turn: what a handler may do, for as long as it handles one message.
#pragma once

#include <utility>

#include <tactus/dispatch/actor_scheduler.hpp>

namespace tactus::inline v0 {

class turn {
public:
    turn(worker& w, slot& s) noexcept : worker_(w), slot_(s) {}
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;

    [[nodiscard]] mailbox_index self() const noexcept;
    /// Of the message being handled; names nothing when there is none.
    [[nodiscard]] mailbox_index sender() const noexcept { return sender_; }
    [[nodiscard]] actor_scheduler& system() const noexcept { return worker_.system(); }
    [[nodiscard]] slot& place() const noexcept { return slot_; }
    [[nodiscard]] worker& on() const noexcept { return worker_; }
    /// The envelope of the message being handled belongs to who calls this: it is disposed of by
    /// actor_scheduler::dispose_kept, and the handler returns handled::kept(), or a failure.
    void keep() noexcept { keeps_ = keeping::own; }
    /// It goes on to another actor of this system, as it is, when it was handled here. The handler
    /// returns handled::kept(), or a failure.
    void forward(mailbox_index to) noexcept {
        keeps_ = keeping::forward;
        forward_to_ = to;
    }
    [[nodiscard]] bool keeps() const noexcept { return keeps_ != keeping::none; }
    /// Of a message that a handler handles within its turn: what it keeps, or forwards, is that
    /// one. False: it is still the caller's.
    [[nodiscard]] bool take_keeps(envelope& e) noexcept {
        const keeping how = std::exchange(keeps_, keeping::none);
        if (how == keeping::forward)
            worker_.system().forward(forward_to_, e);
        return how != keeping::none;
    }
    void set_sender(mailbox_index who) noexcept { sender_ = who; }
    /// The envelope of the message being handled, for types that ask for it: they set it, and null
    /// when it was handled.
    [[nodiscard]] envelope* current_message() const noexcept { return message_; }
    void set_current_message(envelope* e) noexcept { message_ = e; }
    /// What the guard of the message being handled keeps meanwhile; null when it has none.
    [[nodiscard]] const envelope_guard::scope* guarded() const noexcept { return guarded_; }
    /// Of a message that a handler handles within its turn; what it was.
    const envelope_guard::scope* set_guarded(const envelope_guard::scope* during) noexcept {
        return std::exchange(guarded_, during);
    }
    /// Where the time at which this run ends is to be written, read once per run; null: nowhere.
    /// Requires: the system has a clock.
    void set_stamp(instant* end) noexcept { stamp_ = end; }
    [[nodiscard]] const instant* stamp() const noexcept { return stamp_; }
    /// The turn this thread is in; null where it runs no actor.
    [[nodiscard]] static turn* current() noexcept {
        const worker* w = worker::current();
        return w != nullptr ? of(*w) : nullptr;
    }
    [[nodiscard]] static turn* of(const worker& w) noexcept { return w.turn_; }

    template <class M>
    void send(mailbox_index to, M&& message) noexcept {
        worker_.system().tell_from(worker_, to, std::forward<M>(message), {.sender = self()});
    }
    template <class M>
    void send(mailbox_index to, M&& message, send_options o) noexcept {
        o.sender = self();
        worker_.system().tell_from(worker_, to, std::forward<M>(message), o);
    }
    template <class M>
    void reply(M&& message) noexcept {
        send(sender_, std::forward<M>(message));
    }

    /// The actor ends when this message is handled; what it still has goes to dead letters.
    void stop() noexcept;
    /// Holds back user messages after this one (CO-6), or says why that cannot be.
    [[nodiscard]] std::expected<void, suspend_error> suspend(
        suspend_reason reason, const resume_condition& until,
        const suspend_limit& limit = {}) noexcept;
    /// CO-6: it is restarted: what it has asked for with suspend() ends.
    void end_suspensions() noexcept;

private:
    friend class invoker;

    worker& worker_;
    slot& slot_;
    mailbox_index sender_;
    enum class keeping : std::uint8_t { none, own, forward };
    bool suspended_ = false;         // suspend() was called, since the invoker last looked
    keeping keeps_ = keeping::none;  // of the message being handled
    union {
        // keeping::forward: where it goes; a run begins without it
        mailbox_index forward_to_;  // NOLINT(readability-identifier-naming): private, as the union
    };
    envelope* message_ = nullptr;
    const envelope_guard::scope* guarded_ = nullptr;
    instant* stamp_ = nullptr;
};

inline mailbox_index turn::self() const noexcept {
    return worker_.system().slots().index_of(slot_);
}

}  // namespace tactus::inline v0
