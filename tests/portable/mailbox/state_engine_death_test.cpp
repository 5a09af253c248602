// SPDX-License-Identifier: Apache-2.0
//
// Goal: broken preconditions of the state engine end the program and name themselves. Host only.
#include <tactus/mailbox/state_engine.hpp>

#include <gtest/gtest.h>

using tactus::state_engine;
using tactus::suspension;

// ME-3
TEST(state_engine_death, check_2_only_an_owner_ends_a_run) {
    state_engine idle;
    EXPECT_DEATH((void)idle.run_ended(), "state_engine:2");
    state_engine suspended;
    (void)suspended.suspend(suspension::supervision);
    EXPECT_DEATH((void)suspended.run_ended(), "state_engine:2");
    state_engine closed;
    (void)closed.request_close();
    closed.finish_close();
    EXPECT_DEATH((void)closed.run_ended(), "state_engine:2");
}

// ME-5
TEST(state_engine_death, check_3_only_the_elected_one_finishes_a_close) {
    state_engine idle;
    EXPECT_DEATH(idle.finish_close(), "state_engine:3");
    state_engine scheduled;
    (void)scheduled.request_schedule(tactus::schedule_hint::user);
    EXPECT_DEATH(scheduled.finish_close(), "state_engine:3");
    state_engine closed;
    (void)closed.request_close();
    closed.finish_close();
    EXPECT_DEATH(closed.finish_close(), "state_engine:3");
}
