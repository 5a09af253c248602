// SPDX-License-Identifier: Apache-2.0
//
// Idle workers: who searches, who sleeps, and when somebody must be woken.
//
// A worker without work searches for a bounded time, then sleeps. Whoever makes work that another
// could take looks at one word: is somebody searching (then they find it), is nobody asleep (then
// there is nobody to wake)? Only otherwise is one sleeper woken, and it wakes up searching.
//
// Why no wake-up is lost: making work is a read-modify-write (or a locked store) followed by a look
// at the word; going to sleep is a read-modify-write of the word followed by a look at all queues;
// all four are seq_cst. So either the maker sees the sleeper, or the sleeper sees the work. The
// last one to stop searching, because it found something, looks once more for the same reason.
// Other changes of the word are relaxed: no look follows them.
//
// Thread safety: any thread, each worker for itself.
#pragma once

#include <cstdint>

#include <tactus/dispatch/parker.hpp>
#include <tactus/port/port.hpp>

namespace tactus::inline v0 {

/// A worker, as far as sleeping goes.
struct sleeper {
    parker place;
    sleeper* below = nullptr;  // under the lock of idle_workers
    bool listed = false;       // under the lock of idle_workers
};

class idle_workers {
public:
    /// After making work that another worker may take: wakes one, if one sleeps and nobody
    /// searches. Returns whether it did.
    bool work_made() noexcept {
        const std::uint32_t seen = word_.load(idle.seq_cst());
        if (seen < one_sleeping || (seen & searching_mask) != 0) [[likely]]
            return false;
        return wake_one();
    }
    /// The slow half of work_made. Looks again under the lock: of several who have seen the same
    /// sleeper, one wakes it, and the others see that it searches.
    bool wake_one() noexcept;
    /// Somebody sleeps or searches: work that could be shared would be taken.
    [[nodiscard]] bool anybody() const noexcept {
        return word_.load(std::memory_order_relaxed) != 0;
    }

    /// The caller begins to search; false when half of the workers do already.
    [[nodiscard]] bool start_search(std::uint32_t worker_count) noexcept;
    /// The caller found something; true when it was the last to search, and must look whether there
    /// is more (and call work_made).
    [[nodiscard]] bool stop_search() noexcept {
        return (word_.fetch_sub(one_searching, idle.seq_cst()) & searching_mask) == one_searching;
    }

    /// Puts the caller on the list of sleepers (ending its search). It must look at all queues
    /// afterwards, and then sleep, or cancel_sleep.
    void prepare_sleep(sleeper& s, bool searching) noexcept;
    /// Not sleeping after all. True when the caller is searching: because it `searched` before, and
    /// others may have left to it what they made, or because somebody has chosen to wake it.
    [[nodiscard]] bool cancel_sleep(sleeper& s, bool searched) noexcept;
    /// Sleeps. True when woken (the caller is searching then), false when the time passed.
    [[nodiscard]] bool sleep(sleeper& s, std::int64_t timeout_ns) noexcept;

    /// Wakes everybody; for shutting down.
    void wake_all() noexcept;

    [[nodiscard]] std::uint32_t sleeping_count() const noexcept {
        return word_.load(std::memory_order_relaxed) / one_sleeping;
    }
    [[nodiscard]] std::uint32_t searching_count() const noexcept {
        return word_.load(std::memory_order_relaxed) & searching_mask;
    }

private:
    static constexpr std::uint32_t one_searching = 1;
    static constexpr std::uint32_t searching_mask = 0xffff;
    static constexpr std::uint32_t one_sleeping = 1U << 16;

    // Searching in the lower half, sleeping in the upper. "idle": see above.
    static constexpr port::edge idle{"idle-word"};
    port::atomic<std::uint32_t> word_{0};
    port::mutex mutex_;
    sleeper* top_ =
        nullptr;  // the last to go to sleep is the first to be woken: its caches are warm
};

}  // namespace tactus::inline v0
