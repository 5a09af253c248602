// SPDX-License-Identifier: Apache-2.0
//
// Host port: sleeping on a word, and what happens when a thread ends.
#include "exit_calls.hpp"

#include <tactus/port/port.hpp>

#include <sched.h>
#include <cerrno>
#include <ctime>
#include <limits>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tactus::inline v0::port {

bool wait_until(const atomic<std::uint32_t>& word, std::uint32_t expected,
                std::int64_t deadline_ns) noexcept {
    constexpr std::int64_t second = 1'000'000'000;
    timespec limit{};
    if (deadline_ns >= 0) {
        limit.tv_sec = deadline_ns / second;
        limit.tv_nsec = deadline_ns % second;
    }
    for (;;) {
        // Absolute, by the monotonic clock.
        const long result =
            ::syscall(SYS_futex, &word.cell_, FUTEX_WAIT_BITSET_PRIVATE, expected,
                      deadline_ns < 0 ? nullptr : &limit, nullptr, FUTEX_BITSET_MATCH_ANY);
        if (result != -1 || errno != EINTR)
            return !(result == -1 && errno == ETIMEDOUT);
    }
}

bool wait_on(const atomic<std::uint32_t>& word, std::uint32_t expected,
             std::int64_t timeout_ns) noexcept {
    if (timeout_ns < 0)
        return wait_until(word, expected, -1);
    // An instant, not a duration: a signal must not make it begin again.
    constexpr std::int64_t second = 1'000'000'000;
    constexpr std::int64_t latest = std::numeric_limits<std::int64_t>::max();
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    const std::int64_t here = std::int64_t{now.tv_sec} * second + now.tv_nsec;
    return wait_until(word, expected, timeout_ns < latest - here ? here + timeout_ns : latest);
}

void wake_one(atomic<std::uint32_t>& word) noexcept {
    ::syscall(SYS_futex, &word.cell_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void yield() noexcept {
    ::sched_yield();
}

void at_thread_exit(void (*call)(void*) noexcept, void* with) noexcept {
    static thread_local exit_calls calls;
    calls.add(call, with);
}

}  // namespace tactus::inline v0::port
