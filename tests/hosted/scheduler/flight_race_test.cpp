// SPDX-License-Identifier: Apache-2.0
//
// Goal: a periodic job is cancelled while one thread sends its messages and another handles them:
// its cell is free for the next, and what it carries ends once, after its last copy was made (BP-2,
// CN-3, SC-24, K2).
// Method: a profile of few timers, so that some messages have a cell and others go alone. Each job
// is cancelled somewhere between its registration and its third run.
#include <tactus/scheduler/scheduler.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <random>
#include <thread>

#include "large_scheduler_rig.hpp"

using tactus::duration;
using tactus::job_mode;
using tactus::job_state;
using tactus_test::large_scheduler_rig;

namespace {

/// Knows how many of it there are.
struct counted {
    explicit counted(std::uint32_t n) noexcept : number(n) { ++alive; }
    counted(const counted& other) noexcept : number(other.number) { ++alive; }
    counted& operator=(const counted&) = delete;
    ~counted() {
        number = 0;
        --alive;
    }
    std::uint32_t number;  // 0: it has ended
    static inline std::atomic<int> alive{0};
};

struct account {
    std::atomic<std::uint32_t> handled{0};
    std::atomic<std::uint32_t> broken{0};
};

struct counting_actor {
    account* to;
    void receive(tactus::turn&, tactus::envelope& e) {
        const std::uint32_t number = e.get_if<counted>()->number;
        to->broken += number == 0 ? 1U : 0U;
        to->handled += 1;
    }
};

TEST(flight_race, BP_2_a_cancelled_job_gives_its_cell_while_it_is_sent_and_handled) {
    const std::uint32_t rounds = tactus_test::size_of_run(50'000, 3'000, 1'000);
    account all;
    {
        large_scheduler_rig r(4, [](tactus::scheduler_options& o) {
            o.config.profile = tactus::scheduler_profile::custom;
            o.config.custom = {4, 4, 1};
        });
        const auto who = r.kernel.spawn<counting_actor>(&all);
        std::atomic<bool> over{false};
        std::thread keeps_time([&] {
            while (!over.load()) {
                r.time.advance(duration::from_ms(1));
                r.timers.run_due(r.time.now());
                std::this_thread::yield();
            }
        });
        std::thread handles([&] {
            while (!over.load()) {
                (void)r.kernel.run();
                std::this_thread::yield();
            }
        });
        std::minstd_rand random(5);
        for (std::uint32_t i = 1; i <= rounds; ++i) {
            const tactus::job_request wanted{
                .mode = random() % 4 == 0 ? job_mode::fixed_rate : job_mode::fixed_delay,
                .first = duration::from_ms(1),
                .period = duration::from_ms(1),
                .to = who,
                .backlog_limit = 60'000,
                .burst_threshold = 60'000};
            // A thread that is held up looks like a backlog where time runs as fast as here.
            auto made = r.timers.add(wanted, counted(i));
            while (!made && made.error().code == tactus::scheduler_errc::backpressured) {
                std::this_thread::yield();
                made = r.timers.add(wanted, counted(i));
            }
            EXPECT_TRUE(made.has_value()) << tactus::name_of(made.error().code);
            if (!made)
                break;
            const std::uint32_t until =
                all.handled.load() + static_cast<std::uint32_t>(random() % 3);
            // Some just when they are fired, which is short.
            const bool while_fired = random() % 2 == 0;
            for (unsigned spin = 0; all.handled.load() < until && spin < 1'000; ++spin) {
                if (while_fired && made->state() == job_state::executing)
                    break;
                if (!while_fired)
                    std::this_thread::yield();
            }
            EXPECT_TRUE(made->cancel());
            EXPECT_TRUE(made->is_cancelled());
        }
        over = true;
        keeps_time.join();
        handles.join();
        (void)r.kernel.run();
        EXPECT_EQ(r.timers.active_count(), 0u);
        EXPECT_EQ(r.timers.cell_count(), 0u);
        EXPECT_EQ(r.timers.counted().registered, rounds);
        EXPECT_EQ(r.timers.counted().cancelled, rounds);
    }
    EXPECT_EQ(all.broken.load(), 0u);
    EXPECT_GT(all.handled.load(), rounds / 100);  // otherwise nothing was tested
    EXPECT_EQ(counted::alive.load(), 0);
}

}  // namespace
