// SPDX-License-Identifier: Apache-2.0
//
// Goal: a mailbox that fills up says so, once; so does a pool that is used up; and a bounded
// mailbox takes nobody else's share (MB-5, MB-8, MB-11, MB-12, TC-M32, TC-M33). Method: a manual
// clock; a pool of one envelope; two actors and every throughput of MB-12.
#include <cstdint>

#include "mailbox_rig.hpp"
#include "portable_test.hpp"

using namespace tactus;
using namespace tactus_test;
using cause = tactus::dead_letter_cause;

// TC-M32
TEST(mailbox_pressure, TC_M32_at_three_quarters) {
    mailbox_rig rig;
    const mailbox_index a = rig.with(bounded(4, overflow::dead_letter));
    rig.tell(a, {1, 2});
    EXPECT_EQ(rig.events.pressures, 0u);
    rig.time.advance(duration::from_ms(7));
    rig.tell(a, {3});
    EXPECT_EQ(rig.events.pressures, 1u);
    EXPECT_TRUE(rig.events.last_pressure.at == rig.time.now());
    EXPECT_TRUE(rig.events.last_pressure.ref == a);
    EXPECT_EQ(rig.events.last_pressure.len, 3u);
    EXPECT_EQ(rig.events.last_pressure.capacity, 4u);
    EXPECT_EQ(rig.events.last_pressure.percent, 75u);
}
// The threshold is the first length for which len * 100 / capacity >= percent.
TEST(mailbox_pressure, MB5_the_threshold_of_any_capacity_and_percentage) {
    for (const unsigned percent : {1U, 33U, 75U, 100U}) {
        for (std::uint32_t capacity = 1; capacity <= 12; ++capacity) {
            mailbox_rig rig;
            mailbox_options o = bounded(capacity, overflow::drop_newest);
            o.pressure_percent = static_cast<std::uint8_t>(percent);
            const mailbox_index a = rig.with(o);
            for (std::uint32_t i = 1; i <= capacity; ++i) {
                rig.tell(a, {i});
                EXPECT_EQ(rig.events.pressures, i * 100 / capacity >= percent ? 1u : 0u);
            }
        }
    }
}
// TC-M33, MB-5
TEST(mailbox_pressure, TC_M33_MB5_once_and_again_after_falling_below_half) {
    mailbox_rig rig([](kernel_rig::options& o) { o.throughput = 1; });
    const mailbox_index a = rig.with(bounded(8, overflow::dead_letter));
    rig.tell(a, {1, 2, 3, 4, 5, 6});
    EXPECT_EQ(rig.events.pressures, 1u);
    rig.tell(a, {7, 8, 9, 10});  // the last two do not fit
    EXPECT_EQ(rig.events.letters, 2u);
    EXPECT_EQ(rig.events.pressures, 1u);
    for (int i = 0; i < 4; ++i)
        EXPECT_TRUE(rig.run_once());
    EXPECT_EQ(*rig->depth_of(a), 4u);  // half: not below
    rig.tell(a, {11, 12, 13});
    EXPECT_EQ(rig.events.pressures, 1u);
    for (int i = 0; i < 4; ++i)
        EXPECT_TRUE(rig.run_once());
    EXPECT_EQ(*rig->depth_of(a), 3u);
    rig.tell(a, {14, 15});
    EXPECT_EQ(rig.events.pressures, 1u);
    rig.tell(a, {16});
    EXPECT_EQ(rig.events.pressures, 2u);
    EXPECT_EQ(rig.events.last_pressure.len, 6u);
    (void)rig.run();
}
// MB-5: while it stays full, once per second at the most.
TEST(mailbox_pressure, MB5_again_after_a_second_while_it_lasts) {
    mailbox_rig rig([](kernel_rig::options& o) { o.throughput = 1; });
    const mailbox_index a = rig.with(bounded(4, overflow::dead_letter));
    rig.tell(a, {1, 2, 3, 4});
    EXPECT_EQ(rig.events.pressures, 1u);
    const auto one_in_one_out = [&] {
        EXPECT_TRUE(rig.run_once());
        rig.tell(a, {5});
    };
    for (int i = 0; i < 10; ++i) {
        one_in_one_out();
        rig.time.advance(duration::from_ms(99));
    }
    EXPECT_EQ(rig.events.pressures, 1u);
    rig.time.advance(duration::from_ms(10));
    one_in_one_out();
    EXPECT_EQ(rig.events.pressures, 2u);
    for (int i = 0; i < 10; ++i) {
        one_in_one_out();
        rig.time.advance(duration::from_ms(99));
    }
    EXPECT_EQ(rig.events.pressures, 2u);
    (void)rig.run();
}
TEST(mailbox_pressure, MB5_none_where_it_is_switched_off_or_unbounded) {
    mailbox_rig rig;
    mailbox_options quiet = bounded(2, overflow::dead_letter);
    quiet.pressure_percent = 0;
    rig.tell(rig.with(quiet), {1, 2, 3});
    rig.tell(rig.with(unbounded(mailbox_kind::deque)), {1, 2, 3});
    EXPECT_EQ(rig.events.pressures, 0u);
    (void)rig.run();
}
// A slot's next life begins calm.
TEST(mailbox_pressure, MB5_another_life_is_warned_of_anew) {
    mailbox_rig rig([](kernel_rig::options& o) {
        o.slot_capacity = 1;
        o.slot_magazine = 0;
    });
    for (unsigned life = 1; life <= 3; ++life) {
        const mailbox_index a = rig.with(bounded(1, overflow::dead_letter));
        rig.tell(a, {1});
        EXPECT_EQ(rig.events.pressures, life);
        EXPECT_TRUE(rig->stop(a));
        (void)rig.run();
    }
}

