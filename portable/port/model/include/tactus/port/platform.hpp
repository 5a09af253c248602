// SPDX-License-Identifier: Apache-2.0
//
// Model port: the contract of <tactus/port/port.hpp> with every access watched; include that, not
// this. What a check is and how to write one is in <tactus/port/model.hpp>.
//
// Inside a check every operation of an atomic, a mutex, a condition or a sleeping word is a step
// that the checker schedules. Outside of one, these are ordinary values of one thread, so that
// static objects and fixtures work. Every operation takes the place it is called from as a last,
// defaulted argument; the contract does not know of it.
//
// Cells are trivially destructible, as on the host: the checker learns of the end of a cell from
// dispose() and poison() alone.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>

#include <tactus/port/model_hooks.hpp>
#include <tactus/port/no_interrupts.hpp>
#include <tactus/port/reused.hpp>

namespace tactus::inline v0::port {

/// A happens-before edge. The end that is the active mutation gives a weaker order (MC-4).
class edge {
public:
    explicit constexpr edge(const char* name) noexcept : name_(name) {}

    [[nodiscard]] std::memory_order acquire(
        model::detail::where at = model::detail::where::current()) const noexcept {
        return model::detail::order_of(name_, model::detail::end::acquire, at);
    }
    [[nodiscard]] std::memory_order release(
        model::detail::where at = model::detail::where::current()) const noexcept {
        return model::detail::order_of(name_, model::detail::end::release, at);
    }
    [[nodiscard]] std::memory_order acq_rel(
        model::detail::where at = model::detail::where::current()) const noexcept {
        return model::detail::order_of(name_, model::detail::end::acq_rel, at);
    }
    [[nodiscard]] std::memory_order seq_cst(
        model::detail::where at = model::detail::where::current()) const noexcept {
        return model::detail::order_of(name_, model::detail::end::seq_cst, at);
    }
    [[nodiscard]] constexpr const char* name() const noexcept { return name_; }

private:
    const char* name_;
};

template <class T>
class atomic {
    static_assert(sizeof(T) <= 4 || std::is_pointer_v<T>,
                  "portable atomics are at most 32 bits or a pointer");
    using change = model::detail::change;
    using where = model::detail::where;

public:
    explicit constexpr atomic(T initial, where at = where::current()) noexcept : value_(initial) {
        if !consteval {
            if (model::detail::running)
                model::detail::born(cell(), model::detail::cell_kind::atomic, at);
        }
    }
    constexpr atomic(reused_type, T initial, where at = where::current()) noexcept
        : atomic(initial, at) {}
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;

    [[nodiscard]] T load(std::memory_order order, where at = where::current()) const noexcept {
        return model::detail::running ? value_of(model::detail::load(cell(), order, at)) : value_;
    }
    void store(T value, std::memory_order order, where at = where::current()) noexcept {
        if (model::detail::running)
            return model::detail::store(cell(), bits_of(value), order, at);
        value_ = value;
    }
    T exchange(T value, std::memory_order order, where at = where::current()) noexcept {
        return modify(change::exchange, value, order, at);
    }

    [[nodiscard]] bool compare_exchange_weak(T& seen, T wanted, std::memory_order success,
                                             std::memory_order failure,
                                             where at = where::current()) noexcept {
        return compare(seen, wanted, success, failure, model::detail::strength::weak, at);
    }
    [[nodiscard]] bool compare_exchange_strong(T& seen, T wanted, std::memory_order success,
                                               std::memory_order failure,
                                               where at = where::current()) noexcept {
        return compare(seen, wanted, success, failure, model::detail::strength::strong, at);
    }

    T fetch_add(T n, std::memory_order order, where at = where::current()) noexcept
        requires std::is_integral_v<T>
    {
        return modify(change::add, n, order, at);
    }
    T fetch_sub(T n, std::memory_order order, where at = where::current()) noexcept
        requires std::is_integral_v<T>
    {
        return modify(change::subtract, n, order, at);
    }
    T fetch_or(T n, std::memory_order order, where at = where::current()) noexcept
        requires std::is_integral_v<T>
    {
        return modify(change::set_bits, n, order, at);
    }
    T fetch_and(T n, std::memory_order order, where at = where::current()) noexcept
        requires std::is_integral_v<T>
    {
        return modify(change::keep_bits, n, order, at);
    }

