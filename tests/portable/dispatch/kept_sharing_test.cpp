// SPDX-License-Identifier: Apache-2.0
//
// Goal: what a worker keeps while a run goes on is moved to where others look, once, and nothing
// else is (DF-6).
// Method: several workers' lanes driven by one thread; a run that goes on is a worker that does not
// step.
#include <tactus/dispatch/coordinator.hpp>

#include <cstdint>

#include "lane_rig.hpp"
#include "portable_test.hpp"

using tactus::kept_look;
using tactus_test::lane_rig;

namespace {

/// Worker 0 in a run that two looks have seen; what it kept at the second was moved.
struct kept_rig : lane_rig {
    kept_rig() : lane_rig({.workers = 2}) {}
    std::uint32_t share() { return order().share_kept(worker(0), last); }
    /// The first look at a run moves nothing.
    void begin_run() {
        (void)order().next(worker(0));
        EXPECT_EQ(share(), 0u);
    }
    kept_look last;
};

}  // namespace

TEST(kept_sharing, DF_6_a_run_that_goes_on_keeps_nothing_to_itself) {
    kept_rig rig;
    rig.begin_run();
    rig.ready(1, &rig.worker(0));
    EXPECT_FALSE(rig.order().has_work(&rig.worker(1)));
    EXPECT_EQ(rig.share(), 1u);
    EXPECT_TRUE(rig.order().has_work(&rig.worker(1)));
    EXPECT_EQ(rig.share(), 0u);  // the entry that was left behind counts no more
    EXPECT_TRUE(rig.takes({1, lane_rig::nothing}, 1));
    EXPECT_TRUE(rig.idle(0));
    EXPECT_EQ(rig.worker(0).stale_count(), 1u);
}

TEST(kept_sharing, DF_6_the_worker_itself_may_take_what_was_moved) {
    kept_rig rig;
    rig.begin_run();
    rig.ready(1, &rig.worker(0));
    EXPECT_EQ(rig.share(), 1u);
    EXPECT_TRUE(rig.takes({1, lane_rig::nothing}, 0));
    EXPECT_TRUE(rig.idle(1));
}

TEST(kept_sharing, DF_6_a_worker_that_steps_keeps_what_it_has) {
    kept_rig rig;
    rig.begin_run();
    for (int i = 0; i < 3; ++i) {
        rig.ready(1, &rig.worker(0));
        EXPECT_TRUE(rig.takes({1}, 0));
        EXPECT_EQ(rig.share(), 0u);
    }
}

TEST(kept_sharing, DF_6_what_becomes_ready_after_a_look_is_moved_by_the_next) {
    kept_rig rig;
    rig.begin_run();
    for (unsigned n = 1; n < 4; ++n) {
        rig.ready(n, &rig.worker(0));
        EXPECT_EQ(rig.share(), 1u);
        EXPECT_TRUE(rig.takes({static_cast<int>(n)}, 1));
    }
    EXPECT_TRUE(rig.idle(0));
}

TEST(kept_sharing, DF_6_fresh_actors_and_what_is_kept_for_later_are_moved_too) {
    kept_rig rig;
    rig.begin_run();
    for (unsigned n = 1; n < 4; ++n) {
        rig.fresh(n);
        rig.ready(n, &rig.worker(0));
    }
    for (unsigned i = 0; i < 257; ++i)
        (void)rig.worker(0).count_send();
    for (unsigned n = 4; n < 7; ++n)
        rig.ready(n, &rig.worker(0));  // 4 and 5 are kept for later, 6 is next
    EXPECT_EQ(rig.share(), 6u);
    EXPECT_EQ(rig.share(), 0u);
    rig.fresh(7);
    rig.ready(7, &rig.worker(0));
    EXPECT_EQ(rig.share(), 1u);
    EXPECT_TRUE(rig.takes({1, 2, 3, 4, 5, 6, 7, lane_rig::nothing}, 1));
    rig.order().publish(rig.worker(0));
    EXPECT_TRUE(rig.idle(0));
    EXPECT_TRUE(rig.idle(1));
}

// A mailbox that was moved is promoted, unregistered and registered again as any other.
TEST(kept_sharing, DF_6_a_system_message_brings_forward_what_was_moved) {
    kept_rig rig;
    rig.begin_run();
    rig.ready(1, &rig.worker(0));
    rig.ready(2, &rig.worker(1));
    EXPECT_EQ(rig.share(), 1u);
    rig.order().promote(rig.at(1), rig.index(1), nullptr);
    EXPECT_TRUE(rig.takes({1, 2, lane_rig::nothing}, 1));
    rig.ready(1, &rig.worker(0));
    EXPECT_EQ(rig.share(), 1u);
    EXPECT_TRUE(rig.order().unregister(rig.index(1)) == tactus::unregistered::idle);
    EXPECT_TRUE(rig.idle(0));
    EXPECT_TRUE(rig.idle(1));
}

// An entry that is out of date moves nothing: its mailbox waits elsewhere, or was taken.
TEST(kept_sharing, DF_6_an_entry_left_behind_moves_nothing) {
    kept_rig rig;
    rig.begin_run();
    rig.ready(1, &rig.worker(0));
    rig.order().promote(rig.at(1), rig.index(1), nullptr);
    EXPECT_EQ(rig.share(), 0u);
    EXPECT_TRUE(rig.takes({1}, 1));
    EXPECT_EQ(rig.share(), 0u);
    rig.ready(1, &rig.worker(1));  // its next registration
    EXPECT_EQ(rig.share(), 0u);
    EXPECT_TRUE(rig.takes({1}, 1));
}
