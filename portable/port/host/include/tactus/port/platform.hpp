// SPDX-License-Identifier: Apache-2.0
//
// Host port: Linux, std::atomic. Implements the contract in <tactus/port/port.hpp>; include that,
// not this.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <type_traits>

#include <tactus/port/no_interrupts.hpp>
#include <tactus/port/plain_edge.hpp>
#include <tactus/port/reused.hpp>

namespace tactus::inline v0::port {

/// std::atomic with every order spelled out. Wider types are refused here too, though this machine
/// has them: code that compiles for the host must compile for a core that has not.
template <class T>
class atomic {
    static_assert(sizeof(T) <= 4 || std::is_pointer_v<T>,
                  "portable atomics are at most 32 bits or a pointer");
    static_assert(std::atomic<T>::is_always_lock_free);

public:
    explicit constexpr atomic(T initial) noexcept : cell_(initial) {}
    // Relaxed: what orders the object it is part of orders this.
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): the word of the last one goes on
    atomic(reused_type, T initial) noexcept { cell_.store(initial, std::memory_order_relaxed); }
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;

    [[nodiscard]] T load(std::memory_order order) const noexcept { return cell_.load(order); }
    void store(T value, std::memory_order order) noexcept { cell_.store(value, order); }
    T exchange(T value, std::memory_order order) noexcept { return cell_.exchange(value, order); }

    [[nodiscard]] bool compare_exchange_weak(T& seen, T wanted, std::memory_order success,
                                             std::memory_order failure) noexcept {
        return cell_.compare_exchange_weak(seen, wanted, success, failure);
    }
    [[nodiscard]] bool compare_exchange_strong(T& seen, T wanted, std::memory_order success,
                                               std::memory_order failure) noexcept {
        return cell_.compare_exchange_strong(seen, wanted, success, failure);
    }

    T fetch_add(T n, std::memory_order order) noexcept
        requires std::is_integral_v<T>
    {
        return cell_.fetch_add(n, order);
    }
    T fetch_sub(T n, std::memory_order order) noexcept
        requires std::is_integral_v<T>
    {
        return cell_.fetch_sub(n, order);
    }
    T fetch_or(T n, std::memory_order order) noexcept
        requires std::is_integral_v<T>
    {
        return cell_.fetch_or(n, order);
    }
    T fetch_and(T n, std::memory_order order) noexcept
        requires std::is_integral_v<T>
    {
        return cell_.fetch_and(n, order);
    }

private:
    friend bool wait_until(const atomic<std::uint32_t>&, std::uint32_t, std::int64_t) noexcept;
    friend void wake_one(atomic<std::uint32_t>&) noexcept;

    // In a union, so that a constructor may leave it as it is.
    union {
        std::atomic<T> cell_;
    };
};

class event_count {
public:
    using word = std::uint64_t;

    event_count() = default;
    explicit constexpr event_count(word start) noexcept : count_(start) {}

    void add(word n) noexcept {
        count_.fetch_add(n, std::memory_order_release);
    }  // E-tick: -> read
    [[nodiscard]] word read() const noexcept {
        return count_.load(std::memory_order_acquire);
    }  // E-tick

private:
    // E-tick "ticks counted": what a notifier did before add happens before what the reader does
    // after seeing it.
    std::atomic<word> count_{0};
};

class mutex {
public:
    void lock() noexcept { mutex_.lock(); }
    void unlock() noexcept { mutex_.unlock(); }
    [[nodiscard]] bool try_lock() noexcept { return mutex_.try_lock(); }

private:
    friend class condition;
    std::mutex mutex_;
};

class condition {
public:
    /// Requires: the caller holds `m`.
    void wait(mutex& m) noexcept {
        std::unique_lock held(m.mutex_, std::adopt_lock);
        condition_.wait(held);
        held.release();
    }
    void notify_one() noexcept { condition_.notify_one(); }
    void notify_all() noexcept { condition_.notify_all(); }

private:
    std::condition_variable condition_;
};

// Futexes; an interrupted or refused sleep is a wake-up for no reason.
bool wait_on(const atomic<std::uint32_t>& word, std::uint32_t expected,
             std::int64_t timeout_ns) noexcept;
bool wait_until(const atomic<std::uint32_t>& word, std::uint32_t expected,
                std::int64_t deadline_ns) noexcept;
void wake_one(atomic<std::uint32_t>& word) noexcept;

template <class T>
[[nodiscard]] T& thread_instance() noexcept {
    static_assert(std::is_trivially_destructible_v<T>);
    static constinit thread_local T instance{};
    return instance;
}
void at_thread_exit(void (*call)(void*) noexcept, void* with) noexcept;

inline void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb");  // what yield does not do on these cores: wait a few cycles
#endif
}
void yield() noexcept;

inline constexpr std::size_t cache_line = 64;

inline void prefetch(const void* address) noexcept {
    __builtin_prefetch(address);
}

[[nodiscard]] bool poisoning() noexcept;
void poison(const void* from, std::size_t size) noexcept;
void unpoison(const void* from, std::size_t size) noexcept;

}  // namespace tactus::inline v0::port
