// SPDX-License-Identifier: Apache-2.0
//
// System queue: oldest first, closed is final, never refused for room (SQ-1 … SQ-4, C-MBX-17).
#include <tactus/mailbox/system_queue.hpp>

#include <array>
#include <cstddef>
#include <string_view>

#include "portable_test.hpp"

using tactus::oldest_first;
using tactus::pushed;
using tactus::system_kind;
using tactus::system_message;
using tactus::system_queue;

namespace {

constexpr std::size_t many = tactus_test::board::roomy ? 2'000 : 64;

std::array<system_message, many> messages;

}  // namespace

// SQ-1, C-MBX-17
TEST(system_queue, SQ_1_C_MBX_17_messages_are_drained_in_the_order_of_pushing) {
    system_queue queue;
    queue.open();
    std::array<system_message, 3> s;
    EXPECT_EQ(queue.push(s[0]), pushed::first);
    EXPECT_EQ(queue.push(s[1]), pushed::behind_others);
    EXPECT_EQ(queue.push(s[2]), pushed::behind_others);
    oldest_first list = queue.drain();
    EXPECT_EQ(list.size(), 3u);
    for (system_message& expected : s)
        EXPECT_TRUE(list.pop() == &expected);
    EXPECT_TRUE(list.empty());
    EXPECT_TRUE(queue.drain().empty());
    // The next one is the first again.
    EXPECT_EQ(queue.push(s[1]), pushed::first);
    EXPECT_TRUE(queue.drain().pop() == &s[1]);
}

// SQ-1: what is pushed while a drained list is handled waits for the next drain.
TEST(system_queue, SQ_1_a_push_after_a_drain_leaves_the_drained_list_alone) {
    system_queue queue;
    queue.open();
    std::array<system_message, 4> s;
    for (std::size_t i = 0; i < 3; ++i)
        (void)queue.push(s[i]);
    oldest_first list = queue.drain();
    EXPECT_TRUE(list.pop() == &s[0]);
    EXPECT_EQ(queue.push(s[3]), pushed::first);
    EXPECT_EQ(queue.push(s[0]), pushed::behind_others);  // handled, so its node is free again
    EXPECT_TRUE(list.pop() == &s[1]);
    EXPECT_TRUE(list.pop() == &s[2]);
    EXPECT_TRUE(list.pop() == nullptr);
    list = queue.drain();
    EXPECT_TRUE(list.pop() == &s[3]);
    EXPECT_TRUE(list.pop() == &s[0]);
    EXPECT_TRUE(list.pop() == nullptr);
}

// SQ-2
TEST(system_queue, SQ_2_a_queue_begins_closed_and_refuses) {
    system_queue queue;
    system_message s;
    EXPECT_TRUE(queue.closed());
    EXPECT_FALSE(queue.has_messages());
    EXPECT_EQ(queue.push(s), pushed::closed);
    EXPECT_FALSE(queue.has_messages());
    EXPECT_TRUE(queue.drain().empty());
    EXPECT_TRUE(queue.closed());  // draining did not open it
}

// SQ-2: closing returns what was there, in order; afterwards nothing gets in, whatever is tried.
TEST(system_queue, SQ_2_closed_is_final_and_a_refused_message_is_usable_again) {
    system_queue queue;
    queue.open();
    EXPECT_FALSE(queue.closed());
    std::array<system_message, 3> s;
    for (system_message& m : s)
        (void)queue.push(m);
    oldest_first rest = queue.close();
    EXPECT_TRUE(queue.closed());
    EXPECT_FALSE(queue.has_messages());
    system_message late;
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(queue.push(late), pushed::closed);
        EXPECT_TRUE(late.next.read() == nullptr);
        EXPECT_FALSE(late.linked);
        EXPECT_TRUE(queue.drain().empty());
        EXPECT_TRUE(queue.close().empty());
        EXPECT_TRUE(queue.closed());
    }
    for (system_message& expected : s)
        EXPECT_TRUE(rest.pop() == &expected);
    EXPECT_TRUE(rest.empty());

    // The refused one goes elsewhere, also alone and also behind others.
    system_queue other;
    other.open();
    EXPECT_EQ(other.push(s[0]), pushed::first);
    EXPECT_EQ(other.push(late), pushed::behind_others);
    oldest_first list = other.drain();
    EXPECT_TRUE(list.pop() == &s[0]);
    EXPECT_TRUE(list.pop() == &late);
    EXPECT_TRUE(list.empty());
}

// SQ-3: has_messages follows the head at every step, whatever was pushed and drained before.
TEST(system_queue, SQ_3_emptiness_is_decided_by_the_head) {
    system_queue queue;
    queue.open();
    EXPECT_FALSE(queue.has_messages());
    for (std::size_t round = 1; round <= 8; ++round) {
        for (std::size_t i = 0; i < round; ++i) {
            (void)queue.push(messages[i]);
            EXPECT_TRUE(queue.has_messages());
        }
        oldest_first list = queue.drain();
        EXPECT_FALSE(queue.has_messages());  // though none of them has been handled
        while (list.pop() != nullptr)
            EXPECT_FALSE(queue.has_messages());
    }
}

// SQ-3: there is no capacity; every push is taken.
TEST(system_queue, SQ_3_nothing_is_refused_for_want_of_room) {
    system_queue queue;
    queue.open();
    for (std::size_t i = 0; i < many; ++i)
        ASSERT_NE(queue.push(messages[i]), pushed::closed);
    oldest_first list = queue.drain();
    ASSERT_EQ(list.size(), many);
    for (std::size_t i = 0; i < many; ++i)
        ASSERT_TRUE(list.pop() == &messages[i]);
}

// SQ-4
TEST(system_queue, SQ_4_every_kind_has_a_name) {
    constexpr std::array<std::string_view, 13> names{
        "create",          "recreate",     "suspend", "resume", "terminate",
        "supervise",       "watch",        "unwatch", "failed", "death_watch_notification",
        "receive_timeout", "continuation", "go_on"};
    static_assert(tactus::system_kind_count == names.size());
    static_assert(static_cast<std::size_t>(system_kind::go_on) + 1 == tactus::system_kind_count);
    for (std::size_t i = 0; i < names.size(); ++i)
        EXPECT_TRUE(tactus::name_of(static_cast<system_kind>(i)) == names[i]);
}
