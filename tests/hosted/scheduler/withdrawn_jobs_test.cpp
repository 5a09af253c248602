// SPDX-License-Identifier: Apache-2.0
//
// Goal: what is cancelled leaves the wheel a few cancels later, and nobody can tell (K1; CN-1 …
// CN-3).
// Method: schedulers without a quota and without a subscriber, where the last few are kept; every
// way to look, and everybody who needs the room. Random programs beside an ordered map.
#include <tactus/scheduler/scheduler.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "large_scheduler_rig.hpp"
#include "scheduler_rig.hpp"
#include "telling_memory.hpp"

using tactus::cancellable;
using tactus::duration;
using tactus::instant;
using tactus::scheduler_options;
using tactus_test::large_scheduler_rig;
using tactus_test::ms;
using tactus_test::number;

namespace {

/// More than are kept, and fewer.
constexpr std::uint32_t many = 40;

using arrivals = std::vector<std::uint32_t>;
struct noting_actor {
    arrivals* to;
    void receive(tactus::turn&, tactus::envelope& e) { to->push_back(e.get_if<number>()->value); }
};

std::vector<cancellable> schedule(large_scheduler_rig& r, tactus::mailbox_index to,
                                  std::uint32_t count, duration delay) {
    std::vector<cancellable> made;
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto one = r.timers.schedule_once(delay, to, number{i});
        EXPECT_TRUE(one.has_value());
        if (one)
            made.push_back(*one);
    }
    return made;
}
void cancel(std::vector<cancellable>& all) {
    for (cancellable& c : all)
        EXPECT_TRUE(c.cancel());
}

