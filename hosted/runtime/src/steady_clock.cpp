// SPDX-License-Identifier: Apache-2.0
//
// Steady clock over clock_gettime.
#include <tactus/runtime/steady_clock.hpp>

#include <ctime>

namespace tactus::inline v0::runtime {

instant steady_clock::now() const noexcept {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);  // cannot fail for this clock and a valid address
    return instant::from_ns(static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u +
                            static_cast<std::uint64_t>(t.tv_nsec));
}

}  // namespace tactus::inline v0::runtime
