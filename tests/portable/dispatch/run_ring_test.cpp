// SPDX-License-Identifier: Apache-2.0
//
// Goal: entries leave in the order they came, whoever takes them, and none is lost at any position.
// Method: random programs of one thread against two counters; positions driven round their range.
#include <tactus/base/det_rng.hpp>
#include <tactus/dispatch/run_ring.hpp>
#include <tactus/dispatch/worker_lanes.hpp>

#include <cstdint>

#include "portable_test.hpp"

using tactus::lane_entry;
using tactus::run_ring;

namespace {

constexpr std::uint32_t capacity = 16;
run_ring::cell cells[capacity];

/// Numbers go in counting up, so what is inside is [first, next).
struct counters {
    std::uint32_t first = 1;
    std::uint32_t next = 1;
    [[nodiscard]] std::uint32_t size() const { return next - first; }
};

/// Half of what there is, rounded up.
std::uint32_t half(std::uint32_t n) {
    return n - n / 2;
}

void random_program(bool shared, std::uint64_t seed) {
    run_ring ring(cells, capacity, shared);
    counters model;
    tactus::det_rng rng(seed);
    for (unsigned i = 0; i < tactus_test::board::random_operations / 4; ++i) {
        const auto roll = rng.below(100);
        if (roll < 55) {
            const bool room = model.size() < capacity;
            ASSERT_EQ(ring.push({model.next, 1}), room);
            model.next += room ? 1 : 0;
        } else if (roll < 90) {
            const lane_entry e = ring.pop();
            ASSERT_EQ(e.valid(), model.size() != 0);
            if (e.valid()) {
                ASSERT_EQ(e.slot, model.first++);
            }
        } else {
            const auto max = roll < 95 ? capacity : static_cast<std::uint32_t>(rng.below(6));
            const std::uint32_t expected = half(model.size()) < max ? half(model.size()) : max;
            const auto in_order = [&](lane_entry e) { EXPECT_EQ(e.slot, model.first++); };
            const std::uint32_t taken =
                roll < 95 ? ring.spill_half(in_order) : ring.steal_half(max, in_order);
            ASSERT_EQ(taken, expected);
        }
        ASSERT_EQ(ring.size(), model.size());
        ASSERT_EQ(ring.looks_empty(), model.size() == 0);
    }
}

}  // namespace

TEST(run_ring, keeps_the_order_for_owner_and_thief) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        random_program(true, seed);
        random_program(false, seed);
    }
}

// LN-5, S6: the older half, and in its order.
TEST(run_ring, a_thief_takes_the_older_half_rounded_up) {
    for (std::uint32_t n = 0; n <= capacity; ++n) {
        run_ring ring(cells, capacity, true);
        for (std::uint32_t i = 0; i < n; ++i)
            ASSERT_TRUE(ring.push({i, 1}));
        std::uint32_t expected = 0;
        EXPECT_EQ(ring.steal_half(capacity, [&](lane_entry e) { EXPECT_EQ(e.slot, expected++); }),
                  half(n));
        for (std::uint32_t i = half(n); i < n; ++i)
            EXPECT_EQ(ring.pop().slot, i);
        EXPECT_FALSE(ring.pop().valid());
    }
}

TEST(run_ring, is_empty_for_a_second_thief_while_one_copies) {
    run_ring ring(cells, capacity, true);
    for (std::uint32_t i = 0; i < 8; ++i)
        ASSERT_TRUE(ring.push({i, 1}));
    std::uint32_t seen = 0;
    const std::uint32_t taken = ring.steal_half(capacity, [&](lane_entry) {
        if (seen++ == 0) {
            EXPECT_EQ(ring.steal_half(capacity, [](lane_entry) {}), 0u);
            EXPECT_EQ(ring.spill_half([](lane_entry) {}), 0u);
            // The owner goes on meanwhile, but not over cells that are being copied.
            EXPECT_EQ(ring.pop().slot, 4u);
            for (std::uint32_t i = 0; i < capacity - 8; ++i)
                EXPECT_TRUE(ring.push({100 + i, 1}));
            EXPECT_FALSE(ring.push({999, 1}));
        }
    });
    EXPECT_EQ(taken, 4u);
    EXPECT_TRUE(ring.push({998, 1}));
    for (const std::uint32_t n : {5u, 6u, 7u, 100u})
        EXPECT_EQ(ring.pop().slot, n);
}

// Positions are 16 bits wide on small cores: 2^17 entries go round them twice. Trap S7: no index
// overflows.
TEST(run_ring, positions_may_wrap) {
    run_ring ring(cells, 4, true);
    std::uint32_t next = 0;
    std::uint32_t first = 0;
    for (std::uint32_t i = 0; i < (1U << 17); ++i) {
        ASSERT_TRUE(ring.push({next++, 1}));
        if (ring.size() == 4) {
            ring.steal_half(4, [&](lane_entry e) { EXPECT_EQ(e.slot, first++); });
            ASSERT_EQ(ring.pop().slot, first++);
        }
    }
}

// LN-11: newest first for the owner, oldest first for those it is shared with.
TEST(fresh_stack, is_taken_from_both_ends) {
    tactus::kept_entry places[8];
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        tactus::fresh_stack stack(places, 8);
        counters model;
        tactus::det_rng rng(seed);
        for (unsigned i = 0; i < 2'000; ++i) {
            ASSERT_EQ(stack.full(), model.size() == 8);
            ASSERT_EQ(stack.size(), model.size());
            const auto roll = rng.below(4);
            if (roll < 2 && !stack.full()) {
                stack.push({model.next++, 1});
            } else if (roll == 2 && !stack.empty()) {
                ASSERT_EQ(stack.pop_newest().slot, --model.next);
            } else if (roll == 3 && !stack.empty()) {
                ASSERT_EQ(stack.pop_oldest().slot, model.first++);
            }
        }
    }
}
