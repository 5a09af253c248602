// SPDX-License-Identifier: Apache-2.0
//
// Goal: what a dead-letter log cannot work without ends the program.
#include <tactus/actor/dead_letter_log.hpp>

#include <gtest/gtest.h>

#include "log_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used

TEST(dead_letter_log_death, EV_2_no_logger) {
    EXPECT_DEATH(dead_letter_log({}), "dead_letter_log:1");
}
TEST(dead_letter_log_death, EV_2_no_type) {
    tactus_test::kept_log sink;
    logger log({.sink = &sink});
    dead_letter_log letters({.to = &log});
    EXPECT_DEATH(letters.note({}), "dead_letter_log:2");
}
