// SPDX-License-Identifier: Apache-2.0
//
// Goal: the numbered checks of the intrusive list end the program and name themselves. Host only.
// Method: break each precondition in a child process.
#include <tactus/base/intrusive_list.hpp>

#include "portable_test.hpp"

namespace {

struct item : tactus::list_hook<> {};

}  // namespace

TEST(intrusive_list_death, check_1_and_2_an_empty_list_has_no_ends) {
    tactus::intrusive_list<item> list;
    EXPECT_DEATH((void)list.front(), "intrusive_list:1");
    EXPECT_DEATH((void)list.back(), "intrusive_list:2");
}

TEST(intrusive_list_death, check_3_an_element_is_linked_once) {
    item one;
    tactus::intrusive_list<item> first;
    tactus::intrusive_list<item> second;
    first.push_back(one);
    EXPECT_DEATH(first.push_back(one), "intrusive_list:3");
    EXPECT_DEATH(second.push_front(one), "intrusive_list:3");
}
