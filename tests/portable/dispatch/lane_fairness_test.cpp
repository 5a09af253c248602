// SPDX-License-Identifier: Apache-2.0
//
// Goal: no lane starves another, and the certificate says so (LN-2, LN-6; INV-SC-04, INV-SC-06).
// Method: scripts with their certificates; the reference's own scenarios by their witness.
#include <tactus/dispatch/coordinator.hpp>

#include <cstdint>

#include "lane_rig.hpp"
#include "portable_test.hpp"
#include "vectors.hpp"

namespace vectors = tactus_test::vectors;
using tactus_test::lane_rig;
using tactus_test::rig_slots;

namespace {

//  As many of the first `count` mailboxes as there are wait in cancel; the others follow as room
// is.
unsigned take_all(lane_rig& rig, unsigned worker = 0) {
    unsigned count = 0;
    while (rig.take(worker) != lane_rig::nothing)
        ++count;
    return count;
}

}  // namespace

// sc-cancel-streak-001, INV-SC-04
TEST(lane_fairness, streaks_keep_every_limit_with_three_times_as_many_cancels) {
    for (const unsigned limit : {1u, 2u, 4u, 8u, 16u}) {
        if (3 * limit + 1 > rig_slots)
            continue;
        for (const bool local : {false, true}) {
            lane_rig rig({.cancel_limit = limit});
            auto* from = local ? &rig.worker() : nullptr;
            for (unsigned n = 0; n < 3 * limit; ++n)
                rig.cancel(n, from);
            rig.ready(3 * limit, from);
            unsigned before_ready = 0;
            while (rig.take() != static_cast<int>(3 * limit))
                ++before_ready;
            EXPECT_EQ(before_ready, limit);
            EXPECT_EQ(take_all(rig), 2 * limit);
            EXPECT_EQ(rig.certificate().observed_max_cancel_streak, limit);
            EXPECT_EQ(rig.certificate().base_limit_exceedances, 0u);
            EXPECT_TRUE(rig.certificate().holds());
        }
    }
}

TEST(lane_fairness, limit_two_lets_ready_work_be_third) {
    lane_rig rig({.cancel_limit = 2});
    for (const unsigned n : {0u, 1u, 2u})
        rig.cancel(n, &rig.worker());
    rig.ready(3, &rig.worker());
    EXPECT_TRUE(rig.takes({0, 1, 3, 2}));
}

// The reference's own scenario: order, certificate and witness.
TEST(lane_fairness, twenty_cancels_and_one_ready_at_the_default_limit) {
    lane_rig rig;
    for (unsigned n = 0; n < 20; ++n)
        rig.cancel(n);
    rig.ready(20);
    for (int n = 0; n < 16; ++n)
        EXPECT_TRUE(rig.takes({n}));
    EXPECT_TRUE(rig.takes({20, 16, 17, 18, 19}));  // within 17
    EXPECT_EQ(rig.certificate().witness(), vectors::witness_of_own_test_default16_20c_1r.hash);
}

TEST(lane_fairness, the_reference_scenario_12c_6r_limit4_has_its_witness) {
    lane_rig rig({.cancel_limit = 4});
    for (unsigned n = 0; n < 12; ++n)
        rig.cancel(n);
    for (unsigned n = 12; n < 18; ++n)
        rig.ready(n);
    EXPECT_TRUE(rig.takes({0, 1, 2, 3, 12, 4, 5, 6, 7, 13, 8, 9, 10, 11, 14, 15, 16, 17}));
    EXPECT_EQ(rig.certificate().witness(), vectors::witness_of_own_test_cert_12c_6r_limit4.hash);
}

TEST(lane_fairness, the_reference_scenario_cancel_streak_4_has_its_witness) {
    lane_rig rig({.cancel_limit = 4});
    for (unsigned n = 10; n < 20; ++n)
        rig.cancel(n);
    for (unsigned n = 1; n <= 3; ++n)
        rig.ready(n);
    EXPECT_TRUE(rig.takes({10, 11, 12, 13, 1, 14, 15, 16, 17, 2, 18, 19, 3, -1, -1}));
    EXPECT_EQ(rig.certificate().witness(), vectors::witness_of_cancel_streak_4.hash);
}