// CN-3: however many were cancelled last.
TEST(withdrawn_jobs, CN_3_who_looks_finds_nothing_of_them) {
    for (std::uint32_t count = 1; count <= many; ++count) {
        large_scheduler_rig r(1'000);
        const auto who = r.kernel.spawn();
        auto all = schedule(r, who, count, ms(100));
        cancel(all);
        switch (count % 4) {
        case 0:
            EXPECT_EQ(r.timers.next_deadline(), instant::never());
            break;
        case 1:
            EXPECT_EQ(r.timers.active_count(), 0u);
            break;
        case 2:
            EXPECT_EQ(r.timers.cell_count(), 0u);
            break;
        default:
            EXPECT_EQ(r.timers.metrics().active, 0u);
        }
        EXPECT_EQ(r.timers.counted().cancelled, count);
        EXPECT_EQ(r.timers.next_deadline(), instant::never());
        EXPECT_EQ(r.timers.active_count(), 0u);
        EXPECT_EQ(r.timers.cell_count(), 0u);
    }
}

// CN-1, CN-2: they are over for who has a handle, and do not come.
TEST(withdrawn_jobs, CN_2_those_of_the_same_tick_come_without_them) {
    large_scheduler_rig r(1'000);
    arrivals seen;
    const auto who = r.kernel.spawn<noting_actor>(&seen);
    auto all = schedule(r, who, many, ms(5));
    arrivals expected;
    for (std::uint32_t i = 0; i < many; ++i) {
        if (i % 3 == 0)
            expected.push_back(i);
        else
            EXPECT_TRUE(all[i].cancel());
    }
    for (std::uint32_t i = 0; i < many; ++i) {
        EXPECT_EQ(all[i].is_cancelled(), i % 3 != 0);
        EXPECT_FALSE(i % 3 != 0 && cancellable(all[i]).cancel());
    }
    r.pass(5);
    EXPECT_EQ(seen, expected);
}

// The nearest is one that was cancelled: time set by hand is exact.
TEST(withdrawn_jobs, SC_36_the_next_deadline_is_not_theirs) {
    large_scheduler_rig r(1'000);
    const auto who = r.kernel.spawn();
    auto near = schedule(r, who, 3, ms(10));
    auto far = schedule(r, who, 1, ms(70'000));
    cancel(near);
    EXPECT_EQ(r.timers.next_deadline(), instant::epoch() + ms(70'000));
    cancel(far);
    EXPECT_EQ(r.timers.next_deadline(), instant::never());
}

// All places are taken by those that were cancelled: they are free.
TEST(withdrawn_jobs, CN_3_who_needs_their_place_gets_it) {
    for (std::uint32_t timers_max = 1; timers_max <= 16; ++timers_max) {
        large_scheduler_rig r(timers_max, [](scheduler_options&) {});
        const auto who = r.kernel.spawn();
        for (int round = 0; round < 3; ++round) {
            auto all = schedule(r, who, timers_max, ms(100));
            EXPECT_FALSE(r.timers.schedule_once(ms(100), who, number{1}).has_value());
            cancel(all);
        }
    }
}
// Messages on their way have cells, too.
TEST(withdrawn_jobs, CN_3_who_needs_their_cell_gets_it) {
    constexpr std::uint32_t timers_max = 8;
    large_scheduler_rig r(timers_max, [](scheduler_options&) {});
    const auto who = r.kernel.spawn();
    (void)schedule(r, who, timers_max, ms(1));
    r.time.advance(ms(1));
    r.timers.run_due(r.time.now());  // sent, but nobody has run
    std::uint32_t room = 0;
    for (int round = 0; round < 3; ++round) {
        std::vector<cancellable> all;
        while (const auto one = r.timers.schedule_once(ms(100), who, number{1}))
            all.push_back(*one);
        room = round == 0 ? static_cast<std::uint32_t>(all.size()) : room;
        EXPECT_GE(room, 1u);
        EXPECT_EQ(all.size(), room);
        cancel(all);
    }
    (void)r.kernel.run();
    tactus_test::journal().clear();
}

// When the last one is cancelled, memory goes back, and nobody has to look for that.
TEST(withdrawn_jobs, CN_3_memory_of_the_wheel_is_given_back) {
    constexpr std::uint32_t count = 20'000;
    constexpr std::uint32_t timers_max = count + 64;
    tactus_test::telling_memory nodes(tactus::scheduler_wheel::node_bytes(timers_max));
    large_scheduler_rig r(timers_max, [&](scheduler_options& o) { o.nodes = &nodes; });
    const auto who = r.kernel.spawn();
    auto all = schedule(r, who, count, ms(100'000));
    const std::size_t most = nodes.size();
    cancel(all);
    EXPECT_LT(nodes.size() * 2, most);
}

// SD-2: who subscribes is told of what comes after, and at once.
TEST(withdrawn_jobs, SD_2_a_subscriber_is_told_of_cancels_after_it_came) {
    tactus_test::served_rig rig(
        [](scheduler_options& o) { o.config.profile = tactus::scheduler_profile::unbounded; });
    const auto who = rig.spawn();
    auto before = rig->schedule_once(ms(100), who, number{1});
    auto after = rig->schedule_once(ms(100), who, number{2});
    ASSERT_TRUE(before && after);
    EXPECT_TRUE(before->cancel());
    auto events = rig->subscribe({tactus::diagnostic_kind::cancel}, 8);
    ASSERT_TRUE(events.has_value());
    EXPECT_TRUE(after->cancel());
    const auto told = events->poll();
    ASSERT_TRUE(told.has_value());
    EXPECT_EQ(told->job, after->id());
    EXPECT_EQ(rig->active_count(), 0u);
    EXPECT_FALSE(events->poll().has_value());
    EXPECT_EQ(rig->counted().cancelled, 2u);
}

// K1: many ways through, beside an ordered map.
TEST(withdrawn_jobs, CN_2_random_programs_are_as_if_they_were_out_at_once) {
    const std::uint32_t programs = tactus_test::size_of_run(400, 100, 20);
    for (std::uint32_t seed = 1; seed <= programs; ++seed) {
        std::mt19937 random(seed);
        const auto below = [&](std::uint32_t n) {
            return static_cast<std::uint32_t>(random() % n);
        };
        large_scheduler_rig r(1'000);
        arrivals seen;
        const auto who = r.kernel.spawn<noting_actor>(&seen);
        std::map<std::pair<std::uint64_t, std::uint32_t>, cancellable> pending;
        std::uint64_t now = 0;
        std::uint32_t cancelled = 0;
        for (std::uint32_t step = 0; step < 500; ++step) {
            const std::uint32_t what = below(100);
            if (what < 45) {
                const std::uint32_t delay = below(3) == 0 ? 1 + below(5) : 1 + below(100'000);
                const auto made = r.timers.schedule_once(ms(delay), who, number{step});
                // After a long stretch at once it rejects for a while.
                if (!made)
                    ASSERT_NE(r.timers.pressure_now().state, tactus::backpressure_state::normal)
                        << "seed " << seed << " step " << step;
                else
                    pending.emplace(std::pair{now + delay, step}, *made);
            } else if (what < 85) {
                if (pending.empty())
                    continue;
                const auto which =
                    std::next(pending.begin(), below(static_cast<std::uint32_t>(pending.size())));
                ASSERT_TRUE(which->second.cancel()) << "seed " << seed;
                ASSERT_FALSE(cancellable(which->second).cancel());
                pending.erase(which);
                ++cancelled;
            } else if (what < 98) {
                const std::uint32_t ticks = below(4) == 0 ? 1 + below(30'000) : 1;
                now += ticks;
                r.time.advance(ms(ticks));
                (void)r.kernel.run();
                arrivals expected;
                while (!pending.empty() && pending.begin()->first.first <= now) {
                    expected.push_back(pending.begin()->first.second);
                    pending.erase(pending.begin());
                }
                ASSERT_EQ(seen, expected) << "seed " << seed << " step " << step;
                seen.clear();
            } else {
                ASSERT_EQ(r.timers.active_count(), pending.size());
                ASSERT_EQ(r.timers.cell_count(), pending.size());
                ASSERT_EQ(r.timers.next_deadline(),
                          pending.empty()
                              ? instant::never()
                              : instant::epoch() +
                                    ms(static_cast<std::int64_t>(pending.begin()->first.first)));
            }
        }
        ASSERT_EQ(r.timers.counted().cancelled, cancelled);
        // SH-1: what is left is cancelled, and only that.
        ASSERT_TRUE(r.timers.close());
        ASSERT_EQ(r.timers.counted().cancelled, cancelled + pending.size());
    }
}

}  // namespace
