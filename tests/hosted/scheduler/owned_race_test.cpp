// SPDX-License-Identifier: Apache-2.0
//
// Goal: timers of actors that come again are armed and cancelled by their owner at any time, also
// between the moment they are due and the moment it is told (TM-1, CN-2, SC-6): each has one end,
// and nothing is left behind.
// Method: one thread owns timers and arms or cancels them at random, one makes the lock busy, a
// third lets time pass and runs what is due.
#include <tactus/scheduler/scheduler.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <random>
#include <thread>

#include "large_scheduler_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::large_scheduler_rig;

namespace {

std::atomic<std::uint64_t> told{0};
struct told_actor {
    void receive(turn&, envelope& e) {
        if (e.get_if<timer_due>() != nullptr)
            told.fetch_add(1, std::memory_order_relaxed);
    }
};

TEST(owned_race, TM_1_an_owner_ends_its_timers_while_they_are_due) {
    const std::uint32_t rounds = tactus_test::size_of_run(1'000'000, 300'000, 60'000);
    large_scheduler_rig r;
    const auto who = r.kernel.spawn<told_actor>();
    told = 0;
    std::atomic<int> running{2};
    std::uint64_t cancelled = 0;
    std::uint64_t armed_again = 0;
    std::thread owner([&] {
        std::minstd_rand random(1);
        std::array<timer_handle, 64> mine{};
        for (std::uint32_t i = 0; i < rounds; ++i) {
            timer_handle& t = mine[random() % mine.size()];
            if (t.generation() == 0) {
                // What would end it for being late is another test's.
                const auto made = r.timers.arm({.mode = job_mode::fixed_delay,
                                                .first = duration::from_ms(1 + random() % 2),
                                                .period = duration::from_ms(1),
                                                .to = who,
                                                .priority = timer_priority::high});
                if (made)
                    t = *made;
            } else if (random() % 2 == 0) {
                cancelled += r.timers.cancel(t) ? 1 : 0;
                t = {};
            } else if (!r.timers.pending(t)) {
                const auto again = r.timers.rearm(t, r.time.now() + duration::from_ms(1));
                armed_again += again && again->generation() != t.generation() ? 1 : 0;
                t = again ? *again : timer_handle{};
            }
        }
        for (const timer_handle t : mine)
            (void)r.timers.cancel(t);
        running.fetch_sub(1);
    });
    std::thread busy([&] {
        while (running.load() == 2) {
            auto made = r.timers.schedule_once(duration::from_s(60), who, 1);
            if (made) {
                EXPECT_TRUE(made->cancel());
            }
        }
        running.fetch_sub(1);
    });
    while (running.load() != 0) {
        r.time.advance(duration::from_us(300));
        (void)r.kernel.run();
    }
    owner.join();
    busy.join();
    (void)r.kernel.run();
    EXPECT_GT(cancelled, 0u);
    EXPECT_GT(armed_again, 0u);
    EXPECT_GT(told.load(), 0u);
    EXPECT_EQ(r.timers.active_count(), 0u);
    EXPECT_EQ(r.timers.cell_count(), 0u);
}

}  // namespace
