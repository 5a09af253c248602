// SPDX-License-Identifier: Apache-2.0
//
// Goal: what can be registered, and when it comes (SC-1 … SC-4, SC-7, SC-8).
// Method: cases of conformance/scheduler.md in time that the test moves.
#include <tactus/scheduler/scheduler.hpp>

#include <cstdint>
#include <limits>
#include <string_view>

#include "scheduler_rig.hpp"

using tactus::duration;
using tactus::job_state;
using tactus::scheduler_errc;
using tactus::scheduler_options;
using tactus_test::journal;
using tactus_test::ms;
using tactus_test::number;
using tactus_test::scheduler_rig;

namespace {

void by_ten_ms(scheduler_options& o) {
    o.config.resolution = ms(10);
}

// TC-S01, SC-3
TEST(registering, a_delay_of_zero_or_less_is_refused) {
    scheduler_rig rig(by_ten_ms);
    const auto who = rig.spawn();
    for (const duration d : {ms(0), ms(-1), duration::min()}) {
        const auto made = rig->schedule_once(d, who, number{1});
        ASSERT_FALSE(made.has_value());
        EXPECT_EQ(made.error().code, scheduler_errc::invalid_delay);
        EXPECT_EQ(made.error().value, d.ns());
    }
    EXPECT_EQ(rig->active_count(), 0u);
}

// TC-S02, TC-P11, TC-P13, C-SCH-10, C-SCH-28, PK-SCH-11, SC-3: exactly INT32_MAX ticks is accepted.
TEST(registering, the_longest_delay_is_int32_max_ticks) {
    scheduler_rig rig([](scheduler_options& o) { o.config.resolution = duration::from_ns(1); });
    const auto who = rig.spawn();
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    EXPECT_EQ(rig->maximum_delay(), duration::from_ns(most));  // TC-S49
    EXPECT_TRUE(rig->schedule_once(duration::from_ns(most), who, number{1}).has_value());
    const auto longer = rig->schedule_once(duration::from_ns(most + 1), who, number{1});
    ASSERT_FALSE(longer.has_value());
    EXPECT_EQ(longer.error().code, scheduler_errc::invalid_delay);
    EXPECT_EQ(longer.error().limit, most);
    EXPECT_TRUE(
        rig->schedule_at_fixed_rate(ms(1), duration::from_ns(most), who, number{1}).has_value());
    EXPECT_FALSE(rig->schedule_at_fixed_rate(ms(1), duration::from_ns(most + 1), who, number{1})
                     .has_value());
    EXPECT_FALSE(rig->schedule_with_fixed_delay(ms(1), duration::from_ns(most + 1), who, number{1})
                     .has_value());
}

// SC-3, TM-1: the runtime's own timers have the same limits: one that comes again is not armed for
// later.
TEST(registering, SC_3_a_timer_of_an_actor_is_not_longer_either) {
    scheduler_rig rig;
    const auto who = rig.spawn();
    const duration most = rig->maximum_delay();
    const duration longer = most + duration::from_ns(1);
    struct row {
        duration first;
        duration period;
        bool is_fine;
    };
    const row rows[] = {{ms(1), longer, false}, {longer, ms(1), false}, {most, most, true}};
    using tactus::job_request;
    for (const row& r : rows) {
        const job_request kinds[] = {job_request::at_fixed_rate(r.first, r.period, {}),
                                     job_request::with_fixed_delay(r.first, r.period, {})};
        for (const job_request& kind : kinds) {
            const auto made = rig->arm(kind.send(who, {}));
            ASSERT_EQ(made.has_value(), r.is_fine);
            EXPECT_EQ(rig->active_count(), r.is_fine ? 1u : 0u);
            if (made) {
                EXPECT_TRUE(rig->cancel(*made));
                continue;
            }
            EXPECT_EQ(made.error().code, scheduler_errc::invalid_delay);
            EXPECT_EQ(std::string_view(made.error().field), r.first == longer ? "delay" : "period");
            EXPECT_EQ(made.error().value, longer.ns());
            EXPECT_EQ(made.error().limit, most.ns());
        }
    }
    tactus::timer_target to{.who = who};
    EXPECT_FALSE(rig->arm(to, longer).has_value());
    EXPECT_EQ(rig->active_count(), 0u);
    EXPECT_EQ(rig->cell_count(), 0u);
}

// TC-S49, SC-37: where time is in seconds, a part of one is rounded up, and never down.
TEST(registering, TC_S49_parts_of_seconds_are_rounded_up) {
    scheduler_rig rig([](scheduler_options& o) { o.config.resolution = duration::from_s(1); });
    const auto who = rig.spawn();
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    EXPECT_EQ(rig->maximum_delay(), duration::from_s(1) * most);
    ASSERT_TRUE(rig->schedule_once(duration::from_ns(1), who, number{1}).has_value());
    ASSERT_TRUE(rig->schedule_once(ms(1'000), who, number{2}).has_value());
    ASSERT_TRUE(rig->schedule_once(ms(1'001), who, number{3}).has_value());
    ASSERT_TRUE(rig->schedule_once(ms(2'999), who, number{4}).has_value());
    rig.time.advance(ms(999));
    rig.run();
    EXPECT_TRUE(journal().is({}));
    rig.time.advance(ms(1));
    rig.run();
    EXPECT_TRUE(journal().is({1, 2}));
    rig.time.advance(ms(999));
    rig.run();
    EXPECT_TRUE(journal().is({}));
    rig.time.advance(ms(1));
    rig.run();
    EXPECT_TRUE(journal().is({3}));
    rig.jump(1);
    EXPECT_TRUE(journal().is({4}));
}

// TC-S03, TC-S06
TEST(registering, each_has_an_id_of_its_own) {
    scheduler_rig rig(by_ten_ms);
    const auto who = rig.spawn();
    tactus::job_id ids[5];
    for (auto& id : ids) {
        const auto made = rig->schedule_once(ms(10), who, number{1});
        ASSERT_TRUE(made.has_value());
        id = made->id();
        EXPECT_NE(id, 0u);
    }
    for (int i = 0; i < 5; ++i) {
        for (int k = 0; k < i; ++k)
            EXPECT_FALSE(ids[i] == ids[k]);
    }
}

// TC-S04, TC-S05, TC-P12, TC-X11, C-SCH-28, SC-2: nothing has changed after an error.
TEST(registering, an_invalid_period_changes_nothing) {
    scheduler_rig rig(by_ten_ms);
    const auto who = rig.spawn();
    const auto before = rig->counted();
    const auto cells = rig->cell_count();
    EXPECT_FALSE(rig->schedule_at_fixed_rate(ms(5), ms(0), who, number{1}).has_value());
    EXPECT_FALSE(rig->schedule_at_fixed_rate(ms(5), ms(-5), who, number{1}).has_value());
    EXPECT_FALSE(rig->schedule_with_fixed_delay(ms(0), ms(1), who, number{1}).has_value());
    EXPECT_FALSE(rig->schedule_with_fixed_delay(ms(5), ms(0), who, number{1}).has_value());
    EXPECT_EQ(rig->active_count(), 0u);
    EXPECT_EQ(rig->cell_count(), cells);
    EXPECT_EQ(rig->counted().registered, before.registered);
    rig.jump(100);  // TC-P12: nothing is delivered
    EXPECT_TRUE(journal().is({}));
}

// SC-3: zero_delay = next_tick; a period of zero stays an error.
TEST(registering, zero_may_mean_the_next_tick) {
    scheduler_rig rig([](scheduler_options& o) {
        o.config.resolution = ms(10);
        o.config.zero_delay = tactus::zero_delay_rule::next_tick;
    });
    const auto who = rig.spawn();
    EXPECT_TRUE(rig->schedule_once(ms(0), who, number{1}).has_value());
    EXPECT_TRUE(rig->schedule_once(ms(-3), who, number{2}).has_value());
    EXPECT_FALSE(rig->schedule_at_fixed_rate(ms(0), ms(0), who, number{3}).has_value());
    rig.run();
    EXPECT_TRUE(journal().is({}));
    rig.jump(1);
    EXPECT_TRUE(journal().is({1, 2}));
}

// SC-1, TW-3, PK-SCH-5, PK-SCH-7, PK-SCH-8: in [delay, delay + 1 tick], never earlier.
TEST(registering, it_comes_within_a_tick_after_its_delay_and_never_before) {
    scheduler_rig rig(by_ten_ms);
    const auto who = rig.spawn();
    rig.time.advance(ms(3));  // between two ticks
    ASSERT_TRUE(rig->schedule_once(ms(10), who, number{7}).has_value());
    rig.time.advance(ms(9));  // 12: before 13
    rig.run();
    EXPECT_TRUE(journal().is({}));
    rig.time.advance(ms(7));  // 19: its tick begins at 20
    rig.run();
    EXPECT_TRUE(journal().is({}));
    rig.time.advance(ms(1));
    rig.run();
    EXPECT_TRUE(journal().is({7}));
    rig.jump(1'000);
    EXPECT_TRUE(journal().is({}));  // exactly once
}

// TC-S09, C-SCH-5, TC-P02
TEST(registering, what_has_come_is_completed_and_cannot_be_cancelled) {
    scheduler_rig rig(by_ten_ms);
    const auto who = rig.spawn();
    auto made = rig->schedule_once(ms(10), who, number{1});
    ASSERT_TRUE(made.has_value());
    EXPECT_EQ(made->state(), job_state::scheduled);
    EXPECT_FALSE(made->is_completed());
    rig.jump(1);
    EXPECT_TRUE(journal().is({1}));
    EXPECT_TRUE(made->is_completed());
    EXPECT_FALSE(made->is_cancelled());
    EXPECT_FALSE(made->cancel());
    EXPECT_FALSE(made->cancel());
    EXPECT_FALSE(made->is_cancelled());
}

// TC-S29, C-SCH-38, SC-8
TEST(registering, what_is_due_at_one_tick_comes_in_the_order_of_registration) {
    scheduler_rig rig(by_ten_ms);
    const auto who = rig.spawn();
    for (std::uint32_t i = 1; i <= 5; ++i)
        ASSERT_TRUE(rig->schedule_once(ms(10), who, number{i}).has_value());
    rig.jump(1);
    EXPECT_TRUE(journal().is({1, 2, 3, 4, 5}));
}

// TC-X01, SC-8: a far one first, a near one later, both due at the same tick.
TEST(registering, order_does_not_depend_on_where_in_the_wheel_they_waited) {
    scheduler_rig rig([](scheduler_options& o) { o.config.resolution = ms(1); });
    const auto who = rig.spawn();
    const std::int64_t day = 25 * 3'600 * 1'000;  // beyond the wheel: overflow
    ASSERT_TRUE(rig->schedule_once(ms(day), who, number{1}).has_value());
    rig.jump(static_cast<std::uint64_t>(day - 70'000));
    ASSERT_TRUE(rig->schedule_once(ms(70'000), who, number{2}).has_value());
    rig.jump(69'999);
    ASSERT_TRUE(rig->schedule_once(ms(1), who, number{3}).has_value());
    EXPECT_TRUE(journal().is({}));
    rig.jump(1);
    EXPECT_TRUE(journal().is({1, 2, 3}));
}

// TC-X03, BP-6: one entry in overflow comes on time.
TEST(registering, a_lonely_entry_of_the_overflow_comes_on_time) {
    scheduler_rig rig([](scheduler_options& o) { o.config.resolution = ms(1); });
    const auto who = rig.spawn();
    const std::int64_t days = 10LL * 24 * 3'600 * 1'000;
    ASSERT_TRUE(rig->schedule_once(ms(days), who, number{1}).has_value());
    rig.jump(static_cast<std::uint64_t>(days - 1));
    EXPECT_TRUE(journal().is({}));
    rig.jump(1);
    EXPECT_TRUE(journal().is({1}));
}

// SC-7, C-SCH-39, PK-SCH-1
TEST(registering, capabilities_say_what_it_can) {
    scheduler_rig rig(by_ten_ms);
    const auto can = rig->capabilities();
    EXPECT_EQ(can.max_frequency_hz, 100.0);
    EXPECT_EQ(can.tick_resolution, ms(10));
    EXPECT_GE(can.min_delay_ticks, 1u);
    EXPECT_TRUE(can.fixed_rate);
    EXPECT_TRUE(can.fixed_delay);
}

struct large {
    std::uint32_t values[50] = {};
};
struct large_actor {
    void receive(tactus::turn&, tactus::envelope& e) {
        if (const large* m = e.get_if<large>())
            journal().add(static_cast<std::int32_t>(m->values[49]));
    }
};

// What does not fit a cell lies in a block, which is given back.
TEST(registering, a_large_message_has_a_block_of_its_own) {
    scheduler_rig rig(by_ten_ms);
    const auto who = rig.kernel.spawn<large_actor>();
    large m;
    m.values[49] = 99;
    ASSERT_TRUE(rig->schedule_once(ms(10), who, m).has_value());
    EXPECT_EQ(rig.large.live_blocks, 1u);
    rig.jump(1);
    EXPECT_TRUE(journal().is({99}));
    EXPECT_EQ(rig.large.live_blocks, 0u);
    auto other = rig->schedule_once(ms(10), who, m);
    ASSERT_TRUE(other.has_value());
    EXPECT_TRUE(other->cancel());
    EXPECT_EQ(rig.large.live_blocks, 0u);
    rig.large.refusing = true;
    const auto refused = rig->schedule_once(ms(10), who, m);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, scheduler_errc::capacity_exceeded);
    EXPECT_EQ(rig->active_count(), 0u);
    rig.large.refusing = false;
}

struct large_and_made : large {
    large_and_made() = default;
    large_and_made(const large_and_made& o) noexcept : large(o) {}
    large_and_made& operator=(const large_and_made&) = default;
    ~large_and_made() {}
};
struct alignas(64) aligned {
    char bytes[8] = {};
};

// BP-8, BP-10, SD-5: a message for which there is no room is told and counted, and the sentences
// say what there is no room for.
TEST(registering, BP_10_a_message_without_room_is_told_and_counted) {
    scheduler_rig rig(by_ten_ms);
    const auto who = rig.spawn();
    rig.large.refusing = true;
    char room[192];
    const auto refused = rig->schedule_once(ms(10), who, large{});
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(rig.warnings.of(tactus::scheduler_warning_kind::capacity_exceeded), 1u);
    EXPECT_FALSE(rig->schedule_once(ms(10), who, large_and_made{}).has_value());
    EXPECT_EQ(rig.warnings.of(tactus::scheduler_warning_kind::capacity_exceeded), 2u);
    const auto crooked = rig->schedule_once(ms(10), who, aligned{});
    ASSERT_FALSE(crooked.has_value());
    EXPECT_EQ(crooked.error().code, scheduler_errc::invalid_options);
    const auto m = rig->metrics();
    EXPECT_EQ(m.rejected[static_cast<std::size_t>(scheduler_errc::capacity_exceeded)], 2u);
    EXPECT_EQ(m.rejected[static_cast<std::size_t>(scheduler_errc::invalid_options)], 0u);  // SC-2
    rig.large.refusing = false;
    if (tactus::port::cache_line < 8)
        return;  // a cell of a small board is smaller
    EXPECT_EQ(tactus::describe(refused.error(), room),
              "no memory for a message of 200 bytes, of which a cell holds 64: send a smaller one, "
              "or share what it holds");
    EXPECT_EQ(tactus::describe(rig.warnings.all[0], room),
              "a timer was refused, there is no memory for its message of 200 bytes, of which a "
              "cell holds 64");
    EXPECT_EQ(tactus::describe(crooked.error(), room),
              "alignment of the message of 64 is not allowed, it is at most 16");
}

// SC-1: the sender goes with it. SC-11, PK-SCH-12: who is gone gets a dead letter, once.
TEST(registering, a_message_has_its_sender_and_its_end) {
    scheduler_rig rig(by_ten_ms);
    const auto sender = rig.spawn();
    const auto who = rig.spawn();
    auto made = rig->schedule_once(ms(10), who, number{4}, sender);
    ASSERT_TRUE(made.has_value());
    (void)rig.kernel->stop(who);
    rig.run();
    journal().clear();
    rig.jump(1);
    EXPECT_TRUE(journal().is({tactus_test::dead + 4}));
    EXPECT_TRUE(rig.kernel.events.last_sender == sender);
    EXPECT_TRUE(made->is_completed());
    EXPECT_EQ(rig->cell_count(), 0u);
}

}  // namespace
