// SPDX-License-Identifier: Apache-2.0
//
// Goal: messages for which no cell is left are as all others: they show their batch, a cancel
// withdraws them, they come when they are due, and their end is noticed (SC-10, SC-24, CN, BT).
// Method: profiles of few timers; what is due is sent and waits, until there are more messages on
// their way than cells.
#include <tactus/scheduler/scheduler.hpp>

#include <array>
#include <cstdint>

#include "scheduler_rig.hpp"

using tactus::cancellable;
using tactus::diagnostic_kind;
using tactus::duration;
using tactus::execution_batch;
using tactus::job_mode;
using tactus::job_state;
using tactus_test::beside_scheduler;
using tactus_test::board;
using tactus_test::dead;
using tactus_test::journal;
using tactus_test::ms;
using tactus_test::number;
using tactus_test::served_rig;

namespace {

/// More than a quota of 4 has cells for.
constexpr unsigned many = board::roomy ? 60 : 12;
constexpr unsigned envelopes = beside_scheduler::envelopes - 4;

/// Of what was handled: the batches, and what had none.
struct seen_batches {
    execution_batch last;
    unsigned with = 0;
    unsigned without = 0;
    unsigned runs = 0;
    std::uint64_t jobs = 0;  // sum of their ids
};
seen_batches seen;
served_rig* looked_at = nullptr;

struct looking_actor {
    void receive(tactus::turn& t, tactus::envelope&) {
        const auto batch = (*looked_at)->current_batch(&t);
        if (!batch) {
            ++seen.without;
            return;
        }
        ++seen.with;
        seen.last = *batch;
        seen.runs += batch->runs;
        seen.jobs += batch->job;
    }
};

struct lone_rig : served_rig {
    explicit lone_rig(std::uint32_t quota = 4) noexcept
        : served_rig([&](tactus::scheduler_options& o) { o.config.custom = {quota, 0, 1}; }) {
        seen = {};
        looked_at = this;
    }
    /// What is due is sent, and nobody handles it.
    void send(unsigned ticks) noexcept {
        for (unsigned i = 0; i < ticks; ++i) {
            time.advance(ms(1));
            (*this)->run_due(time.now());
        }
    }
    [[nodiscard]] tactus::mailbox_index spawn_looking() noexcept {
        return kernel.spawn<looking_actor>();
    }
};

unsigned count_of(std::int32_t which) {
    unsigned n = 0;
    for (unsigned i = 0; i < journal().count(); ++i)
        n += journal().at(i) == which ? 1U : 0U;
    return n;
}

// BT-1, SC-1: all timers of a profile at one tick.
TEST(lone_messages, BT_1_one_shots_of_one_tick_all_show_their_batch) {
    constexpr unsigned quota = board::roomy ? 1'000 : 8;
    lone_rig rig(quota);
    rig.large.refusing = true;
    const auto who = rig.spawn_looking();
    std::uint64_t jobs = 0;
    for (unsigned i = 0; i < quota; ++i) {
        const auto made = rig->schedule_once(ms(1), who, number{1});
        ASSERT_TRUE(made.has_value());
        jobs += made->id();
    }
    rig.pass(1);
    EXPECT_EQ(seen.with, quota);
    EXPECT_EQ(seen.without, 0u);
    EXPECT_EQ(seen.runs, quota);
    EXPECT_EQ(seen.jobs, jobs);
    EXPECT_EQ(seen.last.mode, job_mode::one_shot);
    EXPECT_EQ(rig->counted().fired, quota);
    EXPECT_EQ(rig->counted().dropped, 0u);
    EXPECT_EQ(rig->cell_count(), 0u);
    EXPECT_EQ(rig.large.refused, 0u);  // BP-1
}

// CN table: one that has left cannot be cancelled, and is handled; its place is free.
TEST(lone_messages, CN_1_a_one_shot_on_its_way_is_not_cancelled) {
    lone_rig rig;
    const auto who = rig.spawn();
    ASSERT_TRUE(rig->schedule_at_fixed_rate(ms(1), ms(1), who, number{1}).has_value());
    rig.send(many);
    auto once = rig->schedule_once(ms(1), who, number{2});
    ASSERT_TRUE(once.has_value());
    rig.send(1);
    EXPECT_FALSE(once->cancel());
    EXPECT_FALSE(once->is_cancelled());
    rig.run();
    EXPECT_EQ(count_of(2), 1u);
    EXPECT_EQ(rig->counted().cancelled, 0u);
}

// CN-2, CN-4, BT-2: whatever waits when a cancel succeeds is not handled.
TEST(lone_messages, CN_2_a_cancel_withdraws_what_waits) {
    lone_rig rig;
    const auto who = rig.spawn();
    auto rate = rig->schedule_at_fixed_rate(ms(1), ms(1), who, number{1});
    ASSERT_TRUE(rate.has_value());
    rig.send(many);
    EXPECT_TRUE(rate->cancel());
    rig.run();
    EXPECT_EQ(journal().count(), 0u);
    EXPECT_EQ(rig->counted().dropped, many);
    EXPECT_EQ(rig->cell_count(), 0u);
}

// CN-4, CN-7: also when its cell is another's meanwhile.
TEST(lone_messages, CN_4_what_waits_is_withdrawn_though_another_job_has_its_cell) {
    lone_rig rig(2);
    const auto who = rig.spawn();
    auto others = rig->schedule_at_fixed_rate(ms(1), ms(1), who, number{1});
    ASSERT_TRUE(others.has_value());
    rig.send(board::roomy ? many : 4);
    auto first = rig->schedule_at_fixed_rate(ms(1), ms(1), who, number{2});
    ASSERT_TRUE(first.has_value());
    rig.send(3);
    EXPECT_TRUE(first->cancel());
    auto second = rig->schedule_at_fixed_rate(ms(1), ms(1), who, number{3});
    ASSERT_TRUE(second.has_value());
    EXPECT_EQ(static_cast<std::uint32_t>(second->id()), static_cast<std::uint32_t>(first->id()));
    rig.send(3);
    EXPECT_TRUE(others->cancel());
    rig.run();
    EXPECT_TRUE(journal().is({3, 3, 3}));
}

// SC-1, SC-24: as many fixed delays as there may be, of one tick.
TEST(lone_messages, SC_24_fixed_delays_of_one_tick_all_come_at_it) {
    constexpr unsigned quota = board::roomy ? 1'000 : 8;
    lone_rig rig(quota);
    const auto who = rig.spawn_looking();
    for (unsigned i = 0; i < quota; ++i)
        ASSERT_TRUE(rig->schedule_with_fixed_delay(ms(2), ms(5), who, number{1}).has_value());
    rig.pass(2);
    EXPECT_EQ(seen.with, quota);
    EXPECT_EQ(seen.without, 0u);
    EXPECT_EQ(seen.last.mode, job_mode::fixed_delay);
    rig.pass(4);
    EXPECT_EQ(seen.with, quota);
    rig.pass(1);  // 5 after they were handled
    EXPECT_EQ(seen.with, 2 * quota);
    EXPECT_EQ(rig->active_count(), quota);
}

// SC-24, SC-26, SD-1: never two on their way, and what is noted as fired was sent.
TEST(lone_messages, SC_24_a_fixed_delay_has_one_on_its_way) {
    lone_rig rig;
    const auto who = rig.spawn();
    ASSERT_TRUE(rig->schedule_at_fixed_rate(ms(1), ms(1), who, number{1}).has_value());
    rig.send(many);
    auto delay = rig->schedule_with_fixed_delay(ms(1), ms(1), who, number{2});
    ASSERT_TRUE(delay.has_value());
    auto events = rig->subscribe({diagnostic_kind::fire}, board::roomy ? 64 : 4);
    ASSERT_TRUE(events.has_value());
    rig.send(3);
    EXPECT_EQ(delay->state(), job_state::executing);
    unsigned noted = 0;
    while (const auto event = events->poll())
        noted += event->job == delay->id() ? 1U : 0U;
    EXPECT_EQ(noted, 1u);
    rig.run();
    EXPECT_EQ(count_of(2), 1u);
    journal().clear();
    rig.pass(1);
    EXPECT_EQ(count_of(2), 1u);
}

// CN-2, CN-6: cancelled while it waits, it is neither handled nor armed again.
TEST(lone_messages, CN_6_a_fixed_delay_that_is_cancelled_does_not_come_again) {
    lone_rig rig;
    const auto who = rig.spawn();
    auto rate = rig->schedule_at_fixed_rate(ms(1), ms(1), who, number{1});
    auto delay = rig->schedule_with_fixed_delay(ms(many), ms(1), who, number{2});
    ASSERT_TRUE(rate && delay);
    rig.send(many);
    EXPECT_TRUE(delay->cancel());
    EXPECT_TRUE(rate->cancel());
    rig.pass(3);
    EXPECT_EQ(journal().count(), 0u);
    EXPECT_EQ(rig->active_count(), 0u);
    EXPECT_EQ(rig->cell_count(), 0u);
}

// SC-20: what it stands for.
TEST(lone_messages, SC_20_missed_runs_are_in_its_batch) {
    lone_rig rig;
    const auto who = rig.spawn_looking();
    ASSERT_TRUE(rig->schedule_at_fixed_rate(ms(1), ms(1), who, number{1}).has_value());
    rig.send(many);
    rig.time.advance(ms(5));
    rig->run_due(rig.time.now());
    rig.run();
    EXPECT_EQ(seen.with, many + 1);
    EXPECT_EQ(seen.last.runs, 5u);
    EXPECT_EQ(seen.last.missed_runs, 4u);
    EXPECT_EQ(seen.last.mode, job_mode::fixed_rate);
    EXPECT_EQ(seen.runs, many + 5);
}

// BT-2, SC-11: lost with their receiver.
TEST(lone_messages, BT_2_what_is_lost_with_its_receiver_is_counted) {
    lone_rig rig;
    const auto who = rig.spawn();
    ASSERT_TRUE(rig->schedule_at_fixed_rate(ms(1), ms(1), who, number{1}).has_value());
    auto delay = rig->schedule_with_fixed_delay(ms(many), ms(1), who, number{2});
    ASSERT_TRUE(delay.has_value());
    rig.send(many);
    auto events = rig->subscribe({diagnostic_kind::drop}, board::roomy ? 64 : 4);
    ASSERT_TRUE(events.has_value());
    EXPECT_TRUE(rig.kernel->stop(who));
    rig.run();
    EXPECT_EQ(count_of(dead + 1), many);
    EXPECT_EQ(count_of(dead + 2), 1u);
    EXPECT_EQ(rig->counted().dropped, many + 1);
    unsigned noted = 0;
    unsigned of_delay = 0;
    while (const auto event = events->poll()) {
        if (event->kind != diagnostic_kind::drop)
            continue;  // that some were lost (SD-6)
        ++noted;
        if (event->job == delay->id() && event->mode == job_mode::fixed_delay)
            of_delay += event->detail == static_cast<int>(tactus::timer_priority::normal) ? 1U : 0U;
    }
    EXPECT_EQ(noted, board::roomy ? many + 1 : 4);  // it keeps the last
    EXPECT_EQ(of_delay, 1u);
    rig.pass(2);
    EXPECT_EQ(delay->end(), tactus::job_end::receiver_terminated);
    EXPECT_EQ(rig->active_count(), 0u);
    EXPECT_EQ(rig->cell_count(), 0u);
}

// BT-2, SC-24: no envelope is left: lost as any message, and a fixed delay goes on.
TEST(lone_messages, BT_2_what_finds_no_envelope_is_lost_and_comes_again) {
    lone_rig rig;
    const auto who = rig.spawn();
    auto rate = rig->schedule_at_fixed_rate(ms(1), ms(1), who, number{1});
    ASSERT_TRUE(rate.has_value());
    rig.send(envelopes);
    ASSERT_EQ(rig.kernel.events.lost, 0u);
    ASSERT_TRUE(rig->schedule_with_fixed_delay(ms(1), ms(2), who, number{2}).has_value());
    rig.send(1);
    EXPECT_EQ(rig.kernel.events.count(tactus::dead_letter_cause::pool_exhausted), 2u);
    EXPECT_EQ(rig->counted().dropped, 2u);
    EXPECT_TRUE(rate->cancel());
    rig.run();
    EXPECT_EQ(journal().count(), 0u);
    rig.pass(2);
    EXPECT_TRUE(journal().is({2}));
}

/// Neither bytes nor small.
struct counted_lives {
    counted_lives() noexcept { ++alive; }
    counted_lives(const counted_lives&) noexcept { ++alive; }
    counted_lives& operator=(const counted_lives&) = delete;
    ~counted_lives() { --alive; }
    std::array<char, 24> bytes{};
    static inline int alive = 0;
};

// BT-3: one that has no room in its envelope beside the batch gets a block, as any that is large.
TEST(lone_messages, BT_3_a_larger_message_has_its_batch_too) {
    if (!board::roomy)
        return;  // it has no memory for them
    {
        lone_rig rig;
        const auto who = rig.spawn_looking();
        auto rate = rig->schedule_at_fixed_rate(ms(1), ms(1), who, counted_lives());
        ASSERT_TRUE(rate.has_value());
        rig.send(many);
        rig.run();
        EXPECT_EQ(seen.with, many);
        EXPECT_EQ(counted_lives::alive, 1);
        rig.send(many);
        EXPECT_EQ(counted_lives::alive, static_cast<int>(many) + 1);
        EXPECT_GT(rig.large.live_blocks, 0u);
        EXPECT_TRUE(rate->cancel());
        rig.run();
        EXPECT_EQ(seen.with, many);
        EXPECT_EQ(counted_lives::alive, 0);
        EXPECT_EQ(rig.large.live_blocks, 0u);
        EXPECT_EQ(rig.large.wrong_releases, 0u);
        // A one-shot, moved.
        ASSERT_TRUE(rig->schedule_at_fixed_rate(ms(1), ms(1), who, number{1}).has_value());
        rig.send(many);
        ASSERT_TRUE(rig->schedule_once(ms(1), who, counted_lives()).has_value());
        rig.send(1);
        EXPECT_EQ(counted_lives::alive, 1);
        rig.run();
        EXPECT_EQ(counted_lives::alive, 0);
        EXPECT_EQ(seen.without, 0u);
    }
    EXPECT_EQ(counted_lives::alive, 0);
}

}  // namespace
