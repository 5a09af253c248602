// SPDX-License-Identifier: Apache-2.0
//
// Goal: every fixture that the specification names and every timer invariant INV-TM-01 … 08 holds.
// Method: one short script each; ticks are milliseconds unless the fixture says otherwise.
#include "wheel_rig.hpp"

using tactus::duration;
using tactus::timer_errc;
using tactus::timer_handle;
using tactus_test::rig;

// tm-insert-fire-001, TW-3
TEST(timer_wheel_fixtures, tm_insert_fire_001_fires_at_its_tick_and_once) {
    auto& wheel = rig().make();
    rig().add(5, 1);
    EXPECT_EQ(wheel.size(), 1u);
    EXPECT_TRUE(rig().fires(2, {}));
    EXPECT_TRUE(rig().fires(4, {}));
    EXPECT_TRUE(rig().fires(5, {1}));
    EXPECT_EQ(rig().fired().deadlines[0], 5u);
    EXPECT_TRUE(rig().fires(6, {}));
    EXPECT_TRUE(rig().bare());
}

// tm-same-deadline-001, INV-TM-03, TW-2
TEST(timer_wheel_fixtures, tm_same_deadline_001_inv_tm_03_fires_in_order_of_registration) {
    constexpr unsigned many = tactus_test::rig_timers;
    auto& wheel = rig().make(rig().options(many));
    for (unsigned i = 0; i < many; ++i)
        rig().add(300, i);
    EXPECT_TRUE(rig().fires(299, {}));
    std::uint64_t expected = 0;
    bool in_order = true;
    const auto fired = wheel.advance(tactus_test::at_ms(300), [&](const auto& expired) {
        in_order = in_order && expired.payload == expected++ && expired.deadline == 300;
    });
    EXPECT_TRUE(fired.has_value());
    EXPECT_EQ(*fired, many);
    EXPECT_TRUE(in_order);
}

// tm-cancel-001
TEST(timer_wheel_fixtures, tm_cancel_001_a_cancelled_timer_never_fires) {
    auto& wheel = rig().make();
    const auto handle = rig().add(5, 1);
    EXPECT_TRUE(wheel.pending(handle));
    EXPECT_TRUE(wheel.cancel(handle));
    EXPECT_FALSE(wheel.pending(handle));
    EXPECT_TRUE(rig().bare());
    EXPECT_TRUE(rig().fires(1000, {}));
}

// tm-cancel-stale-001, INV-TM-01: a node's earlier generation names nothing any more.
TEST(timer_wheel_fixtures, tm_cancel_stale_001_inv_tm_01_a_stale_generation_is_refused) {
    auto& wheel = rig().make(rig().options(1));
    const auto old = rig().add(5, 1);
    EXPECT_TRUE(wheel.cancel(old));
    const auto live = rig().add(5, 2);
    EXPECT_EQ(old.index(), live.index());
    EXPECT_NE(old.generation(), live.generation());
    EXPECT_FALSE(wheel.cancel(old));
    EXPECT_TRUE(wheel.pending(live));
    EXPECT_TRUE(rig().fires(5, {2}));
    EXPECT_FALSE(wheel.cancel(live));
    EXPECT_FALSE(wheel.cancel(old));
}

// tm-cancel-reuse-001, INV-TM-01: index and generation must both match.
TEST(timer_wheel_fixtures, tm_cancel_reuse_001_registrations_of_one_node_are_independent) {
    auto& wheel = rig().make(rig().options(2));
    const auto first = rig().add(5, 1);
    EXPECT_TRUE(wheel.cancel(first));
    const auto second = rig().add(7, 2);
    const auto third = rig().add(9, 3);
    EXPECT_FALSE(first == second);
    EXPECT_NE(second.index(), third.index());
    EXPECT_FALSE(wheel.pending(first));
    EXPECT_TRUE(wheel.pending(second));
    EXPECT_TRUE(wheel.cancel(second));
    EXPECT_FALSE(wheel.cancel(second));
    EXPECT_TRUE(rig().fires(20, {3}));
}

// tm-duration-exceeded-001, INV-TM-04, TW-9
TEST(timer_wheel_fixtures, tm_duration_exceeded_001_inv_tm_04_refuses_beyond_the_maximum) {
    auto o = rig().options();
    o.max_timer_duration = duration::from_s(3600);
    auto& wheel = rig().make(o);
    const auto refused = wheel.insert(rig().now(), duration::from_ms(3'600'001), 1);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, timer_errc::duration_exceeded);
    EXPECT_EQ(refused.error().delay(), duration::from_ms(3'600'001));
    EXPECT_EQ(refused.error().max(), duration::from_s(3600));
    EXPECT_TRUE(rig().bare());
    rig().add(3'600'000, 2);
    EXPECT_TRUE(rig().fires(3'600'000, {2}));
}

