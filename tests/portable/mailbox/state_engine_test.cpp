// SPDX-License-Identifier: Apache-2.0
//
// State engine, one transition at a time: Pekko's status numbers (C-MBX-1 … 8), ME-1, ME-2, ME-6,
// TC-M23, TC-M24. The whole table is walked in state_table_test.cpp.
#include <tactus/mailbox/state_engine.hpp>

#include "portable_test.hpp"

using tactus::mailbox_owed;
using tactus::mailbox_state;
using tactus::schedule_hint;
using tactus::state_engine;
using enum tactus::suspension;
namespace state_word = tactus::state_word;

namespace {

void close(state_engine& engine) {
    EXPECT_EQ(engine.request_close(), mailbox_owed::finalize);
    engine.finish_close();
}

}  // namespace

// C-MBX-1
TEST(state_engine, C_MBX_1_fresh_is_open_idle_and_may_process) {
    const state_engine engine;
    EXPECT_EQ(engine.word(), 0u);
    EXPECT_EQ(engine.state(), mailbox_state::idle);
    EXPECT_FALSE(engine.closed());
    EXPECT_FALSE(engine.suspended());
    EXPECT_FALSE(engine.scheduled());
    EXPECT_TRUE(engine.should_process());
}

// C-MBX-2
TEST(state_engine, C_MBX_2_only_the_first_suspend_is_true) {
    state_engine engine;
    EXPECT_TRUE(engine.suspend(supervision));
    EXPECT_FALSE(engine.suspend(supervision));
    EXPECT_FALSE(engine.suspend(supervision));
    EXPECT_EQ(engine.suspend_count(supervision), 3u);
    EXPECT_EQ(engine.word(), 12u);
    EXPECT_TRUE(engine.suspended());
    EXPECT_FALSE(engine.should_process());
}

// C-MBX-3
TEST(state_engine, C_MBX_3_only_the_last_resume_is_true) {
    state_engine engine;
    for (int i = 0; i < 3; ++i)
        (void)engine.suspend(supervision);
    EXPECT_FALSE(engine.resume(supervision));
    EXPECT_FALSE(engine.resume(supervision));
    EXPECT_FALSE(engine.should_process());
    EXPECT_TRUE(engine.resume(supervision));
    EXPECT_EQ(engine.word(), 0u);
    EXPECT_TRUE(engine.should_process());
}

// C-MBX-4
TEST(state_engine, C_MBX_4_a_resume_too_many_is_true_and_changes_nothing) {
    state_engine engine;
    EXPECT_TRUE(engine.resume(supervision));
    EXPECT_EQ(engine.word(), 0u);
    EXPECT_TRUE(engine.resume(await));
    EXPECT_EQ(engine.word(), 0u);
}

// C-MBX-5, ME-1
TEST(state_engine, C_MBX_5_ME_1_scheduling_is_won_once) {
    state_engine engine;
    EXPECT_TRUE(engine.request_schedule(schedule_hint::user));
    EXPECT_FALSE(engine.request_schedule(schedule_hint::user));
    EXPECT_FALSE(engine.request_schedule(schedule_hint::system));
    EXPECT_EQ(engine.word(), 2u);
    EXPECT_TRUE(engine.scheduled());
    EXPECT_TRUE(engine.should_process());
}

// C-MBX-7: becomeClosed is request_close and finish_close.
TEST(state_engine, C_MBX_7_closing_a_scheduled_suspended_mailbox_leaves_exactly_closed) {
    state_engine engine;
    EXPECT_TRUE(engine.request_schedule(schedule_hint::user));
    EXPECT_TRUE(engine.suspend(supervision));
    EXPECT_EQ(engine.word(), 6u);
    EXPECT_EQ(engine.request_close(), mailbox_owed::nothing);  // the runner is elected
    EXPECT_EQ(engine.run_ended(), mailbox_owed::finalize);
    engine.finish_close();
    EXPECT_EQ(engine.word(), 1u);
    EXPECT_TRUE(engine.closed());
    EXPECT_EQ(engine.request_close(), mailbox_owed::nothing);
    EXPECT_EQ(engine.word(), 1u);
}

