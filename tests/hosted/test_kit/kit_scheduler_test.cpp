// SPDX-License-Identifier: Apache-2.0
//
// Goal: the scheduler of a kit is that of a system: what it warns of is told (EV-1, SC-21), its
// services are there (SD-2, SC-5, BP-5, SH-2), it is configured as one (SC-37, SC-26), and a world
// with actors has the same log in every run (SD-1).
#include <tactus/test_kit/kit.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <tactus/actor/system_events.hpp>
#include <tactus/base/det_rng.hpp>
#include <tactus/scheduler/log_replay.hpp>
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

// DF-76, SD-2: actors subscribe what the scheduler does on the event stream, and only while one
// does are there events.
TEST(kit_scheduler, DF_76_an_actor_subscribes_diagnostics) {
    test::kit kit;
    const auto kinds = [](auto& probe) {
        std::vector<diagnostic_kind> all;
        while (probe.has_messages())
            all.push_back(probe.expect().what.kind);
        return all;
    };
    using enum diagnostic_kind;
    auto first = kit.create_probe<timer_diagnostic>();
    auto second = kit.create_probe<timer_diagnostic>();
    const auto use_a_timer = [&] {
        ASSERT_TRUE(kit.scheduler().schedule_once_fn(1_ms, [](const execution_batch&) {}));
        kit.advance(2ms);
    };
    use_a_timer();
    ASSERT_TRUE(kit.world().subscribe<timer_diagnostic>(first.ref().any()).value());
    ASSERT_TRUE(kit.world().subscribe<timer_diagnostic>(second.ref().any()).value());
    use_a_timer();
    EXPECT_EQ(kinds(first), (std::vector{schedule, fire}));
    EXPECT_EQ(kinds(second), (std::vector{schedule, fire}));
    const auto job = kit.scheduler().schedule_once_fn(1_ms, [](const execution_batch&) {});
    ASSERT_TRUE(job && kit.scheduler().cancel(*job));
    kit.run_until_idle();
    EXPECT_EQ(kinds(first), (std::vector{schedule, cancel}));
    EXPECT_TRUE(kit.world().events().unsubscribe(first.ref().any().index()));
    EXPECT_TRUE(kit.world().events().unsubscribe(second.ref().any().index()));
    use_a_timer();
    (void)kinds(second);
    EXPECT_TRUE(kinds(first).empty());
    // Again, after nothing was published for a while.
    ASSERT_TRUE(kit.world().subscribe<timer_diagnostic>(first.ref().any()).value());
    use_a_timer();
    EXPECT_EQ(kinds(first), (std::vector{schedule, fire}));
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

namespace {

struct poke {
    int left;  // how many more this one leads to, at most
};
/// Does what a die says, which is part of the program.
class player : public actor<poke> {
public:
    player(det_rng* die, std::vector<actor_ref<poke>>* all) : die_(die), all_(all) {}
    void on(const poke& p) {
        if (p.left == 0)
            return;
        const poke next{p.left - 1};
        const duration d = duration::from_ms(1 + static_cast<std::int64_t>(die_->below(20)));
        const actor_ref<poke> other = (*all_)[die_->below(all_->size())];
        switch (die_->below(9)) {
        case 0:
            (void)context().schedule_once(d, other, next);
            (void)context().schedule_once(d, other, next);
            break;
        case 1:
            (void)context().start_single_timer("one", next, d);
            break;
        case 2:
            (void)context().start_timer_at_fixed_rate("rate", poke{1}, d, d);
            break;
        case 3:
            (void)context().start_timer_with_fixed_delay("delay", poke{1}, d, d);
            break;
        case 4:
            (void)context().cancel_timer("rate");
            (void)context().cancel_timer("delay");
            break;
        case 5:
            context().set_receive_timeout(d);
            break;
        case 6:
            if (auto made = context().schedule_at_fixed_rate(d, d, other, poke{0})) {
                rate_.cancel();
                rate_ = *made;
            }
            break;
        case 7:
            (void)context().schedule_once_fn(
                d, [other, next](const execution_batch&) { other.tell(next); });
            break;
        default:
            throw std::runtime_error("as the die says");
        }
    }
    void on(const receive_timeout&) {
        (void)context().start_single_timer("idle", poke{1}, duration::from_ms(1));
    }

private:
    det_rng* die_;
    std::vector<actor_ref<poke>>* all_;
    cancellable rate_;
};

class bytes_kept final : public byte_sink {
public:
    void write(std::span<const std::byte> piece) noexcept override {
        all.insert(all.end(), piece.begin(), piece.end());
    }
    std::vector<std::byte> all;
};

/// The log of a world of actors, from its beginning to its end.
std::vector<std::byte> log_of_a_world(std::uint64_t seed) {
    det_rng die(seed);
    std::vector<actor_ref<poke>> all;
    test::kit kit;
    EXPECT_TRUE(kit.scheduler().enable_deterministic_log(1U << 18U));
    EXPECT_TRUE(kit.scheduler().register_on_close([] {}, close_priority::user));
    for (int i = 0; i < 8; ++i)
        all.push_back(kit.spawn<player>("player" + std::to_string(i), &die, &all));
    for (int round = 0; round < 100; ++round) {
        for (int i = 0; i < 3; ++i)
            all[die.below(all.size())].tell(poke{4});
        const duration d = duration::from_ms(static_cast<std::int64_t>(die.below(10)));
        if (die.below(10) == 0)
            kit.stall(d);
        kit.advance(d);
    }
    kit.shutdown();
    bytes_kept out;
    kit.scheduler().read_log([&](const recorded_log& log) {
        EXPECT_EQ(log.lost(), 0u);
        for (const auto kind :
             {diagnostic_kind::schedule, diagnostic_kind::fire, diagnostic_kind::cancel})
            EXPECT_GT(std::ranges::count(log.records(), kind, &diagnostic::kind), 50)
                << name_of(kind);
        EXPECT_EQ(log.records().back().kind, diagnostic_kind::on_close);
        log.write(out);
    });
    return std::move(out.all);
}

}  // namespace

// SD-1: a whole world of actors, byte by byte, its end included.
TEST(kit_scheduler, SD_1_two_runs_of_a_world_give_the_same_log) {
    std::vector<std::byte> last;
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        const std::vector<std::byte> log = log_of_a_world(seed);
        EXPECT_EQ(log, log_of_a_world(seed)) << "seed " << seed;
        EXPECT_NE(log, last);
        last = log;
    }
}
