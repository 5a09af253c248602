// SPDX-License-Identifier: Apache-2.0
//
// Addresses that the linker script defines: boards/sections.ld says what lies between them.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {
extern const std::uint32_t tactus_data_load[];
extern std::uint32_t tactus_data_begin[];
extern std::uint32_t tactus_data_end[];
extern std::uint32_t tactus_bss_begin[];
extern std::uint32_t tactus_bss_end[];
extern void (*const tactus_init_begin[])();
extern void (*const tactus_init_end[])();
extern std::byte tactus_heap_begin[];
extern std::byte tactus_heap_end[];
extern std::uint32_t tactus_stack_limit[];
extern std::uint32_t tactus_stack_top[];
}

/// What unused stack holds: start-up paints it, stack_peak() looks how much is left.
inline constexpr std::uint32_t stack_paint = 0xa5a5a5a5;
