// SPDX-License-Identifier: Apache-2.0
//
// Going to sleep and waking, under the lock; why nothing is lost is in the header.
#include <tactus/dispatch/idle_workers.hpp>

namespace tactus::inline v0 {

bool idle_workers::start_search(std::uint32_t worker_count) noexcept {
    const std::uint32_t seen = word_.load(std::memory_order_relaxed);
    if (2 * (seen & searching_mask) >= worker_count)
        return false;
    word_.fetch_add(one_searching, std::memory_order_relaxed);  // its end has the order
    return true;
}

std::uint32_t idle_workers::unlist(sleeper& s) noexcept {
    sleeper** at = &top_;
    while (*at != &s)
        at = &(*at)->below;
    *at = s.below;
    s.listed.store(0, std::memory_order_relaxed);
    if (timekeeper_ != &s)
        return one_sleeping;
    timekeeper_ = nullptr;
    s.left_time = true;
    return one_sleeping + kept;
}

bool idle_workers::wake_one() noexcept {
    sleeper* chosen = nullptr;
    bool watched = false;
    {
        const port::lock_guard held(mutex_);
        // Looked at again: several may have seen the same sleeper.
        if ((word_.load(std::memory_order_relaxed) & searching_mask) != 0 || top_ == nullptr)
            return false;
        sleeper* other = top_->below;
        chosen = top_ == timekeeper_ && other != nullptr && !other->last ? other : top_;
        // The one woken searches from now on, so that nobody wakes another for the same work.
        word_.fetch_sub(unlist(*chosen) - one_searching, std::memory_order_relaxed);
        watched = watcher_ != nullptr;
    }
    wake(*chosen);
    if (watched) [[unlikely]]
        tell_watcher();  // behind the worker, which has something to do
    return true;
}

void idle_workers::tell_watcher() noexcept {
    const port::lock_guard held(mutex_);
    tell_watcher_held();
}

void idle_workers::work_made_for(sleeper& s) noexcept {
    if (word_.load(idle.seq_cst()) < one_sleeping)
        return;  // it looks at its queues before it sleeps
    bool watched = false;
    {
        const port::lock_guard held(mutex_);
        if (!asleep(s))
            return;  // awake, or being woken: it looks
        word_.fetch_sub(unlist(s) - one_searching, std::memory_order_relaxed);
        watched = watcher_ != nullptr;
    }
    wake(s);
    if (watched) [[unlikely]]
        tell_watcher();
}

bool idle_workers::prepare_sleep(sleeper& s, bool searching, bool takes_time) noexcept {
    const port::lock_guard held(mutex_);
    tell_watcher_held();
    sleeper** at = &top_;
    while (s.last && *at != nullptr)
        at = &(*at)->below;
    s.below = *at;
    s.listed.store(1, std::memory_order_relaxed);
    *at = &s;
    std::uint32_t change = one_sleeping - (searching ? one_searching : 0);
    if (!s.last) {
        if (timekeeper_ == nullptr)
            change += kept;
        // One that is relieved sleeps on, and wakes once more in vain.
        if (timekeeper_ == nullptr || takes_time)
            timekeeper_ = &s;
    }
    word_.fetch_add(change, idle.seq_cst());
    return timekeeper_ == &s;
}

bool idle_workers::try_cancel_sleep(sleeper& s, bool searched) noexcept {
    const port::lock_guard held(mutex_);
    if (!asleep(s))
        return false;
    tell_watcher_held();
    word_.fetch_sub(unlist(s) - (searched ? one_searching : 0), std::memory_order_relaxed);
    return true;
}

bool idle_workers::cancel_sleep(sleeper& s, bool searched) noexcept {
    if (try_cancel_sleep(s, searched))
        return searched;
    (void)s.place.park(-1);  // the permit is there, or about to be
    return true;
}

bool idle_workers::sleep(sleeper& s, std::int64_t timeout_ns) noexcept {
    if (s.place.park(timeout_ns))
        return true;
    return cancel_sleep(s, false);
}

void idle_workers::time_unkept(bool unknown) noexcept {
    const std::uint32_t seen = word_.load(idle.seq_cst());
    if (seen < one_sleeping)
        return;  // whoever goes to sleep next sees to it
    if (unknown) {
        const port::lock_guard held(mutex_);
        if (timekeeper_ != nullptr) {
            timekeeper_ = nullptr;
            word_.fetch_sub(kept, std::memory_order_relaxed);
        }
    } else if ((seen & kept) != 0) {
        return;
    }
    (void)work_made();
}

bool idle_workers::watch(waker& w, std::uint32_t count) noexcept {
    const port::lock_guard held(mutex_);
    if (sleeping_count() != count)
        return false;
    watcher_ = &w;
    return true;
}

void idle_workers::wake_all() noexcept {
    for (;;) {
        sleeper* chosen = nullptr;
        {
            const port::lock_guard held(mutex_);
            chosen = top_;
            if (chosen == nullptr)
                return;
            tell_watcher_held();
            word_.fetch_sub(unlist(*chosen) - one_searching, std::memory_order_relaxed);
        }
        wake(*chosen);
    }
}

}  // namespace tactus::inline v0