// C-MBX-8, ME-6. setAsIdle is run_ended, which a closed mailbox has no owner for: the bit code.
TEST(state_engine, C_MBX_8_ME_6_closed_answers_false_to_everything) {
    state_engine engine;
    close(engine);
    EXPECT_FALSE(engine.suspend(supervision));
    EXPECT_FALSE(engine.suspend(await));
    EXPECT_FALSE(engine.resume(supervision));
    EXPECT_FALSE(engine.resume(await));
    EXPECT_FALSE(engine.request_schedule(schedule_hint::user));
    EXPECT_FALSE(engine.request_schedule(schedule_hint::system));
    EXPECT_FALSE(engine.should_process());
    EXPECT_EQ(engine.word(), 1u);
    const state_word::step ended = state_word::run_ended(state_word::closed);
    EXPECT_EQ(ended.word, state_word::closed);
    EXPECT_EQ(ended.owed, mailbox_owed::nothing);
}

// ME-1: between two idles there is one winner; after each idle there is one again.
TEST(state_engine, ME_1_each_idle_allows_one_more_winner) {
    state_engine engine;
    for (int round = 0; round < 5; ++round) {
        int winners = 0;
        for (int i = 0; i < 6; ++i) {
            const auto hint = (i + round) % 2 == 0 ? schedule_hint::user : schedule_hint::system;
            winners += engine.request_schedule(hint) ? 1 : 0;
        }
        EXPECT_EQ(winners, 1);
        EXPECT_EQ(engine.run_ended(), mailbox_owed::look_again);
    }
}

// TC-M23: true, false; what arrived during the run is one pending reschedule.
TEST(state_engine, TC_M23_after_a_run_there_is_exactly_one_reschedule) {
    state_engine engine;
    EXPECT_TRUE(engine.request_schedule(schedule_hint::user));
    EXPECT_FALSE(engine.request_schedule(schedule_hint::user));
    EXPECT_EQ(engine.run_ended(), mailbox_owed::look_again);
    EXPECT_TRUE(engine.request_schedule(schedule_hint::user));
    EXPECT_FALSE(engine.request_schedule(schedule_hint::user));
}

// TC-M24, ME-1: user and backpressure false, system true.
TEST(state_engine, TC_M24_a_suspended_mailbox_is_scheduled_for_system_work_only) {
    for (const auto why : {supervision, await}) {
        state_engine engine;
        EXPECT_TRUE(engine.suspend(why));
        EXPECT_FALSE(engine.request_schedule(schedule_hint::user));
        EXPECT_FALSE(engine.request_schedule(schedule_hint::backpressure));
        EXPECT_FALSE(engine.scheduled());
        EXPECT_TRUE(engine.request_schedule(schedule_hint::system));
        EXPECT_EQ(engine.state(), mailbox_state::suspended_scheduled);
        EXPECT_FALSE(engine.should_process());
    }
}

// ME-1: open, any hint does.
TEST(state_engine, ME_1_an_idle_mailbox_is_scheduled_for_any_hint) {
    for (const auto hint :
         {schedule_hint::user, schedule_hint::backpressure, schedule_hint::system}) {
        state_engine engine;
        EXPECT_TRUE(engine.request_schedule(hint));
        EXPECT_FALSE(engine.request_schedule(hint));
    }
}

// ME-2
TEST(state_engine, ME_2_the_scheduled_bit_survives_suspend_and_resume) {
    for (const auto why : {supervision, await}) {
        state_engine engine;
        EXPECT_TRUE(engine.request_schedule(schedule_hint::user));
        EXPECT_TRUE(engine.suspend(why));
        EXPECT_TRUE(engine.scheduled());
        EXPECT_FALSE(engine.request_schedule(schedule_hint::system));
        EXPECT_TRUE(engine.resume(why));
        EXPECT_EQ(engine.word(), 2u);
    }
}

