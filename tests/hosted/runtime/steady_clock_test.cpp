// SPDX-License-Identifier: Apache-2.0
//
// Goal: the steady clock never goes back, moves with real time, and all of them agree (TS-2).
// Method: read it many times from one and from several threads, and across a short sleep.
#include <tactus/runtime/steady_clock.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

using tactus::instant;
using tactus::runtime::steady_clock;

// TS-2
TEST(steady_clock, is_a_realtime_clock_of_the_host) {
    const steady_clock steady;
    const tactus::clock& clock = steady;
    EXPECT_EQ(clock.kind(), tactus::clock_kind::realtime_host);
    EXPECT_GT(clock.now(), instant::epoch());
    EXPECT_LT(clock.now(), instant::never());
}

// TS-2
TEST(steady_clock, never_goes_back) {
    const steady_clock clock;
    instant before = clock.now();
    for (int i = 0; i < 100'000; ++i) {
        const instant after = clock.now();
        ASSERT_GE(after, before);
        before = after;
    }
}

// TS-2
TEST(steady_clock, two_clocks_agree) {
    const steady_clock first;
    const steady_clock second;
    for (int i = 0; i < 1000; ++i) {
        const instant a = first.now();
        const instant b = second.now();
        const instant c = first.now();
        ASSERT_LE(a, b);
        ASSERT_LE(b, c);
    }
}

// TS-2
TEST(steady_clock, moves_with_real_time) {
    const steady_clock clock;
    const instant before = clock.now();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const tactus::duration slept = clock.now() - before;
    EXPECT_GE(slept, tactus::duration::from_ms(20));
    EXPECT_LT(slept, tactus::duration::from_s(60));
}

// TS-2: what one thread read and handed over is never later than what another reads afterwards.
TEST(steady_clock, threads_agree_about_order) {
    const steady_clock clock;
    std::atomic<std::uint64_t> latest{0};
    std::atomic<int> inversions{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 20'000; ++i) {
                const std::uint64_t seen = latest.load(std::memory_order_acquire);
                const std::uint64_t now = clock.now().ns();
                if (now < seen)
                    inversions.fetch_add(1);
                std::uint64_t held = seen;
                while (held < now &&
                       !latest.compare_exchange_weak(held, now, std::memory_order_acq_rel))
                    continue;
            }
        });
    }
    for (auto& thread : threads)
        thread.join();
    EXPECT_EQ(inversions.load(), 0);
}
