// SPDX-License-Identifier: Apache-2.0
//
// Goal: the bugs that timer wheels are known for, T1 … T14, are not in this one, and the behaviours
// that others promise and we promise too hold.
// Method: one test per trap, the shortest script that falls into it.
#include "wheel_rig.hpp"

using tactus::duration;
using tactus::tick;
using tactus::timer_errc;
using tactus::timer_handle;
using tactus_test::at_ms;
using tactus_test::at_ns;
using tactus_test::rig;

namespace {

constexpr tick hour = 3'600'000;
constexpr tick day = 24 * hour;
constexpr tick two_32 = tick{1} << 32;

}  // namespace

TEST(timer_traps, t1_removal_from_a_slot_keeps_the_order_of_the_rest) {
    for (const tick deadline : {tick{5}, tick{300}, tick{70'000}, tick{1} << 24, two_32 + 5}) {
        for (std::size_t gone = 0; gone < 5; ++gone) {
            auto& wheel = rig().make();
            timer_handle handles[5] = {};
            for (std::size_t i = 0; i < 5; ++i)
                handles[i] = rig().add(deadline, i);
            EXPECT_TRUE(wheel.cancel(handles[gone]));
            rig().add(deadline, 9);  // takes the free node, not the free place
            switch (gone) {
            case 0:
                EXPECT_TRUE(rig().fires(deadline, {1, 2, 3, 4, 9}));
                break;
            case 1:
                EXPECT_TRUE(rig().fires(deadline, {0, 2, 3, 4, 9}));
                break;
            case 2:
                EXPECT_TRUE(rig().fires(deadline, {0, 1, 3, 4, 9}));
                break;
            case 3:
                EXPECT_TRUE(rig().fires(deadline, {0, 1, 2, 4, 9}));
                break;
            default:
                EXPECT_TRUE(rig().fires(deadline, {0, 1, 2, 3, 9}));
                break;
            }
        }
    }
}

TEST(timer_traps, t2_next_deadline_looks_at_every_level) {
    auto o = rig().options();
    o.max_wheel_duration = duration::from_ms(100);
    rig().make(o);
    rig().add(150, 1);  // overflow
    EXPECT_TRUE(rig().fires(60, {}));
    rig().add(155, 2);  // level 0
    EXPECT_TRUE(rig().next_is(150));
    rig().make();
    EXPECT_TRUE(rig().fires(200, {}));
    rig().add(400, 1);
    rig().add(300, 2);
    EXPECT_TRUE(rig().next_is(300));
    EXPECT_TRUE(rig().fires(300, {2}));
    EXPECT_TRUE(rig().next_is(400));
}

TEST(timer_traps, t3_a_wheel_duration_beyond_the_physical_span_terminates) {
    for (const auto cap : {duration::from_s(50 * 24 * 3600), duration::max()}) {
        auto o = rig().options();
        o.max_wheel_duration = cap;
        auto& wheel = rig().make(o);
        rig().add(two_32 - 1, 1);
        rig().add(two_32, 2);
        rig().add(49 * day + 18 * hour, 3);
        rig().add(3 * two_32 + 7, 4);
        EXPECT_TRUE(rig().next_is(two_32 - 1));
        EXPECT_TRUE(rig().fires(1, {}));
        EXPECT_TRUE(rig().fires(two_32 - 1, {1}));
        EXPECT_TRUE(rig().fires(two_32, {2}));
        EXPECT_TRUE(rig().fires(3 * two_32 + 6, {3}));
        EXPECT_TRUE(rig().fires(3 * two_32 + 7, {4}));
        EXPECT_EQ(wheel.size(), 0u);
    }
}

TEST(timer_traps, t4_registration_after_idle_uses_the_caller_s_clock) {
    auto& wheel = rig().make(rig().default_options());
    // Nobody has advanced the wheel for eight days.
    EXPECT_TRUE(wheel.insert(at_ms(8 * day), duration::from_ms(10), 1).has_value());
    EXPECT_TRUE(wheel.insert(at_ms(8 * day), duration::zero(), 2).has_value());
    EXPECT_TRUE(wheel.insert(at_ms(8 * day), duration::from_s(7 * 24 * 3600), 3).has_value());
    EXPECT_TRUE(rig().next_is(8 * day));
    EXPECT_TRUE(rig().fires(8 * day, {2}));
    EXPECT_TRUE(rig().fires(8 * day + 9, {}));
    EXPECT_TRUE(rig().fires(8 * day + 10, {1}));
    EXPECT_TRUE(rig().fires(15 * day - 1, {}));
    EXPECT_TRUE(rig().fires(15 * day, {3}));
    // A near timer is near although the wheel was idle: it needs no overflow.
    auto o = rig().default_options();
    o.overflow_max = 0;
    auto& idle = rig().make(o);
    EXPECT_TRUE(idle.insert(at_ms(8 * day), duration::from_ms(10), 1).has_value());
    EXPECT_TRUE(rig().next_is(8 * day + 10));
    EXPECT_TRUE(rig().fires(8 * day + 9, {}));
    EXPECT_TRUE(rig().fires(8 * day + 10, {1}));
}

TEST(timer_traps, t5_slots_behind_the_cursor_are_found_and_jumps_realign_all_levels) {
    // The cursor late in each level, the timer early in the next round.
    for (const tick now : {tick{250}, tick{255}, tick{65'530}, tick{65'535}, (tick{1} << 24) - 1}) {
        auto o = rig().options();
        o.start = at_ms(now);
        rig().make(o);
        rig().add(now + 10, 1);
        rig().add(now + 1, 2);
        EXPECT_TRUE(rig().next_is(now + 1));
        EXPECT_TRUE(rig().fires(now + 1, {2}));
        EXPECT_TRUE(rig().next_is(now + 10));
        EXPECT_TRUE(rig().fires(now + 9, {}));
        EXPECT_TRUE(rig().fires(now + 10, {1}));
    }
    // An empty jump: everything registered afterwards counts from the new position.
    rig().make();
    EXPECT_TRUE(rig().fires(hour, {}));
    rig().add(hour + 1, 1);
    rig().add(hour + 300, 2);
    rig().add(hour + 70'000, 3);
    EXPECT_TRUE(rig().fires(hour + 1, {1}));
    EXPECT_TRUE(rig().fires(hour + 299, {}));
    EXPECT_TRUE(rig().fires(hour + 300, {2}));
    EXPECT_TRUE(rig().fires(hour + 69'999, {}));
    EXPECT_TRUE(rig().fires(hour + 70'000, {3}));
}

TEST(timer_traps, t6_nothing_that_is_not_due_is_collected_and_forgotten) {
    auto& wheel = rig().make();
    for (std::uint64_t i = 0; i < 10; ++i)
        EXPECT_TRUE(
            wheel.insert(at_ns(0), duration::from_ns(static_cast<std::int64_t>(i) * 300'000), i)
                .has_value());
    EXPECT_TRUE(rig().fires_at(at_ns(999'999), {0}));
    EXPECT_TRUE(rig().next_is(1));
    EXPECT_TRUE(rig().fires_at(at_ns(1'500'000), {1, 2, 3}));
    EXPECT_TRUE(rig().fires_at(at_ns(2'700'000), {4, 5, 6}));
    EXPECT_TRUE(rig().fires_at(at_ns(3'000'000), {7, 8, 9}));
    EXPECT_TRUE(rig().bare());
}

// The parts are in timer_coalescing_test.cpp; this is the trap as a whole.
TEST(timer_traps, t7_groups_span_levels_and_overflow_and_are_reported_exactly) {
    auto o = rig().options();
    o.coalescing = {duration::from_ms(300), 4};
    o.max_wheel_duration = duration::from_ms(260);
    auto& wheel = rig().make(o);
    const auto first = rig().add(10, 1);  // level 0
    rig().add(257, 2);                    // level 1
    rig().add(300, 3);                    // overflow
    const auto last = rig().add(310, 4);  // overflow, at the end of the window
    rig().add(311, 5);
    EXPECT_EQ(wheel.overflow_size(), 3u);
    EXPECT_TRUE(rig().next_is(310));
    EXPECT_TRUE(rig().fires(309, {}));
    EXPECT_TRUE(rig().next_is(310));
    // Without the last one there are only three in the window of the first: due already.
    EXPECT_TRUE(wheel.cancel(last));
    EXPECT_TRUE(rig().next_is(309));
    EXPECT_TRUE(wheel.pending(first));
    EXPECT_TRUE(rig().fires(309, {1, 2, 3}));
    EXPECT_TRUE(rig().fires(310, {}));
    EXPECT_TRUE(rig().fires(311, {5}));
}

TEST(timer_traps, t8_handles_stay_different_when_counters_reach_their_ends) {
    auto o = rig().options(2);
    o.first_sequence = UINT64_MAX;
    o.tag = UINT32_MAX;
    auto& wheel = rig().make(o);
    timer_handle before = rig().add(5, 1);
    for (unsigned i = 0; i < 20; ++i) {
        const auto next = rig().add(5, 2);
        EXPECT_FALSE(next == before);
        EXPECT_TRUE(wheel.pending(before));
        EXPECT_TRUE(wheel.cancel(before));
        EXPECT_FALSE(wheel.cancel(before));
        EXPECT_TRUE(wheel.pending(next));
        before = next;
    }
    EXPECT_TRUE(rig().fires(5, {2}));
}

TEST(timer_traps, t9_a_deadline_within_the_current_tick_is_not_now) {
    auto& wheel = rig().make();
    EXPECT_TRUE(wheel.insert(at_ns(0), duration::from_us(500), 1).has_value());
    EXPECT_TRUE(rig().next_is(1));
    EXPECT_TRUE(rig().fires_at(at_ns(500'000), {}));
    EXPECT_TRUE(rig().fires_at(at_ns(1'000'000), {1}));
    // With ticks that can tell, it is exactly there.
    auto o = rig().options();
    o.resolution = duration::from_us(100);
    auto& fine = rig().make(o);
    EXPECT_TRUE(fine.insert(at_ns(0), duration::from_us(500), 1).has_value());
    EXPECT_TRUE(rig().next_is(5));
    EXPECT_EQ(fine.scale().begin_of(5).ns(), 500'000u);
    EXPECT_TRUE(rig().fires_at(at_ns(499'999), {}));
    EXPECT_TRUE(rig().fires_at(at_ns(500'000), {1}));
}

TEST(timer_traps, t10_distances_beyond_32_bits_are_not_cut) {
    auto o = rig().options();
    o.resolution = duration::from_us(1);
    rig().make(o);
    rig().add(two_32 + 5, 1);
    rig().add(7 * two_32 + 3, 2);
    rig().add(10, 3);
    EXPECT_TRUE(rig().next_is(10));
    EXPECT_TRUE(rig().fires(100, {3}));
    EXPECT_TRUE(rig().next_is(two_32 + 5));
    EXPECT_TRUE(rig().fires(two_32 + 4, {}));
    EXPECT_TRUE(rig().fires(5 * two_32 + 50, {1}));
    EXPECT_TRUE(rig().fires(7 * two_32 + 2, {}));
    EXPECT_TRUE(rig().fires(7 * two_32 + 3, {2}));
}

TEST(timer_traps, t11_long_durations_are_an_error_not_a_panic_and_not_cut) {
    auto& wheel = rig().make(rig().default_options());
    const auto refused = wheel.insert(at_ns(0), duration::max(), 1);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, timer_errc::duration_exceeded);
    EXPECT_EQ(refused.error().delay(), duration::max());
    EXPECT_TRUE(rig().bare());
    // With the limit lifted, the same delay is registered in full.
    auto& open = rig().make();
    EXPECT_TRUE(open.insert(at_ns(0), duration::max(), 1).has_value());
    const tick deadline = static_cast<tick>(INT64_MAX) / 1'000'000 + 1;
    EXPECT_TRUE(rig().next_is(deadline));
    EXPECT_TRUE(rig().fires(deadline - 1, {}));
    EXPECT_TRUE(rig().fires(deadline, {1}));
}

TEST(timer_traps, t12_one_advance_pumps_everything_that_is_due) {
    auto o = rig().options();
    o.max_wheel_duration = duration::from_s(30'000);
    auto& wheel = rig().make(o);
    rig().add(0, 0);
    rig().add(1, 1);
    rig().add(255, 2);
    rig().add(256, 3);
    rig().add(65'536, 4);
    rig().add(tick{1} << 24, 5);
    rig().add(40'000'000, 6);
    rig().add(two_32, 7);
    EXPECT_EQ(wheel.overflow_size(), 2u);
    EXPECT_TRUE(rig().fires(2 * two_32, {0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_TRUE(rig().bare());
}

TEST(timer_traps, t13_a_wheel_has_one_epoch_and_any_epoch_will_do) {
    for (const tick start : {tick{0}, 3 * day, two_32 - 1000, 100 * two_32 + 77}) {
        auto o = rig().default_options();
        o.start = at_ms(start);
        auto& wheel = rig().make(o);
        EXPECT_EQ(wheel.now(), start);
        rig().add(start + 5, 1);
        rig().add(start + 2000, 2);
        rig().add(start + 2 * day, 3);
        EXPECT_TRUE(rig().next_is(start + 5));
        EXPECT_TRUE(rig().fires(start + 4, {}));
        EXPECT_TRUE(rig().fires(start + 1999, {1}));
        EXPECT_TRUE(rig().fires(start + 2000, {2}));
        EXPECT_TRUE(rig().fires(start + 2 * day - 1, {}));
        EXPECT_TRUE(rig().fires(start + 2 * day, {3}));
    }
}

TEST(timer_traps, t14_cancelled_overflow_entries_leave_nothing_behind) {
    auto o = rig().options(3);
    o.max_wheel_duration = duration::from_ms(100);
    o.overflow_max = 2;
    auto& wheel = rig().make(o);
    rig().add(100'000, 0);
    for (unsigned i = 0; i < 500; ++i) {
        const auto handle = rig().add(1000 + (i * 37) % 500, i);
        EXPECT_EQ(wheel.overflow_size(), 2u);
        EXPECT_TRUE(wheel.cancel(handle));
        EXPECT_EQ(wheel.overflow_size(), 1u);
        EXPECT_TRUE(rig().next_is(100'000));
    }
    EXPECT_TRUE(rig().fires(99'999, {}));
    EXPECT_TRUE(rig().fires(100'000, {0}));
    EXPECT_TRUE(rig().bare());
}

// Part 4: each fires exactly at its time, by the default limits.
TEST(timer_traps, timers_from_milliseconds_to_days_fire_exactly_at_their_time) {
    constexpr tick times[] = {10,       500,      30'000,    120'000,   hour,
                              2 * hour, 5 * hour, 10 * hour, 25 * hour, 100'080'000};
    rig().make(rig().default_options());
    for (std::size_t i = 0; i < std::size(times); ++i)
        rig().add(times[i], i);
    for (std::size_t i = 0; i < std::size(times); ++i) {
        EXPECT_TRUE(rig().next_is(times[i]));
        EXPECT_TRUE(rig().fires(times[i] - 1, {}));
        EXPECT_TRUE(rig().fires(times[i], {i}));
    }
}

// Part 4: 25 h waits in overflow and can be cancelled; 24 h + 1 ms fires after promotion.
TEST(timer_traps, a_timer_beyond_a_day_waits_in_overflow_and_is_cancellable) {
    auto& wheel = rig().make(rig().default_options());
    const auto far = rig().add(25 * hour, 1);
    EXPECT_GE(wheel.overflow_size(), 1u);
    EXPECT_TRUE(wheel.cancel(far));
    EXPECT_EQ(wheel.overflow_size(), 0u);
    rig().add(day + 1, 2);
    EXPECT_EQ(wheel.overflow_size(), 1u);
    EXPECT_TRUE(rig().fires(1, {}));
    EXPECT_EQ(wheel.overflow_size(), 0u);
    EXPECT_TRUE(rig().fires(day, {}));
    EXPECT_TRUE(rig().fires(day + 1, {2}));
}

// Part 4
TEST(timer_traps, cancel_and_register_again_in_the_same_slot_fires_once) {
    auto& wheel = rig().make();
    const auto old = rig().add(50, 1);
    EXPECT_TRUE(wheel.cancel(old));
    rig().add(50, 2);
    EXPECT_TRUE(rig().fires(50, {2}));
    EXPECT_TRUE(rig().fires(51, {}));
}

// Part 4: skipping by bitmap equals walking tick by tick.
TEST(timer_traps, skipping_equals_walking) {
    constexpr tick deadlines[] = {12, 15, 255, 256, 257, 300, 511, 512, 700, 767, 768, 1024};
    for (const bool walk : {false, true}) {
        auto& wheel = rig().make();
        EXPECT_TRUE(rig().fires(10, {}));
        for (std::size_t i = 0; i < std::size(deadlines); ++i)
            rig().add(deadlines[i], i);
        std::size_t next = 0;
        bool good = true;
        const auto sink = [&](const tactus::expired_timer& expired) {
            good = good && expired.payload == next && expired.deadline == deadlines[next];
            ++next;
        };
        if (walk) {
            for (tick t = 11; t < 1024; ++t) {
                EXPECT_TRUE(wheel.advance(at_ms(t), sink).has_value());
                good = good && (next == std::size(deadlines) || deadlines[next] > t);
            }
        }
        EXPECT_TRUE(wheel.advance(at_ms(1024), sink).has_value());
        EXPECT_TRUE(good);
        EXPECT_EQ(next, std::size(deadlines));
    }
}

// Part 4: near the end of 64 bits.
TEST(timer_traps, near_the_end_of_time_timers_fire_without_overflow) {
    auto o = rig().options();
    const tick last = UINT64_MAX / 1'000'000;
    o.start = at_ms(last - 20);
    rig().make(o);
    rig().add(last - 10, 1);
    rig().add(last, 2);
    EXPECT_TRUE(rig().next_is(last - 10));
    EXPECT_TRUE(rig().fires(last - 1, {1}));
    EXPECT_TRUE(rig().fires_at(tactus::instant::never(), {2}));
    EXPECT_TRUE(rig().bare());
}

// The inversions others have left: by cascade, below one tick, and by coalescing.
TEST(timer_traps, no_inversion_by_cascade_below_a_tick_or_by_coalescing) {
    auto& wheel = rig().make();
    // Below one tick deadlines share a tick, and registration decides.
    EXPECT_TRUE(wheel.insert(at_ns(0), duration::from_us(900), 1).has_value());
    EXPECT_TRUE(wheel.insert(at_ns(0), duration::from_us(100), 2).has_value());
    EXPECT_TRUE(rig().fires(1, {1, 2}));
    rig().add(400, 3);
    EXPECT_TRUE(rig().fires(256, {}));
    rig().add(400, 4);
    EXPECT_TRUE(rig().fires(400, {3, 4}));
    auto o = rig().options();
    o.coalescing = {duration::from_ms(200), 2};
    rig().make(o);
    rig().add(300, 1);
    rig().add(200, 2);
    EXPECT_TRUE(rig().fires(250, {}));
    rig().add(300, 3);
    rig().add(290, 4);
    EXPECT_TRUE(rig().fires(299, {}));
    EXPECT_TRUE(rig().fires(300, {2, 4, 1, 3}));
}
