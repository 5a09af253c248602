// SPDX-License-Identifier: Apache-2.0
//
// Goal: the order of the lanes, of what waits in one, and of the phases (LN-1, LN-3, LN-4, LN-8,
// LN-11; INV-SC-01 ... 03, 07).
// Method: scripts over a coordinator driven by one thread.
#include <tactus/dispatch/coordinator.hpp>

#include <cstdint>

#include "lane_rig.hpp"
#include "portable_test.hpp"

using tactus::default_priority;
using tactus::enqueued;
using tactus::lane;
using tactus::schedule_hint;
using tactus::slot;
using tactus::system_message;
using tactus::worker_lanes;
using tactus_test::lane_rig;

// sc-lane-priority-001, INV-SC-01, S1
TEST(lane_order, cancel_comes_before_timed_before_ready) {
    for (const bool local : {false, true}) {
        lane_rig rig;
        auto* from = local ? &rig.worker() : nullptr;
        rig.ready(1, from);
        rig.timed(2, 50, from);
        rig.cancel(3, from);
        rig.ready(4, from, 255);  // whatever the priority
        rig.cancel(5, from, 0);
        EXPECT_TRUE(rig.takes({3, 5, 2, 4, 1}));
        EXPECT_TRUE(rig.idle());
        EXPECT_EQ(rig.certificate().cancel_dispatches, 2u);
        EXPECT_EQ(rig.certificate().timed_dispatches, 1u);
        EXPECT_EQ(rig.certificate().ready_dispatches, 2u);
    }
}

// LN-4: by lane first, then global before local; deadlines decide wherever they wait.
TEST(lane_order, global_and_local_are_interleaved_by_lane) {
    lane_rig rig;
    auto* own = &rig.worker();
    rig.timed(1, 10);
    rig.cancel(2, own);
    rig.timed(3, 5, own);
    rig.cancel(4);
    EXPECT_TRUE(rig.takes({4, 2, 3, 1}));
}

// LN-9, sc-edf-001: earliest deadline first across the global lane and the worker's own.
TEST(lane_order, the_earliest_deadline_comes_first_wherever_it_waits) {
    lane_rig rig;
    auto* own = &rig.worker();
    rig.timed(1, 30);
    rig.timed(2, 10, own);
    rig.timed(3, 20);
    rig.timed(4, 40, own);
    rig.timed(5, 20, own);  // of equals the one from outside
    rig.timed(6, 50);
    EXPECT_TRUE(rig.takes({2, 3, 5, 1, 4, 6}));
    EXPECT_TRUE(rig.idle());
}

// LN-3: an entry left behind neither counts nor hides an earlier deadline behind it.
TEST(lane_order, an_entry_left_behind_does_not_decide_between_deadlines) {
    lane_rig rig;
    auto* own = &rig.worker();
    rig.timed(1, 5);
    rig.timed(2, 40);
    rig.timed(3, 20, own);
    EXPECT_EQ(rig.order().unregister(rig.index(1)), tactus::unregistered::idle);
    EXPECT_TRUE(rig.takes({3, 2}));
    EXPECT_TRUE(rig.idle());
}

// sc-fifo-priority-001, INV-SC-02
TEST(lane_order, equal_priorities_leave_in_the_order_they_came) {
    for (const bool local : {false, true}) {
        constexpr std::uint8_t priorities[] = {0, 100, 128, 200};
        for (const std::uint8_t priority : priorities) {
            lane_rig rig;
            auto* from = local ? &rig.worker() : nullptr;
            for (const unsigned n : {5u, 2u, 7u, 1u})
                rig.cancel(n, from, priority);
            EXPECT_TRUE(rig.takes({5, 2, 7, 1}));
        }
    }
    lane_rig rig;
    for (const unsigned n : {5u, 2u, 7u, 1u})
        rig.ready(n, nullptr, 128);
    EXPECT_TRUE(rig.takes({5, 2, 7, 1}));
    for (const unsigned n : {5u, 2u, 7u, 1u})
        rig.ready(n, &rig.worker(), 90);
    EXPECT_TRUE(rig.takes({5, 2, 7, 1}));
}

