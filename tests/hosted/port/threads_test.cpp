// SPDX-License-Identifier: Apache-2.0
//
// The host port with threads: a mutex excludes, a condition wakes, a sleep on a word ends by a wake
// or by its time, each thread has its own instance, and calls at a thread's end are made there, the
// last registered first.
#include <tactus/port/port.hpp>

#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <thread>
#include <vector>

namespace port = tactus::port;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

namespace {

struct per_thread {
    int number = 17;
};

/// Calls at the end of a thread, as they come.
struct journal {
    std::vector<int> entries;
    std::thread::id thread;
};
struct entry {
    journal* into;
    int number;
    entry* then = nullptr;  // registered by this one's call
};
void write_down(void* with) noexcept {
    auto* e = static_cast<entry*>(with);
    e->into->entries.push_back(e->number);
    e->into->thread = std::this_thread::get_id();
    if (e->then != nullptr)
        port::at_thread_exit(write_down, e->then);
}

}  // namespace

TEST(mutex_threads, excludes) {
    port::mutex m;
    std::uint64_t counter = 0;  // plain: ThreadSanitizer sees to it, and the sum
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 20'000; ++i) {
                const port::lock_guard held(m);
                ++counter;
            }
        });
    }
    for (std::thread& t : threads)
        t.join();
    EXPECT_EQ(counter, 80'000u);
}

TEST(mutex_threads, try_lock_says_no_while_another_holds_it) {
    port::mutex m;
    const port::lock_guard held(m);
    bool got = true;
    std::thread([&] { got = m.try_lock(); }).join();
    EXPECT_FALSE(got);
}

TEST(condition_threads, a_waiter_gives_the_mutex_away_and_has_it_again_when_notified) {
    port::mutex m;
    port::condition changed;
    int stage = 0;
    std::thread waiter([&] {
        const port::lock_guard held(m);
        while (stage != 1)
            changed.wait(m);
        stage = 2;
        changed.notify_all();
    });
    {
        const port::lock_guard held(m);
        stage = 1;
        changed.notify_one();
        while (stage != 2)
            changed.wait(m);
    }
    waiter.join();
    EXPECT_EQ(stage, 2);
}

TEST(wait_on_threads, its_time_passes) {
    const port::atomic<std::uint32_t> word(1);
    const auto begin = steady_clock::now();
    // A wake-up for no reason is allowed; time goes on all the same.
    while (port::wait_on(word, 1, 20'000'000)) {
        ASSERT_LT(steady_clock::now() - begin, 10s);
    }
    EXPECT_GE(steady_clock::now() - begin, 20ms);
}

// TS-7: an instant of the monotonic clock; what has passed before the call counts.
TEST(wait_on_threads, until_an_instant) {
    const port::atomic<std::uint32_t> word(1);
    const auto begin = steady_clock::now();
    const auto at = begin + 20ms;
    const std::int64_t at_ns =
        std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count();
    while (port::wait_until(word, 1, at_ns)) {
        ASSERT_LT(steady_clock::now() - begin, 10s);
    }
    EXPECT_GE(steady_clock::now(), at);
    // It has passed, or the word is another one: there is nothing to wait for.
    while (port::wait_until(word, 1, at_ns)) {
        ASSERT_LT(steady_clock::now() - begin, 10s);
    }
    EXPECT_TRUE(port::wait_until(word, 0, -1));
}