    /// For the port itself and for model::name().
    [[nodiscard]] model::detail::cell cell() const noexcept {
        return {&value_, sizeof(T), &known_, std::is_pointer_v<T>};
    }

private:
    [[nodiscard]] static std::uint64_t bits_of(T value) noexcept {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &value, sizeof(T));
        return bits;
    }
    [[nodiscard]] static T value_of(std::uint64_t bits) noexcept {
        T value;
        std::memcpy(&value, &bits, sizeof(T));
        return value;
    }

    T modify(change how, T operand, std::memory_order order, where at) noexcept {
        if (model::detail::running)
            return value_of(model::detail::modify(cell(), how, bits_of(operand), order, at));
        const T before = value_;
        if constexpr (std::is_integral_v<T>) {
            const std::uint64_t old = bits_of(before);
            const std::uint64_t by = bits_of(operand);
            value_ = value_of(how == change::exchange   ? by
                              : how == change::add      ? old + by
                              : how == change::subtract ? old - by
                              : how == change::set_bits ? old | by
                                                        : old & by);
        } else {
            value_ = operand;
        }
        return before;
    }
    bool compare(T& seen, T wanted, std::memory_order success, std::memory_order failure,
                 model::detail::strength how, where at) noexcept {
        if (model::detail::running) {
            std::uint64_t bits = bits_of(seen);
            const bool done = model::detail::compare_exchange(cell(), bits, bits_of(wanted),
                                                              success, failure, how, at);
            if (!done)
                seen = value_of(bits);
            return done;
        }
        if (bits_of(value_) != bits_of(seen)) {
            seen = value_;
            return false;
        }
        value_ = wanted;
        return true;
    }

    mutable T value_;  // the newest value
    mutable model::detail::handle known_;
};

/// A cell that something else orders; two accesses that nothing orders are a race.
template <class T>
class plain {
    static_assert(std::is_trivially_copyable_v<T>, "the model puts values back after an execution");
    using where = model::detail::where;

public:
    constexpr plain(where at = where::current()) noexcept : value_{} { born(at); }
    explicit constexpr plain(T initial, where at = where::current()) noexcept : value_(initial) {
        born(at);
    }
    plain(const plain& other, where at = where::current()) noexcept : plain(other.read(at), at) {}
    plain& operator=(const plain& other) noexcept {
        write(other.read());
        return *this;
    }

    [[nodiscard]] constexpr T read(where at = where::current()) const noexcept {
        if !consteval {
            if (model::detail::running)
                model::detail::reads_plain(cell(), at);
        }
        return value_;
    }
    constexpr void write(T value, where at = where::current()) noexcept {
        if !consteval {
            if (model::detail::running)
                model::detail::writes_plain(cell(), at);
        }
        value_ = value;
    }

    /// For model::name().
    [[nodiscard]] model::detail::cell cell() const noexcept {
        return {&value_, sizeof(T), &known_, std::is_pointer_v<T>};
    }

private:
    constexpr void born(where at) noexcept {
        if !consteval {
            if (model::detail::running)
                model::detail::born(cell(), model::detail::cell_kind::plain, at);
        }
    }

    mutable T value_;
    mutable model::detail::handle known_;
};

class event_count {
public:
    using word = std::uint64_t;

    constexpr event_count() noexcept = default;
    explicit constexpr event_count(word start) noexcept : count_(start) {}

    void add(word n, model::detail::where at = model::detail::where::current()) noexcept {
        if (model::detail::running)
            static_cast<void>(model::detail::modify(cell(), model::detail::change::add, n,
                                                    std::memory_order_release, at));  // E-tick
        else
            count_ += n;
    }
    [[nodiscard]] word read(
        model::detail::where at = model::detail::where::current()) const noexcept {
        return model::detail::running ? model::detail::load(cell(), std::memory_order_acquire, at)
                                      : count_;  // E-tick
    }

private:
    [[nodiscard]] model::detail::cell cell() const noexcept {
        return {&count_, sizeof(word), &known_};
    }

