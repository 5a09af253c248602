// SPDX-License-Identifier: Apache-2.0
//
// Cortex-M port: one core, interrupt handlers instead of threads. Implements the contract in
// <tactus/port/port.hpp>; include that, not this.
//
// Cores with exclusive access (M3, M33) use std::atomic for everything. On a core without it (M0)
// std::atomic has only loads and stores; a read-modify-write is a load and a store between which no
// interrupt is taken. The choice is one constant, so a cell looks the same on both.
//
// Thread rule: everything here may be called from interrupt handlers, except that a counter64 has
// one owner.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <tactus/port/plain_edge.hpp>
#include <tactus/port/reused.hpp>

namespace tactus::inline v0::port {

inline constexpr bool has_interrupts = true;
/// The number of the exception that is being handled is not 0.
[[nodiscard]] inline bool in_interrupt() noexcept {
    std::uint32_t number = 0;
    asm volatile("mrs %0, ipsr" : "=r"(number));
    return number != 0;
}

/// Masks interrupts while it lives and then restores what was before, so sections nest.
class critical_section {
public:
    critical_section() noexcept {
        // The clobber keeps memory accesses of the section behind the mask.
        asm volatile("mrs %0, primask\n\tcpsid i" : "=r"(primask_)::"memory");
    }
    ~critical_section() { asm volatile("msr primask, %0" ::"r"(primask_) : "memory"); }
    critical_section(const critical_section&) = delete;
    critical_section& operator=(const critical_section&) = delete;

private:
    std::uint32_t primask_;
};

/// True on cores that can compare and swap (LDREX/STREX).
inline constexpr bool has_exclusive_access = std::atomic<std::uint32_t>::is_always_lock_free;

/// std::atomic with every order spelled out, or its masked twin for read-modify-writes. The masked
/// accesses are relaxed: the section's ends order them for this core's handlers, and there is no
/// other core.
template <class T>
class atomic {
    static_assert(sizeof(T) <= 4, "portable atomics are at most 32 bits or a pointer");

public:
    explicit constexpr atomic(T initial) noexcept : cell_(initial) {}
    atomic(reused_type, T initial) noexcept
        : cell_(initial) {}  // one core: a word is written whole
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;

    [[nodiscard]] T load(std::memory_order order) const noexcept { return cell_.load(order); }
    void store(T value, std::memory_order order) noexcept { cell_.store(value, order); }

    T exchange(T value, [[maybe_unused]] std::memory_order order) noexcept {
        if constexpr (has_exclusive_access)
            return cell_.exchange(value, order);
        else
            return masked([value](T) { return value; });
    }

    [[nodiscard]] bool compare_exchange_weak(T& seen, T wanted,
                                             [[maybe_unused]] std::memory_order success,
                                             [[maybe_unused]] std::memory_order failure) noexcept {
        if constexpr (has_exclusive_access)
            return cell_.compare_exchange_weak(seen, wanted, success, failure);
        else
            return masked_compare_exchange(seen, wanted);
    }
    [[nodiscard]] bool compare_exchange_strong(
        T& seen, T wanted, [[maybe_unused]] std::memory_order success,
        [[maybe_unused]] std::memory_order failure) noexcept {
        if constexpr (has_exclusive_access)
            return cell_.compare_exchange_strong(seen, wanted, success, failure);
        else
            return masked_compare_exchange(seen, wanted);
    }

