// SPDX-License-Identifier: Apache-2.0
//
// Depot and caches. Goal: a node is in use once, in one cache, or in the depot (D1, D2), and a
// thread goes to the depot rarely.
// Method: single situations; then several caches with random takes and gives against a list of who
// is in use.
#include <tactus/base/det_rng.hpp>
#include <tactus/mailbox/depot.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "mailbox_memory.hpp"
#include "portable_test.hpp"

namespace {

struct node {
    node* next = nullptr;
    node* magazine = nullptr;
};
struct links {
    static inline unsigned magazines_given = 0;
    static inline unsigned magazines_taken = 0;
    static node* get(const node& n) { return n.next; }
    static void set(node& n, node* to) { n.next = to; }
    static node* get_magazine(const node& n) {
        ++magazines_taken;
        return n.magazine;
    }
    static void set_magazine(node& n, node* to) {
        ++magazines_given;
        n.magazine = to;
    }
    static void reset() { magazines_given = magazines_taken = 0; }
};
using depot = tactus::depot<node, links>;
using cache = tactus::depot_cache<node, links>;

constexpr std::uint32_t capacity = 40;
alignas(16) std::array<std::byte, capacity * sizeof(node)> bytes;

/// Takes until there is nothing; how many.
std::uint32_t take_everything(cache& c, std::span<node*> into) {
    std::uint32_t count = 0;
    while (node* n = c.take()) {
        if (count < into.size())
            into[count] = n;
        ++count;
    }
    return count;
}

}  // namespace

TEST(depot, gives_every_node_once_the_lowest_first_and_then_none) {
    tactus::fixed_memory memory(bytes);
    depot nodes({.memory = &memory, .capacity = 10, .magazine_size = 4});
    cache c(nodes);
    EXPECT_EQ(nodes.constructed_count(), 0u);
    for (std::uint32_t i = 0; i < 10; ++i) {
        node* n = c.take();
        ASSERT_TRUE(n == nodes.data() + i);
        EXPECT_EQ(nodes.index_of(*n), i);
    }
    EXPECT_EQ(nodes.constructed_count(), 10u);
    EXPECT_TRUE(c.take() == nullptr);
    EXPECT_TRUE(c.take() == nullptr);
    c.give(nodes.data()[3]);
    EXPECT_TRUE(c.take() == &nodes.data()[3]);
    EXPECT_TRUE(c.take() == nullptr);
}

TEST(depot, constructs_a_magazine_at_a_time) {
    tactus::fixed_memory memory(bytes);
    depot nodes({.memory = &memory, .capacity = 10, .magazine_size = 4});
    cache c(nodes);
    EXPECT_TRUE(c.take() != nullptr);
    EXPECT_EQ(nodes.constructed_count(), 4u);
    for (int i = 0; i < 4; ++i)
        EXPECT_TRUE(c.take() != nullptr);
    EXPECT_EQ(nodes.constructed_count(), 8u);
}

TEST(depot, what_a_cache_was_given_it_uses_next) {
    tactus::fixed_memory memory(bytes);
    depot nodes({.memory = &memory, .capacity = 10, .magazine_size = 4});
    cache c(nodes);
    node* a = c.take();
    node* b = c.take();
    c.give(*a);
    c.give(*b);
    EXPECT_TRUE(c.take() == b);
    EXPECT_TRUE(c.take() == a);
}

TEST(depot, a_flush_lets_the_others_have_everything) {
    tactus::fixed_memory memory(bytes);
    depot nodes({.memory = &memory, .capacity = 10, .magazine_size = 4});
    cache first(nodes);
    cache second(nodes);
    std::array<node*, 10> taken{};
    ASSERT_EQ(take_everything(first, taken), 10u);
    for (node* n : taken)
        first.give(*n);
    // At most two magazines stay in a cache; the rest is there for all.
    std::array<node*, 10> others{};
    const std::uint32_t got = take_everything(second, others);
    EXPECT_GE(got, 10u - 2 * 4);
    first.flush();
    first.flush();  // there is nothing left to flush
    EXPECT_EQ(got + take_everything(second, std::span(others).subspan(got)), 10u);
    EXPECT_TRUE(first.take() == nullptr);
    for (std::size_t i = 0; i < others.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j)
            EXPECT_TRUE(others[i] != others[j]);
    }
}

