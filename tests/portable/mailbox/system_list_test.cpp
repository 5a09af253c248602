// SPDX-License-Identifier: Apache-2.0
//
// Chains of system messages: newest first as pushed, oldest first as handled (C-SML-1 … 7).
#include <tactus/mailbox/system_message.hpp>

#include <array>
#include <cstddef>

#include "portable_test.hpp"

using tactus::newest_first;
using tactus::oldest_first;
using tactus::system_message;
using tactus::system_ring;

namespace {

using nodes = std::array<system_message, 6>;

/// Chains m[from] … m[to - 1], pushed in that order.
newest_first pushed(nodes& m, std::size_t from, std::size_t to) {
    newest_first list;
    for (std::size_t i = from; i < to; ++i)
        list.push(m[i]);
    return list;
}

}  // namespace

// C-SML-1
TEST(system_list, C_SML_1_an_empty_list_has_no_head_and_reverses_to_an_empty_one) {
    newest_first list;
    EXPECT_TRUE(list.head() == nullptr);
    EXPECT_TRUE(list.empty());
    EXPECT_EQ(list.size(), 0u);
    EXPECT_TRUE(list.reverse() == oldest_first());
    EXPECT_TRUE(oldest_first().empty());
    EXPECT_TRUE(oldest_first().head() == nullptr);
    EXPECT_TRUE(oldest_first().pop() == nullptr);
}

// C-SML-2
TEST(system_list, C_SML_2_pushing_links_the_new_one_to_the_one_before) {
    nodes m;
    const newest_first list = pushed(m, 0, 3);
    EXPECT_FALSE(list.empty());
    EXPECT_EQ(list.size(), 3u);
    EXPECT_TRUE(list.head() == &m[2]);
    EXPECT_TRUE(m[2].next.read() == &m[1]);
    EXPECT_TRUE(m[1].next.read() == &m[0]);
    EXPECT_TRUE(m[0].next.read() == nullptr);
}

// C-SML-3
TEST(system_list, C_SML_3_head_and_tail_walk_from_the_newest) {
    nodes m;
    newest_first list = pushed(m, 0, 3);
    for (std::size_t i = 3; i-- > 0;) {
        EXPECT_TRUE(list.head() == &m[i]);
        EXPECT_EQ(list.size(), i + 1);
        list = list.tail();
    }
    EXPECT_TRUE(list.head() == nullptr);
    EXPECT_TRUE(list.empty());
}

// C-SML-5
TEST(system_list, C_SML_5_reverse_rewrites_the_links_in_place) {
    nodes m;
    newest_first list = pushed(m, 0, 3);
    const oldest_first reversed = list.reverse();
    EXPECT_TRUE(list.empty());
    EXPECT_EQ(reversed.size(), 3u);
    EXPECT_TRUE(reversed.head() == &m[0]);
    EXPECT_TRUE(m[0].next.read() == &m[1]);
    EXPECT_TRUE(m[1].next.read() == &m[2]);
    EXPECT_TRUE(m[2].next.read() == nullptr);
}

// C-SML-6
TEST(system_list, C_SML_6_reverse_onto_puts_the_older_ones_in_front) {
    nodes m;
    newest_first later = pushed(m, 3, 6);
    newest_first earlier = pushed(m, 0, 3);
    oldest_first all = earlier.reverse_onto(later.reverse());
    EXPECT_TRUE(earlier.empty());
    EXPECT_EQ(all.size(), 6u);
    for (system_message& expected : m) {
        system_message* first = all.pop();
        EXPECT_TRUE(first == &expected);
        EXPECT_TRUE(expected.next.read() == nullptr);  // unlinked: it may be pushed again
    }
    EXPECT_TRUE(all.pop() == nullptr);
}

// C-SML-7
TEST(system_list, C_SML_7_reverse_onto_with_empty_sides) {
    nodes m;
    EXPECT_TRUE(newest_first().reverse_onto({}) == oldest_first());

    newest_first one = pushed(m, 0, 1);
    const oldest_first from_one = one.reverse_onto({});
    EXPECT_TRUE(from_one.head() == &m[0]);
    EXPECT_EQ(from_one.size(), 1u);

    const oldest_first onto_one = newest_first().reverse_onto(from_one);
    EXPECT_TRUE(onto_one.head() == &m[0]);
    EXPECT_EQ(onto_one.size(), 1u);
}

// DF-45: what is put off comes in its order, and what comes meanwhile goes behind it.
TEST(system_list, DF_45_a_ring_gives_the_oldest_first) {
    nodes m;
    system_ring ring;
    EXPECT_TRUE(ring.empty());
    for (std::size_t i = 0; i < 3; ++i)
        ring.push(m[i]);
    for (std::size_t i = 0; i < m.size(); ++i) {
        m[i].linked = true;
        EXPECT_TRUE(&ring.pop() == &m[i]);
        EXPECT_TRUE(m[i].next.read() == nullptr);  // unlinked: it may be pushed again
        EXPECT_FALSE(m[i].linked);
        if (i + 3 < m.size())
            ring.push(m[i + 3]);
    }
    EXPECT_TRUE(ring.empty());
}

TEST(system_list, a_ring_goes_in_front_of_a_list) {
    nodes m;
    system_ring ring;
    EXPECT_TRUE(ring.take_onto({}) == oldest_first());
    oldest_first rest = pushed(m, 3, 6).reverse();
    EXPECT_TRUE(ring.take_onto(rest) == rest);
    for (std::size_t i = 0; i < 3; ++i)
        ring.push(m[i]);
    oldest_first all = ring.take_onto(rest);
    EXPECT_TRUE(ring.empty());
    EXPECT_EQ(all.size(), 6u);
    for (system_message& expected : m)
        EXPECT_TRUE(all.pop() == &expected);
    ring.push(m[0]);
    EXPECT_EQ(ring.take_onto({}).size(), 1u);
}
