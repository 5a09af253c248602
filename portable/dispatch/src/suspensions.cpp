// SPDX-License-Identifier: Apache-2.0
//
// Records of suspended actors: lists by condition, one heap of deadlines.
#include <tactus/dispatch/suspensions.hpp>

#include <limits>
#include <new>

namespace tactus::inline v0 {

const char* name_of(suspend_reason reason) noexcept {
    static constexpr const char* names[] = {"backpressure", "await_external", "rate_limit",
                                            "user_defined"};
    return names[static_cast<std::size_t>(reason)];
}

suspensions::suspensions(const options& o) noexcept
    : memory_(*o.memory),
      time_(o.time),
      to_(*o.to),
      capacity_(o.capacity),
      deadlines_(*o.memory, o.capacity) {
    metrics_.measured = o.time != nullptr;
    void* block = memory_.allocate(capacity_ * sizeof(record), alignof(record));
    TACTUS_CHECK(1, block != nullptr);
    records_ = ::new (block) record[capacity_];
}

suspensions::~suspensions() {
    memory_.release(records_, capacity_ * sizeof(record), alignof(record));
}

std::uint32_t suspensions::take_record() noexcept {
    if (free_ != none) {
        const std::uint32_t index = free_;
        free_ = records_[index].next;
        return index;
    }
    if (used_ == capacity_) {
        void* block =
            memory_.allocate(std::size_t{2} * capacity_ * sizeof(record), alignof(record));
        if (block == nullptr)
            return none;
        auto* wider = ::new (block) record[std::size_t{2} * capacity_];
        for (std::uint32_t i = 0; i < capacity_; ++i)
            wider[i] = records_[i];
        memory_.release(records_, capacity_ * sizeof(record), alignof(record));
        records_ = wider;
        capacity_ *= 2;
    }
    return used_++;
}

void suspensions::free_record(std::uint32_t index) noexcept {
    record& r = records_[index];
    r.live = false;
    ++r.stamp;
    r.next = free_;
    free_ = index;
    --live_;
}

bool suspensions::add(mailbox_index who, suspend_reason reason, const resume_condition& until,
                      const suspend_limit& limit) noexcept {
    const bool limited = limit.after != duration::max();
    const bool timed = until.on == resume_condition::kind::after;
    if ((timed || limited) && time_ == nullptr)
        return false;
    const instant now = time_ != nullptr ? time_->now() : instant{};
    const port::lock_guard held(mutex_);
    const auto is_stale = [this](lane_entry e) { return records_[e.slot].stamp != e.ticket; };
    if ((timed || limited) && !deadlines_.make_room(is_stale))
        return false;
    const std::uint32_t index = take_record();
    if (index == none)
        return false;
    record& r = records_[index];
    r.who = who;
    r.key = until.key;
    r.since_ns = now.ns();
    r.on = until.on;
    r.action = limit.action;
    r.live = true;
    r.next = none;
    ++live_;
    switch (until.on) {
    case resume_condition::kind::external_signal:
        r.list = static_cast<std::uint32_t>(until.key % bucket_count);
        break;
    case resume_condition::kind::when_capacity_available:
        r.list = capacity_list;
        break;
    case resume_condition::kind::after:
        r.list = timed_list;
        break;
    }
    chain& list = lists_[r.list];
    (list.last == none ? list.first : records_[list.last].next) = index;
    list.last = index;
    if (timed || limited) {
        // The earlier of the two decides; which it was shows when it is due.
        const duration delay = timed && until.delay < limit.after ? until.delay : limit.after;
        if (timed && until.delay <= limit.after)
            r.action = suspend_limit_action::resume;
        const instant at = now + delay;
        const auto key =
            at.ns() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())
                ? std::numeric_limits<std::int64_t>::max()
                : static_cast<std::int64_t>(at.ns());
        deadlines_.push({key, next_number_++, {index, r.stamp}}, is_stale);
        timed_count_.store(deadlines_.size(), std::memory_order_relaxed);
    }
    ++metrics_.suspended;
    ++metrics_.by_reason[static_cast<std::size_t>(reason)];
    return true;
}

