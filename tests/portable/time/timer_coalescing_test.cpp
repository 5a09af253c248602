// SPDX-License-Identifier: Apache-2.0
//
// Goal: coalescing (TW-10, trap T7): whoever becomes due at d fires with all of [d, d + w] at the
// latest of their ticks when there are g of them, else at d; never early, at most w late, and
// next_deadline() names the tick at which something really fires.
// Method: windows of a few ticks, each boundary from both sides, members in every place a timer can
// wait; a naive model for random groups.
#include <tactus/base/det_rng.hpp>

#include "wheel_rig.hpp"

using tactus::duration;
using tactus::tick;
using tactus::timer_handle;
using tactus_test::at_ms;
using tactus_test::at_ns;
using tactus_test::rig;
using tactus_test::test_wheel;

namespace {

tactus::timer_wheel_options coalescing(std::int64_t window_ms, std::uint32_t group_min) {
    auto o = rig().options();
    o.coalescing = {duration::from_ms(window_ms), group_min};
    return o;
}

constexpr tick two_32 = tick{1} << 32;

}  // namespace

// TW-10
TEST(timer_coalescing, is_off_by_default) {
    rig().make();
    rig().add(10, 1);
    rig().add(11, 2);
    EXPECT_TRUE(rig().next_is(10));
    EXPECT_TRUE(rig().fires(10, {1}));
    EXPECT_TRUE(rig().fires(11, {2}));
}

// TW-10: a group needs two by default, and a window of zero joins nothing.
TEST(timer_coalescing, a_window_of_zero_is_off) {
    rig().make(coalescing(0, 1));
    rig().add(10, 1);
    rig().add(11, 2);
    EXPECT_TRUE(rig().fires(10, {1}));
    EXPECT_TRUE(rig().fires(11, {2}));
}

// TW-10, T7: g - 1, g and g + 1 members.
TEST(timer_coalescing, the_minimum_group_is_exact) {
    for (const std::uint32_t members : {3u, 4u, 5u}) {
        rig().make(coalescing(10, 4));
        for (tick i = 0; i < members; ++i)
            rig().add(20 + i, i);
        if (members < 4) {
            // None of them ever has four in its window.
            EXPECT_TRUE(rig().next_is(20));
            EXPECT_TRUE(rig().fires(20, {0}));
            EXPECT_TRUE(rig().fires(21, {1}));
            EXPECT_TRUE(rig().fires(22, {2}));
        } else {
            EXPECT_TRUE(rig().next_is(20 + members - 1));
            EXPECT_TRUE(rig().fires(20 + members - 2, {}));
            if (members == 4) {
                EXPECT_TRUE(rig().fires(23, {0, 1, 2, 3}));
            } else {
                EXPECT_TRUE(rig().fires(24, {0, 1, 2, 3, 4}));
            }
        }
        EXPECT_TRUE(rig().bare());
    }
}

// TW-10: d + w belongs to the window, d + w + 1 does not.
TEST(timer_coalescing, the_window_is_closed_at_both_ends) {
    rig().make(coalescing(5, 2));
    rig().add(10, 1);
    rig().add(15, 2);
    EXPECT_TRUE(rig().next_is(15));
    EXPECT_TRUE(rig().fires(14, {}));
    EXPECT_TRUE(rig().fires(15, {1, 2}));
    rig().add(30, 3);
    rig().add(36, 4);
    EXPECT_TRUE(rig().next_is(30));
    EXPECT_TRUE(rig().fires(30, {3}));
    EXPECT_TRUE(rig().next_is(36));
    EXPECT_TRUE(rig().fires(36, {4}));
    rig().add(50, 5);
    rig().add(54, 6);
    EXPECT_TRUE(rig().next_is(54));
    EXPECT_TRUE(rig().fires(53, {}));
    EXPECT_TRUE(rig().fires(54, {5, 6}));
}

// TW-10: same tick: a group of its own that waits for nobody.
TEST(timer_coalescing, members_of_one_tick_do_not_wait) {
    rig().make(coalescing(5, 2));
    rig().add(10, 1);
    rig().add(10, 2);
    rig().add(16, 3);
    EXPECT_TRUE(rig().next_is(10));
    EXPECT_TRUE(rig().fires(10, {1, 2}));
    EXPECT_TRUE(rig().fires(16, {3}));
}

