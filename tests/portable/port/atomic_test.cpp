// SPDX-License-Identifier: Apache-2.0
//
// PT-1, PT-3: port::atomic does the same on every platform, one thread at a time. What happens when
// an interrupt comes in between is tested where interrupts are.
#include <tactus/port/port.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>

#include "portable_test.hpp"

namespace port = tactus::port;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;

namespace {

enum class state : std::uint8_t { idle, queued, running };

template <class T>
void arithmetic_returns_the_old_value_and_wraps() {
    constexpr T max = std::numeric_limits<T>::max();
    constexpr T min = std::numeric_limits<T>::min();
    port::atomic<T> cell(T{5});
    EXPECT_EQ(cell.fetch_add(T{3}, memory_order_relaxed), T{5});
    EXPECT_EQ(cell.load(memory_order_relaxed), T{8});
    EXPECT_EQ(cell.fetch_sub(T{6}, memory_order_acq_rel), T{8});
    EXPECT_EQ(cell.load(memory_order_acquire), T{2});
    cell.store(max, memory_order_release);
    EXPECT_EQ(cell.fetch_add(T{1}, memory_order_release), max);
    EXPECT_EQ(cell.load(memory_order_relaxed), min);
    EXPECT_EQ(cell.fetch_sub(T{1}, memory_order_acquire), min);
    EXPECT_EQ(cell.load(memory_order_relaxed), max);
}

template <class T>
void bits_are_set_and_cleared() {
    port::atomic<T> cell(T{0b0101});
    EXPECT_EQ(cell.fetch_or(T{0b0011}, memory_order_relaxed), T{0b0101});
    EXPECT_EQ(cell.load(memory_order_relaxed), T{0b0111});
    EXPECT_EQ(cell.fetch_and(T{0b1110}, memory_order_acq_rel), T{0b0111});
    EXPECT_EQ(cell.load(memory_order_relaxed), T{0b0110});
}

template <class T>
void compare_exchange_swaps_only_what_was_seen(T first, T second, T third) {
    port::atomic<T> cell(first);
    T seen = second;
    EXPECT_FALSE(
        cell.compare_exchange_strong(seen, third, memory_order_acq_rel, memory_order_acquire));
    EXPECT_TRUE(seen == first);  // the failure renews the guess
    EXPECT_TRUE(cell.load(memory_order_relaxed) == first);
    EXPECT_TRUE(
        cell.compare_exchange_strong(seen, third, memory_order_acq_rel, memory_order_relaxed));
    EXPECT_TRUE(seen == first);
    EXPECT_TRUE(cell.load(memory_order_relaxed) == third);

    seen = first;
    EXPECT_FALSE(
        cell.compare_exchange_weak(seen, second, memory_order_release, memory_order_relaxed));
    EXPECT_TRUE(seen == third);
    // A weak one may fail without a reason, but not for ever.
    unsigned tries = 1;
    while (!cell.compare_exchange_weak(seen, second, memory_order_release, memory_order_relaxed)) {
        ASSERT_TRUE(seen == third);
        ASSERT_LT(++tries, 1'000u);
    }
    EXPECT_TRUE(cell.load(memory_order_relaxed) == second);
    EXPECT_TRUE(cell.exchange(first, memory_order_acq_rel) == second);
    EXPECT_TRUE(cell.load(memory_order_relaxed) == first);
}

}  // namespace

// PT-3
TEST(atomic, arithmetic_returns_the_old_value_and_wraps) {
    arithmetic_returns_the_old_value_and_wraps<std::uint32_t>();
    arithmetic_returns_the_old_value_and_wraps<std::int32_t>();
    arithmetic_returns_the_old_value_and_wraps<std::uint16_t>();
    arithmetic_returns_the_old_value_and_wraps<std::uint8_t>();
    arithmetic_returns_the_old_value_and_wraps<std::int8_t>();
}

// PT-3
TEST(atomic, bits_are_set_and_cleared) {
    bits_are_set_and_cleared<std::uint32_t>();
    bits_are_set_and_cleared<std::uint16_t>();
    bits_are_set_and_cleared<std::uint8_t>();
}

// PT-3
TEST(atomic, compare_exchange_swaps_only_what_was_seen) {
    compare_exchange_swaps_only_what_was_seen<std::uint32_t>(1, 0x80000000u, 3);
    compare_exchange_swaps_only_what_was_seen<std::uint16_t>(1, 2, 0xffff);
    compare_exchange_swaps_only_what_was_seen<std::int8_t>(-1, 0, 1);
    compare_exchange_swaps_only_what_was_seen(state::idle, state::queued, state::running);
    int targets[3] = {};
    compare_exchange_swaps_only_what_was_seen(&targets[0], &targets[1], &targets[2]);
    compare_exchange_swaps_only_what_was_seen<int*>(nullptr, &targets[1], &targets[2]);
}

// PT-3: a narrow cell is written without touching its neighbours.
// DF-47: a slot's next life begins where threads may still read words of the last one.
TEST(atomic, a_reused_atomic_has_its_new_value) {
    alignas(port::atomic<std::uint32_t>) std::byte place[sizeof(port::atomic<std::uint32_t>)];
    auto* first = ::new (place) port::atomic<std::uint32_t>(7);
    EXPECT_EQ(first->load(memory_order_relaxed), 7u);
    auto* next = ::new (place) port::atomic<std::uint32_t>(port::reused, 9);
    EXPECT_EQ(next->load(memory_order_relaxed), 9u);
    EXPECT_EQ(next->fetch_add(1, memory_order_relaxed), 9u);
    EXPECT_EQ(next->load(memory_order_relaxed), 10u);
}

TEST(atomic, narrow_cells_leave_their_neighbours_alone) {
    struct {
        port::atomic<std::uint8_t> left{0x55};
        port::atomic<std::uint8_t> cell{0xff};
        port::atomic<std::uint8_t> right{0xaa};
    } row;
    row.cell.fetch_add(1, memory_order_relaxed);
    row.cell.fetch_sub(2, memory_order_relaxed);
    row.cell.exchange(7, memory_order_relaxed);
    row.cell.store(9, memory_order_relaxed);
    EXPECT_EQ(row.left.load(memory_order_relaxed), 0x55);
    EXPECT_EQ(row.cell.load(memory_order_relaxed), 9);
    EXPECT_EQ(row.right.load(memory_order_relaxed), 0xaa);
}

// PT-1: a stack of nodes built by compare-and-swap comes out in reverse.
TEST(atomic, pointers_link_a_stack) {
    struct node {
        node* next = nullptr;
    };
    std::array<node, 5> nodes;
    port::atomic<node*> head(nullptr);
    for (node& n : nodes) {
        node* seen = head.load(memory_order_relaxed);
        do {
            n.next = seen;
        } while (!head.compare_exchange_weak(seen, &n, memory_order_release, memory_order_relaxed));
    }
    node* taken = head.exchange(nullptr, memory_order_acquire);
    EXPECT_TRUE(head.load(memory_order_relaxed) == nullptr);
    for (std::size_t i = nodes.size(); i-- > 0; taken = taken->next)
        ASSERT_TRUE(taken == &nodes[i]);
    EXPECT_TRUE(taken == nullptr);
}
