// SPDX-License-Identifier: Apache-2.0
//
// MPS2+ with image AN505 (Cortex-M33, secure world), as QEMU models it.
//
// The toolchain file chooses the folder.
#pragma once

#include <cstdint>

namespace tactus::inline v0::port {

/// What portable code cannot know about this machine.
struct board {
    static constexpr const char* name = "mps2-an505";
    static constexpr std::uint32_t core_clock_hz = 20'000'000;
};

}  // namespace tactus::inline v0::port
