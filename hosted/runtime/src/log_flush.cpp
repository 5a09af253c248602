// SPDX-License-Identifier: Apache-2.0
//
// What a signal handler may touch is static and lock-free here.
#include "log_flush.hpp"

#include <tactus/port/last_words.hpp>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <mutex>
#include <utility>

#include <unistd.h>

namespace tactus::inline v0::runtime {
namespace {

static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(std::atomic<pid_t>::is_always_lock_free);

constexpr std::int64_t wait_max_ms = 1'000;

// More logs than that at once are not waited for.
constinit std::array<log_account, 64> accounts;
// Threads that wait to end the process; and one has waited in vain, so that a failed check and the
// abort after it do not wait twice.
constinit std::atomic<std::uint32_t> waiting{0};
constinit std::atomic<bool> gave_up{false};

/// Async-signal-safe.
std::int64_t now_ms() noexcept {
    timespec now = {};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::int64_t>(now.tv_sec) * 1'000 + now.tv_nsec / 1'000'000;
}
void sleep_us(long us) noexcept {
    const timespec time{0, us * 1'000};
    nanosleep(&time, nullptr);
}

}  // namespace

log_account* log_account::claim() noexcept {
    for (log_account& a : accounts) {
        if (!a.claimed_.exchange(true, std::memory_order_acquire))
            return &a;
    }
    return nullptr;
}

void log_account::release() noexcept {
    // Its log has written all: the counts of the next one go on from equal ones.
    thread_.store(0, std::memory_order_relaxed);
    flushed_.store(begun_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    claimed_.store(false, std::memory_order_release);
}

bool log_account::begin() noexcept {
    // Relaxed: a record that comes just now may be written or not.
    if (waiting.load(std::memory_order_relaxed) != 0)
        return false;
    begun_.fetch_add(1, std::memory_order_relaxed);
    return true;
}

void log_account::runs_here() noexcept {
    thread_.store(gettid(), std::memory_order_relaxed);
}

void log_account::pause() noexcept {
    sleep_us(10);
}

void wait_for_logs() noexcept {
    const int before = errno;
    waiting.fetch_add(1, std::memory_order_relaxed);
    const pid_t here = gettid();
    const std::int64_t end = now_ms() + wait_max_ms;
    for (const log_account& a : accounts) {
        // A log whose own thread ends the process writes nothing more.
        if (!a.claimed_.load(std::memory_order_acquire) ||
            a.thread_.load(std::memory_order_relaxed) == here)
            continue;
        const std::uint32_t begun = a.begun_.load(std::memory_order_relaxed);
        while (!a.has_flushed(begun) && !gave_up.load(std::memory_order_relaxed)) {
            if (now_ms() >= end)
                gave_up.store(true, std::memory_order_relaxed);
            sleep_us(200);
        }
    }
    waiting.fetch_sub(1, std::memory_order_relaxed);
    errno = before;
}

void leave_logs_of_parent() noexcept {
    for (log_account& a : accounts)
        a.flushed_.store(a.begun_.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

namespace {

constexpr std::array fatal_signals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

void on_fatal_signal(int number, siginfo_t* info, void*) {
    wait_for_logs();
    // The default action ends the process: the instruction that failed fails again, abort() goes
    // on, and a signal that was sent is sent again. It is blocked until this returns.
    std::signal(number, SIG_DFL);
    if (info == nullptr || info->si_code <= 0)
        ::raise(number);
}

std::terminate_handler terminate_before = nullptr;

[[noreturn]] void on_terminate() {
    // A handler that was installed over this one, and was there before the next system, calls it
    // again.
    static thread_local bool has_begun = false;
    wait_for_logs();
    if (terminate_before != nullptr && !std::exchange(has_begun, true))
        terminate_before();
    std::abort();
}

/// What the systems of the process have asked for.
struct handlers {
    std::mutex mutex;
    // Under it.
    unsigned on_terminate = 0;
    unsigned on_signals = 0;

    /// Lives as long as the process: a system may be a global.
    static handlers& here() {
        static auto& all = *new handlers;  // NOLINT(cppcoreguidelines-owning-memory)
        return all;
    }
};

bool is_ours(const struct sigaction& a) {
    return (a.sa_flags & SA_SIGINFO) != 0 && a.sa_sigaction == on_fatal_signal;
}

void install_for_signals() {
    for (const int number : fatal_signals) {
        struct sigaction now = {};
        if (::sigaction(number, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) != 0 ||
            now.sa_handler != SIG_DFL)
            continue;  // the program has its own, or ignores it
        struct sigaction ours = {};
        ours.sa_sigaction = on_fatal_signal;
        ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
        sigemptyset(&ours.sa_mask);
        (void)::sigaction(number, &ours, nullptr);
    }
}

void remove_for_signals() {
    for (const int number : fatal_signals) {
        struct sigaction now = {};
        if (::sigaction(number, nullptr, &now) == 0 && is_ours(now))
            (void)std::signal(number, SIG_DFL);
    }
}

}  // namespace

log_flush::log_flush(const options& o) : how_(o) {
    port::last_words::set_flush(wait_for_logs);
    handlers& all = handlers::here();
    const std::lock_guard held(all.mutex);
    // A handler that was there once stays known: one that came later may call ours still.
    if (how_.on_terminate && all.on_terminate++ == 0 && std::get_terminate() != &on_terminate)
        terminate_before = std::set_terminate(on_terminate);
    if (how_.on_fatal_signals && all.on_signals++ == 0)
        install_for_signals();
}

log_flush::~log_flush() {
    handlers& all = handlers::here();
    const std::lock_guard held(all.mutex);
    if (how_.on_terminate && --all.on_terminate == 0 && std::get_terminate() == &on_terminate)
        (void)std::set_terminate(terminate_before);
    if (how_.on_fatal_signals && --all.on_signals == 0)
        remove_for_signals();
}

}  // namespace tactus::inline v0::runtime
