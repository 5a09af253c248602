// SPDX-License-Identifier: Apache-2.0
//
// Goal: a governor changes the order of the lanes and nothing else (LN-1, LN-10; INV-SC-08).
// Method: its table; and lanes with a governor that says what the test wants.
#include <tactus/dispatch/governor.hpp>

#include <cstdint>

#include "lane_rig.hpp"
#include "portable_test.hpp"
#include "vectors.hpp"

namespace vectors = tactus_test::vectors;
using tactus::suggestion;
using tactus_test::lane_rig;

// LN-10: 5 per second of obligation age, 3 per stopping subtree, 2 per second of deadline pressure.
TEST(governor, suggests_what_weighs_most_and_ties_go_to_deadlines_then_subtrees) {
    struct row {
        std::uint64_t age_ms;
        std::uint64_t subtrees;
        std::uint64_t pressure_ms;
        suggestion expected;
    };
    constexpr row table[] = {
        {0, 0, 0, suggestion::no_preference},
        {1, 0, 0, suggestion::drain_obligations},
        {0, 1, 0, suggestion::drain_regions},
        {0, 0, 1, suggestion::meet_deadlines},
        {601, 1, 0, suggestion::drain_obligations},  // 3005 : 3000
        {600, 1, 0, suggestion::drain_regions},      // equal
        {599, 1, 0, suggestion::drain_regions},
        {0, 1, 1'500, suggestion::meet_deadlines},  // equal
        {0, 1, 1'499, suggestion::drain_regions},
        {400, 0, 1'000, suggestion::meet_deadlines},  // equal
        {401, 0, 1'000, suggestion::drain_obligations},
        {600, 1, 1'500, suggestion::meet_deadlines},  // all equal
        {600, 1, 1'499, suggestion::drain_regions},
        {1'000'000, 1'000, 1'000'000, suggestion::drain_obligations},
    };
    tactus::weighted_governor governor;
    for (const row& r : table) {
        EXPECT_EQ(governor.suggest({.live_actors = 1'000,
                                    .open_obligations = 7,
                                    .obligation_age_ms = r.age_ms,
                                    .stopping_subtrees = r.subtrees,
                                    .deadline_pressure_ms = r.pressure_ms}),
                  r.expected);
    }
}

namespace {

class stubborn final : public tactus::governor {
public:
    [[nodiscard]] suggestion suggest(const tactus::load_snapshot& s) noexcept override {
        ++asked;
        last = s;
        return says;
    }
    suggestion says = suggestion::no_preference;
    unsigned asked = 0;
    tactus::load_snapshot last;
};

class probe final : public tactus::load_probe {
public:
    [[nodiscard]] tactus::load_snapshot measure() noexcept override {
        return {.live_actors = ++measured};
    }
    std::uint64_t measured = 0;
};

/// Steps until the governor has just been asked.
void ask(lane_rig& rig, stubborn& governor, suggestion says) {
    governor.says = says;
    const unsigned before = governor.asked;
    while (governor.asked == before)
        (void)rig.take();
}

}  // namespace

// LN-10
TEST(governor, is_asked_every_32nd_step_with_what_was_measured) {
    stubborn governor;
    probe load;
    lane_rig rig({.advice = &governor, .load = &load});
    for (unsigned i = 0; i < 31; ++i)
        (void)rig.take();
    EXPECT_EQ(governor.asked, 0u);
    (void)rig.take();
    EXPECT_EQ(governor.asked, 1u);
    EXPECT_EQ(governor.last.live_actors, 1u);
    for (unsigned i = 0; i < 32 * 3; ++i)
        (void)rig.take();
    EXPECT_EQ(governor.asked, 4u);
    EXPECT_EQ(load.measured, 4u);
}

// sc-governor-meet-001
TEST(governor, meet_deadlines_puts_timed_before_cancel) {
    for (const bool local : {false, true}) {
        stubborn governor;
        lane_rig rig({.advice = &governor});
        ask(rig, governor, suggestion::meet_deadlines);
        auto* from = local ? &rig.worker() : nullptr;
        for (const unsigned n : {10u, 11u})
            rig.cancel(n, from);
        for (const unsigned n : {5u, 6u})
            rig.timed(n, 0, from);
        rig.ready(1);
        rig.ready(2);
        EXPECT_TRUE(rig.takes({5, 6, 10, 11, 1, 2, -1}));
        EXPECT_EQ(rig.certificate().witness(), vectors::witness_of_meet_deadlines.hash);
    }
}

// sc-governor-drain-001
TEST(governor, draining_doubles_the_cancel_streak_limit) {
    for (const suggestion s : {suggestion::drain_obligations, suggestion::drain_regions}) {
        stubborn governor;
        lane_rig rig({.cancel_limit = 2, .advice = &governor});
        ask(rig, governor, s);
        for (unsigned n = 0; n < 6; ++n)
            rig.cancel(n);
        rig.ready(9);
        EXPECT_TRUE(rig.takes({0, 1, 2, 3, 9, 4, 5}));
        const tactus::fairness_certificate& c = rig.certificate();
        EXPECT_EQ(c.base_limit, 2u);
        EXPECT_EQ(c.effective_limit, 4u);
        EXPECT_EQ(c.observed_max_cancel_streak, 4u);
        EXPECT_EQ(c.base_limit_exceedances, 2u);
        EXPECT_TRUE(c.holds());
    }
}

TEST(governor, its_last_answer_counts_until_the_next) {
    stubborn governor;
    lane_rig rig({.cancel_limit = 2, .advice = &governor});
    ask(rig, governor, suggestion::drain_regions);
    ask(rig, governor, suggestion::no_preference);
    for (unsigned n = 0; n < 4; ++n)
        rig.cancel(n);
    rig.ready(9);
    EXPECT_TRUE(rig.takes({0, 1, 9, 2, 3}));
}

// INV-SC-08, S19: whatever it says, everything runs exactly once.
TEST(governor, changes_the_order_but_loses_nothing) {
    for (unsigned says = 0; says < 4; ++says) {
        stubborn governor;
        lane_rig rig({.cancel_limit = 2, .timed_limit = 3, .advice = &governor});
        ask(rig, governor, static_cast<suggestion>(says));
        constexpr unsigned count = 21;
        for (unsigned n = 0; n < count; ++n) {
            if (n % 3 == 0)
                rig.cancel(n);
            else if (n % 3 == 1)
                rig.timed(n, 5);
            else
                rig.ready(n);
        }
        bool seen[count] = {};
        for (unsigned n = 0; n < count; ++n) {
            const int found = rig.take();
            ASSERT_GE(found, 0);
            EXPECT_FALSE(seen[found]);
            seen[found] = true;
        }
        EXPECT_TRUE(rig.idle());
        EXPECT_TRUE(rig.certificate().holds());
        EXPECT_EQ(rig.certificate().cancel_dispatches, 7u);
        EXPECT_EQ(rig.certificate().timed_dispatches, 7u);
        EXPECT_EQ(rig.certificate().ready_dispatches, 7u);
    }
}

TEST(governor, suggestions_have_names) {
    EXPECT_EQ(tactus::name_of(suggestion::meet_deadlines)[0], 'm');
    EXPECT_EQ(tactus::name_of(suggestion::drain_regions)[6], 'r');
}