// ME-2: the two kinds are counted apart; the mailbox is held back as long as one of them is there.
TEST(state_engine, ME_2_await_and_supervision_are_counted_separately) {
    state_engine engine;
    EXPECT_TRUE(engine.suspend(await));
    EXPECT_FALSE(engine.suspend(supervision));
    EXPECT_FALSE(engine.suspend(await));
    EXPECT_EQ(engine.suspend_count(await), 2u);
    EXPECT_EQ(engine.suspend_count(supervision), 1u);

    EXPECT_FALSE(engine.resume(supervision));
    EXPECT_EQ(engine.suspend_count(supervision), 0u);
    EXPECT_EQ(engine.suspend_count(await), 2u);
    EXPECT_FALSE(engine.resume(supervision));  // too many: it does not take away an await
    EXPECT_EQ(engine.suspend_count(await), 2u);

    EXPECT_FALSE(engine.resume(await));
    EXPECT_FALSE(engine.should_process());
    EXPECT_TRUE(engine.resume(await));
    EXPECT_TRUE(engine.should_process());
    EXPECT_EQ(engine.word(), 0u);
}

// ME-2: each count goes up to its maximum without touching the other, or the flags.
TEST(state_engine, ME_2_a_full_count_stays_in_its_bits) {
    for (const auto why : {supervision, await}) {
        const auto other = why == supervision ? await : supervision;
        state_engine engine;
        EXPECT_TRUE(engine.request_schedule(schedule_hint::user));
        for (unsigned i = 0; i < state_word::suspension_count_max; ++i)
            (void)engine.suspend(why);
        EXPECT_EQ(engine.suspend_count(why), 63u);
        EXPECT_EQ(engine.suspend_count(other), 0u);
        EXPECT_EQ(engine.state(), mailbox_state::suspended_scheduled);
        EXPECT_FALSE(engine.suspend(other));
        EXPECT_EQ(engine.suspend_count(other), 1u);
        EXPECT_EQ(engine.suspend_count(why), 63u);
    }
}

// DF-4:
// ME-2
TEST(state_engine, DF_4_a_suspension_beyond_the_largest_count_is_not_counted) {
    for (const auto why : {supervision, await}) {
        state_engine engine;
        for (unsigned i = 0; i < state_word::suspension_count_max; ++i)
            (void)engine.suspend(why);
        const std::uint32_t full = engine.word();
        EXPECT_FALSE(engine.suspend(why));
        EXPECT_FALSE(engine.try_suspend(why));
        EXPECT_EQ(engine.word(), full);
        for (unsigned i = 1; i < state_word::suspension_count_max; ++i)
            EXPECT_FALSE(engine.resume(why));
        EXPECT_TRUE(engine.resume(why));
        EXPECT_EQ(engine.word(), 0u);
    }
}

// ME-6: also when the counts are full, and while it is closing.
TEST(state_engine, ME_6_closing_beats_suspended) {
    state_engine engine;
    for (unsigned i = 0; i < state_word::suspension_count_max; ++i)
        (void)engine.suspend(supervision);
    EXPECT_TRUE(engine.request_schedule(schedule_hint::system));
    EXPECT_EQ(engine.request_close(), mailbox_owed::nothing);
    EXPECT_EQ(engine.state(), mailbox_state::closing);
    EXPECT_FALSE(engine.suspend(supervision));
    EXPECT_FALSE(engine.suspend(await));
    EXPECT_FALSE(engine.resume(supervision));
    EXPECT_FALSE(engine.request_schedule(schedule_hint::system));
    EXPECT_FALSE(engine.should_process());
    EXPECT_EQ(engine.request_close(), mailbox_owed::nothing);
    EXPECT_EQ(engine.run_ended(), mailbox_owed::finalize);
    // Between its end and the finalizer's, nobody else can win it.
    EXPECT_FALSE(engine.request_schedule(schedule_hint::user));
    EXPECT_FALSE(engine.request_schedule(schedule_hint::system));
    engine.finish_close();
    EXPECT_EQ(engine.word(), 1u);
}

TEST(state_engine, opening_begins_a_new_life_idle_or_owned) {
    state_engine engine;
    close(engine);
    engine.open(true);
    EXPECT_EQ(engine.state(), mailbox_state::scheduled);
    EXPECT_EQ(engine.run_ended(), mailbox_owed::look_again);
    close(engine);
    engine.open(false);
    EXPECT_EQ(engine.word(), 0u);
}
