// SPDX-License-Identifier: Apache-2.0
//
// Goal: a pinned mailbox runs on its worker alone, in every lane, and does not starve there (LN-5).
// Method: several workers' lanes driven by one thread, in each mode.
#include <tactus/dispatch/coordinator.hpp>

#include <cstdint>

#include "lane_rig.hpp"
#include "portable_test.hpp"

using tactus::lane;
using tactus::lane_mode;
using tactus_test::lane_rig;

namespace {

constexpr lane all[] = {lane::cancel, lane::timed, lane::ready};
constexpr std::uint8_t priorities[] = {128, 60, 200};

struct counting_waker final : tactus::waker {
    void wake() noexcept override { ++woken; }
    unsigned woken = 0;
};

void pin(lane_rig& rig, unsigned n, std::uint32_t worker) {
    rig.at(n).pin_to(worker);
}

}  // namespace

// LN-5, trap S8: whoever makes it ready, and in whichever lane, it is its worker's.
TEST(pinned, thieves_never_take_it) {
    for (const lane_mode mode : {lane_mode::standard, lane_mode::parity, lane_mode::lab}) {
        for (const lane where : all) {
            for (const std::uint8_t priority : priorities) {
                for (int made_by = -1; made_by < 2; ++made_by) {
                    lane_rig rig({.workers = 3, .mode = mode});
                    pin(rig, 1, 1);
                    rig.wait(1, {where, priority, 0},
                             made_by < 0 ? nullptr : &rig.worker(static_cast<unsigned>(made_by)));
                    for (unsigned i = 0; i < 70; ++i) {  // past the 64th step, too
                        EXPECT_TRUE(rig.idle(0));
                        EXPECT_TRUE(rig.idle(2));
                    }
                    EXPECT_FALSE(rig.order().has_work(&rig.worker(0)));
                    EXPECT_TRUE(rig.order().has_work(&rig.worker(1)));
                    EXPECT_TRUE(rig.takes({1, -1}, 1));
                }
            }
        }
    }
}

// LN-5: also when it was fresh, has run, or has a system message meanwhile.
TEST(pinned, it_stays_at_home_all_its_life) {
    for (const lane_mode mode : {lane_mode::standard, lane_mode::parity}) {
        lane_rig rig({.workers = 2, .mode = mode});
        rig.fresh(1);
        pin(rig, 1, 1);
        rig.ready(1, &rig.worker(0));
        EXPECT_TRUE(rig.idle(0));
        tactus::slot* s = rig.order().next(rig.worker(1));
        ASSERT_TRUE(s == &rig.at(1));
        s->end_fresh();
        EXPECT_TRUE(s->pinned());
        EXPECT_EQ(s->home(), 1u);
        rig.order().requeue(*s, &rig.worker(1));
        EXPECT_TRUE(rig.idle(0));
        rig.order().promote(*s, rig.index(1), &rig.worker(0));
        EXPECT_TRUE(rig.idle(0));
        EXPECT_TRUE(rig.takes({1, -1}, 1));
        EXPECT_EQ(rig.certificate(1).cancel_dispatches, 1u);
        EXPECT_EQ(rig.worker(1).stale_count(), 1u);  // what the promotion left behind
    }
}

// trap S7: pinned ones before, between and behind others hide nothing from a thief, and one that
// looks in vain changes nothing in their order.
TEST(pinned, it_hides_nothing_from_thieves) {
    for (const lane_mode mode : {lane_mode::standard, lane_mode::parity}) {
        lane_rig rig({.workers = 2, .mode = mode});
        for (const unsigned n : {1u, 3u, 5u})
            pin(rig, n, 0);
        for (unsigned n = 1; n <= 5; ++n)
            rig.ready(n, &rig.worker(0));
        rig.ready(6, &rig.worker(0));  // next on its worker in standard mode, where it stays
        EXPECT_TRUE(rig.takes({2, 4}, 1));
        if (mode == lane_mode::standard) {
            for (unsigned i = 0; i < 5; ++i)
                EXPECT_TRUE(rig.idle(1));
            EXPECT_TRUE(rig.takes({6, 1, 3, 5, -1}, 0));
        } else {
            EXPECT_TRUE(rig.takes({6}, 1));
            EXPECT_TRUE(rig.idle(1));
            EXPECT_TRUE(rig.takes({5, 3, 1, -1}, 0));  // the vectors' order, see trap S14
        }
    }
}

