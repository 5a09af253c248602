// SPDX-License-Identifier: Apache-2.0
//
// Goal: what passes a logger's level, what a sink is given, and texts built without a heap (EV-4).
#include <tactus/actor/log.hpp>
#include <tactus/actor/text_buffer.hpp>
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

// EV-4
TEST(text_buffer, EV_4_pieces_and_numbers) {
    text_buffer<64> text;
    EXPECT_TRUE(text.view().empty());
    text.add("a").add(0).add(" ").add(-12).add(" ").add(18'446'744'073'709'551'615U);
    EXPECT_TRUE(text.view() == "a0 -12 18446744073709551615");
    EXPECT_FALSE(text.is_cut());
    text.clear();
    text.add(300_s).add(", ").add(1'500_ms).add(", ").add(2_us).add(", ").add(-1_ns);
    EXPECT_TRUE(text.view() == "5 min, 1500 ms, 2 us, -1 ns");
    text.clear();
    text.add(7_s).add(", ").add(duration::zero());
    EXPECT_TRUE(text.view() == "7 s, 0 ns");
    text.clear();
    text.add(duration::min());
    EXPECT_TRUE(text.view() == "-9223372036854775808 ns");
}

// EV-4: the end is left out, and said so; a character is not divided.
TEST(text_buffer, EV_4_what_does_not_fit_is_left_out) {
    text_buffer<8> text;
    text.add("12345678");
    EXPECT_FALSE(text.is_cut());
    text.add("").add("9").add("0");
    EXPECT_TRUE(text.view() == "12345...");
    EXPECT_TRUE(text.is_cut());
    text.clear();
    text.add("ok");
    EXPECT_TRUE(text.view() == "ok" && !text.is_cut());
    text.clear();
    text.add(
        "1234\xc3\xa4"
        "67890");   // the fifth and the sixth byte are one character
    text.add("x");  // would fit, and is not what follows
    EXPECT_TRUE(text.view() == "1234...");
    text.clear();
    text.add(
        "123\xc3\xa4"
        "67890");
    EXPECT_TRUE(text.view() == "123\xc3\xa4...");
}
