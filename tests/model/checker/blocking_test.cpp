// SPDX-License-Identifier: Apache-2.0
//
// MC-1: mutexes, conditions and sleeping words: lost wake-ups and deadlocks are found, spurious
// wake-ups and timeouts happen.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>

#include <tactus/port/model.hpp>

namespace port = tactus::port;
namespace model = tactus::port::model;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;

namespace {

// A sleeper that decides by one look at the word and sleeps by another value.
model::report sleeper(bool looks_again) {
    return model::check({}, [=] {
        port::atomic<std::uint32_t> word{0};
        port::plain<unsigned> payload{0};
        model::thread waker([&] {
            payload.write(1);
            word.store(1, memory_order_release);
            port::wake_one(word);
        });
        for (std::uint32_t seen = 0; (seen = word.load(memory_order_acquire)) == 0;) {
            if (!looks_again)
                seen = word.load(memory_order_acquire);  // too late: the store came between
            port::wait_on(word, seen, -1);
        }
        model::require(payload.read() == 1);
    });
}

model::report waiter(bool looks_under_lock, bool spurious, bool loops) {
    model::options how;
    how.spurious_wakeups = spurious;
    return model::check(how, [=] {
        port::mutex lock;
        port::condition changed;
        port::plain<bool> ready{false};
        port::atomic<bool> hint{false};
        model::thread notifier([&] {
            {
                const port::lock_guard held(lock);
                ready.write(true);
                hint.store(true, memory_order_release);
            }
            changed.notify_one();
        });
        const bool skip = !looks_under_lock && hint.load(memory_order_acquire);
        lock.lock();
        if (!skip) {
            if (looks_under_lock && loops) {
                while (!ready.read())
                    changed.wait(lock);
            } else if (!looks_under_lock || !ready.read()) {
                changed.wait(lock);
            }
        }
        model::require(ready.read(), "woken before it was ready");
        lock.unlock();
    });
}

}  // namespace

TEST(blocking, MC1_a_lost_wake_up_of_a_word_is_a_deadlock) {
    const model::report wrong = sleeper(false);
    EXPECT_EQ(wrong.kind, model::failure::deadlock) << wrong.text;
    EXPECT_NE(wrong.message.find("thread a waits for atomic"), std::string::npos) << wrong.message;
    EXPECT_NE(wrong.message.find("blocking_test.cpp:"), std::string::npos) << wrong.message;
    const model::report right = sleeper(true);
    EXPECT_TRUE(right.ok && right.exhaustive) << right.text;
}

TEST(blocking, MC1_a_lost_notification_is_a_deadlock) {
    const model::report wrong = waiter(false, false, false);
    EXPECT_EQ(wrong.kind, model::failure::deadlock) << wrong.text;
    const model::report right = waiter(true, false, true);
    EXPECT_TRUE(right.ok && right.exhaustive) << right.text;
}

TEST(blocking, MC1_spurious_wake_ups_find_a_wait_without_a_loop) {
    EXPECT_TRUE(waiter(true, false, false).ok);
    EXPECT_EQ(waiter(true, true, false).kind, model::failure::assertion);
    const model::report right = waiter(true, true, true);
    EXPECT_TRUE(right.ok && right.exhaustive) << right.text;
}

TEST(blocking, MC1_two_mutexes_in_two_orders_are_a_deadlock) {
    const auto ordered = [](bool same) {
        return model::check({}, [=] {
            port::mutex first;
            port::mutex second;
            model::thread other([&] {
                const port::lock_guard outer(same ? first : second);
                const port::lock_guard inner(same ? second : first);
            });
            const port::lock_guard outer(first);
            const port::lock_guard inner(second);
        });
    };
    const model::report wrong = ordered(false);
    EXPECT_EQ(wrong.kind, model::failure::deadlock);
    EXPECT_NE(wrong.message.find("held by"), std::string::npos) << wrong.message;
    const model::report right = ordered(true);
    EXPECT_TRUE(right.ok && right.exhaustive) << right.text;
}

TEST(blocking, MC1_a_mutex_orders_what_it_protects) {
    const model::report r = model::check({}, [] {
        port::mutex lock;
        port::plain<unsigned> counted{0};
        const auto count = [&] {
            const port::lock_guard held(lock);
            counted.write(counted.read() + 1);
        };
        const auto try_count = [&] {
            if (!lock.try_lock())
                return;
            counted.write(counted.read() + 1);
            lock.unlock();
        };
        model::thread a(count);
        model::thread b(try_count);
        count();
        b.join();
        a.join();
        model::require(counted.read() >= 2);
    });
    EXPECT_TRUE(r.ok && r.exhaustive) << r.text;
}

