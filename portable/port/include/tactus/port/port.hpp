// SPDX-License-Identifier: Apache-2.0
//
// The port: everything portable code needs from a platform, and nothing more. This header is the
// specification.
//
// A platform is a folder beside this one (`host/`, `cortex_m/`, `model/`; `real/` is what the first
// two share) that provides `<tactus/port/platform.hpp>`; the build puts exactly one of them on the
// include path, so the choice is made when compiling and costs nothing when running. What differs
// between two systems in one process (clock, memory, seed) is not here: that is handed in at run
// time.
//
// A platform provides, in namespace tactus::port:
//
//   template <class T> class atomic;
//     T: integral, enum or pointer, at most 32 bits or one pointer. Every access names its memory
//     order; there are no defaults and no operators.
//       explicit constexpr atomic(T) noexcept;
//       atomic(reused_type, T) noexcept;    in type-stable memory: stores into the atomic that was
//                                           there, so a thread that still reads it does not race
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
//   inline constexpr bool has_interrupts;
//     Interrupt handlers run portable code, on the stack of what they interrupt.
//   bool in_interrupt() noexcept;
//     This is one. A constant false where there are none.
//
//   class critical_section;
//     RAII: no interrupt handler runs on this core while it lives; nests. On the host, where no
//     handler shares data with portable code, it does nothing.
//
//   class edge;
//     A happens-before edge with a name, declared once beside the atomic it belongs to:
//         static constexpr port::edge published{"inbox-published"};
//     An access that is one of its ends takes its order from it: published.release(). On real
//     platforms that is the memory order and nothing else; the model weakens one end at a time to
//     show that a test needs it (MC-4). Orders of no edge are written as std::memory_order_relaxed.
//       explicit constexpr edge(const char* name) noexcept;
//       std::memory_order acquire(), release(), acq_rel(), seq_cst() const noexcept;
//
//   template <class T> class plain;
//     A cell that threads share without an atomic, because something else orders its accesses. The
//     model reports two accesses that nothing orders; elsewhere it is a T.
//       constexpr plain() noexcept;  explicit constexpr plain(T) noexcept;
//       T read() const noexcept;     void write(T) noexcept;
//
//   class mutex;       lock(), unlock(), try_lock(); not recursive. Bare metal: masks interrupts.
//   class condition;   wait(mutex&), notify_one(), notify_all(); wake-ups may be spurious.
//     Not on bare metal, where nobody else could notify.
//
//   bool wait_on(const atomic<std::uint32_t>& word, std::uint32_t expected,
//                std::int64_t timeout_ns) noexcept;
//   bool wait_until(const atomic<std::uint32_t>& word, std::uint32_t expected,
//                   std::int64_t deadline_ns) noexcept;
//   void wake_one(atomic<std::uint32_t>& word) noexcept;
//     Sleeps while the word has the expected value: false when `timeout_ns` passed (negative:
//     never), true otherwise, also for no reason. Looking at the word and going to sleep are one
//     step against wake_one, which wakes one sleeper, if there is one. wait_until has an instant
//     instead, of the platform's monotonic clock (negative: never): what the caller does before it
//     sleeps makes it no later. Bare metal: both sleep until the next interrupt.
//
//   template <class T> T& thread_instance() noexcept;
//     This thread's own T, made of constants when the thread starts and never destroyed. T is
//     constant-initialised and trivially destructible. Bare metal: the one there is.
//   void at_thread_exit(void (*call)(void*) noexcept, void* with) noexcept;
//     Calls when this thread ends, last registered first. Bare metal: never.
//
//   void pause() noexcept;   void yield() noexcept;
//     One step of a bounded spin; giving the processor away. Scheduling points in the model.
//
//   bool poisoning() noexcept;
//   void poison(const void*, std::size_t) noexcept;
//   void unpoison(const void*, std::size_t) noexcept;
//     Memory that must not be touched until unpoisoned, for AddressSanitizer and Valgrind (UP-6).
//     poisoning() is false where nobody would notice; then the two do nothing.
//
//   inline constexpr std::size_t cache_line;
//     What must be apart to be written by two cores without disturbing. 4 where there is no cache.
//
//   void prefetch(const void*) noexcept;
//     A hint; any address is allowed, also one that is not mapped.
//
// and defines, in its library, `tactus::fatal(module, id)` of <tactus/base/check.hpp>.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include <tactus/port/platform.hpp>

namespace tactus::inline v0::port {

// What follows is the same on every platform.

class counter64 {
public:
    counter64() = default;
    explicit constexpr counter64(std::uint64_t start) noexcept : value_(start) {}

    [[nodiscard]] std::uint64_t value() const noexcept { return value_; }
    std::uint64_t fold(event_count::word reading) noexcept {
        // The difference of the lower parts is right across a wrap, as long as there was only one.
        const event_count::word step = reading - static_cast<event_count::word>(value_);
        value_ += step;
        return step;
    }

private:
    std::uint64_t value_ = 0;
};

template <class Counter>
concept event_counter = requires(Counter c, const Counter k, typename Counter::word n) {
    requires std::unsigned_integral<typename Counter::word>;
    { c.add(n) } noexcept -> std::same_as<void>;
    { k.read() } noexcept -> std::same_as<typename Counter::word>;
};

template <class Atomic, class T>
concept atomic_cell = requires(Atomic a, const Atomic k, T v, std::memory_order order) {
    requires noexcept(Atomic(reused, v));
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
static_assert(requires(const void* p, std::size_t n) {
    { prefetch(p) } noexcept;
    { poison(p, n) } noexcept;
    { unpoison(p, n) } noexcept;
    { poisoning() } noexcept -> std::same_as<bool>;
    { pause() } noexcept;
    { yield() } noexcept;
    { in_interrupt() } noexcept -> std::same_as<bool>;
});
static_assert(requires(mutex m) {
    { m.lock() } noexcept;
    { m.unlock() } noexcept;
    { m.try_lock() } noexcept -> std::same_as<bool>;
});
static_assert(requires(atomic<std::uint32_t> w, std::uint32_t v, std::int64_t ns) {
    { wait_on(w, v, ns) } noexcept -> std::same_as<bool>;
    { wait_until(w, v, ns) } noexcept -> std::same_as<bool>;
    { wake_one(w) } noexcept;
});
static_assert(requires(plain<void*> p, void* v) {
    { p.read() } noexcept -> std::same_as<void*>;
    { p.write(v) } noexcept;
});
static_assert((cache_line & (cache_line - 1)) == 0);

/// Holds a mutex while it lives.
class lock_guard {
public:
    explicit lock_guard(mutex& m) noexcept : mutex_(m) { mutex_.lock(); }
    ~lock_guard() { mutex_.unlock(); }
    lock_guard(const lock_guard&) = delete;
    lock_guard& operator=(const lock_guard&) = delete;

private:
    mutex& mutex_;
};

}  // namespace tactus::inline v0::port
