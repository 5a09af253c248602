// SPDX-License-Identifier: Apache-2.0
//
// Goal: what can be counted for years goes on beyond 32 bits (TS-5): what a scheduler has done, the
// order of registration, and time itself.
// Method: nobody counts so far in a test, so counters are set to where they would come round next;
// time is moved beyond 2^32 ticks.
#include <tactus/scheduler/scheduler.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "scheduler_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::far_away;
using tactus_test::journal;
using tactus_test::ms;
using tactus_test::number;
using tactus_test::served_rig;

namespace {

constexpr std::uint64_t last = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t next = last + 1;

using state = detail::scheduler_state;
using state_reference = state&;

/// Opens what is protected there: an explicit instantiation may name it.
template <auto Member, class Tag>
struct opens {
    friend constexpr auto member(Tag) noexcept { return Member; }
};
struct counts_tag {
    friend constexpr auto member(counts_tag) noexcept;
};
struct rejected_tag {
    friend constexpr auto member(rejected_tag) noexcept;
};
struct catch_ups_tag {
    friend constexpr auto member(catch_ups_tag) noexcept;
};
struct sequence_tag {
    friend constexpr auto member(sequence_tag) noexcept;
};
struct fired_tag {
    friend constexpr auto member(fired_tag) noexcept;
};
struct missed_tag {
    friend constexpr auto member(missed_tag) noexcept;
};
struct dropped_tag {
    friend constexpr auto member(dropped_tag) noexcept;
};
template struct opens<&state::counts_, counts_tag>;
template struct opens<&state::rejected_, rejected_tag>;
template struct opens<&state::catch_ups_, catch_ups_tag>;
template struct opens<&state::sequence_, sequence_tag>;
template struct opens<&state::fired_, fired_tag>;
template struct opens<&state::missed_, missed_tag>;
template struct opens<&state::dropped_, dropped_tag>;

template <class Tag>
auto& opened(scheduler& of, Tag tag) {
    return state_reference(of).*member(tag);  // this cast may name a base that is private
}

/// One of each kind: handled, cancelled, dropped, refused, missed; and a catch-up.
void do_one_of_each(served_rig& rig) {
    const auto who = rig.spawn();
    const auto gone = rig.spawn();
    auto cancelled = rig->schedule_once(ms(9), who, number{1});
    ASSERT_TRUE(cancelled.has_value());
    EXPECT_TRUE(cancelled->cancel());
    ASSERT_TRUE(rig->schedule_once(ms(1), gone, number{2}).has_value());
    rig.time.advance(ms(1));
    rig->run_due(rig.time.now());
    (void)rig.kernel->stop(gone);
    rig.run();
    auto rate = rig->schedule_at_fixed_rate(ms(1), ms(30), who, number{3});
    ASSERT_TRUE(rate.has_value());
    rig.jump(31);  // late by most of the window
    EXPECT_TRUE(rate->cancel());
    ASSERT_TRUE(rig->schedule_once(far_away, who, number{4}).has_value());
    EXPECT_FALSE(rig->schedule_once(far_away, who, number{5}).has_value());
}

}  // namespace

// TS-5, BP-8: each count of the scheduler has 64 bits, wherever it is shown.
TEST(years, TS_5_counts_go_on_beyond_32_bits) {
    served_rig rig([](scheduler_options& o) { o.config.custom = {8, 1, 1}; });
    opened(*rig, counts_tag{}) = {.registered = last,
                                  .fired = last,
                                  .missed = last,
                                  .cancelled = last,
                                  .dropped = last,
                                  .commands_left = last};
    for (auto& n : opened(*rig, rejected_tag{}))
        n = last;
    opened(*rig, catch_ups_tag{}) = last;
    do_one_of_each(rig);
    const scheduler::counts counted = rig->counted();
    EXPECT_EQ(counted.registered, last + 4);
    EXPECT_EQ(counted.fired, last + 2);
    EXPECT_EQ(counted.missed, last + 1);
    EXPECT_EQ(counted.cancelled, last + 2);
    EXPECT_EQ(counted.dropped, last + 1);
    const scheduler_metrics m = rig->metrics();
    EXPECT_EQ(m.fired, last + 2);
    EXPECT_EQ(m.missed, last + 1);
    EXPECT_EQ(m.cancelled, last + 2);
    EXPECT_EQ(m.dropped, last + 1);
    EXPECT_EQ(m.drift_compensations, last + 1);
    EXPECT_EQ(m.rejected[static_cast<std::size_t>(scheduler_errc::capacity_exceeded)], last + 1);
    EXPECT_EQ(m.rejected_total(), scheduler_errc_count * last + 1);
    journal().clear();
}

