// SPDX-License-Identifier: Apache-2.0
//
// Goal: each kind of user queue hands out what was put in, once, in the order of its kind, and a
// queue that breaks loses nothing (MB, RG-4, C-MQ-1, C-MQ-2).
// Method: random operations against a naive queue; memory that ends, an order that fails.
#include <tactus/mailbox/user_queue.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

#include "portable_test.hpp"
#include "queue_duel.hpp"
#include "test_memory.hpp"

using tactus::envelope;
using tactus::envelope_deque;
using tactus::envelope_list;
using tactus::mailbox_kind;
using tactus_test::board;
using tactus_test::queue_duel;
using tactus_test::rank_order;
using tactus_test::ranked;
using tactus_test::test_memory;

namespace {

constexpr unsigned operations = board::random_operations / 4;
constexpr unsigned breakdowns = board::roomy ? 200 : 20;

alignas(16) std::byte heap_bytes[board::roomy ? 16'384 : 4'096];

template <class Queue, class... Args>
void random_operations(mailbox_kind kind, std::uint64_t seed, Args&... args) {
    Queue queue(args...);
    queue_duel duel(queue, kind, seed);
    for (unsigned i = 0; i < operations; ++i) {
        if (!duel.step()) {
            TEST_LOG("differs at operation", i);
            ASSERT_TRUE(false);
        }
    }
    EXPECT_TRUE(duel.drain(queue_duel::size_max));
    EXPECT_TRUE(queue.pop() == nullptr);
    EXPECT_TRUE(queue.peek() == nullptr);
    EXPECT_EQ(queue.size(), 0u);
}

}  // namespace

// MB, C-MQ-2
TEST(user_queue, a_list_is_first_in_first_out) {
    random_operations<envelope_list>(mailbox_kind::fifo, 1);
}
TEST(user_queue, a_deque_has_two_ends) {
    test_memory memory(heap_bytes);
    random_operations<envelope_deque>(mailbox_kind::deque, 2, memory);
    EXPECT_EQ(memory.live_blocks, 0u);
    EXPECT_EQ(memory.wrong_releases, 0u);
}
TEST(user_queue, a_priority_queue_is_stable) {
    test_memory memory(heap_bytes);
    rank_order order;
    random_operations<tactus::priority_queue>(mailbox_kind::stable_priority, 3, memory, order);
    EXPECT_EQ(memory.live_blocks, 0u);
    EXPECT_EQ(memory.wrong_releases, 0u);
}
TEST(user_queue, a_control_queue_is_two_lists) {
    random_operations<tactus::control_queue>(mailbox_kind::control_aware, 4);
}

// RG-4: no memory to grow.
TEST(user_queue, RG4_a_deque_without_memory_breaks_and_loses_nothing) {
    for (unsigned round = 0; round < breakdowns; ++round) {
        test_memory memory(heap_bytes);
        memory.allowance = round % 3;  // 0, 16 or 32 places
        envelope_deque queue(memory);
        queue_duel duel(queue, mailbox_kind::deque, round + 1);
        while (duel.step()) {
        }
        EXPECT_EQ(duel.count(), round % 3 == 0 ? 0u : 8u << (round % 3));
        envelope late;
        EXPECT_FALSE(queue.push(late));  // broken stays broken
        duel.expect_nothing_lost();
    }
}
TEST(user_queue, RG4_a_priority_queue_without_memory_breaks_and_loses_nothing) {
    for (unsigned round = 0; round < breakdowns; ++round) {
        test_memory memory(heap_bytes);
        memory.allowance = round % 3;
        rank_order order;
        tactus::priority_queue queue(memory, order);
        queue_duel duel(queue, mailbox_kind::priority, round + 1);
        while (duel.step()) {
        }
        duel.expect_nothing_lost();
    }
}

// RG-4: an order that fails on its k-th call, in a push or in a pop.
TEST(user_queue, RG4_an_order_that_fails_breaks_and_loses_nothing) {
    for (unsigned round = 0; round < breakdowns; ++round) {
        test_memory memory(heap_bytes);
        rank_order order;
        order.fails_at = round + 1;
        tactus::priority_queue queue(memory, order);
        queue_duel duel(queue, mailbox_kind::priority, 7 * round + 1);
        while (duel.step()) {
        }
        duel.expect_nothing_lost();
    }
}