// LN-8: 0 to 255, higher first, the default in its place.
TEST(lane_order, higher_priorities_leave_first) {
    for (const bool local : {false, true}) {
        for (const lane where : {lane::cancel, lane::ready}) {
            lane_rig rig;
            auto* from = local ? &rig.worker() : nullptr;
            rig.wait(1, {where, 0, 0}, from);
            rig.wait(2, {where, 128, 0}, from);
            rig.wait(3, {where, 127, 0}, from);
            rig.wait(4, {where, 255, 0}, from);
            rig.wait(5, {where, 129, 0}, from);
            EXPECT_TRUE(rig.takes({4, 5, 2, 3, 1}));
        }
    }
}

// sc-edf-001, sc-edf-fifo-001, INV-SC-03
TEST(lane_order, deadlines_leave_earliest_first_and_equal_ones_in_order) {
    for (const bool local : {false, true}) {
        lane_rig rig;
        auto* from = local ? &rig.worker() : nullptr;
        rig.timed(1, 3, from);
        rig.timed(2, 1, from);
        rig.timed(3, 2, from);
        rig.timed(4, 1, from);
        rig.timed(5, -7, from);
        EXPECT_TRUE(rig.takes({5, 2, 4, 3, 1}));
    }
}

// LN-3, S3
TEST(lane_order, a_system_message_moves_a_waiting_mailbox_to_cancel) {
    for (const lane where : {lane::ready, lane::timed}) {
        for (const bool local : {false, true}) {
            lane_rig rig;
            auto* from = local ? &rig.worker() : nullptr;
            rig.cancel(9, from);
            rig.wait(1, {where, 128, 1}, from);
            rig.wait(2, {where, 128, 2}, from);
            rig.order().promote(rig.at(2), rig.index(2), from);
            EXPECT_TRUE(rig.takes({9, 2, 1}));
            // LN-3, S15: what it left behind is skipped, and not counted.
            EXPECT_TRUE(rig.idle());
            EXPECT_EQ(rig.worker().dispatch_count(), 3u);
            EXPECT_EQ(rig.certificate().cancel_dispatches, 2u);
        }
    }
}

// LN-3: a system message that came after the scheduled bit was won and before there was a ticket
// found nothing to promote; who then puts the mailbox behind others does it.
TEST(lane_order, LN_3_a_system_message_before_the_ticket_is_not_kept_waiting_in_ready) {
    struct where {
        worker_lanes* from;
        std::uint8_t priority;
    };
    lane_rig rig;
    for (const where w :
         {where{nullptr, default_priority}, where{&rig.worker(), default_priority},
          where{&rig.worker(), default_priority - 1}, where{nullptr, default_priority - 1}}) {
        for (unsigned n = 0; n < 4; ++n)
            rig.ready(n, w.from);
        slot& s = rig.at(5);
        s.set_traits(w.priority, false);
        system_message m;
        EXPECT_TRUE(s.state().request_schedule(schedule_hint::user));
        EXPECT_EQ(s.enqueue_system(m), enqueued::accepted);
        rig.order().promote(s, rig.index(5), nullptr);  // too early
        rig.order().submit_ready(s, w.from);
        rig.ready(6, w.from);  // what was next to run, if it was, is behind others now
        EXPECT_TRUE(rig.takes({5}));
        (void)s.drain_system();
        while (rig.take() != lane_rig::nothing) {
        }
    }
}

// LN-3: one already in cancel keeps its place.
TEST(lane_order, a_second_system_message_does_not_move_it_again) {
    lane_rig rig;
    rig.ready(1);
    rig.ready(2);
    rig.order().promote(rig.at(2), rig.index(2), nullptr);
    rig.order().promote(rig.at(1), rig.index(1), nullptr);
    rig.order().promote(rig.at(2), rig.index(2), nullptr);
    EXPECT_TRUE(rig.takes({2, 1}));
    EXPECT_TRUE(rig.idle());
    EXPECT_EQ(rig.worker().dispatch_count(), 2u);
    EXPECT_EQ(rig.worker().stale_count(), 2u);
}

// LN-3: one dispatch per registration, also when the mailbox waits again before the old entry is
// met.
TEST(lane_order, an_entry_left_behind_does_not_stand_for_a_later_registration) {
    lane_rig rig;
    rig.ready(1);
    rig.ready(2);
    rig.order().promote(rig.at(2), rig.index(2), nullptr);
    EXPECT_TRUE(rig.takes({2}));
    rig.ready(2);  // behind 1 and behind its own old entry
    rig.ready(3);
    EXPECT_TRUE(rig.takes({1, 2, 3}));
    EXPECT_TRUE(rig.idle());
    EXPECT_EQ(rig.worker().dispatch_count(), 4u);
}

