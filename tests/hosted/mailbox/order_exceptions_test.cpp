// SPDX-License-Identifier: Apache-2.0
//
// Goal: an order of messages that throws breaks its queue and nothing else (RG-4, UP-4).
// Method: a comparison that throws on its k-th call, for every k of a few hundred operations.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include <tactus/mailbox/user_queue.hpp>

#include "queue_duel.hpp"
#include "test_memory.hpp"

namespace {

struct throwing_order {
    unsigned calls_left;
    bool before(tactus::envelope& a, tactus::envelope& b) {
        if (calls_left-- == 0)
            throw std::runtime_error("no order today");
        return a.get_if<tactus_test::ranked>()->rank < b.get_if<tactus_test::ranked>()->rank;
    }
};

alignas(16) std::byte heap_bytes[16'384];

}  // namespace

// RG-4
TEST(order_exceptions, RG4_an_order_that_throws_breaks_the_queue_and_loses_nothing) {
    for (unsigned k = 0; k < 300; ++k) {
        tactus_test::test_memory memory(heap_bytes);
        throwing_order user{k};
        tactus::message_order_of order(user);
        tactus::priority_queue queue(memory, order);
        tactus_test::queue_duel duel(queue, tactus::mailbox_kind::priority, k + 1);
        while (duel.step()) {
        }
        EXPECT_STREQ(queue.broken(), "the order of the priority mailbox threw an exception");
        duel.expect_nothing_lost();
    }
}
