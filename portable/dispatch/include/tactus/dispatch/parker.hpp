// SPDX-License-Identifier: Apache-2.0
//
// Parker: how one worker sleeps and is woken. One permit: unpark before park is not lost, and many
// unparks are one.
//
//   state     means                       park            unpark
//   empty     no permit                   -> parked       -> notified
//   parked    the worker sleeps           (sleeps)        -> notified, and wake
//   notified  there is a permit           -> empty, go    nothing
#pragma once

#include <cstdint>

#include <tactus/port/port.hpp>

namespace tactus::inline v0 {

class parker {
public:
    /// Sleeps until unparked; false when `timeout_ns` passed first (negative: never). The worker's.
    bool park(std::int64_t timeout_ns) noexcept {
        return park_with([&](port::atomic<std::uint32_t>& word) {
            return port::wait_on(word, parked, timeout_ns);
        });
    }
    /// The same until an instant of the platform's monotonic clock (port::wait_until).
    bool park_until(std::int64_t deadline_ns) noexcept {
        return park_with([&](port::atomic<std::uint32_t>& word) {
            return port::wait_until(word, parked, deadline_ns);
        });
    }

    /// Callable from any thread. What was done before happens before park returns true.
    void unpark() noexcept {
        if (state_.exchange(notified, permit.release()) == parked)
            port::wake_one(state_);
    }

private:
    static constexpr std::uint32_t empty = 0;
    static constexpr std::uint32_t parked = 1;
    static constexpr std::uint32_t notified = 2;

    template <class Sleep>
    bool park_with(Sleep&& sleep) noexcept {
        std::uint32_t seen = empty;
        if (!state_.compare_exchange_strong(seen, parked, std::memory_order_relaxed,
                                            std::memory_order_relaxed)) {
            (void)state_.exchange(empty, permit.acquire());  // was notified
            return true;
        }
        for (;;) {
            const bool in_time = sleep(state_);
            seen = notified;
            if (state_.compare_exchange_strong(seen, empty, permit.acquire(),
                                               std::memory_order_relaxed))
                return true;
            if (!in_time) {
                // Unless it is unparked just now.
                return state_.exchange(empty, permit.acquire()) == notified;
            }
        }
    }

    // "permit": unpark -> the park that takes it.
    static constexpr port::edge permit{"parker-permit"};
    port::atomic<std::uint32_t> state_{empty};
};

}  // namespace tactus::inline v0
