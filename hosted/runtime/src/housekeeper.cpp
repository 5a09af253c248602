// SPDX-License-Identifier: Apache-2.0
//
// One loop: tend everybody, sleep until the earliest of what they said, or until called.
//
// It sleeps in a read of a timer of the kernel. Setting that timer wakes nobody, so a caller that
// only wants the housekeeper to look in a while (wake_within) costs neither thread a wake-up now.
#include <tactus/runtime/housekeeper.hpp>

#include "signals_blocked.hpp"

#include <tactus/runtime/steady_clock.hpp>

#include <sys/timerfd.h>
#include <unistd.h>
#include <cerrno>
#include <chrono>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <pthread.h>

namespace tactus::inline v0::runtime {

namespace {

/// Without memory for it, it is tended again soon.
instant tended(housekept& who, instant now) noexcept {
    try {
        return who.tend(now);
    } catch (const std::exception&) {
        return now + duration::from_ms(50);
    }
}

}  // namespace

/// A timer of the kernel that one thread sleeps for.
class housekeeper::sleep_timer {
public:
    sleep_timer() : fd_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)) {
        if (fd_ < 0)
            throw std::system_error(errno, std::generic_category(), "a timer for the housekeeper");
    }
    ~sleep_timer() { ::close(fd_); }
    sleep_timer(const sleep_timer&) = delete;
    sleep_timer& operator=(const sleep_timer&) = delete;

    /// Due in `d`, at once if that has passed; never for never_due.
    void set(duration d) noexcept {
        constexpr std::int64_t ns_per_s = 1'000'000'000;
        itimerspec at{};
        if (d != never_due) {
            const std::int64_t ns = d.ns() > 0 ? d.ns() : 1;  // 0 would be never
            at.it_value = {.tv_sec = static_cast<std::time_t>(ns / ns_per_s),
                           .tv_nsec = static_cast<long>(ns % ns_per_s)};
        }
        (void)timerfd_settime(fd_, 0, &at, nullptr);
    }
    /// Sleeps until it is due; it is not due any more then.
    void wait() noexcept {
        std::uint64_t times = 0;
        if (::read(fd_, &times, sizeof times) >= 0 || errno == EINTR)
            return;
        // A program that has closed all its descriptors: look now and then.
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    static constexpr duration never_due = duration::max();

private:
    int fd_;
};

struct housekeeper::state {
    std::mutex mutex;
    sleep_timer timer;
    // Under the lock, which nobody holds while one is tended.
    std::vector<housekept*> charges;
    bool called = false;
    bool stopping = false;
    instant asked_for = instant::never();  // by wake_within, since the last round began
    bool sleeps = false;                   // until `wakes_at`
    instant wakes_at = instant::never();
    steady_clock time;

    void sleep_until(instant at) {
        wakes_at = at;
        timer.set(at == instant::never() ? sleep_timer::never_due : at - time.now());
    }
    void call() {
        called = true;
        if (sleeps)
            timer.set(duration::zero());
    }

    std::thread thread;
};

housekeeper::housekeeper(const std::string& name) : state_(std::make_unique<state>()) {
    constexpr std::size_t name_max = 15;
    const std::string end = "-keeper";
    const std::string called = name.substr(0, name_max - end.size()) + end;
    const signals_blocked blocked;
    state_->thread = std::thread([this] { run(); });
    pthread_setname_np(state_->thread.native_handle(), called.c_str());
}

housekeeper::~housekeeper() {
    stop();
}

void housekeeper::add(housekept& who) {
    const std::lock_guard held(state_->mutex);
    state_->charges.push_back(&who);
    state_->call();
}

void housekeeper::wake() noexcept {
    const std::lock_guard held(state_->mutex);
    if (!state_->called)
        state_->call();
}

void housekeeper::wake_within(duration d) noexcept {
    const std::lock_guard held(state_->mutex);
    const instant at = state_->time.now() + d;
    if (at < state_->asked_for)
        state_->asked_for = at;
    if (state_->sleeps && !state_->called && at < state_->wakes_at)
        state_->sleep_until(at);
}

void housekeeper::stop() {
    {
        const std::lock_guard held(state_->mutex);
        state_->stopping = true;
        state_->call();
    }
    if (state_->thread.joinable())
        state_->thread.join();
}

void housekeeper::run() {
    state& s = *state_;
    std::unique_lock held(s.mutex);
    while (!s.stopping) {
        s.called = false;
        s.asked_for = instant::never();
        instant next = instant::never();
        // They only become more, and outlive this thread.
        for (std::size_t i = 0; i < s.charges.size(); ++i) {  // NOLINT: may grow meanwhile
            housekept* const who = s.charges[i];
            held.unlock();
            const instant at = tended(*who, s.time.now());
            next = at < next ? at : next;
            held.lock();
        }
        if (s.called || s.stopping)
            continue;
        s.sleep_until(s.asked_for < next ? s.asked_for : next);
        s.sleeps = true;
        held.unlock();
        s.timer.wait();
        held.lock();
        s.sleeps = false;
    }
}

}  // namespace tactus::inline v0::runtime