// D2: what came back in pieces goes out by the magazine, not all to the first who asks.
TEST(depot, D2_loose_nodes_are_shared_out_by_the_magazine) {
    tactus::fixed_memory memory(bytes);
    depot nodes({.memory = &memory, .capacity = 9, .magazine_size = 4});
    std::array<node*, 9> all{};
    cache first(nodes);
    ASSERT_EQ(take_everything(first, all), 9u);
    for (std::size_t i = 0; i < all.size(); ++i) {
        first.give(*all[i]);
        if (i % 3 == 2)
            first.flush();
    }
    EXPECT_TRUE(first.take() != nullptr);
    cache second(nodes);
    EXPECT_EQ(take_everything(second, all), 5u);
    EXPECT_EQ(take_everything(first, all), 3u);
}

TEST(depot, a_cache_of_no_depot_flushes_nothing_and_serves_the_next_one) {
    tactus::fixed_memory memory(bytes);
    depot nodes({.memory = &memory, .capacity = 2, .magazine_size = 1});
    cache c;
    c.flush();
    c.attach(&nodes);
    node* n = c.take();
    ASSERT_TRUE(n != nullptr);
    c.give(*n);
    c.flush();
    cache other(nodes);
    std::array<node*, 2> all{};
    EXPECT_EQ(take_everything(other, all), 2u);
}

// Two magazines: whoever takes and gives around a boundary does not go to the depot each time.
TEST(depot, alternating_at_a_boundary_does_not_go_to_the_depot) {
    tactus::fixed_memory memory(bytes);
    depot nodes({.memory = &memory, .capacity = capacity, .magazine_size = 4});
    cache c(nodes);
    std::array<node*, 16> in_use{};
    for (std::size_t start = 0; start <= 12; ++start) {
        links::reset();
        for (std::size_t i = 0; i < start; ++i)
            in_use[i] = c.take();
        for (int round = 0; round < 10; ++round) {
            for (std::size_t i = start; i < start + 3; ++i)
                in_use[i] = c.take();
            for (std::size_t i = start; i < start + 3; ++i)
                c.give(*in_use[i]);
        }
        for (std::size_t i = 0; i < start; ++i)
            c.give(*in_use[i]);
        EXPECT_LE(links::magazines_given, 4u);
        EXPECT_LE(links::magazines_taken, 4u);
    }
}

TEST(depot, a_region_grows_as_nodes_are_needed_and_its_refusal_is_an_empty_hand) {
    tactus_test::stepped_memory memory(bytes, 12 * sizeof(node));
    depot nodes({.memory = &memory, .capacity = capacity, .magazine_size = 4});
    cache c(nodes);
    EXPECT_EQ(memory.size(), 0u);
    EXPECT_TRUE(c.take() != nullptr);
    EXPECT_GE(memory.size(), 4 * sizeof(node));
    EXPECT_LT(memory.size(), 12 * sizeof(node));
    EXPECT_EQ(take_everything(c, {}), 11u);
    EXPECT_EQ(nodes.constructed_count(), 12u);
    memory.allow(bytes.size());
    EXPECT_EQ(take_everything(c, {}), capacity - 12);
    EXPECT_EQ(nodes.constructed_count(), capacity);
    EXPECT_LT(memory.grown, 12u);  // more than it needs at once
}

// D1: what is asked for in advance may be refused; what is needed now is not given up for that.
TEST(depot, a_region_that_refuses_the_quarter_more_still_gives_what_is_needed) {
    tactus_test::stepped_memory memory(bytes, 34 * sizeof(node));
    depot nodes({.memory = &memory, .capacity = capacity, .magazine_size = 1});
    cache c(nodes);
    EXPECT_EQ(take_everything(c, {}), 34u);
}

// D1: a cache of size 0 keeps nothing from the others.
TEST(depot, a_pool_of_a_few_nodes_is_usable_to_the_last_by_everybody) {
    tactus::fixed_memory memory(bytes);
    depot nodes({.memory = &memory, .capacity = 3, .magazine_size = 0});
    cache first(nodes);
    cache second(nodes);
    std::array<node*, 3> all{};
    for (int round = 0; round < 3; ++round) {
        ASSERT_EQ(take_everything(first, all), 3u);
        EXPECT_TRUE(second.take() == nullptr);
        for (node* n : all)
            first.give(*n);
        ASSERT_EQ(take_everything(second, all), 3u);
        EXPECT_TRUE(first.take() == nullptr);
        for (node* n : all)
            second.give(*n);
    }
}

