// SPDX-License-Identifier: Apache-2.0
//
// Goal: whoever is equal has a place all the same (DT-5), and what is drawn for one purpose moves
// nothing else (DT-4).
// Method: the vectors' tie-breaks; scripts with equals in every lane; streams counted.
#include <tactus/dispatch/coordinator.hpp>
#include <tactus/dispatch/lab_driver.hpp>

#include <cstddef>
#include <cstdint>

#include "lane_rig.hpp"
#include "portable_test.hpp"
#include "test_memory.hpp"
#include "vectors.hpp"

namespace vectors = tactus_test::vectors;
using tactus::lane;
using tactus::lane_entry;
using tactus::random_stream;
using tactus_test::lane_rig;

namespace {

alignas(16) std::byte bytes[704];  // a small board has little besides the rig

struct none_stale final : tactus::stale_test {
    [[nodiscard]] bool stale(lane_entry) const noexcept override { return false; }
};

}  // namespace

// DT-3: tie_break_index
TEST(determinism, a_drawn_number_chooses_as_in_the_vectors) {
    for (const auto& row : vectors::ties)
        EXPECT_EQ(tactus::tie_break(row.hint, row.count), row.index);
}

// DT-3: tie_break_drain_orders
TEST(determinism, equals_are_drained_as_in_the_vectors) {
    const none_stale staleness;
    for (const auto& row : vectors::drains) {
        tactus_test::test_memory memory(bytes);
        tactus::lane_set set({.memory = &memory,
                              .stale = &staleness,
                              .queue_capacity = 1,
                              .heap_capacity = 8,
                              .keyed_only = true});
        const auto where = static_cast<lane>(row.lane);
        for (std::uint32_t n = 0; n < row.count; ++n)
            set.push({n, 1}, {where, tactus::default_priority, 0});
        tactus::det_rng hints(row.seed);
        for (unsigned i = 0; i < row.count; ++i) {
            const lane_entry e = set.pop_equal(where, hints.next_u64(), 0);
            EXPECT_TRUE(e.valid());
            EXPECT_EQ(e.slot, row.order[i]);
        }
        EXPECT_FALSE(set.pop_equal(where, hints.next_u64(), 0).valid());
        EXPECT_TRUE(set.empty());
    }
}

namespace {

/// Six equals and one number drawn per step: the order in which they run, as one number. Each is
/// the one of those left, oldest first, that the step's number chooses.
std::uint32_t drawn_order(std::uint64_t seed) {
    constexpr unsigned equals = 6;
    lane_rig rig({.mode = tactus::lane_mode::lab});
    tactus::lab_driver lab({.lanes = &rig.order(), .slots = &rig.slots(), .seed = seed});
    unsigned left[equals];
    for (unsigned n = 0; n < equals; ++n) {
        left[n] = n;
        EXPECT_TRUE(rig.at(n).state().request_schedule(tactus::schedule_hint::user));
        lab.admit(rig.at(n), {});
    }
    std::uint32_t trace = 0;
    for (unsigned count = equals; count > 0; --count) {
        const tactus::lab_driver::choice c = lab.next();
        EXPECT_TRUE(c.chosen != nullptr);
        if (c.chosen == nullptr)
            return trace;
        const auto at = static_cast<unsigned>(c.drawn % count);
        EXPECT_EQ(rig.slots().number_of(*c.chosen), left[at]);
        trace = trace * 10 + left[at];
        for (unsigned n = at; n + 1 < count; ++n)
            left[n] = left[n + 1];
        EXPECT_EQ(c.chosen->state().run_ended(), tactus::mailbox_owed::look_again);
    }
    EXPECT_TRUE(lab.next().chosen == nullptr);
    return trace;
}

}  // namespace

// sc-rng-tiebreak-001: among equals a drawn number decides, and the same seed draws the same.
TEST(determinism, the_same_seed_chooses_the_same_among_equals) {
    unsigned different = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const std::uint32_t order = drawn_order(seed);
        EXPECT_EQ(order, drawn_order(seed));
        different += order != drawn_order(seed + 100) ? 1 : 0;
    }
    EXPECT_GT(different, 10u);
}

// sc-rng-tiebreak-001: where workers draw for themselves it is the worker's own stream that
// decides, by the second number of a step; who stands alone with its priority is not drawn for.
TEST(determinism, a_workers_own_stream_chooses_among_its_equals) {
    for (unsigned again = 0; again < 2; ++again) {
        lane_rig rig({.mode = tactus::lane_mode::parity});
        rig.ready(9, &rig.worker(), 70);
        unsigned left[] = {0, 1, 2, 3, 4};
        for (const unsigned n : left)
            rig.ready(n, &rig.worker(), 60);
        EXPECT_TRUE(rig.takes({9}));
        for (unsigned count = 5; count > 0; --count) {
            tactus::det_rng draws = rig.worker().streams()[random_stream::scheduling];
            (void)draws.next_u64();
            const auto at = static_cast<unsigned>(draws.next_u64() % count);
            EXPECT_EQ(rig.take(), static_cast<int>(left[at]));
            for (unsigned n = at; n + 1 < count; ++n)
                left[n] = left[n + 1];
        }
        EXPECT_TRUE(rig.idle());
    }
}