// S15: neither is it stolen.
TEST(lane_order, an_entry_left_behind_is_not_dispatched_by_a_thief) {
    lane_rig rig({.workers = 2});
    auto* owner = &rig.worker(0);
    for (const unsigned n : {1u, 2u, 3u})
        rig.ready(n, owner);  // 1 and 2 in the ring, 3 next
    rig.order().promote(rig.at(1), rig.index(1), owner);
    EXPECT_TRUE(rig.takes({1}, 0));
    int stolen = rig.take(1);
    if (stolen == lane_rig::nothing)
        stolen = rig.take(1);  // half of two was the one left behind
    EXPECT_EQ(stolen, 2);
    EXPECT_TRUE(rig.idle(1));
    EXPECT_TRUE(rig.takes({3}, 0));
    EXPECT_EQ(rig.worker(1).dispatch_count(), 1u);
}

namespace {

/// Makes a mailbox ready when it is due.
class waking_timer final : public tactus::timer_phase {
public:
    explicit waking_timer(lane_rig*& rig) noexcept : rig_(rig) {}
    [[nodiscard]] tactus::instant next_deadline() noexcept override {
        ++asked;
        return armed ? tactus::instant::from_ns(100) : tactus::instant::never();
    }
    void run_due(tactus::instant) noexcept override {
        clear_due();
        armed = false;
        ++runs;
        rig_->cancel(7);
    }
    bool armed = false;
    unsigned runs = 0;
    unsigned asked = 0;

private:
    lane_rig*& rig_;
};

class counting_clock final : public tactus::clock {
public:
    explicit counting_clock(tactus::clock_kind kind) noexcept : kind_(kind) {}
    [[nodiscard]] tactus::instant now() const noexcept override {
        ++reads;
        return tactus::instant::from_ns(at);
    }
    [[nodiscard]] tactus::clock_kind kind() const noexcept override { return kind_; }
    std::uint64_t at = 0;
    mutable unsigned reads = 0;

private:
    tactus::clock_kind kind_;
};

}  // namespace

// sc-timer-phase0-001, INV-SC-07, T12
TEST(lane_order, timers_that_are_due_come_before_any_dispatch) {
    lane_rig* rig = nullptr;
    waking_timer timers(rig);
    counting_clock time(tactus::clock_kind::deterministic);
    lane_rig made({.time = &time, .timers = &timers});
    rig = &made;
    rig->ready(1);
    rig->cancel(2);
    timers.armed = true;
    time.at = 99;
    EXPECT_TRUE(rig->takes({2}));
    EXPECT_EQ(timers.runs, 0u);
    rig->cancel(2);
    time.at = 100;
    // Due now: what the timer woke is in the lanes before this dispatch chooses.
    EXPECT_TRUE(rig->takes({2, 7, 1}));
    EXPECT_EQ(timers.runs, 1u);
}

// LN-4: virtual clocks every dispatch, real ones at most once per 64; the due flag at once.
TEST(lane_order, a_real_clock_is_read_once_in_64_steps_or_when_marked_due) {
    lane_rig* rig = nullptr;
    waking_timer timers(rig);
    counting_clock time(tactus::clock_kind::realtime_host);
    lane_rig made({.time = &time, .timers = &timers});
    rig = &made;
    timers.armed = true;
    time.at = 1'000;
    for (unsigned i = 0; i < 63; ++i) {
        rig->ready(1);
        EXPECT_TRUE(rig->takes({1}));
    }
    EXPECT_EQ(time.reads, 0u);
    rig->ready(1);
    EXPECT_TRUE(rig->takes({7, 1}));
    EXPECT_EQ(time.reads, 1u);
    timers.armed = true;
    timers.mark_due();
    EXPECT_TRUE(rig->takes({7}));
    EXPECT_EQ(time.reads, 2u);
    EXPECT_FALSE(timers.marked_due());
    for (unsigned i = 0; i < 640; ++i)
        EXPECT_EQ(rig->take(), lane_rig::nothing);
    EXPECT_LE(time.reads, 13u);
}

// LN-11
TEST(lane_order, what_was_made_ready_last_runs_next_and_then_the_ring_in_order) {
    lane_rig rig;
    for (const unsigned n : {1u, 2u, 3u, 4u})
        rig.ready(n, &rig.worker());
    EXPECT_TRUE(rig.takes({4, 1, 2, 3}));
}

