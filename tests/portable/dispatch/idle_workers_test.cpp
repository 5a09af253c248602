// SPDX-License-Identifier: Apache-2.0
//
// Goal: one permit per parker; nobody is woken while somebody searches or nobody sleeps.
// Method: one thread plays all parts; what would sleep is given its permit before, or no time.
#include <tactus/dispatch/idle_workers.hpp>
#include <tactus/dispatch/parker.hpp>

#include "portable_test.hpp"

using tactus::idle_workers;
using tactus::parker;
using tactus::sleeper;

TEST(parker, an_unpark_before_park_is_not_lost) {
    parker p;
    p.unpark();
    EXPECT_TRUE(p.park(-1));
}

TEST(parker, many_unparks_are_one_permit) {
    parker p;
    for (int i = 0; i < 5; ++i)
        p.unpark();
    EXPECT_TRUE(p.park(-1));
    EXPECT_FALSE(p.park(0));
}

TEST(parker, a_park_in_vain_leaves_nothing_behind) {
    parker p;
    EXPECT_FALSE(p.park(0));
    EXPECT_FALSE(p.park(0));
    p.unpark();
    EXPECT_TRUE(p.park(0));
    EXPECT_FALSE(p.park(0));
}

// LN-11: a worker is woken only when nobody searches. Trap S11: and it is one that sleeps, never
// one that is awake.
TEST(idle_workers, work_wakes_the_last_sleeper_once_and_it_searches) {
    idle_workers idle;
    sleeper a;
    sleeper b;
    EXPECT_FALSE(idle.work_made());  // nobody sleeps
    EXPECT_FALSE(idle.anybody());
    idle.prepare_sleep(a, false);
    idle.prepare_sleep(b, false);
    EXPECT_EQ(idle.sleeping_count(), 2u);
    EXPECT_TRUE(idle.work_made());
    EXPECT_EQ(idle.sleeping_count(), 1u);
    EXPECT_EQ(idle.searching_count(), 1u);
    EXPECT_FALSE(idle.work_made());  // b searches and will find it
    EXPECT_TRUE(idle.sleep(b, -1));  // it was b: the last to go
    EXPECT_TRUE(idle.stop_search());
    EXPECT_TRUE(idle.work_made());
    EXPECT_TRUE(idle.sleep(a, -1));
    EXPECT_TRUE(idle.stop_search());
    EXPECT_FALSE(idle.anybody());
}

// LN-11: two who made work saw the same sleepers; the second to get the lock wakes nobody.
TEST(idle_workers, of_two_who_saw_the_same_sleepers_one_wakes_one) {
    idle_workers idle;
    sleeper a;
    sleeper b;
    idle.prepare_sleep(a, false);
    idle.prepare_sleep(b, false);
    EXPECT_TRUE(idle.wake_one());
    EXPECT_FALSE(idle.wake_one());  // b searches
    EXPECT_EQ(idle.sleeping_count(), 1u);
    EXPECT_EQ(idle.searching_count(), 1u);
    EXPECT_TRUE(idle.sleep(b, -1));
    EXPECT_TRUE(idle.stop_search());
    EXPECT_FALSE(idle.sleep(a, 0));
    EXPECT_FALSE(idle.wake_one());  // they saw a, which has left meanwhile
    EXPECT_FALSE(idle.anybody());
}

TEST(idle_workers, at_most_half_search) {
    idle_workers idle;
    EXPECT_TRUE(idle.start_search(4));
    EXPECT_TRUE(idle.start_search(4));
    EXPECT_FALSE(idle.start_search(4));
    EXPECT_FALSE(idle.stop_search());  // not the last
    EXPECT_TRUE(idle.stop_search());
    EXPECT_TRUE(idle.start_search(1));  // one worker may search alone
    EXPECT_FALSE(idle.start_search(1));
}

TEST(idle_workers, going_to_sleep_ends_the_search) {
    idle_workers idle;
    sleeper a;
    EXPECT_TRUE(idle.start_search(2));
    idle.prepare_sleep(a, true);
    EXPECT_EQ(idle.searching_count(), 0u);
    EXPECT_EQ(idle.sleeping_count(), 1u);
    EXPECT_FALSE(idle.cancel_sleep(a, false));
    EXPECT_FALSE(idle.anybody());
}

TEST(idle_workers, who_searched_and_cancels_searches_on) {
    idle_workers idle;
    sleeper a;
    EXPECT_TRUE(idle.start_search(2));
    idle.prepare_sleep(a, true);
    EXPECT_TRUE(idle.cancel_sleep(a, true));
    EXPECT_EQ(idle.searching_count(), 1u);
    EXPECT_EQ(idle.sleeping_count(), 0u);
    EXPECT_TRUE(idle.stop_search());  // the last: it looks for more
}