// trap S13: a system message for a pinned one goes by the actor's priority, not by the lowest.
TEST(pinned, it_keeps_its_priority_in_cancel) {
    lane_rig rig;
    constexpr std::uint8_t own[] = {0, 200, 128, 100, 250};
    for (unsigned n = 1; n <= 4; ++n) {
        pin(rig, n, 0);
        rig.ready(n, nullptr, own[n]);
    }
    for (unsigned n = 1; n <= 4; ++n)
        rig.order().promote(rig.at(n), rig.index(n), nullptr);
    EXPECT_TRUE(rig.takes({4, 1, 2, 3, -1}));
    EXPECT_EQ(rig.certificate().cancel_dispatches, 4u);
    for (const unsigned n : {3u, 1u, 4u, 2u})  // also when it comes with the message
        rig.cancel(n, nullptr, own[n]);
    EXPECT_TRUE(rig.takes({4, 1, 2, 3, -1}));
}

// trap S14: pinned ones run in the order they were made ready, whoever made them so. (Newest first
// in parity mode alone: the vectors are of the time before.)
TEST(pinned, they_run_in_the_order_they_came) {
    lane_rig rig({.workers = 2});
    for (unsigned n = 1; n <= 6; ++n)
        pin(rig, n, 0);
    for (unsigned n = 1; n <= 6; ++n)
        rig.ready(n, n % 3 == 0 ? nullptr : &rig.worker(n % 3 - 1));
    EXPECT_TRUE(rig.takes({1, 2}, 0));
    rig.ready(1, &rig.worker(0));
    rig.ready(2);
    EXPECT_TRUE(rig.takes({3, 4, 5, 6, 1, 2, -1}, 0));
}

// LN-1: in the lane it belongs to.
TEST(pinned, it_keeps_the_order_of_the_lanes) {
    lane_rig rig;
    for (const unsigned n : {1u, 2u, 3u, 4u})
        pin(rig, n, 0);
    rig.ready(1);
    rig.timed(2, 5);
    rig.cancel(3);
    rig.ready(4, nullptr, 200);
    rig.timed(10, 6);
    rig.timed(11, 4, &rig.worker());
    rig.ready(12);
    EXPECT_TRUE(rig.takes({3, 11, 2, 10, 4, 1, 12, -1}));
}

// LN-1, LN-3: cancel and timed come first for a pinned one too, whoever made it urgent.
TEST(pinned, what_is_urgent_does_not_wait_behind_plain_work) {
    for (const bool own : {true, false}) {
        for (const bool timed : {true, false}) {
            lane_rig rig({.workers = 2});
            rig.at(9).pin_to(0);
            for (const unsigned n : {1u, 2u, 3u})
                rig.ready(n, &rig.worker(0));
            tactus::worker_lanes* from = own ? &rig.worker(0) : nullptr;
            if (timed)
                rig.timed(9, 5, from);
            else
                rig.cancel(9, from);
            EXPECT_TRUE(rig.takes({9, 3, 1, 2}, 0));
        }
    }
}

// LN-4: as the global lane, it comes first now and then; and neither holds up the other.
TEST(pinned, it_is_not_starved_by_a_full_ring_nor_starves_the_global_lane) {
    lane_rig rig;
    pin(rig, 1, 0);
    rig.ready(1);
    rig.ready(2);
    unsigned pinned_at = 0;
    unsigned global_at = 0;
    for (unsigned step = 1; step <= 4 * 64; ++step) {
        rig.ready(3, &rig.worker());
        const int n = rig.take();
        if (n == 1) {
            pinned_at = pinned_at == 0 ? step : pinned_at;
            rig.ready(1);
        } else if (n == 2) {
            global_at = global_at == 0 ? step : global_at;
            rig.ready(2);
        }
        if (n != 3) {
            EXPECT_TRUE(rig.takes({3}));
        }
    }
    EXPECT_GT(pinned_at, 0u);
    EXPECT_LE(pinned_at, 128u);
    EXPECT_GT(global_at, 0u);
    EXPECT_LE(global_at, 128u);
}

// LN-5, trap S8: its worker is woken, and nobody else, although somebody searches.
TEST(pinned, the_worker_it_is_pinned_to_is_woken) {
    lane_rig rig({.workers = 2});
    pin(rig, 1, 1);
    counting_waker wakers[2];
    for (const unsigned w :
         {1u, 0u}) {  // 0 is the last to sleep: it would be the first to be woken
        rig.order().lend(rig.worker(w), wakers[w]);
        EXPECT_TRUE(rig.order().rest(rig.worker(w)));
    }
    EXPECT_TRUE(rig.order().idle().start_search(4));
    rig.ready(1);
    EXPECT_EQ(wakers[0].woken, 0u);
    EXPECT_EQ(wakers[1].woken, 1u);
    rig.order().begin(rig.worker(1));
    EXPECT_TRUE(rig.takes({1}, 1));
    rig.ready(1, &rig.worker(1));  // awake: nobody to wake
    EXPECT_EQ(wakers[0].woken + wakers[1].woken, 1u);
    EXPECT_TRUE(rig.takes({1}, 1));
}