// D1: whatever the others have freed, three quarters of a pool can be had by one.
TEST(depot, at_most_a_quarter_lies_in_the_magazines_of_others) {
    constexpr std::uint64_t seed = 0x5eed'0004;
    TEST_LOG("depot: seed", seed);
    tactus::det_rng rng(seed);
    std::array<cache, 4> caches;
    for (std::uint32_t size = 1; size <= capacity; ++size) {
        for (std::uint32_t others = 1; others < caches.size(); ++others) {
            tactus::fixed_memory memory(bytes);
            depot nodes({.memory = &memory,
                         .capacity = size,
                         .magazine_size = tactus::shared_magazine(size, others, 128)});
            for (cache& c : caches)
                c.attach(&nodes);
            // Everybody but the first frees what the first took; in an order that is drawn.
            std::array<node*, capacity> all{};
            ASSERT_EQ(take_everything(caches[0], all), size);
            for (std::uint32_t i = 0; i < size; ++i)
                caches[1 + static_cast<std::size_t>(rng.below(others))].give(*all[i]);
            const std::uint32_t got = take_everything(caches[0], all);
            EXPECT_GE(got, size - size / 4);
            for (std::uint32_t i = 0; i < got; ++i)
                caches[0].give(*all[i]);
            for (cache& c : caches)
                c.flush();
        }
    }
    // No more than asked for, and as many as that where the pool is large.
    EXPECT_EQ(tactus::shared_magazine(1U << 20, 2, 128), 128u);
    EXPECT_EQ(tactus::shared_magazine(64, 2, 128), 4u);
    EXPECT_EQ(tactus::shared_magazine(7, 1, 128), 0u);
}

// D1, D2
TEST(depot, random_takes_and_gives_through_several_caches_agree_with_a_list) {
    constexpr std::uint64_t seed = 0x5eed'dee0;
    TEST_LOG("depot: seed", seed);
    tactus::det_rng rng(seed);
    for (const std::uint32_t magazine_size : {1u, 3u, 4u, 64u}) {
        tactus_test::stepped_memory memory(bytes, bytes.size());
        depot nodes({.memory = &memory, .capacity = capacity, .magazine_size = magazine_size});
        std::array<cache, 3> caches;
        for (cache& c : caches)
            c.attach(&nodes);
        std::array<bool, capacity> in_use{};
        std::uint32_t used = 0;
        for (unsigned n = 0; n < tactus_test::board::random_operations / 4; ++n) {
            cache& c = caches[static_cast<std::size_t>(rng.below(caches.size()))];
            const std::uint64_t drawn = rng.below(128);
            if (drawn == 0) {
                c.flush();
            } else if (drawn == 1) {
                // With everything flushed, one cache finds all that is not in use.
                for (cache& each : caches)
                    each.flush();
                std::array<node*, capacity> rest{};
                ASSERT_EQ(take_everything(c, rest), capacity - used);
                for (std::uint32_t i = 0; i < capacity - used; ++i) {
                    ASSERT_FALSE(in_use[nodes.index_of(*rest[i])]);
                    c.give(*rest[i]);
                }
            } else if (drawn < 64 + (n / 256 % 2 == 0 ? 20 : 0)) {  // fuller, then emptier
                if (node* taken = c.take()) {
                    const std::uint32_t index = nodes.index_of(*taken);
                    ASSERT_LT(index, capacity);
                    ASSERT_FALSE(in_use[index]);
                    in_use[index] = true;
                    ++used;
                } else {
                    // Others may hold two magazines each, and nothing more.
                    ASSERT_GE(used + 2 * 2 * magazine_size, capacity);
                }
            } else if (used > 0) {
                auto index = static_cast<std::uint32_t>(rng.below(capacity));
                while (!in_use[index])
                    index = (index + 1) % capacity;
                in_use[index] = false;
                --used;
                c.give(nodes.data()[index]);
            }
        }
    }
}
