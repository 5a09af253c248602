// SPDX-License-Identifier: Apache-2.0
//
// Goal: what became of a run is known: it was handled, or counted and told as dropped (BT-2, CN-8);
// the last batch is one that was delivered (SD-6).
#include <tactus/scheduler/scheduler.hpp>

#include <cstdint>

#include "scheduler_rig.hpp"

using tactus::diagnostic_kind;
using tactus::execution_batch;
using tactus::job_mode;
using tactus_test::journal;
using tactus_test::ms;
using tactus_test::number;
using tactus_test::served_rig;

namespace {

struct outcome_rig : served_rig {
    outcome_rig() noexcept : drops(*(*this)->subscribe(diagnostic_kind::drop, 8)) {}
    /// One job of each mode, whose message is in the mailbox.
    void send_all() noexcept {
        made[0] = *(*this)->schedule_once(ms(1), who, number{1});
        made[1] = *(*this)->schedule_at_fixed_rate(ms(1), ms(100), who, number{2});
        made[2] = *(*this)->schedule_with_fixed_delay(ms(1), ms(100), who, number{3});
        time.advance(ms(1));
        (*this)->run_due(time.now());
    }
    tactus::mailbox_index who = spawn();
    tactus::diagnostics::subscription drops;
    tactus::cancellable made[3];
};

// BT-2: what is handled is not dropped.
TEST(outcome, BT_2_what_is_handled_is_not_dropped) {
    if (!tactus_test::board::roomy)
        return;  // it has no room for so many at once
    outcome_rig rig;
    rig.send_all();
    rig.run();
    EXPECT_TRUE(journal().is({1, 2, 3}));
    EXPECT_EQ(rig->counted().dropped, 0u);
    EXPECT_FALSE(rig.drops.poll().has_value());
}

// BT-2: what a receiver has not handled when it ends is, each once.
TEST(outcome, BT_2_what_its_receiver_leaves_is_dropped) {
    if (!tactus_test::board::roomy)
        return;  // it has no room for so many at once
    outcome_rig rig;
    rig.send_all();
    (void)rig.kernel->stop(rig.who);
    rig.run();
    journal().clear();
    EXPECT_EQ(rig->counted().dropped, 3u);
    EXPECT_EQ(rig->counted().cancelled, 0u);
    for (const tactus::cancellable& m : rig.made) {
        const auto told = rig.drops.poll();
        ASSERT_TRUE(told.has_value());
        EXPECT_EQ(told->job, m.id());
        EXPECT_EQ(told->deadline, 1u);
    }
}

// BT-2, CN-8: what is withdrawn is both: a timer was cancelled, a run was dropped.
TEST(outcome, BT_2_what_is_withdrawn_is_dropped) {
    if (!tactus_test::board::roomy)
        return;  // it has no room for so many at once
    outcome_rig rig;
    rig.send_all();
    EXPECT_FALSE(rig.made[0].cancel());
    EXPECT_TRUE(rig.made[1].cancel());
    EXPECT_TRUE(rig.made[2].cancel());
    rig.run();
    EXPECT_TRUE(journal().is({1}));
    EXPECT_EQ(rig->counted().dropped, 2u);
    EXPECT_EQ(rig->counted().cancelled, 2u);
}

// SD-6, SC-22: one that is ended by its backlog was not delivered.
TEST(outcome, SD_6_the_last_batch_was_delivered) {
    outcome_rig rig;
    EXPECT_FALSE(rig->last_batch().has_value());
    const auto once = rig->schedule_once(ms(1), rig.who, number{1});
    auto rate = rig->schedule_at_fixed_rate(ms(2), ms(1), rig.who, number{2}, {},
                                            {.backlog_limit = 2, .burst_threshold = 2});
    ASSERT_TRUE(once && rate);
    rig.jump(10);
    EXPECT_TRUE(rate->is_cancelled());
    ASSERT_TRUE(rig->last_batch().has_value());
    EXPECT_TRUE((*rig->last_batch() == execution_batch{1, 0, job_mode::one_shot, once->id()}));
    journal().clear();
}

// SD-6, SC-20: of one that delivers each run the last is one.
TEST(outcome, SD_6_the_last_batch_of_each_is_one_run) {
    outcome_rig rig;
    const auto each = rig->schedule_at_fixed_rate(ms(1), ms(1), rig.who, number{1}, {},
                                                  {.catch_up = tactus::catch_up_rule::each});
    ASSERT_TRUE(each.has_value());
    rig.jump(3);
    EXPECT_TRUE(journal().is({1, 1, 1}));
    EXPECT_TRUE((*rig->last_batch() == execution_batch{1, 0, job_mode::fixed_rate, each->id()}));
}

}  // namespace
