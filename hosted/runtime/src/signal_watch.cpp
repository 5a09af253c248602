// SPDX-License-Identifier: Apache-2.0
//
// One pipe, one thread and one pair of handlers for all systems of the process.
#include "signal_watch.hpp"

#include "signals_blocked.hpp"

#include <tactus/port/port.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <iterator>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

namespace tactus::inline v0::runtime {
namespace {

constexpr int watched[] = {SIGTERM, SIGINT};
constexpr unsigned char end_mark = 0;

// timeout(1) and shells signal a process and its group: the program gets the same signal twice.
constexpr std::int64_t same_signal_us = 100'000;

/// The first signal and its time; 0: none yet.
struct first_signal {
    static constexpr unsigned number_bits = 8;
    static std::uint64_t packed(int number, std::int64_t at_us) noexcept {
        return (static_cast<std::uint64_t>(at_us) << number_bits) |
               static_cast<std::uint64_t>(number);
    }
    /// A handler on another thread may have read its clock a little later.
    static bool is_repeated(std::uint64_t first, int number, std::int64_t at_us) noexcept {
        constexpr std::uint64_t number_mask = (1U << number_bits) - 1;
        return (first & number_mask) == static_cast<std::uint64_t>(number) &&
               at_us - static_cast<std::int64_t>(first >> number_bits) < same_signal_us;
    }
};

// What the handler touches. Relaxed: installing the handler comes after writing them, and what it
// writes into the pipe comes before what is read from it.
port::atomic<int> pipe_in{-1};
std::atomic<std::uint64_t> seen{0};
thread_local bool is_telling = false;
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// Async-signal-safe.
std::int64_t now_us() noexcept {
    timespec now = {};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1'000;
}

void on_signal(int number) {
    const int before = errno;
    const std::int64_t at = now_us();
    std::uint64_t first = 0;
    if (seen.compare_exchange_strong(first, first_signal::packed(number, at),
                                     std::memory_order_relaxed, std::memory_order_relaxed)) {
        const auto mark = static_cast<unsigned char>(number);
        // A pipe that takes no byte: then no thread could end this in phases.
        if (::write(pipe_in.load(std::memory_order_relaxed), &mark, 1) != 1)
            ::_exit(128 + number);
    } else if (!first_signal::is_repeated(first, number, at)) {
        ::_exit(128 + number);
    }
    errno = before;
}

}  // namespace

struct signal_watchers {
    /// Lives as long as the process: a system may be a global.
    static signal_watchers& here() {
        static auto& all = *new signal_watchers;  // NOLINT(cppcoreguidelines-owning-memory)
        return all;
    }

    void add(signal_watch& w) {
        const std::lock_guard turns(changing);
        {
            const std::lock_guard held(mutex);
            all.reserve(all.size() + 1);  // once there are handlers, nothing throws
        }
        if (!reader.joinable())
            begin();
        const std::lock_guard held(mutex);
        all.push_back(&w);
    }
    void remove(signal_watch& w) {
        const std::lock_guard turns(changing);
        bool last = false;
        {
            const std::lock_guard held(mutex);
            std::erase(all, &w);
            last = all.empty();
        }
        if (last)
            end();
    }

    void begin() {
        // The pipe stays: a handler may still be about to write into it when its watch has ended.
        if (pipe_out == -1) {
            int ends[2] = {};
            if (::pipe2(ends, O_CLOEXEC) != 0)
                throw std::system_error(errno, std::generic_category(), "no pipe for signals");
            pipe_out = ends[0];
            pipe_in.store(ends[1], std::memory_order_relaxed);
        }
        {
            const signals_blocked blocked;
            reader = std::thread([this] { read(); });
        }
        pthread_setname_np(reader.native_handle(), "tactus-signals");
        seen.store(0, std::memory_order_relaxed);
        struct sigaction action = {};
        action.sa_handler = on_signal;
        action.sa_flags = SA_RESTART;
        sigemptyset(&action.sa_mask);
        for (std::size_t i = 0; i < std::size(watched); ++i)
            sigaction(watched[i], &action, &before[i]);
    }
    void end() {
        for (std::size_t i = 0; i < std::size(watched); ++i)
            sigaction(watched[i], &before[i], nullptr);
        (void)!::write(pipe_in.load(std::memory_order_relaxed), &end_mark, 1);
        reader.join();
    }
    void read() {
        for (;;) {
            unsigned char mark = end_mark;
            const auto got = ::read(pipe_out, &mark, 1);
            if (got < 0 && errno == EINTR)
                continue;
            if (got != 1 || mark == end_mark)
                return;
            // Under the lock: who ends its watch meanwhile waits for its call.
            const std::lock_guard held(mutex);
            is_telling = true;
            for (signal_watch* w : all)
                w->told_(mark);
            is_telling = false;
        }
    }

    std::mutex changing;  // of the thread and the handlers; taken first
    int pipe_out = -1;
    std::thread reader;
    struct sigaction before[std::size(watched)] = {};
    std::mutex mutex;
    std::vector<signal_watch*> all;  // under it
};

void leave_signals_of_parent() noexcept {
    // Without a pipe there never was a watch.
    if (pipe_in.load(std::memory_order_relaxed) == -1)
        return;
    signal_watchers& all = signal_watchers::here();
    for (std::size_t i = 0; i < std::size(watched); ++i) {
        struct sigaction now = {};
        if (sigaction(watched[i], nullptr, &now) == 0 && now.sa_handler == on_signal)
            sigaction(watched[i], &all.before[i], nullptr);
    }
    ::close(pipe_in.exchange(-1, std::memory_order_relaxed));
    ::close(std::exchange(all.pipe_out, -1));
}

bool signal_watch::calls_here() noexcept {
    return is_telling;
}

signal_watch::signal_watch(std::function<void(int)> told) : told_(std::move(told)) {
    signal_watchers::here().add(*this);
}
signal_watch::~signal_watch() {
    signal_watchers::here().remove(*this);
}

}  // namespace tactus::inline v0::runtime
