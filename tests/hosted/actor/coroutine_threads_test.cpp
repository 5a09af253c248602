// SPDX-License-Identifier: Apache-2.0
//
// Goal: coroutines that other threads wake, cancel and end: each goes on once, or is destroyed, and
// nothing of it is left (AC-2, EX-7, CH-15). Method: plain data that ThreadSanitizer watches,
// memory that is counted, ends that are counted.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include <tactus/actor/coroutine_set.hpp>
#include <tactus/actor/offer_awaiter.hpp>
#include <tactus/actor/one_shot_signal.hpp>
#include <tactus/runtime/heap_memory.hpp>

#include "kernel_account.hpp"
#include "pool_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using namespace tactus_test;

namespace {

class counted_memory final : public memory_source {
public:
    [[nodiscard]] void* allocate(std::size_t size, std::size_t alignment) noexcept override {
        live.fetch_add(1, std::memory_order_relaxed);
        return heap_.allocate(size, alignment);
    }
    void release(void* block, std::size_t size, std::size_t alignment) noexcept override {
        heap_.release(block, size, alignment);
        live.fetch_sub(1, std::memory_order_relaxed);
    }
    std::atomic<int> live{0};

private:
    runtime::heap_memory heap_;
};
counted_memory memory;

/// What an actor is told to do.
class job {
public:
    virtual task<> run() = 0;
    std::atomic<unsigned> begun{0};
    std::atomic<unsigned> ended{0};

protected:
    ~job() = default;
};
struct begin {
    job* what;
};

class worker_actor {
public:
    handled receive(turn& t, envelope& e) {
        if (!set_)
            set_.emplace(t.self(), memory);
        job& j = *e.get_if<begin>()->what;
        ++j.begun;
        return set_->start_handler(
            [&] { return j.run(); },
            {&j, [](coroutine_set&, const coroutine_keep& kept, coroutine_end) noexcept {
                 ++static_cast<job*>(kept.what)->ended;
             }});
    }
    handled receive_system(turn& t, system_message& m) {
        if (m.kind == system_kind::continuation)
            return set_->resume(m);
        if (m.kind == system_kind::terminate)
            t.stop();
        return handled::ok();
    }

private:
    std::optional<coroutine_set> set_;
};

/// Waits for one signal after the other, and adds up what came with them.
class adding final : public job {
public:
    explicit adding(std::size_t count) : signals(count), values(count) {}
    task<> run() override {
        for (std::size_t i = 0; i < signals.size(); ++i) {
            co_await signals[i].wait();
            sum += values[i];
        }
    }
    std::vector<one_shot_signal> signals;
    std::vector<std::uint64_t> values;  // plain: written before the wake, read after the wait
    std::uint64_t sum = 0;
};

/// Waits once, and can be cancelled.
class waiting final : public job {
public:
    task<> run() override {
        const auto result = co_await signal.wait(context.token());
        came = result.has_value() ? 1 : 2;
    }
    one_shot_signal signal;
    cancel_context context;
    int came = 0;  // plain: the actor's
};

class offering final : public job {
public:
    offering(mailbox_index to, std::uint32_t number, std::uint64_t count)
        : to_(to), number_(number), count_(count) {}
    task<> run() override {
        for (std::uint64_t i = 0; i < count_; ++i) {
            if (co_await offer_awaiter(to_, item{number_, i}) != sent::accepted)
                ++refused;
        }
    }
    std::uint64_t refused = 0;

private:
    mailbox_index to_;
    std::uint32_t number_;
    std::uint64_t count_;
};

}  // namespace