// DT-5: cancel and ready by priority, then by the order of registration; sc-fifo-priority-001.
TEST(determinism, equal_priorities_keep_the_order_of_registration) {
    constexpr std::uint8_t priorities[] = {50, 200, 128, 50, 200, 128, 50, 200, 128};
    for (const lane where : {lane::cancel, lane::ready}) {
        for (const bool local : {false, true}) {
            lane_rig rig;
            auto* from = local ? &rig.worker() : nullptr;
            for (unsigned n = 0; n < 9; ++n)
                rig.wait(n, {where, priorities[n], 0}, from);
            // Of the default priority the one made ready last is next on its worker (LN-11).
            if (local && where == lane::ready) {
                EXPECT_TRUE(rig.takes({1, 4, 7, 8, 2, 5, 0, 3, 6, -1}));
            } else {
                EXPECT_TRUE(rig.takes({1, 4, 7, 2, 5, 8, 0, 3, 6, -1}));
            }
        }
    }
}

// DT-5: timed by deadline, then by the order of registration; sc-edf-fifo-001.
TEST(determinism, equal_deadlines_keep_the_order_of_registration) {
    constexpr std::int64_t deadlines[] = {30, 10, 20, 30, 10, 20, 30, 10, 20};
    for (const bool local : {false, true}) {
        lane_rig rig;
        for (unsigned n = 0; n < 9; ++n)
            rig.timed(n, deadlines[n], local ? &rig.worker() : nullptr);
        EXPECT_TRUE(rig.takes({1, 4, 7, 2, 5, 8, 0, 3, 6, -1}));
    }
}

// DT-5: of equal deadlines in several places, the one from outside, the own, the pinned.
TEST(determinism, equal_deadlines_of_several_places_have_an_order) {
    lane_rig rig;
    rig.at(1).pin_to(0);
    rig.timed(1, 10);
    rig.timed(2, 10, &rig.worker());
    rig.timed(3, 10);
    EXPECT_TRUE(rig.takes({3, 2, 1, -1}));
}

namespace {

/// Steals ten times from three victims; what the thief took, as one number.
std::uint64_t stolen_by(lane_rig& rig, unsigned thief) {
    std::uint64_t trace = 1;
    for (unsigned round = 0; round < 10; ++round) {
        for (unsigned v = 0; v < 4; ++v) {
            if (v != thief) {
                rig.ready(v, &rig.worker(v));
                rig.ready(10 + v, &rig.worker(v));  // v goes to the ring
            }
        }
        // Relative to the thief, so that two of them can be compared.
        trace = trace * 5 + (static_cast<unsigned>(rig.take(thief)) + 4 - thief) % 4;
        for (unsigned v = 0; v < 4; ++v) {
            while (v != thief && rig.take(v) != lane_rig::nothing) {
            }
        }
    }
    return trace;
}

std::uint64_t state_of(lane_rig& rig, random_stream which, unsigned worker = 0) {
    return rig.worker(worker).streams()[which].state();
}

}  // namespace

// DT-4: seeds are mixed, so that workers 0 and 1 do not choose alike. (In parity mode they do.)
TEST(determinism, workers_draw_from_streams_of_their_own) {
    unsigned different = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        std::uint64_t traces[2] = {};
        for (unsigned thief = 0; thief < 2; ++thief) {
            lane_rig rig({.workers = 4, .seed = seed});
            EXPECT_NE(state_of(rig, random_stream::scheduling, 0),
                      state_of(rig, random_stream::scheduling, 1));
            traces[thief] = stolen_by(rig, thief);
        }
        different += traces[0] != traces[1] ? 1 : 0;
    }
    EXPECT_EQ(different, 5u);
    lane_rig parity({.workers = 2, .mode = tactus::lane_mode::parity});
    EXPECT_EQ(state_of(parity, random_stream::scheduling, 0),
              state_of(parity, random_stream::scheduling, 1));
}

// DT-4: what user code, faults and jitter draw does not move the schedule, nor the other way round.
TEST(determinism, other_streams_do_not_move_the_schedule) {
    std::uint64_t untouched = 0;
    {
        lane_rig rig({.workers = 4, .seed = 7});
        const std::uint64_t before = state_of(rig, random_stream::user);
        untouched = stolen_by(rig, 0);
        EXPECT_EQ(state_of(rig, random_stream::user), before);
    }
    lane_rig rig({.workers = 4, .seed = 7});
    for (const auto which : {random_stream::faults, random_stream::user, random_stream::jitter})
        (void)rig.worker(0).streams()[which].next_u64();
    EXPECT_EQ(stolen_by(rig, 0), untouched);
}

// DT-4, LN-4: a pass that finds nothing draws nothing, nor one that finds own or global work. Trap
// S23: so no number decides two things here; in the lab it does, as the vectors want (DT-3).
TEST(determinism, only_stealing_draws) {
    lane_rig rig({.workers = 3, .seed = 5});
    const std::uint64_t before = state_of(rig, random_stream::scheduling);
    for (unsigned i = 0; i < 200; ++i)
        EXPECT_TRUE(rig.idle());
    rig.ready(1, &rig.worker());
    rig.ready(2, &rig.worker(), 60);
    rig.ready(3);
    rig.timed(4, 1, &rig.worker());
    rig.timed(5, 1);
    rig.cancel(6, &rig.worker());
    rig.cancel(7);
    EXPECT_TRUE(rig.takes({7, 6, 5, 4, 1, 2, 3, -1}));
    rig.ready(8, &rig.worker(1));  // next there: nothing to steal
    EXPECT_TRUE(rig.idle());
    EXPECT_EQ(state_of(rig, random_stream::scheduling), before);
    rig.ready(9, &rig.worker(1));
    EXPECT_TRUE(rig.takes({8}));
    EXPECT_NE(state_of(rig, random_stream::scheduling), before);
}
