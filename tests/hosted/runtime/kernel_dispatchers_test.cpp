// SPDX-License-Identifier: Apache-2.0
//
// Goal: what any dispatcher owes its actors (C-DSP), as far as the kernel can express it.
// Method: the conformance cases by name, on a pool of threads.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
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
using tactus_test::pool_rig;
using tactus_test::sized;
using tactus_test::until;

// C-DSP-3
TEST(kernel_dispatchers, C_DSP_3_messages_of_many_threads_are_all_processed) {
    account book;
    pool_rig rig(2);
    const mailbox_index a = *rig.system.spawn<accountant>({}, &book);
    in_threads(10, [&](unsigned t) {
        for (std::uint64_t i = 0; i < 20; ++i)
            actor_scheduler::tell(a, item{t, i});
    });
    EXPECT_TRUE(rig.pool->shut_down(10s));
    EXPECT_EQ(book.handled_count.load(), 200u);
    EXPECT_EQ(book.overlaps.load(), 0u);
}

// C-DSP-2: a message that takes long is not overtaken by another run of the same actor.
TEST(kernel_dispatchers, C_DSP_2_a_slow_message_is_never_run_beside_another) {
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

namespace {

std::atomic<bool> blocks{false};
std::atomic<bool> release_blocked{false};
std::vector<mailbox_index> receivers;
std::atomic<std::uint64_t> received{0};

/// Sends to all receivers, when told to with 2; then blocks, with 1 or 2.
struct blocking {
    void receive(turn& t, envelope& e) {
        const int what = *e.get_if<int>();
        if (what >= 2) {
            for (const mailbox_index to : receivers)
                t.send(to, 1);
        }
        if (what == 3)
            return;
        blocks = true;
        while (!release_blocked.load())
            std::this_thread::sleep_for(1ms);
    }
};

struct blocked_rig : pool_rig {
    blocked_rig() : pool_rig(2) {
        blocks = false;
        release_blocked = false;
        receivers.clear();
        received = 0;
        for (int i = 0; i < 20; ++i)
            receivers.push_back(*system.spawn<tactus_test::counting_actor>({}, &received));
        for (const mailbox_index to : receivers)
            actor_scheduler::tell(to, 1);  // not fresh any more
        EXPECT_TRUE(reaches(20));
        first = *system.spawn<blocking>({});
    }
    ~blocked_rig() { release_blocked = true; }
    bool reaches(std::uint64_t n) {
        return until([&] { return received.load() >= n; });
    }
    mailbox_index first;
};

}  // namespace

// C-DSP-10
TEST(kernel_dispatchers, C_DSP_10_one_that_blocks_does_not_hold_up_another) {
    blocked_rig rig;
    actor_scheduler::tell(rig.first, 1);
    ASSERT_TRUE(until([&] { return blocks.load(); }));
    for (const mailbox_index to : receivers)
        actor_scheduler::tell(to, 1);
    EXPECT_TRUE(rig.reaches(40));
    // From inside: another actor sends while the first one blocks.
    actor_scheduler::tell(*rig.system.spawn<blocking>({}), 3);
    EXPECT_TRUE(rig.reaches(60));
    EXPECT_FALSE(release_blocked.load());
}

// C-DSP-10, LN-11: what the blocked one sent itself runs elsewhere; all but the mailbox it made
// ready last, which waits in its worker's next place and is not stolen.
TEST(kernel_dispatchers, C_DSP_10_what_it_sent_before_it_blocked_runs_elsewhere) {
    blocked_rig rig;
    actor_scheduler::tell(rig.first, 2);
    ASSERT_TRUE(until([&] { return blocks.load(); }));
    EXPECT_TRUE(rig.reaches(20 + receivers.size() - 1));
    EXPECT_FALSE(release_blocked.load());
    release_blocked = true;
    EXPECT_TRUE(rig.reaches(40));
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

// C-DSP-11
TEST(kernel_dispatchers, C_DSP_11_within_its_throughput_an_actor_is_not_interrupted) {
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
// C-DSP-12
TEST(kernel_dispatchers, C_DSP_12_beyond_its_deadline_an_actor_lets_another_run) {
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

// C-DSP-12, IN-2: the same for messages from outside: who has had a run waits behind them.
TEST(kernel_dispatchers, C_DSP_12_from_outside_it_is_requeued_behind_what_came_meanwhile) {
    static std::atomic<bool> held{false};
    static std::atomic<bool> go{false};
    held = go = false;
    struct gate {
        void receive(turn&, envelope&) {
            held = true;
            while (!go.load())
                std::this_thread::sleep_for(1ms);
        }
    };
    log_of_one_worker.clear();
    pool_rig rig(1, {}, {.throughput = 2, .throughput_deadline = duration::from_ms(20)});
    const mailbox_index slow_one = *rig.system.spawn<logging>({}, 1);
    const mailbox_index other_one = *rig.system.spawn<logging>({}, 2);
    actor_scheduler::tell(*rig.system.spawn<gate>({}), 0);
    ASSERT_TRUE(until([&] { return held.load(); }));
    actor_scheduler::tell(slow_one, 60);
    actor_scheduler::tell(slow_one, 0);
    actor_scheduler::tell(other_one, 0);
    go = true;
    EXPECT_TRUE(rig.pool->shut_down(10s));
    EXPECT_EQ(log_of_one_worker, (std::vector<int>{1, 2, 1}));
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

namespace {

struct answer {
    std::uint64_t number;
};
/// Answers what it is asked, and throws at some questions.
struct moody {
    void receive(turn& t, envelope& e) {
        const std::uint64_t number = e.get_if<item>()->number;
        if (number % 5 == 2)
            throw std::out_of_range("two");
        if (number % 5 == 4)
            throw 4;  // anything can be thrown
        t.reply(answer{number});
    }
};
/// Asks all at once, and counts each answer.
struct asking {
    static constexpr std::uint64_t questions = 50;
    mailbox_index whom;
    std::vector<std::atomic<unsigned>>* answered;
    void receive(turn& t, envelope& e) {
        if (const answer* a = e.get_if<answer>()) {
            (*answered)[a->number].fetch_add(1);
            return;
        }
        for (std::uint64_t i = 0; i < questions; ++i)
            t.send(whom, item{0, i});
    }
};

}  // namespace

// C-DSP-8: between questions at which it throws, whatever it throws, the others are answered; those
// never are, and they are not asked again.
TEST(kernel_dispatchers, C_DSP_8_handlers_that_throw_leave_other_questions_answered) {
    constexpr std::uint64_t bad = asking::questions / 5 * 2;
    std::vector<std::atomic<unsigned>> answered(asking::questions);
    tactus_test::loss_counter losses;
    std::uint64_t resumed = 0;
    {
        pool_rig rig(2, {}, {.events = &losses});
        const mailbox_index a = *rig.system.spawn<moody>({});
        actor_scheduler::tell(*rig.system.spawn<asking>({}, a, &answered), 0);
        // The supervisor's part: it goes on with the next message.
        EXPECT_TRUE(until([&] {
            if (losses.failed.load() > resumed) {
                ++resumed;
                EXPECT_TRUE(rig.system.resume(a, suspension::supervision));
            }
            return resumed == bad;
        }));
        EXPECT_TRUE(rig.pool->shut_down(60s));
    }
    for (std::uint64_t i = 0; i < asking::questions; ++i)
        EXPECT_EQ(answered[i].load(), i % 5 == 2 || i % 5 == 4 ? 0u : 1u);
    EXPECT_EQ(losses.failed.load(), bad);
    EXPECT_EQ(losses.letters.load() + losses.lost.load(), 0u);
}

// C-DSP-16: what message n wrote, message n + 1 sees, on whatever thread.
TEST(kernel_dispatchers, C_DSP_16_plain_fields_are_seen_by_the_next_run) {
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

// C-DSP-17
TEST(kernel_dispatchers, C_DSP_17_a_message_from_outside_is_handled_by_a_saturated_pool) {
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

// DT-4, LN-2: what a system is told about seeds, limits and certificates holds for all of its
// dispatchers.
TEST(kernel_dispatchers, DT_4_all_dispatchers_have_the_systems_seed_and_limits) {
    std::uint64_t drawn[2];
    for (const std::uint64_t seed : {1u, 2u}) {
        runtime::scheduler_memory memory;
        actor_scheduler system(
            memory.fill({.seed = seed, .cancel_streak_limit = 4, .certify_schedule = true}));
        dispatcher* more = *system.add_dispatcher({});
        worker_lanes& lanes = more->worker_at(0).lanes();
        drawn[seed - 1] = lanes.streams()[random_stream::scheduling].next_u64();
        EXPECT_NE(drawn[seed - 1],
                  system.worker_at(0).lanes().streams()[random_stream::scheduling].next_u64());
        EXPECT_EQ(lanes.certificate().base_limit, 4u);
    }
    EXPECT_NE(drawn[0], drawn[1]);
}
