// SPDX-License-Identifier: Apache-2.0
//
// Goal: work moves between workers in order, and the same seed moves it the same way (LN-5;
// INV-SC-05).
// Method: several workers' lanes driven by one thread.
#include <tactus/dispatch/coordinator.hpp>

#include <cstdint>

#include "lane_rig.hpp"
#include "portable_test.hpp"

using tactus_test::lane_rig;

namespace {

/// `count` mailboxes from `first` in the worker's ring, in order.
void fill_ring(lane_rig& rig, unsigned worker, unsigned first, unsigned count) {
    for (unsigned n = first; n < first + count; ++n)
        rig.ready(n, &rig.worker(worker));
    rig.ready(23, &rig.worker(worker));  // displaces the last; itself stays next
}

}  // namespace

// LN-5, S6
TEST(lane_stealing, a_thief_takes_the_older_half_and_keeps_its_order) {
    lane_rig rig({.workers = 2});
    fill_ring(rig, 0, 1, 8);
    EXPECT_TRUE(rig.takes({1, 2, 3, 4}, 1));
    EXPECT_TRUE(rig.takes({5, 6}, 1));  // half of the rest
    EXPECT_TRUE(rig.takes({23, 7, 8}, 0));
    EXPECT_TRUE(rig.idle(0));
    EXPECT_TRUE(rig.idle(1));
    EXPECT_TRUE(rig.certificate(1).holds());
    EXPECT_EQ(rig.certificate(1).ready_dispatches, 6u);
}

// LN-11: what is next on a worker is not stolen.
TEST(lane_stealing, the_next_slot_is_not_stolen) {
    lane_rig rig({.workers = 2});
    rig.ready(1, &rig.worker(0));
    EXPECT_TRUE(rig.idle(1));
    EXPECT_TRUE(rig.takes({1}, 0));
}

// LN-5: half of a heap, best first.
TEST(lane_stealing, half_of_those_with_a_priority_are_taken) {
    lane_rig rig({.workers = 2});
    constexpr std::uint8_t priorities[] = {10, 60, 20, 50, 30, 40};
    for (unsigned n = 0; n < 6; ++n)
        rig.ready(n, &rig.worker(0), priorities[n]);
    EXPECT_TRUE(rig.takes({1}, 1));
    EXPECT_TRUE(rig.takes({4, 2, 0}, 0));  // 3 and 5 went with it
    EXPECT_TRUE(rig.takes({3, 5}, 1));
    EXPECT_TRUE(rig.idle(0));
    EXPECT_TRUE(rig.idle(1));
}
// LN-3, LN-5: what was left behind is not stolen, nor counted.
TEST(lane_stealing, what_was_left_behind_does_not_count_as_half) {
    lane_rig rig({.workers = 2});
    for (unsigned n = 0; n < 4; ++n)
        rig.ready(n, &rig.worker(0), static_cast<std::uint8_t>(100 - n));
    for (const unsigned n : {0U, 1U})
        EXPECT_TRUE(rig.order().unregister(rig.index(n)) == tactus::unregistered::idle);
    EXPECT_TRUE(rig.takes({2, 3}, 1));
    EXPECT_TRUE(rig.idle(0));
}

// LN-5: at most four of a heap, however much there is.
TEST(lane_stealing, at_most_four_of_those_with_a_priority_are_taken) {
    constexpr unsigned many = tactus_test::board::roomy ? 12 : 8;
    lane_rig rig({.workers = 2});
    for (unsigned n = 0; n < many; ++n)
        rig.ready(n, &rig.worker(0), static_cast<std::uint8_t>(100 - n));
    EXPECT_TRUE(rig.takes({0}, 1));
    EXPECT_TRUE(rig.takes({4}, 0));  // 1, 2 and 3 went with it
    EXPECT_TRUE(rig.takes({1, 2, 3}, 1));
}

