// SPDX-License-Identifier: Apache-2.0
//
// Goal: phases are sorted, and what cannot be sorted is refused with the reason (EV-3).
#include <tactus/runtime/coordinated_shutdown.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;

namespace {

using all = std::vector<shutdown_phase>;

std::vector<std::string> names_in_order(const all& phases) {
    const auto sorted = in_order(phases);
    EXPECT_TRUE(sorted.has_value());
    std::vector<std::string> names;
    for (const shutdown_phase& p : sorted.value_or(all{}))
        names.push_back(p.name);
    return names;
}

shutdown_error::kind fault_in(const all& phases) {
    const auto sorted = in_order(phases);
    EXPECT_FALSE(sorted.has_value());
    return sorted ? shutdown_error::kind::phase_over : sorted.error().what;
}

}  // namespace

// C-CSD-1: dependencies first; among equals the order of the declaration.
TEST(shutdown_phases, EV_3_dependencies_come_first) {
    using list = std::vector<std::string>;
    EXPECT_EQ(names_in_order({}), list{});
    EXPECT_EQ(names_in_order({{"a"}}), (list{"a"}));
    EXPECT_EQ(names_in_order({{"b", {"a"}}, {"a"}}), (list{"a", "b"}));
    EXPECT_EQ(names_in_order({{"c", {"a"}}, {"b", {"a"}}}), (list{"a", "c", "b"}));
    EXPECT_EQ(names_in_order({{"c", {"b"}}, {"b", {"a"}}, {"a"}}), (list{"a", "b", "c"}));
    EXPECT_EQ(names_in_order({{"d", {"b", "c"}}, {"b", {"a"}}, {"c", {"a"}}, {"a"}}),
              (list{"a", "b", "c", "d"}));
    EXPECT_EQ(names_in_order({{"b", {"a"}}, {"y", {"x"}}, {"c", {"b"}}}),
              (list{"a", "b", "x", "y", "c"}));
}

// C-CSD-2: circles, of one, of two, and of more; the text shows the circle.
TEST(shutdown_phases, EV_3_circles_are_refused) {
    EXPECT_EQ(fault_in({{"a", {"a"}}}), shutdown_error::kind::cycle);
    EXPECT_EQ(fault_in({{"a", {"b"}}, {"b", {"a"}}}), shutdown_error::kind::cycle);
    const auto longer = in_order({{"x", {"c"}}, {"c", {"b"}}, {"b", {"a"}}, {"a", {"c"}}});
    ASSERT_FALSE(longer);
    EXPECT_EQ(longer.error().text, "phases of the shutdown depend on each other: c -> b -> a -> c");
}

TEST(shutdown_phases, EV_3_phases_that_cannot_be) {
    EXPECT_EQ(fault_in({{""}}), shutdown_error::kind::empty_name);
    EXPECT_EQ(fault_in({{"a", {""}}}), shutdown_error::kind::empty_name);
    EXPECT_EQ(fault_in({{"a"}, {"b"}, {"a"}}), shutdown_error::kind::duplicate_phase);
    EXPECT_EQ(fault_in({{.name = "a", .timeout = 0s}}), shutdown_error::kind::invalid_timeout);
    std::set<std::string> seen;
    for (std::size_t i = 0; i < shutdown_error_count; ++i)
        seen.insert(name_of(static_cast<shutdown_error::kind>(i)));
    EXPECT_EQ(seen.size(), shutdown_error_count);
}

// C-CSD-3: the twelve of the default, in their order, with their timeouts.
TEST(shutdown_phases, EV_3_twelve_by_default) {
    const std::vector<std::string> wanted{"before-service-unbind",
                                          "service-unbind",
                                          "service-requests-done",
                                          "service-stop",
                                          "before-cluster-shutdown",
                                          "cluster-sharding-shutdown-region",
                                          "cluster-leave",
                                          "cluster-exiting",
                                          "cluster-exiting-done",
                                          "cluster-shutdown",
                                          "before-actor-system-terminate",
                                          "actor-system-terminate"};
    all reversed = default_shutdown_phases();
    std::ranges::reverse(reversed);
    EXPECT_EQ(names_in_order(reversed), wanted);
    const coordinated_shutdown shutdown({}, {});
    EXPECT_EQ(shutdown.timeout(phases::service_stop), 5s);
    EXPECT_EQ(shutdown.timeout(phases::cluster_exiting), 10s);
    EXPECT_EQ(shutdown.timeout(phases::actor_system_terminate), 10s);
    for (const shutdown_phase& p : shutdown.all_phases())
        EXPECT_TRUE(p.recover && p.enabled) << p.name;
}

// C-CSD-16: what contradicts itself is an error that says what to do about it.
TEST(shutdown_phases, EV_3_contradictory_options_are_an_error) {
    const auto wrong = fault_of({.run_by_terminate = true, .terminate_system = false});
    ASSERT_TRUE(wrong);
    EXPECT_EQ(wrong->what, shutdown_error::kind::contradiction);
    EXPECT_NE(wrong->text.find("set run_by_terminate to false"), std::string::npos);
    EXPECT_THROW(coordinated_shutdown({.terminate_system = false}, {}), std::invalid_argument);
    EXPECT_FALSE(fault_of({.run_by_terminate = false, .terminate_system = false}));
    EXPECT_EQ(fault_of({.default_timeout = 0s})->what, shutdown_error::kind::invalid_timeout);
    EXPECT_EQ(fault_of({.limit = -1s})->what, shutdown_error::kind::invalid_timeout);
    EXPECT_EQ(fault_of({.phases = {{"a", {"a"}}}})->what, shutdown_error::kind::cycle);
}

// Goal: a task's table is whole. Method: every pair of state and event against the rule in words:
// what is over stays so, and only what runs ends.
TEST(shutdown_phases, EV_3_states_of_a_task) {
    using enum shutdown_task_state;
    using event = shutdown_task_event;
    std::set<std::string> seen;
    for (std::size_t s = 0; s < shutdown_task_state_count; ++s) {
        const auto from = static_cast<shutdown_task_state>(s);
        seen.insert(name_of(from));
        for (std::size_t e = 0; e < shutdown_task_event_count; ++e) {
            const auto on = static_cast<event>(e);
            shutdown_task_state to = from;
            if (from == pending)
                to = on == event::cancel     ? cancelled
                     : on == event::start    ? running
                     : on == event::time_out ? timed_out
                     : on == event::skip     ? skipped
                                             : pending;
            if (from == running)
                to = on == event::succeed    ? done
                     : on == event::fail     ? failed
                     : on == event::time_out ? timed_out
                                             : running;
            EXPECT_EQ(after(from, on), to) << name_of(from) << " on " << e;
        }
    }
    EXPECT_EQ(seen.size(), shutdown_task_state_count);
}
