// SPDX-License-Identifier: Apache-2.0
//
// Goal: a message whose construction throws leaves nothing behind: no block, no payload.
#include <tactus/mailbox/envelope.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <stdexcept>

#include "mailbox_memory.hpp"

using tactus::envelope;

namespace {

template <std::size_t Size>
struct refuses_to_be_copied {
    refuses_to_be_copied() = default;
    refuses_to_be_copied(const refuses_to_be_copied&) { throw std::runtime_error("no"); }
    std::byte bytes[Size]{};
};

}  // namespace

TEST(envelope_exceptions, a_throwing_construction_frees_the_block) {
    tactus_test::one_block_source source;
    envelope e;
    const refuses_to_be_copied<100> large;
    for (int round = 1; round <= 3; ++round) {
        EXPECT_THROW((void)e.emplace<refuses_to_be_copied<100>>(large, &source),
                     std::runtime_error);
        EXPECT_EQ(source.asked, static_cast<unsigned>(round));
        EXPECT_EQ(source.released, static_cast<unsigned>(round));
        EXPECT_EQ(e.get_if<refuses_to_be_copied<100>>(), nullptr);
    }
    EXPECT_TRUE(source.good);
    const refuses_to_be_copied<8> small;
    EXPECT_THROW((void)e.emplace<refuses_to_be_copied<8>>(small, &source), std::runtime_error);
    EXPECT_EQ(e.get_if<refuses_to_be_copied<8>>(), nullptr);
    EXPECT_TRUE(e.emplace<int>(3, nullptr));  // it is empty and usable
    EXPECT_EQ(*e.get_if<int>(), 3);
    e.destroy_payload();
}
