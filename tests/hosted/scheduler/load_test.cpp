// SPDX-License-Identifier: Apache-2.0
//
// Goal: many timers at once: all come, none is late, cancels and deliveries add up, and nothing is
// left behind (CN-3, SC-1; TC-S41, TC-X10, C-SCH-8, C-SCH-9).
// Method: virtual time, tick by tick. Sizes are a part of those of the cases; TACTUS_LONG=1 runs
// all of it.
#include <tactus/scheduler/scheduler.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "large_scheduler_rig.hpp"

using tactus::cancellable;
using tactus::duration;
using tactus::execution_batch;
using tactus_test::large_scheduler_rig;
using tactus_test::ms;
using tactus_test::number;
using tactus_test::size_of_run;

namespace {

/// When each came, in ticks; 0: it has not.
struct arrivals {
    explicit arrivals(std::size_t count) : at(count) {}
    std::vector<std::uint32_t> at;
    std::uint32_t handled = 0;
    std::uint32_t twice = 0;
    tactus_test::moved_clock* time = nullptr;
};
struct noting_actor {
    arrivals* to;
    void receive(tactus::turn&, tactus::envelope& e) {
        const number* n = e.get_if<number>();
        const auto now = static_cast<std::uint32_t>(to->time->now().ns() / 1'000'000);
        to->twice += to->at[n->value] != 0 ? 1U : 0U;
        to->at[n->value] = now;
        ++to->handled;
    }
};

// TC-S41
TEST(scheduler_load, one_shots_are_hardly_late) {
    for (const std::uint32_t count : {1'000U, 10'000U}) {
        large_scheduler_rig r;
        arrivals seen(count);
        seen.time = &r.time;
        const auto who = r.kernel.spawn<noting_actor>(&seen);
        for (std::uint32_t i = 0; i < count; ++i)
            ASSERT_TRUE(r.timers.schedule_once(ms(i % 32 + 1), who, number{i}).has_value());
        r.pass(64);
        EXPECT_EQ(seen.handled, count);
        std::uint32_t worst = 0;
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::uint32_t deadline = i % 32 + 1;
            ASSERT_GE(seen.at[i], deadline);
            worst = std::max(worst, (seen.at[i] - deadline) * 100 / deadline);
        }
        EXPECT_LE(worst, 5u);
        EXPECT_EQ(r.timers.cell_count(), 0u);
    }
}

