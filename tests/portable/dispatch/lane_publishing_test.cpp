// SPDX-License-Identifier: Apache-2.0
//
// Goal: what a worker keeps to itself reaches others when it should: in batches from a run that
// sends much, when a ring or the fresh ones overflow, and when the worker goes away (LN-5, LN-11,
// EX-8); TC-F12.
// Method: several workers' lanes driven by one thread; a thief at work is one whose wake-ups do
// something.
#include <tactus/dispatch/coordinator.hpp>

#include <cstdint>

#include "lane_rig.hpp"
#include "portable_test.hpp"

using tactus_test::lane_rig;

namespace {

struct counting_waker final : tactus::waker {
    void wake() noexcept override { ++woken; }
    unsigned woken = 0;
};

/// The run going on has sent so many messages that what it makes ready is kept for later.
void send_much(tactus::worker_lanes& w) {
    for (unsigned i = 0; i < 257; ++i) {
        const bool publish = w.count_send() && w.counted_send();
        EXPECT_FALSE(publish);
    }
}

/// `count` mailboxes from `first`, all but the last displaced from next.
void make_ready(lane_rig& rig, unsigned first, unsigned count) {
    for (unsigned n = first; n < first + count; ++n)
        rig.ready(n, &rig.worker(0));
}

}  // namespace

// LN-11: a thief that took each receiver after its first message would make every message cross
// the cores alone.
TEST(lane_publishing, a_run_that_sends_much_publishes_what_it_made_ready_in_batches) {
    lane_rig rig({.workers = 2});
    counting_waker w;
    rig.order().lend(rig.worker(1), w);
    EXPECT_TRUE(rig.order().rest(rig.worker(1)));
    send_much(rig.worker(0));
    make_ready(rig, 1, 4);
    EXPECT_FALSE(rig.order().has_work(&rig.worker(1)));  // 1, 2 and 3 are kept, 4 is next
    EXPECT_EQ(w.woken, 0u);
    rig.order().publish(rig.worker(0));
    EXPECT_EQ(w.woken, 1u);
    rig.order().begin(rig.worker(1));
    EXPECT_TRUE(rig.takes({1, 2}, 1));  // the older half, in order
    EXPECT_TRUE(rig.takes({4, 3}, 0));
    rig.order().publish(rig.worker(0));  // nothing is kept: nobody is told
    EXPECT_EQ(w.woken, 1u);
    // The next run has sent nothing yet.
    rig.worker(0).reset_sends();
    make_ready(rig, 5, 2);
    EXPECT_TRUE(rig.takes({5}, 1));
    EXPECT_TRUE(rig.takes({6}, 0));
}

// CO-2: what is kept for later is work, for who keeps it.
TEST(lane_publishing, who_keeps_something_for_later_has_work) {
    lane_rig rig({.workers = 2});
    send_much(rig.worker(0));
    make_ready(rig, 1, 2);
    EXPECT_TRUE(rig.takes({2}, 0));
    EXPECT_TRUE(rig.order().has_work(&rig.worker(0)));
    EXPECT_FALSE(rig.order().has_work(&rig.worker(1)));
    rig.order().publish(rig.worker(0));
    EXPECT_TRUE(rig.takes({1, -1}, 1));
}

// What does not fit is published at once, before what is kept.
TEST(lane_publishing, what_a_run_cannot_keep_is_published_at_once) {
    lane_rig rig({.workers = 2});
    send_much(rig.worker(0));
    make_ready(rig, 0, lane_rig::later_capacity + 1);
    EXPECT_FALSE(rig.order().has_work(&rig.worker(1)));
    make_ready(rig, lane_rig::later_capacity + 1, 1);
    EXPECT_TRUE(rig.takes({static_cast<int>(lane_rig::later_capacity)}, 1));
    EXPECT_TRUE(rig.idle(1));
    rig.order().publish(rig.worker(0));
    EXPECT_TRUE(rig.takes({0}, 1));
}

// A worker of its own keeps nothing for later: there is nobody to publish it to.
TEST(lane_publishing, a_single_worker_keeps_nothing_for_later) {
    lane_rig rig;
    send_much(rig.worker());
    make_ready(rig, 1, 3);
    EXPECT_TRUE(rig.takes({3, 1, 2, -1}));
}

namespace {

/// Somebody whose wake-up does something, as an interrupt would.
struct doing_waker final : tactus::waker {
    void wake() noexcept override {
        ++woken;
        rig->ready(20, &rig->worker(0));
    }
    unsigned woken = 0;
    lane_rig* rig = nullptr;
};

}  // namespace

// LN-5: the owner of a full ring cannot spill while a thief copies: its newest goes where everybody
// looks, and nothing is lost.
TEST(lane_publishing, a_full_ring_under_a_thief_overflows_into_the_global_lane) {
    lane_rig rig({.workers = 3});
    doing_waker w;
    w.rig = &rig;
    make_ready(rig, 0, lane_rig::ring_capacity + 1);
    rig.order().lend(rig.worker(2), w);
    EXPECT_TRUE(rig.order().rest(rig.worker(2), true));
    // The thief keeps what it does not run, which wakes worker 2 while it still copies.
    EXPECT_TRUE(rig.takes({0}, 1));
    EXPECT_EQ(w.woken, 1u);
    EXPECT_TRUE(rig.order().first_waiting() == rig.index(16));  // displaced by 20 meanwhile
    EXPECT_TRUE(rig.takes({1, 2, 3, 4, 5, 6, 7, 16}, 1));
    EXPECT_TRUE(rig.takes({20, 8, 9, 10, 11, 12, 13, 14, 15, -1}, 0));
}

