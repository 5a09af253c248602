// SPDX-License-Identifier: Apache-2.0
//
// Waiting for something that nobody signals: a look every 200 us. For shutting down only. Limits
// may be as long as max(), so sums with them saturate.
#pragma once

#include <chrono>
#include <thread>

namespace tactus::inline v0::runtime {

/// Requires: neither is negative.
[[nodiscard]] inline std::chrono::nanoseconds sum_of(std::chrono::nanoseconds a,
                                                     std::chrono::nanoseconds b) noexcept {
    return a < std::chrono::nanoseconds::max() - b ? a + b : std::chrono::nanoseconds::max();
}
[[nodiscard]] inline std::chrono::steady_clock::time_point end_of(
    std::chrono::steady_clock::time_point begun, std::chrono::nanoseconds limit) noexcept {
    using point = std::chrono::steady_clock::time_point;
    return limit < point::max() - begun ? begun + limit : point::max();
}

/// False when `limit` passed first; for ever is a limit too.
template <class Condition>
[[nodiscard]] bool wait_until(std::chrono::nanoseconds limit, Condition&& condition) {
    using steady = std::chrono::steady_clock;
    const steady::time_point end = end_of(steady::now(), limit);
    bool holds = condition();
    while (!holds && steady::now() < end) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        holds = condition();
    }
    return holds;
}

}  // namespace tactus::inline v0::runtime
