// SPDX-License-Identifier: Apache-2.0
//
// Goal: in parity mode the lanes give what the vectors' workers give: order, streaks, certificates
// and draws (DT-3).
// Method: the vectors' set-ups as tables, their traces call by call.
#include <tactus/dispatch/coordinator.hpp>
#include <tactus/time/manual_clock.hpp>

#include <cstdint>
#include <cstring>

#include "lane_rig.hpp"
#include "portable_test.hpp"
#include "vectors.hpp"

namespace vectors = tactus_test::vectors;
using tactus::lane;
using tactus::lane_mode;
using tactus::suggestion;
using tactus_test::lane_rig;

namespace {

constexpr std::uint8_t default_priority = tactus::default_priority;
constexpr std::int64_t ms = 1'000'000;

enum class source : std::uint8_t { global, local, deque, pinned };

struct group {
    int first = 0;
    int last = -1;
    lane where = lane::ready;
    source from = source::global;
    std::uint8_t priority = 100;
    std::int64_t deadline = 0;
};

/// A rig whose mailboxes have the vectors' names.
class parity_rig : public lane_rig {
public:
    explicit parity_rig(const options& o) : lane_rig(o) {}

    void put(const group& g) {
        for (int task = g.first; task <= g.last; ++task) {
            tasks_[used_] = task;
            const unsigned n = used_++;
            if (g.from == source::pinned)
                at(n).pin_to(0);
            const bool plain = g.from == source::deque || g.from == source::pinned;
            wait(n, {g.where, plain ? default_priority : g.priority, g.deadline},
                 g.from == source::global ? nullptr : &worker(0));
        }
    }
    [[nodiscard]] int take_task(unsigned worker_number = 0) {
        const int n = take(worker_number);
        return n == nothing ? -1 : tasks_[n];
    }
    [[nodiscard]] std::uint64_t next_draw(unsigned n = 0) {
        tactus::det_rng copy = stream(n);
        return copy.next_u64();
    }
    [[nodiscard]] const tactus::det_rng& stream(unsigned n = 0) {
        return worker(n).streams()[tactus::random_stream::scheduling];
    }

private:
    int tasks_[tactus_test::rig_slots] = {};
    unsigned used_ = 0;
};

struct set_up {
    const char* trace;
    group groups[4];
};

// As the vectors' "setup" texts say.
constexpr set_up set_ups[] = {
    {"lane_priority",
     {{1, 2, lane::ready, source::local},
      {3, 3, lane::timed, source::global},
      {4, 4, lane::cancel, source::global, 10},
      {5, 5, lane::cancel, source::local, 200}}},
    {"cancel_streak_4",
     {{100, 109, lane::cancel, source::global}, {1, 3, lane::ready, source::global}}},
    {"cancel_only_fallback_4", {{100, 109, lane::cancel, source::global}}},
    {"meet_deadlines",
     {{100, 101, lane::cancel, source::global},
      {50, 51, lane::timed, source::global},
      {1, 2, lane::ready, source::global}}},
    {"meet_deadlines_local_vs_global_cancel",
     {{100, 100, lane::cancel, source::global}, {50, 50, lane::timed, source::local}}},
    {"default_global_timed_vs_local_cancel",
     {{100, 100, lane::cancel, source::local}, {50, 50, lane::timed, source::global}}},
    {"global_cancel_ignores_priority",
     {{1, 1, lane::cancel, source::global, 1}, {2, 2, lane::cancel, source::global, 255}}},
    {"edf_due_only",
     {{1, 1, lane::timed, source::local, 100, 5 * ms}, {2, 4, lane::timed, source::local}}},
    {"own_test_cert_12c_6r_limit4",
     {{0, 11, lane::cancel, source::global}, {12, 17, lane::ready, source::global}}},
    {"own_test_default16_20c_1r",
     {{0, 19, lane::cancel, source::global}, {99, 99, lane::ready, source::global}}},
    {"own_test_local_3c_1r_limit2",
     {{11, 13, lane::cancel, source::local}, {14, 14, lane::ready, source::local, 50}}},
};

const set_up* find(const char* name) {
    for (const set_up& s : set_ups) {
        if (std::strcmp(s.trace, name) == 0)
            return &s;
    }
    return nullptr;
}

/// Which lane the last call dispatched from, as the traces number them: by what was counted.
std::uint8_t lane_of(const tactus::fairness_certificate& before,
                     const tactus::fairness_certificate& after) {
    if (after.fallback_cancel_dispatches != before.fallback_cancel_dispatches)
        return 3;
    if (after.cancel_dispatches != before.cancel_dispatches)
        return 0;
    if (after.timed_dispatches != before.timed_dispatches)
        return 1;
    return after.ready_dispatches != before.ready_dispatches ? 2 : 4;
}

}  // namespace

