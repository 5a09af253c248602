// SPDX-License-Identifier: Apache-2.0
//
// Goal: bounded mailboxes under many threads conserve every message: handled + dead letters + given
// back = sent, in the order of each sender (MB-1, MB-2, MB-10; C-MQ-5, C-MQ-6, C-MQ-8, C-MQ-10,
// C-MQ-11).
// Method: counts that must agree exactly; suspending, resuming and stopping against the senders.
// Sizes are a part of what the specification says; TACTUS_LONG=1 runs all of it.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include <tactus/base/det_rng.hpp>
#include <tactus/dispatch/offer.hpp>

#include "kernel_account.hpp"
#include "pool_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::account;
using tactus_test::accountant;
using tactus_test::in_threads;
using tactus_test::item;
using tactus_test::loss_counter;
using tactus_test::pool_rig;
using tactus_test::sized;
using tactus_test::until;

namespace {

mailbox_options bounded(std::uint32_t capacity, overflow how) {
    mailbox_options o;
    o.capacity = capacity;
    o.when_full = how;
    return o;
}

/// What senders were told.
struct tally {
    std::array<std::atomic<std::uint64_t>, 10> said{};
    void note(sent result) { said[static_cast<std::size_t>(result)].fetch_add(1); }
    [[nodiscard]] std::uint64_t count(sent result) const {
        return said[static_cast<std::size_t>(result)].load();
    }
};

/// Suspends and resumes an actor until it ends.
class disturbance {
public:
    disturbance(actor_scheduler& system, mailbox_index who)
        : thread_([this, &system, who] {
              while (on_.load()) {
                  (void)system.suspend(who, suspension::await);
                  std::this_thread::yield();
                  (void)system.resume(who, suspension::await);
                  std::this_thread::sleep_for(20us);
              }
          }) {}
    ~disturbance() {
        on_ = false;
        thread_.join();
    }
    disturbance(const disturbance&) = delete;
    disturbance& operator=(const disturbance&) = delete;

private:
    std::atomic<bool> on_{true};
    std::thread thread_;
};

}  // namespace

