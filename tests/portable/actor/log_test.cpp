// SPDX-License-Identifier: Apache-2.0
//
// Goal: what passes a logger's level, and what a sink is given (EV-4).
#include <tactus/actor/log.hpp>
#include <tactus/time/manual_clock.hpp>

#include "log_rig.hpp"
#include "portable_test.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::kept_log;

// C-EVT-4, PK-EVT-6: levels up to the one that is set pass.
TEST(logger, C_EVT_4_levels_up_to_the_set_one_pass) {
    constexpr log_level levels[] = {log_level::error, log_level::warning, log_level::info,
                                    log_level::debug};
    for (unsigned set = 0; set < 4; ++set) {
        kept_log sink;
        logger log({.sink = &sink, .level = levels[set]});
        for (unsigned i = 0; i < 4; ++i) {
            EXPECT_EQ(log.passes(levels[i]), i <= set);
            log.write(levels[i], "text");
        }
        EXPECT_EQ(sink.count, set + 1);
        EXPECT_TRUE(sink.last.level == levels[set]);
    }
}

// PK-EVT-6: nothing passes a logger that is off, nor is off the level of a record.
TEST(logger, PK_EVT_6_off_is_nothing) {
    kept_log sink;
    logger log({.sink = &sink});
    EXPECT_TRUE(log.level() == log_level::info);
    log.write(log_level::off, "text");
    log.set_level(log_level::off);
    log.write(log_level::error, "text");
    EXPECT_EQ(sink.count, 0u);
    log.set_level(log_level::debug);
    log.write(log_level::debug, "text");
    EXPECT_EQ(sink.count, 1u);
}

// EV-4: without a sink nothing passes, whatever is set.
TEST(logger, EV_4_without_a_sink_nothing_passes) {
    logger log({});
    log.set_level(log_level::debug);
    EXPECT_FALSE(log.passes(log_level::error));
    log.write(log_level::error, "text");
}

// EV-4: path and dispatcher are fields of the record, and the time is the system's.
TEST(logger, EV_4_a_record_says_where_and_when) {
    kept_log sink;
    manual_clock time;
    time.advance(5_ms);
    logger log({.sink = &sink, .time = &time});
    log.write(log_level::warning, "what",
              {.actor = "/user/a", .dispatcher = "files", .thread = "shop-files-1"});
    EXPECT_TRUE(sink.last.text == "what");
    EXPECT_TRUE(sink.last.from.actor == "/user/a");
    EXPECT_TRUE(sink.last.from.dispatcher == "files");
    EXPECT_TRUE(sink.last.from.thread == "shop-files-1");
    EXPECT_TRUE(sink.last.at == instant::epoch() + 5_ms);
}