// DT-3, DT-2, INV-SC-05: worker_next_task_traces_baseline, certificate_scenarios_from_source_tests
TEST(parity, every_trace_of_the_vectors_runs_as_written) {
    for (const auto& trace : vectors::lane_traces) {
        const set_up* with = find(trace.name);
        ASSERT_TRUE(with != nullptr);
        tactus::manual_clock time;
        parity_rig rig({.cancel_limit = trace.limit,
                        .time = &time,
                        .mode = lane_mode::parity,
                        .suggested = trace.meet_deadlines ? suggestion::meet_deadlines
                                                          : suggestion::no_preference});
        for (const group& g : with->groups)
            rig.put(g);
        for (unsigned i = 0; i < trace.count; ++i) {
            const auto& step = trace.steps[i];
            const tactus::fairness_certificate before = rig.certificate();
            EXPECT_EQ(rig.take_task(), step.task);
            EXPECT_EQ(lane_of(before, rig.certificate()), step.lane);
            EXPECT_EQ(rig.worker().cancel_streak(), step.streak);
        }
        const tactus::fairness_certificate& c = rig.certificate();
        const auto& f = trace.certificate.fields;
        EXPECT_EQ(c.base_limit, f[0]);
        EXPECT_EQ(c.effective_limit, f[1]);
        EXPECT_EQ(c.observed_max_cancel_streak, f[2]);
        EXPECT_EQ(c.cancel_dispatches, f[3]);
        EXPECT_EQ(c.timed_dispatches, f[4]);
        EXPECT_EQ(c.ready_dispatches, f[5]);
        EXPECT_EQ(c.fairness_yields, f[6]);
        EXPECT_EQ(c.fallback_cancel_dispatches, f[7]);
        EXPECT_EQ(c.holds(), trace.certificate.holds);
        EXPECT_EQ(c.witness(), trace.certificate.hash);
        EXPECT_EQ(rig.next_draw(), trace.next_draw);
    }
}

namespace {

struct path {
    const char* name;
    group what;
    unsigned taker = 0;
    bool at_limit = false;  // the streak has reached the limit, 1
};

constexpr path paths[] = {
    {"global cancel", {1, 1, lane::cancel, source::global}},
    {"global timed", {1, 1, lane::timed, source::global}},
    {"local cancel", {1, 1, lane::cancel, source::local}},
    {"local timed", {1, 1, lane::timed, source::local}},
    {"fast queue", {1, 1, lane::ready, source::deque}},
    {"local_ready", {1, 1, lane::ready, source::pinned}},
    {"global ready", {1, 1, lane::ready, source::global}},
    {"local heap ready", {1, 1, lane::ready, source::local}},
    {"idle", {}},
    {"steal from fast queue of worker 0", {1, 1, lane::ready, source::deque}, 1},
    {"steal from heap of worker 0", {1, 1, lane::ready, source::local}, 1},
    {"fallback cancel global (streak at limit 1)", {1, 1, lane::cancel, source::global}, 0, true},
    {"fallback cancel local (streak at limit 1)", {1, 1, lane::cancel, source::local}, 0, true},
};

unsigned draws_between(tactus::det_rng before, const tactus::det_rng& after) {
    unsigned count = 0;
    for (; before.state() != after.state() && count < 100; ++count)
        (void)before.next_u64();
    return count;
}

}  // namespace

// DT-3: rng_draws_per_next_task_path_baseline
TEST(parity, every_path_draws_as_often_as_the_vectors_say) {
    for (const auto& row : vectors::draws) {
        const path* p = nullptr;
        for (const path& known : paths) {
            if (std::strcmp(known.name, row.path) == 0)
                p = &known;
        }
        ASSERT_TRUE(p != nullptr);
        parity_rig rig({.workers = row.workers,
                        .cancel_limit = p->at_limit ? 1u : 16u,
                        .mode = lane_mode::parity});
        if (p->at_limit) {
            rig.put({0, 0, lane::cancel, source::global});
            EXPECT_EQ(rig.take_task(), 0);
        }
        rig.put(p->what);
        const tactus::det_rng before = rig.stream(p->taker);
        EXPECT_EQ(rig.take_task(p->taker), row.task);
        EXPECT_EQ(draws_between(before, rig.stream(p->taker)), row.draws);
    }
}

// DT-3: multi_worker_round_robin_baseline; stolen in a batch, run in the order taken, and stolen
// again from the deque, oldest first.
TEST(parity, workers_in_turn_take_what_the_vectors_take) {
    for (const auto& row : vectors::round_robin) {
        parity_rig rig({.workers = row.workers, .mode = lane_mode::parity});
        rig.put({0, 11, lane::ready, source::local, 100});
        for (unsigned i = 0; i < row.count; ++i)
            EXPECT_EQ(rig.take_task(row.turns[i].worker), row.turns[i].task);
        for (unsigned w = 0; w < row.workers; ++w) {
            EXPECT_EQ(rig.certificate(w).witness(), row.witness[w]);
            EXPECT_EQ(rig.next_draw(w), row.next_draw[w]);
        }
    }
}

