// SPDX-License-Identifier: Apache-2.0
//
// The port: everything portable code needs from a platform, and nothing more. This header is the
// specification.
//
// A platform is a folder beside this one (`host/`, `cortex_m/`, later `model/`) that provides
// `<tactus/port/platform.hpp>`; the build puts exactly one of them on the include path, so the
// choice is made when compiling and costs nothing when running. What differs between two systems in
// one process (clock, memory, seed) is not here: that is handed in at run time.
//
// A platform provides, in namespace tactus::port:
//
//   template <class T> class atomic;
//     T: integral, enum or pointer, at most 32 bits or one pointer. Every access names its memory
//     order; there are no defaults and no operators.
//       explicit constexpr atomic(T) noexcept;
//       T    load(order) const noexcept;
//       void store(T, order) noexcept;
//       T    exchange(T, order) noexcept;
//       bool compare_exchange_weak(T& seen, T wanted, order success, order failure) noexcept;
//       bool compare_exchange_strong(T& seen, T wanted, order success, order failure) noexcept;
//       T    fetch_add, fetch_sub, fetch_or, fetch_and(T, order) noexcept;    for integral T
//     Callable from interrupt handlers on bare metal. On cores without compare-and-swap a
//     read-modify-write masks interrupts for its few instructions.
//
//   class event_count;
//     Counts events from any thread or interrupt, for one reader, for years (TS-5).
//       using word = <unsigned: what the core adds atomically, 32 or 64 bits>;
//       void add(word n) noexcept;      one atomic addition and nothing else; release
//       word read() const noexcept;     acquire: what a notifier did before add() is visible then
//     The reading wraps at the word's width; the reader unfolds it with counter64.
//
//   class counter64;
//     A 64-bit counter read and advanced by one owner (PT-9).
//       std::uint64_t value() const noexcept;
//       std::uint64_t fold(event_count::word reading) noexcept;
//     fold advances to the reading and returns by how much. Requires: it is called at least once
//     per wrap of the word (49 days at 1 kHz on 32 bits).
//
//   class critical_section;
//     RAII: no interrupt handler runs on this core while it lives; nests. On the host, where no
//     handler shares data with portable code, it does nothing.
//
//   void prefetch(const void*) noexcept;
//     A hint; any address is allowed, also one that is not mapped.
//
// and defines, in its library, `tactus::fatal(module, id)` of <tactus/base/check.hpp>.
#pragma once

#include <concepts>
#include <cstdint>

#include <tactus/port/platform.hpp>

namespace tactus::inline v0::port {

template <class Counter>
concept event_counter = requires(Counter c, const Counter k, typename Counter::word n) {
    requires std::unsigned_integral<typename Counter::word>;
    { c.add(n) } noexcept -> std::same_as<void>;
    { k.read() } noexcept -> std::same_as<typename Counter::word>;
};

template <class Atomic, class T>
concept atomic_cell = requires(Atomic a, const Atomic k, T v, std::memory_order order) {
    { k.load(order) } noexcept -> std::same_as<T>;
    { a.store(v, order) } noexcept -> std::same_as<void>;
    { a.exchange(v, order) } noexcept -> std::same_as<T>;
    { a.compare_exchange_weak(v, v, order, order) } noexcept -> std::same_as<bool>;
    { a.compare_exchange_strong(v, v, order, order) } noexcept -> std::same_as<bool>;
};

static_assert(event_counter<event_count>);
static_assert(atomic_cell<atomic<std::uint32_t>, std::uint32_t>);
static_assert(atomic_cell<atomic<void*>, void*>);
static_assert(requires(counter64 c, event_count::word w) {
    { c.fold(w) } noexcept -> std::same_as<std::uint64_t>;
    { c.value() } noexcept -> std::same_as<std::uint64_t>;
});
static_assert(requires(const void* p) {
    { prefetch(p) } noexcept;
});

}  // namespace tactus::inline v0::port
