// SPDX-License-Identifier: Apache-2.0
//
// Goal: a system message is in one queue at a time; a second push ends the program. Host only.
#include <tactus/mailbox/system_queue.hpp>

#include <gtest/gtest.h>

using tactus::newest_first;
using tactus::oldest_first;
using tactus::system_message;
using tactus::system_queue;

// SQ-1: also the only message of a queue, and also while it waits in a drained list.
TEST(system_queue_death, check_1_a_linked_message_is_not_pushed_again) {
    system_queue queue;
    system_queue other;
    queue.open();
    other.open();
    system_message first;
    system_message second;
    (void)queue.push(first);
    EXPECT_DEATH((void)queue.push(first), "system_queue:1");
    EXPECT_DEATH((void)other.push(first), "system_queue:1");
    (void)queue.push(second);
    oldest_first list = queue.drain();
    EXPECT_DEATH((void)other.push(second), "system_queue:1");
    EXPECT_EQ(list.pop(), &first);
    EXPECT_DEATH((void)other.push(second), "system_queue:1");
    EXPECT_EQ(list.pop(), &second);
    EXPECT_EQ(other.push(second), tactus::pushed::first);
}

TEST(system_queue_death, list_check_1_a_chained_message_is_not_pushed_again) {
    system_message first;
    system_message second;
    newest_first list;
    list.push(first);
    list.push(second);
    EXPECT_DEATH(list.push(second), "system_list:1");
}
