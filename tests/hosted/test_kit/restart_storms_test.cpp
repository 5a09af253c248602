// SPDX-License-Identifier: Apache-2.0
//
// Goal: an actor that fails again and again is restarted ten times within a second, and then after
// waits that double from 10 ms to 1 s; a strategy of the program's, and the preset `pekko`, restart
// as they say (SV-5, DF-70).
#include <tactus/actor/actor.hpp>
#include <tactus/runtime/actor_system.hpp>
#include <tactus/test_kit/kit.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

using namespace tactus;  // NOLINT: the whole vocabulary is used

namespace {

struct fail_now {};
struct fail_forever {};

using instants = std::vector<std::int64_t>;  // in ms since the test began

std::function<instant()> now_of_test;
std::int64_t now_ms() {
    return static_cast<std::int64_t>(now_of_test().ns() / 1'000'000);
}

/// One actor's restarts; `fails_again` of them begin with a failure.
struct record {
    instants restarts;
    std::uint32_t fails_again = 0;
};

class fragile : public actor<fail_now> {
public:
    explicit fragile(record* to) : to_(to) {}
    std::expected<void, failure> on(fail_now) { return std::unexpected(failure("told to")); }
    void post_restart(const failure_cause&) {
        to_->restarts.push_back(now_ms());
        if (to_->fails_again != 0) {
            --to_->fails_again;
            context().self().tell(fail_now{});
        }
    }

private:
    record* to_;
};

/// Has children, and no strategy of its own.
class plain_parent : public actor<int> {
public:
    plain_parent(std::vector<record>* records, std::vector<actor_ref<fail_now>>* children)
        : records_(records), children_(children) {}
    void pre_start() {
        for (record& r : *records_)
            children_->push_back(*context().try_spawn<fragile>("", {}, &r));
    }
    void on(int) {}

private:
    std::vector<record>* records_;
    std::vector<actor_ref<fail_now>>* children_;
};

supervisor_strategy strategy;
/// The same, with the strategy of the test.
class strict_parent : public plain_parent {
public:
    using plain_parent::plain_parent;
    supervisor_strategy supervision() { return strategy; }
};

struct family_rig {
    explicit family_rig(std::size_t count, test::kit::options o = {})
        : world(std::move(o)), records(count) {
        now_of_test = [this] { return world.now(); };
    }
    ~family_rig() { now_of_test = nullptr; }
    family_rig(const family_rig&) = delete;
    family_rig& operator=(const family_rig&) = delete;

    template <class Parent>
    void begin() {
        world.spawn<Parent>("parent", &records, &children);
        world.run_until_idle();
    }
    void fail(std::size_t which) { children[which].tell(fail_now{}); }