// EX-7: what was done before a wake is visible after the wait, from whichever thread.
TEST(coroutine_threads, EX_7_other_threads_wake) {
    const std::size_t count = sized(200'000, 10);
    adding one(count);
    {
        pool_rig rig(2);
        const mailbox_index who = *rig.system.spawn<worker_actor>({});
        actor_scheduler::tell(who, begin{&one});
        in_threads(2, [&](unsigned t) {
            for (std::size_t i = t; i < count; i += 2) {
                one.values[i] = i;
                one.signals[i].wake();
            }
        });
        EXPECT_TRUE(until([&] { return one.ended.load() == 1; }));
        EXPECT_TRUE(rig.pool->shut_down(60s));
    }
    EXPECT_EQ(one.sum, sum_below(count));
    EXPECT_EQ(memory.live.load(), 0);
}

// AC-2, CH-15: a wake, a cancellation and the actor's end at once: the coroutine ends once, and the
// wait is freed by whoever is last.
TEST(coroutine_threads, AC_2_a_wake_a_cancellation_and_the_end_at_once) {
    const std::uint64_t rounds = sized(5'000, 10);
    std::vector<std::unique_ptr<waiting>> jobs;
    {
        pool_rig rig(2);
        for (std::uint64_t r = 0; r < rounds; ++r) {
            waiting& j = *jobs.emplace_back(std::make_unique<waiting>());
            const mailbox_index who = *rig.system.spawn<worker_actor>({});
            actor_scheduler::tell(who, begin{&j});
            in_threads(3, [&](unsigned t) {
                // Most of the time it waits already; some of the time it does not.
                if (r % 8 != 0)
                    while (j.begun.load() == 0)
                        std::this_thread::yield();
                if (t == 0)
                    j.signal.wake();
                else if (t == 1)
                    (void)j.context.cancel({cancel_kind::user, "race"});
                else if (r % 2 != 0)
                    (void)rig.system.stop(who);
            });
        }
        EXPECT_TRUE(rig.pool->shut_down(60s));
    }
    for (const auto& j : jobs)
        EXPECT_EQ(j->begun.load(), j->ended.load());
    EXPECT_EQ(memory.live.load(), 0);
}

// CH-15: children come and go while their parent is cancelled; each is told once, or not at all.
TEST(coroutine_threads, CH_15_children_come_and_go_while_the_parent_is_cancelled) {
    struct counted final : cancel_callback {
        void context_cancelled() noexcept override { ++calls; }
        std::atomic<unsigned> calls{0};
    };
    const std::uint64_t rounds = sized(5'000, 10);
    std::uint64_t wrong = 0;
    for (std::uint64_t r = 0; r < rounds; ++r) {
        cancel_context root;
        counted c;
        bool called = false;
        std::atomic<bool> at_it{false};
        in_threads(2, [&](unsigned t) {
            if (t == 0) {
                while (!at_it.load(std::memory_order_relaxed))
                    std::this_thread::yield();
                (void)root.cancel({});
                return;
            }
            for (int i = 0; i < 2'000 && !root.checkpoint() && !called; ++i) {
                at_it.store(true, std::memory_order_relaxed);
                cancel_context child(root.token());
                called = child.watch(c) && !child.unwatch(c);
            }
        });
        wrong += c.calls.load() != (called ? 1U : 0U);
    }
    EXPECT_EQ(wrong, 0u);
}

// MB-2: coroutines of several actors wait for room; everything arrives, in order per sender.
TEST(coroutine_threads, MB_2_offers_of_many_coroutines_lose_nothing) {
    const std::uint64_t each = sized(50'000, 10);
    account book;
    loss_counter losses;
    std::vector<std::unique_ptr<offering>> jobs;
    {
        pool_rig rig(2, {}, {.events = &losses});
        mailbox_options small;
        small.capacity = 2;
        small.when_full = overflow::block;
        const mailbox_index to = *rig.system.spawn<accountant>({.mailbox = small}, &book);
        for (std::uint32_t i = 0; i < 4; ++i) {
            jobs.push_back(std::make_unique<offering>(to, i, each));
            actor_scheduler::tell(*rig.system.spawn<worker_actor>({}), begin{jobs.back().get()});
        }
        EXPECT_TRUE(until([&] { return book.handled_count.load() == 4 * each; }));
        EXPECT_TRUE(until([&] {
            for (const auto& j : jobs)
                if (j->ended.load() == 0)
                    return false;
            return true;
        }));
        EXPECT_TRUE(rig.pool->shut_down(60s));
    }
    EXPECT_EQ(book.sum.load(), 4 * sum_below(each));
    EXPECT_EQ(book.order_errors, 0u);
    for (const auto& j : jobs)
        EXPECT_EQ(j->refused, 0u);
    EXPECT_EQ(losses.letters.load() + losses.lost.load(), 0u);
    EXPECT_EQ(memory.live.load(), 0);
}
