// SPDX-License-Identifier: Apache-2.0
//
// Backpressure gauge on the host: probes that throw, and threads that come and go (BP-5).
#include <tactus/scheduler/backpressure_gauge.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <latch>
#include <memory>
#include <stdexcept>
#include <thread>

#include <tactus/dispatch/arena.hpp>

namespace tactus {
namespace {

// BP-5, UP-4
TEST(backpressure_gauge_hosted, a_probe_that_throws_is_no_load_and_is_counted) {
    alignas(16) std::array<std::byte, 512> bytes{};
    arena memory(bytes);
    backpressure_gauge gauge(memory, 4);
    backpressure_probe_of probe([]() -> double { throw std::runtime_error("broken"); });
    ASSERT_TRUE(gauge.register_probe("broken", probe));
    for (tick now = 1; now < 5; ++now)
        EXPECT_FALSE(gauge.sample(now));
    EXPECT_EQ(probe.failure_count(), 4u);
    EXPECT_EQ(gauge.failure_count(), 4u);
}

// BP-5: who removes a probe that is being called waits for the call to end.
TEST(backpressure_gauge_hosted, removing_a_probe_waits_for_its_call) {
    alignas(16) std::array<std::byte, 512> bytes{};
    arena memory(bytes);
    backpressure_gauge gauge(memory, 4);
    std::latch inside(1);
    std::atomic<bool> left{false};
    backpressure_probe_of probe([&] {
        inside.count_down();
        // Long enough for the other thread to return if it does not wait.
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        left = true;
        return 0;
    });
    const auto handle = gauge.register_probe("slow", probe);
    ASSERT_TRUE(handle);
    std::jthread sampler([&] { (void)gauge.sample(1); });
    inside.wait();
    EXPECT_TRUE(gauge.remove_probe(*handle));
    EXPECT_TRUE(left);
}

// BP-5: when remove_probe has returned, the probe can be destroyed: its last call is over.
TEST(backpressure_gauge_hosted, a_removed_probe_is_not_called_any_more) {
    alignas(16) std::array<std::byte, 512> bytes{};
    arena memory(bytes);
    backpressure_gauge gauge(memory, 4);
    std::atomic<bool> stop{false};
    std::atomic<tick> now{1};
    std::atomic<unsigned> calls{0};
    const auto run_timers = [&] {
        while (!stop.load())
            (void)gauge.sample(now.fetch_add(1));
    };
    std::jthread a(run_timers);
    std::jthread b(run_timers);
    for (int i = 0; i < 300; ++i) {
        auto living = std::make_unique<int>(900);
        auto probe = std::make_unique<backpressure_probe_of<std::function<int()>>>(
            [&calls, number = living.get()] {
                calls.fetch_add(1);
                std::this_thread::yield();
                return *number;  // AddressSanitizer and TSan see it when it is gone
            });
        const auto handle = gauge.register_probe("short lived", *probe);
        ASSERT_TRUE(handle);
        gauge.push(i % 2 == 0 ? gauge_event::engage : gauge_event::clear);
        std::this_thread::yield();
        ASSERT_TRUE(gauge.remove_probe(*handle));
        *living = 0;
        const unsigned before = calls.load();
        probe.reset();
        living.reset();
        ASSERT_EQ(calls.load(), before);
    }
    stop = true;
    a.join();
    b.join();
    EXPECT_GT(calls.load(), 0u);
    EXPECT_EQ(gauge.probe_count(), 0u);
}

}  // namespace
}  // namespace tactus
