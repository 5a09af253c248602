// SPDX-License-Identifier: Apache-2.0
//
// Inbox: first in, first out, with a closed state that all-zero memory has (I1, I2).
#include <tactus/base/det_rng.hpp>
#include <tactus/mailbox/inbox.hpp>

#include <array>
#include <cstddef>
#include <new>

#include "naive_mailbox.hpp"
#include "portable_test.hpp"

using tactus::envelope;
using tactus::inbox;
using tactus::pushed;

namespace {

constexpr std::size_t count = 16;
std::array<envelope, count> envelopes;

/// The list is exactly envelopes[ids...], and ends with null.
template <class... Ids>
bool is_list(envelope* list, Ids... ids) {
    bool same = true;
    const auto step = [&](std::size_t id) {
        same = same && list == &envelopes[id];
        if (same)
            list = list->next.read();
    };
    (step(static_cast<std::size_t>(ids)), ...);
    return same && list == nullptr;
}

}  // namespace

TEST(inbox, all_zero_memory_is_closed_and_refuses) {
    alignas(inbox) std::byte zeros[sizeof(inbox)]{};
    inbox& box = *std::launder(reinterpret_cast<inbox*>(zeros));
    EXPECT_TRUE(box.closed());
    EXPECT_TRUE(box.looks_empty());
    EXPECT_EQ(box.push(envelopes[0]), pushed::closed);
    EXPECT_TRUE(box.take_all() == nullptr);
    EXPECT_TRUE(box.close() == nullptr);
    for (const std::byte b : zeros)
        EXPECT_TRUE(b == std::byte{0});  // nobody left anything behind in it
}

TEST(inbox, a_new_one_is_closed_until_opened) {
    inbox box;
    EXPECT_EQ(box.push(envelopes[0]), pushed::closed);
    box.open();
    EXPECT_FALSE(box.closed());
    EXPECT_TRUE(box.looks_empty());
    EXPECT_TRUE(box.take_all() == nullptr);
    EXPECT_FALSE(box.closed());  // taking nothing did not close it
    EXPECT_EQ(box.push(envelopes[0]), pushed::first);
}

TEST(inbox, the_first_push_says_so_and_the_oldest_comes_out_first) {
    inbox box;
    box.open();
    EXPECT_EQ(box.push(envelopes[0]), pushed::first);
    EXPECT_FALSE(box.looks_empty());
    EXPECT_EQ(box.push(envelopes[1]), pushed::behind_others);
    EXPECT_EQ(box.push(envelopes[2]), pushed::behind_others);
    EXPECT_TRUE(is_list(box.take_all(), 0, 1, 2));
    EXPECT_TRUE(box.looks_empty());
    EXPECT_FALSE(box.closed());
    EXPECT_TRUE(box.take_all() == nullptr);
    // A batch that was taken is not touched by later ones.
    EXPECT_EQ(box.push(envelopes[3]), pushed::first);
    EXPECT_TRUE(is_list(&envelopes[0], 0, 1, 2));
    EXPECT_TRUE(is_list(box.take_all(), 3));
}

TEST(inbox, closing_returns_what_is_left_in_order_and_refuses_from_then_on) {
    inbox box;
    box.open();
    for (std::size_t i = 0; i < 4; ++i)
        (void)box.push(envelopes[i]);
    EXPECT_TRUE(is_list(box.close(), 0, 1, 2, 3));
    EXPECT_TRUE(box.closed());
    EXPECT_TRUE(box.looks_empty());
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(box.push(envelopes[5]), pushed::closed);
        EXPECT_TRUE(box.take_all() == nullptr);
        EXPECT_TRUE(box.close() == nullptr);
    }
    box.open();  // another life
    EXPECT_EQ(box.push(envelopes[5]), pushed::first);
    EXPECT_TRUE(is_list(box.close(), 5));
    box.open();
    EXPECT_TRUE(box.close() == nullptr);  // an empty one
}

TEST(inbox, random_pushes_and_takes_agree_with_a_queue) {
    constexpr std::uint64_t seed = 0x5eed'1b0c;
    TEST_LOG("inbox: seed", seed);
    tactus::det_rng rng(seed);
    inbox box;
    bool open = false;
    tactus_test::naive_queue<count> model;
    for (unsigned n = 0; n < tactus_test::board::random_operations; ++n) {
        const std::uint64_t drawn = rng.below(32);
        if (drawn < 24) {
            // Ids are given in order, so one that is queued is never pushed again.
            if (model.size() == count)
                continue;
            const auto id = static_cast<unsigned>(
                model.empty() ? rng.below(count) : (model.at(model.size() - 1) + 1) % count);
            const pushed expected = !open           ? pushed::closed
                                    : model.empty() ? pushed::first
                                                    : pushed::behind_others;
            ASSERT_EQ(box.push(envelopes[id]), expected);
            if (open)
                model.push_back(id);
        } else if (drawn < 31) {
            const bool close = drawn == 30;
            envelope* list = close ? box.close() : box.take_all();
            open = open && !close;
            while (!model.empty()) {
                ASSERT_TRUE(list == &envelopes[model.pop_front()]);
                list = list->next.read();
            }
            ASSERT_TRUE(list == nullptr);
        } else if (!open) {
            box.open();
            open = true;
        }
        ASSERT_EQ(box.looks_empty(), model.empty());
        ASSERT_EQ(box.closed(), !open);
    }
}