// A signal that is handled does not make the time begin again.
TEST(wait_on_threads, a_signal_does_not_prolong_it) {
    struct sigaction before{};
    struct sigaction quiet{};
    quiet.sa_handler = [](int) {};
    ASSERT_EQ(sigaction(SIGUSR1, &quiet, &before), 0);
    port::atomic<std::uint32_t> word{1};
    std::atomic<bool> over{false};
    std::jthread sleeper([&] {
        EXPECT_FALSE(port::wait_on(word, 1, 50'000'000));
        over = true;
    });
    const auto began = std::chrono::steady_clock::now();
    while (!over && std::chrono::steady_clock::now() - began < std::chrono::seconds(5)) {
        pthread_kill(sleeper.native_handle(), SIGUSR1);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    EXPECT_TRUE(over);
    sleeper.join();
    EXPECT_EQ(sigaction(SIGUSR1, &before, nullptr), 0);
}

TEST(wait_on_threads, a_sleeper_without_a_limit_is_woken) {
    for (int round = 0; round < 20; ++round) {
        port::atomic<std::uint32_t> word(0);
        std::thread sleeper([&word] {
            while (word.load(std::memory_order_acquire) == 0)
                (void)port::wait_on(word, 0, -1);
        });
        if (round % 2 == 0)
            std::this_thread::sleep_for(1ms);  // else it may not sleep yet
        word.store(1, std::memory_order_release);
        port::wake_one(word);
        sleeper.join();  // or the test hangs
    }
}

// Each wake lets one of them go: as many wakes as sleepers are enough.
TEST(wait_on_threads, as_many_wakes_as_sleepers_wake_all) {
    port::atomic<std::uint32_t> word(0);
    std::vector<std::thread> sleepers;
    for (int i = 0; i < 3; ++i) {
        sleepers.emplace_back([&word] {
            while (word.load(std::memory_order_acquire) == 0)
                (void)port::wait_on(word, 0, -1);
        });
    }
    std::this_thread::sleep_for(5ms);
    word.store(1, std::memory_order_release);
    for (int i = 0; i < 3; ++i)
        port::wake_one(word);
    for (std::thread& t : sleepers)
        t.join();
}

TEST(thread_instance_threads, each_thread_has_its_own) {
    per_thread& mine = port::thread_instance<per_thread>();
    mine.number = 1;
    std::thread([&mine] {
        per_thread& other = port::thread_instance<per_thread>();
        EXPECT_NE(&other, &mine);
        EXPECT_EQ(other.number, 17);
        other.number = 2;
    }).join();
    EXPECT_EQ(mine.number, 1);
}

TEST(at_thread_exit, calls_are_made_by_the_thread_the_last_registered_first) {
    journal made;
    std::array<entry, 3> entries{{{&made, 1}, {&made, 2}, {&made, 3}}};
    std::thread::id id;
    std::thread thread([&] {
        id = std::this_thread::get_id();
        for (entry& e : entries)
            port::at_thread_exit(write_down, &e);
        EXPECT_TRUE(made.entries.empty());
    });
    thread.join();
    EXPECT_EQ(made.entries, (std::vector<int>{3, 2, 1}));
    EXPECT_EQ(made.thread, id);
}

TEST(at_thread_exit, threads_do_not_share_their_calls) {
    journal first;
    journal second;
    entry of_first{&first, 1};
    entry of_second{&second, 2};
    std::thread([&] { port::at_thread_exit(write_down, &of_first); }).join();
    EXPECT_EQ(first.entries, (std::vector<int>{1}));
    std::thread([&] { port::at_thread_exit(write_down, &of_second); }).join();
    EXPECT_EQ(first.entries, (std::vector<int>{1}));
    EXPECT_EQ(second.entries, (std::vector<int>{2}));
}

// What is called may use something that registers itself.
TEST(at_thread_exit, a_call_may_register_another) {
    journal made;
    std::array<entry, 12> more{};
    for (std::size_t i = 0; i < more.size(); ++i)
        more[i] = {&made, static_cast<int>(10 + i), i + 1 < more.size() ? &more[i + 1] : nullptr};
    entry first{&made, 1};
    entry last{&made, 2, more.data()};
    std::thread([&] {
        port::at_thread_exit(write_down, &first);
        port::at_thread_exit(write_down, &last);
    }).join();
    // The last registered first: what came during the calls goes before what is left.
    EXPECT_EQ(made.entries,
              (std::vector<int>{2, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 1}));
}
