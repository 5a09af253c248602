// SPDX-License-Identifier: Apache-2.0
//
// PT-3: operator new traps after start, and an object made before it was there to use.
#include "portable_test.hpp"

namespace {

int* volatile early = new int(5);

}  // namespace

TEST(ending, creates) {
    ASSERT_EQ(*early, 5);
    int* volatile late = new int(6);
    EXPECT_EQ(*late, 6);
}