TEST(idle_workers, who_cancels_after_being_chosen_searches_and_keeps_no_permit) {
    idle_workers idle;
    sleeper a;
    idle.prepare_sleep(a, false);
    EXPECT_TRUE(idle.work_made());
    EXPECT_TRUE(idle.cancel_sleep(a, false));
    EXPECT_EQ(idle.searching_count(), 1u);
    EXPECT_TRUE(idle.stop_search());
    idle.prepare_sleep(a, false);
    EXPECT_FALSE(idle.sleep(a, 0));  // the time passed: no permit was left over
    EXPECT_FALSE(idle.anybody());
}

TEST(idle_workers, a_sleeper_in_the_middle_can_leave) {
    idle_workers idle;
    sleeper s[3];
    for (sleeper& one : s)
        idle.prepare_sleep(one, false);
    EXPECT_FALSE(idle.sleep(s[1], 0));
    EXPECT_EQ(idle.sleeping_count(), 2u);
    idle.wake_all();
    EXPECT_EQ(idle.sleeping_count(), 0u);
    EXPECT_EQ(idle.searching_count(), 2u);
    EXPECT_TRUE(idle.sleep(s[0], -1));
    EXPECT_TRUE(idle.sleep(s[2], -1));
}

// LN-4, LN-11: one sleeper waits for the time, and is woken for work last.
TEST(idle_workers, the_first_to_sleep_keeps_the_time_and_is_woken_last) {
    idle_workers idle;
    sleeper s[3];
    EXPECT_FALSE(idle.time_kept());
    EXPECT_TRUE(idle.prepare_sleep(s[0], false));
    EXPECT_FALSE(idle.prepare_sleep(s[1], false));
    EXPECT_TRUE(idle.time_kept());
    EXPECT_EQ(idle.sleeping_count(), 2u);
    EXPECT_TRUE(idle.work_made());
    EXPECT_TRUE(idle.sleep(s[1], -1));
    EXPECT_TRUE(idle.stop_search());
    EXPECT_FALSE(idle_workers::left_time(s[1]));
    EXPECT_TRUE(idle.time_kept());
    EXPECT_TRUE(idle.work_made());  // nobody else is left
    EXPECT_TRUE(idle.sleep(s[0], -1));
    EXPECT_TRUE(idle_workers::left_time(s[0]));
    EXPECT_FALSE(idle_workers::left_time(s[0]));  // says so once
    EXPECT_TRUE(idle.stop_search());
    EXPECT_FALSE(idle.anybody());
    EXPECT_TRUE(idle.prepare_sleep(s[2], false));  // and the next is it
    EXPECT_FALSE(idle.sleep(s[2], 0));
    EXPECT_TRUE(idle_workers::left_time(s[2]));
    EXPECT_FALSE(idle.anybody());
}

// The timekeeper is the last that went to sleep, because it asked for it: the one below is woken.
TEST(idle_workers, who_takes_the_time_relieves_who_had_it) {
    idle_workers idle;
    sleeper a;
    sleeper b;
    EXPECT_TRUE(idle.prepare_sleep(a, false));
    EXPECT_TRUE(idle.prepare_sleep(b, false, true));
    EXPECT_TRUE(idle.work_made());
    EXPECT_TRUE(idle.sleep(a, -1));
    EXPECT_FALSE(idle_workers::left_time(a));
    EXPECT_TRUE(idle.stop_search());
    EXPECT_FALSE(idle.sleep(b, 0));
    EXPECT_TRUE(idle_workers::left_time(b));
    EXPECT_FALSE(idle.anybody());
}

TEST(idle_workers, a_deadline_nobody_keeps_wakes_one_unless_somebody_searches) {
    idle_workers idle;
    sleeper a;
    sleeper b;
    idle.time_unkept(true);  // nobody sleeps: who goes to sleep next sees it
    EXPECT_FALSE(idle.anybody());
    EXPECT_TRUE(idle.prepare_sleep(a, false));
    EXPECT_FALSE(idle.prepare_sleep(b, false));
    idle.time_unkept(false);  // a keeps it
    EXPECT_EQ(idle.sleeping_count(), 2u);
    EXPECT_TRUE(idle.start_search(4));
    idle.time_unkept(true);  // a does not know it; who searches will see to it
    EXPECT_EQ(idle.sleeping_count(), 2u);
    EXPECT_FALSE(idle.time_kept());
    idle.time_unkept(true);  // again: there is nobody to relieve
    EXPECT_TRUE(idle.stop_search());
    idle.time_unkept(false);
    EXPECT_EQ(idle.sleeping_count(), 1u);
    EXPECT_TRUE(idle.sleep(b, -1));
    EXPECT_TRUE(idle.prepare_sleep(b, true));
    idle.wake_all();
    EXPECT_TRUE(idle.sleep(a, -1));
    EXPECT_TRUE(idle.sleep(b, -1));
    EXPECT_FALSE(idle_workers::left_time(a));
    EXPECT_TRUE(idle_workers::left_time(b));
}
