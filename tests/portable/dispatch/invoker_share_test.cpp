// SPDX-License-Identifier: Apache-2.0
//
// Goal: how much one run may do (IN-2).
// Method: a manual clock that handlers move; the conformance cases of throughput and deadline.
#include <tactus/dispatch/invoker.hpp>

#include <cstdint>
#include <optional>

#include "kernel_rig.hpp"
#include "portable_test.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::board;
using tactus_test::journal;
using tactus_test::kernel_rig;
using tactus_test::number;

namespace {

manual_clock* moved = nullptr;
duration per_message;
unsigned handled_count = 0;

/// Takes its time with every message.
struct slow_actor {
    std::uint32_t sends = 0;
    mailbox_index to = {};
    void receive(turn& t, envelope&) {
        ++handled_count;
        if (moved != nullptr)
            moved->advance(per_message);
        for (std::uint32_t i = 0; i < sends; ++i)
            t.send(to, number{i});
    }
};

/// How many messages the first run of `queued` processes.
unsigned first_run(std::optional<std::uint32_t> throughput, duration deadline, unsigned queued,
                   duration each, bool timed = true) {
    kernel_rig rig([&](kernel_rig::options& o) {
        o.throughput = throughput;
        o.throughput_deadline = deadline;
        if (!timed)
            o.time = nullptr;
    });
    moved = timed ? &rig.time : nullptr;
    per_message = each;
    const mailbox_index a = rig.spawn<slow_actor>();
    for (unsigned i = 0; i < queued; ++i)
        rig.tell(a, {i});
    handled_count = 0;
    EXPECT_TRUE(rig.run_once());
    const unsigned first = handled_count;
    EXPECT_EQ(rig.at(a).state().scheduled(), first < queued);  // the rest stays, and is queued
    (void)rig.run();
    EXPECT_EQ(handled_count, queued);
    return first;
}

constexpr duration none = duration::max();
constexpr unsigned hundred = board::roomy ? 100 : 30;

}  // namespace