// MB-11: conservation with a pool of one, bounded or not; events at most once per second.
TEST(mailbox_pressure, MB11_a_pool_of_one_loses_nothing_silently) {
    for (const bool is_bounded : {false, true}) {
        mailbox_rig rig([](kernel_rig::options& o) {
            o.envelope_capacity = 1;
            o.envelope_magazine = 0;
        });
        parcel::live = 0;
        const mailbox_index a =
            rig.with(is_bounded ? bounded(3, overflow::block) : mailbox_options{});
        parcel mine(7);
        actor_scheduler::tell(a, parcel(1));
        actor_scheduler::tell(a, parcel(2));
        EXPECT_EQ(rig.events.lost, 1u);
        EXPECT_EQ(rig.events.count(cause::pool_exhausted), 1u);
        EXPECT_TRUE(actor_scheduler::try_tell(a, std::move(mine)) == sent::pool_exhausted);
        EXPECT_EQ(mine.value(), 7u);
        EXPECT_TRUE(offer(a, std::move(mine), duration()) == sent::pool_exhausted);
        EXPECT_EQ(mine.value(), 7u);
        EXPECT_EQ(rig.events.exhaustions, 1u);
        EXPECT_EQ(rig.events.last_exhausted, 1u);
        rig.time.advance(duration::from_ms(999));
        EXPECT_TRUE(actor_scheduler::try_tell(a, std::move(mine)) == sent::pool_exhausted);
        EXPECT_EQ(rig.events.exhaustions, 1u);
        rig.time.advance(duration::from_ms(1));
        EXPECT_TRUE(actor_scheduler::try_tell(a, std::move(mine)) == sent::pool_exhausted);
        EXPECT_EQ(rig.events.exhaustions, 2u);
        EXPECT_EQ(rig.events.last_exhausted, 4u);  // since the first
        (void)rig.run();
        EXPECT_TRUE(actor_scheduler::try_tell(a, std::move(mine)) == sent::accepted);
        (void)rig.run();
        EXPECT_TRUE(journal().is({1, 7}));
        EXPECT_EQ(parcel::live, 1);  // mine, moved from
    }
}
// MB-11: without a clock there are no seconds.
TEST(mailbox_pressure, MB11_one_event_where_there_is_no_clock) {
    mailbox_rig rig([](kernel_rig::options& o) {
        o.envelope_capacity = 1;
        o.envelope_magazine = 0;
        o.time = nullptr;
    });
    rig.tell(rig.with({}), {1, 2, 3, 4});
    EXPECT_EQ(rig.events.lost, 3u);
    EXPECT_EQ(rig.events.exhaustions, 1u);
    (void)rig.run();
}
// MB-1 with MB-11: full, and no envelope to show the dead letter in: it is counted all the same.
TEST(mailbox_pressure, MB11_a_dead_letter_without_an_envelope_is_reported_as_lost) {
    mailbox_rig rig([](kernel_rig::options& o) {
        o.envelope_capacity = 1;
        o.envelope_magazine = 0;
    });
    const mailbox_index a = rig.with(bounded(1, overflow::drop_newest));
    rig.tell(a, {1, 2});
    EXPECT_EQ(rig.events.lost, 1u);
    EXPECT_EQ(rig.events.count(cause::mailbox_full), 1u);
    EXPECT_EQ(rig.events.exhaustions, 0u);
    (void)rig.run();
    EXPECT_TRUE(journal().is({1}));
}

// MB-12: two mailboxes, a plain and a bounded one, in turns of the throughput.
TEST(mailbox_pressure, MB12_fair_with_throughput_1_32_and_300) {
    for (const std::uint32_t throughput : {1U, 32U, 300U}) {
        static unsigned count[2];
        static unsigned lead;  // how far one was ahead of the other
        count[0] = count[1] = lead = 0;
        struct counting {
            unsigned which;
            void receive(turn&, envelope&) {
                ++count[which];
                const unsigned ahead =
                    count[0] > count[1] ? count[0] - count[1] : count[1] - count[0];
                lead = ahead > lead ? ahead : lead;
            }
        };
        for (const overflow how : {overflow::block, overflow::drop_oldest, overflow::reject}) {
            mailbox_rig rig([&](kernel_rig::options& o) { o.throughput = throughput; });
            const mailbox_index a = rig.with<counting>({}, 0U);
            const mailbox_index b = rig.with<counting>(bounded(2'000, how), 1U);
            const std::uint32_t each = board::roomy ? 1'000 : 15;
            for (std::uint32_t i = 0; i < each; ++i) {
                rig.tell(a, {i});
                rig.tell(b, {i});
            }
            count[0] = count[1] = lead = 0;
            (void)rig.run();
            EXPECT_EQ(count[0], each);
            EXPECT_EQ(count[1], each);
            EXPECT_TRUE(lead <= throughput);
            EXPECT_EQ(rig.events.letters, 0u);
        }
    }
}
