// SPDX-License-Identifier: Apache-2.0
//
// Goal: defects that were found once do not come back.
// Method: each as small as it was found; those about freed memory need a sanitizer to be seen.
#include <tactus/scheduler/scheduler.hpp>

#include <array>
#include <cstdint>

#include "scheduler_rig.hpp"

using tactus::cancellable;
using tactus::duration;
using tactus::execution_batch;
using tactus_test::board;
using tactus_test::journal;
using tactus_test::ms;
using tactus_test::number;
using tactus_test::scheduler_rig;

namespace {

/// What a closure may hold: it knows when it is gone.
template <std::size_t Size>
struct held {
    held() noexcept { bytes.fill(7); }
    held(const held& other) noexcept : bytes(other.bytes) { ++alive; }
    held& operator=(const held&) = delete;
    ~held() {
        bytes.fill(0);
        --alive;
    }
    [[nodiscard]] bool is_whole() const noexcept { return bytes.front() == 7 && bytes.back() == 7; }
    std::array<char, Size> bytes;
    static inline int alive = 1;  // the first
};

// CN-6, CN-2: a function that cancels its own job uses what it holds until it returns.
TEST(scheduler_regression, a_function_that_cancels_itself_keeps_what_it_holds) {
    scheduler_rig rig;
    static cancellable self;
    held<16> string;
    auto made = rig->schedule_at_fixed_rate_fn(ms(1), ms(1), [string](const execution_batch&) {
        journal().add(self.cancel() ? 1 : 0);
        journal().add(string.is_whole() ? 2 : 0);
    });
    ASSERT_TRUE(made.has_value());
    self = *made;
    rig.pass(5);
    EXPECT_TRUE(journal().is({1, 2}));
    EXPECT_EQ(held<16>::alive, 1);
    EXPECT_EQ(rig->cell_count(), 0u);
}

// CN-4, CN-3: one that is larger than its cell is cancelled while its task waits.
TEST(scheduler_regression, a_large_function_is_cancelled_while_its_task_waits) {
    scheduler_rig rig;
    held<96> large;
    auto made = rig->schedule_at_fixed_rate_fn(
        ms(1), ms(1), [large](const execution_batch&) { journal().add(large.is_whole() ? 1 : 0); });
    ASSERT_TRUE(made.has_value());
    rig.time.advance(ms(1));
    rig->run_due(rig.time.now());
    EXPECT_TRUE(made->cancel());
    EXPECT_EQ(rig.large.live_blocks, 1u);  // the task, which lies in it, still waits
    rig.run();
    EXPECT_TRUE(journal().is({}));
    EXPECT_EQ(held<96>::alive, 1);
    EXPECT_EQ(rig.large.live_blocks, 0u);
    EXPECT_EQ(rig.large.wrong_releases, 0u);
    EXPECT_EQ(rig->cell_count(), 0u);
}

class cancelling_waker final : public tactus::waker {
public:
    void wake() noexcept override {
        ++woken;
        did = which.cancel();
    }
    cancellable which;
    bool did = true;
    unsigned woken = 0;
};

// CN-1: who is woken may cancel its own timer; it is too late, and says so.
TEST(scheduler_regression, who_is_woken_may_cancel_its_own_timer) {
    scheduler_rig rig;
    cancelling_waker one;
    one.which = *rig->schedule_wake(ms(1), one);
    rig.pass(2);
    EXPECT_EQ(one.woken, 1u);
    EXPECT_FALSE(one.did);
    EXPECT_TRUE(one.which.is_completed());
    EXPECT_EQ(rig->cell_count(), 0u);
}

// CN-2: or that of another which is due in the same batch: that one is not woken any more.
TEST(scheduler_regression, who_is_woken_may_cancel_the_next) {
    scheduler_rig rig;
    cancelling_waker first;
    cancelling_waker second;
    (void)rig->schedule_wake(ms(1), first);
    first.which = *rig->schedule_wake(ms(1), second);
    rig.pass(2);
    EXPECT_EQ(first.woken, 1u);
    EXPECT_TRUE(first.did);
    EXPECT_EQ(second.woken, 0u);
    EXPECT_EQ(rig->cell_count(), 0u);
}

// BP-2: copies that nobody handles take no timer's place.
TEST(scheduler_regression, messages_that_wait_keep_nobody_from_registering) {
    scheduler_rig rig([](tactus::scheduler_options& o) { o.config.custom = {4, 0, 1}; });
    const auto who = rig.spawn();
    ASSERT_TRUE(rig->schedule_at_fixed_rate(ms(1), ms(1), who, number{1}).has_value());
    constexpr unsigned periods = board::roomy ? 100 : 12;
    for (unsigned i = 0; i < periods; ++i) {
        rig.time.advance(ms(1));
        rig->run_due(rig.time.now());
    }
    cancellable made[3];
    for (cancellable& m : made) {
        const auto one = rig->schedule_once(ms(1'000), who, number{2});
        ASSERT_TRUE(one.has_value());
        m = *one;
    }
    EXPECT_FALSE(rig->schedule_once(ms(1'000), who, number{2}).has_value());
    rig.run();
    EXPECT_EQ(journal().count(), periods);
}

// SC-20, SC-21: periods shorter than a tick: none is lost, none is counted twice.
TEST(scheduler_regression, SC_20_periods_shorter_than_a_tick_are_folded) {
    scheduler_rig rig;
    static std::uint32_t runs;
    static unsigned batches;
    runs = 0;
    batches = 0;
    const auto us = [](std::int64_t n) { return duration::from_us(n); };
    ASSERT_TRUE(rig->add_function({.mode = tactus::job_mode::fixed_rate,
                                   .first = us(300),
                                   .period = us(300),
                                   .backlog_limit = 8,
                                   .burst_threshold = 8},
                                  [](const execution_batch& b) {
                                      runs += b.runs;
                                      ++batches;
                                  })
                    .has_value());
    for (unsigned tick = 1; tick <= 10; ++tick) {
        rig.time.advance(ms(1));
        rig.run();
        rig.run();  // within the tick
        EXPECT_EQ(runs, tick * 1'000 / 300);
    }
    EXPECT_EQ(batches, 10u);
    EXPECT_EQ(rig.warnings.count, 0u);
    EXPECT_EQ(rig->active_count(), 1u);
}

}  // namespace