TEST(blocking, MC1_try_lock_fails_and_succeeds) {
    std::set<bool> taken;
    const model::report r = model::check({}, [&] {
        port::mutex lock;
        model::thread other([&] { const port::lock_guard held(lock); });
        const bool mine = lock.try_lock();
        taken.insert(mine);
        if (mine)
            lock.unlock();
    });
    EXPECT_TRUE(r.ok && r.exhaustive) << r.text;
    EXPECT_EQ(taken, (std::set<bool>{false, true}));
}

TEST(blocking, MC1_misuse_of_a_mutex_is_found) {
    EXPECT_EQ(model::check({}, [] { port::mutex().unlock(); }).kind, model::failure::misuse);
    const model::report twice = model::check({}, [] {
        port::mutex lock;
        lock.lock();
        lock.lock();
    });
    EXPECT_EQ(twice.kind, model::failure::deadlock);
}

// A sleep with a limit ends in time or not, whatever else happens; it is never a deadlock.
TEST(blocking, MC1_timeouts_come_at_every_moment) {
    std::set<std::string> outcomes;
    const model::report r = model::check({}, [&] {
        port::atomic<std::uint32_t> word{0};
        model::thread waker([&] {
            word.store(1, memory_order_release);
            port::wake_one(word);
        });
        const bool in_time = port::wait_on(word, 0, 1'000);
        const std::uint32_t seen = word.load(memory_order_relaxed);
        outcomes.insert(std::string(in_time ? "in time " : "late ") + (seen == 0 ? "0" : "1"));
    });
    EXPECT_TRUE(r.ok && r.exhaustive) << r.text;
    EXPECT_EQ(outcomes, (std::set<std::string>{"in time 0", "in time 1", "late 0", "late 1"}));

    const model::report alone = model::check({}, [] {
        port::atomic<std::uint32_t> word{0};
        for (unsigned i = 0; i < 5; ++i)
            model::require(!port::wait_on(word, 0, 0));
    });
    EXPECT_TRUE(alone.ok && alone.exhaustive) << alone.text;
}

TEST(blocking, MC1_a_sleep_may_end_for_no_reason) {
    model::options how;
    how.spurious_wakeups = true;
    std::set<bool> woken_by_nobody;
    const model::report r = model::check(how, [&] {
        port::atomic<std::uint32_t> word{0};
        const bool in_time = port::wait_on(word, 0, 1'000);
        woken_by_nobody.insert(in_time);
    });
    EXPECT_TRUE(r.ok && r.exhaustive) << r.text;
    EXPECT_EQ(woken_by_nobody, (std::set<bool>{false, true}));
}

// Every sleeper is the one that is woken, in some execution; one that nobody wakes stays.
TEST(blocking, MC1_one_of_several_sleepers_is_woken) {
    std::set<unsigned> woken;
    const model::report r = model::check({}, [&] {
        port::atomic<std::uint32_t> word{0};
        port::atomic<std::uint32_t> asleep{0};
        unsigned order = 0;
        unsigned first = 0;
        const auto sleep = [&](unsigned self) {
            asleep.fetch_add(1, memory_order_relaxed);
            port::wait_on(word, 0, -1);
            if (order++ == 0)
                first = self;
        };
        model::thread a([&] { sleep(1); });
        model::thread b([&] { sleep(2); });
        while (asleep.load(memory_order_relaxed) < 2)
            port::pause();
        word.store(1, memory_order_relaxed);
        port::wake_one(word);
        port::wake_one(word);
        a.join();
        b.join();
        woken.insert(first);
    });
    EXPECT_TRUE(r.ok && r.exhaustive) << r.text;
    EXPECT_EQ(woken, (std::set<unsigned>{1, 2}));
}

TEST(blocking, MC1_weak_compare_exchange_fails_for_no_reason_when_asked) {
    const auto weak = [](bool spurious) {
        model::options how;
        how.spurious_weak_failures = spurious;
        return model::check(how, [] {
            port::atomic<unsigned> x{0};
            unsigned seen = 0;
            model::require(
                x.compare_exchange_weak(seen, 1, memory_order_relaxed, memory_order_relaxed));
        });
    };
    EXPECT_TRUE(weak(false).exhaustive);
    EXPECT_EQ(weak(true).kind, model::failure::assertion);
    model::options how;
    how.spurious_weak_failures = true;
    const model::report loop = model::check(how, [] {
        port::atomic<unsigned> x{0};
        const auto add = [&] {
            unsigned seen = x.load(memory_order_relaxed);
            while (!x.compare_exchange_weak(seen, seen + 1, memory_order_relaxed,
                                            memory_order_relaxed)) {
            }
        };
        {
            model::thread other(add);
            add();
        }
        model::require(x.load(memory_order_relaxed) == 2);
    });
    EXPECT_TRUE(loop.ok && loop.exhaustive) << loop.text;
}
