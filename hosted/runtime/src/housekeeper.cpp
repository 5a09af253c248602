// SPDX-License-Identifier: Apache-2.0
//
// One loop: tend everybody, sleep until the earliest of what they said, or until called.
#include <tactus/runtime/housekeeper.hpp>

#include "signals_blocked.hpp"

#include <tactus/runtime/steady_clock.hpp>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include <pthread.h>

namespace tactus::inline v0::runtime {

struct housekeeper::state {
    std::mutex list;  // held while they are tended
    std::vector<housekept*> charges;

    std::mutex mutex;
    std::condition_variable changed;
    bool called = false;
    bool stopping = false;

    std::thread thread;
};

housekeeper::housekeeper(const std::string& name) : state_(std::make_unique<state>()) {
    const signals_blocked blocked;
    state_->thread = std::thread([this] { run(); });
    constexpr std::size_t name_max = 15;
    const std::string end = "-keeper";
    pthread_setname_np(state_->thread.native_handle(),
                       (name.substr(0, name_max - end.size()) + end).c_str());
}

housekeeper::~housekeeper() {
    stop();
}

void housekeeper::add(housekept& who) {
    {
        const std::lock_guard held(state_->list);
        state_->charges.push_back(&who);
    }
    wake();
}

void housekeeper::remove(housekept& who) {
    const std::lock_guard held(state_->list);
    std::erase(state_->charges, &who);
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
        held.unlock();
        instant next = instant::never();
        {
            const std::lock_guard tending(state_->list);
            for (housekept* who : state_->charges) {
                const instant at = who->tend(time.now());
                next = at < next ? at : next;
            }
        }
        held.lock();
        const auto due = [this] { return state_->called || state_->stopping; };
        if (next == instant::never())
            state_->changed.wait(held, due);
        else
            state_->changed.wait_for(held, std::chrono::nanoseconds((next - time.now()).ns()), due);
    }
}

}  // namespace tactus::inline v0::runtime
