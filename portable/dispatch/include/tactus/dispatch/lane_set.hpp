// SPDX-License-Identifier: Apache-2.0
//
// Lane set: cancel, timed and ready under one lock, with counts that can be looked at without it.
//
// Each worker has one for what needs a key, and the system has one for everything that comes from
// outside or overflows. Default priority goes through plain queues; another priority, or a
// deadline, through a heap. Within a lane: higher priority first, then the order of registration;
// the plain queue stands where priority 128 belongs.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>

#include <tactus/dispatch/entry_queue.hpp>
#include <tactus/dispatch/lane.hpp>
#include <tactus/dispatch/lane_heap.hpp>
#include <tactus/port/port.hpp>

namespace tactus::inline v0 {

/// Tells whether an entry's ticket is out of date; for making room.
class stale_test {
public:
    [[nodiscard]] virtual bool stale(lane_entry e) const noexcept = 0;

protected:
    ~stale_test() = default;
};

class lane_set {
public:
    struct options {
        memory_source* memory = nullptr;
        const stale_test* stale = nullptr;
        std::uint32_t queue_capacity = 64;  // where it starts; fixed memory: one place per mailbox
        std::uint32_t heap_capacity = 16;
        /// Parity mode: default priority takes the heaps too, and the plain ready queue is a deque
        /// of its own, see below.
        bool keyed_only = false;
    };
    explicit lane_set(const options& o) noexcept;
    /// What it takes when it is built.
    [[nodiscard]] static constexpr memory_plan plan(std::uint32_t queue_capacity,
                                                    std::uint32_t heap_capacity) noexcept {
        memory_plan p;
        for (int i = 0; i < 2; ++i)
            p.plus(entry_queue::plan(queue_capacity));
        for (int i = 0; i < 3; ++i)
            p.plus(lane_heap::plan(heap_capacity));
        return p;
    }

    void push(lane_entry e, const lane_place& place) noexcept;

    /// The first of a lane, or an invalid entry; stale ones are the caller's to skip.
    [[nodiscard]] lane_entry pop(lane from) noexcept;
    /// As pop, but gives up when somebody else holds the lock.
    [[nodiscard]] lane_entry try_pop(lane from) noexcept;
    /// The first of cancel or ready, if its priority is above the default.
    [[nodiscard]] lane_entry pop_preferred(lane from) noexcept;
    /// What has waited longest in the ready lane's heap or in its plain queue, in the heap first if
    /// `keyed_first`; or an invalid entry.
    [[nodiscard]] lane_entry pop_aged(bool keyed_first) noexcept;

    // ---- parity mode

    /// The first of a lane's heap, and of those equal to it the one that `hint` chooses; of timed
    /// only what is due at `now`.
    [[nodiscard]] lane_entry pop_equal(lane from, std::uint64_t hint, std::int64_t now) noexcept;
    /// As pop_equal, but gives up when somebody else holds the lock.
    [[nodiscard]] lane_entry try_pop_equal(lane from, std::uint64_t hint,
                                           std::int64_t now) noexcept;
    /// How many a thief may take of the ready heap: half of it, at most `batch`, at least one; 0
    /// when there is nothing, or somebody else holds the lock.
    [[nodiscard]] std::uint32_t try_share(std::uint32_t batch) noexcept;
    // The deque: its owner pushes and pops at the new end, thieves take from the old one.
    void push_newest(lane_entry e) noexcept { push_plain(e, false); }
    void push_oldest(lane_entry e) noexcept { push_plain(e, true); }
    [[nodiscard]] lane_entry pop_newest() noexcept { return pop_plain(true); }
    [[nodiscard]] lane_entry pop_oldest() noexcept { return pop_plain(false); }
    /// What pop would take first, over all lanes; it stays. Invalid when there is nothing.
    [[nodiscard]] lane_entry peek() noexcept;

    // Looks without the lock: what waits, stale entries included. The order a worker needs that
    // goes to sleep: see idle_workers.
    [[nodiscard]] std::uint32_t cancel_count() const noexcept { return look(counts_[0]); }
    [[nodiscard]] std::uint32_t timed_count() const noexcept { return look(counts_[1]); }
    [[nodiscard]] std::uint32_t ready_count() const noexcept { return look(counts_[2]); }
    [[nodiscard]] bool urgent() const noexcept { return cancel_count() + timed_count() != 0; }
    /// A hint of urgent(), for who looks before every dispatch: not 0 soon after something came.
    [[nodiscard]] std::uint32_t urgent_hint() const noexcept {
        return urgent_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] bool empty() const noexcept { return !urgent() && ready_count() == 0; }
    [[nodiscard]] bool empty(lane of) const noexcept {
        return look(counts_[static_cast<std::size_t>(of)]) == 0;
    }
    /// The earliest deadline in the timed lane; the largest number when there is none.
    [[nodiscard]] std::int64_t earliest_deadline() const noexcept;

private:
    using count = port::atomic<std::uint32_t>;

    [[nodiscard]] static std::uint32_t look(const count& c) noexcept {
        return c.load(queued.seq_cst());
    }
    [[nodiscard]] lane_entry pop_locked(lane from) noexcept;
    [[nodiscard]] lane_entry pop_equal_locked(lane from, std::uint64_t hint,
                                              std::int64_t now) noexcept;
    void push_plain(lane_entry e, bool front) noexcept;
    [[nodiscard]] lane_entry pop_plain(bool newest) noexcept;
    void count_popped(lane from) noexcept;
    [[nodiscard]] std::uint32_t size_locked(lane of) const noexcept;
    [[nodiscard]] lane_entry pop_merged(entry_queue& plain, lane_heap& keyed) noexcept;

    const stale_test& stale_;
    const bool keyed_only_;
    mutable port::mutex mutex_;
    // Under the lock.
    std::uint64_t next_number_ = 0;
    entry_queue cancel_queue_;
    entry_queue ready_queue_;
    lane_heap cancel_heap_;
    lane_heap timed_heap_;
    lane_heap ready_heap_;

    // Written under the lock. "queued": raising a count, then looking for sleepers, against going
    // to sleep, then looking at the counts.
    static constexpr port::edge queued{"lanes-queued"};
    count counts_[3]{count{0}, count{0}, count{0}};
    count urgent_{0};  // cancel and timed together
};

}  // namespace tactus::inline v0
