// SPDX-License-Identifier: Apache-2.0
//
// Goal: what a timer's message was delivered for can be seen for as long as its handler goes on,
// also when that waits, and nowhere after (BT-1, AC-2).
// Method: handlers that note their batch before and after each of two waits.
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <vector>

#include <tactus/runtime/actor_system.hpp>

#include "pool_rig.hpp"
#include "world_rig.hpp"

using namespace tactus;
using tactus_test::ms;
using tactus_test::world_rig;

namespace {

struct beat {
    int number;
};

struct noted {
    int number;
    int part;  // of the handler: 0 before its first wait
    std::optional<execution_batch> batch;
};
using notes = std::vector<noted>;

template <bool Reentrant>
class waiting : public actor<beat> {
public:
    static constexpr bool reentrant = Reentrant;
    explicit waiting(notes* into, std::atomic<int>* ended = nullptr) : into_(into), ended_(ended) {}
    task<> on(const beat& b) {
        for (int part = 0; part < 3; ++part) {
            into_->push_back({b.number, part, context().scheduler_batch()});
            if (part < 2) {
                const auto passed = co_await context().delay(ms(4));
                EXPECT_TRUE(passed.has_value());
            }
        }
        if (ended_ != nullptr)
            ++*ended_;
    }

private:
    notes* into_;
    std::atomic<int>* ended_;
};

struct go {};
/// Starts its timers; its handler of a beat waits.
class keyed : public actor<go, beat> {
public:
    explicit keyed(notes* into) : into_(into) {}
    void on(go) {
        EXPECT_TRUE(context().start_single_timer("once", beat{1}, ms(5)));
        EXPECT_TRUE(context().start_timer_at_fixed_rate("rate", beat{2}, ms(40)));
        EXPECT_TRUE(context().start_timer_with_fixed_delay("delay", beat{3}, ms(60)));
    }
    task<> on(const beat& b) {
        for (int part = 0; part < 2; ++part) {
            into_->push_back({b.number, part, context().scheduler_batch()});
            if (part == 0) {
                const auto passed = co_await context().delay(ms(4));
                EXPECT_TRUE(passed.has_value());
            }
        }
    }

private:
    notes* into_;
};

template <bool Reentrant>
struct stage : world_rig {
    notes all;
    detail::ref_of<waiting<Reentrant>> who = spawn<waiting<Reentrant>>("who", &all);
    scheduler& timers = *timing.service();

    void once(int after_ms, int number) {
        EXPECT_TRUE(timers.schedule_once(ms(after_ms), who.index(), beat{number}).has_value());
    }
};

/// All notes of one message are of one batch, and that is of this mode.
void expect_one_batch(const notes& all, int number, job_mode mode, std::size_t parts) {
    SCOPED_TRACE(number);
    std::optional<execution_batch> first;
    std::size_t count = 0;
    for (const noted& n : all) {
        if (n.number != number)
            continue;
        ++count;
        ASSERT_TRUE(n.batch.has_value()) << "part " << n.part;
        if (!first)
            first = n.batch;
        EXPECT_TRUE(*n.batch == *first) << "part " << n.part;
    }
    ASSERT_EQ(count, parts);
    EXPECT_EQ(first->mode, mode);
}

}  // namespace

