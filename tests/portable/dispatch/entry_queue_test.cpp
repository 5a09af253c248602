// SPDX-License-Identifier: Apache-2.0
//
// Goal: a FIFO that grows, and where it cannot grow makes room by dropping what is stale.
// Method: random programs against a plain ring of numbers.
#include <tactus/base/det_rng.hpp>
#include <tactus/dispatch/entry_queue.hpp>

#include <cstddef>
#include <cstdint>

#include "portable_test.hpp"
#include "test_memory.hpp"

using tactus::entry_queue;
using tactus::lane_entry;

namespace {

constexpr unsigned model_max = 256;
alignas(16) std::byte bytes[model_max * sizeof(lane_entry) * 2];
constexpr auto never = [](lane_entry) { return false; };

/// What the queue should hold.
struct model {
    std::uint32_t entries[model_max];
    unsigned head = 0;
    unsigned count = 0;
    void push(std::uint32_t n) { entries[(head + count++) % model_max] = n; }
    std::uint32_t pop() {
        const std::uint32_t n = entries[head];
        head = (head + 1) % model_max;
        --count;
        return n;
    }
};

}  // namespace

TEST(entry_queue, behaves_as_a_fifo_that_grows) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        tactus_test::test_memory memory(bytes);
        {
            entry_queue queue(memory, 3);
            EXPECT_EQ(queue.capacity(), 4u);  // a power of two
            static model expected;
            expected = {};
            tactus::det_rng rng(seed);
            std::uint32_t next = 1;
            for (unsigned i = 0; i < tactus_test::board::random_operations / 5; ++i) {
                // Rises and falls over some 200 operations, so that it both grows and wraps.
                const bool rising = (i / 100) % 2 == 0;
                if (rng.below(10) < (rising ? 7u : 3u) && expected.count < 120) {
                    queue.push({next, 1}, never);
                    expected.push(next++);
                } else if (expected.count > 0) {
                    ASSERT_EQ(queue.pop().slot, expected.pop());
                }
                ASSERT_EQ(queue.size(), expected.count);
                ASSERT_EQ(queue.empty(), expected.count == 0);
            }
            EXPECT_LE(queue.capacity(), 128u);
            EXPECT_GT(queue.capacity(), 4u);
        }
        EXPECT_EQ(memory.live_bytes, 0u);
        EXPECT_EQ(memory.wrong_releases, 0u);
    }
}

// Fixed memory: of the entries waiting at most one per mailbox counts, the others make room.
TEST(entry_queue, drops_stale_entries_when_it_cannot_grow_and_keeps_the_order) {
    tactus_test::test_memory memory(bytes);
    entry_queue queue(memory, 8);
    memory.refusing = true;
    // Advanced, so that the ring is wrapped when it is compacted.
    for (std::uint32_t i = 0; i < 5; ++i) {
        queue.push({99, 1}, never);
        (void)queue.pop();
    }
    for (std::uint32_t i = 0; i < 8; ++i)
        queue.push({i, i % 2 == 0 ? 2u : 1u}, never);
    unsigned asked = 0;
    const auto even = [&](lane_entry e) {
        ++asked;
        return e.ticket == 2;
    };
    queue.push({8, 1}, even);
    EXPECT_EQ(asked, 8u);
    EXPECT_EQ(queue.capacity(), 8u);
    EXPECT_EQ(queue.size(), 5u);
    for (const std::uint32_t n : {1u, 3u, 5u, 7u, 8u})
        EXPECT_EQ(queue.pop().slot, n);
    EXPECT_TRUE(queue.empty());
}

TEST(entry_queue, does_not_ask_who_is_stale_while_there_is_room_or_memory) {
    tactus_test::test_memory memory(bytes);
    entry_queue queue(memory, 2);
    bool asked = false;
    for (std::uint32_t i = 0; i < 20; ++i) {
        queue.push({i, 1}, [&](lane_entry) {
            asked = true;
            return true;
        });
    }
    EXPECT_FALSE(asked);
    EXPECT_EQ(queue.size(), 20u);
}

// DT-3: the deque of parity mode.
TEST(entry_queue, takes_and_gives_at_both_ends) {
    tactus_test::test_memory memory(bytes);
    entry_queue queue(memory, 2);
    queue.push({2, 1}, never);
    queue.push({3, 1}, never);
    queue.push_front({1, 1}, never);  // grows
    queue.push_front({0, 1}, never);
    EXPECT_EQ(queue.size(), 4u);
    EXPECT_EQ(queue.pop_newest().slot, 3u);
    EXPECT_EQ(queue.pop().slot, 0u);
    EXPECT_EQ(queue.pop().slot, 1u);
    EXPECT_EQ(queue.pop_newest().slot, 2u);
    EXPECT_TRUE(queue.empty());
    queue.push_front({9, 1}, never);
    EXPECT_EQ(queue.pop_newest().slot, 9u);
    EXPECT_TRUE(queue.empty());
}
