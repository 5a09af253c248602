// SPDX-License-Identifier: Apache-2.0
//
// Goal: every fault of a name has a name and a text (AC-7).
#include <tactus/actor/actor_name.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>

using namespace tactus;  // NOLINT: the whole vocabulary is used

TEST(actor_name, AC_7_every_fault_has_a_text_of_its_own) {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < name_fault_count; ++i) {
        seen.insert(name_of(static_cast<name_fault>(i)));
        seen.insert(text_of(static_cast<name_fault>(i)));
    }
    EXPECT_EQ(seen.size(), 2 * name_fault_count);
}
