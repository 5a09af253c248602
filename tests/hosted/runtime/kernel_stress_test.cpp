// SPDX-License-Identifier: Apache-2.0
//
// Goal: with many threads nothing is lost, doubled, reordered or run twice at once (MB-10, CO-2,
// CO-6, ME-3, ME-5, LN-7; C-DSP).
// Method: counts that must agree exactly, plain data that ThreadSanitizer watches. Sizes are a
// part of what the specification says; TACTUS_LONG=1 runs all of it.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

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
using tactus_test::sum_below;
using tactus_test::until;

// MB-10, CO-2, C-MBX-20: 4 senders x 1,000,000 messages, order per pair, conserved exactly.
TEST(kernel_stress, four_senders_to_one_actor_lose_nothing_and_keep_their_order) {
    const std::uint64_t each = sized(1'000'000, 10);
    loss_counter losses;
    account book;
    {
        pool_rig rig(2, {}, {.events = &losses});
        const mailbox_index a = *rig.system.spawn<accountant>({}, &book);
        in_threads(4, [&](unsigned t) {
            for (std::uint64_t i = 0; i < each; ++i)
                actor_scheduler::tell(a, item{t, i});
        });
        EXPECT_TRUE(rig.pool->shut_down(120s));
    }
    EXPECT_EQ(book.handled_count.load(), 4 * each);
    EXPECT_EQ(book.sum.load(), 4 * sum_below(each));
    EXPECT_EQ(book.order_errors, 0u);
    EXPECT_EQ(book.overlaps.load(), 0u);
    for (unsigned t = 0; t < 4; ++t)
        EXPECT_EQ(book.next[t], each);
    EXPECT_EQ(losses.letters.load() + losses.lost.load(), 0u);
}