// Own work first, global work before stealing.
TEST(lane_stealing, nothing_is_stolen_while_there_is_own_or_global_work) {
    lane_rig rig({.workers = 2});
    fill_ring(rig, 0, 1, 4);
    rig.ready(10, &rig.worker(1));
    rig.ready(11);
    EXPECT_TRUE(rig.takes({10, 11, 1}, 1));
}

// Cancel and timed work of a worker that is held up: one at a time, and only when nobody has ready
// work.
TEST(lane_stealing, urgent_work_of_another_is_taken_last) {
    lane_rig rig({.workers = 2});
    rig.cancel(1, &rig.worker(0));
    rig.timed(2, 5, &rig.worker(0));
    rig.cancel(3, &rig.worker(0), 200);
    fill_ring(rig, 0, 10, 1);
    EXPECT_TRUE(rig.takes({10}, 1));
    EXPECT_TRUE(rig.takes({1, 3, 2}, 1));
    EXPECT_EQ(rig.certificate(1).cancel_dispatches, 2u);
    EXPECT_EQ(rig.certificate(1).timed_dispatches, 1u);
}

// DT-2: stolen is ready work alone; cancel and timed are so, whoever runs them.
TEST(lane_stealing, the_schedule_certificate_names_the_lane_of_what_was_taken) {
    lane_rig rig({.workers = 2, .certify = true});
    rig.cancel(1, &rig.worker(0));
    rig.timed(2, 5, &rig.worker(0));
    rig.cancel(3, &rig.worker(0), 200);
    fill_ring(rig, 0, 10, 1);
    EXPECT_TRUE(rig.takes({10, 1, 3, 2}, 1));
    tactus::schedule_certificate expected;
    std::uint64_t step = 0;
    expected.add(10, 1, tactus::lane_stolen, ++step);
    expected.add(1, 1, static_cast<std::uint8_t>(tactus::lane::cancel), ++step);
    expected.add(3, 1, static_cast<std::uint8_t>(tactus::lane::cancel), ++step);
    expected.add(2, 1, static_cast<std::uint8_t>(tactus::lane::timed), ++step);
    EXPECT_TRUE(rig.worker(1).schedule() == expected);
}

// LN-11: freshly spawned actors are shared when somebody has nothing to do, the oldest first.
TEST(lane_stealing, fresh_actors_are_shared_with_who_is_idle) {
    lane_rig rig({.workers = 2});
    for (const unsigned n : {1u, 2u, 3u, 4u}) {
        rig.fresh(n);
        rig.ready(n, &rig.worker(0));
    }
    EXPECT_TRUE(rig.idle(1));  // they are not stolen
    EXPECT_TRUE(rig.order().idle().start_search(2));
    EXPECT_TRUE(rig.takes({4}, 0));  // and shares the older half
    EXPECT_TRUE(rig.takes({1}, 1));
    EXPECT_TRUE(rig.takes({3, 2}, 0));
    (void)rig.order().idle().stop_search();
}

namespace {

/// Which of three victims worker 3 goes to first, and then in which order.
std::uint32_t scan(std::uint64_t seed, unsigned rounds) {
    lane_rig rig({.workers = 4, .seed = seed});
    std::uint32_t trace = 1;
    for (unsigned round = 0; round < rounds; ++round) {
        for (unsigned v = 0; v < 3; ++v) {
            rig.ready(v, &rig.worker(v));
            rig.ready(10 + v, &rig.worker(v));  // v goes to the ring
        }
        unsigned order[3] = {};
        for (unsigned& o : order)
            o = static_cast<unsigned>(rig.take(3));
        for (const unsigned o : order) {
            EXPECT_LT(o, 3u);
            trace = trace * 5 + o;
        }
        for (unsigned v = 0; v < 3; ++v)
            EXPECT_EQ(rig.take(v), static_cast<int>(10 + v));
    }
    return trace;
}

}  // namespace

// sc-steal-001, INV-SC-05
TEST(lane_stealing, the_same_seed_scans_the_others_in_the_same_order) {
    unsigned different = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        EXPECT_EQ(scan(seed, 6), scan(seed, 6));
        different += scan(seed, 6) != scan(seed + 100, 6) ? 1 : 0;
    }
    EXPECT_GT(different, 10u);
}

