// SPDX-License-Identifier: Apache-2.0
//
// One loop: tend everybody, sleep until the earliest of what they said, or until called.
#include <tactus/runtime/housekeeper.hpp>

#include "signals_blocked.hpp"

#include <tactus/runtime/steady_clock.hpp>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include <pthread.h>

namespace tactus::inline v0::runtime {

namespace {

/// Whoever is tended too early says so again. The library adds this to its own time: the longest
/// there is would overflow, and not wait at all (EX-4).
std::chrono::nanoseconds wait_for(duration d) {
    const duration longest = duration::from_s(3'600);
    return std::chrono::nanoseconds((d < longest ? d : longest).ns());
}

/// Without memory for it, it is tended again soon.
instant tended(housekept& who, instant now) noexcept {
    try {
        return who.tend(now);
    } catch (const std::exception&) {
        return now + duration::from_ms(50);
    }
}

}  // namespace

struct housekeeper::state {
    std::mutex mutex;
    std::condition_variable changed;
    // Under the lock, which nobody holds while one is tended.
    std::vector<housekept*> charges;
    bool called = false;
    bool stopping = false;

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
    state_->called = true;
    state_->changed.notify_one();
}

void housekeeper::wake() noexcept {
    const std::lock_guard held(state_->mutex);
    state_->called = true;
    state_->changed.notify_one();
}

void housekeeper::stop() {
    {
        const std::lock_guard held(state_->mutex);
        state_->stopping = true;
        state_->changed.notify_one();
    }
    if (state_->thread.joinable())
        state_->thread.join();
}

void housekeeper::run() {
    const steady_clock time;
    std::unique_lock held(state_->mutex);
    while (!state_->stopping) {
        state_->called = false;
        instant next = instant::never();
        // They only become more, and outlive this thread.
        for (std::size_t i = 0; i < state_->charges.size(); ++i) {  // NOLINT: may grow meanwhile
            housekept* const who = state_->charges[i];
            held.unlock();
            const instant at = tended(*who, time.now());
            next = at < next ? at : next;
            held.lock();
        }
        const auto due = [this] { return state_->called || state_->stopping; };
        if (next == instant::never())
            state_->changed.wait(held, due);
        else
            state_->changed.wait_for(held, wait_for(next - time.now()), due);
    }
}

}  // namespace tactus::inline v0::runtime
