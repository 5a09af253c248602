// SPDX-License-Identifier: Apache-2.0
//
// Goal: timers fire ordered by (effective deadline, registration), never early, however they
// waited: TW-1, TW-2, TW-3, TW-7, TW-8, TW-12, TW-13.
// Method: scripts around every boundary of the wheel, sinks that change the wheel while it fires,
// and counters started near their ends.
#include <tactus/base/det_hasher.hpp>
#include <tactus/base/det_rng.hpp>

#include "wheel_rig.hpp"

using tactus::duration;
using tactus::expired_timer;
using tactus::tick;
using tactus::timer_errc;
using tactus::timer_handle;
using tactus_test::at_ms;
using tactus_test::at_ns;
using tactus_test::rig;

namespace {

constexpr tick two_24 = tick{1} << 24;
constexpr tick two_32 = tick{1} << 32;

// Distances at which something changes place, and their neighbours.
constexpr tick edges[] = {1,          2,      254,        255,         256,
                          257,        511,    512,        65'535,      65'536,
                          65'537,     65'792, two_24 - 1, two_24,      two_24 + 1,
                          two_32 - 1, two_32, two_32 + 1, two_32 + 256};

}  // namespace

// TW-2
TEST(timer_wheel_order, deadlines_come_out_sorted_whatever_the_order_of_registration) {
    rig().make();
    rig().add(30, 0);
    rig().add(10, 1);
    rig().add(20, 2);
    rig().add(10, 3);
    rig().add(255, 4);
    rig().add(30, 5);
    EXPECT_TRUE(rig().fires(300, {1, 3, 2, 0, 5, 4}));
}

