// SPDX-License-Identifier: Apache-2.0
//
// Must not compile: no Cortex-M has 64-bit atomics, so the port refuses them everywhere. Its twin
// has a type that is allowed.
#include <tactus/port/port.hpp>

#include <cstdint>

#ifdef TWIN
using word = std::uint32_t;
#else
using word = std::uint64_t;
#endif

tactus::port::atomic<word> cell{0};
