// SPDX-License-Identifier: Apache-2.0
//
// Semihosting: text and an exit status for the debugger or emulator this core runs under.
//
// A request is a breakpoint instruction that the debugger answers. Without one attached the
// breakpoint is a fault, which ends in the fault handler and, since that asks again, in a lock-up:
// images for the field give fatal() another end.
//
// Thread rule: from anywhere, interrupt handlers and fault handlers included.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tactus::inline v0::port::semihosting {

/// Prints zero-terminated text.
void write(const char* text) noexcept;
/// Prints `size` bytes.
void write(const char* bytes, std::size_t size) noexcept;
/// Prints a number.
void write_decimal(std::uint64_t number) noexcept;
void write_hex(std::uint32_t number) noexcept;

/// Ends the emulation with `status`.
[[noreturn]] void exit(int status) noexcept;

}  // namespace tactus::inline v0::port::semihosting
