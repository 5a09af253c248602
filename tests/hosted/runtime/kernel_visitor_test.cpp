// SPDX-License-Identifier: Apache-2.0
//
// Goal: threads that are no workers take what is ready and hand it back while a pool works (CO-1).
// Method: messages hop between actors until all are handled; two visitors drain meanwhile and run
// nothing themselves. Counts must agree exactly, and ThreadSanitizer watches the lanes.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <thread>

#include "pool_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::pool_rig;
using tactus_test::sized;
using tactus_test::until;

namespace {

void drain_and_hand_back(coordinator& order, const std::atomic<bool>& stop,
                         std::atomic<std::uint64_t>& drained) {
    mailbox_index some[4];
    while (!stop.load()) {
        const std::size_t found = order.drain_ready_cycle(some);
        drained += found;
        for (std::size_t i = 0; i < found; ++i) {
            // Nobody stops these actors, so there is none to finalize.
            if (!order.handle_invoke_result(some[i], {.outcome = invoke_outcome::yielded}))
                std::abort();
        }
        if (found == 0)
            std::this_thread::yield();
    }
}

constexpr std::uint32_t actor_count = 8;
std::array<mailbox_index, actor_count> actors;
std::atomic<std::uint64_t> handled_count{0};

struct hop {
    std::uint32_t to;
    std::uint64_t left;
};
struct hopper {
    std::uint64_t plain = 0;  // a race unless runs follow each other
    void receive(turn& t, envelope& e) {
        const hop h = *e.get_if<hop>();
        ++plain;
        if (h.left > 0)
            t.send(actors[h.to], hop{(h.to * 5 + 1) % actor_count, h.left - 1});
        handled_count.fetch_add(1, std::memory_order_relaxed);
    }
};

void visitors_beside(std::uint32_t workers) {
    constexpr std::uint64_t senders = std::uint64_t{4} * actor_count;
    const std::uint64_t each = sized(400'000, 10) / senders;
    handled_count = 0;
    pool_rig rig(workers, {}, {.visited = true});
    // Half of them with priorities, so that heaps are shared as well as rings.
    for (std::uint32_t i = 0; i < actor_count; ++i)
        actors[i] = *rig.system.spawn<hopper>(
            {.priority = i % 2 == 0 ? default_priority : static_cast<std::uint8_t>(i)});
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> drained{0};
    std::thread visitors[2];
    for (std::thread& v : visitors)
        v = std::thread([&] { drain_and_hand_back(rig.system.order(), stop, drained); });
    // Until a visitor has met something: its thread may come late.
    std::uint64_t rounds = 0;
    do {
        for (std::uint32_t n = 0; n < senders; ++n)
            actor_scheduler::tell(actors[n % actor_count], hop{(n + 3) % actor_count, each - 1});
        ++rounds;
        ASSERT_TRUE(until([&] { return handled_count.load() == rounds * senders * each; }));
    } while (drained.load() == 0 && rounds < 10'000);
    stop = true;
    for (std::thread& v : visitors)
        v.join();
    EXPECT_GT(drained.load(), 0u);
    EXPECT_TRUE(rig.pool->shut_down(10s));
    EXPECT_EQ(handled_count.load(), rounds * senders * each);
}

}  // namespace

// CO-1
TEST(kernel_visitor, CO_1_visitors_drain_beside_two_workers_and_nothing_is_lost) {
    visitors_beside(2);
}
// CO-1
TEST(kernel_visitor, CO_1_visitors_drain_beside_one_worker_and_nothing_is_lost) {
    visitors_beside(1);
}