// LN-11: at most 16 in a row while other work waits.
TEST(lane_order, the_next_slot_yields_to_the_ring_after_16) {
    lane_rig rig;
    rig.ready(9, &rig.worker());
    for (unsigned round = 0; round < 3; ++round) {
        unsigned before = 0;
        rig.ready(1, &rig.worker());  // displaces what was next
        while (rig.take() == 1) {
            ++before;
            rig.ready(1, &rig.worker());
        }
        EXPECT_EQ(before, round == 0 ? 16u : 15u);  // one was taken at the end of the last round
        EXPECT_TRUE(rig.takes({1}));
        rig.ready(9, &rig.worker());
    }
    EXPECT_TRUE(rig.takes({9}));
}

// LN-11: whoever it is that waits: a fresh actor, a low priority, a pinned one, one from outside.
TEST(lane_order, the_next_slot_yields_to_everybody_who_waits) {
    struct row {
        const char* what;
        void (*wait)(lane_rig&);
    };
    const row table[] = {
        {"fresh",
         [](lane_rig& r) {
             r.fresh(9);
             r.ready(9, &r.worker());
         }},
        {"from outside", [](lane_rig& r) { r.ready(9, nullptr); }},
        {"low priority", [](lane_rig& r) { r.ready(9, &r.worker(), 1); }},
        {"pinned",
         [](lane_rig& r) {
             r.at(9).pin_to(0);
             r.ready(9, &r.worker());
         }},
    };
    for (const row& wanted : table) {
        lane_rig rig;
        rig.ready(1, &rig.worker());
        wanted.wait(rig);
        unsigned before = 0;
        while (before < 100 && rig.take() == 1) {
            ++before;
            rig.ready(1, &rig.worker());
        }
        TEST_LOG(wanted.what, before);
        EXPECT_LE(before, 16u);
    }
}

// LN-11: and goes on for ever when nothing else waits.
TEST(lane_order, the_next_slot_is_not_held_back_for_nothing) {
    lane_rig rig;
    for (unsigned i = 0; i < 100; ++i) {
        rig.ready(1, &rig.worker());
        ASSERT_EQ(rig.take(), 1);
    }
}

// LN-11
TEST(lane_order, fresh_actors_run_newest_first) {
    lane_rig rig;
    for (const unsigned n : {1u, 2u, 3u}) {
        rig.fresh(n);
        rig.ready(n, &rig.worker());
    }
    EXPECT_TRUE(rig.takes({3, 2, 1}));
    rig.ready(1, &rig.worker());
    rig.ready(2, &rig.worker());
    EXPECT_TRUE(rig.takes({2, 1}));  // not fresh any more: next, then the ring
}

// More fresh actors than the stack holds: none is lost, the oldest go where everybody looks.
TEST(lane_order, too_many_fresh_actors_overflow_and_none_is_lost) {
    lane_rig rig;
    bool seen[tactus_test::rig_slots] = {};
    for (unsigned n = 0; n < 20; ++n) {
        rig.fresh(n);
        rig.ready(n, &rig.worker());
    }
    EXPECT_TRUE(rig.takes({19}));
    for (unsigned n = 0; n < 19; ++n) {
        const int found = rig.take();
        ASSERT_GE(found, 0);
        EXPECT_FALSE(seen[found]);
        seen[found] = true;
    }
    EXPECT_TRUE(rig.idle());
}

// The ring's older half goes to the global lane when it is full; the order stays.
TEST(lane_order, a_full_ring_spills_without_loss) {
    lane_rig rig;
    bool seen[tactus_test::rig_slots] = {};
    for (unsigned n = 0; n < tactus_test::rig_slots; ++n)
        rig.ready(n, &rig.worker());
    for (unsigned n = 0; n < tactus_test::rig_slots; ++n) {
        const int found = rig.take();
        ASSERT_GE(found, 0);
        EXPECT_FALSE(seen[found]);
        seen[found] = true;
    }
    EXPECT_TRUE(rig.idle());
    EXPECT_EQ(rig.certificate().ready_dispatches, tactus_test::rig_slots);
}

// S18: a worker with endless work of its own still looks at the global lane.
TEST(lane_order, global_work_is_taken_at_least_every_64_steps) {
    lane_rig rig;
    rig.ready(9);
    for (unsigned i = 0; i < 64; ++i) {
        rig.ready(1, &rig.worker());
        if (rig.take() == 9)
            return;
    }
    EXPECT_TRUE(rig.takes({9}));
    TEST_LOG("global work waited for steps", 64);
    EXPECT_TRUE(false);
}
