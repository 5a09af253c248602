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

#include "pool_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::pool_rig;
using tactus_test::sized;
using tactus_test::until;

namespace {

struct item {
    std::uint32_t sender;
    std::uint64_t number;
};

/// What is not handled, counted.
class loss_counter final : public kernel_events {
public:
    void dead_letter(mailbox_index, envelope& e, dead_letter_cause) noexcept override {
        ++letters;
        if (const item* i = e.get_if<item>())
            sum.fetch_add(i->number, std::memory_order_relaxed);
    }
    void message_lost(mailbox_index, const message_type&, dead_letter_cause) noexcept override {
        ++lost;
    }
    void system_dead_letter(mailbox_index, system_message&) noexcept override { ++system; }
    void mailbox_closed(mailbox_index, std::size_t, std::size_t) noexcept override { ++closed; }
    void actor_failed(mailbox_index, const failure&) noexcept override { ++failed; }
    void deadline_missed(mailbox_index, std::int64_t) noexcept override {}

    std::atomic<std::uint64_t> letters{0};
    std::atomic<std::uint64_t> sum{0};
    std::atomic<std::uint64_t> lost{0};
    std::atomic<std::uint64_t> system{0};
    std::atomic<std::uint64_t> closed{0};
    std::atomic<std::uint64_t> failed{0};
};

/// Shared by the actors of a test; one actor writes its plain part at a time.
struct account {
    std::uint64_t next[8] = {};  // plain: the actor's own, handed from run to run
    std::uint64_t order_errors = 0;
    std::atomic<std::uint64_t> handled_count{0};
    std::atomic<std::uint64_t> sum{0};
    std::atomic<int> inside{0};
    std::atomic<std::uint64_t> overlaps{0};