// tm-cascade-001: level 0 wraps and level 1 moves down, then 2 and 3 likewise.
TEST(timer_wheel_fixtures, tm_cascade_001_every_level_moves_down_in_time) {
    auto& wheel = rig().make();
    rig().add(300, 1);
    rig().add(70'000, 2);
    rig().add(17'000'000, 3);
    EXPECT_FALSE(wheel.occupied(1).empty());
    EXPECT_FALSE(wheel.occupied(2).empty());
    EXPECT_FALSE(wheel.occupied(3).empty());
    EXPECT_TRUE(wheel.occupied(0).empty());
    EXPECT_TRUE(rig().fires(256, {}));
    EXPECT_TRUE(wheel.occupied(1).empty());
    EXPECT_TRUE(wheel.occupied(0).test(300 - 256));
    EXPECT_TRUE(rig().fires(299, {}));
    EXPECT_TRUE(rig().fires(300, {1}));
    EXPECT_TRUE(rig().fires(69'999, {}));
    EXPECT_TRUE(rig().fires(70'000, {2}));
    EXPECT_TRUE(rig().fires(16'999'999, {}));
    EXPECT_TRUE(rig().fires(17'000'000, {3}));
    EXPECT_TRUE(rig().bare());
}

// tm-overflow-001, TW-8
TEST(timer_wheel_fixtures, tm_overflow_001_a_far_timer_waits_in_overflow_and_fires_on_time) {
    auto& wheel = rig().make(rig().default_options());
    constexpr tactus::tick day = 24 * 3'600'000;
    const auto inside = rig().add(day, 1);
    EXPECT_EQ(wheel.overflow_size(), 0u);
    const auto outside = rig().add(day + 1, 2);
    EXPECT_EQ(wheel.overflow_size(), 1u);
    EXPECT_TRUE(wheel.pending(inside));
    EXPECT_TRUE(wheel.pending(outside));
    EXPECT_TRUE(rig().fires(day - 1, {}));
    EXPECT_TRUE(rig().fires(day, {1}));
    EXPECT_TRUE(rig().fires(day + 1, {2}));
    EXPECT_TRUE(rig().bare());
}

// tm-coalesce-001, TW-10
TEST(timer_wheel_fixtures, tm_coalesce_001_timers_within_the_window_fire_together) {
    auto o = rig().options();
    o.coalescing.window = duration::from_ms(10);
    auto& wheel = rig().make(o);
    rig().add(3, 1);
    rig().add(5, 2);
    rig().add(15, 3);
    EXPECT_TRUE(rig().next_is(5));
    EXPECT_TRUE(rig().fires(4, {}));
    EXPECT_TRUE(rig().fires(9, {1, 2}));
    EXPECT_EQ(wheel.size(), 1u);
    EXPECT_TRUE(rig().fires(16, {3}));
}

// tm-wrap-001, INV-TM-06: sequence and generation wrap; a handle never comes back, and a node that
// would repeat itself retires instead.
TEST(timer_wheel_fixtures, tm_wrap_001_inv_tm_06_wrapping_counters_never_make_two_handles_equal) {
    auto o = rig().options(3);
    o.first_sequence = UINT64_MAX - 4;
    o.tag = UINT32_MAX;
    o.generation_count = 8;
    auto& wheel = rig().make(o);
    timer_handle seen[16] = {};
    std::size_t count = 3;
    for (std::size_t i = 0; i < count; ++i)
        seen[i] = rig().add(5, i);
    for (std::size_t i = 0; i < count; ++i)
        EXPECT_TRUE(wheel.cancel(seen[i]));
    for (;;) {
        const auto made = wheel.insert(rig().now(), duration::from_ms(5), count);
        if (!made)
            break;
        ASSERT_LT(count, 16u);
        for (std::size_t i = 0; i < count; ++i) {
            EXPECT_FALSE(seen[i] == *made);
            EXPECT_FALSE(wheel.pending(seen[i]));
        }
        seen[count++] = *made;
        EXPECT_TRUE(wheel.cancel(*made));
    }
    // 3 nodes of 8 generations, two per use.
    EXPECT_EQ(count, 12u);
    EXPECT_EQ(wheel.retired_count(), 3u);
    EXPECT_TRUE(rig().bare());
}

// tm-purge-001, INV-TM-05, TW-11
TEST(timer_wheel_fixtures, tm_purge_001_inv_tm_05_all_cancelled_leaves_nothing_behind) {
    auto o = rig().options();
    o.max_wheel_duration = duration::from_s(3600);
    auto& wheel = rig().make(o);
    const timer_handle handles[] = {rig().add(0, 0), rig().add(5, 1), rig().add(500, 2),
                                    rig().add(100'000, 3), rig().add(4'000'000, 4)};
    EXPECT_EQ(wheel.size(), 5u);
    EXPECT_EQ(wheel.overflow_size(), 1u);
    for (const auto& handle : handles)
        EXPECT_TRUE(wheel.cancel(handle));
    EXPECT_TRUE(rig().bare());
    EXPECT_TRUE(rig().fires(5'000'000, {}));
    rig().add(5'000'050, 6);
    EXPECT_TRUE(rig().fires(5'000'050, {6}));
}

// tm-immediate-001, TW-3
TEST(timer_wheel_fixtures, tm_immediate_001_a_deadline_in_the_past_fires_at_the_next_advance) {
    auto o = rig().options();
    o.start = tactus_test::at_ms(10);
    auto& wheel = rig().make(o);
    EXPECT_TRUE(wheel.insert(tactus_test::at_ms(10), duration::zero(), 1).has_value());
    EXPECT_TRUE(wheel.insert(tactus_test::at_ms(3), duration::from_ms(2), 2).has_value());
    EXPECT_TRUE(wheel.insert(tactus_test::at_ms(10), duration::from_ms(-7), 3).has_value());
    EXPECT_TRUE(wheel.insert(tactus_test::at_ms(10), duration::min(), 4).has_value());
    EXPECT_TRUE(rig().next_is(10));
    EXPECT_TRUE(rig().fires(10, {1, 2, 3, 4}));
    for (std::size_t i = 0; i < 4; ++i)
        EXPECT_EQ(rig().fired().deadlines[i], 10u);
    EXPECT_TRUE(rig().bare());
}

// tm-cascade-fifo-001, TW-1
TEST(timer_wheel_fixtures, tm_cascade_fifo_001_far_one_first) {
    rig().make();
    rig().add(300, 1);
    EXPECT_TRUE(rig().fires(100, {}));
    rig().add(300, 2);
    EXPECT_TRUE(rig().fires(290, {}));
    rig().add(300, 3);
    EXPECT_TRUE(rig().fires(300, {1, 2, 3}));
}

// tm-overflow-fifo-001, TW-8
TEST(timer_wheel_fixtures, tm_overflow_fifo_001_the_one_from_overflow_fires_first) {
    auto o = rig().options();
    o.max_wheel_duration = duration::from_ms(1000);
    auto& wheel = rig().make(o);
    rig().add(5000, 1);
    rig().add(5000, 2);
    EXPECT_EQ(wheel.overflow_size(), 2u);
    EXPECT_TRUE(rig().fires(3999, {}));
    rig().add(5000, 3);  // one tick beyond: overflow too
    EXPECT_TRUE(rig().fires(4000, {}));
    rig().add(5000, 4);  // near enough for the wheel
    EXPECT_TRUE(rig().fires(4900, {}));
    rig().add(5000, 5);
    EXPECT_TRUE(rig().fires(5000, {1, 2, 3, 4, 5}));
}

// tm-next-deadline-levels-001, TW-6: by delay the one at 300 would be the higher level; by digit
// level 0 is always the earlier one, and the answer is the minimum whatever waits where.
TEST(timer_wheel_fixtures, tm_next_deadline_levels_001_the_earliest_of_all_levels_is_reported) {
    auto& wheel = rig().make();
    rig().add(300, 1);
    EXPECT_TRUE(rig().fires(200, {}));
    const auto later = rig().add(400, 2);
    EXPECT_TRUE(rig().next_is(300));
    EXPECT_TRUE(wheel.cancel(later));
    rig().add(250, 3);
    EXPECT_TRUE(rig().next_is(250));
    EXPECT_TRUE(rig().fires(250, {3}));
    EXPECT_TRUE(rig().next_is(300));
    EXPECT_TRUE(rig().fires(300, {1}));
}

// tm-jump-001, TW-6: one hour. At 1 ns per tick an empty hour is 3.6e12 ticks: a wheel that walks
// them does not come back.
TEST(timer_wheel_fixtures, tm_jump_001_an_hour_is_one_step) {
    auto o = rig().options();
    rig().make(o);
    rig().add(3'600'000, 1);
    EXPECT_TRUE(rig().fires(3'600'000, {1}));
    o.resolution = duration::from_ns(1);
    rig().make(o);
    EXPECT_TRUE(rig().fires(3'600'000'000'000, {}));
    rig().add(7'200'000'000'000, 2);
    EXPECT_TRUE(rig().fires(7'199'999'999'999, {}));
    EXPECT_TRUE(rig().fires(7'200'000'000'000, {2}));
    EXPECT_TRUE(rig().bare());
}

// tm-reentrant-001, TW-7
TEST(timer_wheel_fixtures, tm_reentrant_001_the_sink_inserts_cancels_and_moves) {
    auto& wheel = rig().make();
    rig().add(10, 1);
    const auto victim = rig().add(10, 2);
    const auto moved = rig().add(11, 3);
    rig().add(12, 4);
    std::uint64_t order[8] = {};
    std::size_t count = 0;
    const auto sink = [&](const tactus::expired_timer& expired) {
        if (count < 8)
            order[count++] = expired.payload;
        if (expired.payload != 1)
            return;
        EXPECT_TRUE(wheel.cancel(victim));
        EXPECT_TRUE(rig().move(moved, 30));
        rig().add(0, 5);   // due already: next advance
        rig().add(25, 6);  // later
    };
    auto fired = wheel.advance(tactus_test::at_ms(20), sink);
    ASSERT_TRUE(fired.has_value());
    EXPECT_EQ(*fired, 2u);
    EXPECT_EQ(order[0], 1u);
    EXPECT_EQ(order[1], 4u);
    EXPECT_TRUE(rig().next_is(20));
    EXPECT_TRUE(rig().fires(20, {5}));
    EXPECT_TRUE(rig().fires(29, {6}));
    EXPECT_TRUE(rig().fires(30, {3}));
}

// INV-TM-02 in the form of TW-4: a cancelled timer is gone at once, not skipped later; its node
// serves the next registration.
TEST(timer_wheel_fixtures, inv_tm_02_cancel_frees_the_node_at_once) {
    auto& wheel = rig().make(rig().options(4));
    timer_handle handles[4] = {rig().add(0, 0), rig().add(9, 1), rig().add(900, 2),
                               rig().add(90'000, 3)};
    EXPECT_FALSE(wheel.insert(rig().now(), duration::from_ms(1), 9).has_value());
    for (unsigned round = 0; round < 50; ++round) {
        auto& handle = handles[round % 4];
        const std::uint32_t index = handle.index();
        EXPECT_TRUE(wheel.cancel(handle));
        EXPECT_EQ(wheel.size(), 3u);
        handle = rig().add(round * 37, round);
        EXPECT_EQ(handle.index(), index);
        EXPECT_EQ(wheel.size(), 4u);
    }
}

// INV-TM-07: nothing of a cancelled timer takes part in a cascade, and what reuses its node is not
// touched by it.
TEST(timer_wheel_fixtures, inv_tm_07_cascades_carry_only_live_timers) {
    auto o = rig().options(4);
    o.max_wheel_duration = duration::from_s(20'000);
    auto& wheel = rig().make(o);
    const timer_handle dead[] = {rig().add(300, 1), rig().add(70'000, 2), rig().add(17'000'000, 3),
                                 rig().add(30'000'000, 4)};
    EXPECT_EQ(wheel.overflow_size(), 1u);
    for (const auto& handle : dead)
        EXPECT_TRUE(wheel.cancel(handle));
    rig().add(40'000'000, 5);
    rig().add(310, 6);
    rig().add(70'001, 7);
    rig().add(17'000'001, 8);
    EXPECT_TRUE(rig().fires(309, {}));
    EXPECT_TRUE(rig().fires(310, {6}));
    EXPECT_TRUE(rig().fires(70'000, {}));
    EXPECT_TRUE(rig().fires(70'001, {7}));
    EXPECT_TRUE(rig().fires(17'000'000, {}));
    EXPECT_TRUE(rig().fires(17'000'001, {8}));
    EXPECT_TRUE(rig().fires(39'999'999, {}));
    EXPECT_TRUE(rig().fires(40'000'000, {5}));
}

// INV-TM-08, TW-3: a deadline equal to now is due; one nanosecond before it is not.
TEST(timer_wheel_fixtures, inv_tm_08_due_when_now_equals_the_deadline) {
    for (const std::uint64_t deadline : {1u, 255u, 256u, 65'536u, 16'777'216u}) {
        rig().make();
        rig().add(deadline, 1);
        EXPECT_TRUE(rig().fires_at(tactus_test::at_ns(deadline * 1'000'000 - 1), {}));
        EXPECT_TRUE(rig().fires_at(tactus_test::at_ns(deadline * 1'000'000), {1}));
    }
}
