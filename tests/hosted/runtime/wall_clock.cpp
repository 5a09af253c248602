// SPDX-License-Identifier: Apache-2.0
//
// Goal: changes of the wall clock have no effect (SC-25).
// Method: a program of its own, which answers for the C library what time it is: the wall clock
// jumps by hours to and fro while timers are pending; the monotonic one is left alone. Every timer
// comes, none is early, and the clock that jumps was not asked for by who keeps time.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <thread>

#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <tactus/runtime/actor_system.hpp>

namespace {

std::atomic<std::int64_t> shift_s{0};

}  // namespace

extern "C" {

int clock_gettime(clockid_t which, timespec* to) noexcept {
    const long result = syscall(SYS_clock_gettime, which, to);
    if (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)
        to->tv_sec += shift_s.load(std::memory_order_relaxed);
    return static_cast<int>(result);
}
int gettimeofday(timeval* to, void*) noexcept {
    timespec t{};
    const int result = clock_gettime(CLOCK_REALTIME, &t);
    to->tv_sec = t.tv_sec;
    to->tv_usec = t.tv_nsec / 1'000;
    return result;
}
time_t time(time_t* to) noexcept {
    timespec t{};
    (void)clock_gettime(CLOCK_REALTIME, &t);
    if (to != nullptr)
        *to = t.tv_sec;
    return t.tv_sec;
}
}

using namespace std::chrono_literals;

int main() {
    // The jumps are seen by who asks for the wall clock.
    const auto before = std::chrono::system_clock::now();
    shift_s = 7'200;
    const bool is_seen = std::chrono::system_clock::now() - before > 1h;
    shift_s = 0;

    std::atomic<int> runs{0};
    std::atomic<int> early{0};
    {
        tactus::actor_system system("jumping");
        using steady = std::chrono::steady_clock;
        for (int i = 0; i < 20; ++i) {
            const auto due = steady::now() + 20ms;
            if (!system.scheduler().schedule_once_fn(20ms, [&, due](const auto&) {
                    early += steady::now() < due ? 1 : 0;
                    ++runs;
                }))
                return 1;
            shift_s = i % 2 == 0 ? 3'600 : -86'400;
            std::this_thread::sleep_for(5ms);
        }
        const auto limit = steady::now() + 60s;
        while (runs != 20 && steady::now() < limit)
            std::this_thread::sleep_for(1ms);
    }
    std::printf("%d of 20 came, %d early; the jumps are %s\n", runs.load(), early.load(),
                is_seen ? "seen" : "not seen");
    const bool good = runs == 20 && early == 0 && is_seen;
    std::puts(good ? "the wall clock does not matter" : "wrong");
    return good ? 0 : 1;
}
