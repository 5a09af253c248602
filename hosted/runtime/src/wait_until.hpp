// SPDX-License-Identifier: Apache-2.0
//
// Waiting for something that nobody signals: a look every 200 us. For shutting down only.
#pragma once

#include <chrono>
#include <thread>

namespace tactus::inline v0::runtime {

/// False when `limit` passed first; for ever is a limit too.
template <class Condition>
[[nodiscard]] bool wait_until(std::chrono::nanoseconds limit, Condition&& condition) {
    using steady = std::chrono::steady_clock;
    const steady::time_point now = steady::now();
    const steady::time_point end =
        limit < steady::time_point::max() - now ? now + limit : steady::time_point::max();
    bool holds = condition();
    while (!holds && steady::now() < end) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        holds = condition();
    }
    return holds;
}

}  // namespace tactus::inline v0::runtime
