// SPDX-License-Identifier: Apache-2.0
//
// Goal: a delay for code outside actors (SC-13): pending until its time has passed, cancelled by
// its end, and honest about being refused.
// Method: TC-S30 and TC-S31, and each reason there is, in time that the test moves.
#include <tactus/scheduler/pending_delay.hpp>

#include <cstdint>
#include <limits>
#include <optional>

#include "scheduler_rig.hpp"

using tactus::duration;
using tactus::execution_batch;
using tactus::job_mode;
using tactus::pending_delay;
using tactus::scheduler_errc;
using tactus::scheduler_options;
using tactus_test::ms;
using tactus_test::scheduler_rig;

namespace {

struct counting_waker final : tactus::waker {
    int woken = 0;
    void wake() noexcept override { ++woken; }
};

// TC-S30
TEST(pending_delay, SC_13_is_pending_and_after_its_time_ready) {
    scheduler_rig rig;
    const pending_delay rest = rig->delay(ms(1));
    EXPECT_FALSE(rest.poll().has_value());
    EXPECT_EQ(rig->active_count(), 1u);
    rig.jump(1);
    const auto over = rest.poll();
    ASSERT_TRUE(over.has_value() && over->has_value());
    EXPECT_TRUE((**over == execution_batch{1, 0, job_mode::one_shot, rest.job()}));
    EXPECT_NE(rest.job(), 0u);
    EXPECT_EQ(rig->active_count(), 0u);
    EXPECT_EQ(rig->cell_count(), 0u);
}

// SC-13: never early, tick by tick. SC-15: one wake-up, however late.
TEST(pending_delay, SC_15_comes_once_and_not_before_its_time) {
    scheduler_rig rig;
    counting_waker w;
    const pending_delay rest(*rig, ms(5), &w);
    for (int i = 0; i < 4; ++i) {
        rig.jump(1);
        EXPECT_FALSE(rest.poll().has_value());
        EXPECT_EQ(w.woken, 0);
    }
    rig.jump(1'000);
    ASSERT_TRUE(rest.poll().has_value());
    EXPECT_EQ((*rest.poll())->runs, 1u);
    EXPECT_EQ((*rest.poll())->missed_runs, 0u);
    rig.jump(1'000);
    EXPECT_EQ(w.woken, 1);
}

// TC-S31
TEST(pending_delay, SC_13_its_end_cancels_the_timer) {
    scheduler_rig rig;
    counting_waker w;
    {
        const pending_delay rest(*rig, ms(5), &w);
        EXPECT_EQ(rig->active_count(), 1u);
        rig.jump(2);
    }
    EXPECT_EQ(rig->active_count(), 0u);
    EXPECT_EQ(rig->cell_count(), 0u);
    EXPECT_EQ(rig->counted().cancelled, 1u);
    rig.jump(10);
    EXPECT_EQ(w.woken, 0);
}

// SC-13, SC-3: the error is reported; it does not complete instead.
TEST(pending_delay, SC_13_says_why_it_was_refused) {
    scheduler_rig rig;
    counting_waker w;
    const duration too_long = rig->maximum_delay() + duration::from_ns(1);
    for (const duration d : {ms(0), ms(-1), too_long}) {
        const pending_delay rest(*rig, d, &w);
        const auto said = rest.poll();
        ASSERT_TRUE(said.has_value() && !said->has_value());
        EXPECT_EQ(said->error().code, scheduler_errc::invalid_delay);
        EXPECT_EQ(said->error().value, d.ns());
        EXPECT_EQ(rest.job(), 0u);
        rig.jump(1);
        EXPECT_FALSE((*rest.poll()).has_value());
    }
    EXPECT_EQ(w.woken, 0);
    EXPECT_EQ(rig->cell_count(), 0u);
}

// SC-3, SC-26: as the configuration says.
TEST(pending_delay, SC_13_of_zero_may_be_the_next_tick) {
    scheduler_rig rig(
        [](scheduler_options& o) { o.config.zero_delay = tactus::zero_delay_rule::next_tick; });
    const pending_delay rest = rig->delay(ms(0));
    EXPECT_FALSE(rest.poll().has_value());
    rig.jump(1);
    EXPECT_TRUE(rest.poll().has_value() && rest.poll()->has_value());
}

// SC-13, BP-2
TEST(pending_delay, SC_13_counts_against_the_quota) {
    scheduler_rig rig([](scheduler_options& o) { o.config.custom = {1, 0, 1}; });
    std::optional<pending_delay> first;
    first.emplace(*rig, ms(5));
    const pending_delay second = rig->delay(ms(5));
    ASSERT_TRUE(second.poll().has_value());
    EXPECT_EQ(second.poll()->error().code, scheduler_errc::quota_exceeded);
    EXPECT_EQ(second.poll()->error().limit, 1);
    first.reset();
    const pending_delay third = rig->delay(ms(5));
    EXPECT_FALSE(third.poll().has_value());
}

// SC-13, SH-1: a scheduler that closes tells it, and one that has closed refuses.
TEST(pending_delay, SC_13_says_that_the_scheduler_was_closed) {
    scheduler_rig rig;
    counting_waker w;
    const pending_delay before(*rig, ms(5), &w);
    EXPECT_TRUE(rig->close());
    ASSERT_TRUE(before.poll().has_value());
    EXPECT_EQ(before.poll()->error().code, scheduler_errc::closed);
    EXPECT_EQ(w.woken, 1);
    const pending_delay after = rig->delay(ms(5));
    ASSERT_TRUE(after.poll().has_value());
    EXPECT_EQ(after.poll()->error().code, scheduler_errc::closed);
    rig.jump(10);
    EXPECT_FALSE((*before.poll()).has_value());
    EXPECT_EQ(rig->active_count(), 0u);
    EXPECT_EQ(rig->cell_count(), 0u);
}

}  // namespace
