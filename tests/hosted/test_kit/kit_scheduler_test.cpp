// SPDX-License-Identifier: Apache-2.0
//
// Goal: the scheduler of a kit is that of a system: what it warns of is told (EV-1, SC-21), its
// services are there (SD-2, SC-5, BP-5, SH-2), and it is configured as one (SC-37, SC-26).
#include <tactus/test_kit/kit.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <tactus/actor/system_events.hpp>
#include <tactus/scheduler/scheduler_defaults.hpp>

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;

namespace {

struct beat {};
class counts_beats : public actor<beat> {
public:
    explicit counts_beats(std::vector<std::uint32_t>* to) : runs_(to) {}
    void on(beat) {
        const auto batch = context().scheduler_batch();
        runs_->push_back(batch ? batch->runs : 0);
    }

private:
    std::vector<std::uint32_t>* runs_;
};

struct warnings final : world_events {
    void timer_warned(const scheduler_warning& what) noexcept override { all.push_back(what); }
    [[nodiscard]] bool has(scheduler_warning_kind kind) const {
        return std::ranges::any_of(all, [&](const auto& w) { return w.kind == kind; });
    }
    std::vector<scheduler_warning> all;
};

}  // namespace

// EV-1, SC-20, SC-21: a machine that stood still.
TEST(kit_scheduler, EV_1_what_the_scheduler_warns_of_is_told) {
    warnings told;
    std::vector<std::uint32_t> runs;
    test::kit kit({.events = &told});
    auto events = kit.create_probe<timer_warning>();
    ASSERT_TRUE(kit.world().subscribe<timer_warning>(events.ref().any()).value());
    const auto who = kit.spawn<counts_beats>("beats", &runs);
    ASSERT_TRUE(kit.scheduler().schedule_at_fixed_rate(10_ms, 10_ms, who.any().index(), beat{}));
    kit.advance(20ms);
    EXPECT_EQ(runs, (std::vector<std::uint32_t>{1, 1}));
    EXPECT_TRUE(told.all.empty());
    kit.stall(50ms);
    EXPECT_EQ(runs.size(), 2u);
    kit.run_until_idle();
    EXPECT_EQ(runs, (std::vector<std::uint32_t>{1, 1, 5}));
    EXPECT_TRUE(told.has(scheduler_warning_kind::burst_fire));
    const auto seen = events.fish<timer_warning>([](const timer_warning& w) {
        return w.what.kind == scheduler_warning_kind::burst_fire ? test::fishing_outcome::done
                                                                 : test::fishing_outcome::proceed;
    });
    EXPECT_EQ(seen.back().what.value, 4);
    EXPECT_THROW(kit.stall(-1ms), test::assertion_failed);
}

// SD-2, SC-5, BP-5, SH-2
TEST(kit_scheduler, SD_2_its_services_are_there) {
    bool closed = false;
    test::kit kit;
    scheduler& timers = kit.scheduler();
    auto seen = timers.subscribe(diagnostic_kind::fire);
    ASSERT_TRUE(seen);
    ASSERT_TRUE(timers.schedule_once_fn(5_ms, [](const execution_batch&) {}));
    kit.advance(5ms);
    EXPECT_TRUE(seen->poll().has_value());
    EXPECT_NE(timers.policies(), nullptr);
    EXPECT_NE(timers.gauge(), nullptr);
    ASSERT_TRUE(timers.register_on_close([&closed] { closed = true; }, close_priority::user));
    EXPECT_FALSE(closed);
    kit.shutdown();
    EXPECT_TRUE(closed);
}

// SC-37, BP-2, SC-26, SC-3
TEST(kit_scheduler, SC_37_it_is_configured_as_that_of_a_system) {
    const auto nothing = [](const execution_batch&) {};
    test::kit small({.scheduler = {.profile = scheduler_profile::micro}});
    for (int i = 0; i < 64; ++i)
        ASSERT_TRUE(small.scheduler().schedule_once_fn(1_s, nothing));
    EXPECT_EQ(small.scheduler().schedule_once_fn(1_s, nothing).error().code,
              scheduler_errc::quota_exceeded);

    constexpr scheduler_preset pekko = scheduler_defaults(system_preset::pekko);
    std::vector<std::uint32_t> runs;
    test::kit like_pekko({.scheduler = pekko.config, .timer_policy = pekko.policy});
    const auto who = like_pekko.spawn<counts_beats>("beats", &runs);
    ASSERT_TRUE(like_pekko.scheduler().schedule_at_fixed_rate(duration::zero(), 10_ms,
                                                              who.any().index(), beat{}));
    like_pekko.stall(50ms);
    like_pekko.run_until_idle();
    EXPECT_EQ(runs, std::vector<std::uint32_t>(5, 1));
    EXPECT_EQ(like_pekko.scheduler().resolution(), 10_ms);

    const auto refusal = [](const test::kit::options& o) {
        try {
            const test::kit kit(o);
        } catch (const std::invalid_argument& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    EXPECT_TRUE(refusal({.scheduler = {.chunk_ticks = 0}}).starts_with("scheduler.chunk_ticks"));
    tactus::timer_policy wrong;
    wrong.fixed_rate.backlog_limit = 0;
    EXPECT_TRUE(refusal({.timer_policy = wrong}).starts_with("timer_policy: "));
}
