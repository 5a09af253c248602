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

suspensions::suspensions(const options& o) noexcept
    : time_(o.time), to_(*o.to), beside_(o.beside), records_(*o.memory, o.capacity) {
    metrics_.measured = o.time != nullptr;
    if (o.notes_signals)
        signalled_.emplace(*o.memory, notes_capacity);
}

suspension_added suspensions::add(mailbox_index who, suspend_reason reason,
                                  const resume_condition& until,
                                  const suspend_limit& limit) noexcept {
    const bool limited = limit.after != duration::max();
    const bool waits_for_time = until.on == resume_condition::kind::after;
    if ((waits_for_time || limited) && time_ == nullptr)
        return suspension_added::refused;
    const instant now = time_ != nullptr ? time_->now() : instant{};
    suspension_record r{
        .who = who, .key = until.key, .since_ns = now.ns(), .on = until.on, .action = limit.action};
    if (waits_for_time || limited) {
        // The earlier of the two decides; which it was shows when it is due.
        duration delay = limit.after;
        if (waits_for_time && until.delay <= limit.after) {
            delay = until.delay;
            r.action = suspend_limit_action::resume;
        }
        r.due_ns = (now + delay).ns();  // the end of time is none
    }
    const port::lock_guard held(mutex_);
    const std::uint32_t at = records_.add(r);
    if (at == suspension_records::none)
        return suspension_added::refused;
    ++metrics_.suspended;
    ++metrics_.by_reason[static_cast<std::size_t>(reason)];
    if (r.due_ns != suspension_record::no_deadline)
        timed_count_.store(records_.timed_count(), timed.seq_cst());
    if (r.on == resume_condition::kind::when_capacity_available)
        room_count_.fetch_add(1, std::memory_order_relaxed);  // published by the gate
    return records_.earliest() == at ? suspension_added::earliest : suspension_added::kept;
}

void suspensions::remove(std::uint32_t at) noexcept {
    if (records_[at].on == resume_condition::kind::when_capacity_available)
        room_count_.fetch_sub(1, std::memory_order_relaxed);
    records_.remove(at);
    // Relaxed: seen too high, it only makes somebody look in vain.
    timed_count_.store(records_.timed_count(), std::memory_order_relaxed);
}

void suspensions::ended(std::uint32_t at) noexcept {
    ++metrics_.resumed;
    if (time_ != nullptr) {
        metrics_.last_ns = time_->now().ns() - records_[at].since_ns;
        metrics_.total_ns += metrics_.last_ns;
    }
    remove(at);
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
    const std::uint32_t at = signalled_ ? signalled_->of_actor(who) : suspension_records::none;
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
        {
            const port::lock_guard held(mutex_);
            const std::uint32_t at = records_.oldest(on, key);
            if (at == suspension_records::none || records_.number_of(at) >= end)
                return count;
            who = records_[at].who;
            ended(at);
            let_go_by(who, on == resume_condition::kind::external_signal
                               ? std::optional(key)
                               : std::optional<std::uint64_t>());
        }
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
    const port::lock_guard held(mutex_);
    let_go_by(who, {});
    const std::uint32_t at = records_.of_actor(who);
    if (at == suspension_records::none)
        return false;
    remove(at);
    return true;
}

bool suspensions::forget_beyond(mailbox_index who, std::uint32_t count) noexcept {
    const port::lock_guard held(mutex_);
    const suspension_records::of_one found = records_.all_of(who);
    if (found.count == 0 || found.count < count)
        return false;  // held back by hand, too
    ended(found.oldest);
    let_go_by(who, {});
    return true;
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

instant suspensions::next_deadline() noexcept {
    const instant others = beside_ != nullptr ? beside_->next_deadline() : instant::never();
    if (timed_count_.load(timed.seq_cst()) == 0)
        return others;
    const port::lock_guard held(mutex_);
    const std::uint32_t at = records_.earliest();
    if (at == suspension_records::none)
        return others;
    const instant own = instant::from_ns(records_[at].due_ns);
    return own < others ? own : others;
}

void suspensions::run_due(instant now) noexcept {
    clear_due();
    if (beside_ != nullptr)
        beside_->run_due(now);
    for (;;) {
        mailbox_index who;
        suspend_limit_action action{};
        {
            const port::lock_guard held(mutex_);
            const std::uint32_t at = records_.earliest();
            if (at == suspension_records::none || instant::from_ns(records_[at].due_ns) > now)
                return;
            who = records_[at].who;
            action = records_[at].action;
            ended(at);
            let_go_by(who, {});
        }
        if (action == suspend_limit_action::resume)
            to_.resume_suspended(who);
        else
            to_.suspension_limit(who, action);
    }
}

}  // namespace tactus::inline v0
