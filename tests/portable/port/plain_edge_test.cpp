// SPDX-License-Identifier: Apache-2.0
//
// The small parts of the port that behave the same everywhere, seen by one thread: plain cells,
// edges, the mutex, a look before sleeping, the instance of a thread.
#include <tactus/port/port.hpp>

#include <cstdint>

#include "portable_test.hpp"

namespace port = tactus::port;

namespace {

struct per_thread {
    int number = 17;
    void* where = nullptr;
};
struct other_per_thread {
    int number = 17;
};

constexpr int constant_in_constant() {
    port::plain<int> cell(4);
    cell.write(cell.read() + 1);
    return cell.read();
}
static_assert(constant_in_constant() == 5);

// A plain cell costs what it holds.
static_assert(sizeof(port::plain<void*>) == sizeof(void*));

}  // namespace

TEST(plain, a_cell_begins_with_zero_or_what_it_is_given) {
    const port::plain<int> zero;
    EXPECT_EQ(zero.read(), 0);
    const port::plain<int*> null;
    EXPECT_TRUE(null.read() == nullptr);
    port::plain<std::uint32_t> cell(7);
    EXPECT_EQ(cell.read(), 7u);
    cell.write(9);
    EXPECT_EQ(cell.read(), 9u);
}

TEST(edge, its_ends_are_the_orders_of_their_names) {
    static constexpr port::edge published{"test-published"};
    EXPECT_TRUE(published.acquire() == std::memory_order_acquire);
    EXPECT_TRUE(published.release() == std::memory_order_release);
    EXPECT_TRUE(published.acq_rel() == std::memory_order_acq_rel);
    EXPECT_TRUE(published.seq_cst() == std::memory_order_seq_cst);
}

TEST(mutex, a_guard_gives_it_back) {
    port::mutex m;
    for (int i = 0; i < 3; ++i) {
        {
            const port::lock_guard held(m);
        }
        ASSERT_TRUE(m.try_lock());
        m.unlock();
    }
}

// Two of them at once, as a depot's and a reserve's may be.
TEST(mutex, two_are_held_and_given_back_in_turn) {
    port::mutex first;
    port::mutex second;
    {
        const port::lock_guard outer(first);
        const port::lock_guard inner(second);
    }
    EXPECT_TRUE(first.try_lock());
    EXPECT_TRUE(second.try_lock());
    second.unlock();
    first.unlock();
}

TEST(wait_on, a_word_that_has_changed_is_not_slept_on) {
    const port::atomic<std::uint32_t> word(5);
    EXPECT_TRUE(port::wait_on(word, 4, -1));
    EXPECT_TRUE(port::wait_on(word, 6, 1'000'000'000));
}

TEST(wait_on, no_time_at_all_passes_at_once) {
    port::atomic<std::uint32_t> word(5);
    port::wake_one(word);  // nobody sleeps, and it is not remembered
    EXPECT_FALSE(port::wait_on(word, 5, 0));
}

TEST(thread_instance, there_is_one_of_each_type_made_of_constants) {
    per_thread& mine = port::thread_instance<per_thread>();
    EXPECT_EQ(mine.number, 17);
    EXPECT_TRUE(mine.where == nullptr);
    mine.number = 18;
    EXPECT_TRUE(&port::thread_instance<per_thread>() == &mine);
    EXPECT_EQ(port::thread_instance<per_thread>().number, 18);
    EXPECT_EQ(port::thread_instance<other_per_thread>().number, 17);
    mine.number = 17;
}

TEST(hints, any_address_may_be_prefetched) {
    int target = 0;
    port::prefetch(&target);
    port::prefetch(nullptr);
    port::prefetch(reinterpret_cast<const void*>(std::uintptr_t{1}));
    port::pause();
    port::yield();
    EXPECT_EQ(target, 0);
}

TEST(poison, what_was_unpoisoned_is_usable) {
    alignas(8) static std::uint8_t bytes[16];
    port::poison(bytes, sizeof bytes);
    port::unpoison(bytes, sizeof bytes);
    for (std::uint8_t& b : bytes)
        b = 3;
    EXPECT_EQ(bytes[15], 3);
    if (port::poisoning())
        return;
    // Where nobody would notice, the two do nothing.
    port::poison(bytes, sizeof bytes);
    EXPECT_EQ(bytes[0], 3);
}