// sc-steal-001, DT-5: circular, in ascending order from the drawn start, oneself left out.
TEST(lane_stealing, victims_are_scanned_in_a_circle) {
    for (unsigned thief = 0; thief < 4; ++thief) {
        lane_rig rig({.workers = 4, .seed = 3});
        tactus::det_rng expected(tactus::stream_seed(3, thief));  // the thief's own stream
        for (unsigned round = 0; round < 8; ++round) {
            // One victim has work, so a draw is made; the others are found empty.
            for (unsigned v = 0; v < 4; ++v) {
                if (v != thief) {
                    rig.ready(v, &rig.worker(v));
                    rig.ready(10 + v, &rig.worker(v));
                }
            }
            const auto start = static_cast<unsigned>(expected.below(3));
            const unsigned first = start < thief ? start : start + 1;
            EXPECT_EQ(rig.take(thief), static_cast<int>(first));
            for (unsigned v = 0; v < 4; ++v) {
                while (v != thief && rig.take(v) != lane_rig::nothing) {
                }
            }
            // Those two loops drew too, from their own streams.
        }
    }
}

// LN-4, DT-4: nothing is drawn on an idle pass.
TEST(lane_stealing, idle_passes_draw_nothing) {
    lane_rig rig({.workers = 3, .seed = 9});
    for (unsigned i = 0; i < 100; ++i)
        EXPECT_TRUE(rig.idle(1));
    tactus::det_rng expected(tactus::stream_seed(9, 1));
    for (unsigned round = 0; round < 6; ++round) {
        for (const unsigned v : {0u, 2u}) {
            rig.ready(v, &rig.worker(v));
            rig.ready(10 + v, &rig.worker(v));
        }
        const unsigned first = expected.below(2) == 0 ? 0 : 2;
        EXPECT_EQ(rig.take(1), static_cast<int>(first));
        EXPECT_EQ(rig.take(1), static_cast<int>(2 - first));
        (void)expected.below(2);
        EXPECT_TRUE(rig.takes({10}, 0));
        EXPECT_TRUE(rig.takes({12}, 2));
        for (unsigned i = 0; i < 10; ++i)
            EXPECT_TRUE(rig.idle(1));
    }
}

// LN-5, TC-F12: a batch of none would leave work with priorities to who is held up: 0 is 1.
TEST(lane_stealing, a_batch_of_zero_is_one) {
    lane_rig rig({.workers = 2, .steal_batch = 0});
    for (const unsigned n : {1u, 2u, 3u})
        rig.ready(n, &rig.worker(0), 60);
    EXPECT_TRUE(rig.takes({1}, 1));
    EXPECT_TRUE(rig.takes({2, 3, -1}, 0));  // they did not go with it
}

// LN-3, TC-F12: what is left behind in another's lanes looks like work, and is none.
TEST(lane_stealing, entries_left_behind_are_not_stolen) {
    constexpr void (*puts[])(lane_rig&) = {
        [](lane_rig& r) { fill_ring(r, 0, 1, 1); },
        [](lane_rig& r) { r.ready(1, &r.worker(0), 60); },
        [](lane_rig& r) { r.cancel(1, &r.worker(0)); },
        [](lane_rig& r) { r.cancel(1, &r.worker(0), 200); },
        [](lane_rig& r) { r.timed(1, 5, &r.worker(0)); },
    };
    for (const auto put : puts) {
        lane_rig rig({.workers = 2});
        put(rig);
        EXPECT_EQ(rig.order().unregister(rig.index(1)), tactus::unregistered::idle);
        EXPECT_TRUE(rig.order().has_work(&rig.worker(1)));
        EXPECT_TRUE(rig.idle(1));
        EXPECT_EQ(rig.worker(1).stale_count(), 1u);
        EXPECT_FALSE(rig.order().has_work(&rig.worker(1)));
        EXPECT_EQ(rig.worker(1).dispatch_count(), 0u);
    }
}