// C-SCH-8: in virtual time each comes at its tick: no histogram is needed.
TEST(scheduler_load, random_delays_come_on_time) {
    constexpr std::uint32_t count = 100'000;
    large_scheduler_rig r;
    arrivals seen(count);
    seen.time = &r.time;
    const auto who = r.kernel.spawn<noting_actor>(&seen);
    std::minstd_rand random(8);
    std::vector<std::uint32_t> delays(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        delays[i] = 1 + static_cast<std::uint32_t>(random() % 3'000);
        ASSERT_TRUE(r.timers.schedule_once(ms(delays[i]), who, number{i}).has_value());
    }
    r.pass(3'000);
    EXPECT_EQ(seen.handled, count);
    EXPECT_TRUE(seen.at == delays);
    EXPECT_EQ(r.timers.cell_count(), 0u);
}

// CN-3: scheduled at random, cancelled at random while time passes.
TEST(scheduler_load, deliveries_and_cancels_add_up) {
    const std::uint32_t count = size_of_run(1'000'000, 100'000, 20'000);
    large_scheduler_rig r(count);
    arrivals seen(count);
    seen.time = &r.time;
    const auto who = r.kernel.spawn<noting_actor>(&seen);
    const std::uint32_t cells_before = r.timers.cell_count();
    std::minstd_rand random(3);
    std::vector<cancellable> handles(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto made = r.timers.schedule_once(
            ms(1 + static_cast<std::int64_t>(random() % 3'000)), who, number{i});
        ASSERT_TRUE(made.has_value());
        handles[i] = *made;
    }
    EXPECT_EQ(r.timers.active_count(), count);
    std::vector<char> cancelled(count);
    std::uint32_t cancels = 0;
    for (int tick = 0; tick < 3'000; ++tick) {
        for (std::uint32_t i = 0; i < count / 6'000 + 1; ++i) {
            const std::uint32_t which = static_cast<std::uint32_t>(random() % count);
            if (handles[which].cancel()) {
                ASSERT_EQ(seen.at[which], 0u);
                cancelled[which] = 1;
                ++cancels;
            }
        }
        r.pass(1);
    }
    for (std::uint32_t i = 0; i < count; ++i)
        ASSERT_NE(seen.at[i] != 0, cancelled[i] != 0);
    EXPECT_EQ(seen.handled + cancels, count);
    EXPECT_GT(cancels, count / 10);
    EXPECT_GT(seen.handled, count / 10);
    EXPECT_EQ(seen.twice, 0u);
    EXPECT_EQ(r.timers.counted().registered, count);
    EXPECT_EQ(r.timers.counted().fired, seen.handled);
    EXPECT_EQ(r.timers.counted().cancelled, cancels);
    EXPECT_EQ(r.timers.active_count(), 0u);
    EXPECT_EQ(r.timers.cell_count(), cells_before);
    r.pass(1'000);  // then cells are given back, where memory can be
    EXPECT_EQ(r.timers.next_deadline(), tactus::instant::never());
    // All of it can be had again.
    for (std::uint32_t i = 0; i < count; ++i)
        ASSERT_TRUE(r.timers.schedule_once(ms(1), who, number{i}).has_value());
}

// C-SCH-9: half-way everything is cancelled: the rest had come, and no more comes.
TEST(scheduler_load, all_that_is_left_is_cancelled_half_way) {
    const std::uint32_t count = size_of_run(1'000'000, 100'000, 20'000);
    large_scheduler_rig r(count);
    arrivals seen(count);
    seen.time = &r.time;
    const auto who = r.kernel.spawn<noting_actor>(&seen);
    std::minstd_rand random(9);
    std::vector<cancellable> handles;
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto made = r.timers.schedule_once(
            ms(1 + static_cast<std::int64_t>(random() % 3'000)), who, number{i});
        ASSERT_TRUE(made.has_value());
        handles.push_back(*made);
    }
    r.pass(1'500);
    std::uint32_t cancels = 0;
    for (cancellable& h : handles)
        cancels += h.cancel() ? 1U : 0U;
    EXPECT_EQ(seen.handled, count - cancels);
    r.pass(1'600);
    EXPECT_EQ(seen.handled, count - cancels);
    EXPECT_EQ(r.timers.cell_count(), 0u);
}

/// Registers and cancels within one message.
struct churning_actor {
    tactus::scheduler* timers;
    std::uint32_t count;
    std::uint32_t* most;
    std::uint32_t* refused;
    void receive(tactus::turn& t, tactus::envelope&) {
        for (std::uint32_t i = 0; i < count; ++i) {
            auto made =
                timers->schedule_once(duration::from_s(3'600 + i % 100'000), t.self(), number{i});
            if (!made || !made->cancel())
                ++*refused;
            if (i % 1'000 == 0)
                *most = std::max(*most, timers->cell_count());
        }
    }
};

// CN-3, TC-X10: far timers of one handler. There is room for 64 only, and the overflow's.
TEST(scheduler_load, far_timers_within_one_handler_stay_bounded) {
    large_scheduler_rig r(64);
    std::uint32_t most = 0;
    std::uint32_t refused = 0;
    const std::uint32_t count = size_of_run(1'000'000, 200'000, 50'000);
    const auto who = r.kernel.spawn<churning_actor>(&r.timers, count, &most, &refused);
    r.kernel.tell(who, {1});
    (void)r.kernel.run();
    EXPECT_EQ(refused, 0u);
    EXPECT_LE(most, 1u);
    EXPECT_EQ(r.timers.counted().cancelled, count);
    EXPECT_EQ(r.timers.cell_count(), 0u);
    EXPECT_EQ(r.timers.next_deadline(), tactus::instant::never());
}

}  // namespace
