// SPDX-License-Identifier: Apache-2.0
//
// Must not compile: every atomic access names its order. ACCESS is one without, and in the twin the
// same with it.
#include <tactus/port/port.hpp>

#include <cstdint>

[[maybe_unused]] constexpr auto order = std::memory_order_relaxed;

void touch(tactus::port::atomic<std::uint32_t>& cell, std::uint32_t& seen) {
    ACCESS;
    (void)seen;
}
