// SPDX-License-Identifier: Apache-2.0
//
// Steady clock: the operating system's monotonic clock (TS-2). Setting the wall clock does not move
// it.
//
// Its epoch is the system's (boot, on Linux), so all steady clocks of a machine agree: two of them
// in one process never disagree about which of two instants is earlier.
//
// Thread safety: any thread.
#pragma once

#include <tactus/time/clock.hpp>

namespace tactus::inline v0::runtime {

class steady_clock final : public clock {
public:
    [[nodiscard]] instant now() const noexcept override;
    [[nodiscard]] clock_kind kind() const noexcept override { return clock_kind::realtime_host; }
};

}  // namespace tactus::inline v0::runtime
