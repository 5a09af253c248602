// SPDX-License-Identifier: Apache-2.0
//
// Arming: timers of the runtime (timer_service), and those that an actor owns and arms again (TM-1,
// TM-2).
#include <tactus/scheduler/scheduler.hpp>

#include <algorithm>

namespace tactus::inline v0 {

using detail::job;
using detail::job_kind;

std::optional<timer_handle> scheduler::arm(timer_target& to, duration delay) noexcept {
    const armed made = try_arm(to, delay);
    return made ? std::optional(*made) : std::nullopt;
}

scheduler::armed scheduler::try_arm(const timer_target& to, duration delay) noexcept {
    const job_request r{
        .first = delay, .to = to.who, .priority = runtime_policy().one_shot, .goes_on = to.goes_on};
    return to.wake != nullptr ? arm_for(r, job_kind::wake, to.wake)
                              : arm_for(r, job_kind::note, to.listener);
}

scheduler::armed scheduler::arm(const job_request& r) noexcept {
    auto fault = fault_of(r.first, "delay");
    if (!fault && r.mode != job_mode::one_shot)
        fault = fault_of(r.period, "period");
    if (fault)
        return std::unexpected(*fault);
    return arm_for(r, job_kind::note, nullptr);
}

scheduler::armed scheduler::arm_for(const job_request& wanted, job_kind kind,
                                    const void* whom) noexcept {
    if (wanted.first > maximum_delay_)
        return std::unexpected(too_late(wanted.first));
    static constexpr detail::cargo_type nothing{};
    job_request r = wanted;
    if (r.first < duration::zero())
        r.first = duration::zero();
    const auto made = register_bytes(r, kind, nothing, whom);
    if (!made)
        return std::unexpected(made.error());
    return timer_handle(made->index_, made->generation_);
}

scheduler_error scheduler::too_late(duration delay) const noexcept {
    return {.code = scheduler_errc::invalid_delay,
            .field = "delay",
            .value = delay.ns(),
            .limit = maximum_delay_.ns()};
}

// Who asks is its owner: it stays as it is until that arms it again.
instant scheduler::sent_at(timer_handle which) noexcept {
    const instant now = time_.now();
    if (which.generation() == 0)
        return now;
    const job_word seen(store_.word_at(which.index()).load(job::state.acquire()));
    const job& j = store_.at(which.index());
    if (seen.generation() != which.generation() || !seen.is(job_word::owned) ||
        seen.state() != job_state::executing || j.holders.load(job::held.acquire()) != 1)
        return now;
    return std::min(now, scale_.begin_of(j.fired_at + 1));
}

// TM-1, TM-2. Its cell and its place are its own, so that nobody has to admit it; far away there
// may be none.
scheduler::armed scheduler::rearm(timer_handle which, instant due) noexcept {
    const scheduler_error gone{.code = scheduler_errc::closed};
    if (which.generation() == 0)
        return std::unexpected(gone);
    job_word::stored bits = store_.word_at(which.index()).load(job::state.acquire());
    const job_word seen(bits);
    if (seen.generation() != which.generation() || !seen.is(job_word::owned) ||
        seen.state() != job_state::executing || seen.is_last_use())
        return std::unexpected(gone);
    job& j = store_.at(which.index());
    if (j.holders.load(job::held.acquire()) != 1)
        return which;  // its actor is about to be told
    const instant now = time_.now();
    if (due - now > maximum_delay_)
        return std::unexpected(too_late(due - now));
    const bool inside = overflow_limit_ != scheduler_capacity::unlimited;
    owed_warnings owed;
    std::optional<scheduler_error> refused;
    bool takes_overflow = false;
    if (inside) {
        enter();
        // Until now it could be ended, and its cell be another's.
        if (j.word.load(std::memory_order_relaxed) != bits)
            refused = gone;
        takes_overflow = !refused && is_far(due - now, now);
        if (takes_overflow)
            refused = admit_far({.first = due - now, .priority = j.priority}, owed);
    }
    const job_word next = seen.next_use(job_word::owned);
    // Relaxed: it is what was seen above, and who puts it in is told by the lock.
    if (!refused && !j.word.compare_exchange_strong(bits, next.bits(), std::memory_order_relaxed,
                                                    std::memory_order_relaxed)) {
        if (takes_overflow)
            --overflow_reserved_;
        refused = gone;  // it was closed meanwhile
    }
    if (!refused) {
        j.has_overflow = takes_overflow;
        j.due = due;
        j.registered_at = registered_before(now, due);
        j.comes_back = true;
        if (inside)
            apply(j);
        else
            submit(j);
    }
    if (inside) {
        let_go();
        tell(owed);
    }
    if (refused)
        return std::unexpected(*refused);
    return timer_handle(which.index(), next.generation());
}

bool scheduler::pending(timer_handle which) noexcept {
    if (which.generation() == 0)
        return false;
    const job_word word(store_.word_at(which.index()).load(job::state.acquire()));
    if (word.generation() != which.generation())
        return false;
    // About to be told: as good as pending.
    if (word.is(job_word::owned) && word.state() == job_state::executing)
        return store_.at(which.index()).holders.load(std::memory_order_relaxed) != 1;
    return word.state() == job_state::pending || word.state() == job_state::scheduled;
}

}  // namespace tactus::inline v0