    mutable word count_ = 0;
    mutable model::detail::handle known_;
};

class mutex {
    using where = model::detail::where;

public:
    constexpr mutex() noexcept = default;
    mutex(const mutex&) = delete;
    mutex& operator=(const mutex&) = delete;

    void lock(where at = where::current()) noexcept {
        if (model::detail::running)
            model::detail::lock(known_, at);
    }
    void unlock(where at = where::current()) noexcept {
        if (model::detail::running)
            model::detail::unlock(known_, at);
    }
    [[nodiscard]] bool try_lock(where at = where::current()) noexcept {
        return !model::detail::running || model::detail::try_lock(known_, at);
    }

private:
    friend class condition;
    model::detail::handle known_;
};

class condition {
    using where = model::detail::where;

public:
    constexpr condition() noexcept = default;
    condition(const condition&) = delete;
    condition& operator=(const condition&) = delete;

    /// Requires: the caller holds `m`. Outside of a check it wakes up at once, for no reason.
    void wait(mutex& m, where at = where::current()) noexcept {
        if (model::detail::running)
            model::detail::wait(known_, m.known_, at);
    }
    void notify_one(where at = where::current()) noexcept {
        if (model::detail::running)
            model::detail::notify(known_, false, at);
    }
    void notify_all(where at = where::current()) noexcept {
        if (model::detail::running)
            model::detail::notify(known_, true, at);
    }

private:
    model::detail::handle known_;
};

/// Outside of a check nobody could wake the caller: a sleep with a limit is over at once, one
/// without returns for no reason.
inline bool wait_on(const atomic<std::uint32_t>& word, std::uint32_t expected,
                    std::int64_t timeout_ns,
                    model::detail::where at = model::detail::where::current()) noexcept {
    if (model::detail::running)
        return model::detail::wait_on(word.cell(), expected, timeout_ns, at);
    return timeout_ns < 0 || word.load(std::memory_order_relaxed) != expected;
}
/// There is no clock: a limit is a limit, however it is given.
inline bool wait_until(const atomic<std::uint32_t>& word, std::uint32_t expected,
                       std::int64_t deadline_ns,
                       model::detail::where at = model::detail::where::current()) noexcept {
    return wait_on(word, expected, deadline_ns, at);
}
inline void wake_one(atomic<std::uint32_t>& word,
                     model::detail::where at = model::detail::where::current()) noexcept {
    if (model::detail::running)
        model::detail::wake_one(word.cell(), at);
}

/// Inside a check: one T for each thread of each execution.
template <class T>
[[nodiscard]] T& thread_instance() noexcept {
    static_assert(std::is_trivially_destructible_v<T>);
    static constinit thread_local T outside{};
    if (!model::detail::running)
        return outside;
    const auto [memory, fresh] = model::detail::thread_instance(&outside, sizeof(T), alignof(T));
    if (fresh) {
        ::new (memory) T{};
        model::detail::thread_instance_made();
    }
    return *static_cast<T*>(memory);
}
void at_thread_exit(void (*call)(void*) noexcept, void* with) noexcept;

inline void pause(model::detail::where at = model::detail::where::current()) noexcept {
    if (model::detail::running)
        model::detail::give_way(at);
}
inline void yield(model::detail::where at = model::detail::where::current()) noexcept {
    if (model::detail::running)
        model::detail::give_way(at);
}

inline constexpr std::size_t cache_line = 64;

inline void prefetch(const void*) noexcept {}

[[nodiscard]] bool poisoning() noexcept;
void poison(const void* from, std::size_t size,
            model::detail::where at = model::detail::where::current()) noexcept;
void unpoison(const void* from, std::size_t size) noexcept;

}  // namespace tactus::inline v0::port
