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
// Time: one sleeper is the timekeeper. It sleeps until the earliest deadline, the others without a
// limit, and it is the last to be woken for work. It knows the deadlines that were there when it
// became it. A deadline that nobody waits for is work: who makes that so (a timekeeper that leaves
// and has other things to do, or who adds a deadline earlier than all others) looks at the word and
// wakes a sleeper as for any other work; who goes to sleep and finds no timekeeper is it; and the
// last one to stop searching looks for this, too. So it is not lost, for the same reason.
//
// No worker is woken to look at what others do: a sampler is told when the first worker wakes, or
// when the first goes to sleep (watch), under the lock under which workers do so.
//
// Thread safety: any thread, each worker for itself.
#pragma once

#include <cstdint>
#include <utility>

#include <tactus/dispatch/parker.hpp>
#include <tactus/dispatch/waker.hpp>
#include <tactus/port/port.hpp>

namespace tactus::inline v0 {

/// A worker, as far as sleeping goes.
struct sleeper {
    parker place;
    // A worker without a thread of its own is told so instead of being unparked (EX-7). Set before
    // it first sleeps.
    waker* instead = nullptr;
    // Woken when nobody else sleeps, and never the timekeeper: it would have to get a thread first.
    // Set before it sleeps.
    bool last = false;
    sleeper* below = nullptr;  // under the lock of idle_workers
    // Written under the lock of idle_workers; others look at it.
    port::atomic<std::uint32_t> listed{0};
    bool left_time = false;  // was the timekeeper when it left the list; its own afterwards
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
    /// After making work that only `s` may take: wakes it if it sleeps. That others search helps
    /// nothing here.
    void work_made_for(sleeper& s) noexcept;
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
    /// afterwards, and then sleep, or cancel_sleep. True when it is the timekeeper: it must then
    /// look for the earliest deadline. With `takes_time` it is so in any case.
    bool prepare_sleep(sleeper& s, bool searching, bool takes_time = false) noexcept;
    /// Not sleeping after all. True when the caller is searching: because it `searched` before, and
    /// others may have left to it what they made, or because somebody has chosen to wake it.
    [[nodiscard]] bool cancel_sleep(sleeper& s, bool searched) noexcept;
    /// As cancel_sleep, for a worker without a thread: false when somebody has chosen to wake it;
    /// its waker was called, or is about to be, and the worker is not the caller's any more.
    [[nodiscard]] bool try_cancel_sleep(sleeper& s, bool searched) noexcept;
    /// Sleeps. True when woken (the caller is searching then), false when the time passed.
    [[nodiscard]] bool sleep(sleeper& s, std::int64_t timeout_ns) noexcept;

    /// There is a deadline that the caller cannot wait for, and nobody else may: wakes a sleeper to
    /// do it, unless somebody searches. `unknown`: a timekeeper there is does not know of it.
    void time_unkept(bool unknown) noexcept;
    [[nodiscard]] bool time_kept() const noexcept {
        // Relaxed: who asks has changed the word just before, and sees that or what came later.
        return (word_.load(std::memory_order_relaxed) & kept) != 0;
    }
    /// Whether it was the timekeeper when it last left the list; says so once.
    [[nodiscard]] static bool left_time(sleeper& s) noexcept {
        return std::exchange(s.left_time, false);
    }

    /// EX-4: for a sampler that has nothing to do while as many as `count` sleep: none, or all. If
    /// so many do, `w` is called once, as soon as that changes, and the result is true. `w` is
    /// called under a lock: it must not call anything here. There is one watcher at a time.
    [[nodiscard]] bool watch(waker& w, std::uint32_t count) noexcept;
    /// When this returns, the watcher is not being called, nor will be.
    void unwatch() noexcept {
        const port::lock_guard held(mutex_);
        watcher_ = nullptr;
    }
    /// A look.
    [[nodiscard]] static bool asleep(const sleeper& s) noexcept {
        return s.listed.load(std::memory_order_relaxed) != 0;
    }

    /// Wakes everybody; for shutting down.
    void wake_all() noexcept;

    [[nodiscard]] std::uint32_t sleeping_count() const noexcept {
        return (word_.load(std::memory_order_relaxed) & ~kept) / one_sleeping;
    }
    [[nodiscard]] std::uint32_t searching_count() const noexcept {
        return word_.load(std::memory_order_relaxed) & searching_mask;
    }

private:
    static constexpr std::uint32_t one_searching = 1;
    static constexpr std::uint32_t searching_mask = 0xffff;
    static constexpr std::uint32_t one_sleeping = 1U << 16;
    static constexpr std::uint32_t kept = 1U << 31;  // one of those sleeping is the timekeeper

    void tell_watcher() noexcept;
    /// Under the lock.
    void tell_watcher_held() noexcept {
        if (watcher_ != nullptr) [[unlikely]]
            std::exchange(watcher_, nullptr)->wake();
    }
    static void wake(sleeper& s) noexcept {
        if (s.instead != nullptr)
            s.instead->wake();
        else
            s.place.unpark();
    }
    /// Takes a sleeper out; what is to be subtracted from the word for it. Under the lock.
    [[nodiscard]] std::uint32_t unlist(sleeper& s) noexcept;

    // Searching in the lower half, sleeping in the upper, then the timekeeper. "idle": see above.
    static constexpr port::edge idle{"idle-word"};
    port::atomic<std::uint32_t> word_{0};
    port::mutex mutex_;
    // Under the lock.
    sleeper* top_ =
        nullptr;  // the last to go to sleep is the first to be woken: its caches are warm
    sleeper* timekeeper_ = nullptr;
    waker* watcher_ = nullptr;
};

}  // namespace tactus::inline v0
