// SPDX-License-Identifier: Apache-2.0
//
// Goal: ticks notified by several threads arrive exactly, none lost and none twice, and what a
// notifier wrote before its tick is visible after the pull (TS-4).
// Method: threads notify while one pulls; sums must agree. Under ThreadSanitizer the plain data
// handed over with a tick proves the ordering.
#include <tactus/time/tick_source.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

using tactus::tick_source;

namespace {

constexpr int notifiers = 4;
constexpr std::uint32_t rounds = 50'000;

std::uint64_t run(tick_source& source, tick_source::lease& lease) {
    std::atomic<int> running{notifiers};
    std::vector<std::thread> threads;
    for (int t = 0; t < notifiers; ++t) {
        threads.emplace_back([&, t] {
            for (std::uint32_t i = 0; i < rounds; ++i)
                source.notify_tick(1 + (i + static_cast<std::uint32_t>(t)) % 3);
            running.fetch_sub(1);
        });
    }
    std::uint64_t sum = 0;
    while (running.load() != 0) {
        if (const auto event = lease.try_pull()) {
            EXPECT_GT(event->ticks, 0u);
            sum += event->ticks;
        }
    }
    for (auto& thread : threads)
        thread.join();
    return sum;
}

std::uint64_t expected_sum() {
    std::uint64_t sum = 0;
    for (std::uint32_t t = 0; t < notifiers; ++t)
        for (std::uint32_t i = 0; i < rounds; ++i)
            sum += 1 + (i + t) % 3;
    return sum;
}

}  // namespace

// TS-4
TEST(tick_source_threads, no_tick_is_lost_or_seen_twice) {
    tick_source source;
    auto lease = source.acquire();
    std::uint64_t sum = run(source, lease);
    if (const auto rest = lease.try_pull())
        sum += rest->ticks;
    EXPECT_EQ(sum, expected_sum());
    EXPECT_EQ(lease.pending(), 0u);
}

// TS-4, TS-5: the same while the counter wraps, and with the rest taken by the stop.
TEST(tick_source_threads, the_flush_takes_the_rest_also_across_a_wrap) {
    tick_source::options o;
    o.first_count = std::numeric_limits<tactus::port::event_count::word>::max() - 1000;
    tick_source source(o);
    auto lease = source.acquire();
    std::uint64_t sum = run(source, lease);
    sum += lease.stop_and_flush();
    EXPECT_EQ(sum, expected_sum());
}

// TS-4: notifying during and after a stop is harmless and has no effect.
TEST(tick_source_threads, notifiers_may_outlast_the_stop) {
    tick_source source;
    std::atomic<bool> done{false};
    std::thread notifier([&] {
        while (!done.load())
            source.notify_tick();
    });
    {
        auto lease = source.acquire();
        while (!lease.try_pull())
            std::this_thread::yield();
        (void)lease.stop_and_flush();
        for (int i = 0; i < 1000; ++i) {
            EXPECT_FALSE(lease.try_pull().has_value());
            EXPECT_EQ(lease.pending(), 0u);
        }
        EXPECT_EQ(lease.stop_and_flush(), 0u);
    }
    done.store(true);
    notifier.join();
}

// TS-4, E-tick: plain data written before a tick may be read after pulling it.
TEST(tick_source_threads, what_was_written_before_a_tick_is_visible_after_the_pull) {
    constexpr std::size_t items = 10'000;
    static std::array<std::uint64_t, items> written;
    tick_source source;
    auto lease = source.acquire();
    std::thread notifier([&] {
        for (std::size_t i = 0; i < items; ++i) {
            written[i] = i * 3 + 1;
            source.notify_tick();
        }
    });
    std::size_t seen = 0;
    bool good = true;
    while (seen < items) {
        const auto event = lease.try_pull();
        if (!event)
            continue;
        for (std::uint64_t n = 0; n < event->ticks; ++n, ++seen)
            good = good && written[seen] == seen * 3 + 1;
    }
    notifier.join();
    EXPECT_TRUE(good);
}
