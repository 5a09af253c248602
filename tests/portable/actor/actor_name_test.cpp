// SPDX-License-Identifier: Apache-2.0
//
// Goal: names that actors and systems may have (AC-7).
#include <tactus/actor/actor_name.hpp>

#include "portable_test.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used

// AC-7, C-REF-5: names that paths cannot have are refused, each with its reason.
TEST(actor_name, AC_7_names_that_are_refused) {
    EXPECT_TRUE(fault_of_name("") == name_fault::empty);
    EXPECT_TRUE(fault_of_name("$x") == name_fault::starts_with_dollar);
    EXPECT_TRUE(fault_of_name("a/b") == name_fault::bad_character);
    EXPECT_TRUE(fault_of_name("a b") == name_fault::bad_character);
    EXPECT_TRUE(fault_of_name("#") == name_fault::bad_character);
    EXPECT_TRUE(fault_of_name("%") == name_fault::bad_escape);
    EXPECT_TRUE(fault_of_name("a%3") == name_fault::bad_escape);
    EXPECT_TRUE(fault_of_name("%1t") == name_fault::bad_escape);
    EXPECT_TRUE(fault_of_name("a%3fb%") == name_fault::bad_escape);
    char longest[name_size_max + 1];
    for (char& c : longest)
        c = 'a';
    EXPECT_FALSE(fault_of_name({longest, name_size_max}).has_value());
    EXPECT_TRUE(fault_of_name({longest, name_size_max + 1}) == name_fault::too_long);
}

// AC-7
TEST(actor_name, AC_7_names_that_are_taken) {
    for (const char* name : {"a", "A-b_c.d", "x$1", "a%20b", "1", "~*+:@&=,!';()"})
        EXPECT_FALSE(fault_of_name(name).has_value());
}

// C-SYS-1: a system's name starts with a letter or digit and has no dots.
TEST(actor_name, C_SYS_1_names_of_systems) {
    for (const char* name : {"a", "0a-b_", "Demo"})
        EXPECT_FALSE(fault_of_system_name(name).has_value());
    EXPECT_TRUE(fault_of_system_name("") == name_fault::empty);
    for (const char* name : {"-a", "_a", "a.b", "hallo*welt", "a b", "ab/"})
        EXPECT_TRUE(fault_of_system_name(name) == name_fault::bad_system_character);
}