// TW-10: a minimum of one or zero makes every entry wait for the latest of its window.
TEST(timer_coalescing, a_minimum_of_one_still_never_fires_early) {
    for (const std::uint32_t group_min : {0u, 1u}) {
        rig().make(coalescing(5, group_min));
        rig().add(10, 1);
        EXPECT_TRUE(rig().next_is(10));
        EXPECT_TRUE(rig().fires(9, {}));
        rig().add(13, 2);
        EXPECT_TRUE(rig().next_is(13));
        EXPECT_TRUE(rig().fires(12, {}));
        EXPECT_TRUE(rig().fires(13, {1, 2}));
    }
}

// TW-10: the order within a group is (deadline, registration), and each reports its own deadline.
TEST(timer_coalescing, a_group_fires_in_order) {
    rig().make(coalescing(10, 2));
    rig().add(18, 1);
    rig().add(12, 2);
    rig().add(15, 3);
    rig().add(12, 4);
    rig().add(18, 5);
    EXPECT_TRUE(rig().fires(17, {}));
    EXPECT_TRUE(rig().fires(18, {2, 4, 3, 1, 5}));
    EXPECT_EQ(rig().fired().deadlines[0], 12u);
    EXPECT_EQ(rig().fired().deadlines[1], 12u);
    EXPECT_EQ(rig().fired().deadlines[2], 15u);
    EXPECT_EQ(rig().fired().deadlines[3], 18u);
}

// TW-10: one group after another; a window starts where the last group ended, not inside it.
TEST(timer_coalescing, groups_follow_one_another) {
    for (const bool jump : {false, true}) {
        rig().make(coalescing(5, 2));
        rig().add(10, 1);
        rig().add(12, 2);
        rig().add(15, 3);
        rig().add(16, 4);
        rig().add(18, 5);
        rig().add(24, 6);
        if (jump) {
            EXPECT_TRUE(rig().fires(30, {1, 2, 3, 4, 5, 6}));
            continue;
        }
        EXPECT_TRUE(rig().next_is(15));
        EXPECT_TRUE(rig().fires(15, {1, 2, 3}));
        EXPECT_TRUE(rig().next_is(18));
        EXPECT_TRUE(rig().fires(17, {}));
        EXPECT_TRUE(rig().fires(18, {4, 5}));
        EXPECT_TRUE(rig().next_is(24));
        EXPECT_TRUE(rig().fires(23, {}));
        EXPECT_TRUE(rig().fires(24, {6}));
    }
}

// TW-10: too few at first, enough from the second on.
TEST(timer_coalescing, an_entry_without_a_group_does_not_hold_the_next_group) {
    rig().make(coalescing(5, 3));
    rig().add(10, 1);
    rig().add(15, 2);
    rig().add(16, 3);
    rig().add(17, 4);
    EXPECT_TRUE(rig().next_is(10));
    EXPECT_TRUE(rig().fires(10, {1}));
    EXPECT_TRUE(rig().next_is(17));
    EXPECT_TRUE(rig().fires(16, {}));
    EXPECT_TRUE(rig().fires(17, {2, 3, 4}));
}

// TW-10: a jump that ends inside a window: the group waits although its first is past.
TEST(timer_coalescing, a_jump_into_a_window_fires_only_what_is_complete) {
    rig().make(coalescing(10, 2));
    rig().add(5, 1);
    rig().add(7, 2);
    rig().add(30, 3);
    rig().add(38, 4);
    EXPECT_TRUE(rig().fires(35, {1, 2}));
    EXPECT_TRUE(rig().next_is(38));
    EXPECT_TRUE(rig().fires(100, {3, 4}));
}