// MB-7, TC-M28
TEST(user_queue, TC_M28_a_batch_comes_before_what_is_queued_in_its_order) {
    test_memory memory(heap_bytes);
    envelope_deque queue(memory);
    std::array<envelope, 40> all;
    std::size_t used = 0;
    EXPECT_TRUE(queue.push(all[used++]));
    // Several lengths, so that the ring wraps and grows.
    for (std::size_t length = 0; length < 8; ++length) {
        envelope_list batch;
        const std::size_t from = used;
        for (std::size_t i = 0; i < length; ++i)
            EXPECT_TRUE(batch.push(all[used++]));
        ASSERT_TRUE(queue.reserve(batch.size()));
        queue.prepend(batch);
        EXPECT_EQ(batch.size(), 0u);
        EXPECT_EQ(queue.size(), used);
        EXPECT_TRUE(queue.peek() == (length == 0 ? &all[0] : &all[from]));
    }
    std::size_t end = used;
    for (std::size_t length = 7; length > 0; --length) {
        for (std::size_t i = 0; i < length; ++i)
            EXPECT_TRUE(queue.pop() == &all[end - length + i]);
        end -= length;
    }
    EXPECT_TRUE(queue.pop() == &all[0]);
    EXPECT_TRUE(queue.pop() == nullptr);
}
TEST(user_queue, MB7_no_memory_for_a_batch_changes_and_breaks_nothing) {
    test_memory memory(heap_bytes);
    memory.allowance = 1;
    envelope_deque queue(memory);
    std::array<envelope, 20> all;
    EXPECT_TRUE(queue.push(all[0]));
    EXPECT_FALSE(queue.reserve(16));
    EXPECT_TRUE(queue.broken() == nullptr);
    EXPECT_TRUE(queue.reserve(15));
    EXPECT_EQ(queue.size(), 1u);
    EXPECT_TRUE(queue.push(all[1]));
    EXPECT_TRUE(queue.pop() == &all[0]);
}

// C-MQ-1, C-MQ-2
TEST(user_queue, C_MQ_2_sizes_follow_each_message_in_and_out) {
    envelope_list queue;
    EXPECT_EQ(queue.size(), 0u);
    EXPECT_TRUE(queue.peek() == nullptr);
    constexpr std::size_t many = board::roomy ? 100 : 20;
    static std::array<envelope, many> all;
    for (std::size_t i = 0; i < many; ++i) {
        EXPECT_TRUE(queue.push(all[i]));
        EXPECT_EQ(queue.size(), i + 1);
        EXPECT_TRUE(queue.peek() == &all[0]);
    }
    for (std::size_t i = 0; i < many; ++i) {
        EXPECT_TRUE(queue.pop() == &all[i]);
        EXPECT_EQ(queue.size(), many - 1 - i);
    }
    EXPECT_TRUE(queue.pop() == nullptr);
}

TEST(user_queue, the_first_that_passes_a_test_is_taken_out_of_a_list) {
    std::array<envelope, 4> all;
    for (std::uint32_t i = 0; i < 4; ++i)
        EXPECT_TRUE(all[i].emplace<ranked>(ranked{i}, nullptr));
    envelope_list list;
    const auto take = [&](std::uint32_t at_least) {
        return list.take_first([&](envelope& e) { return e.get_if<ranked>()->rank >= at_least; });
    };
    for (envelope& e : all)
        EXPECT_TRUE(list.push(e));
    EXPECT_TRUE(take(4) == nullptr);
    EXPECT_TRUE(take(1) == &all[1]);  // from the middle
    EXPECT_TRUE(take(0) == &all[0]);  // the first
    EXPECT_TRUE(take(3) == &all[3]);  // the last: what comes now is behind the one before
    EXPECT_TRUE(list.push(all[1]));
    EXPECT_TRUE(list.pop() == &all[2]);
    EXPECT_TRUE(take(0) == &all[1]);  // the only one
    EXPECT_EQ(list.size(), 0u);
    EXPECT_TRUE(list.push(all[0]));
    EXPECT_TRUE(list.pop() == &all[0]);
}