// LN-2: with nothing else a fallback cancel, and the streak becomes 1 (S2).
TEST(lane_fairness, the_reference_scenario_cancel_only_fallback_4_has_its_witness) {
    lane_rig rig({.cancel_limit = 4});
    for (unsigned n = 10; n < 20; ++n)
        rig.cancel(n);
    EXPECT_TRUE(rig.takes({10, 11, 12, 13, 14, 15, 16, 17, 18, 19, -1, -1}));
    EXPECT_EQ(rig.certificate().fallback_cancel_dispatches, 2u);
    EXPECT_EQ(rig.certificate().witness(), vectors::witness_of_cancel_only_fallback_4.hash);
}

TEST(lane_fairness, six_cancels_alone_with_limit_two_all_run_without_exceedance) {
    lane_rig rig({.cancel_limit = 2});
    for (unsigned n = 0; n < 6; ++n)
        rig.cancel(n, &rig.worker());
    EXPECT_EQ(take_all(rig), 6u);
    EXPECT_GT(rig.certificate().fallback_cancel_dispatches, 0u);
    EXPECT_EQ(rig.certificate().effective_limit_exceedances, 0u);
    EXPECT_TRUE(rig.certificate().holds());
}

// S2: a ready one that comes after a fallback waits for at most the limit.
TEST(lane_fairness, after_a_fallback_new_ready_work_runs_within_the_limit) {
    lane_rig rig({.cancel_limit = 3});
    for (unsigned n = 0; n < 12; ++n)
        rig.cancel(n);
    EXPECT_TRUE(rig.takes({0, 1, 2, 3}));  // the fourth by fallback
    EXPECT_EQ(rig.certificate().fallback_cancel_dispatches, 1u);
    rig.ready(20);
    EXPECT_TRUE(rig.takes({4, 5, 20, 6}));
}

// S2: reset by timed and by ready.
TEST(lane_fairness, any_other_dispatch_ends_the_streak) {
    lane_rig rig({.cancel_limit = 2});
    for (unsigned n = 0; n < 8; ++n)
        rig.cancel(n);
    rig.timed(10, 1);
    EXPECT_TRUE(rig.takes({0, 1, 10, 2, 3}));
    rig.ready(11);
    EXPECT_TRUE(rig.takes({11, 4, 5}));
    rig.timed(10, 1);
    rig.ready(11);
    EXPECT_TRUE(rig.takes({10, 6, 7, 11}));  // timed before ready, and one is enough
    EXPECT_EQ(rig.certificate().observed_max_cancel_streak, 2u);
}

// LN-2: and parking does.
TEST(lane_fairness, parking_ends_the_streak) {
    lane_rig rig({.cancel_limit = 3});
    rig.cancel(0);
    rig.cancel(1);
    EXPECT_TRUE(rig.takes({0, 1}));
    EXPECT_TRUE(rig.idle());                            // which alone does not end it
    const tactus::port::atomic<std::uint32_t> stop{1};  // goes to sleep and is told at once
    rig.order().await_work(rig.worker(), stop);
    for (const unsigned n : {2u, 3u, 4u, 5u})
        rig.cancel(n);
    rig.ready(6);
    EXPECT_TRUE(rig.takes({2, 3, 4, 6, 5}));
    EXPECT_EQ(rig.certificate().fallback_cancel_dispatches, 0u);
    EXPECT_FALSE(rig.order().idle().anybody());
}

// LN-2, S18
TEST(lane_fairness, ready_work_runs_after_64_timed_in_a_row) {
    for (const bool local : {false, true}) {
        lane_rig rig;
        auto* from = local ? &rig.worker() : nullptr;
        rig.ready(1, from);
        rig.timed(2, 0, from);
        unsigned before = 0;
        while (rig.take() == 2) {
            ++before;
            rig.timed(2, 0, from);
        }
        EXPECT_EQ(before, 64u);
        EXPECT_TRUE(rig.takes({2}));
        EXPECT_TRUE(rig.idle());
    }
}

