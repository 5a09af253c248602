// SPDX-License-Identifier: Apache-2.0
//
// Goal: the lab driver makes the vectors' lab schedules out of a seed (DT-3).
// Method: the vectors' traces step by step; what they do not show, by scripts.
#include <tactus/dispatch/lab_driver.hpp>

#include <cstdint>

#include "lane_rig.hpp"
#include "portable_test.hpp"
#include "vectors.hpp"

namespace vectors = tactus_test::vectors;
using tactus::lab_driver;
using tactus::lane;
using tactus_test::lane_rig;

namespace {

void admit(lane_rig& rig, lab_driver& lab, unsigned n, const tactus::lane_place& place) {
    rig.at(n).set_traits(place.priority, false);
    EXPECT_TRUE(rig.at(n).state().request_schedule(
        place.where == lane::cancel ? tactus::schedule_hint::system : tactus::schedule_hint::user));
    lab.admit(rig.at(n), place);
}

int run(lane_rig& rig, const lab_driver::choice& c) {
    if (c.chosen == nullptr)
        return -1;
    EXPECT_EQ(c.chosen->state().run_ended(), tactus::mailbox_owed::look_again);
    return static_cast<int>(rig.slots().number_of(*c.chosen));
}

}  // namespace

// DT-3: lab_scheduler_traces_baseline
TEST(lab_driver, every_lab_trace_of_the_vectors_runs_as_written) {
    for (const auto& row : vectors::lab) {
        lane_rig rig({.workers = row.workers, .mode = tactus::lane_mode::lab});
        lab_driver lab({.lanes = &rig.order(), .slots = &rig.slots(), .seed = row.seed});
        for (unsigned n = 0; n < row.tasks; ++n)
            admit(rig, lab, n, {});
        for (unsigned i = 0; i < row.count; ++i) {
            const lab_driver::choice c = lab.next();
            EXPECT_EQ(run(rig, c), row.steps[i].task);
            EXPECT_EQ(c.step, row.steps[i].step);
            EXPECT_EQ(c.by->number(), row.steps[i].worker);
            EXPECT_EQ(c.by->last_lane(), row.steps[i].lane);
        }
        EXPECT_EQ(lab.certificate().hash(), row.certificate);
        EXPECT_EQ(lab.certificate().decisions(), row.count);
        EXPECT_TRUE(lab.next().chosen == nullptr);
        EXPECT_EQ(lab.certificate().decisions(), row.count);  // an idle step is no decision
    }
}

// DT-3: the lanes of a worker in their order, and a fallback cancel before another's ready work.
TEST(lab_driver, a_workers_own_lanes_come_before_stealing) {
    lane_rig rig({.workers = 2, .cancel_limit = 1, .mode = tactus::lane_mode::lab});
    // Seed 1 chooses worker 1 eight times.
    lab_driver lab({.lanes = &rig.order(), .slots = &rig.slots(), .seed = 1});
    admit(rig, lab, 0, {});
    admit(rig, lab, 1, {});
    admit(rig, lab, 2, {});
    admit(rig, lab, 3, {lane::timed, 128, 0});
    admit(rig, lab, 4, {});
    admit(rig, lab, 5, {lane::cancel, 128, 0});
    admit(rig, lab, 6, {lane::timed, 128, 1});  // of worker 0: not stolen, nor due
    admit(rig, lab, 7, {lane::cancel, 128, 0});
    // One of the two cancels, timed since the streak is at its limit, the other cancel, ready,
    // then what is stolen.
    const int first = run(rig, lab.next());
    EXPECT_TRUE(first == 5 || first == 7);
    EXPECT_EQ(run(rig, lab.next()), 3);
    EXPECT_EQ(run(rig, lab.next()), 12 - first);
    admit(rig, lab, 8, {});  // worker 0's
    admit(rig, lab, 9, {lane::cancel, 128, 0});
    EXPECT_EQ(run(rig, lab.next()), 1);
    EXPECT_EQ(run(rig, lab.next()), 9);
    admit(rig, lab, 10, {});
    admit(rig, lab, 11, {lane::cancel, 128, 0});
    EXPECT_EQ(run(rig, lab.next()), 11);  // a fallback, although ready work could be stolen
    EXPECT_EQ(rig.certificate(1).fallback_cancel_dispatches, 1u);
    const lab_driver::choice stolen = lab.next();
    EXPECT_EQ(run(rig, stolen) % 2, 0);
    EXPECT_EQ(stolen.by->number(), 1u);
    EXPECT_EQ(stolen.by->last_lane(), tactus::lane_stolen);
}

// DT-3: what a worker has run goes back to it, also when it was stolen.
TEST(lab_driver, a_stolen_mailbox_stays_with_who_took_it) {
    lane_rig rig({.workers = 2, .mode = tactus::lane_mode::lab});
    lab_driver lab({.lanes = &rig.order(), .slots = &rig.slots(), .seed = 1});
    admit(rig, lab, 0, {});
    lab_driver::choice c = lab.next();
    ASSERT_TRUE(c.chosen == &rig.at(0));
    EXPECT_EQ(c.by->last_lane(), tactus::lane_stolen);
    rig.order().requeue(*c.chosen, c.by);
    c = lab.next();
    ASSERT_TRUE(c.chosen == &rig.at(0));
    EXPECT_EQ(c.by->number(), 1u);
    EXPECT_EQ(c.by->last_lane(), static_cast<std::uint8_t>(lane::ready));
    // It is not everybody's: worker 0 would have to steal it.
    rig.order().requeue(*c.chosen, c.by);
    c = {.chosen = rig.order().next(rig.worker(0), 0)};
    EXPECT_EQ(run(rig, c), 0);
    EXPECT_EQ(rig.worker(0).last_lane(), tactus::lane_stolen);
}
