// SPDX-License-Identifier: Apache-2.0
//
// Goal: the part of a blocking queue's contract in which threads sleep (C-MQ-16): put, timed offer.
// Method: an actor held back by the test, so that its mailbox is full until it is let go. The rest
// of the contract, and what has no counterpart: tests/portable/dispatch/queue_contract_test.cpp.
#include <tactus/dispatch/offer.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "kernel_account.hpp"
#include "pool_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::counting_actor;
using tactus_test::pool_rig;
using tactus_test::until;

namespace {

/// An actor with a full mailbox of one that handles nothing until it is let go.
struct full_mailbox {
    full_mailbox() {
        mailbox_options one;
        one.capacity = 1;
        one.when_full = overflow::block;
        to = *rig.system.spawn<counting_actor>({.mailbox = one}, &handled_count);
        EXPECT_TRUE(rig.system.suspend(to, suspension::supervision));
        actor_scheduler::tell(to, 1);
    }
    void let_go() { EXPECT_TRUE(rig.system.resume(to, suspension::supervision)); }

    std::atomic<std::uint64_t> handled_count{0};
    tactus_test::loss_counter losses;
    pool_rig rig{1, {}, {.events = &losses}};
    mailbox_index to;
};

}  // namespace

// C-MQ-16: put sleeps as long as there is no room.
TEST(queue_contract_threads, C_MQ_16_put_sleeps_until_there_is_room) {
    full_mailbox full;
    std::atomic<bool> returned{false};
    std::thread putting([&] {
        EXPECT_EQ(offer(full.to, 2, duration::from_ns(-1)), sent::accepted);
        returned = true;
    });
    std::this_thread::sleep_for(50ms);
    EXPECT_FALSE(returned.load());
    full.let_go();
    putting.join();
    EXPECT_TRUE(until([&] { return full.handled_count.load() == 2; }));
    EXPECT_EQ(full.losses.letters.load(), 0u);
}

// C-MQ-16: a timed offer returns when its time is over, and not before.
TEST(queue_contract_threads, C_MQ_16_a_timed_offer_gives_up_in_time) {
    full_mailbox full;
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(offer(full.to, 2, duration::from_ms(30)), sent::timed_out);
    const auto waited = std::chrono::steady_clock::now() - begin;
    EXPECT_GE(waited, 30ms);
    EXPECT_LT(waited, 10s);
    EXPECT_EQ(full.losses.letters.load(), 1u);
    full.let_go();
    EXPECT_TRUE(until([&] { return full.handled_count.load() == 1; }));
    EXPECT_EQ(offer(full.to, 3, duration::from_ms(30)), sent::accepted);
}

// C-MQ-16: and is in when there is room within its time.
TEST(queue_contract_threads, C_MQ_16_a_timed_offer_is_in_when_there_is_room_in_time) {
    full_mailbox full;
    std::thread offering(
        [&] { EXPECT_EQ(offer(full.to, 2, duration::from_s(600)), sent::accepted); });
    std::this_thread::sleep_for(20ms);
    full.let_go();
    offering.join();
    EXPECT_TRUE(until([&] { return full.handled_count.load() == 2; }));
    EXPECT_EQ(full.losses.letters.load(), 0u);
}