    void take(const item& i) {
        if (inside.exchange(1) != 0)
            ++overlaps;
        // Per pair in order; what a close or another life took may be missing.
        if (i.number < next[i.sender])
            ++order_errors;
        next[i.sender] = i.number + 1;
        sum.fetch_add(i.number, std::memory_order_relaxed);
        inside.store(0);
        handled_count.fetch_add(1);
    }
};
struct accountant {
    account* to;
    void receive(turn&, envelope& e) { to->take(*e.get_if<item>()); }
};

std::uint64_t sum_below(std::uint64_t n) {
    return n * (n - 1) / 2;
}

template <class Body>
void in_threads(unsigned count, Body body) {
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < count; ++t)
        threads.emplace_back([&body, t] { body(t); });
    for (std::thread& t : threads)
        t.join();
}

}  // namespace

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
    const std::uint64_t cycles = sized(100'000, 10);
    std::atomic<std::uint64_t> count{0};
    pool_rig rig(2);
    const mailbox_index a = *rig.system.spawn<holding>({}, &count);
    for (std::uint64_t i = 0; i < cycles; ++i)
        actor_scheduler::tell(a, i);
    std::uint64_t resumed = 0;
    EXPECT_TRUE(until([&] {
        for (int i = 0; i < 1'000 && count.load() < cycles; ++i)
            resumed += rig.system.signal(5);
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
    std::atomic<std::uint64_t> sent_count{0};
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
                ++sent_count;
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
    EXPECT_EQ(right.load() + losses.letters.load() + losses.lost.load(), sent_count.load());
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
    const std::uint64_t messages = sized(200'000, 10);
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

TEST(kernel_stress, C_DSP_3_ten_threads_of_20_messages_are_200) {
    account book;
    pool_rig rig(2);
    const mailbox_index a = *rig.system.spawn<accountant>({}, &book);
    in_threads(8, [&](unsigned t) {
        for (std::uint64_t i = 0; i < 25; ++i)
            actor_scheduler::tell(a, item{t, i});
    });
    EXPECT_TRUE(rig.pool->shut_down(10s));
    EXPECT_EQ(book.handled_count.load(), 200u);
    EXPECT_EQ(book.overlaps.load(), 0u);
}

// C-DSP-2: a message that takes long is not overtaken by another run of the same actor.
TEST(kernel_stress, C_DSP_2_a_slow_message_is_never_run_beside_another) {
    static std::atomic<int> inside{0};
    static std::atomic<int> overlaps{0};
    static std::atomic<int> done{0};
    struct slow {
        void receive(turn&, envelope& e) {
            if (inside.fetch_add(1) != 0)
                ++overlaps;
            std::this_thread::sleep_for(std::chrono::milliseconds(*e.get_if<int>()));
            --inside;
            ++done;
        }
    };
    pool_rig rig(2);
    const mailbox_index a = *rig.system.spawn<slow>({});
    for (const int ms : {0, 100, 0})
        actor_scheduler::tell(a, ms);
    EXPECT_TRUE(until([&] { return done.load() == 3; }));
    EXPECT_EQ(overlaps.load(), 0);
}

TEST(kernel_stress, C_DSP_10_one_that_blocks_does_not_hold_up_another) {
    static std::atomic<bool> release{false};
    release = false;
    struct blocking {
        void receive(turn&, envelope&) {
            while (!release.load())
                std::this_thread::sleep_for(1ms);
        }
    };
    std::atomic<std::uint64_t> count{0};
    pool_rig rig(2);
    actor_scheduler::tell(*rig.system.spawn<blocking>({}), 1);
    std::this_thread::sleep_for(5ms);
    for (int i = 0; i < 20; ++i)
        actor_scheduler::tell(*rig.system.spawn<tactus_test::counting_actor>({}, &count), 1);
    EXPECT_TRUE(until([&] { return count.load() == 20; }));
    release = true;
}

namespace {

std::vector<int> log_of_one_worker;  // written by the one worker
std::atomic<std::size_t> logged{0};
struct logging {
    int name;
    void receive(turn&, envelope& e) {
        const int value = *e.get_if<int>();
        if (value > 0)
            std::this_thread::sleep_for(std::chrono::milliseconds(value));
        log_of_one_worker.push_back(name);
        logged.store(log_of_one_worker.size());
    }
};

}  // namespace

TEST(kernel_stress, C_DSP_11_within_its_throughput_an_actor_is_not_interrupted) {
    log_of_one_worker.clear();
    pool_rig rig(1, {}, {.throughput = 101});
    const mailbox_index slow = *rig.system.spawn<logging>({}, 1);
    const mailbox_index other = *rig.system.spawn<logging>({}, 2);
    actor_scheduler::tell(slow, 50);
    for (int i = 0; i < 100; ++i)
        actor_scheduler::tell(slow, 0);
    actor_scheduler::tell(other, 0);
    EXPECT_TRUE(rig.pool->shut_down(10s));
    ASSERT_EQ(log_of_one_worker.size(), 102u);
    EXPECT_EQ(log_of_one_worker.back(), 2);
}

// Both wait at the same worker: what comes from outside waits behind a worker's own work.
TEST(kernel_stress, C_DSP_12_beyond_its_deadline_an_actor_lets_another_run) {
    static mailbox_index slow;
    static mailbox_index other;
    struct starter {
        void receive(turn& t, envelope&) {
            t.send(other, 0);
            t.send(slow, 60);
            t.send(slow, 0);
        }
    };
    log_of_one_worker.clear();
    pool_rig rig(1, {}, {.throughput = 2, .throughput_deadline = duration::from_ms(20)});
    slow = *rig.system.spawn<logging>({}, 1);
    other = *rig.system.spawn<logging>({}, 2);
    const auto idle = [&] { return rig.system.order().idle().sleeping_count() == 1; };
    for (const mailbox_index a : {slow, other})
        actor_scheduler::tell(a, 0);  // not fresh any more
    ASSERT_TRUE(until(idle));
    actor_scheduler::tell(*rig.system.spawn<starter>({}), 0);
    EXPECT_TRUE(until([&] { return logged.load() == 5; }));
    EXPECT_TRUE(rig.pool->shut_down(10s));
    EXPECT_EQ(log_of_one_worker, (std::vector<int>{1, 2, 1, 2, 1}));
}

namespace {

struct relay {
    std::uint64_t plain = 0;  // seen by every worker that runs it, one after the other
    const std::vector<mailbox_index>* all;
    std::atomic<std::uint64_t>* left;
    std::atomic<std::uint64_t>* errors;
    relay(const std::vector<mailbox_index>* a, std::atomic<std::uint64_t>* l,
          std::atomic<std::uint64_t>* e)
        : all(a), left(l), errors(e) {}
    void receive(turn& t, envelope& e) {
        const item i = *e.get_if<item>();
        if (plain != i.number / all->size() && i.sender == 0)
            errors->fetch_add(1);
        ++plain;
        if (left->fetch_sub(1) > all->size())
            t.send((*all)[(i.number + 1) % all->size()], item{0, i.number + 1});
    }
};

}  // namespace

// C-DSP-16: what message n wrote, message n + 1 sees, on whatever thread.
TEST(kernel_stress, C_DSP_16_plain_fields_are_seen_by_the_next_run) {
    constexpr std::uint64_t actors = 8;
    const std::uint64_t hops = sized(800'000, 10);
    std::vector<mailbox_index> all;
    std::atomic<std::uint64_t> left{hops};
    std::atomic<std::uint64_t> errors{0};
    pool_rig rig(4);
    for (std::uint64_t i = 0; i < actors; ++i)
        all.push_back(*rig.system.spawn<relay>({}, &all, &left, &errors));
    actor_scheduler::tell(all[0], item{0, 0});
    EXPECT_TRUE(until([&] { return left.load() <= actors; }));
    EXPECT_EQ(errors.load(), 0u);
}

TEST(kernel_stress, C_DSP_17_a_message_from_outside_is_handled_by_a_saturated_pool) {
    struct busy {
        void receive(turn& t, envelope&) { t.send(t.self(), 1); }
    };
    std::atomic<std::uint64_t> count{0};
    pool_rig rig(2);
    for (int i = 0; i < 16; ++i)
        actor_scheduler::tell(*rig.system.spawn<busy>({}), 1);
    const mailbox_index a = *rig.system.spawn<tactus_test::counting_actor>({}, &count);
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 20; ++i) {
        actor_scheduler::tell(a, 1);
        std::this_thread::sleep_for(1ms);
    }
    EXPECT_TRUE(until([&] { return count.load() == 20; }));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 6s);
}

// RG: outside threads that send while the system ends: handled, dead letter, or counted as refused.
TEST(kernel_stress, a_system_may_end_while_others_send_to_it) {
    const std::uint64_t rounds = sized(200, 10);
    for (std::uint64_t r = 0; r < rounds; ++r) {
        loss_counter losses;
        account book;
        const std::uint32_t refused_before = system_table::refused_count();
        std::atomic<std::uint64_t> sent_count{0};
        std::atomic<bool> running{true};
        std::vector<std::thread> senders;
        {
            pool_rig rig(2, {}, {.events = &losses});
            const mailbox_index a = *rig.system.spawn<accountant>({}, &book);
            for (unsigned t = 0; t < 2; ++t) {
                senders.emplace_back([&, a, t] {
                    for (std::uint64_t i = 0; running.load(); ++i) {
                        actor_scheduler::tell(a, item{t, i});
                        ++sent_count;
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
                  sent_count.load());
    }
}