    test::kit world;
    std::vector<record> records;
    std::vector<actor_ref<fail_now>> children;
};

/// Ten at once, at `from`; then after waits that double.
instants storm(std::int64_t from, std::initializer_list<std::int64_t> waits) {
    instants all(10, from);
    for (const std::int64_t w : waits)
        all.push_back(all.back() + w);
    return all;
}

// ---- the default

TEST(restart_storms, DF_70_ten_restarts_take_place_at_once_and_the_next_wait_longer_and_longer) {
    family_rig rig(1);
    rig.begin<plain_parent>();
    rig.records[0].fails_again = 1'000;
    rig.fail(0);
    rig.world.advance(duration::from_ms(5'300));
    EXPECT_EQ(rig.records[0].restarts,
              storm(0, {10, 20, 40, 80, 160, 320, 640, 1'000, 1'000, 1'000, 1'000}));
}

TEST(restart_storms, DF_70_a_child_of_the_user_guardian_is_bounded_too) {
    family_rig rig(1);
    const auto top = rig.world.spawn<fragile>("top", &rig.records[0]);
    rig.records[0].fails_again = 1'000;
    top.tell(fail_now{});
    rig.world.advance(duration::from_ms(75));
    EXPECT_EQ(rig.records[0].restarts, storm(0, {10, 20, 40}));
}

TEST(restart_storms, DF_70_what_an_actor_is_sent_waits_with_it) {
    family_rig rig(1);
    rig.begin<plain_parent>();
    rig.records[0].fails_again = 10;
    rig.fail(0);
    rig.world.run_until_idle();
    EXPECT_EQ(rig.records[0].restarts, storm(0, {}));
    rig.fail(0);  // it waits already: this is one more failure, after the wait
    rig.world.advance(duration::from_ms(40));
    EXPECT_EQ(rig.records[0].restarts, storm(0, {10, 20}));
}

TEST(restart_storms, DF_70_failures_that_are_rare_never_wait) {
    family_rig rig(1);
    rig.begin<plain_parent>();
    instants expected;
    for (int i = 0; i < 100; ++i) {
        rig.fail(0);
        rig.world.run_until_idle();
        expected.push_back(now_ms());
        rig.world.advance(duration::from_ms(101));
    }
    EXPECT_EQ(rig.records[0].restarts, expected);
}

TEST(restart_storms, DF_70_a_quiet_time_begins_anew_and_a_shorter_one_does_not) {
    for (const bool is_long : {false, true}) {
        family_rig rig(1);
        rig.begin<plain_parent>();
        rig.records[0].fails_again = 12;
        rig.fail(0);
        rig.world.advance(duration::from_ms(70));
        ASSERT_EQ(rig.records[0].restarts, storm(0, {10, 20, 40}));
        // Quiet since the restart at 70 ms.
        rig.world.advance(duration::from_ms(is_long ? 1'001 : 1'000));
        rig.records[0].restarts.clear();
        const std::int64_t begin = now_ms();
        rig.records[0].fails_again = 10;
        rig.fail(0);
        rig.world.advance(duration::from_ms(85));
        EXPECT_EQ(rig.records[0].restarts, is_long ? storm(begin, {10}) : instants{begin + 80});
    }
}

TEST(restart_storms, DF_70_an_actor_that_waits_can_be_stopped_and_its_system_too) {
    family_rig rig(2);
    rig.begin<plain_parent>();
    for (record& r : rig.records)
        r.fails_again = 1'000;
    rig.fail(0);
    rig.fail(1);
    rig.world.run_until_idle();
    (void)rig.world.stop(rig.children[0].any());
    rig.world.run_until_idle();
    EXPECT_FALSE(rig.world.is_alive(rig.children[0].any()));
    EXPECT_TRUE(rig.world.is_alive(rig.children[1].any()));
    rig.world.shutdown();
    EXPECT_EQ(rig.records[0].restarts, storm(0, {}));
    EXPECT_EQ(rig.records[1].restarts, storm(0, {}));
}

// ---- families

// A restart of the family counts once for each of its members, whichever of them failed.
TEST(restart_storms, DF_70_a_restart_of_the_whole_family_counts_once) {
    strategy = supervision_defaults();
    strategy.scope = supervision_scope::all_for_one;
    family_rig rig(3);
    rig.begin<strict_parent>();
    for (std::size_t i = 0; i < 12; ++i) {
        rig.fail(i % 3);
        rig.world.run_until_idle();
        if (i >= 10) {
            EXPECT_EQ(rig.records[0].restarts.size(), i);
            rig.world.advance(duration::from_ms(i == 10 ? 10 : 20));
        }
    }
    for (const record& r : rig.records)
        EXPECT_EQ(r.restarts, storm(0, {10, 20}));
}

TEST(restart_storms, DF_70_failures_at_one_time_are_one_restart_of_the_family) {
    strategy = supervision_defaults();
    strategy.scope = supervision_scope::all_for_one;
    family_rig rig(3);
    rig.begin<strict_parent>();
    for (int round = 0; round < 11; ++round) {
        for (std::size_t i = 0; i < 3; ++i)
            rig.fail(i);
        rig.world.run_until_idle();
    }
    rig.world.advance(duration::from_ms(9));
    for (const record& r : rig.records)
        EXPECT_EQ(r.restarts, storm(0, {}));
    rig.world.advance(duration::from_ms(1));
    for (const record& r : rig.records)
        EXPECT_EQ(r.restarts, storm(0, {10}));
}

// The bounds are each child's own: that of one that waits does not hold back the others.
TEST(restart_storms, DF_70_each_child_of_many_keeps_its_own_bound) {
    constexpr std::size_t count = 100'000;
    static constexpr restart_pacing two_at_once{.restarts = 2};
    strategy = {.pacing = &two_at_once};
    test::kit::options o;
    o.actors_max = 1U << 17U;
    o.runs_max = 50'000'000;
    family_rig rig(count, o);
    rig.begin<strict_parent>();
    for (std::size_t i = 0; i < count; ++i) {
        rig.records[i].fails_again = 1'000;
        rig.fail(i);
    }
    rig.world.advance(duration::from_ms(35));
    const instants expected{0, 0, 10, 30};
    std::size_t others = 0;
    for (const record& r : rig.records)
        others += r.restarts == expected ? 0 : 1;
    EXPECT_EQ(others, 0U);
    rig.world.shutdown();
}

// ---- strategies of the program's

TEST(restart_storms, DF_70_a_strategy_of_the_programs_is_as_it_says) {
    for (const supervisor_strategy& given :
         {supervisor_strategy{}, supervisor_strategy{.scope = supervision_scope::all_for_one},
          supervisor_strategy{.max_restarts = 30U},
          supervisor_strategy{.max_restarts = 30U, .pacing = &bounded_storms}}) {
        strategy = given;
        family_rig rig(1);
        rig.begin<strict_parent>();
        rig.records[0].fails_again = 29;
        rig.fail(0);
        rig.world.run_until_idle();
        EXPECT_EQ(rig.records[0].restarts, instants(30, 0));
        EXPECT_TRUE(rig.world.is_alive(rig.children[0].any()));
    }
}

TEST(restart_storms, DF_70_a_back_off_of_the_programs_is_the_only_wait) {
    strategy = {
        .pacing = &bounded_storms,
        .backoff = {
            .min = duration::from_ms(3), .max = duration::from_ms(3), .random_factor = 0.0}};
    family_rig rig(1);
    rig.begin<strict_parent>();
    rig.records[0].fails_again = 19;
    rig.fail(0);
    rig.world.advance(duration::from_ms(100));
    instants expected;
    for (int i = 1; i <= 20; ++i)
        expected.push_back(std::int64_t{3} * i);
    EXPECT_EQ(rig.records[0].restarts, expected);
}

// ---- the preset

TEST(restart_storms, DF_70_the_preset_pekko_restarts_at_once_for_ever) {
    test::kit::options o;
    o.guardian_strategy = supervision_defaults(system_preset::pekko);
    o.pacing = o.guardian_strategy.pacing;
    EXPECT_EQ(o.pacing, nullptr);
    family_rig rig(1, o);
    rig.begin<plain_parent>();
    rig.records[0].fails_again = 499;
    rig.fail(0);
    record of_top{.restarts = {}, .fails_again = 499};
    rig.world.spawn<fragile>("top", &of_top).tell(fail_now{});
    rig.world.run_until_idle();
    EXPECT_EQ(rig.records[0].restarts, instants(500, 0));
    EXPECT_EQ(of_top.restarts, instants(500, 0));
}

TEST(restart_storms, DF_70_a_system_bounds_by_default) {
    EXPECT_EQ(actor_system::options{}.guardian_strategy.pacing, &bounded_storms);
    EXPECT_EQ(actor_system::options{}.pacing, &bounded_storms);
}

// ---- the rule

TEST(restart_storms, DF_70_waits_stay_at_the_longest_and_do_not_overflow) {
    restart_count of;
    const restart_pacing always{.restarts = 0,
                                .within = duration::max(),
                                .min = duration::from_ns(1),
                                .max = duration::from_ns(5)};
    instants waits;
    for (int i = 0; i < 100; ++i)
        waits.push_back(of.pause(always, {}).ns());
    instants expected(100, 5);
    expected[0] = 1;
    expected[1] = 2;
    expected[2] = 4;
    EXPECT_EQ(waits, expected);
}

}  // namespace
