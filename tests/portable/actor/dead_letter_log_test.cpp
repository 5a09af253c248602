// SPDX-License-Identifier: Apache-2.0
//
// Goal: which lost messages are logged, and how (EV-2). Method: virtual time.
#include <tactus/actor/dead_letter_log.hpp>
#include <tactus/time/manual_clock.hpp>

#include "log_rig.hpp"
#include "portable_test.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::kept_log;

namespace {

struct goodbye : dead_letter_suppression {};
struct carrier {};

struct rig {
    explicit rig(dead_letter_log::options o, log_level level = log_level::info) noexcept
        : log({.sink = &sink, .level = level}), letters([&] {
              o.to = &log;
              o.time = &time;
              return o;
          }()) {}

    /// How many lines that gave.
    unsigned note(lost_kind kind = lost_kind::dead_letter) noexcept {
        const unsigned before = sink.count;
        letters.note({.kind = kind,
                      .type = &message_type_of<int>,
                      .recipient = "/user/b",
                      .cause = "mailbox_full"});
        return sink.count - before;
    }

    manual_clock time;
    kept_log sink;
    logger log;
    dead_letter_log letters;
};

}  // namespace

// C-DL-3, PK-DL-3, PK-DL-4
TEST(dead_letter_log, C_DL_3_limit_4_suspended_for_2_s) {
    rig r({.max = 4, .suspend = 2_s});
    EXPECT_EQ(r.note(lost_kind::dead_letter), 1u);
    EXPECT_TRUE(r.sink.last.text ==
                "[1] dead letter: message [int] to [/user/b] was not delivered (mailbox_full)");
    EXPECT_TRUE(r.sink.last.level == log_level::info);
    EXPECT_TRUE(r.sink.last.from.actor == "/user/b");
    EXPECT_EQ(r.note(lost_kind::dropped), 1u);
    EXPECT_TRUE(r.sink.last.text ==
                "[2] dead letters: message [int] to [/user/b] was dropped (mailbox_full)");
    EXPECT_EQ(r.note(lost_kind::unhandled_message), 1u);
    EXPECT_TRUE(r.sink.last.text ==
                "[3] dead letters: message [int] to [/user/b] was not handled (mailbox_full)");
    EXPECT_EQ(r.note(lost_kind::dead_letter), 1u);
    EXPECT_TRUE(r.sink.says("[4] dead letters, no more are logged in the next 2 s: "));
    EXPECT_EQ(r.note(), 0u);
    r.time.advance(duration::from_ns(1'999'999'999));
    EXPECT_EQ(r.note(), 0u);
    r.time.advance(1_ns);
    EXPECT_EQ(r.note(), 1u);
    EXPECT_TRUE(r.sink.says("[7] dead letters, of which 2 were not logged; "));
    EXPECT_EQ(r.note(), 1u);
    EXPECT_TRUE(r.sink.says("[1] dead letter: "));
    // And all over again.
    for (unsigned i = 0; i < 3; ++i)
        EXPECT_EQ(r.note(), 1u);
    EXPECT_TRUE(r.sink.says("[4] dead letters, no more"));
    r.time.advance(2_s);
    EXPECT_EQ(r.note(), 1u);
    EXPECT_TRUE(r.sink.says("[5] dead letters, of which 0 were not logged; "));
}

// EV-2: ten, then five minutes, unless somebody says otherwise.
TEST(dead_letter_log, EV_2_the_first_10_then_5_minutes) {
    rig r({});
    for (unsigned i = 0; i < 10; ++i)
        EXPECT_EQ(r.note(), 1u);
    EXPECT_TRUE(r.sink.says("[10] dead letters, no more are logged in the next 5 min: "));
    r.time.advance(299_s);
    EXPECT_EQ(r.note(), 0u);
    r.time.advance(1_s);
    EXPECT_EQ(r.note(), 1u);
    EXPECT_TRUE(r.sink.says("[12] dead letters, of which 1 were not logged; "));
}

// PK-DL-3: off, and without a limit.
TEST(dead_letter_log, PK_DL_3_none_or_all) {
    rig none({.max = 0});
    for (unsigned i = 0; i < 20; ++i)
        EXPECT_EQ(none.note(), 0u);
    none.time.advance(1_h);
    EXPECT_EQ(none.note(), 0u);
    rig all({.max = dead_letter_log::unlimited});
    for (unsigned i = 0; i < 20; ++i)
        EXPECT_EQ(all.note(), 1u);
    EXPECT_TRUE(all.sink.says("[20] dead letters: "));
}

// PK-DL-4: suspended for ever, it does not start again; so it is without a clock.
TEST(dead_letter_log, PK_DL_4_suspended_for_good) {
    rig r({.max = 1, .suspend = duration::max()});
    EXPECT_EQ(r.note(), 1u);
    EXPECT_TRUE(r.sink.says("[1] dead letter, no more are logged: "));
    r.time.advance(1_h);
    EXPECT_EQ(r.note(), 0u);

    dead_letter_log timeless({.to = &r.log, .max = 1});
    timeless.note({.type = &message_type_of<int>});
    EXPECT_EQ(r.sink.count, 2u);
    EXPECT_TRUE(r.sink.says("[1] dead letter, no more are logged: "));
    timeless.note({.type = &message_type_of<int>});
    EXPECT_EQ(r.sink.count, 2u);
}

// PK-DL-7, EV-2: what is marked is neither logged nor counted, and what carried it does not matter.
TEST(dead_letter_log, PK_DL_7_suppressed_and_wrapped) {
    rig r({});
    r.letters.note({.type = &message_type_of<goodbye>});
    r.letters.note({.type = &message_type_of<goodbye>, .wrapped_in = &message_type_of<carrier>});
    EXPECT_EQ(r.sink.count, 0u);
    r.letters.note({.type = &message_type_of<int>,
                    .wrapped_in = &message_type_of<long>,
                    .sender = "/user/a",
                    .recipient = "/user/b"});
    EXPECT_TRUE(
        r.sink.last.text ==
            "[1] dead letter: message [int] wrapped in [long int] from [/user/a] to [/user/b] "
            "was not delivered" ||
        r.sink.last.text ==
            "[1] dead letter: message [int] wrapped in [long] from [/user/a] to [/user/b] "
            "was not delivered");
}

// C-DL-4, PK-DL-6: while a shutdown that ends the system goes on. One that does not end it does not
// call begin_shutdown, and so changes nothing.
TEST(dead_letter_log, C_DL_4_during_shutdown) {
    rig quiet({});
    EXPECT_EQ(quiet.note(), 1u);
    quiet.letters.begin_shutdown();
    EXPECT_EQ(quiet.note(), 0u);
    rig loud({.quiet_during_shutdown = false});
    EXPECT_EQ(loud.note(), 1u);
    loud.letters.begin_shutdown();
    EXPECT_EQ(loud.note(), 1u);
}

// EV-2: counted, too, when the level of the logger hides the lines.
TEST(dead_letter_log, EV_2_counts_what_the_level_hides) {
    rig r({.max = 3}, log_level::warning);
    EXPECT_EQ(r.note(), 0u);
    EXPECT_EQ(r.note(), 0u);
    r.log.set_level(log_level::info);
    EXPECT_EQ(r.note(), 1u);
    EXPECT_TRUE(r.sink.says("[3] dead letters, no more"));
}

// EV-2: a long name leaves the count in its line.
TEST(dead_letter_log, EV_2_long_names_are_cut) {
    rig r({.max = 1, .suspend = 2_s});
    char name[600];
    for (char& c : name)
        c = 'x';
    r.letters.note({.type = &message_type_of<int>, .recipient = {name, sizeof name}});
    EXPECT_EQ(r.sink.last.text.size(), dead_letter_log::line_size_max);
    EXPECT_TRUE(r.sink.says("[1] dead letter, no more are logged in the next 2 s: "));
    EXPECT_TRUE(r.sink.says("xxx..."));
}