void suspensions::unlink(std::uint32_t index) noexcept {
    chain& list = lists_[records_[index].list];
    std::uint32_t before = none;
    std::uint32_t at = list.first;
    while (at != index) {
        before = at;
        at = records_[at].next;
    }
    const std::uint32_t after = records_[index].next;
    (before == none ? list.first : records_[before].next) = after;
    if (list.last == index)
        list.last = before;
}

std::uint32_t suspensions::find_in(std::uint32_t list, std::uint64_t key, bool any_key) noexcept {
    for (std::uint32_t at = lists_[list].first; at != none; at = records_[at].next) {
        if (any_key || records_[at].key == key)
            return at;
    }
    return none;
}

void suspensions::ended(std::uint32_t index) noexcept {
    ++metrics_.resumed;
    if (time_ != nullptr) {
        metrics_.last_ns = time_->now().ns() - records_[index].since_ns;
        metrics_.total_ns += metrics_.last_ns;
    }
    unlink(index);
    free_record(index);
}

std::size_t suspensions::resume_all(std::uint32_t list, std::uint64_t key, bool any_key) noexcept {
    // What suspends itself while this goes on waits for the next signal: as many as there are now.
    std::size_t count = 0;
    std::size_t limit = 0;
    {
        const port::lock_guard held(mutex_);
        for (std::uint32_t at = lists_[list].first; at != none; at = records_[at].next) {
            if (any_key || records_[at].key == key)
                ++limit;
        }
    }
    while (count < limit) {
        mailbox_index who;
        {
            const port::lock_guard held(mutex_);
            const std::uint32_t index = find_in(list, key, any_key);
            if (index == none)
                break;
            who = records_[index].who;
            ended(index);
        }
        to_.resume_suspended(who);
        ++count;
    }
    return count;
}

std::size_t suspensions::signal(std::uint64_t key) noexcept {
    const std::size_t count =
        resume_all(static_cast<std::uint32_t>(key % bucket_count), key, false);
    if (count == 0) {
        const port::lock_guard held(mutex_);
        ++metrics_.unheard_signals;
    }
    return count;
}

std::size_t suspensions::capacity_available() noexcept {
    return resume_all(capacity_list, 0, true);
}

bool suspensions::forget(mailbox_index who) noexcept {
    const port::lock_guard held(mutex_);
    for (std::uint32_t i = 0; i < used_; ++i) {
        if (records_[i].live && records_[i].who == who) {
            unlink(i);
            free_record(i);
            return true;
        }
    }
    return false;
}

suspension_metrics suspensions::metrics() noexcept {
    const port::lock_guard held(mutex_);
    return metrics_;
}
std::uint32_t suspensions::waiting_count() noexcept {
    const port::lock_guard held(mutex_);
    return live_;
}
std::uint32_t suspensions::record_count() noexcept {
    const port::lock_guard held(mutex_);
    return used_;
}

void suspensions::drop_stale_deadlines() noexcept {
    while (!deadlines_.empty()) {
        const lane_entry e = deadlines_.top().entry;
        if (records_[e.slot].stamp == e.ticket)
            break;
        (void)deadlines_.pop();
    }
    timed_count_.store(deadlines_.size(), std::memory_order_relaxed);
}

instant suspensions::next_deadline() noexcept {
    if (timed_count_.load(std::memory_order_relaxed) == 0)
        return instant::never();
    const port::lock_guard held(mutex_);
    drop_stale_deadlines();
    if (deadlines_.empty())
        return instant::never();
    return instant::from_ns(static_cast<std::uint64_t>(deadlines_.top().key));
}

void suspensions::run_due(instant now) noexcept {
    clear_due();
    for (;;) {
        mailbox_index who;
        suspend_limit_action action{};
        {
            const port::lock_guard held(mutex_);
            drop_stale_deadlines();
            if (deadlines_.empty() ||
                instant::from_ns(static_cast<std::uint64_t>(deadlines_.top().key)) > now)
                return;
            const std::uint32_t index = deadlines_.pop().entry.slot;
            who = records_[index].who;
            action = records_[index].action;
            ended(index);
        }
        if (action == suspend_limit_action::resume)
            to_.resume_suspended(who);
        else
            to_.suspension_limit(who, action);
    }
}

}  // namespace tactus::inline v0
