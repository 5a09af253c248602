// SPDX-License-Identifier: Apache-2.0
//
// What ends a suspension, and its account.
#include <tactus/dispatch/suspensions.hpp>

namespace tactus::inline v0 {

const char* name_of(suspend_reason reason) noexcept {
    static constexpr const char* names[] = {"backpressure", "await_external", "rate_limit",
                                            "user_defined"};
    return names[static_cast<std::size_t>(reason)];
}

const char* name_of(held_reason reason) noexcept {
    return reason == held_reason::supervision ? "supervision"
                                              : name_of(static_cast<suspend_reason>(reason));
}

const char* name_of(suspend_error why) noexcept {
    static constexpr const char* names[] = {"too_often", "no_memory", "no_scheduler",
                                            "timer_refused"};
    return names[static_cast<std::size_t>(why)];
}

const char* text_of(suspend_error why) noexcept {
    static constexpr const char* texts[] = {
        "it is held back 63 times, and not once more",
        "no memory for another suspension",
        "a time or a limit needs a system with a scheduler",
        "the scheduler refuses its timer: full, under pressure, closed, or the time too long",
    };
    return texts[static_cast<std::size_t>(why)];
}

suspensions::suspensions(const options& o) noexcept
    : time_(o.time), timers_(o.timers), to_(*o.to), records_(*o.memory, o.capacity) {
    metrics_.measured = o.time != nullptr;
    if (o.notes_signals)
        signalled_.emplace(*o.memory, notes_capacity);
}

std::expected<void, suspend_error> suspensions::add(mailbox_index who, suspend_reason reason,
                                                    const resume_condition& until,
                                                    const suspend_limit& limit) noexcept {
    const bool waits_for_time = until.on == resume_condition::kind::after;
    if ((waits_for_time || limit.after != duration::max()) && timers_ == nullptr)
        return std::unexpected(suspend_error::no_scheduler);
    const instant now = time_ != nullptr ? time_->now() : instant{};
    suspension_record r{
        .who = who, .key = until.key, .since_ns = now.ns(), .on = until.on, .action = limit.action};
    // The earlier of the two decides; which it was shows when it is due. The longest is none.
    duration delay = limit.after;
    if (waits_for_time && until.delay <= delay) {
        delay = until.delay;
        r.action = suspend_limit_action::resume;
    }
    const bool is_timed = delay != duration::max();
    if (is_timed) {
        timer_target told{.who = who, .listener = this};
        const auto timer = timers_->arm(told, delay);
        if (!timer)
            return std::unexpected(suspend_error::timer_refused);
        r.timer = *timer;
    }
    if (!keep(r, reason)) {
        cancel(r.timer);
        return std::unexpected(suspend_error::no_memory);
    }
    // It may have come before there was a record, and nobody else sees to it then. One that will
    // never come, since the service was closed just now, has not come.
    if (is_timed && !timers_->pending(r.timer) && time_->now() - now >= delay)
        expired(who, r.timer);
    return {};
}

bool suspensions::keep(const suspension_record& r, suspend_reason reason) noexcept {
    const port::lock_guard held(mutex_);
    if (records_.add(r) == suspension_records::none)
        return false;
    ++metrics_.suspended;
    ++metrics_.by_reason[static_cast<std::size_t>(reason)];
    if (r.on == resume_condition::kind::when_capacity_available)
        room_count_.fetch_add(1, std::memory_order_relaxed);  // published by the gate
    return true;
}

timer_handle suspensions::remove(std::uint32_t at) noexcept {
    const timer_handle timer = records_[at].timer;
    if (records_[at].on == resume_condition::kind::when_capacity_available)
        room_count_.fetch_sub(1, std::memory_order_relaxed);
    records_.remove(at);
    return timer;
}

timer_handle suspensions::ended(std::uint32_t at) noexcept {
    ++metrics_.resumed;
    if (time_ != nullptr) {
        metrics_.last_ns = time_->now().ns() - records_[at].since_ns;
        metrics_.total_ns += metrics_.last_ns;
    }
    return remove(at);
}

void suspensions::let_go_by(mailbox_index who, std::optional<std::uint64_t> key) noexcept {
    if (!signalled_)
        return;
    // The last to let it go decides.
    if (const std::uint32_t at = signalled_->of_actor(who); at != suspension_records::none)
        signalled_->remove(at);
    if (key)
        (void)signalled_->add({.who = who, .key = *key, .on = resume_condition::kind::after});
}

std::optional<std::uint64_t> suspensions::take_signal(mailbox_index who) noexcept {
    const port::lock_guard held(mutex_);
    if (!signalled_)
        return {};
    const std::uint32_t at = signalled_->of_actor(who);
    if (at == suspension_records::none)
        return {};
    const std::uint64_t key = (*signalled_)[at].key;
    signalled_->remove(at);
    return key;
}

std::size_t suspensions::resume_all(resume_condition::kind on, std::uint64_t key) noexcept {
    std::uint64_t end = 0;
    {
        // What suspends itself while this goes on waits for the next signal.
        const port::lock_guard held(mutex_);
        end = records_.next_number();
    }
    for (std::size_t count = 0;; ++count) {
        mailbox_index who;
        timer_handle timer;
        {
            const port::lock_guard held(mutex_);
            const std::uint32_t at = records_.oldest(on, key);
            if (at == suspension_records::none || records_.number_of(at) >= end)
                return count;
            who = records_[at].who;
            timer = ended(at);
            let_go_by(who, on == resume_condition::kind::external_signal
                               ? std::optional(key)
                               : std::optional<std::uint64_t>());
        }
        cancel(timer);
        to_.resume_suspended(who);
    }
}

std::size_t suspensions::signal(std::uint64_t key) noexcept {
    const std::size_t count = resume_all(resume_condition::kind::external_signal, key);
    if (count == 0) {
        const port::lock_guard held(mutex_);
        ++metrics_.unheard_signals;
    }
    return count;
}

std::size_t suspensions::capacity_available() noexcept {
    return resume_all(resume_condition::kind::when_capacity_available, 0);
}

bool suspensions::forget(mailbox_index who) noexcept {
    timer_handle timer;
    {
        const port::lock_guard held(mutex_);
        let_go_by(who, {});
        const std::uint32_t at = records_.of_actor(who);
        if (at == suspension_records::none)
            return false;
        timer = remove(at);
    }
    cancel(timer);
    return true;
}

bool suspensions::forget_beyond(mailbox_index who, std::uint32_t count) noexcept {
    timer_handle timer;
    {
        const port::lock_guard held(mutex_);
        const suspension_records::of_one found = records_.all_of(who);
        if (found.count == 0 || found.count < count)
            return false;  // held back by hand, too
        timer = ended(found.oldest);
        let_go_by(who, {});
    }
    cancel(timer);
    return true;
}

void suspensions::expired(mailbox_index whose, timer_handle which) noexcept {
    suspend_limit_action action{};
    {
        const port::lock_guard held(mutex_);
        const std::uint32_t at = records_.of_timer(whose, which);
        if (at == suspension_records::none)
            return;  // it has ended; or is about to be added, by who looks for its timer then
        action = records_[at].action;
        (void)ended(at);
        let_go_by(whose, {});
    }
    if (action == suspend_limit_action::resume)
        to_.resume_suspended(whose);
    else
        to_.suspension_limit(whose, action);
}

suspension_metrics suspensions::metrics() noexcept {
    const port::lock_guard held(mutex_);
    return metrics_;
}
std::uint32_t suspensions::waiting_count() noexcept {
    const port::lock_guard held(mutex_);
    return records_.size();
}
std::uint32_t suspensions::record_count() noexcept {
    const port::lock_guard held(mutex_);
    return records_.used();
}

}  // namespace tactus::inline v0
