// SPDX-License-Identifier: Apache-2.0
//
// The two callbacks of a limited offer, and how its start meets them.
#include <tactus/actor/limited_offer.hpp>

#include <utility>

namespace tactus::inline v0 {

std::uint32_t limited_offer::set(bit which) noexcept {
    const port::lock_guard held(mutex_);
    return std::exchange(bits_, bits_ | which);
}

bool limited_offer::begin_limit() noexcept {
    const duration limit = how_.limit.value_or(pending_.push_timeout());
    if (limit == duration::zero())
        return give_up_at_once();
    if (how_.timers != nullptr && limit > duration::zero() && limit != duration::max()) {
        const auto made = how_.timers->schedule_wake(limit, timer_told_, {}, true);
        if (!made)
            return give_up_at_once();
        timer_ = *made;
    }
    const std::uint32_t seen = set(armed);
    if (seen == 0)
        return true;
    // A callback ran before the timer was stored, and left the rest to this call. A callback that
    // is still to come wakes.
    const bool timer_is_over = !timer_ || (seen & timer_over) != 0;
    const bool withdrawn = timer_is_over && is_withdrawn_;
    if (!withdrawn &&
        ((seen & offer_over) == 0 || (!timer_is_over && !is_cancelled(*how_.timers, *timer_))))
        return true;
    at_once_ = take();
    return false;
}

/// Without a timer, or without time: the offer is withdrawn unless it is about to be decided.
bool limited_offer::give_up_at_once() noexcept {
    if (pending_.cancel()) {
        at_once_ = sent::timed_out;
        return false;
    }
    if ((set(armed) & offer_over) == 0)
        return true;  // the offer's callback is about to run
    at_once_ = pending_.decision();
    return false;
}

/// False: the timer's callback is about to run, or has run.
bool limited_offer::is_cancelled(scheduler& timers, cancellable timer) noexcept {
    return timers.cancel(timer) || timers.state_of(timer) == job_state::cancelled;
}

void limited_offer::offer_decided() noexcept {
    scheduler* const timers = how_.timers;
    std::optional<cancellable> timer;
    std::uint32_t seen = 0;
    {
        const port::lock_guard held(mutex_);
        seen = std::exchange(bits_, bits_ | offer_over);
        if ((seen & armed) == 0)
            return;
        timer = timer_;
    }
    // The timer's callback may run now, and wake: this object is gone unless the timer is over or
    // cancelled.
    if ((seen & timer_over) != 0 || !timer || is_cancelled(*timers, *timer))
        to_wake_.wake();
}

void limited_offer::time_is_over() noexcept {
    const bool withdrawn = pending_.cancel();
    if (withdrawn)
        is_withdrawn_ = true;
    const std::uint32_t seen = set(timer_over);
    if ((seen & armed) != 0 && (withdrawn || (seen & offer_over) != 0))
        to_wake_.wake();
}

bool limited_offer::give_up() noexcept {
    if (!pending_.cancel())
        return false;
    is_withdrawn_ = true;
    // As if the offer's callback had run: a timer that cannot be cancelled any more wakes.
    const std::uint32_t seen = set(offer_over);
    return (seen & timer_over) != 0 || !timer_ || is_cancelled(*how_.timers, *timer_);
}

}  // namespace tactus::inline v0