// TS-5: what is counted beside the lock has 32 bits, which are folded whenever somebody fires or
// looks: they need not last for longer.
TEST(years, TS_5_what_is_counted_beside_the_lock_is_folded_in_time) {
    served_rig rig;
    const auto who = rig.spawn();
    ASSERT_TRUE(rig->schedule_at_fixed_rate(ms(1), ms(1), who, number{1}).has_value());
    for (std::uint64_t turn = 1; turn <= 3; ++turn) {
        opened(*rig, fired_tag{}).store(last, std::memory_order_relaxed);
        opened(*rig, dropped_tag{}).store(last, std::memory_order_relaxed);
        opened(*rig, missed_tag{}).store(0, std::memory_order_relaxed);
        rig->count_missed(last);
        rig.pass(1);
        rig->count_missed(1);
        EXPECT_EQ(rig->counted().fired, turn * next);
        EXPECT_EQ(rig->counted().missed, turn * next);
        EXPECT_EQ(rig->counted().dropped, turn * last);
    }
    journal().clear();
}

// TS-5, SC-8, SH-1: the order of registration, too, is that of 64 bits.
TEST(years, TS_5_the_order_of_registration_goes_on_beyond_32_bits) {
    served_rig rig;
    const auto who = rig.spawn();
    ASSERT_TRUE(rig->enable_deterministic_log(32).has_value());
    opened(*rig, sequence_tag{}) = last - 3;
    std::vector<job_id> made;
    for (std::uint32_t i = 0; i < 8; ++i) {
        const auto m = rig->schedule_once(far_away, who, number{i});
        ASSERT_TRUE(m.has_value());
        made.push_back(m->id());
    }
    (void)rig->shutdown();
    rig->read_log([&](const recorded_log& log) {
        ASSERT_EQ(log.records().size(), 16u);
        for (std::size_t i = 0; i < 8; ++i) {
            EXPECT_EQ(log.records()[8 + i].kind, diagnostic_kind::cancel);
            EXPECT_EQ(log.records()[8 + i].job, made[i]);
        }
    });
}

// TS-5, SC-1, SC-30: with 1 ms per tick these are 49.7 days, and twice that.
TEST(years, TS_5_timers_come_on_time_beyond_32_bits_of_ticks) {
    for (const std::uint64_t from : {next, 2 * next}) {
        served_rig rig;
        const auto who = rig.spawn();
        ASSERT_TRUE(rig->enable_deterministic_log(64).has_value());
        rig.jump(from - 3);
        ASSERT_TRUE(rig->schedule_at_fixed_rate(ms(1), ms(1), who, number{1}).has_value());
        ASSERT_TRUE(rig->schedule_once(ms(5), who, number{2}).has_value());
        ASSERT_TRUE(rig->schedule_with_fixed_delay(ms(2), ms(2), who, number{3}).has_value());
        rig.pass(6);
        EXPECT_TRUE(journal().is({1, 3, 1, 1, 3, 1, 2, 1, 3, 1}));
        rig->read_log([&](const recorded_log& log) {
            for (const diagnostic& d : log.records()) {
                EXPECT_EQ(d.at, d.kind == diagnostic_kind::fire ? d.deadline : from - 3);
                EXPECT_GE(d.at, from - 3);
            }
        });
        EXPECT_EQ(rig->counted().missed, 0u);
        EXPECT_EQ(rig.warnings.count, 0u);
        EXPECT_EQ(rig->pressure_now().state, backpressure_state::normal);
    }
}
