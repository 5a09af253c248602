// SPDX-License-Identifier: Apache-2.0
//
// Goal: a message on its way names its job, and keeps nothing of it: what a cancelled job had is
// free at once, however many of its messages wait, and what waits is still withdrawn (BP-2, CN-3,
// CN-4, CN-7, BT-2).
// Method: profiles of few timers; what is due is sent and waits, and others are registered after a
// cancel, until every cell has been somebody else's.
#include <tactus/scheduler/scheduler.hpp>

#include <cstdint>

#include "scheduler_rig.hpp"

using tactus::duration;
using tactus::job_mode;
using tactus::job_request;
using tactus::job_state;
using tactus_test::board;
using tactus_test::dead;
using tactus_test::journal;
using tactus_test::number;
using tactus_test::served_rig;

namespace {

constexpr duration ms(std::int64_t n) {
    return duration::from_ms(n);
}

/// More than a quota of 1 has cells for.
constexpr unsigned many = board::roomy ? 60 : 12;

struct flight_rig : served_rig {
    explicit flight_rig(std::uint32_t quota = 1) noexcept
        : served_rig([&](tactus::scheduler_options& o) { o.config.custom = {quota, 0, 1}; }) {}
    /// What is due is sent, and nobody handles it.
    void send(unsigned ticks) noexcept {
        for (unsigned i = 0; i < ticks; ++i) {
            time.advance(ms(1));
            (*this)->run_due(time.now());
        }
    }
    /// Sends a number every tick.
    [[nodiscard]] auto repeat(job_mode mode, tactus::mailbox_index who, std::uint32_t what,
                              bool after_sent = false) noexcept {
        return (*this)->add(job_request{.mode = mode,
                                        .first = ms(1),
                                        .period = ms(1),
                                        .to = who,
                                        .backlog_limit = 8,
                                        .burst_threshold = 2,
                                        .after_sent = after_sent},
                            number{what});
    }
    /// CN-8: what was registered and cancelled, and runs that were sent and not handled.
    [[nodiscard]] bool counts_are(std::uint64_t registered, std::uint64_t cancelled,
                                  std::uint64_t fired, std::uint64_t dropped) noexcept {
        const auto c = (*this)->counted();
        return c.registered == registered && c.cancelled == cancelled && c.fired == fired &&
               c.dropped == dropped;
    }
};

/// With every cell that may be used for messages in use, a cancel makes room for another.
void a_cancelled_one_gives_its_place(job_mode mode, bool after_sent) {
    flight_rig rig;
    const auto who = rig.spawn();
    auto job = rig.repeat(mode, who, 1, after_sent);
    ASSERT_TRUE(job.has_value());
    rig.send(many);
    EXPECT_FALSE(rig->schedule_once(ms(1), who, number{2}).has_value());  // BP-2
    EXPECT_TRUE(job->cancel());
    EXPECT_EQ(rig->active_count(), 0u);
    const auto next = rig->schedule_once(ms(1), who, number{2});
    ASSERT_TRUE(next.has_value());
    EXPECT_TRUE(rig.counts_are(2, 1, many, 0));
    rig.send(1);
    rig.run();
    EXPECT_TRUE(journal().is({2}));  // CN-4
    EXPECT_TRUE(rig.counts_are(2, 1, many + 1, many));
    EXPECT_EQ(rig->cell_count(), 0u);
}

TEST(flights, BP_2_a_cancelled_rate_gives_its_place_though_its_messages_wait) {
    a_cancelled_one_gives_its_place(job_mode::fixed_rate, false);
}
// SC-26
TEST(flights, BP_2_so_does_a_delay_that_counts_from_the_sending) {
    a_cancelled_one_gives_its_place(job_mode::fixed_delay, true);
}

/// One after the other is registered, sent and cancelled; none is handled.
void each_cancelled_one_gives_its_place(job_mode mode) {
    flight_rig rig;
    const auto who = rig.spawn();
    for (unsigned i = 0; i < many; ++i) {
        auto job = rig.repeat(mode, who, 1);
        ASSERT_TRUE(job.has_value());
        rig.send(1);
        EXPECT_EQ(job->state(),
                  mode == job_mode::fixed_rate ? job_state::scheduled : job_state::executing);
        EXPECT_TRUE(job->cancel());
        EXPECT_TRUE(job->is_cancelled());
        EXPECT_FALSE(job->cancel());
    }
    EXPECT_TRUE(rig.counts_are(many, many, many, 0));
    rig.run();
    EXPECT_EQ(journal().count(), 0u);  // CN-2
    EXPECT_TRUE(rig.counts_are(many, many, many, many));
    EXPECT_EQ(rig->active_count(), 0u);
    EXPECT_EQ(rig->cell_count(), 0u);
}

TEST(flights, BP_2_each_rate_that_is_cancelled_gives_its_place) {
    each_cancelled_one_gives_its_place(job_mode::fixed_rate);
}
// SC-24, CN-3: its message is all that is left of it.
TEST(flights, BP_2_each_delay_that_is_cancelled_gives_its_place) {
    each_cancelled_one_gives_its_place(job_mode::fixed_delay);
}

tactus::cancellable* has_the_cell = nullptr;
job_state state_then = job_state::completed;

// CN-4, CN-7, BT-2: the end of an old message is nothing to the job that has the cell now.
TEST(flights, CN_7_a_late_message_of_a_cancelled_delay_arms_nobody_elses) {
    flight_rig rig(2);
    const auto who = rig.spawn();
    const auto other = rig.spawn([](tactus::turn&, std::uint32_t) {
        state_then = has_the_cell->state().value_or(job_state::pending);
    });
    auto old = rig.repeat(job_mode::fixed_delay, who, 1);
    ASSERT_TRUE(old.has_value());
    rig.send(1);
    EXPECT_TRUE(old->cancel());
    // In the cell of the one before, and on its way.
    auto next = rig.repeat(job_mode::fixed_delay, other, 2);
    ASSERT_TRUE(next.has_value());
    EXPECT_EQ(static_cast<std::uint32_t>(next->id()), static_cast<std::uint32_t>(old->id()));
    rig.send(1);
    EXPECT_EQ(next->state(), job_state::executing);
    has_the_cell = &*next;
    EXPECT_TRUE(rig.kernel->stop(who));  // its message is lost with it, before the other is handled
    rig.run();
    EXPECT_EQ(state_then, job_state::executing);
    EXPECT_TRUE(next->cancel());
    EXPECT_TRUE(rig.counts_are(2, 2, 2, 1));
    EXPECT_EQ(rig->active_count(), 0u);
    EXPECT_EQ(rig->cell_count(), 0u);
}

tactus::cancellable* cancelled_by_itself = nullptr;
unsigned cells_then = 0;
unsigned active_then = 0;
flight_rig* looked_at = nullptr;

// CN-6: within its own handler, where its message is.
TEST(flights, CN_6_a_delay_that_cancels_itself_is_gone_at_once) {
    flight_rig rig;
    looked_at = &rig;
    const auto who = rig.spawn([](tactus::turn&, std::uint32_t) {
        if (!cancelled_by_itself->cancel())
            return;
        active_then = (*looked_at)->active_count();
        cells_then = (*looked_at)->cell_count();
    });
    auto job = rig.repeat(job_mode::fixed_delay, who, 1);
    ASSERT_TRUE(job.has_value());
    cancelled_by_itself = &*job;
    rig.pass(4);
    EXPECT_TRUE(journal().is({1}));
    EXPECT_EQ(active_then, 0u);
    // Its message's; on a device that goes alone.
    EXPECT_EQ(cells_then, tactus::port::has_interrupts ? 0u : 1u);
    EXPECT_TRUE(rig.counts_are(1, 1, 1, 0));
    EXPECT_EQ(rig->cell_count(), 0u);
}

// SH-1: closed while its message waits; nothing of it is left then but that.
TEST(flights, SH_1_a_delay_whose_message_waits_is_gone_when_it_closes) {
    flight_rig rig(2);
    const auto who = rig.spawn();
    const auto job = rig.repeat(job_mode::fixed_delay, who, 1);
    ASSERT_TRUE(job.has_value());
    rig.send(1);
    const unsigned before = rig->cell_count();
    EXPECT_TRUE(rig->close());
    EXPECT_EQ(rig->active_count(), 0u);
    EXPECT_EQ(rig->cell_count(), before - 1);
    EXPECT_EQ(job->end(), tactus::job_end::closed);
    rig.run();
    EXPECT_EQ(journal().count(), 0u);
    EXPECT_TRUE(rig.counts_are(1, 1, 1, 1));
    EXPECT_EQ(rig->cell_count(), 0u);
}

// CN table: of what is not cancelled everything is handled.
TEST(flights, CN_4_what_is_not_cancelled_is_handled) {
    flight_rig rig(2);
    const auto who = rig.spawn();
    auto withdrawn = rig.repeat(job_mode::fixed_rate, who, 1);
    const auto kept = rig.repeat(job_mode::fixed_rate, who, 2);
    ASSERT_TRUE(withdrawn && kept);
    rig.send(many / 4);
    EXPECT_TRUE(withdrawn->cancel());
    rig.run();
    EXPECT_EQ(journal().count(), many / 4);
    for (unsigned i = 0; i < journal().count(); ++i)
        EXPECT_EQ(journal().at(i), 2);
    EXPECT_TRUE(rig.counts_are(2, 1, many / 4 * 2, many / 4));
    journal().clear();
}

// BP-2, SC-10: a function that waits has one cell, its own, cancelled or not: its dispatcher's
// queue is linked through it, and what it captures lies there.
TEST(flights, BP_2_a_cancelled_function_that_waits_keeps_one_cell) {
    flight_rig rig(4);
    unsigned runs = 0;
    auto job = rig->add_function(job_request{.mode = job_mode::fixed_rate,
                                             .first = ms(1),
                                             .period = ms(1),
                                             .backlog_limit = 100,
                                             .burst_threshold = 100},
                                 [&runs](const tactus::execution_batch& b) { runs += b.runs; });
    ASSERT_TRUE(job.has_value());
    rig.send(many);
    EXPECT_EQ(rig->cell_count(), 1u);
    EXPECT_TRUE(job->cancel());
    EXPECT_EQ(rig->active_count(), 0u);
    EXPECT_EQ(rig->cell_count(), 1u);
    EXPECT_TRUE(rig->schedule_once(ms(1), rig.spawn(), number{2}).has_value());
    rig.run();
    EXPECT_EQ(runs, 0u);
    EXPECT_EQ(rig->cell_count(), 1u);
    rig.pass(1);
    EXPECT_TRUE(journal().is({2}));
    EXPECT_TRUE(rig.counts_are(2, 1, 1, 0));
    EXPECT_EQ(rig->cell_count(), 0u);
}

// BP-2, BP-10: so many may wait; beyond that there is no room, and that is said.
TEST(flights, BP_2_functions_that_wait_are_bounded_by_the_cells) {
    constexpr std::uint32_t quota = 4;
    flight_rig rig(quota);
    unsigned runs = 0;
    unsigned waiting = 0;
    for (; waiting < 100; ++waiting) {
        const auto made = rig->schedule_once_fn(
            ms(1), [&runs](const tactus::execution_batch& b) { runs += b.runs; });
        if (!made) {
            EXPECT_EQ(made.error().code, tactus::scheduler_errc::capacity_exceeded);
            break;
        }
        rig.send(1);
        EXPECT_EQ(rig->active_count(), 0u);
    }
    EXPECT_EQ(waiting, tactus::scheduler::cells_for(quota));
    rig.run();
    EXPECT_EQ(runs, waiting);
    EXPECT_EQ(rig->cell_count(), 0u);
    EXPECT_TRUE(rig->schedule_once(ms(1), rig.spawn(), number{2}).has_value());
}

}  // namespace
