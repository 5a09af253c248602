// SPDX-License-Identifier: Apache-2.0
//
// Runs on the caller's thread, never inside another run.
#include <tactus/dispatch/inline_tick.hpp>

namespace tactus::inline v0 {

inline_tick::inline_tick(actor_scheduler& system) noexcept
    : inline_tick(system, *system.dispatcher_at(0)) {}

inline_tick::inline_tick(actor_scheduler& system, dispatcher& where) noexcept
    : system_(system), where_(where) {
    TACTUS_CHECK(1, where.worker_count() == 1);
}

bool inline_tick::run_once() noexcept {
    if (running_) {
        ++nested_count_;
        return false;
    }
    // User code cannot throw through a run, so the guard is always released.
    running_ = true;
    worker& w = where_.worker_at(0);
    const worker::binding bound(w);
    const bool ran = system_.run_one(w);
    running_ = false;
    return ran;
}

std::size_t inline_tick::run_until_idle(std::size_t max) noexcept {
    std::size_t count = 0;
    while (count < max && run_once())
        ++count;
    return count;
}

void inline_tick::shut_down(std::size_t max) noexcept {
    TACTUS_CHECK(2, !running_);  // what runs now could not be closed
    system_.begin_stop();
    (void)run_until_idle(max);
    worker& w = where_.worker_at(0);
    const worker::binding bound(w);
    system_.finish_stop(w);
}

}  // namespace tactus::inline v0
