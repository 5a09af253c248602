// SPDX-License-Identifier: Apache-2.0
//
// Goal: phases are sorted, and what cannot be sorted is refused with the reason (EV-3).
#include <tactus/runtime/coordinated_shutdown.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include <pthread.h>

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

/// Phases 0 to count - 1, each of which depends on the next one.
all chain(std::size_t count) {
    all phases;
    for (std::size_t i = 0; i < count; ++i)
        phases.push_back({std::to_string(i), {std::to_string(i + 1)}});
    phases.back().depends_on.clear();
    return phases;
}

/// Runs `work` on a thread whose stack has that many bytes.
template <class Work>
void with_stack(std::size_t bytes, Work work) {
    pthread_attr_t how;
    ASSERT_EQ(pthread_attr_init(&how), 0);
    ASSERT_EQ(pthread_attr_setstacksize(&how, bytes), 0);
    pthread_t thread{};
    const auto body = [](void* of) -> void* {
        (*static_cast<Work*>(of))();
        return nullptr;
    };
    ASSERT_EQ(pthread_create(&thread, &how, body, &work), 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&how);
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

// Method: a stack on which one frame per phase does not fit, and comparisons of names counted: per
// phase their number grows as the logarithm of the count.
TEST(shutdown_phases, DF_50_DF_51_a_long_chain_takes_neither_stack_nor_quadratic_time) {
    constexpr std::size_t count = 20'000;
    const all phases = chain(count);
    std::size_t comparisons = 0;
    with_stack(512 * 1'024, [&] {
        const auto sorted = detail::in_order(phases, comparisons);
        ASSERT_TRUE(sorted);
        ASSERT_EQ(sorted->size(), count);
        for (std::size_t i = 0; i < count; ++i)
            ASSERT_EQ((*sorted)[i].name, std::to_string(count - 1 - i));
    });
    EXPECT_LE(comparisons, count * 100);
    std::size_t of_fewer = 0;
    ASSERT_TRUE(detail::in_order(chain(count / 10), of_fewer));
    EXPECT_LE(comparisons, of_fewer * 20);  // quadratic: a hundred times as many
}

// The cycle is found at the end of the chain, and its text is whole.
TEST(shutdown_phases, DF_50_a_long_circle_is_refused) {
    constexpr std::size_t count = 20'000;
    all phases = chain(count);
    phases.back().depends_on.emplace_back("1");
    with_stack(512 * 1'024, [&] {
        const auto sorted = in_order(phases);
        ASSERT_FALSE(sorted);
        EXPECT_EQ(sorted.error().what, shutdown_error::kind::cycle);
        EXPECT_TRUE(sorted.error().text.ends_with(" -> 19998 -> 19999 -> 1"));
        EXPECT_NE(sorted.error().text.find(": 1 -> 2 -> 3 -> "), std::string::npos);
    });
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
