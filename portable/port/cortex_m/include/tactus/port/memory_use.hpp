// SPDX-License-Identifier: Apache-2.0
//
// Memory of a board: a heap that closes, and how far the stack has reached.
//
// Constructors may allocate until the program says that construction is over; from then on every
// allocation is a bug and traps (PT-3). Memory is handed out from a small region of the linker
// script, one piece after the other, and never reused.
//
// Checks: heap:1 allocation after heap_close(), heap:2 release after it, heap:3 `new` with the
// region used up, heap:4 the C library asks for memory of its own.
//
// Thread rule: before interrupts are enabled, or by one owner.
#pragma once

#include <cstddef>

namespace tactus::inline v0::port {

/// Construction is over: malloc, free, new and delete trap from here on. Releasing nullptr stays
/// allowed.
void heap_close() noexcept;
/// Bytes handed out.
[[nodiscard]] std::size_t heap_used() noexcept;

/// Bytes of data, initialised and zeroed: what is taken of the RAM before anything runs, beside the
/// heap's region.
[[nodiscard]] std::size_t static_size() noexcept;
/// The most bytes of stack in use at any time since start-up.
[[nodiscard]] std::size_t stack_peak() noexcept;
/// Bytes there are for the stack: all that is left of the RAM.
[[nodiscard]] std::size_t stack_size() noexcept;

}  // namespace tactus::inline v0::port
