// SPDX-License-Identifier: Apache-2.0
//
// BBC micro:bit (nRF51822, Cortex-M0), as QEMU models it.
//
// The toolchain file chooses the folder.
#pragma once

#include <cstdint>

namespace tactus::inline v0::port {

/// What portable code cannot know about this machine.
struct board {
    static constexpr const char* name = "microbit";
    static constexpr std::uint32_t core_clock_hz = 16'000'000;
};

}  // namespace tactus::inline v0::port