// BT-1: also after each wait; a message that no timer sent has none.
TEST(coroutine_batches, BT_1_last_as_long_as_the_handler) {
    stage<false> rig;
    const notes& all = rig.all;
    rig.once(5, 1);
    auto rate = rig.timers.schedule_at_fixed_rate(ms(20), ms(1'000), rig.who.index(), beat{2});
    auto delay = rig.timers.schedule_with_fixed_delay(ms(40), ms(1'000), rig.who.index(), beat{3});
    ASSERT_TRUE(rate.has_value() && delay.has_value());
    rig.pass(60);
    rig.who.tell(beat{4});
    rig.pass(20);
    expect_one_batch(all, 1, job_mode::one_shot, 3);
    expect_one_batch(all, 2, job_mode::fixed_rate, 3);
    expect_one_batch(all, 3, job_mode::fixed_delay, 3);
    ASSERT_EQ(all.size(), 12u);
    EXPECT_EQ(all[3].batch->job, rate->id());
    for (std::size_t i = 9; i < 12; ++i) {
        EXPECT_EQ(all[i].number, 4);
        EXPECT_FALSE(all[i].batch.has_value()) << "part " << all[i].part;
    }
    rig.end();
}

// BT-1, SC-20: how many runs it stands for stays, whatever comes while it waits.
TEST(coroutine_batches, BT_1_keep_their_missed_runs) {
    stage<false> rig;
    const notes& all = rig.all;
    auto rate = rig.timers.schedule_at_fixed_rate(ms(3), ms(3), rig.who.index(), beat{1});
    ASSERT_TRUE(rate.has_value());
    rig.time.advance(ms(9));
    rig.run();
    rig.pass(9);
    ASSERT_GE(all.size(), 4u);
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_TRUE(all[i].batch == (execution_batch{3, 2, job_mode::fixed_rate, rate->id()})) << i;
    EXPECT_TRUE(all[3].batch == (execution_batch{1, 0, job_mode::fixed_rate, rate->id()}));
    rig.end();
}

// BT-1: handlers that wait side by side have one each.
TEST(coroutine_batches, BT_1_of_a_reentrant_actor_are_not_mixed_up) {
    stage<true> rig;
    const notes& all = rig.all;
    rig.once(5, 1);
    ASSERT_TRUE(
        rig.timers.schedule_at_fixed_rate(ms(6), ms(1'000), rig.who.index(), beat{2}).has_value());
    rig.once(7, 3);
    rig.pass(6);
    rig.who.tell(beat{4});
    rig.pass(30);
    expect_one_batch(all, 1, job_mode::one_shot, 3);
    expect_one_batch(all, 2, job_mode::fixed_rate, 3);
    expect_one_batch(all, 3, job_mode::one_shot, 3);
    ASSERT_EQ(all.size(), 12u);
    EXPECT_EQ(all[1].number, 2);  // they did wait side by side
    for (const noted& n : all)
        EXPECT_EQ(n.batch.has_value(), n.number != 4) << n.number << ", part " << n.part;
    EXPECT_NE(all[0].batch->job, all[1].batch->job);
    rig.end();
}

// BT-1, TM-1: of a keyed timer, too.
TEST(coroutine_batches, BT_1_of_keyed_timers) {
    notes all;
    world_rig rig;
    const auto who = rig.spawn<keyed>("who", &all);
    who.tell(go{});
    rig.run();
    rig.pass(70);
    expect_one_batch(all, 1, job_mode::one_shot, 2);
    expect_one_batch(all, 2, job_mode::fixed_rate, 2);
    expect_one_batch(all, 3, job_mode::fixed_delay, 2);
    rig.end();
}

// BT-1: what was kept goes with a coroutine that is destroyed; rig.end() counts the memory.
TEST(coroutine_batches, BT_1_end_with_the_actor) {
    stage<true> rig;
    const notes& all = rig.all;
    for (int i = 1; i <= 3; ++i)
        rig.once(5, i);
    rig.pass(6);
    ASSERT_EQ(all.size(), 3u);
    rig.end();
    EXPECT_EQ(all.size(), 3u);
}

// BT-1: without memory for it the handler is not begun, as without memory for its frame.
TEST(coroutine_batches, BT_1_need_memory) {
    for (const std::size_t blocks : {0u, 1u}) {
        SCOPED_TRACE(blocks);
        notes all;
        world_rig rig;
        const auto who = rig.spawn<waiting<false>>("who", &all);
        who.tell(beat{1});
        rig.pass(10);
        ASSERT_EQ(all.size(), 3u);
        ASSERT_TRUE(rig.timing.service()->schedule_once(ms(5), who.index(), beat{2}).has_value());
        rig.memory.allowance = blocks;
        rig.pass(6);
        rig.memory.allowance = 1'000'000;
        EXPECT_EQ(all.size(), 3u);
        EXPECT_EQ(rig.said.decision_count, 1u);
        rig.end();
    }
}

// BT-3: where a thread has a place for it.
TEST(coroutine_batches, BT_3_are_in_the_slot_of_the_thread_again) {
    notes all;
    std::atomic<int> ended{0};
    actor_system system("batches");
    const auto who = system.spawn<waiting<true>>("who", &all, &ended);
    ASSERT_TRUE(system.timers().schedule_once(ms(2), who, beat{1}).has_value());
    ASSERT_TRUE(system.timers().schedule_once(ms(4), who, beat{2}).has_value());
    who.tell(beat{3});
    ASSERT_TRUE(tactus_test::until([&] { return ended == 3; }));
    expect_one_batch(all, 1, job_mode::one_shot, 3);
    expect_one_batch(all, 2, job_mode::one_shot, 3);
    for (const noted& n : all)
        EXPECT_EQ(n.batch.has_value(), n.number != 3) << n.number << ", part " << n.part;
}