    T fetch_add(T n, [[maybe_unused]] std::memory_order order) noexcept
        requires std::is_integral_v<T>
    {
        if constexpr (has_exclusive_access)
            return cell_.fetch_add(n, order);
        else
            return masked([n](T old) { return static_cast<T>(bits(old) + bits(n)); });
    }
    T fetch_sub(T n, [[maybe_unused]] std::memory_order order) noexcept
        requires std::is_integral_v<T>
    {
        if constexpr (has_exclusive_access)
            return cell_.fetch_sub(n, order);
        else
            return masked([n](T old) { return static_cast<T>(bits(old) - bits(n)); });
    }
    T fetch_or(T n, [[maybe_unused]] std::memory_order order) noexcept
        requires std::is_integral_v<T>
    {
        if constexpr (has_exclusive_access)
            return cell_.fetch_or(n, order);
        else
            return masked([n](T old) { return static_cast<T>(bits(old) | bits(n)); });
    }
    T fetch_and(T n, [[maybe_unused]] std::memory_order order) noexcept
        requires std::is_integral_v<T>
    {
        if constexpr (has_exclusive_access)
            return cell_.fetch_and(n, order);
        else
            return masked([n](T old) { return static_cast<T>(bits(old) & bits(n)); });
    }

private:
    // Unsigned, so that arithmetic wraps as std::atomic's does.
    static constexpr std::uint32_t bits(T value) noexcept {
        return static_cast<std::uint32_t>(value);
    }

    template <class Change>
    T masked(Change change) noexcept {
        const critical_section section;
        const T old = cell_.load(std::memory_order_relaxed);
        cell_.store(change(old), std::memory_order_relaxed);
        return old;
    }

    bool masked_compare_exchange(T& seen, T wanted) noexcept {
        const critical_section section;
        const T old = cell_.load(std::memory_order_relaxed);
        if (old != seen) {
            seen = old;
            return false;
        }
        cell_.store(wanted, std::memory_order_relaxed);
        return true;
    }

    std::atomic<T> cell_;
};

class event_count {
public:
    using word = std::uint32_t;

    event_count() = default;
    explicit constexpr event_count(word start) noexcept : count_(start) {}

    void add(word n) noexcept {
        count_.fetch_add(n, std::memory_order_release);  // E-tick: -> read
    }
    [[nodiscard]] word read() const noexcept {
        return count_.load(std::memory_order_acquire);  // E-tick
    }

private:
    // E-tick "ticks counted": what a notifier did before add happens before what the reader does
    // after seeing it.
    atomic<word> count_{0};
};

/// There is one thread: holding the mutex keeps interrupt handlers out, which may not lock it.
class mutex {
public:
    void lock() noexcept { asm volatile("mrs %0, primask\n\tcpsid i" : "=r"(primask_)::"memory"); }
    void unlock() noexcept { asm volatile("msr primask, %0" ::"r"(primask_) : "memory"); }
    [[nodiscard]] bool try_lock() noexcept {
        lock();
        return true;
    }

private:
    std::uint32_t primask_ = 0;
};

/// Sleeps until the next interrupt, unless the word has changed. The check and the sleep are one
/// step: with interrupts masked an interrupt ends the sleep but is taken only afterwards.
[[nodiscard]] inline bool wait_on(const atomic<std::uint32_t>& word, std::uint32_t expected,
                                  std::int64_t timeout_ns) noexcept {
    const critical_section section;
    if (timeout_ns != 0 && word.load(std::memory_order_relaxed) == expected)
        asm volatile("dsb\n\twfi" ::: "memory");
    return timeout_ns != 0;
}
[[nodiscard]] inline bool wait_until(const atomic<std::uint32_t>& word, std::uint32_t expected,
                                     std::int64_t deadline_ns) noexcept {
    return wait_on(word, expected, deadline_ns);
}
inline void wake_one(atomic<std::uint32_t>&) noexcept {}

template <class T>
[[nodiscard]] T& thread_instance() noexcept {
    static_assert(std::is_trivially_destructible_v<T>);
    static constinit T instance{};
    return instance;
}
inline void at_thread_exit(void (*)(void*) noexcept, void*) noexcept {}

inline void pause() noexcept {}
inline void yield() noexcept {}

inline constexpr std::size_t cache_line = 4;

/// These cores have no cache to fill ahead.
inline void prefetch(const void*) noexcept {}

[[nodiscard]] constexpr bool poisoning() noexcept {
    return false;
}
inline void poison(const void*, std::size_t) noexcept {}
inline void unpoison(const void*, std::size_t) noexcept {}

}  // namespace tactus::inline v0::port