// ME-5: a close that races senders: handled or dead letter, exactly once.
TEST(kernel_stress, a_close_racing_senders_conserves_every_message) {
    const std::uint64_t rounds = sized(2'000, 10);
    constexpr std::uint64_t each = 200;
    loss_counter losses;
    std::uint64_t handled_count = 0;
    {
        pool_rig rig(2, {}, {.events = &losses});
        std::vector<std::unique_ptr<account>> books;
        for (std::uint64_t r = 0; r < rounds; ++r) {
            account& book = *books.emplace_back(std::make_unique<account>());
            const mailbox_index a = *rig.system.spawn<accountant>({}, &book);
            in_threads(2, [&](unsigned t) {
                for (std::uint64_t i = 0; i < each; ++i) {
                    actor_scheduler::tell(a, item{t, i});
                    if (t == 0 && i == each / 2)
                        (void)rig.system.stop(a);
                }
            });
        }
        EXPECT_TRUE(rig.pool->shut_down(60s));
        for (const auto& book : books) {
            handled_count += book->handled_count.load();
            EXPECT_EQ(book->order_errors, 0u);
            EXPECT_EQ(book->overlaps.load(), 0u);
        }
    }
    EXPECT_EQ(handled_count + losses.letters.load() + losses.lost.load(), rounds * each * 2);
    EXPECT_EQ(losses.closed.load(), rounds);
}

// ME-3, ME-4: suspending and resuming while others send delays, and loses nothing.
TEST(kernel_stress, suspend_and_resume_racing_sends_strand_nothing) {
    const std::uint64_t each = sized(500'000, 10);
    loss_counter losses;
    account book;
    pool_rig rig(2, {}, {.events = &losses});
    const mailbox_index a = *rig.system.spawn<accountant>({}, &book);
    std::atomic<bool> sending{true};
    std::thread gate([&] {
        while (sending.load()) {
            EXPECT_TRUE(rig.system.suspend(a, suspension::supervision));
            EXPECT_TRUE(rig.system.suspend(a, suspension::await));
            std::this_thread::yield();
            EXPECT_TRUE(rig.system.resume(a, suspension::await));
            EXPECT_TRUE(rig.system.resume(a, suspension::supervision));
        }
    });
    in_threads(2, [&](unsigned t) {
        for (std::uint64_t i = 0; i < each; ++i)
            actor_scheduler::tell(a, item{t, i});
    });
    sending = false;
    gate.join();
    EXPECT_TRUE(until([&] { return book.handled_count.load() == 2 * each; }));
    EXPECT_TRUE(rig.pool->shut_down(60s));
    EXPECT_EQ(book.order_errors, 0u);
    EXPECT_EQ(book.overlaps.load(), 0u);
    EXPECT_EQ(losses.letters.load(), 0u);
}

namespace {

struct holding {
    std::atomic<std::uint64_t>* count;
    void receive(turn& t, envelope&) {
        EXPECT_TRUE(t.suspend(suspend_reason::await_external, resume_condition::signal(5)));
        count->fetch_add(1);
    }
};

}  // namespace

// CO-6: 100,000 cycles through a pool, and no memory left behind.
TEST(kernel_stress, cycles_of_suspension_and_signal_leave_nothing_behind) {
    const std::uint64_t cycles = sized(100'000, 50);
    std::atomic<std::uint64_t> count{0};
    pool_rig rig(2);
    const mailbox_index a = *rig.system.spawn<holding>({}, &count);
    for (std::uint64_t i = 0; i < cycles; ++i)
        actor_scheduler::tell(a, i);
    std::uint64_t resumed = 0;
    EXPECT_TRUE(until([&] {
        for (int i = 0; i < 1'000 && count.load() < cycles; ++i) {
            resumed += rig.system.signal(5);
            port::yield();
        }
        return count.load() == cycles;
    }));
    EXPECT_TRUE(until([&] { return rig.system.signal(5) == 0; }));
    EXPECT_LE(rig.system.waiting().record_count(), 2u);
    EXPECT_EQ(rig.system.waiting().metrics().suspended, cycles);
}

// RG-2: slots used again while senders hold old references; nobody gets another's message.
TEST(kernel_stress, reuse_of_slots_racing_senders_delivers_to_the_life_that_was_meant) {
    const std::uint64_t lives = sized(200'000, 10);
    loss_counter losses;
    static std::atomic<std::uint64_t> wrong{0};
    static std::atomic<std::uint64_t> right{0};
    wrong = 0;
    right = 0;
    struct lives_on {
        std::uint64_t life;
        void receive(turn&, envelope& e) {
            if (e.get_if<item>()->number == life)
                ++right;
            else
                ++wrong;
        }
    };
    std::atomic<std::uint64_t> sends{0};
    std::atomic<std::uint64_t> current_slot{0};
    std::atomic<std::uint64_t> current_life{0};
    pool_rig rig(2, {}, {.events = &losses});
    std::atomic<bool> running{true};
    std::vector<std::thread> senders;
    for (int t = 0; t < 2; ++t) {
        senders.emplace_back([&] {
            while (running.load()) {
                // A torn pair would be a made-up reference: the generation is the life.
                const std::uint64_t life = current_life.load();
                const std::uint64_t word = current_slot.load();
                if (life == 0 || (word >> 32) != (life & 0xffff'ffff))
                    continue;
                mailbox_index to;
                to.slot = static_cast<std::uint32_t>(word);
                to.generation = static_cast<std::uint32_t>(life);
                actor_scheduler::tell(to, item{0, life});
                ++sends;
            }
        });
    }
    // One slot: every life has the next generation.
    for (std::uint64_t i = 0; i < lives; ++i) {
        const std::uint64_t expected_generation = current_life.load() + 1;
        const auto a = rig.system.spawn<lives_on>({}, expected_generation);
        ASSERT_TRUE(a.has_value());
        if (a->generation != expected_generation ||
            (i > 0 && a->slot != static_cast<std::uint32_t>(current_slot.load()))) {
            // Given back through another cache: such a life is not shown to the senders.
            (void)rig.system.stop(*a);
            continue;
        }
        current_slot = (std::uint64_t{a->generation} << 32) | a->slot;
        current_life = a->generation;
        (void)rig.system.stop(*a);
    }
    running = false;
    for (std::thread& t : senders)
        t.join();
    EXPECT_TRUE(rig.pool->shut_down(60s));
    EXPECT_EQ(wrong.load(), 0u);
    EXPECT_EQ(right.load() + losses.letters.load() + losses.lost.load(), sends.load());
}

namespace {

struct branch {
    mailbox_index parent;
    std::uint32_t waiting = 0;
    std::uint64_t total = 0;
    std::atomic<std::uint64_t>* result = nullptr;
    void receive(turn& t, envelope& e) {
        if (const auto* size = e.get_if<std::uint32_t>()) {
            if (*size == 0) {
                done(t, 1);
                return;
            }
            waiting = 10;
            for (int i = 0; i < 10; ++i)
                t.send(*t.system().spawn<branch>({}, t.self()), *size - 1);
        } else if (const auto* n = e.get_if<std::uint64_t>()) {
            total += *n;
            if (--waiting == 0)
                done(t, total);
        }
    }
    void done(turn& t, std::uint64_t n) {
        if (result != nullptr)
            result->store(n);
        else
            t.send(parent, n);
        t.stop();
    }
};

}  // namespace

// Spawn and stop storms from actors: every one of them ends.
TEST(kernel_stress, trees_of_actors_come_and_go) {
    const std::uint64_t rounds = sized(50, 10);
    pool_rig rig(2);
    for (std::uint64_t r = 0; r < rounds + 1; ++r) {
        std::atomic<std::uint64_t> result{0};
        const mailbox_index top = *rig.system.spawn<branch>({}, mailbox_index{}, 0U, 0U, &result);
        actor_scheduler::tell(top, std::uint32_t{4});
        ASSERT_TRUE(until([&] { return result.load() != 0; }));
        EXPECT_EQ(result.load(), 10'000u);
        ASSERT_TRUE(until([&] { return rig.system.live_count() == 0; }));
    }
}

// LN-7: no wake-up is lost between two threads that take turns.
TEST(kernel_stress, hand_offs_by_park_and_unpark_are_never_lost) {
    const std::uint64_t hand_offs = sized(10'000'000, 50);
    parker here;
    parker there;
    std::uint64_t plain = 0;  // whoever was woken may write
    std::thread other([&] {
        for (std::uint64_t i = 0; i < hand_offs / 2; ++i) {
            EXPECT_TRUE(there.park(-1));
            ++plain;
            here.unpark();
        }
    });
    for (std::uint64_t i = 0; i < hand_offs / 2; ++i) {
        ++plain;
        there.unpark();
        ASSERT_TRUE(here.park(60'000'000'000));
    }
    other.join();
    EXPECT_EQ(plain, hand_offs / 2 * 2);
}

// LN-7: nor between a sender and a pool that goes to sleep after every message.
TEST(kernel_stress, a_pool_that_falls_asleep_after_every_message_wakes_for_the_next) {
    const std::uint64_t messages = sized(200'000, 40);
    std::atomic<std::uint64_t> count{0};
    for (const std::uint32_t workers : {1u, 2u}) {
        pool_rig rig(workers);
        count = 0;
        const mailbox_index a = *rig.system.spawn<tactus_test::counting_actor>({}, &count);
        for (std::uint64_t i = 0; i < messages; ++i) {
            actor_scheduler::tell(a, 1);
            if (i % 16 == 0) {
                ASSERT_TRUE(until([&] { return count.load() == i + 1; }));
            }
        }
        EXPECT_TRUE(until([&] { return count.load() == messages; }));
    }
}

namespace {

/// Hands each message on to who waits for it.
struct handing_actor {
    account* book;
    std::atomic<std::uint64_t>* seen;  // of each sender
    void receive(turn&, envelope& e) {
        const item& i = *e.get_if<item>();
        book->take(i);
        seen[i.sender].store(i.number + 1, std::memory_order_release);
    }
};

}  // namespace

// TC-X15: two workers and two that enqueue, each waiting for its own every few messages: the
// mailbox becomes idle and ready over and over, never runs twice at once, and none is left behind.
TEST(kernel_stress, hand_offs_to_one_actor_are_never_lost_nor_doubled) {
    const std::uint64_t each = sized(1'000'000, 10) / 2;
    account book;
    std::atomic<std::uint64_t> seen[2] = {0, 0};
    pool_rig rig(2);
    const mailbox_index a = *rig.system.spawn<handing_actor>({}, &book, &seen[0]);
    in_threads(2, [&](unsigned me) {
        std::uint64_t sent_count = 0;
        for (std::uint64_t round = 0; sent_count < each; ++round) {
            for (std::uint64_t n = 1 + round % 7; n != 0 && sent_count < each; --n)
                actor_scheduler::tell(a, item{me, sent_count++});
            // A while by looking, since falling asleep would let the pool do so, too.
            for (int spin = 0; spin < 1'000 && seen[me].load() != sent_count; ++spin)
                std::this_thread::yield();
            ASSERT_TRUE(until([&] { return seen[me].load() == sent_count; }));
        }
    });
    EXPECT_EQ(book.handled_count.load(), 2 * each);
    EXPECT_EQ(book.overlaps.load(), 0u);
    EXPECT_EQ(book.order_errors, 0u);
    EXPECT_EQ(book.sum.load(), 2 * sum_below(each));
}

// RG: outside threads that send while the system ends: handled, dead letter, or counted as refused.
TEST(kernel_stress, a_system_may_end_while_others_send_to_it) {
    const std::uint64_t rounds = sized(200, 10);
    for (std::uint64_t r = 0; r < rounds; ++r) {
        loss_counter losses;
        account book;
        const std::uint32_t refused_before = system_table::refused_count();
        std::atomic<std::uint64_t> sends{0};
        std::atomic<bool> running{true};
        std::vector<std::thread> senders;
        {
            pool_rig rig(2, {}, {.events = &losses});
            const mailbox_index a = *rig.system.spawn<accountant>({}, &book);
            for (unsigned t = 0; t < 2; ++t) {
                senders.emplace_back([&, a, t] {
                    for (std::uint64_t i = 0; running.load(); ++i) {
                        actor_scheduler::tell(a, item{t, i});
                        ++sends;
                    }
                });
            }
            std::this_thread::sleep_for(std::chrono::microseconds(500));
        }
        running = false;
        for (std::thread& t : senders)
            t.join();
        EXPECT_EQ(book.handled_count.load() + losses.letters.load() + losses.lost.load() +
                      (system_table::refused_count() - refused_before),
                  sends.load());
    }
}

// SQ-2, ME-5, CO-5: the same for those who send system messages, stop and resume: each message is
// handled or refused, each actor ends.
TEST(kernel_stress, a_system_may_end_while_others_send_system_messages) {
    static std::atomic<std::uint64_t> done_count;
    static std::atomic<std::uint64_t> end_count;
    struct ending {
        ending() = default;
        ending(const ending&) = delete;
        ending& operator=(const ending&) = delete;
        ~ending() { ++end_count; }
        void receive(turn&, envelope&) {}
    };
    constexpr std::size_t each_max = 20'000;
    constexpr unsigned actors = 8;
    constexpr unsigned senders = 3;
    const auto nodes = std::make_unique<system_message[]>(senders * each_max);
    const std::uint64_t rounds = sized(2'000, 20);
    for (std::uint64_t r = 0; r < rounds; ++r) {
        done_count = 0;
        end_count = 0;
        std::atomic<std::uint64_t> sent_count{0};
        std::atomic<bool> running{true};
        pool_rig rig(2);
        std::vector<mailbox_index> who;
        for (unsigned i = 0; i < actors; ++i)
            who.push_back(*rig.system.spawn<ending>({}));
        std::vector<std::thread> threads;
        for (unsigned t = 0; t < senders; ++t) {
            threads.emplace_back([&, t] {
                for (std::size_t i = 0; i < each_max && running.load(); ++i) {
                    const mailbox_index to = who[i % actors];
                    if (i % 5 == 3) {
                        (void)rig.system.suspend(to, suspension::supervision);
                        (void)rig.system.resume(to, suspension::supervision);
                    }
                    system_message& m = nodes[t * each_max + i];
                    m.kind = system_kind::unwatch;
                    m.done = [](system_message&) noexcept { ++done_count; };
                    (void)rig.system.send_system(to, m);
                    ++sent_count;
                }
            });
        }
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        (void)rig.pool->shut_down(std::chrono::nanoseconds(0));
        running = false;
        for (std::thread& t : threads)
            t.join();
        ASSERT_EQ(done_count.load(), sent_count.load());
        ASSERT_EQ(end_count.load(), actors);
        ASSERT_EQ(rig.system.live_count(), 0U);
    }
}