// LN-11: fresh ones beyond the room there is: the older half goes where others look.
TEST(lane_publishing, fresh_ones_beyond_the_room_are_shared_oldest_first) {
    for (const unsigned workers : {1u, 2u}) {
        lane_rig rig({.workers = workers});
        for (unsigned n = 0; n <= lane_rig::fresh_capacity; ++n) {
            rig.fresh(n);
            rig.ready(n, &rig.worker(0));
        }
        if (workers == 2) {
            EXPECT_TRUE(rig.takes({0, 1, 2, 3, 4, -1}, 1));
            EXPECT_TRUE(rig.takes({8, 7, 6, 5, -1}, 0));
        } else {
            EXPECT_TRUE(rig.takes({8, 7, 6, 5, 0, 1, 2, 3, 4, -1}));
        }
    }
}

// While somebody has nothing to do, all but the newest are shared at once, and it is told.
TEST(lane_publishing, fresh_ones_are_shared_with_who_has_nothing_to_do) {
    lane_rig rig({.workers = 2});
    counting_waker w;
    rig.order().lend(rig.worker(1), w);
    EXPECT_TRUE(rig.order().rest(rig.worker(1)));
    for (const unsigned n : {1u, 2u}) {
        EXPECT_EQ(w.woken, 0u);
        rig.fresh(n);
        rig.ready(n, &rig.worker(0));
    }
    EXPECT_EQ(w.woken, 1u);
    rig.order().begin(rig.worker(1));
    EXPECT_TRUE(rig.takes({1, -1}, 1));
    EXPECT_TRUE(rig.takes({2, -1}, 0));
}

// LN-11: while everybody is busy they stay, and run newest first; one that was taken out does not.
TEST(lane_publishing, fresh_ones_stay_while_everybody_is_busy) {
    lane_rig rig({.workers = 2});
    for (const unsigned n : {1u, 2u, 3u}) {
        rig.fresh(n);
        rig.ready(n, &rig.worker(0));
    }
    EXPECT_EQ(rig.order().unregister(rig.index(3)), tactus::unregistered::idle);
    EXPECT_TRUE(rig.takes({2}, 0));
    EXPECT_TRUE(rig.idle(1));
    EXPECT_TRUE(rig.takes({1, -1}, 0));
    EXPECT_EQ(rig.worker(0).stale_count(), 1u);
}

// EX-8: a worker that will not come back for a while leaves what only it could take to all, in
// order, and wakes nobody.
TEST(lane_publishing, who_surrenders_leaves_everything_to_others) {
    lane_rig rig({.workers = 2});
    counting_waker w;
    EXPECT_FALSE(rig.order().first_waiting().valid());
    rig.order().surrender(rig.worker(0));  // it has nothing
    EXPECT_EQ(rig.order().waiting_count(), 0u);
    for (const unsigned n : {11u, 12u}) {
        rig.fresh(n);
        rig.ready(n, &rig.worker(0));
    }
    rig.order().lend(rig.worker(1), w);
    EXPECT_TRUE(rig.order().rest(rig.worker(1)));
    send_much(rig.worker(0));
    make_ready(rig, 1, 3);  // 1 and 2 are kept for later
    EXPECT_EQ(rig.order().waiting_count(), 0u);
    rig.order().surrender(rig.worker(0));
    EXPECT_EQ(w.woken, 0u);
    EXPECT_EQ(rig.order().waiting_count(), 5u);
    EXPECT_TRUE(rig.order().first_waiting() == rig.index(3));
    EXPECT_TRUE(rig.takes({3, 11, 12, 1, 2, -1}, 1));
    EXPECT_TRUE(rig.idle(0));
}

// EX-5: what others can see, in whichever lane and of whichever worker.
TEST(lane_publishing, the_count_of_what_waits_is_over_all_lanes_that_others_see) {
    lane_rig rig({.workers = 2});
    rig.ready(0);
    rig.cancel(1);
    rig.timed(2, 5);
    EXPECT_EQ(rig.order().waiting_count(), 3u);
    rig.cancel(3, &rig.worker(1));
    rig.timed(4, 5, &rig.worker(1));
    rig.ready(5, &rig.worker(1), 200);
    EXPECT_EQ(rig.order().waiting_count(), 6u);
    make_ready(rig, 6, lane_rig::ring_capacity + 1);  // a full ring, and one that is next
    EXPECT_EQ(rig.order().waiting_count(), 6u + lane_rig::ring_capacity);
    EXPECT_TRUE(rig.order().first_waiting() == rig.index(1));
}

// EX-5: whoever samples sees that workers look for something to run.
TEST(lane_publishing, progress_changes_with_every_look) {
    lane_rig rig({.workers = 2});
    const std::uint32_t before = rig.order().progress();
    EXPECT_TRUE(rig.idle(0));
    EXPECT_EQ(rig.order().progress(), before + 1);
    EXPECT_TRUE(rig.idle(1));
    EXPECT_EQ(rig.order().progress(), before + 2);
}
