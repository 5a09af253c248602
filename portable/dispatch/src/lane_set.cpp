// SPDX-License-Identifier: Apache-2.0
//
// Lanes under their lock; counts are written last, for who looks without it.
#include <tactus/dispatch/lane_set.hpp>

#include <cstddef>
#include <limits>

namespace tactus::inline v0 {
namespace {

constexpr std::int64_t key_of(std::uint8_t priority) noexcept {
    return 255 - std::int64_t{priority};
}

}  // namespace

const char* name_of(lane l) noexcept {
    static constexpr const char* names[] = {"cancel", "timed", "ready"};
    return names[static_cast<std::size_t>(l)];
}

lane_set::lane_set(const options& o) noexcept
    : stale_(*o.stale),
      keyed_only_(o.keyed_only),
      cancel_queue_(*o.memory, o.queue_capacity),
      ready_queue_(*o.memory, o.queue_capacity),
      cancel_heap_(*o.memory, o.heap_capacity),
      timed_heap_(*o.memory, o.heap_capacity),
      ready_heap_(*o.memory, o.heap_capacity) {}

void lane_set::push(lane_entry e, const lane_place& place) noexcept {
    const auto is_stale = [this](lane_entry other) { return stale_.stale(other); };
    const port::lock_guard held(mutex_);
    if (place.where == lane::timed) {
        timed_heap_.push({place.deadline, next_number_++, e}, is_stale);
    } else {
        const bool cancel = place.where == lane::cancel;
        if (place.priority == default_priority && !keyed_only_)
            (cancel ? cancel_queue_ : ready_queue_).push(e, is_stale);
        else
            (cancel ? cancel_heap_ : ready_heap_)
                .push({key_of(place.priority), next_number_++, e}, is_stale);
    }
    // Dropping stale entries may have shortened it: the count is written, not counted.
    if (place.where != lane::ready)
        urgent_.store(size_locked(lane::cancel) + size_locked(lane::timed),
                      std::memory_order_relaxed);
    counts_[static_cast<std::size_t>(place.where)].store(size_locked(place.where),
                                                         queued.seq_cst());
}

std::uint32_t lane_set::size_locked(lane of) const noexcept {
    switch (of) {
    case lane::cancel:
        return cancel_queue_.size() + cancel_heap_.size();
    case lane::timed:
        return timed_heap_.size();
    case lane::ready:
        break;
    }
    return ready_queue_.size() + ready_heap_.size();
}

lane_entry lane_set::pop(lane from) noexcept {
    if (empty(from))
        return {};
    const port::lock_guard held(mutex_);
    return pop_locked(from);
}

lane_entry lane_set::try_pop(lane from) noexcept {
    if (empty(from) || !mutex_.try_lock())
        return {};
    const lane_entry e = pop_locked(from);
    mutex_.unlock();
    return e;
}

lane_entry lane_set::pop_preferred(lane from) noexcept {
    const port::lock_guard held(mutex_);
    const lane_heap& heap = from == lane::cancel ? cancel_heap_ : ready_heap_;
    if (heap.empty() || heap.top().key >= key_of(default_priority))
        return {};
    return pop_locked(from);
}

lane_entry lane_set::pop_aged(bool keyed_first) noexcept {
    if (ready_count() == 0)
        return {};
    const port::lock_guard held(mutex_);
    lane_entry e;
    if (!ready_heap_.empty() && (keyed_first || ready_queue_.empty()))
        e = ready_heap_.pop_oldest(static_cast<std::uint32_t>(next_number_));
    else if (!ready_queue_.empty())
        e = ready_queue_.pop();
    count_popped(lane::ready);
    return e;
}

lane_entry lane_set::pop_locked(lane from) noexcept {
    lane_entry e;
    switch (from) {
    case lane::cancel:
        e = pop_merged(cancel_queue_, cancel_heap_);
        break;
    case lane::timed:
        e = timed_heap_.empty() ? lane_entry{} : timed_heap_.pop().entry;
        break;
    case lane::ready:
        e = pop_merged(ready_queue_, ready_heap_);
        break;
    }
    count_popped(from);
    return e;
}

void lane_set::count_popped(lane from) noexcept {
    // Relaxed: a count seen too high only makes somebody look in vain.
    if (from != lane::ready)
        urgent_.store(size_locked(lane::cancel) + size_locked(lane::timed),
                      std::memory_order_relaxed);
    counts_[static_cast<std::size_t>(from)].store(size_locked(from), std::memory_order_relaxed);
}

// ---- parity mode

lane_entry lane_set::pop_equal(lane from, std::uint64_t hint, std::int64_t now) noexcept {
    if (look(counts_[static_cast<std::size_t>(from)]) == 0)
        return {};
    const port::lock_guard held(mutex_);
    return pop_equal_locked(from, hint, now);
}

lane_entry lane_set::try_pop_equal(lane from, std::uint64_t hint, std::int64_t now) noexcept {
    if (look(counts_[static_cast<std::size_t>(from)]) == 0 || !mutex_.try_lock())
        return {};
    const lane_entry e = pop_equal_locked(from, hint, now);
    mutex_.unlock();
    return e;
}

lane_entry lane_set::pop_equal_locked(lane from, std::uint64_t hint, std::int64_t now) noexcept {
    const auto is_stale = [this](lane_entry e) { return stale_.stale(e); };
    if (from == lane::timed) {
        // One that is left behind must not hide what is due.
        while (!timed_heap_.empty() && is_stale(timed_heap_.top().entry))
            (void)timed_heap_.pop();
    }
    lane_heap& heap = from == lane::cancel  ? cancel_heap_
                      : from == lane::timed ? timed_heap_
                                            : ready_heap_;
    lane_entry e;
    if (from != lane::timed || (!heap.empty() && heap.top().key <= now))
        e = heap.pop_equal(hint, is_stale);
    count_popped(from);
    return e;
}

std::uint32_t lane_set::try_share(std::uint32_t batch) noexcept {
    if (ready_count() == 0 || !mutex_.try_lock())
        return 0;
    const std::uint32_t size = ready_heap_.size();
    mutex_.unlock();
    if (size == 0)
        return 0;
    const std::uint32_t half = size / 2 < batch ? size / 2 : batch;
    return half > 0 ? half : 1;
}

void lane_set::push_plain(lane_entry e, bool front) noexcept {
    const auto is_stale = [this](lane_entry other) { return stale_.stale(other); };
    const port::lock_guard held(mutex_);
    if (front)
        ready_queue_.push_front(e, is_stale);
    else
        ready_queue_.push(e, is_stale);
    counts_[static_cast<std::size_t>(lane::ready)].store(size_locked(lane::ready),
                                                         queued.seq_cst());
}

lane_entry lane_set::pop_plain(bool newest) noexcept {
    if (ready_count() == 0)
        return {};
    const port::lock_guard held(mutex_);
    if (ready_queue_.empty())
        return {};
    const lane_entry e = newest ? ready_queue_.pop_newest() : ready_queue_.pop();
    count_popped(lane::ready);
    return e;
}

lane_entry lane_set::pop_merged(entry_queue& plain, lane_heap& keyed) noexcept {
    if (!keyed.empty() && (plain.empty() || keyed.top().key < key_of(default_priority)))
        return keyed.pop().entry;
    return plain.empty() ? lane_entry{} : plain.pop();
}

lane_entry lane_set::peek() noexcept {
    const auto first = [](const entry_queue& plain, const lane_heap& keyed) {
        if (!keyed.empty() && (plain.empty() || keyed.top().key < key_of(default_priority)))
            return keyed.top().entry;
        return plain.empty() ? lane_entry{} : plain.front();
    };
    const port::lock_guard held(mutex_);
    if (const lane_entry e = first(cancel_queue_, cancel_heap_); e.valid())
        return e;
    if (!timed_heap_.empty())
        return timed_heap_.top().entry;
    return first(ready_queue_, ready_heap_);
}

std::int64_t lane_set::earliest_deadline() const noexcept {
    if (timed_count() == 0)
        return std::numeric_limits<std::int64_t>::max();
    const port::lock_guard held(mutex_);
    return timed_heap_.empty() ? std::numeric_limits<std::int64_t>::max() : timed_heap_.top().key;
}

}  // namespace tactus::inline v0
