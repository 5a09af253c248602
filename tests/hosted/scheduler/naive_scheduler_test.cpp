// SPDX-License-Identifier: Apache-2.0
//
// Goal: the harness of SD-4 can fail. Method: the model agrees with itself over 10,000 programs,
// and each of its faults is found, by the duel and by the observations, and shrunk to a few
// operations. The model's own rules are tested on the cases of the specification.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "naive_scheduler.hpp"
#include "scheduler_duel.hpp"
#include "scheduler_program.hpp"

namespace tactus_test {
namespace {

using tactus::scheduler_warning_kind;

constexpr std::size_t program_count = 10'000;

std::vector<delivery> after(naive_scheduler& s, tick_count n) {
    s.advance(n);
    s.handle();
    return s.deliveries();
}

// SD-4: at least 10,000 programs; messages handled at once, and later.
TEST(naive_scheduler, agrees_with_itself) {
    for (const bool later : {false, true}) {
        const auto failed = run_programs(1, program_count, {.handles_later = later},
                                         [] { return naive_scheduler(); });
        if (failed)
            print(*failed);
        EXPECT_FALSE(failed.has_value());
    }
}

struct fault_case {
    scheduler_fault fault;
    std::size_t operations_max;  // of the shrunk program
    const char* observation;     // which one finds it without the model; "": only the duel does
    bool later;                  // needs messages that wait
};

constexpr fault_case fault_cases[] = {
    {scheduler_fault::fires_early, 2, "O3", false},
    {scheduler_fault::loses_one, 6, "", false},
    {scheduler_fault::fires_after_cancel, 3, "O2", false},
    {scheduler_fault::handles_after_cancel, 3, "", true},
    {scheduler_fault::reorders, 3, "O4", false},
    {scheduler_fault::loses_runs, 2, "O5", false},
    {scheduler_fault::drifts, 3, "O5", false},
    {scheduler_fault::cancels_twice, 3, "", false},
    {scheduler_fault::forgets_backlog, 2, "", false},
    {scheduler_fault::fires_when_closed, 2, "", false},
};

// SD-4: each fault is caught and shrunk.
TEST(scheduler_duel, finds_and_shrinks_each_fault) {
    for (const fault_case& c : fault_cases) {
        SCOPED_TRACE(static_cast<int>(c.fault));
        const auto failed = run_programs(1, program_count, {.handles_later = c.later},
                                         [&] { return naive_scheduler(c.fault); });
        ASSERT_TRUE(failed.has_value());
        EXPECT_LE(failed->shrunk.size(), c.operations_max) << to_text(failed->shrunk);
        EXPECT_FALSE(failed->shrunk_why.empty());
        // The seed alone makes it again.
        const job_program again =
            job_program_maker(entropy_of(failed->seed), {.handles_later = c.later}).make();
        naive_scheduler driver(c.fault);
        EXPECT_EQ(scheduler_duel(driver, c.later).run(again), failed->why);
    }
}

// SD-4: what the observations say, they say without the model.
TEST(scheduler_duel, observations_find_what_they_are_about) {
    for (const fault_case& c : fault_cases) {
        SCOPED_TRACE(static_cast<int>(c.fault));
        std::string found;
        const std::size_t count = *c.observation != '\0' ? program_count : 500;
        for (std::uint64_t seed = 1; seed <= count && found.empty(); ++seed) {
            naive_scheduler driver(c.fault);
            scheduler_duel duel(driver, c.later);
            duel.run_alone(job_program_maker(entropy_of(seed), {.handles_later = c.later}).make());
            found = duel.observed();
        }
        EXPECT_EQ(found.substr(0, 2), c.observation) << found;
    }
}

// SD-4: each observation on a trace of its own.
TEST(scheduler_duel, each_observation_can_fail) {
    const auto event = [](diagnostic_kind kind, std::uint64_t job, tick_count deadline,
                          tick_count at, std::int64_t runs = 1) {
        return diagnostic{.kind = kind, .job = job, .deadline = deadline, .at = at, .detail = runs};
    };
    constexpr auto s = diagnostic_kind::schedule;
    constexpr auto f = diagnostic_kind::fire;
    constexpr auto c = diagnostic_kind::cancel;
    const auto broken = [](const std::vector<diagnostic>& trace,
                           const std::vector<delivery>& deliveries = {}) {
        return broken_observation(trace, {{9, 2}}, deliveries).substr(0, 2);
    };
    EXPECT_EQ(broken({event(s, 1, 3, 1), event(s, 2, 4, 1), event(f, 1, 3, 4), event(f, 2, 4, 4)}),
              "");
    EXPECT_EQ(broken({event(s, 1, 3, 2), event(s, 2, 3, 1)}), "O1");
    EXPECT_EQ(broken({event(s, 1, 3, 1), event(c, 1, 3, 2), event(f, 1, 3, 3)}), "O2");
    EXPECT_EQ(broken({event(s, 1, 3, 1), event(c, 1, 3, 2), event(c, 1, 3, 2)}), "O2");
    EXPECT_EQ(broken({event(s, 1, 3, 1), event(f, 1, 3, 2)}), "O3");
    EXPECT_EQ(broken({event(s, 1, 1, 1)}), "O3");
    EXPECT_EQ(broken({event(s, 1, 3, 1), event(s, 2, 4, 1), event(f, 2, 4, 4), event(f, 1, 3, 4)}),
              "O4");
    EXPECT_EQ(broken({event(s, 1, 3, 1), event(s, 2, 3, 1), event(f, 2, 3, 4), event(f, 1, 3, 4)}),
              "O4");
    // Job 9 has a period of 2.
    EXPECT_EQ(broken({event(s, 9, 3, 1), event(f, 9, 3, 6, 2), event(f, 9, 7, 7, 1)}), "");
    EXPECT_EQ(broken({event(s, 9, 3, 1), event(f, 9, 3, 6, 1), event(f, 9, 7, 7, 1)}), "O5");
    EXPECT_EQ(broken({event(s, 9, 3, 1), event(f, 9, 3, 6, 3)}), "O5");
    EXPECT_EQ(broken({event(s, 1, 3, 1), event(f, 1, 3, 3)}, {{.job = 1, .runs = 1}}), "");
    EXPECT_EQ(broken({event(s, 1, 3, 1), event(f, 1, 3, 3)}, {{.job = 1, .runs = 2}}), "O6");
}

// TC-S14, TC-S15, SC-20, SC-23, TC-X06
TEST(naive_scheduler, TC_S15_one_step_folds_and_steps_do_not) {
    naive_scheduler s;
    (void)s.schedule_at_fixed_rate(1, 1, {.backlog_limit = 10});
    (void)after(s, 1);
    EXPECT_EQ(after(s, 5), (std::vector<delivery>{{1, 1, 1, 0, job_mode::fixed_rate},
                                                  {1, 6, 5, 4, job_mode::fixed_rate}}));
    EXPECT_EQ(after(s, 1).back(), (delivery{1, 7, 1, 0, job_mode::fixed_rate}));
    naive_scheduler t;
    (void)t.schedule_at_fixed_rate(2, 3, {});
    (void)after(t, 2);
    (void)after(t, 3);
    EXPECT_EQ(after(t, 3).size(), 3u);
    naive_scheduler each;
    (void)each.schedule_at_fixed_rate(1, 1, {.each = true});
    EXPECT_EQ(after(each, 3).size(), 3u);
}

// SC-21, SC-22, TC-S16, TC-S19: boundaries k-1, k, k+1.
TEST(naive_scheduler, SC_22_limits_are_exact) {
    for (const std::uint32_t missed : {1u, 2u, 3u, 7u, 8u, 9u}) {
        naive_scheduler s;
        const auto id = s.schedule_at_fixed_rate(1, 1, {});  // burst 2, backlog 8
        const auto got = after(s, missed + 1);
        EXPECT_EQ(got.size(), missed > 8 ? 0u : 1u);
        EXPECT_EQ(s.warnings().size(), missed > 2 ? 1u : 0u);
        EXPECT_EQ(s.active(), missed > 8 ? 0u : 1u);
        EXPECT_EQ(s.cancel(id), missed <= 8);
        const auto kind = missed > 8 ? scheduler_warning_kind::backlog_exceeded
                                     : scheduler_warning_kind::burst_fire;
        for (const told_warning& w : s.warnings())
            EXPECT_EQ(w, (told_warning{kind, id, missed}));
    }
}

// SC-24, SC-26, TC-X07, TC-S28
TEST(naive_scheduler, SC_24_a_fixed_delay_waits_for_its_handler) {
    naive_scheduler s;
    (void)s.schedule_with_fixed_delay(10, 10, {});
    s.advance(10);
    s.advance(100);  // the handler takes its time
    s.handle();
    EXPECT_EQ(s.deliveries().size(), 1u);
    EXPECT_EQ(after(s, 9).size(), 1u);
    EXPECT_EQ(after(s, 1).size(), 2u);
    EXPECT_EQ(s.deliveries()[1], (delivery{1, 120, 1, 0, job_mode::fixed_delay}));
    naive_scheduler sent;
    (void)sent.schedule_with_fixed_delay(10, 10, {.after_sent = true});
    sent.advance(10);
    sent.advance(10);
    sent.handle();
    EXPECT_EQ(sent.deliveries().size(), 2u);
}

// TC-S27, TC-X09, CN-1: cancel in each state.
TEST(naive_scheduler, TC_S27_cancel_in_each_state) {
    naive_scheduler s;
    const auto once = s.schedule_once(1);
    const auto again = s.schedule_at_fixed_rate(1, 5, {});
    const auto delay = s.schedule_with_fixed_delay(1, 5, {});
    const auto waiting = s.schedule_once(50);
    EXPECT_TRUE(s.cancel(waiting));   // scheduled
    EXPECT_FALSE(s.cancel(waiting));  // cancelled
    s.advance(1);
    EXPECT_FALSE(s.cancel(once));  // executing
    EXPECT_TRUE(s.cancel(again));
    EXPECT_TRUE(s.cancel(delay));
    s.handle();
    EXPECT_EQ(s.deliveries().size(), 1u);  // the one-shot's
    EXPECT_FALSE(s.cancel(once));          // completed
    EXPECT_FALSE(s.cancel(0));
    EXPECT_FALSE(s.cancel(77));
    EXPECT_EQ(s.active(), 0u);
    EXPECT_EQ(after(s, 100).size(), 1u);
}

// SH-1, TC-S13: what is due still fires, the rest is cancelled in order, and nothing comes after.
TEST(naive_scheduler, SH_1_shutdown) {
    naive_scheduler s;
    const auto late = s.schedule_once(9);
    (void)s.schedule_once(2);
    const auto rate = s.schedule_at_fixed_rate(9, 9, {});
    s.stall(3);
    s.shutdown();
    s.handle();
    EXPECT_EQ(s.deliveries().size(), 1u);
    ASSERT_EQ(s.trace().size(), 6u);
    EXPECT_EQ(s.trace()[4].job, late);
    EXPECT_EQ(s.trace()[5].job, rate);
    EXPECT_EQ(s.schedule_once(1), 0u);
    EXPECT_FALSE(s.cancel(late));
    EXPECT_EQ(after(s, 100).size(), 1u);
    EXPECT_EQ(s.active(), 0u);
}

}  // namespace
}  // namespace tactus_test
