// SPDX-License-Identifier: Apache-2.0
//
// Goal: a mailbox does what the specification says under any order of operations, over many lives,
// and every message is handled, refused or given to the finalizer's sink, exactly once (ME-1 … 6,
// M1, M3).
// Method: random operations on it and on a model of plain arrays; see mailbox_duel.hpp.
#include "mailbox_duel.hpp"
#include "portable_test.hpp"

namespace {

void duel(std::uint64_t seed) {
    TEST_LOG("mailbox_model: seed", seed);
    constexpr std::size_t count = tactus_test::board::roomy ? 24 : 12;
    constexpr unsigned operations = tactus_test::board::random_operations;
    tactus_test::mailbox_duel<count> both(seed);
    for (unsigned n = 0; n < operations; ++n) {
        if (!both.step()) {
            TEST_LOG("mailbox_model: disagreement at operation", n);
            ASSERT_TRUE(false);
        }
    }
    ASSERT_TRUE(both.conclude());
    // The run went everywhere.
    EXPECT_GT(both.lives(), 3u);
    EXPECT_GT(both.users().handled, operations / 20);
    EXPECT_GT(both.users().refused, 0u);
    EXPECT_GT(both.users().finalized, 0u);
    EXPECT_GT(both.systems().handled, operations / 100);
    EXPECT_GT(both.systems().finalized, 0u);
}

}  // namespace

TEST(mailbox_model, random_operations_agree_with_a_naive_mailbox_and_conserve_messages) {
    duel(0x5eed'0001);
    duel(0x5eed'0002);
}