// DT-3: steal_scan_order_fresh_rng
TEST(parity, thieves_scan_the_others_as_the_vectors_do) {
    for (const auto& row : vectors::scans) {
        tactus::det_rng stream(row.worker);
        const std::uint32_t others = row.workers - 1;
        for (unsigned n = 0; n < 6; ++n) {
            const auto start = static_cast<std::uint32_t>(stream.below(others));
            EXPECT_EQ(start, row.start[n]);
            for (std::uint32_t i = 0; i < others; ++i)
                EXPECT_EQ(tactus::victim_number(row.worker, start, i, others), row.victims[n][i]);
        }
    }
}

// DT-3: the deque and what is pinned newest first, then the global lane in order.
TEST(parity, ready_work_comes_from_the_deque_then_pinned_then_global_then_the_heap) {
    parity_rig rig({.mode = lane_mode::parity});
    rig.put({40, 40, lane::ready, source::local, 255});
    rig.put({30, 31, lane::ready, source::global, 200});
    rig.put({20, 21, lane::ready, source::pinned});
    rig.put({10, 12, lane::ready, source::deque});
    for (const int task : {12, 11, 10, 21, 20, 30, 31, 40, -1})
        EXPECT_EQ(rig.take_task(), task);
}

// DT-3, LN-9: work with a deadline is held until then, and has no limit in a row. Trap S5: until
// then it keeps nobody awake.
TEST(parity, timed_work_waits_until_it_is_due_and_then_comes_first) {
    tactus::manual_clock time;
    parity_rig rig({.timed_limit = 1, .time = &time, .mode = lane_mode::parity});
    rig.put({1, 1, lane::timed, source::global, 100, 2 * ms});
    rig.put({2, 3, lane::timed, source::local, 100, 3 * ms});
    EXPECT_EQ(rig.take_task(), -1);
    EXPECT_FALSE(rig.order().has_work(&rig.worker()));  // it may sleep
    time.advance(tactus::duration::from_ms(2));
    EXPECT_TRUE(rig.order().has_work(&rig.worker()));
    EXPECT_EQ(rig.take_task(), 1);
    EXPECT_FALSE(rig.order().has_work(&rig.worker()));
    time.advance(tactus::duration::from_ms(1));
    rig.put({9, 9, lane::ready, source::deque});
    EXPECT_EQ(rig.take_task() + rig.take_task(), 5);
    EXPECT_EQ(rig.take_task(), 9);
}

// LN-3 in parity mode: an entry left behind is no candidate of a tie-break.
TEST(parity, entries_left_behind_are_no_candidates) {
    for (unsigned n = 0; n < 3; ++n) {
        parity_rig rig({.mode = lane_mode::parity});
        rig.put({0, 2, lane::ready, source::local});
        EXPECT_EQ(rig.order().unregister(rig.index(n)), tactus::unregistered::idle);
        // The second draw of seed 0's stream chooses among two.
        tactus::det_rng draws = rig.stream();
        (void)draws.next_u64();
        const int left[2] = {n == 0 ? 1 : 0, n == 2 ? 1 : 2};
        EXPECT_EQ(rig.take_task(), left[draws.next_u64() % 2]);
        EXPECT_GE(rig.take_task(), 0);
        EXPECT_EQ(rig.take_task(), -1);
    }
}

// DT-3: who has run waits behind what is global, so that newest-first starves nobody.
TEST(parity, a_mailbox_that_yields_goes_to_the_end_of_the_global_lane) {
    parity_rig rig({.mode = lane_mode::parity});
    rig.put({1, 2, lane::ready, source::deque});
    tactus::slot* s = rig.order().next(rig.worker());
    ASSERT_TRUE(s == &rig.at(1));
    rig.order().requeue(*s, &rig.worker());
    EXPECT_EQ(rig.take_task(), 1);
    EXPECT_EQ(rig.take_task(), 2);
    EXPECT_EQ(rig.take_task(), -1);
}

// LN-5, LN-3, TC-F12: a thief that finds only what was left behind takes nothing, and goes on.
TEST(parity, a_thief_finds_nothing_among_what_was_left_behind) {
    parity_rig rig({.workers = 3, .mode = lane_mode::parity});
    rig.put({0, 2, lane::ready, source::local});
    for (unsigned n = 0; n < 3; ++n)
        EXPECT_EQ(rig.order().unregister(rig.index(n)), tactus::unregistered::idle);
    EXPECT_EQ(rig.take_task(1), -1);
    EXPECT_EQ(rig.worker(1).dispatch_count(), 0u);
}
