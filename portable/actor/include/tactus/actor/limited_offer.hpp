// SPDX-License-Identifier: Apache-2.0
//
// Limited offer: a pending offer that gives up when its time is over.
//
// Two callbacks race: the mailbox serves the offer, or the timer fires. Each tries to cancel the
// other. A callback that cannot be cancelled is about to run, and then runs last: the waker is
// called once, when neither callback can touch this object any more.
//
// State bits, set once each:
//   offer_over   the offer was decided and its callback ran, or give_up() withdrew it
//   timer_over   the timer's callback ran
//   armed        start() has stored the timer
// A callback that finds `armed` missing leaves the outcome to start(), which has not returned yet.
//
//   the callback that ran     the other one           then
//   the offer's               timer cancelled         the offer's callback wakes
//   the offer's               timer about to run      the timer's callback wakes
//   the timer's               offer withdrawn         the timer's callback wakes: timed out
//   the timer's               offer about to be told  the offer's callback wakes
//
// Thread safety: the callbacks run on any thread; everything else in the turn of the actor.
#pragma once

#include <cstdint>
#include <optional>

#include <tactus/dispatch/offer.hpp>
#include <tactus/scheduler/scheduler.hpp>

namespace tactus::inline v0 {

class limited_offer {
public:
    struct terms {
        scheduler* timers = nullptr;         // null: an offer that has to wait has no limit
        std::optional<duration> limit = {};  // none: the mailbox's push_timeout; negative: no limit
    };

    limited_offer(const terms& how, waker& to_wake) noexcept
        : how_(how),
          to_wake_(to_wake),
          offer_told_(*this),
          timer_told_(*this),
          pending_(offer_told_) {}
    limited_offer(const limited_offer&) = delete;
    limited_offer& operator=(const limited_offer&) = delete;

    /// Sends. False: take() has the result, and the waker is not called.
    template <class M>
    [[nodiscard]] bool start(mailbox_index to, M&& message, const send_options& o) noexcept {
        at_once_ = pending_.start(to, std::forward<M>(message), o);
        return !at_once_ && begin_limit();
    }
    /// True: the waker will not be called; the message is a dead letter (mailbox_timeout).
    [[nodiscard]] bool give_up() noexcept;
    [[nodiscard]] sent take() const noexcept {
        return at_once_ ? *at_once_ : is_withdrawn_ ? sent::timed_out : pending_.decision();
    }

private:
    enum bit : std::uint32_t { offer_over = 1, timer_over = 2, armed = 4 };

    class offer_waker final : public waker {
    public:
        explicit offer_waker(limited_offer& of) noexcept : of_(of) {}
        void wake() noexcept override { of_.offer_decided(); }

    private:
        limited_offer& of_;
    };
    class timer_waker final : public waker {
    public:
        explicit timer_waker(limited_offer& of) noexcept : of_(of) {}
        void wake() noexcept override { of_.time_is_over(); }

    private:
        limited_offer& of_;
    };

    [[nodiscard]] bool begin_limit() noexcept;
    [[nodiscard]] bool give_up_at_once() noexcept;
    [[nodiscard]] static bool is_cancelled(scheduler& timers, cancellable timer) noexcept;
    /// Sets the bit; the bits before.
    [[nodiscard]] std::uint32_t set(bit which) noexcept;
    void offer_decided() noexcept;
    void time_is_over() noexcept;

    // Constant after construction
    terms how_;
    waker& to_wake_;
    offer_waker offer_told_;
    timer_waker timer_told_;

    // Written by start(), before `armed`
    std::optional<cancellable> timer_;

    // Written before the waker is called, or in the actor's turn
    std::optional<sent> at_once_;
    bool is_withdrawn_ = false;

    // Shared
    port::mutex mutex_;
    std::uint32_t bits_ = 0;  // under the lock, which orders everything above with it
    pending_offer pending_;
};

}  // namespace tactus::inline v0
