// SPDX-License-Identifier: Apache-2.0
//
// Timer policies (SC-5, SC-14): what options may be, and whose policy a timer gets.
#include <tactus/scheduler/timer_policy.hpp>

#include <array>
#include <string_view>

#include <tactus/dispatch/arena.hpp>

#include "portable_test.hpp"

namespace tactus {
namespace {

constexpr auto high = timer_priority::high;
constexpr auto low = timer_priority::low;
constexpr auto normal = timer_priority::normal;

template <class Options>
bool refused(const Options& o, std::string_view field, std::int64_t value, std::int64_t limit) {
    const auto r = validate(o);
    return !r && r.error().code == scheduler_errc::invalid_options && r.error().field == field &&
           r.error().value == value && r.error().limit == limit;
}

// SC-5, DF-24
TEST(timer_policy, the_defaults_are_as_specified) {
    const timer_policy p;
    EXPECT_EQ(p.fixed_rate.backlog_limit, no_backlog_limit);
    EXPECT_EQ(p.fixed_rate.burst_threshold, 2u);
    EXPECT_EQ(p.fixed_rate.priority, normal);
    EXPECT_EQ(p.fixed_rate.catch_up, catch_up_rule::fold);
    EXPECT_EQ(p.fixed_delay.priority, normal);
    EXPECT_EQ(p.fixed_delay.after, delay_after::handled);
    EXPECT_EQ(p.one_shot, normal);
    EXPECT_TRUE(validate(p).has_value());
}

// SC-5, SC-14: backlog_limit and burst_threshold are at least 1, and the second at most the first.
TEST(timer_policy, options_are_checked_at_their_boundaries) {
    EXPECT_TRUE(validate(fixed_rate_options{.backlog_limit = 1, .burst_threshold = 1}).has_value());
    EXPECT_TRUE(validate(fixed_rate_options{.backlog_limit = 3, .burst_threshold = 3}).has_value());
    EXPECT_TRUE(refused(fixed_rate_options{.backlog_limit = 0}, "backlog_limit", 0, 1));
    EXPECT_TRUE(refused(fixed_rate_options{.burst_threshold = 0}, "burst_threshold", 0, 1));
    EXPECT_TRUE(refused(fixed_rate_options{.backlog_limit = 3, .burst_threshold = 4},
                        "burst_threshold", 4, 3));
    EXPECT_TRUE(
        refused(fixed_rate_options{.priority = static_cast<timer_priority>(3)}, "priority", 3, 2));
    EXPECT_TRUE(
        refused(fixed_rate_options{.catch_up = static_cast<catch_up_rule>(2)}, "catch_up", 2, 1));
    EXPECT_TRUE(
        refused(fixed_delay_options{.priority = static_cast<timer_priority>(3)}, "priority", 3, 2));
    EXPECT_TRUE(refused(fixed_delay_options{.after = static_cast<delay_after>(2)}, "after", 2, 1));
    EXPECT_TRUE(
        refused(timer_policy{.one_shot = static_cast<timer_priority>(9)}, "one_shot", 9, 2));
}

struct rig {
    explicit rig(std::uint32_t capacity = 4) : policies(memory, capacity) {}
    alignas(16) std::array<std::byte, 512> bytes{};
    arena memory{bytes};
    timer_policies policies;
};

timer_policy with_limit(std::uint32_t backlog_limit) {
    timer_policy p;
    p.fixed_rate.backlog_limit = backlog_limit;
    return p;
}

// SC-5
TEST(timer_policy, timers_of_the_runtime_are_high) {
    rig r;
    EXPECT_EQ(r.policies.lookup({}), timer_policy{});
    const timer_policy p = r.policies.lookup({.subsystem = timer_subsystem::runtime});
    EXPECT_EQ(p.one_shot, high);
    EXPECT_EQ(p.fixed_rate.priority, high);
    EXPECT_EQ(p.fixed_delay.priority, high);
    EXPECT_TRUE(r.policies.set_default(timer_policy::of(low)).has_value());
    EXPECT_EQ(r.policies.lookup({}).one_shot, low);
    EXPECT_EQ(r.policies.lookup({.subsystem = timer_subsystem::runtime}).one_shot, high);
    EXPECT_TRUE(r.policies.set_for(timer_subsystem::runtime, timer_policy::of(normal)).has_value());
    EXPECT_EQ(r.policies.lookup({.subsystem = timer_subsystem::runtime}).one_shot, normal);
    EXPECT_TRUE(r.policies.clear_for(timer_subsystem::runtime));
    EXPECT_EQ(r.policies.lookup({.subsystem = timer_subsystem::runtime}).one_shot, high);
}

// SC-5: every set of policies and every affinity: the most particular wins.
TEST(timer_policy, lookup_goes_from_the_particular_to_the_general) {
    constexpr auto mine = static_cast<timer_subsystem>(300);
    for (unsigned have = 0; have < 8; ++have) {
        rig r;
        if ((have & 1u) != 0) {
            EXPECT_TRUE(r.policies.set_for_dispatcher(0, with_limit(11)).has_value());
        }
        if ((have & 2u) != 0) {
            EXPECT_TRUE(r.policies.set_for(timer_guardian::user, with_limit(12)).has_value());
        }
        if ((have & 4u) != 0) {
            EXPECT_TRUE(r.policies.set_for(mine, with_limit(13)).has_value());
        }
        for (unsigned knows = 0; knows < 8; ++knows) {
            timer_affinity from;
            if ((knows & 1u) != 0)
                from.dispatcher = 0;
            if ((knows & 2u) != 0)
                from.guardian = timer_guardian::user;
            if ((knows & 4u) != 0)
                from.subsystem = mine;
            const unsigned both = have & knows;
            const std::uint32_t wanted = (both & 1u) != 0   ? 11
                                         : (both & 2u) != 0 ? 12
                                         : (both & 4u) != 0 ? 13
                                                            : no_backlog_limit;
            EXPECT_EQ(r.policies.lookup(from).fixed_rate.backlog_limit, wanted);
        }
    }
}

// SC-5: numbers of different kinds are different things.
TEST(timer_policy, kinds_do_not_mix) {
    rig r;
    EXPECT_TRUE(r.policies.set_for_dispatcher(1, with_limit(11)).has_value());
    EXPECT_EQ(r.policies.lookup({.guardian = timer_guardian::root}), timer_policy{});
    EXPECT_EQ(r.policies.lookup({.dispatcher = 2}), timer_policy{});
    EXPECT_FALSE(r.policies.clear_for(timer_guardian::root));
    EXPECT_TRUE(r.policies.clear_for_dispatcher(1));
    EXPECT_FALSE(r.policies.clear_for_dispatcher(1));
    EXPECT_EQ(r.policies.lookup({.dispatcher = 1}), timer_policy{});
}

// SC-5, BP-1: a fixed capacity; replacing needs none.
TEST(timer_policy, the_capacity_is_fixed) {
    rig r(2);
    EXPECT_TRUE(r.policies.set_for_dispatcher(1, with_limit(11)).has_value());
    EXPECT_TRUE(r.policies.set_for_dispatcher(2, with_limit(12)).has_value());
    const auto third = r.policies.set_for_dispatcher(3, with_limit(13));
    ASSERT_FALSE(third.has_value());
    EXPECT_EQ(third.error().code, scheduler_errc::capacity_exceeded);
    EXPECT_EQ(third.error().value, 2);
    EXPECT_EQ(third.error().limit, 2);
    EXPECT_TRUE(r.policies.set_for_dispatcher(1, with_limit(21)).has_value());
    EXPECT_EQ(r.policies.lookup({.dispatcher = 1}).fixed_rate.backlog_limit, 21u);
    EXPECT_TRUE(r.policies.clear_for_dispatcher(1));
    EXPECT_EQ(r.policies.lookup({.dispatcher = 2}).fixed_rate.backlog_limit, 12u);
    EXPECT_EQ(r.policies.count(), 1u);
    EXPECT_TRUE(r.policies.set_for_dispatcher(3, with_limit(13)).has_value());
    rig none(1'000);
    EXPECT_EQ(none.policies.capacity(), 0u);
    EXPECT_FALSE(none.policies.set_for_dispatcher(1, with_limit(1)).has_value());
}

// SC-2: what is refused changes nothing.
TEST(timer_policy, an_invalid_policy_is_refused) {
    rig r;
    const timer_policy bad = with_limit(0);
    EXPECT_FALSE(r.policies.set_default(bad).has_value());
    EXPECT_FALSE(r.policies.set_for_dispatcher(1, bad).has_value());
    EXPECT_FALSE(r.policies.set_for(timer_guardian::user, bad).has_value());
    EXPECT_FALSE(r.policies.set_for(timer_subsystem::runtime, bad).has_value());
    EXPECT_FALSE(
        r.policies.set_for_dispatcher(timer_affinity::no_dispatcher, with_limit(9)).has_value());
    EXPECT_FALSE(r.policies.set_for(timer_guardian::none, with_limit(9)).has_value());
    EXPECT_FALSE(r.policies.set_for(timer_subsystem::none, with_limit(9)).has_value());
    EXPECT_EQ(r.policies.count(), 0u);
    EXPECT_EQ(r.policies.lookup({}), timer_policy{});
}

}  // namespace
}  // namespace tactus