TEST(lane_fairness, timed_work_alone_is_not_held_back) {
    lane_rig rig;
    for (unsigned i = 0; i < 200; ++i) {
        rig.timed(2, 0);
        ASSERT_EQ(rig.take(), 2);
    }
    EXPECT_EQ(rig.certificate().timed_dispatches, 200u);
}

// LN-3 and LN-2 together: what only looks like ready work does not hide timed work.
TEST(lane_fairness, an_entry_left_behind_does_not_hide_timed_work_after_a_streak) {
    lane_rig rig;
    rig.ready(1);
    rig.order().promote(rig.at(1), rig.index(1), nullptr);
    EXPECT_TRUE(rig.takes({1}));
    for (unsigned i = 0; i < 100; ++i) {
        rig.timed(2, 0);
        ASSERT_EQ(rig.take(), 2);
    }
}

// LN-6: also when the cancels are another worker's.
TEST(lane_fairness, taking_over_anothers_cancels_keeps_the_limit) {
    lane_rig rig({.workers = 2, .cancel_limit = 2});
    for (unsigned n = 0; n < 2; ++n)
        rig.cancel(n, &rig.worker(1));
    EXPECT_TRUE(rig.takes({0, 1}, 1));
    for (unsigned n = 2; n < 8; ++n)
        rig.cancel(n, &rig.worker(0));
    EXPECT_EQ(take_all(rig, 1), 6u);
    EXPECT_TRUE(rig.certificate(1).holds());
    EXPECT_EQ(rig.certificate(1).observed_max_cancel_streak, 2u);
    EXPECT_GT(rig.certificate(1).fallback_cancel_dispatches, 0u);
}

// INV-SC-06, sc-certificate-001
TEST(lane_fairness, the_same_program_twice_has_the_same_certificates) {
    std::uint64_t witness[2] = {};
    std::uint64_t schedule[2] = {};
    for (unsigned run = 0; run < 2; ++run) {
        lane_rig rig({.workers = 2, .seed = 42, .certify = true});
        for (unsigned n = 0; n < 12; ++n) {
            auto* from = n % 3 == 0 ? nullptr : &rig.worker(n % 2);
            if (n % 4 == 0)
                rig.cancel(n, from);
            else if (n % 4 == 1)
                rig.timed(n, 40 - std::int64_t{n}, from);
            else
                rig.ready(n, from, n % 4 == 2 ? 128 : 60);
        }
        for (unsigned i = 0; i < 14; ++i)
            (void)rig.take(i % 2);
        witness[run] = rig.certificate(0).witness() ^ (rig.certificate(1).witness() << 1);
        schedule[run] = rig.worker(0).schedule().hash() ^ (rig.worker(1).schedule().hash() << 1);
        EXPECT_EQ(rig.worker(0).schedule().decisions(), rig.worker(0).dispatch_count());
    }
    EXPECT_EQ(witness[0], witness[1]);
    EXPECT_EQ(schedule[0], schedule[1]);
}

// DT-2: what the worker keeps is what anybody can compute from the trace.
TEST(lane_fairness, the_schedule_certificate_is_the_chain_of_dispatches) {
    lane_rig rig({.certify = true});
    rig.cancel(1);
    rig.timed(2, 5);
    rig.ready(3);
    EXPECT_TRUE(rig.takes({1, 2, 3, -1}));
    tactus::schedule_certificate expected;
    expected.add(1, 1, 0, 1);
    expected.add(2, 1, 1, 2);
    expected.add(3, 1, 2, 3);
    EXPECT_TRUE(rig.worker().schedule() == expected);
}

