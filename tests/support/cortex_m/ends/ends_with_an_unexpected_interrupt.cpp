// SPDX-License-Identifier: Apache-2.0
//
// An interrupt that nobody handles is a failed check that carries its number: 14 is PendSV.
#include <cstdint>

#include "portable_test.hpp"

TEST(ending, pends_what_nobody_handles) {
    *reinterpret_cast<volatile std::uint32_t*>(0xe000ed04) = 1u << 28;
    asm volatile("dsb\n\tisb" ::: "memory");
}