// TC-M16
TEST(invoker_share, TC_M16_yields_when_the_deadline_has_passed) {
    EXPECT_EQ(first_run(100, duration::from_ms(10), hundred, duration::from_ms(5)), 2u);
    EXPECT_EQ(first_run(100, duration::from_ms(10), hundred, duration::from_ms(6)), 2u);
    EXPECT_EQ(first_run(100, duration::from_ms(10), hundred, duration::from_ms(11)), 1u);
}
// TC-M17
TEST(invoker_share, TC_M17_without_a_deadline_all_of_them) {
    EXPECT_EQ(first_run(100, none, hundred, duration::from_ms(5)), hundred);
}
// TC-M18
TEST(invoker_share, TC_M18_a_deadline_far_away_leaves_the_throughput) {
    EXPECT_EQ(first_run(10, duration::from_ms(60'000), 20, duration::from_ms(5)), 10u);
}
// TC-M19
TEST(invoker_share, TC_M19_throughput_one_and_no_time_is_one) {
    EXPECT_EQ(first_run(1, duration::zero(), 10, duration::from_ms(1)), 1u);
}
// TC-M20
TEST(invoker_share, TC_M20_no_time_and_a_frozen_clock_is_one) {
    EXPECT_EQ(first_run(2, duration::zero(), 5, duration::zero()), 1u);
}
// TC-M22: the clock is monotonic by contract; a paused one, the nearest to a wall clock set back,
// holds a run up no more than its throughput.
TEST(invoker_share, TC_M22_a_clock_that_stands_still_does_not_end_or_prolong_a_run) {
    EXPECT_EQ(first_run(4, duration::from_ms(10), 12, duration::zero()), 4u);
}
TEST(invoker_share, without_a_clock_only_counts_bound_a_run) {
    EXPECT_EQ(first_run(7, duration::zero(), 12, duration::zero(), false), 7u);
}

TEST(invoker_share, by_default_a_short_batch_is_one_run) {
    const unsigned n = board::roomy ? 300 : 30;
    EXPECT_EQ(first_run({}, none, n, duration::from_ms(5)), n);
    EXPECT_EQ(first_run({}, none, n, duration::zero(), false), n);
}

// The rest needs room for thousands of messages.
TEST(invoker_share, by_default_a_batch_is_one_run_up_to_16384) {
    if constexpr (board::roomy) {
        EXPECT_EQ(first_run({}, none, 5'000, duration::zero()), 5'000u);
        EXPECT_EQ(first_run({}, none, 16'384, duration::zero()), 16'384u);
        EXPECT_EQ(first_run({}, none, 17'000, duration::zero()), 16'384u);
    }
}

// Beyond 300 only while the run has lasted less than a millisecond, looked at every 64 messages.
TEST(invoker_share, by_default_a_slow_run_ends_after_300_and_a_look_at_the_clock) {
    if constexpr (board::roomy) {
        const unsigned slow = first_run({}, none, 5'000, duration::from_ms(1));
        EXPECT_GE(slow, 300u);
        EXPECT_LE(slow, 364u);
        // A microsecond each: a thousand in a millisecond.
        const unsigned steady = first_run({}, none, 5'000, duration::from_ns(1'000));
        EXPECT_GE(steady, 1'000u);
        EXPECT_LE(steady, 1'064u);
    }
}

// What comes during the run does not lengthen it without end: at least 300, the batch at the start.
TEST(invoker_share, by_default_an_actor_that_sends_to_itself_yields_after_300) {
    if constexpr (board::roomy) {
        kernel_rig rig;
        moved = nullptr;
        const mailbox_index a =
            rig.spawn(+[](turn& t, std::uint32_t n) { t.send(t.self(), number{n}); });
        rig.tell(a, {1});
        EXPECT_TRUE(rig.run_once());
        EXPECT_EQ(journal().count(), 300u);
    }
}

// A run also ends when it has sent more than its share.
TEST(invoker_share, by_default_a_run_that_sent_more_than_its_share_ends) {
    if constexpr (board::roomy) {
        kernel_rig rig;
        moved = nullptr;
        const mailbox_index sink = rig.spawn();
        const mailbox_index a = rig.spawn<slow_actor>(slow_actor{100, sink});
        for (unsigned i = 0; i < 50; ++i)
            rig.tell(a, {i});
        handled_count = 0;
        EXPECT_TRUE(rig.run_once());
        EXPECT_EQ(handled_count, 4u);  // 400 sent, more than 300
        EXPECT_TRUE(rig.run_once());   // the other one has its turn
        EXPECT_GE(journal().count(), 300u);
    }
}

// IN-2: a deadline that is further away than 1 ms does not lift the bound of long runs.
TEST(invoker_share, the_millisecond_holds_beside_a_longer_deadline) {
    if (!board::roomy)
        return;
    const duration ms = duration::from_ms(1);
    EXPECT_EQ(first_run({}, duration::from_s(10), 2'000, ms), 300u);
    EXPECT_EQ(first_run({}, duration::from_ms(5), 2'000, ms), 5u);  // the nearer one decides
}

namespace {

/// Asks itself to go on after every message, as a coroutine would.
struct chatty_actor {
    void receive(turn& t, envelope&) {
        ++handled_count;
        moved->advance(duration::from_ms(1));
        (void)t.system().send_system(t.self(), system_kind::continuation);
    }
    void receive_system(turn&, system_message&) {}
};

}  // namespace

// IN-2, SQ-4: continuations use up the share too; the clock is looked at all the same.
TEST(invoker_share, continuations_do_not_hide_the_clock) {
    if (!board::roomy)
        return;
    for (const unsigned queued : {2'000U, 2'001U}) {
        kernel_rig rig;
        moved = &rig.time;
        const mailbox_index a = rig.spawn<chatty_actor>();
        for (unsigned i = 0; i < queued; ++i)
            rig.tell(a, {i});
        handled_count = 0;
        EXPECT_TRUE(rig.run_once());
        EXPECT_LE(handled_count, 300U);
    }
}
