// SPDX-License-Identifier: Apache-2.0
//
// Pairs of the life cycle that cannot occur are checks.
#include <tactus/actor/lifecycle.hpp>

#include <gtest/gtest.h>

namespace lifecycle = tactus::lifecycle;

TEST(lifecycle_death, a_pair_that_cannot_occur_fails_a_check) {
    unsigned impossible = 0;
    for (const lifecycle::row& r : lifecycle::rows) {
        if (r.owed != lifecycle::action::impossible)
            continue;
        ++impossible;
        EXPECT_DEATH((void)lifecycle::next(r.from, r.on), "lifecycle:1");
    }
    EXPECT_NE(impossible, 0u);
}
