// SPDX-License-Identifier: Apache-2.0
//
// Goal: the whole scheduler in the profile of a device, on the host and on boards (PT-4): filled to
// its quota, refused beyond it, periodic, cancelled, under pressure, closed; and nothing is taken
// from anywhere once it is made (PT-3, BP-1).
// Method: all memory of the rig refuses from the moment the test begins. The heap of a board is
// closed: who asks it ends the image. Where 64 timers have no room it is an eighth of the profile
// (PT-9), and every count below follows from it.
#include <tactus/scheduler/scheduler.hpp>

#include <cstdint>

#include "scheduler_rig.hpp"

using tactus::backpressure_cause;
using tactus::backpressure_state;
using tactus::cancellable;
using tactus::capacity_of;
using tactus::close_priority;
using tactus::close_report;
using tactus::duration;
using tactus::execution_batch;
using tactus::job_end;
using tactus::job_request;
using tactus::job_state;
using tactus::scheduler_capacity;
using tactus::scheduler_errc;
using tactus::scheduler_profile;
using tactus::scheduler_warning_kind;
using tactus::timer_priority;
using tactus_test::board;
using tactus_test::journal;
using tactus_test::ms;
using tactus_test::number;
using tactus_test::served_rig;

namespace {

constexpr duration far = duration::from_s(2 * 24 * 3'600);

constexpr scheduler_capacity micro = capacity_of(scheduler_profile::micro);
constexpr scheduler_capacity room = board::roomy ? micro : scheduler_capacity{8, 2, 1};
static_assert(micro == scheduler_capacity{64, 16, 8});
static_assert(board::roomy ||
              micro == scheduler_capacity{8 * room.timers, 8 * room.overflow, 8 * room.tasks});

struct micro_rig : served_rig {
    micro_rig() noexcept
        : served_rig(
              [](tactus::scheduler_options& o) {
                  o.config.profile =
                      board::roomy ? scheduler_profile::micro : scheduler_profile::custom;
                  o.config.custom = room;
                  o.config.catch_up = ms(5);
              },
              room.tasks) {
        for (memory_type* m : {&large, &kernel.memory, &services_memory})
            m->refusing = true;
    }
    ~micro_rig() { EXPECT_EQ(large.refused + kernel.memory.refused + services_memory.refused, 0u); }
    [[nodiscard]] auto once(duration delay, timer_priority priority, std::uint32_t n) noexcept {
        return (*this)->add(job_request::once(delay, priority).send(who, {}), number{n});
    }
    /// So many that are due in turn, a millisecond after the one before.
    void fill(std::uint32_t count) noexcept {
        for (std::uint32_t i = 0; i < count; ++i)
            ASSERT_TRUE(once(ms(i + 1), timer_priority::normal, i).has_value());
    }
    /// The next look finds a deadline that is so late.
    void fall_behind(std::uint32_t ticks) noexcept {
        ASSERT_TRUE(once(ms(1), timer_priority::high, 0).has_value());
        jump(ticks + 1);
    }
    [[nodiscard]] backpressure_state state() noexcept { return (*this)->pressure_now().state; }

    tactus::mailbox_index who = spawn();
};

// SC-7, BP-1
TEST(micro_profile, SC_7_says_what_it_can) {
    micro_rig rig;
    const auto can = rig->capabilities();
    EXPECT_TRUE(can.max_frequency_hz == 1'000.0);
    EXPECT_EQ(can.min_delay_ticks, 1u);
    EXPECT_EQ(can.tick_resolution, ms(1));
    EXPECT_TRUE(can.fixed_rate && can.fixed_delay);
    EXPECT_EQ(rig->metrics().quota, room.timers);
}

// PT-4, BP-1, BP-2: exact at the quota; free again after a cancel and after a delivery.
TEST(micro_profile, PT_4_BP_2_is_filled_to_its_quota_and_refuses) {
    micro_rig rig;
    rig.fill(room.timers - 1);
    auto last = rig.once(ms(room.timers), timer_priority::low, room.timers - 1);
    ASSERT_TRUE(last.has_value());
    EXPECT_EQ(rig->active_count(), room.timers);
    for (unsigned i = 0; i < 2; ++i) {
        const auto refused = rig.once(ms(1), timer_priority::high, 99);
        ASSERT_FALSE(refused.has_value());
        EXPECT_EQ(refused.error().code, scheduler_errc::quota_exceeded);
        EXPECT_EQ(refused.error().limit, room.timers);
    }
    EXPECT_EQ(rig.warnings.of(scheduler_warning_kind::quota_reached), 1u);
    EXPECT_TRUE(last->cancel());
    EXPECT_TRUE(rig.once(ms(room.timers), timer_priority::low, room.timers - 1).has_value());
    EXPECT_FALSE(rig.once(ms(1), timer_priority::high, 99).has_value());
    // All come, in order and none early.
    for (std::uint32_t i = 0; i < room.timers; ++i) {
        EXPECT_EQ(journal().count(), i);
        rig.jump(1);
        ASSERT_EQ(journal().count(), i + 1);
        EXPECT_EQ(journal().at(i), i);
    }
    EXPECT_EQ(rig->active_count(), 0u);
    EXPECT_EQ(rig->cell_count(), 0u);
    rig.fill(room.timers);
    EXPECT_EQ(rig->active_count(), room.timers);
}

// PT-4, CN-1, CN-3: a thousand in turn, and whatever was cancelled leaves nothing behind.
TEST(micro_profile, PT_4_CN_3_cancelled_timers_leave_nothing) {
    micro_rig rig;
    for (unsigned i = 0; i < 1'000; ++i) {
        const auto made = rig.once(i % 8 == 0 ? far : ms(1 + i % 700), timer_priority::normal, 1);
        ASSERT_TRUE(made.has_value());
        cancellable c = *made;
        ASSERT_TRUE(c.cancel());
        ASSERT_FALSE(c.cancel());
        EXPECT_TRUE(c.is_cancelled());
    }
    EXPECT_EQ(rig->active_count(), 0u);
    EXPECT_EQ(rig->cell_count(), 0u);
    EXPECT_EQ(rig->metrics().overflow, 0u);
    rig.jump(1'000);
    EXPECT_TRUE(journal().is({}));
}

// PT-4, SC-1, SC-20, SC-24, CN-6
TEST(micro_profile, PT_4_SC_20_is_periodic_and_folds_what_was_missed) {
    micro_rig rig;
    unsigned runs = 0;
    unsigned missed = 0;
    auto rate = rig->schedule_at_fixed_rate_fn(ms(2), ms(2), [&](const execution_batch& b) {
        runs += b.runs;
        missed += b.missed_runs;
    });
    auto delay = rig->schedule_with_fixed_delay(ms(3), ms(3), rig.who, number{3});
    ASSERT_TRUE(rate && delay);
    rig.pass(6);
    EXPECT_EQ(runs, 3u);
    EXPECT_EQ(missed, 0u);
    EXPECT_TRUE(journal().is({3, 3}));
    rig.jump(6);  // one delivery of the rate stands for three; the delay misses nothing
    EXPECT_EQ(runs, 6u);
    EXPECT_EQ(missed, 2u);
    EXPECT_TRUE(journal().is({3}));
    EXPECT_TRUE(rate->cancel());
    EXPECT_TRUE(delay->cancel());
    rig.pass(10);
    EXPECT_EQ(runs, 6u);
    EXPECT_TRUE(journal().is({}));
    EXPECT_EQ(rig->cell_count(), 0u);
}

// PT-4, BP-6, BP-7
TEST(micro_profile, PT_4_BP_7_has_so_many_far_away) {
    micro_rig rig;
    cancellable newest;
    for (std::uint32_t i = 0; i < room.overflow; ++i) {
        const auto made = rig.once(far, timer_priority::low, i);
        ASSERT_TRUE(made.has_value());
        newest = *made;
    }
    EXPECT_EQ(rig.warnings.of(scheduler_warning_kind::overflow_near_capacity), 1u);
    const auto lowest = rig.once(far, timer_priority::low, 90);
    ASSERT_FALSE(lowest.has_value());
    EXPECT_EQ(lowest.error().code, scheduler_errc::capacity_exceeded);
    ASSERT_TRUE(rig.once(far, timer_priority::normal, 91).has_value());
    EXPECT_EQ(newest.end(), job_end::dropped);
    rig.time.advance(far);
    rig.run();
    EXPECT_EQ(journal().count(), room.overflow);
    EXPECT_EQ(rig->active_count(), 0u);
}

// PT-4, BP-3, BP-4, BP-9
TEST(micro_profile, PT_4_BP_3_is_under_pressure_and_recovers) {
    micro_rig rig;
    rig.fall_behind(6);
    EXPECT_EQ(rig.state(), backpressure_state::backpressure);
    const auto refused = rig.once(ms(100), timer_priority::normal, 1);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, scheduler_errc::backpressured);
    EXPECT_EQ(refused.error().cause, backpressure_cause::driver);
    for (std::uint32_t i = 0; i < room.timers / 2; ++i)
        ASSERT_TRUE(rig.once(ms(100), timer_priority::high, 2).has_value());
    const auto beyond = rig.once(ms(100), timer_priority::high, 3);
    ASSERT_FALSE(beyond.has_value());
    EXPECT_EQ(beyond.error().cause, backpressure_cause::adaptive_quota);
    EXPECT_EQ(rig.state(), backpressure_state::rejecting);
    journal().clear();
    rig.pass(100);  // what was accepted comes
    EXPECT_EQ(journal().count(), room.timers / 2);
    rig.pass(7);
    EXPECT_TRUE(rig.once(ms(1), timer_priority::low, 4).has_value());
    EXPECT_EQ(rig.state(), backpressure_state::normal);
}

// PT-4, SH-1, SH-2, SH-4
TEST(micro_profile, PT_4_SH_1_closes) {
    micro_rig rig;
    rig.fill(room.timers);
    auto handle = rig->schedule_once(ms(1), rig.who, number{1});
    EXPECT_FALSE(handle.has_value());
    for (std::uint32_t i = 0; i < room.tasks; ++i)
        ASSERT_TRUE(
            rig->register_on_close([] { journal().add(100); }, close_priority::user).has_value());
    const auto beyond = rig->register_on_close([] {}, close_priority::system_critical);
    ASSERT_FALSE(beyond.has_value());
    EXPECT_EQ(beyond.error().code, scheduler_errc::task_run_capacity_exceeded);
    rig.time.advance(ms(2));  // two are due, and nobody looked
    const close_report report = rig->shutdown();
    EXPECT_EQ(report.succeeded, room.tasks);
    EXPECT_EQ(journal().count(), room.tasks);
    rig.run();
    EXPECT_EQ(journal().count(), room.tasks + 2);
    EXPECT_EQ(rig->active_count(), 0u);
    EXPECT_EQ(rig->cell_count(), 0u);
    const auto late = rig->schedule_once(ms(1), rig.who, number{1});
    ASSERT_FALSE(late.has_value());
    EXPECT_EQ(late.error().code, scheduler_errc::closed);
    EXPECT_TRUE(rig->shutdown().empty());
}

}  // namespace
