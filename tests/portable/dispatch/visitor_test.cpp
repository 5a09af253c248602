// SPDX-License-Identifier: Apache-2.0
//
// Goal: who drains beside the workers, with lanes of its own, takes one mailbox at a time and keeps
// nothing: nobody looks there (CO-1, LN-5); TC-F12.
// Method: two workers and a visitor's lanes driven by one thread, in both modes.
#include <tactus/dispatch/coordinator.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "lane_rig.hpp"
#include "portable_test.hpp"

using tactus::lane_mode;
using tactus::mailbox_index;
using tactus_test::lane_rig;
using whose = lane_rig::visitor;

namespace {

/// What a visitor gets when it asks for `max`; each runs, and is idle again.
struct visit {
    visit(lane_rig& rig, std::size_t max) {
        count = rig.order().drain_ready_cycle(std::span(out).first(max));
        for (std::size_t i = 0; i < count; ++i)
            EXPECT_TRUE(rig.order().handle_invoke_result(out[i], {}));
    }
    [[nodiscard]] bool is(lane_rig& rig, std::initializer_list<unsigned> expected) const {
        bool good = expected.size() == count;
        std::size_t i = 0;
        for (const unsigned n : expected)
            good = good && i < count && out[i++] == rig.index(n);
        return good;
    }
    mailbox_index out[8];
    std::size_t count = 0;
};

struct counting_waker final : tactus::waker {
    void wake() noexcept override { ++woken; }
    unsigned woken = 0;
};

}  // namespace

// LN-5: from a ring one, not half; what is left stays with its worker.
TEST(visitor, takes_one_of_a_ring_at_a_time) {
    lane_rig rig({.workers = 2, .visits = whose::own_lanes});
    for (const unsigned n : {1u, 2u, 3u, 4u, 5u})
        rig.ready(n, &rig.worker(0));
    EXPECT_TRUE(visit(rig, 1).is(rig, {1}));
    EXPECT_TRUE(rig.takes({5, 2}, 0));
    EXPECT_TRUE(visit(rig, 8).is(rig, {3, 4}));
    EXPECT_EQ(visit(rig, 8).count, 0u);
}

// LN-5: the same of work with a priority, best first, and of urgent work.
TEST(visitor, takes_one_of_the_heaps_at_a_time) {
    for (const lane_mode mode : {lane_mode::standard, lane_mode::parity}) {
        lane_rig rig({.workers = 2, .visits = whose::own_lanes, .mode = mode});
        constexpr std::uint8_t priorities[] = {10, 60, 20, 50};
        for (unsigned n = 0; n < 4; ++n)
            rig.ready(n, &rig.worker(1), priorities[n]);
        EXPECT_TRUE(visit(rig, 1).is(rig, {1}));
        EXPECT_TRUE(rig.takes({3}, 1));  // 2 and 0 did not go with it
        EXPECT_TRUE(visit(rig, 8).is(rig, {2, 0}));
        EXPECT_EQ(visit(rig, 8).count, 0u);
    }
}

TEST(visitor, takes_global_work_before_that_of_workers) {
    lane_rig rig({.workers = 1, .visits = whose::own_lanes});
    rig.ready(1, &rig.worker(0));
    rig.ready(2, &rig.worker(0));
    rig.ready(3);
    rig.cancel(4);
    rig.cancel(5, &rig.worker(0));
    EXPECT_TRUE(visit(rig, 8).is(rig, {4, 3, 1, 5}));  // 2 is next on its worker
    EXPECT_TRUE(rig.takes({2, -1}));
}

// LN-5, LN-3: what was taken out meanwhile is nobody's work.
TEST(visitor, finds_nothing_where_all_was_taken_out) {
    for (const lane_mode mode : {lane_mode::standard, lane_mode::parity}) {
        lane_rig rig({.workers = 2, .visits = whose::own_lanes, .mode = mode});
        rig.ready(1, &rig.worker(0), 60);
        EXPECT_EQ(rig.order().unregister(rig.index(1)), tactus::unregistered::idle);
        EXPECT_EQ(visit(rig, 8).count, 0u);
    }
}

// CO-1: who polls can take only what others see; where one thread does everything, that is all.
TEST(visitor, what_is_next_on_a_worker_is_work_only_for_who_shares_its_lanes) {
    struct row {
        whose visits;
        std::uint32_t workers;
        bool is_work;
    };
    constexpr row table[] = {
        {whose::own_lanes, 1, false},
        {whose::own_lanes, 2, false},
        {whose::first_worker, 1, true},
        {whose::first_worker, 2, false},  // whoever polls need not be that worker
        {whose::none, 1, false},
    };
    for (const row& at : table) {
        lane_rig rig({.workers = at.workers, .visits = at.visits});
        rig.ready(1, &rig.worker());
        counting_waker w;
        EXPECT_EQ(rig.order().poll_wait_signal(w), at.is_work);
        rig.ready(2);
        EXPECT_EQ(w.woken, at.is_work ? 0u : 1u);
        EXPECT_TRUE(rig.takes({1, 2}));
    }
}

// LN-9: without a visitor the workers' misses are all there are.
TEST(visitor, nobody_has_to_visit) {
    lane_rig rig({.visits = whose::none});
    EXPECT_EQ(rig.order().deadline_misses(), 0u);
    rig.ready(1);
    EXPECT_TRUE(rig.takes({1, -1}));
}

// CO-3: a coordinator without a system around it, so without suspensions and anybody to tell.
TEST(visitor, reports_alone_keep_no_condition_and_hold_back_what_failed) {
    lane_rig rig;
    const mailbox_index a = rig.index(1);
    const tactus::resume_condition until = tactus::resume_condition::signal(7);
    rig.ready(1);
    EXPECT_TRUE(rig.order().next(rig.worker()) == &rig.at(1));
    EXPECT_TRUE(rig.order().handle_invoke_result(
        a, {.outcome = tactus::invoke_outcome::suspended, .resume_on = &until}));
    EXPECT_TRUE(rig.at(1).state().should_process());  // what cannot be kept does not hold it back
    rig.ready(1);
    EXPECT_TRUE(rig.order().next(rig.worker()) == &rig.at(1));
    EXPECT_TRUE(rig.order().handle_invoke_result(a, {.outcome = tactus::invoke_outcome::failed}));
    EXPECT_EQ(rig.at(1).state().suspend_count(tactus::suspension::supervision), 1u);
}
