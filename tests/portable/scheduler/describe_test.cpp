// SPDX-License-Identifier: Apache-2.0
//
// SD-5: every error, warning and diagnostic has a sentence, with its numbers. The sentences are
// written out here, in the order of the enumerations: they are an interface.
#include <tactus/scheduler/scheduler_event.hpp>

#include <array>
#include <string_view>

#include "portable_test.hpp"

namespace tactus {
namespace {

std::array<char, 192> room;

constexpr std::string_view error_texts[] = {
    "initial of 12 ns is not between 1 ns and 1 us: wait for a positive time, or several times in "
    "a row",
    "initial of 12 is not allowed, it is at least 1000",
    "mode unknown is not supported here: capabilities() says which are",
    "12 timers are active, the quota is 1000: cancel some or choose a larger profile",
    "no room for another initial, 12 of 1000 are in use: cancel some or choose a larger profile",
    "refused under backpressure by gauge, 12 timers are active, the adaptive quota is 1000: try "
    "again when it is over",
    "the scheduler is closed: nothing can be scheduled any more",
    "12 tasks wait for the close, their capacity is 1000: register fewer or choose a larger "
    "profile",
    "the constructor of the message or function threw: nothing was scheduled",
    "an interrupt handler only counts ticks: let the loop schedule what it asks for",
};

constexpr std::string_view warning_texts[] = {
    "timer 7 missed 1 runs at once, more than its burst_threshold of 2: ticks came late",
    "timer 7 missed 1 runs, more than its backlog_limit of 2: cancelled",
    "a run of timer 7 (fixed_rate, runs 3) failed with no disk: a function that fails "
    "does not run again",
    "timers are 1 ticks late, the window is 2: new ones are refused until it has caught up",
    "a tick was processed 1 ns late, the budget is 2 ns: the machine is busy or the resolution too "
    "fine",
    "all 1 timers of the quota are active, the adaptive quota is 2: cancel some or choose a larger "
    "profile",
    "backpressure engaged by driver: the state is rejecting",
    "1 of 2 entries of the overflow are in use: use fewer far timers or choose a larger profile",
    "timer 7 of priority normal was dropped for a more important one: choose a larger profile",
    "a timer was refused, 1 of 2 entries are in use: cancel some or choose a larger profile",
    "task 1 failed at the close with no disk: the others go on",
    "a subscriber of diagnostics lost 1 events, its queue has room for 2: poll more often or "
    "subscribe to fewer kinds",
    "the tick driver steady stopped, no disk: 1 of at most 2 restarts so far",
};

constexpr std::string_view diagnostic_texts[] = {
    "tick 9: timer 7 (fixed_delay) is scheduled for tick 8 on dispatcher 4",
    "tick 9: timer 7 (fixed_delay) fired, due at tick 8, scheduled at tick 5",
    "tick 9: timer 7 (fixed_delay) was cancelled, due at tick 8, scheduled at tick 5",
    "tick 9: timer 7 (fixed_delay) was dropped, due at tick 8, scheduled at tick 5",
    "tick 9: processed 2 ns late",
    "tick 9: timers are 2 ticks late",
    "tick 9: the state is rejecting",
    "tick 9: task 2 of the close has run",
    "tick 9: the driver woke at most 2 ns late, 8 ns under no load, and 5 times so far",
    "tick 9: 2 events in a row were lost, the last of them now: poll more often",
};

TEST(scheduler_describe, each_error_has_its_sentence) {
    static_assert(std::size(error_texts) == scheduler_errc_count);
    for (std::size_t i = 0; i < scheduler_errc_count; ++i) {
        const scheduler_error e{.code = static_cast<scheduler_errc>(i),
                                .cause = backpressure_cause::gauge,
                                .field = "initial",
                                .value = 12,
                                .limit = 1'000};
        EXPECT_EQ(describe(e, room), error_texts[i]);
    }
    EXPECT_EQ(describe(scheduler_error{.code = static_cast<scheduler_errc>(99)}, room), "unknown");
}

TEST(scheduler_describe, an_error_says_what_was_wrong_with_the_number) {
    EXPECT_EQ(describe(scheduler_error{.code = scheduler_errc::invalid_delay, .limit = 5}, room),
              "delay of 0 ns is not between 1 ns and 5 ns: wait for a positive time, or several "
              "times in a row");
    EXPECT_EQ(describe(scheduler_error{.code = scheduler_errc::invalid_options,
                                       .field = "burst_threshold",
                                       .value = 9,
                                       .limit = 8},
                       room),
              "burst_threshold of 9 is not allowed, it is at most 8");
    EXPECT_EQ(describe(scheduler_error{.code = scheduler_errc::capacity_exceeded}, room),
              "no room for a timer: there is no memory for one, or what keeps them was not made");
    EXPECT_EQ(describe(scheduler_error{.code = scheduler_errc::backpressured,
                                       .cause = backpressure_cause::driver,
                                       .value = 3},
                       room),
              "refused under backpressure by driver, 3 timers are active: try again when it is "
              "over");
    EXPECT_EQ(describe(scheduler_error{.code = scheduler_errc::unsupported_mode, .value = 2}, room),
              "mode fixed_delay is not supported here: capabilities() says which are");
    EXPECT_EQ(describe(
                  scheduler_error{
                      .code = scheduler_errc::unsupported_mode, .field = "message", .value = 1},
                  room),
              "mode fixed_rate needs a message that can be copied: hold what cannot be by a "
              "std::shared_ptr, or schedule it once");
}

// BP-7
TEST(scheduler_describe, one_that_found_no_place_did_not_give_way) {
    EXPECT_EQ(describe(
                  scheduler_warning{
                      .kind = scheduler_warning_kind::dropped_low_priority, .job = 7, .value = 0},
                  room),
              "timer 7 of priority high was dropped since there was no place for it: choose a "
              "larger profile");
}

TEST(scheduler_describe, each_cause_of_backpressure_is_named) {
    for (std::size_t i = 0; i < backpressure_cause_count; ++i) {
        const auto cause = static_cast<backpressure_cause>(i);
        const scheduler_error e{.code = scheduler_errc::backpressured, .cause = cause};
        EXPECT_TRUE(describe(e, room).find(name_of(cause)) != std::string_view::npos);
        const scheduler_warning w{.kind = scheduler_warning_kind::backpressure_state,
                                  .cause = cause};
        EXPECT_TRUE(describe(w, room).find(name_of(cause)) != std::string_view::npos);
        EXPECT_TRUE(describe(w, room).ends_with("released by none: the state is normal") ||
                    cause != backpressure_cause::none);
    }
}

// DF-30
TEST(scheduler_describe, a_full_mailbox_is_named) {
    EXPECT_EQ(describe(scheduler_error{.code = scheduler_errc::backpressured,
                                       .cause = backpressure_cause::mailbox,
                                       .value = 60,
                                       .limit = 64},
                       room),
              "the mailbox of the receiver holds 60 of 64 messages: try again when it is emptier, "
              "or schedule with priority high");
    scheduler_warning w{.kind = scheduler_warning_kind::backpressure_state,
                        .cause = backpressure_cause::mailbox,
                        .value = 1,
                        .limit = 937,
                        .at = {},
                        .to = mailbox_index::make(1, 7, 1)};
    EXPECT_EQ(describe(w, room),
              "the mailbox 7 is filled to 93 %: timers for it are refused, but for those of "
              "priority high");
    w.text = " of /user/pump";
    w.value = 0;
    w.limit = 120;
    EXPECT_EQ(describe(w, room),
              "the mailbox of /user/pump is filled to 12 %: timers for it are accepted again");
}

TEST(scheduler_describe, each_warning_has_its_sentence) {
    static_assert(std::size(warning_texts) == scheduler_warning_count);
    for (std::size_t i = 0; i < scheduler_warning_count; ++i) {
        const scheduler_warning w{.kind = static_cast<scheduler_warning_kind>(i),
                                  .cause = backpressure_cause::driver,
                                  .job = 7,
                                  .value = 1,
                                  .limit = 2,
                                  .about = "steady",
                                  .text = "no disk",
                                  .batch = {.runs = 3, .mode = job_mode::fixed_rate},
                                  .at = {}};
        EXPECT_EQ(describe(w, room), warning_texts[i]);
    }
    EXPECT_EQ(describe(scheduler_warning{.kind = static_cast<scheduler_warning_kind>(99)}, room),
              "unknown");
}

TEST(scheduler_describe, a_failure_without_a_text_says_so) {
    EXPECT_EQ(describe(scheduler_warning{.kind = scheduler_warning_kind::task_run_failed}, room),
              "task 0 failed at the close with an error without a text: the others go on");
}

TEST(scheduler_describe, each_diagnostic_has_its_sentence) {
    static_assert(std::size(diagnostic_texts) == diagnostic_kind_count);
    for (std::size_t i = 0; i < diagnostic_kind_count; ++i) {
        const diagnostic d{.kind = static_cast<diagnostic_kind>(i),
                           .mode = job_mode::fixed_delay,
                           .executor = 4,
                           .job = 7,
                           .scheduled_at = 5,
                           .deadline = 8,
                           .at = 9,
                           .detail = 2};
        EXPECT_EQ(describe(d, room), diagnostic_texts[i]);
    }
    EXPECT_EQ(describe(diagnostic{.kind = static_cast<diagnostic_kind>(99)}, room), "unknown");
}

TEST(scheduler_describe, a_sentence_is_cut_to_the_room_there_is) {
    const scheduler_error e{.code = scheduler_errc::closed};
    char few[16];
    EXPECT_EQ(describe(e, few), "the scheduler...");
    EXPECT_EQ(describe(e, std::span(few, 0)), "");
}

}  // namespace
}  // namespace tactus