// MB-2: waits that end in time or not, at random.
TEST(mailbox_kinds_stress, MB2_offers_with_random_timeouts_conserve_every_message) {
    const std::uint64_t each = sized(100'000, 20);
    loss_counter losses;
    account book;
    tally told;
    {
        pool_rig rig(2, {}, {.events = &losses});
        const mailbox_index a =
            *rig.system.spawn<accountant>({.mailbox = bounded(4, overflow::block)}, &book);
        {
            const disturbance on_and_off(rig.system, a);
            in_threads(4, [&](unsigned t) {
                det_rng random(t + 1);
                for (std::uint64_t i = 0; i < each; ++i) {
                    const auto us = static_cast<std::int64_t>(random.below(40));
                    told.note(offer(a, item{t, i}, duration::from_us(us - 1)));  // -1: no limit
                }
            });
        }
        EXPECT_TRUE(rig.pool->shut_down(60s));
    }
    EXPECT_EQ(told.count(sent::accepted) + told.count(sent::timed_out), 4 * each);
    EXPECT_EQ(book.handled_count.load(), told.count(sent::accepted));
    EXPECT_EQ(losses.letters.load(), told.count(sent::timed_out));
    EXPECT_EQ(losses.lost.load(), 0u);
    EXPECT_EQ(book.order_errors, 0u);
    EXPECT_EQ(book.overlaps.load(), 0u);
}

// MB-2, ME-5: and the actor ends under them.
TEST(mailbox_kinds_stress, MB2_a_stop_racing_offers_conserves_every_message) {
    const std::uint64_t rounds = sized(1'000, 10);
    constexpr std::uint64_t each = 50;
    loss_counter losses;
    tally told;
    std::uint64_t handled_count = 0;
    {
        pool_rig rig(2, {}, {.events = &losses});
        std::vector<std::unique_ptr<account>> books;
        for (std::uint64_t r = 0; r < rounds; ++r) {
            account& book = *books.emplace_back(std::make_unique<account>());
            const mailbox_index a =
                *rig.system.spawn<accountant>({.mailbox = bounded(2, overflow::block)}, &book);
            in_threads(4, [&](unsigned t) {
                for (std::uint64_t i = 0; i < each; ++i) {
                    told.note(offer(a, item{t, i}, duration::from_ms(-1)));
                    if (t == 0 && i == each / 2)
                        (void)rig.system.stop(a);
                }
            });
        }
        EXPECT_TRUE(rig.pool->shut_down(60s));
        for (const auto& book : books) {
            handled_count += book->handled_count.load();
            EXPECT_EQ(book->order_errors, 0u);
        }
    }
    EXPECT_EQ(told.count(sent::accepted) + told.count(sent::recipient_terminated),
              rounds * 4 * each);
    EXPECT_EQ(handled_count + losses.letters.load(), told.count(sent::accepted));
    EXPECT_EQ(losses.closed.load(), rounds);
}

// MB-1: evictions from four senders, held back now and then.
TEST(mailbox_kinds_stress, MB1_drop_oldest_conserves_every_message_and_keeps_the_order) {
    const std::uint64_t each = sized(500'000, 20);
    for (const std::uint32_t capacity : {1U, 8U, 1'000U}) {
        loss_counter losses;
        account book;
        {
            pool_rig rig(2, {}, {.events = &losses});
            const mailbox_index a = *rig.system.spawn<accountant>(
                {.mailbox = bounded(capacity, overflow::drop_oldest)}, &book);
            {
                const disturbance on_and_off(rig.system, a);
                in_threads(4, [&](unsigned t) {
                    for (std::uint64_t i = 0; i < each; ++i)
                        actor_scheduler::tell(a, item{t, i});
                });
            }
            EXPECT_TRUE(until(
                [&] { return book.handled_count.load() + losses.letters.load() == 4 * each; }));
            EXPECT_EQ(rig.system.depth_of(a).value_or(1), 0u);
            EXPECT_TRUE(rig.pool->shut_down(60s));
        }
        EXPECT_EQ(book.handled_count.load() + losses.letters.load(), 4 * each);
        EXPECT_EQ(losses.lost.load(), 0u);
        EXPECT_EQ(book.order_errors, 0u);
        EXPECT_EQ(book.overlaps.load(), 0u);
    }
}
namespace {

/// Of all senders the lowest number first, and so in the order of each of them.
struct by_number_sent {
    bool before(envelope& a, envelope& b) {
        return a.get_if<item>()->number < b.get_if<item>()->number;
    }
};

}  // namespace

// DF-5: and from the queue of a priority mailbox.
TEST(mailbox_kinds_stress, DF_5_a_priority_mailbox_conserves_every_message_it_evicts) {
    const std::uint64_t each = sized(500'000, 20);
    by_number_sent user;
    message_order_of<by_number_sent> order(user);
    for (const std::uint32_t capacity : {1U, 8U, 1'000U}) {
        loss_counter losses;
        account book;
        {
            pool_rig rig(2, {}, {.events = &losses});
            mailbox_options o = bounded(capacity, overflow::drop_oldest);
            o.kind = mailbox_kind::priority;
            const mailbox_index a =
                *rig.system.spawn<accountant>({.mailbox = o, .order = &order}, &book);
            {
                const disturbance on_and_off(rig.system, a);
                in_threads(4, [&](unsigned t) {
                    for (std::uint64_t i = 0; i < each; ++i)
                        actor_scheduler::tell(a, item{t, i});
                });
            }
            EXPECT_TRUE(until(
                [&] { return book.handled_count.load() + losses.letters.load() == 4 * each; }));
            EXPECT_EQ(rig.system.depth_of(a).value_or(1), 0u);
            EXPECT_TRUE(rig.pool->shut_down(60s));
        }
        EXPECT_EQ(book.handled_count.load() + losses.letters.load(), 4 * each);
        EXPECT_EQ(losses.lost.load(), 0u);
        EXPECT_EQ(book.order_errors, 0u);
        EXPECT_EQ(book.overlaps.load(), 0u);
    }
}
// MB-1, ME-5
TEST(mailbox_kinds_stress, MB1_a_stop_racing_evictions_conserves_every_message) {
    const std::uint64_t rounds = sized(2'000, 10);
    constexpr std::uint64_t each = 100;
    loss_counter losses;
    std::uint64_t handled_count = 0;
    by_number_sent user;
    message_order_of<by_number_sent> order(user);
    {
        pool_rig rig(2, {}, {.events = &losses});
        std::vector<std::unique_ptr<account>> books;
        for (std::uint64_t r = 0; r < rounds; ++r) {
            account& book = *books.emplace_back(std::make_unique<account>());
            mailbox_options o = bounded(3, overflow::drop_oldest);
            if (r % 2 != 0)
                o.kind = mailbox_kind::priority;
            const mailbox_index a =
                *rig.system.spawn<accountant>({.mailbox = o, .order = &order}, &book);
            in_threads(2, [&](unsigned t) {
                for (std::uint64_t i = 0; i < each; ++i) {
                    actor_scheduler::tell(a, item{t, i});
                    if (t == 0 && i == each / 2)
                        (void)rig.system.stop(a);
                }
            });
        }
        EXPECT_TRUE(rig.pool->shut_down(60s));
        for (const auto& book : books)
            handled_count += book->handled_count.load();
    }
    EXPECT_EQ(handled_count + losses.letters.load() + losses.lost.load(), rounds * each * 2);
}

// C-MQ-5, C-MQ-6, C-MQ-8: twenty producers of 500.
TEST(mailbox_kinds_stress, C_MQ_5_C_MQ_6_C_MQ_8_twenty_producers_of_500) {
    struct kind {
        mailbox_options mailbox;
        duration timeout;
    };
    const std::array kinds = {
        kind{{}, {}},
        kind{bounded(10'000, overflow::block), duration::from_ms(-1)},
        kind{bounded(10'000, overflow::block), duration::from_ms(100)},
        kind{bounded(10, overflow::block), duration::from_ms(-1)},
    };
    for (const kind& k : kinds) {
        loss_counter losses;
        std::vector<std::atomic<unsigned>> seen(10'000);
        struct marking {
            std::vector<std::atomic<unsigned>>* seen;
            void receive(turn&, envelope& e) { (*seen)[e.get_if<item>()->number].fetch_add(1); }
        };
        {
            pool_rig rig(2, {}, {.events = &losses});
            const mailbox_index a = *rig.system.spawn<marking>({.mailbox = k.mailbox}, &seen);
            in_threads(20, [&](unsigned t) {
                for (std::uint64_t i = 0; i < 500; ++i)
                    EXPECT_EQ(offer(a, item{t, t * 500 + i}, k.timeout), sent::accepted);
            });
            EXPECT_TRUE(rig.pool->shut_down(60s));
        }
        for (const auto& s : seen)
            EXPECT_EQ(s.load(), 1u);
        EXPECT_EQ(losses.letters.load() + losses.lost.load(), 0u);
    }
}

namespace {

struct ball {
    std::uint64_t left;
};
struct player {
    mailbox_index other = {};
    void receive(turn& t, envelope& e) {
        if (const auto* to = e.get_if<mailbox_index>()) {
            other = *to;
            return;
        }
        const std::uint64_t left = e.get_if<ball>()->left;
        if (left > 0)
            t.send(other, ball{left - 1});
        if (left <= 1)
            t.stop();
    }
};

}  // namespace

// C-MQ-10, C-MQ-11: no stuck mailbox in two million turns. What does not block is `dead_letter`, as
// docs/mailboxes.md maps it: one message too many would be one that nobody answers, and the end of
// the game. So the ball comes when both have read who the other is.
TEST(mailbox_kinds_stress, C_MQ_10_C_MQ_11_ping_pong_with_throughput_one_ends) {
    const std::uint64_t turns = sized(2'000'000, 20);
    for (const mailbox_options& o : {mailbox_options{}, bounded(1, overflow::dead_letter)}) {
        loss_counter losses;
        {
            pool_rig rig(2, {}, {.throughput = 1, .events = &losses});
            const mailbox_index a = *rig.system.spawn<player>({.mailbox = o});
            const mailbox_index b = *rig.system.spawn<player>({.mailbox = o});
            EXPECT_EQ(offer(a, mailbox_index(b), duration::from_s(1)), sent::accepted);
            EXPECT_EQ(offer(b, mailbox_index(a), duration::from_s(1)), sent::accepted);
            for (const mailbox_index who : {a, b})
                EXPECT_TRUE(until([&] { return rig.system.depth_of(who).value_or(0) == 0; }));
            EXPECT_EQ(actor_scheduler::try_tell(a, ball{turns}), sent::accepted);
            EXPECT_TRUE(until([&] { return losses.closed.load() == 2; }));
            EXPECT_TRUE(rig.pool->shut_down(60s));
        }
        EXPECT_EQ(losses.letters.load(), 0u);
    }
}