// LN-2, TC-F12: no cancel at all would be no progress: a limit of 0 is 1.
TEST(lane_fairness, a_cancel_limit_of_zero_is_one) {
    lane_rig rig({.cancel_limit = 0});
    rig.cancel(0);
    rig.cancel(1);
    rig.ready(2);
    EXPECT_TRUE(rig.takes({0, 2, 1, -1}));
}

// LN-2, TC-F12: wherever the cancels are that the limit holds back, they are not forgotten.
TEST(lane_fairness, cancels_held_back_by_the_limit_come_after_one_ready) {
    for (const int where : {0, 1, 2, 3}) {
        lane_rig rig({.cancel_limit = 1});
        for (const unsigned n : {0u, 1u}) {
            if (where == 3)
                rig.at(n).pin_to(0);
            rig.cancel(n, where == 0 ? nullptr : &rig.worker(), where == 2 ? 200 : 128);
        }
        EXPECT_TRUE(rig.takes({0}));
        rig.ready(2, &rig.worker());
        rig.ready(3, &rig.worker());  // 2 goes to the ring
        EXPECT_TRUE(rig.takes({3, 1, 2, -1}));
    }
}

// LN-2, S18, TC-F12: ready work that waits anywhere has its turn after the limit of timed work.
TEST(lane_fairness, timed_work_makes_way_for_ready_work_wherever_it_waits) {
    constexpr void (*puts[])(lane_rig&) = {
        [](lane_rig& r) { r.ready(1); },
        [](lane_rig& r) { r.ready(1, &r.worker()); },  // next
        [](lane_rig& r) { r.ready(1, &r.worker(), 200); },
        [](lane_rig& r) {
            r.fresh(1);
            r.ready(1, &r.worker());
        },
        [](lane_rig& r) {
            r.at(1).pin_to(0);
            r.ready(1);
        },
        [](lane_rig& r) {
            r.ready(1, &r.worker());
            r.ready(2, &r.worker());
            EXPECT_TRUE(r.takes({2}));  // was next; the ring is left
        },
    };
    for (const auto put : puts) {
        lane_rig rig({.timed_limit = 2});
        put(rig);
        for (const unsigned n : {10u, 11u, 12u, 13u})
            rig.timed(n, n);
        EXPECT_TRUE(rig.takes({10, 11, 1, 12, 13, -1}));
    }
}

namespace {

/// Mailboxes that are ready again after each of their runs.
struct busy_mailboxes {
    lane_rig& rig;
    unsigned first;
    unsigned count;
    std::uint8_t priority;
    bool outside;

    void begin() const {
        for (unsigned n = first; n < first + count; ++n)
            rig.ready(n, outside ? nullptr : &rig.worker(), priority);
    }
    /// How many dispatches come before a mailbox that is none of these; 1,000: too many.
    [[nodiscard]] unsigned before_another() const {
        for (unsigned before = 0; before < 1'000; ++before) {
            const int n = rig.take();
            if (n < static_cast<int>(first) || n >= static_cast<int>(first + count))
                return before;
            rig.ready(static_cast<unsigned>(n), outside ? nullptr : &rig.worker(), priority);
        }
        return 1'000;
    }
};

}  // namespace

// LN-2, DF-49
TEST(lane_fairness, DF_49_lower_priorities_wait_for_at_most_64_dispatches) {
    constexpr struct {
        const char* what;
        void (*wait)(lane_rig&);
    } waiting[] = {
        {"next", [](lane_rig& r) { r.ready(9, &r.worker()); }},
        {"ring",
         [](lane_rig& r) {
             r.ready(9, &r.worker());
             r.ready(8, &r.worker());
         }},
        {"fresh",
         [](lane_rig& r) {
             r.fresh(9);
             r.ready(9, &r.worker());
         }},
        {"lower, above the default", [](lane_rig& r) { r.ready(9, &r.worker(), 150); }},
        {"below the default", [](lane_rig& r) { r.ready(9, &r.worker(), 1); }},
        {"pinned",
         [](lane_rig& r) {
             r.at(9).pin_to(0);
             r.ready(9);
         }},
        {"from outside", [](lane_rig& r) { r.ready(9); }},
        {"from outside, lower", [](lane_rig& r) { r.ready(9, nullptr, 150); }},
        {"from outside, below the default", [](lane_rig& r) { r.ready(9, nullptr, 1); }},
    };
    for (const auto& row : waiting) {
        for (const bool outside : {false, true}) {
            lane_rig rig;
            const busy_mailboxes busy{rig, 0, 3, 200, outside};
            busy.begin();
            row.wait(rig);
            const unsigned before = busy.before_another();
            TEST_LOG(row.what, before);
            EXPECT_LE(before, 64u);
        }
    }
}

