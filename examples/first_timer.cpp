// SPDX-License-Identifier: Apache-2.0
//
// Three timers on a bare wheel, one of them cancelled, in real time.
#include <tactus/runtime/steady_clock.hpp>
#include <tactus/runtime/timer_memory.hpp>
#include <tactus/time/timer_wheel.hpp>

#include <chrono>
#include <cstdio>
#include <thread>

int main() {
    using namespace std::chrono_literals;
    tactus::runtime::timer_memory memory;
    tactus::runtime::steady_clock clock;
    auto made = tactus::timer_wheel::create(memory.options({.start = clock.now()}));
    if (!made)
        return 1;
    tactus::timer_wheel& wheel = *made;

    const auto tea = wheel.insert(clock.now(), 30ms, 1);
    const auto egg = wheel.insert(clock.now(), 20ms, 2);
    const auto fish = wheel.insert(clock.now(), 10ms, 3);
    if (!tea || !egg || !fish)
        return 1;
    wheel.cancel(*egg);

    while (const auto next = wheel.next_deadline()) {
        const tactus::duration wait = wheel.scale().begin_of(*next) - clock.now();
        std::this_thread::sleep_for(std::chrono::nanoseconds(wait.ns()));
        const auto fired = wheel.advance(clock.now(), [](const tactus::expired_timer& timer) {
            std::printf("timer %d is due\n", static_cast<int>(timer.payload));
        });
        if (!fired)
            return 1;
    }
}
