// SPDX-License-Identifier: Apache-2.0
//
// PT-3: malloc traps after start.
#include <cstdlib>

#include "portable_test.hpp"

TEST(ending, allocates) {
    void* volatile memory = std::malloc(8);
    EXPECT_TRUE(memory != nullptr);
}