// LN-2, DF-49: what is below the default waits for busy mailboxes of default priority.
TEST(lane_fairness, DF_49_default_priorities_let_lower_ones_in) {
    for (const bool outside : {false, true}) {
        for (const bool lower_outside : {false, true}) {
            lane_rig rig;
            const busy_mailboxes busy{rig, 0, 3, 128, outside};
            busy.begin();
            rig.ready(9, lower_outside ? nullptr : &rig.worker(), 1);
            EXPECT_LE(busy.before_another(), 64u);
        }
    }
}

// LN-2, DF-49: the highest priority has nearly all of the dispatches, and whatever else is busy has
// some, wherever it waits.
TEST(lane_fairness, DF_49_every_place_and_every_priority_goes_on) {
    lane_rig rig;
    constexpr unsigned kinds = 9;
    const auto make_ready = [&](unsigned n) {
        constexpr std::uint8_t own[] = {200, 150, 128, 60, 1};
        constexpr std::uint8_t others[] = {150, 128, 60};
        if (n < 5)
            rig.ready(n, &rig.worker(), own[n]);
        else if (n < 8)
            rig.ready(n, nullptr, others[n - 5]);
        else
            rig.ready(n);  // pinned
    };
    rig.at(kinds - 1).pin_to(0);
    for (unsigned n = 0; n < kinds; ++n)
        make_ready(n);
    unsigned last[kinds] = {};
    unsigned count[kinds] = {};
    unsigned longest = 0;
    constexpr unsigned total = 64 * 64;
    for (unsigned i = 1; i <= total; ++i) {
        const int found = rig.take();
        ASSERT_GE(found, 0);
        const auto n = static_cast<unsigned>(found);
        longest = i - last[n] > longest ? i - last[n] : longest;
        last[n] = i;
        ++count[n];
        make_ready(n);
    }
    for (const unsigned n : count)
        EXPECT_GT(n, 0u);
    TEST_LOG("longest wait", longest);
    EXPECT_LE(longest, 64u * 4);
    EXPECT_GE(count[0], total / 16 * 15);  // strict order otherwise
}

// LN-2, DF-49: also beside cancels whose number in a row keeps step with the turns.
TEST(lane_fairness, DF_49_cancels_do_not_take_the_turn_of_lower_priorities) {
    lane_rig rig({.cancel_limit = 15});
    rig.cancel(0);
    rig.ready(1, &rig.worker(), 200);
    rig.ready(9, &rig.worker());
    unsigned high = 0;
    for (unsigned i = 0; i < 5'000; ++i) {
        const int n = rig.take();
        if (n == 9)
            break;
        if (n == 0) {
            rig.cancel(0);
            continue;
        }
        ASSERT_EQ(n, 1);
        ++high;
        rig.ready(1, &rig.worker(), 200);
    }
    EXPECT_LE(high, 64u);
}

// DT-3, DF-49: parity mode keeps its strict order.
TEST(lane_fairness, DF_49_parity_mode_knows_no_turns) {
    lane_rig rig({.mode = tactus::lane_mode::parity});
    const busy_mailboxes busy{rig, 0, 3, 200, false};
    busy.begin();
    rig.ready(9, &rig.worker(), 1);
    EXPECT_EQ(busy.before_another(), 1'000u);
}