// TW-1, TW-2: one deadline, registered from farther and farther near: through level 3, 2, 1 and 0.
// DT-5: deadline tick, then sequence.
TEST(timer_wheel_order, one_deadline_keeps_its_order_across_every_cascade_level) {
    rig().make();
    const tick deadline = 2 * two_24 + 3 * 65'536 + 5 * 256 + 7;
    rig().add(deadline, 0);
    EXPECT_TRUE(rig().fires(deadline - two_24, {}));
    rig().add(deadline, 1);
    EXPECT_TRUE(rig().fires(2 * two_24, {}));
    rig().add(deadline, 2);
    EXPECT_TRUE(rig().fires(deadline - 70'000, {}));
    rig().add(deadline, 3);
    EXPECT_TRUE(rig().fires(deadline - 300, {}));
    rig().add(deadline, 4);
    EXPECT_TRUE(rig().fires(deadline - 7, {}));
    rig().add(deadline, 5);
    EXPECT_TRUE(rig().fires(deadline - 1, {}));
    rig().add(deadline, 6);
    EXPECT_TRUE(rig().fires(deadline, {0, 1, 2, 3, 4, 5, 6}));
}

// TW-1, TW-2, TW-8: the same, beginning in overflow.
// DT-5: deadline tick, then sequence.
TEST(timer_wheel_order, one_deadline_keeps_its_order_from_overflow_to_level_0) {
    auto& wheel = rig().make();
    const tick deadline = two_32 + 2 * two_24 + 3 * 65'536 + 5 * 256 + 7;
    rig().add(deadline, 0);
    EXPECT_EQ(wheel.overflow_size(), 1u);
    EXPECT_TRUE(rig().fires(100, {}));
    rig().add(deadline, 1);
    EXPECT_EQ(wheel.overflow_size(), 2u);
    EXPECT_TRUE(rig().fires(two_32 - 1, {}));
    rig().add(deadline, 2);
    EXPECT_TRUE(rig().fires(two_32, {}));
    EXPECT_EQ(wheel.overflow_size(), 0u);
    rig().add(deadline, 3);
    EXPECT_TRUE(rig().fires(two_32 + two_24, {}));
    rig().add(deadline, 4);
    EXPECT_TRUE(rig().fires(deadline - 8, {}));
    rig().add(deadline, 5);
    EXPECT_TRUE(rig().fires(deadline, {0, 1, 2, 3, 4, 5}));
}

// TW-2: mixed deadlines from mixed levels, jumped over at once.
TEST(timer_wheel_order, a_mixture_of_levels_fires_sorted_in_one_jump) {
    auto o = rig().options();
    o.max_wheel_duration = duration::from_s(20'000);
    rig().make(o);
    rig().add(70'000, 0);
    rig().add(300, 1);
    rig().add(25'000'000, 2);  // overflow
    rig().add(17'000'000, 3);
    EXPECT_TRUE(rig().fires(200, {}));
    rig().add(300, 4);
    rig().add(201, 5);
    rig().add(70'000, 6);
    rig().add(25'000'000, 7);
    rig().add(17'000'000, 8);
    EXPECT_TRUE(rig().fires(40'000'000, {5, 1, 4, 0, 6, 3, 8, 2, 7}));
}

// TW-2: timers of one block that sit in one slot of a higher level, registered backwards.
TEST(timer_wheel_order, a_slot_of_a_higher_level_comes_down_sorted) {
    for (const tick base : {tick{256}, tick{65'536}, two_24, two_32}) {
        rig().make();
        for (tick i = 10; i > 0; --i)
            rig().add(base + i, i);
        rig().add(base + 5, 11);
        EXPECT_TRUE(rig().fires(base, {}));
        EXPECT_TRUE(rig().fires(base + 4, {1, 2, 3, 4}));
        EXPECT_TRUE(rig().fires(base + 20, {5, 11, 6, 7, 8, 9, 10}));
    }
}

// TW-3: never early, never late: the tick before and the tick itself, from several starting points.
TEST(timer_wheel_order, fires_exactly_at_every_edge_of_the_levels) {
    auto o = rig().options();
    for (const tick start : {tick{0}, tick{1}, tick{200}, tick{255}, tick{65'535}, two_24 - 1,
                             two_32 - 1, two_32 - 257}) {
        for (const tick distance : edges) {
            o.start = at_ms(start);
            rig().make(o);
            rig().add(start + distance, 1);
            EXPECT_TRUE(rig().next_is(start + distance));
            EXPECT_TRUE(rig().fires(start + distance - 1, {}));
            EXPECT_TRUE(rig().fires(start + distance, {1}));
            EXPECT_TRUE(rig().bare());
        }
    }
}

// TW-3: all edges together, tick by tick around each.
TEST(timer_wheel_order, all_edges_in_one_wheel_fire_tick_by_tick) {
    rig().make();
    for (std::size_t i = 0; i < std::size(edges); ++i)
        rig().add(edges[i], i);
    for (std::size_t i = 0; i < std::size(edges); ++i) {
        EXPECT_TRUE(rig().next_is(edges[i]));
        if (i == 0 || edges[i - 1] < edges[i] - 1) {
            EXPECT_TRUE(rig().fires(edges[i] - 1, {}));
        }
        EXPECT_TRUE(rig().fires(edges[i], {i}));
    }
    EXPECT_TRUE(rig().bare());
}

// TW-3: every single tick of three blocks.
TEST(timer_wheel_order, a_timer_per_tick_fires_on_its_tick_across_blocks) {
    rig().make();
    for (tick t = 240; t < 272; ++t)
        rig().add(t, t);
    for (tick t = 1; t < 240; ++t)
        EXPECT_TRUE(rig().fires(t, {}));
    for (tick t = 240; t < 272; ++t)
        EXPECT_TRUE(rig().fires(t, {t}));
}

// TW-3: the deadline tick is the ceiling of the deadline; half a tick of clock does not matter.
TEST(timer_wheel_order, deadlines_round_up_and_now_rounds_down) {
    auto& wheel = rig().make();
    EXPECT_TRUE(wheel.insert(at_ns(0), duration::from_ns(1), 1).has_value());
    EXPECT_TRUE(wheel.insert(at_ns(0), duration::from_ns(1'000'000), 2).has_value());
    EXPECT_TRUE(wheel.insert(at_ns(0), duration::from_ns(1'000'001), 3).has_value());
    EXPECT_TRUE(wheel.insert(at_ns(999'999), duration::from_ns(1), 4).has_value());
    EXPECT_TRUE(wheel.insert(at_ns(999'999), duration::from_ns(2), 5).has_value());
    EXPECT_TRUE(rig().next_is(1));
    EXPECT_TRUE(rig().fires_at(at_ns(999'999), {}));
    EXPECT_TRUE(rig().fires_at(at_ns(1'000'000), {1, 2, 4}));
    EXPECT_TRUE(rig().fires_at(at_ns(1'999'999), {}));
    EXPECT_TRUE(rig().fires_at(at_ns(2'000'000), {3, 5}));
}

// TW-3: a zero delay in the middle of a tick that the wheel has not reached rounds up like any
// other.
TEST(timer_wheel_order, a_deadline_inside_the_current_tick_waits_for_its_end) {
    auto& wheel = rig().make();
    EXPECT_TRUE(rig().fires_at(at_ns(10'300'000), {}));
    EXPECT_TRUE(wheel.insert(at_ns(10'300'000), duration::from_ns(100'000), 1).has_value());
    EXPECT_TRUE(rig().next_is(11));
    EXPECT_TRUE(rig().fires_at(at_ns(10'500'000), {}));
    EXPECT_TRUE(rig().fires_at(at_ns(11'000'000), {1}));
}

// TW-3: late registrations keep their order among themselves, whatever their deadlines were.
TEST(timer_wheel_order, late_registrations_fire_next_in_their_own_order) {
    auto& wheel = rig().make();
    EXPECT_TRUE(rig().fires(1000, {}));
    rig().add(1001, 9);
    EXPECT_TRUE(wheel.insert(at_ms(900), duration::from_ms(50), 1).has_value());
    EXPECT_TRUE(wheel.insert(at_ms(1000), duration::zero(), 2).has_value());
    EXPECT_TRUE(wheel.insert(at_ms(10), duration::from_ms(1), 3).has_value());
    EXPECT_TRUE(rig().next_is(1000));
    EXPECT_TRUE(rig().fires(1002, {1, 2, 3, 9}));
    EXPECT_EQ(rig().fired().deadlines[0], 1000u);
    EXPECT_EQ(rig().fired().deadlines[2], 1000u);
    EXPECT_EQ(rig().fired().deadlines[3], 1001u);
}

// TW-3: a late registration is due at the current tick, so it comes behind nothing but earlier late
// ones and before whatever is due later.
TEST(timer_wheel_order, a_late_registration_comes_before_the_next_tick) {
    rig().make();
    rig().add(5, 1);
    rig().add(0, 2);
    rig().add(1, 3);
    EXPECT_TRUE(rig().fires(5, {2, 3, 1}));
}

// TW-7: what a sink adds that is due already fires in the next advance, also when it would have
// been due before the end of this one.
TEST(timer_wheel_order, an_advance_is_finite_whatever_the_sink_adds) {
    auto& wheel = rig().make(rig().options(4));
    rig().add(1, 0);
    unsigned calls = 0;
    const auto endless = [&](const expired_timer& expired) {
        ++calls;
        const duration delay = duration::from_ms(expired.payload % 2 == 0 ? 0 : 1);
        EXPECT_TRUE(
            wheel.insert(rig().begin_of(expired.deadline), delay, expired.payload + 1).has_value());
    };
    for (unsigned i = 1; i <= 5; ++i) {
        const auto fired = wheel.advance(at_ms(100 * i), endless);
        ASSERT_TRUE(fired.has_value());
        EXPECT_EQ(*fired, 1u);
        EXPECT_EQ(calls, i);
        EXPECT_EQ(wheel.size(), 1u);
        EXPECT_TRUE(rig().next_is(100 * i));
    }
}

// TW-7: entries that a sink adds for this advance come at the next one, before what is due later.
TEST(timer_wheel_order, what_a_sink_adds_as_due_keeps_its_order_in_the_next_advance) {
    auto& wheel = rig().make();
    rig().add(10, 1);
    rig().add(20, 2);
    rig().add(31, 9);
    const auto sink = [&](const expired_timer& expired) { rig().add(15, 100 + expired.payload); };
    const auto fired = wheel.advance(at_ms(30), sink);
    ASSERT_TRUE(fired.has_value());
    EXPECT_EQ(*fired, 2u);
    rig().add(0, 103);
    EXPECT_TRUE(rig().next_is(30));
    EXPECT_TRUE(rig().fires(31, {101, 102, 103, 9}));
    EXPECT_EQ(rig().fired().deadlines[0], 30u);
}

// TW-7: a sink may add timers far away; where they belong follows from time, not from the advance
// under way.
TEST(timer_wheel_order, what_a_sink_adds_for_later_fires_on_time) {
    for (const tick distance : edges) {
        auto& wheel = rig().make();
        rig().add(10, 1);
        rig().add(300, 2);
        bool added = false;
        const auto sink = [&](const expired_timer&) {
            if (!added)
                rig().add(1000 + distance, 3);
            added = true;
        };
        EXPECT_TRUE(wheel.advance(at_ms(1000), sink).has_value());
        EXPECT_TRUE(rig().next_is(1000 + distance));
        rig().add(1000 + distance, 4);
        EXPECT_TRUE(rig().fires(1000 + distance - 1, {}));
        EXPECT_TRUE(rig().fires(1000 + distance, {3, 4}));
    }
}

// TW-7: a timer cancelled by an earlier one of the same advance does not fire, wherever it waits.
TEST(timer_wheel_order, a_sink_cancels_entries_of_the_same_advance) {
    auto& wheel = rig().make();
    rig().add(0, 1);
    timer_handle victims[] = {rig().add(0, 2),      rig().add(5, 3),      rig().add(300, 4),
                              rig().add(70'000, 5), rig().add(two_24, 6), rig().add(two_32 + 1, 7)};
    rig().add(two_32 + 1, 8);
    std::uint64_t fired_payloads = 0;
    const auto sink = [&](const expired_timer& expired) {
        fired_payloads = fired_payloads * 10 + expired.payload;
        EXPECT_FALSE(wheel.pending(expired.handle));
        EXPECT_FALSE(wheel.cancel(expired.handle));
        if (expired.payload != 1)
            return;
        for (const auto victim : victims) {
            EXPECT_TRUE(wheel.cancel(victim));
            EXPECT_FALSE(wheel.cancel(victim));
        }
    };
    const auto fired = wheel.advance(at_ms(two_32 + 10), sink);
    ASSERT_TRUE(fired.has_value());
    EXPECT_EQ(*fired, 2u);
    EXPECT_EQ(fired_payloads, 18u);
    EXPECT_TRUE(rig().bare());
}

// TW-7: an entry of the same advance that a sink moves fires where it was moved to: at the next
// advance when that is due already, as newly registered.
TEST(timer_wheel_order, a_sink_moves_entries_of_the_same_advance) {
    auto& wheel = rig().make();
    rig().add(10, 1);
    const auto same_tick = rig().add(10, 2);
    const auto next_tick = rig().add(11, 3);
    const auto cascading = rig().add(300, 4);
    rig().add(301, 5);
    std::uint64_t fired_payloads = 0;
    const auto sink = [&](const expired_timer& expired) {
        fired_payloads = fired_payloads * 10 + expired.payload;
        if (expired.payload == 1) {
            EXPECT_TRUE(rig().move(next_tick, 0));
            EXPECT_TRUE(rig().move(same_tick, 350));
            EXPECT_TRUE(rig().move(cascading, 401));
        }
    };
    const auto fired = wheel.advance(at_ms(400), sink);
    ASSERT_TRUE(fired.has_value());
    EXPECT_EQ(*fired, 2u);
    EXPECT_EQ(fired_payloads, 15u);
    EXPECT_TRUE(rig().next_is(400));
    EXPECT_TRUE(rig().fires(400, {3, 2}));
    EXPECT_TRUE(rig().next_is(401));
    EXPECT_TRUE(rig().fires(401, {4}));
}

// TW-7: the entries that a sink has added as due can be cancelled and moved by it, too.
TEST(timer_wheel_order, a_sink_takes_back_what_it_added) {
    auto& wheel = rig().make();
    rig().add(1, 1);
    rig().add(2, 2);
    timer_handle added[3] = {};
    const auto sink = [&](const expired_timer& expired) {
        if (expired.payload == 1) {
            for (std::size_t i = 0; i < 3; ++i)
                added[i] = rig().add(0, 10 + i);
        } else {
            EXPECT_TRUE(wheel.cancel(added[0]));
            EXPECT_TRUE(rig().move(added[1], 0));
        }
    };
    const auto fired = wheel.advance(at_ms(5), sink);
    ASSERT_TRUE(fired.has_value());
    EXPECT_EQ(*fired, 2u);
    EXPECT_TRUE(rig().fires(5, {12, 11}));
}

// TW-7: the node of a fired timer is free when the sink is called: a full wheel can rearm.
TEST(timer_wheel_order, a_sink_rearms_in_a_full_wheel) {
    auto& wheel = rig().make(rig().options(2));
    rig().add(10, 1);
    rig().add(10, 2);
    for (unsigned i = 1; i <= 20; ++i) {
        std::uint64_t order = 0;
        const auto fired = wheel.advance(at_ms(i * 10), [&](const expired_timer& expired) {
            order = order * 10 + expired.payload;
            rig().add((i + 1) * 10, expired.payload);
        });
        ASSERT_TRUE(fired.has_value());
        EXPECT_EQ(order, 12u);
        EXPECT_EQ(wheel.size(), 2u);
    }
}

// TW-7: next_deadline, asked from the last call of the sink, counts what the sink added.
TEST(timer_wheel_order, next_deadline_inside_a_sink_is_exact) {
    auto& wheel = rig().make();
    rig().add(10, 1);
    rig().add(5000, 2);
    EXPECT_TRUE(wheel
                    .advance(at_ms(20),
                             [&](const expired_timer&) {
                                 EXPECT_TRUE(rig().next_is(5000));
                                 rig().add(300, 3);
                                 EXPECT_TRUE(rig().next_is(300));
                                 const auto due = rig().add(15, 4);
                                 EXPECT_TRUE(rig().next_is(20));
                                 EXPECT_TRUE(wheel.cancel(due));
                                 EXPECT_TRUE(rig().next_is(300));
                             })
                    .has_value());
    EXPECT_TRUE(rig().next_is(300));
    EXPECT_EQ(wheel.now(), 20u);
}

// TW-8: overflow is ordered by (deadline, registration), and leaves in that order.
TEST(timer_wheel_order, overflow_is_sorted_by_deadline_and_registration) {
    auto o = rig().options();
    o.max_wheel_duration = duration::from_ms(100);
    auto& wheel = rig().make(o);
    constexpr tick far[] = {900, 300, 700, 300, 500, 900, 300, 700, 500, 101, 900, 101};
    for (std::size_t i = 0; i < std::size(far); ++i)
        rig().add(far[i], i);
    EXPECT_EQ(wheel.overflow_size(), std::size(far));
    EXPECT_TRUE(rig().next_is(101));
    EXPECT_TRUE(rig().fires(2000, {9, 11, 1, 3, 6, 4, 8, 2, 7, 0, 5, 10}));
}

// TW-8: cancel in overflow, every position of the heap, leaves the others in order.
TEST(timer_wheel_order, cancel_in_overflow_leaves_the_others_in_order) {
    auto o = rig().options();
    o.max_wheel_duration = duration::from_ms(100);
    for (std::size_t gone = 0; gone < 8; ++gone) {
        auto& wheel = rig().make(o);
        timer_handle handles[8] = {};
        for (std::size_t i = 0; i < 8; ++i)
            handles[i] = rig().add(1000 + (i * 5) % 8, (i * 5) % 8);
        EXPECT_TRUE(wheel.cancel(handles[gone]));
        EXPECT_FALSE(wheel.cancel(handles[gone]));
        EXPECT_EQ(wheel.overflow_size(), 7u);
        const std::uint64_t missing = (gone * 5) % 8;
        EXPECT_TRUE(rig().next_is(missing == 0 ? 1001u : 1000u));
        for (std::uint64_t i = 0; i < 8; ++i) {
            if (i == missing) {
                EXPECT_TRUE(rig().fires(1000 + i, {}));
            } else {
                EXPECT_TRUE(rig().fires(1000 + i, {i}));
            }
        }
    }
}

// TW-8: an entry that takes the place of a cancelled one may have to rise: in another branch of the
// heap it was later than its parent, here it is earlier.
TEST(timer_wheel_order, cancel_in_overflow_moves_the_replacement_up_when_needed) {
    auto o = rig().options();
    o.max_wheel_duration = duration::from_ms(100);
    auto& wheel = rig().make(o);
    constexpr tick far[] = {1, 10, 2, 11, 12, 3, 4};
    timer_handle handles[16] = {};
    for (const tick n : far)
        handles[n] = rig().add(n * 1000, n);
    EXPECT_TRUE(wheel.cancel(handles[11]));
    rig().add(14'000, 14);
    rig().add(15'000, 15);
    for (const tick n : {1u, 2u, 3u})
        EXPECT_TRUE(wheel.cancel(handles[n]));
    EXPECT_TRUE(rig().next_is(4000));
    EXPECT_TRUE(rig().fires(4000, {4}));
    EXPECT_TRUE(rig().fires(20'000, {10, 12, 14, 15}));
}

// TW-8: promotion is on time, and a timer that comes from overflow can still be cancelled and
// moved.
TEST(timer_wheel_order, promoted_timers_keep_their_handles) {
    auto o = rig().options();
    o.max_wheel_duration = duration::from_ms(100);
    auto& wheel = rig().make(o);
    const auto cancelled = rig().add(500, 1);
    const auto moved = rig().add(500, 2);
    rig().add(500, 3);
    EXPECT_TRUE(rig().fires(450, {}));
    EXPECT_EQ(wheel.overflow_size(), 0u);
    EXPECT_TRUE(wheel.cancel(cancelled));
    EXPECT_TRUE(rig().move(moved, 800));
    EXPECT_EQ(wheel.overflow_size(), 1u);
    EXPECT_TRUE(rig().fires(500, {3}));
    EXPECT_TRUE(rig().move(moved, 500));
    EXPECT_EQ(wheel.overflow_size(), 0u);
    EXPECT_TRUE(rig().fires(500, {2}));
}

// TW-8, TW-12: crossing 2^32 ticks: the last timer of the old block, the first of the new one.
TEST(timer_wheel_order, a_block_of_2_32_is_crossed_in_order) {
    auto o = rig().options();
    o.start = at_ms(two_32 - 10);
    auto& wheel = rig().make(o);
    rig().add(two_32, 1);
    rig().add(two_32 + 1, 2);
    rig().add(two_32 - 1, 3);
    rig().add(two_32 + 300, 4);
    rig().add(2 * two_32, 5);
    EXPECT_EQ(wheel.overflow_size(), 1u);
    EXPECT_TRUE(rig().next_is(two_32 - 1));
    EXPECT_TRUE(rig().fires(two_32 - 2, {}));
    EXPECT_TRUE(rig().fires(two_32 - 1, {3}));
    rig().add(two_32, 6);
    EXPECT_TRUE(rig().next_is(two_32));
    EXPECT_TRUE(rig().fires(two_32, {1, 6}));
    EXPECT_EQ(wheel.overflow_size(), 1u);
    EXPECT_TRUE(rig().fires(two_32 + 299, {2}));
    EXPECT_TRUE(rig().fires(two_32 + 300, {4}));
    EXPECT_TRUE(rig().next_is(2 * two_32));
    EXPECT_TRUE(rig().fires(2 * two_32 - 1, {}));
    EXPECT_TRUE(rig().fires(3 * two_32, {5}));
}

// TW-12: the sequence may wrap; order does not.
TEST(timer_wheel_order, a_wrapping_sequence_keeps_the_order_in_the_wheel) {
    auto o = rig().options();
    o.first_sequence = UINT64_MAX - 2;
    auto& wheel = rig().make(o);
    EXPECT_EQ(wheel.sequence(), UINT64_MAX - 2);
    for (std::uint64_t i = 0; i < 6; ++i)
        rig().add(300, i);
    EXPECT_EQ(wheel.sequence(), 3u);
    EXPECT_TRUE(rig().fires(300, {0, 1, 2, 3, 4, 5}));
}

// TW-12, TW-2
TEST(timer_wheel_order, a_wrapping_sequence_keeps_the_order_in_overflow) {
    auto o = rig().options();
    o.max_wheel_duration = duration::from_ms(100);
    o.first_sequence = UINT64_MAX - 3;
    rig().make(o);
    for (std::uint64_t i = 0; i < 8; ++i)
        rig().add(300, i);
    EXPECT_TRUE(rig().fires(300, {0, 1, 2, 3, 4, 5, 6, 7}));
}

// TW-12: the end of time at 1 ns per tick: the last tick of all fires.
TEST(timer_wheel_order, the_last_ticks_of_time_fire_in_order) {
    auto o = rig().options();
    o.resolution = duration::from_ns(1);
    o.start = at_ns(UINT64_MAX - 1000);
    auto& wheel = rig().make(o);
    rig().add(UINT64_MAX, 1);
    rig().add(UINT64_MAX - 1, 2);
    rig().add(UINT64_MAX - 255, 3);
    rig().add(UINT64_MAX - 256, 4);
    rig().add(UINT64_MAX - 1000, 5);
    EXPECT_TRUE(rig().next_is(UINT64_MAX - 1000));
    EXPECT_TRUE(rig().fires(UINT64_MAX - 257, {5}));
    EXPECT_TRUE(rig().fires(UINT64_MAX - 256, {4}));
    EXPECT_TRUE(rig().fires(UINT64_MAX - 2, {3}));
    EXPECT_TRUE(rig().fires(UINT64_MAX - 1, {2}));
    EXPECT_TRUE(rig().next_is(UINT64_MAX));
    EXPECT_TRUE(rig().fires(UINT64_MAX, {1}));
    EXPECT_TRUE(wheel.insert(tactus::instant::never(), duration::zero(), 6).has_value());
    EXPECT_TRUE(rig().fires(UINT64_MAX, {6}));
    EXPECT_TRUE(rig().bare());
}

// TW-12: from the last block but one, through overflow.
TEST(timer_wheel_order, overflow_reaches_the_end_of_time) {
    auto o = rig().options();
    o.resolution = duration::from_ns(1);
    o.start = at_ns(UINT64_MAX - two_32 - 1);
    auto& wheel = rig().make(o);
    rig().add(UINT64_MAX, 1);
    rig().add(UINT64_MAX - two_32 + 1, 2);
    EXPECT_EQ(wheel.overflow_size(), 1u);  // the other one is two ticks away (DF-26)
    EXPECT_TRUE(rig().fires(UINT64_MAX - two_32, {}));
    EXPECT_TRUE(rig().fires(UINT64_MAX - 1, {2}));
    EXPECT_TRUE(rig().fires(UINT64_MAX, {1}));
}

// TW-4, TW-12: a node whose generations are used up retires, and the wheel becomes smaller.
TEST(timer_wheel_order, used_up_nodes_retire_and_capacity_shrinks) {
    auto o = rig().options(3);
    o.generation_count = 4;
    auto& wheel = rig().make(o);
    const auto a = rig().add(5, 1);
    const auto b = rig().add(5, 2);
    rig().add(6, 3);
    EXPECT_TRUE(wheel.cancel(a));
    EXPECT_EQ(wheel.retired_count(), 0u);
    const auto a2 = rig().add(7, 4);
    EXPECT_EQ(a2.index(), a.index());
    EXPECT_TRUE(wheel.cancel(a2));
    EXPECT_EQ(wheel.retired_count(), 1u);
    // Two nodes are left, both in use.
    const auto refused = wheel.insert(rig().now(), duration::from_ms(1), 5);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, timer_errc::capacity_exceeded);
    EXPECT_EQ(refused.error().value, 2);
    EXPECT_FALSE(wheel.cancel(a));
    EXPECT_FALSE(wheel.cancel(a2));
    EXPECT_TRUE(wheel.pending(b));
    EXPECT_TRUE(rig().fires(6, {2, 3}));
    // One use each is left; firing ends a node's life just as cancelling does.
    rig().add(8, 6);
    rig().add(8, 7);
    EXPECT_TRUE(rig().fires(8, {6, 7}));
    EXPECT_EQ(wheel.retired_count(), 3u);
    const auto none_left = wheel.insert(rig().now(), duration::from_ms(1), 8);
    ASSERT_FALSE(none_left.has_value());
    EXPECT_EQ(none_left.error().code, timer_errc::capacity_exceeded);
    EXPECT_EQ(none_left.error().value, 0);
    EXPECT_TRUE(rig().bare());
}

// TW-12: the last index that links of this width can name. Host only: it takes a megabyte.
TEST(timer_wheel_order, the_last_index_of_narrow_links_works) {
    if constexpr (tactus_test::board::roomy && tactus_test::test_wheel::timers_limit <= 65'535) {
        constexpr std::size_t limit =
            tactus_test::board::roomy && tactus_test::test_wheel::timers_limit <= 65'535
                ? tactus_test::test_wheel::timers_limit
                : 1;
        alignas(16) static std::byte bytes[tactus_test::test_wheel::node_bytes(limit)];
        tactus::fixed_memory nodes(bytes);
        auto o = rig().options(limit);
        o.nodes = &nodes;
        o.overflow_max = 0;
        o.overflow = nullptr;
        auto& wheel = rig().make(o);
        for (std::size_t i = 0; i < limit; ++i)
            rig().add(1 + i % 1000, i);
        const auto refused = wheel.insert(rig().now(), duration::from_ms(1), 0);
        ASSERT_FALSE(refused.has_value());
        EXPECT_EQ(refused.error().code, timer_errc::capacity_exceeded);
        EXPECT_EQ(refused.error().limit, static_cast<std::int64_t>(limit));
        std::uint64_t last = 0;
        tick last_deadline = 0;
        bool sorted = true;
        const auto fired = wheel.advance(at_ms(1000), [&](const expired_timer& expired) {
            sorted = sorted && (expired.deadline > last_deadline ||
                                (expired.deadline == last_deadline && expired.payload > last));
            last = expired.payload;
            last_deadline = expired.deadline;
        });
        ASSERT_TRUE(fired.has_value());
        EXPECT_EQ(*fired, limit);
        EXPECT_TRUE(sorted);
        rig().make();  // lets go of the memory above
    }
}

// TW-13, scripted: the same timers, once in one jump, once through every edge.
TEST(timer_wheel_order, split_advance_equals_one_jump_at_the_edges) {
    std::uint64_t jumped[20] = {};
    for (const bool split : {false, true}) {
        auto& wheel = rig().make();
        for (std::size_t i = 0; i < std::size(edges); ++i)
            rig().add(edges[(i * 7) % std::size(edges)], i);
        std::size_t count = 0;
        const auto sink = [&](const expired_timer& expired) {
            if (count >= std::size(jumped))
                return;
            if (split) {
                EXPECT_EQ(jumped[count], expired.payload);
            }
            jumped[count++] = expired.payload;
        };
        if (split) {
            for (const tick edge : edges) {
                EXPECT_TRUE(wheel.advance(at_ms(edge - 1), sink).has_value());
                EXPECT_TRUE(wheel.advance(at_ms(edge), sink).has_value());
            }
        }
        EXPECT_TRUE(wheel.advance(at_ms(2 * two_32), sink).has_value());
        EXPECT_EQ(count, std::size(edges));
    }
}

// TW-13: small programs of mixed horizons, advanced at once and by pieces of every size.
TEST(timer_wheel_order, split_advance_equals_one_jump_for_small_programs) {
    constexpr tick horizons[] = {3, 40, 300, 70'000, two_24 + 5000, two_32 + 9};
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        std::uint64_t at_once = 0;
        for (const bool split : {false, true}) {
            auto o = rig().options();
            o.start = at_ms(two_32 - 100'000 * (seed % 3));
            if (seed % 4 == 0)
                o.max_wheel_duration = duration::from_ms(500);
            auto& wheel = rig().make(o);
            tactus::det_rng rng(seed);
            const tick start = wheel.now();
            timer_handle handles[24] = {};
            for (std::size_t i = 0; i < 24; ++i) {
                const tick horizon = horizons[rng.below(std::size(horizons))];
                handles[i] = rig().add(start + rng.below(horizon), i);
            }
            for (std::size_t i = 0; i < 4; ++i)
                EXPECT_TRUE(wheel.cancel(handles[i * 5]));
            for (std::size_t i = 0; i < 4; ++i)
                EXPECT_TRUE(rig().move(handles[i * 5 + 1], start + rng.below(400)));
            tactus::det_hasher hash;
            std::size_t count = 0;
            const auto sink = [&](const expired_timer& expired) {
                hash.add(expired.payload);
                hash.add(expired.deadline);
                ++count;
            };
            const tick end = start + two_32 + 100;
            if (split) {
                for (tick at = start; at < end; at += 1 + rng.below((at - start) * 2 + 50))
                    EXPECT_TRUE(wheel.advance(at_ms(at), sink).has_value());
            }
            EXPECT_TRUE(wheel.advance(at_ms(end), sink).has_value());
            EXPECT_EQ(count, 20u);
            if (split && hash.finish() != at_once)
                TEST_LOG("split differs from one jump, seed", seed);
            if (split) {
                EXPECT_EQ(hash.finish(), at_once);
            }
            at_once = hash.finish();
        }
    }
}