// T7: members that wait in other levels and in overflow count.
TEST(timer_coalescing, members_of_every_level_and_of_overflow_count) {
    for (const tick edge : {tick{256}, tick{65'536}, tick{1} << 24, two_32}) {
        auto& wheel = rig().make(coalescing(10, 3));
        rig().add(edge - 2, 1);
        rig().add(edge, 2);
        rig().add(edge + 7, 3);
        EXPECT_TRUE(rig().next_is(edge + 7));
        EXPECT_TRUE(rig().fires(edge - 3, {}));
        EXPECT_EQ(wheel.size(), 3u);
        EXPECT_TRUE(rig().next_is(edge + 7));
        EXPECT_TRUE(rig().fires(edge - 2, {}));
        EXPECT_TRUE(rig().next_is(edge + 7));
        EXPECT_TRUE(rig().fires(edge + 6, {}));
        EXPECT_TRUE(rig().fires(edge + 7, {1, 2, 3}));
        EXPECT_TRUE(rig().bare());
    }
}

// T7: a member that is in overflow because the wheel is short.
TEST(timer_coalescing, a_window_longer_than_the_wheel_sees_overflow) {
    auto o = coalescing(500, 2);
    o.max_wheel_duration = duration::from_ms(100);
    auto& wheel = rig().make(o);
    rig().add(50, 1);
    rig().add(400, 2);
    EXPECT_EQ(wheel.overflow_size(), 1u);
    EXPECT_TRUE(rig().next_is(400));
    EXPECT_TRUE(rig().fires(60, {}));
    EXPECT_TRUE(rig().next_is(400));
    EXPECT_TRUE(rig().fires(399, {}));
    EXPECT_TRUE(rig().fires(400, {1, 2}));
}

// TW-10: while a group waits its members can be cancelled and moved, and others join.
TEST(timer_coalescing, waiting_members_can_be_cancelled_and_others_join) {
    auto& wheel = rig().make(coalescing(10, 2));
    const auto first = rig().add(10, 1);
    rig().add(18, 2);
    EXPECT_TRUE(rig().fires(12, {}));
    EXPECT_TRUE(wheel.pending(first));
    rig().add(20, 3);  // exactly at the end of the window
    EXPECT_TRUE(rig().next_is(20));
    rig().add(21, 4);  // not of this group
    EXPECT_TRUE(rig().next_is(20));
    EXPECT_TRUE(rig().fires(19, {}));
    EXPECT_TRUE(rig().fires(20, {1, 2, 3}));
    EXPECT_TRUE(rig().next_is(21));
    EXPECT_TRUE(rig().fires(21, {4}));
}

// TW-10, T7: the latest member goes; the rest is a group that should have fired: due now.
TEST(timer_coalescing, without_its_latest_member_a_waiting_group_fires_at_once) {
    auto& wheel = rig().make(coalescing(10, 2));
    rig().add(10, 1);
    rig().add(12, 2);
    const auto latest = rig().add(18, 3);
    EXPECT_TRUE(rig().fires(15, {}));
    EXPECT_TRUE(rig().next_is(18));
    EXPECT_TRUE(wheel.cancel(latest));
    EXPECT_TRUE(rig().next_is(15));
    EXPECT_TRUE(rig().fires(15, {1, 2}));
    EXPECT_TRUE(rig().bare());
}

// TW-10, T7: too few are left: the group dissolves and what is past is due now.
TEST(timer_coalescing, a_waiting_group_that_becomes_too_small_dissolves) {
    auto& wheel = rig().make(coalescing(10, 3));
    rig().add(10, 1);
    rig().add(19, 2);
    const auto third = rig().add(18, 3);
    EXPECT_TRUE(rig().fires(12, {}));
    EXPECT_TRUE(rig().next_is(19));
    EXPECT_TRUE(wheel.cancel(third));
    EXPECT_TRUE(rig().next_is(12));
    EXPECT_TRUE(rig().fires(12, {1}));
    EXPECT_TRUE(rig().next_is(19));
    EXPECT_TRUE(rig().fires(18, {}));
    EXPECT_TRUE(rig().fires(19, {2}));
}

// TW-10: the first member goes; the window starts at the next one.
TEST(timer_coalescing, without_its_first_member_a_group_starts_later) {
    auto& wheel = rig().make(coalescing(10, 2));
    const auto first = rig().add(10, 1);
    rig().add(15, 2);
    rig().add(24, 3);
    EXPECT_TRUE(rig().next_is(15));
    EXPECT_TRUE(rig().fires(12, {}));
    EXPECT_TRUE(wheel.cancel(first));
    EXPECT_TRUE(rig().next_is(24));
    EXPECT_TRUE(rig().fires(23, {}));
    EXPECT_TRUE(rig().fires(24, {2, 3}));
}

// TW-10, TW-5: a moved member leaves its group.
TEST(timer_coalescing, a_moved_member_leaves_its_group) {
    rig().make(coalescing(10, 2));
    rig().add(10, 1);
    const auto second = rig().add(18, 2);
    EXPECT_TRUE(rig().fires(12, {}));
    EXPECT_TRUE(rig().move(second, 40));
    EXPECT_TRUE(rig().next_is(12));
    EXPECT_TRUE(rig().fires(12, {1}));
    EXPECT_TRUE(rig().next_is(40));
    EXPECT_TRUE(rig().fires(40, {2}));
}

// TW-10, TW-3: a late registration becomes due at the current tick, and its window starts there.
TEST(timer_coalescing, a_late_registration_joins_what_is_due_soon) {
    rig().make(coalescing(5, 2));
    EXPECT_TRUE(rig().fires(100, {}));
    rig().add(50, 1);
    EXPECT_TRUE(rig().next_is(100));
    rig().add(104, 2);
    EXPECT_TRUE(rig().next_is(104));
    EXPECT_TRUE(rig().fires(103, {}));
    EXPECT_TRUE(rig().fires(104, {1, 2}));
    rig().add(104, 3);
    rig().add(110, 4);
    EXPECT_TRUE(rig().next_is(104));
    EXPECT_TRUE(rig().fires(104, {3}));
}

// TW-10, TW-7: a sink adds and cancels while a group fires.
TEST(timer_coalescing, a_sink_may_change_the_wheel_while_a_group_fires) {
    auto& wheel = rig().make(coalescing(10, 2));
    rig().add(10, 1);
    const auto victim = rig().add(12, 2);
    rig().add(15, 3);
    std::uint64_t order = 0;
    const auto fired = wheel.advance(at_ms(15), [&](const tactus::expired_timer& expired) {
        order = order * 10 + expired.payload;
        if (expired.payload == 1) {
            EXPECT_TRUE(wheel.cancel(victim));
            rig().add(0, 4);
            rig().add(20, 5);
        }
    });
    ASSERT_TRUE(fired.has_value());
    EXPECT_EQ(order, 13u);
    EXPECT_TRUE(rig().next_is(20));
    EXPECT_TRUE(rig().fires(19, {}));
    EXPECT_TRUE(rig().fires(20, {4, 5}));
}

// T7: the end of the window saturates at the end of time.
TEST(timer_coalescing, a_window_that_reaches_beyond_the_end_of_time_works) {
    auto o = rig().options();
    o.resolution = duration::from_ns(1);
    o.start = at_ns(UINT64_MAX - 1000);
    o.coalescing = {duration::from_ns(100), 3};
    rig().make(o);
    rig().add(UINT64_MAX - 50, 1);
    rig().add(UINT64_MAX - 20, 2);
    rig().add(UINT64_MAX - 2, 3);
    rig().add(UINT64_MAX - 500, 4);
    EXPECT_TRUE(rig().next_is(UINT64_MAX - 500));
    EXPECT_TRUE(rig().fires(UINT64_MAX - 500, {4}));
    EXPECT_TRUE(rig().next_is(UINT64_MAX - 2));
    EXPECT_TRUE(rig().fires(UINT64_MAX - 3, {}));
    EXPECT_TRUE(rig().fires(UINT64_MAX - 2, {1, 2, 3}));
    rig().add(UINT64_MAX, 5);
    EXPECT_TRUE(rig().next_is(UINT64_MAX));
    EXPECT_TRUE(rig().fires(UINT64_MAX - 1, {}));
    EXPECT_TRUE(rig().fires(UINT64_MAX, {5}));
}

// TW-10: a window below one tick is no window; a part of a tick does not count.
TEST(timer_coalescing, the_window_counts_whole_ticks) {
    auto o = rig().options();
    o.coalescing = {duration::from_ns(999'999), 2};
    rig().make(o);
    rig().add(10, 1);
    rig().add(11, 2);
    EXPECT_TRUE(rig().fires(10, {1}));
    EXPECT_TRUE(rig().fires(11, {2}));
    o.coalescing = {duration::from_ns(1'999'999), 2};
    rig().make(o);
    rig().add(10, 1);
    rig().add(11, 2);
    rig().add(12, 3);
    EXPECT_TRUE(rig().fires(10, {}));
    EXPECT_TRUE(rig().fires(11, {1, 2}));
    EXPECT_TRUE(rig().fires(12, {3}));
}

// timer_coalescing: a window longer than 2^31 - 1 ticks is cut to that.
TEST(timer_coalescing, a_huge_window_is_cut_to_what_is_documented) {
    constexpr tick cut = (tick{1} << 31) - 1;
    auto o = rig().options();
    o.coalescing = {duration::max(), 2};
    rig().make(o);
    rig().add(10, 1);
    rig().add(10 + cut, 2);
    rig().add(11 + cut, 3);
    EXPECT_TRUE(rig().next_is(10 + cut));
    EXPECT_TRUE(rig().fires(9 + cut, {}));
    EXPECT_TRUE(rig().fires(10 + cut, {1, 2}));
    EXPECT_EQ(rig().fired().deadlines[0], 10u);
    EXPECT_TRUE(rig().fires(11 + cut, {3}));
}

// Part 4: 100 timers in half a millisecond, window 1 ms: all at the latest.
TEST(timer_coalescing, a_hundred_timers_within_half_a_window_fire_together) {
    constexpr unsigned many = tactus_test::rig_timers < 100 ? tactus_test::rig_timers : 100;
    auto o = rig().options(many);
    o.resolution = duration::from_us(5);
    o.coalescing.window = duration::from_ms(1);
    auto& wheel = rig().make(o);
    for (unsigned i = 1; i <= many; ++i)
        rig().add(i, i);
    EXPECT_TRUE(rig().next_is(many));
    EXPECT_TRUE(rig().fires(many - 1, {}));
    std::uint64_t expected = 1;
    bool in_order = true;
    const auto fired = wheel.advance(rig().begin_of(many), [&](const auto& expired) {
        in_order = in_order && expired.payload == expected++;
    });
    ASSERT_TRUE(fired.has_value());
    EXPECT_EQ(*fired, many);
    EXPECT_TRUE(in_order);
}

// Part 4: 0.1, 2 and 4 ms, window 5 ms: five are too few, three are enough (and wait: never early).
TEST(timer_coalescing, the_minimum_group_decides_between_waiting_and_firing) {
    auto o = rig().options();
    o.resolution = duration::from_us(100);
    for (const std::uint32_t group_min : {5u, 3u}) {
        o.coalescing = {duration::from_ms(5), group_min};
        rig().make(o);
        rig().add(1, 1);
        rig().add(20, 2);
        rig().add(40, 3);
        if (group_min == 5) {
            EXPECT_TRUE(rig().fires(10, {1}));
        } else {
            EXPECT_TRUE(rig().fires(10, {}));
            EXPECT_TRUE(rig().fires(39, {}));
            EXPECT_TRUE(rig().fires(40, {1, 2, 3}));
        }
    }
}

namespace {

struct model_timer {
    tick deadline;
    std::uint64_t payload;
};

// Where the earliest of `timers` (sorted by deadline, registration) fires, and with how many.
std::size_t group_of(const model_timer* timers, std::size_t count, tick window,
                     std::uint32_t group_min, tick& fires_at) {
    std::size_t members = 0;
    while (members < count && timers[members].deadline <= timers[0].deadline + window)
        ++members;
    if (members < group_min) {
        fires_at = timers[0].deadline;
        return 1;
    }
    fires_at = timers[members - 1].deadline;
    return members;
}

}  // namespace

// TW-10 against the sentence itself: random timers, advanced from one predicted firing to the next.
TEST(timer_coalescing, random_groups_fire_as_the_definition_says) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        tactus::det_rng rng(seed);
        constexpr std::size_t count = 20;
        const tick window = 1 + rng.below(40);
        const auto group_min = static_cast<std::uint32_t>(1 + rng.below(5));
        auto o = coalescing(static_cast<std::int64_t>(window), group_min);
        const tick start = seed % 2 == 0 ? two_32 - 150 : 0;
        o.start = at_ms(start);
        if (seed % 3 == 0)
            o.max_wheel_duration = duration::from_ms(30);
        auto& wheel = rig().make(o);
        model_timer timers[count];
        for (std::size_t i = 0; i < count; ++i) {
            model_timer made{start + 1 + rng.below(300), i};
            rig().add(made.deadline, i);
            std::size_t at = i;
            for (; at > 0 && timers[at - 1].deadline > made.deadline; --at)
                timers[at] = timers[at - 1];
            timers[at] = made;
        }
        std::size_t done = 0;
        while (done < count) {
            tick fires_at = 0;
            const std::size_t members =
                group_of(timers + done, count - done, window, group_min, fires_at);
            EXPECT_TRUE(rig().next_is(fires_at));
            if (fires_at > wheel.now() + 1) {
                EXPECT_TRUE(rig().fires(fires_at - 1, {}));
                EXPECT_TRUE(rig().next_is(fires_at));
            }
            std::size_t end = done;
            bool good = true;
            const auto sink = [&](const tactus::expired_timer& expired) {
                good = good && end < count && expired.payload == timers[end].payload &&
                       expired.deadline == timers[end].deadline;
                ++end;
            };
            ASSERT_TRUE(wheel.advance(at_ms(fires_at), sink).has_value());
            // Singles of one tick fire one after the other in the same advance.
            std::size_t expected = done + members;
            while (expected < count) {
                tick next = 0;
                const std::size_t more =
                    group_of(timers + expected, count - expected, window, group_min, next);
                if (next > fires_at)
                    break;
                expected += more;
            }
            EXPECT_TRUE(good);
            EXPECT_EQ(end, expected);
            if (!good || end != expected)
                TEST_LOG("seed", seed);
            done = expected;
        }
        EXPECT_TRUE(rig().bare());
    }
}
