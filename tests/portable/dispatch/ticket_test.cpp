// SPDX-License-Identifier: Apache-2.0
//
// Goal: of all entries for one mailbox exactly one counts, and a promotion moves it (LN-3).
// Method: a random program that keeps every entry ever made and knows which one is current.
#include <tactus/base/det_rng.hpp>
#include <tactus/dispatch/ticket.hpp>

#include <cstdint>

#include "portable_test.hpp"

namespace ticket = tactus::ticket;
using tactus::lane;

namespace {

/// Promotes the ticket that waits now, whichever it is.
std::uint32_t promote(ticket::word& w, bool highest = false) {
    const std::uint32_t seen = w.load(std::memory_order_relaxed);
    return ticket::can_rise(seen, highest) ? ticket::promote(w, seen, highest) : 0;
}

}  // namespace

TEST(ticket, is_taken_once) {
    ticket::word w{0};
    const std::uint32_t t = ticket::issue(w, lane::ready);
    EXPECT_NE(t, 0u);
    EXPECT_TRUE(ticket::current(w, t));
    EXPECT_TRUE(ticket::take(w, t));
    EXPECT_FALSE(ticket::take(w, t));
    EXPECT_FALSE(ticket::current(w, t));
    EXPECT_FALSE(ticket::withdraw(w));
}

TEST(ticket, promotion_makes_the_old_entry_stale) {
    for (const lane from : {lane::ready, lane::timed}) {
        ticket::word w{0};
        const std::uint32_t before = ticket::issue(w, from);
        const std::uint32_t after = promote(w);
        EXPECT_NE(after, 0u);
        EXPECT_FALSE(ticket::take(w, before));
        EXPECT_EQ(promote(w), 0u);  // it keeps its place
        EXPECT_TRUE(ticket::take(w, after));
    }
}

TEST(ticket, neither_running_nor_idle_nor_urgent_mailboxes_are_promoted) {
    ticket::word w{0};
    EXPECT_EQ(promote(w), 0u);
    const std::uint32_t t = ticket::issue(w, lane::cancel);
    EXPECT_EQ(promote(w), 0u);
    EXPECT_TRUE(ticket::take(w, t));
    EXPECT_EQ(promote(w), 0u);
}

TEST(ticket, withdrawing_makes_the_caller_the_owner) {
    ticket::word w{0};
    const std::uint32_t t = ticket::issue(w, lane::timed);
    EXPECT_TRUE(ticket::withdraw(w));
    EXPECT_FALSE(ticket::take(w, t));
    EXPECT_FALSE(ticket::withdraw(w));
    const std::uint32_t again = ticket::issue(w, lane::ready);
    EXPECT_NE(again, t);
    EXPECT_TRUE(ticket::take(w, again));
}

// S16: the number goes round and nothing breaks. Trap S20: 0, which is nobody's, is left out.
TEST(ticket, numbers_wrap) {
    ticket::word w{0xffff'fffc};
    const std::uint32_t t = ticket::issue(w, lane::ready);
    EXPECT_EQ(t & ticket::phase_mask, ticket::queued);
    EXPECT_NE(t, 0u);
    EXPECT_TRUE(ticket::take(w, t));
    w.store(0xffff'fffcU | ticket::queued, std::memory_order_relaxed);
    const std::uint32_t p = promote(w);
    EXPECT_EQ(p & ticket::phase_mask, ticket::urgent);
    EXPECT_TRUE(ticket::take(w, p));
}

TEST(ticket, one_entry_counts_at_any_time) {
    constexpr unsigned kept = 32;
    std::uint32_t entries[kept] = {};
    std::uint32_t current = 0;  // the entry that counts; 0 while none waits
    ticket::word w{0};
    tactus::det_rng rng(7);
    unsigned at = 0;
    for (unsigned i = 0; i < 20'000; ++i) {
        const auto roll = rng.below(4);
        if (roll == 0 && current == 0) {
            current = ticket::issue(w, static_cast<lane>(rng.below(3)));
            entries[at++ % kept] = current;
        } else if (roll == 1) {
            const bool movable = (current & ticket::phase_mask) == ticket::queued;
            const std::uint32_t p = promote(w);
            ASSERT_EQ(p != 0, movable);
            if (movable)
                entries[at++ % kept] = current = p;
        } else if (roll == 2) {
            const std::uint32_t tried = entries[rng.below(kept)];
            const bool counts = tried != 0 && tried == current;
            if (tried != 0) {
                ASSERT_EQ(ticket::take(w, tried), counts);
            }
            if (counts)
                current = 0;
        } else if (rng.below(8) == 0) {
            ASSERT_EQ(ticket::withdraw(w), current != 0);
            current = 0;
        }
    }
}
