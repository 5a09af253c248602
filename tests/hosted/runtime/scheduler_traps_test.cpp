// SPDX-License-Identifier: Apache-2.0
//
// Goal: what schedulers like ours got wrong between threads does not happen here (traps S4, S5, S7,
// S10, S12 of the conformance notes; TC-F11).
// Method: counts that must agree exactly, plain data and locks that ThreadSanitizer watches (it
// reports two locks taken in both orders, also when nobody was stuck), and processor time. Sizes
// are those of a quick run; TACTUS_LONG=1 runs all of it.
#include <tactus/dispatch/lane_set.hpp>
#include <tactus/dispatch/offer.hpp>
#include <tactus/runtime/heap_memory.hpp>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <latch>
#include <thread>

#include "kernel_account.hpp"
#include "pool_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::counting_actor;
using tactus_test::in_threads;
using tactus_test::pool_rig;
using tactus_test::sized;
using tactus_test::timed_pool_rig;
using tactus_test::under_sanitizer;
using tactus_test::until;

namespace {

/// A system that no thread works for: what is ready waits until the test drains it.
struct unmanned {
    runtime::scheduler_memory memory{{.actors_max = 1U << 10, .messages_max = 1U << 10}};
    runtime::steady_clock time;
    actor_scheduler system{memory.fill({.worker_count = 1, .visited = true, .time = &time})};
};

struct silent {
    void receive(turn&, envelope&) {}
};

/// More than there can be of anything here, and less than what lies below zero.
constexpr std::uint32_t absurd = 1U << 30;

}  // namespace

// trap S4, TC-F11, CO-1: whoever is told that it registered caused one dispatch or one withdrawal,
// however many looked at the same time; and a mailbox is with one of them at a time.
TEST(scheduler_traps, S4_TC_F11_racing_registrations_are_one_dispatch_each) {
    const std::uint64_t each = sized(2'000'000, 10);
    unmanned rig;
    coordinator& order = rig.system.order();
    constexpr std::size_t count = 3;
    std::array<mailbox_index, count> actors;
    for (mailbox_index& a : actors)
        a = *rig.system.spawn<silent>({});
    std::array<std::uint64_t, count> runs{};  // plain: whoever drained it writes
    std::atomic<std::uint64_t> registered{0};
    std::atomic<std::uint64_t> drained{0};
    std::atomic<std::uint64_t> withdrawn{0};
    std::atomic<unsigned> registering{2};
    const auto drain = [&] {
        std::array<mailbox_index, 2> some;
        const std::size_t found = order.drain_ready_cycle(some);
        for (std::size_t i = 0; i < found; ++i) {
            for (std::size_t n = 0; n < count; ++n) {
                if (actors[n] == some[i])
                    ++runs[n];
            }
            EXPECT_TRUE(order.handle_invoke_result(some[i], {}));
        }
        drained += found;
        return found;
    };
    std::latch all_there(5);
    in_threads(5, [&](unsigned t) {
        all_there.arrive_and_wait();
        if (t < 2) {
            for (std::uint64_t i = 0; i < each; ++i)
                registered += order.register_ready(actors[i % count]) ? 1 : 0;
            --registering;
        } else if (t < 4) {
            while (registering.load() != 0)
                (void)drain();
        } else {
            for (std::uint64_t i = 0; registering.load() != 0; ++i)
                withdrawn += order.unregister(actors[i % count]) == unregistered::idle ? 1 : 0;
        }
    });
    while (drain() != 0) {
    }
    EXPECT_EQ(drained.load() + withdrawn.load(), registered.load());
    EXPECT_EQ(runs[0] + runs[1] + runs[2], drained.load());
    EXPECT_GT(drained.load(), 0u);
    // None is left as if it waited.
    for (const mailbox_index a : actors)
        EXPECT_TRUE(order.register_ready(a));
}

namespace {

struct processor_use {
    double seconds = 0;
    long sleeps = 0;  // how often a thread gave up its processor
};
processor_use used_so_far() {
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    return {seconds(use.ru_utime) + seconds(use.ru_stime), use.ru_nvcsw};
}

struct sleeping_long {
    std::atomic<std::uint64_t>* count;
    void receive(turn& t, envelope& e) {
        const auto hours = duration::from_s(3600 + *e.get_if<int>());
        EXPECT_TRUE(t.suspend(suspend_reason::rate_limit, resume_condition::after(hours)));
        ++*count;
    }
};

}  // namespace

// trap S5, EX-4: work that is not due yet is no work. A pool that has nothing else sleeps until
// then, also after work that was there for a moment and gone again.
TEST(scheduler_traps, S5_a_pool_with_future_times_alone_sleeps) {
    constexpr int waiting = 20;
    std::atomic<std::uint64_t> count{0};
    timed_pool_rig rig(2, {.visited = true});
    for (int i = 0; i < waiting; ++i) {
        const mailbox_index a = *rig.system.spawn<sleeping_long>({}, &count);
        actor_scheduler::tell(a, i);
        actor_scheduler::tell(a, i);  // stays behind: there is always something in a mailbox
    }
    ASSERT_TRUE(until([&] { return count.load() == waiting; }));
    // Flicker: made ready and taken out again, now and then before a worker has seen it.
    const mailbox_index flickering = *rig.system.spawn<silent>({});
    for (int i = 0; i < 1'000; ++i) {
        (void)rig.system.order().register_ready(flickering);
        (void)rig.system.order().unregister(flickering);
    }
    const auto asleep = [&] { return rig.system.order().idle().sleeping_count() == 2; };
    ASSERT_TRUE(until(asleep));
    const auto time = tactus_test::long_run() ? 10s : 1s;
    const processor_use before = used_so_far();
    std::this_thread::sleep_for(time);
    const processor_use after = used_so_far();
    const auto seconds = static_cast<double>(time.count());
    // A worker that polls takes all the time it gets, also where a wake costs more than usual.
    EXPECT_LT(after.seconds - before.seconds, 0.02 * seconds);
    EXPECT_LT(static_cast<double>(after.sleeps - before.sleeps), 50 * seconds);
    EXPECT_TRUE(asleep());
    EXPECT_EQ(count.load(), std::uint64_t{waiting});
}

// trap S7, CO-5: the end wakes every worker that sleeps, the one that keeps the time, too.
TEST(scheduler_traps, S7_sleeping_workers_do_not_hold_up_the_end) {
    for (int i = 0; i < 20; ++i) {
        std::atomic<std::uint64_t> count{0};
        const auto workers = static_cast<std::uint32_t>(1 + i % 3);
        timed_pool_rig rig(workers);
        actor_scheduler::tell(*rig.system.spawn<sleeping_long>({}, &count), 1);
        ASSERT_TRUE(until([&] {
            return count.load() == 1 && rig.system.order().idle().sleeping_count() == workers;
        }));
        const auto begin = std::chrono::steady_clock::now();
        if (i % 2 == 0)
            EXPECT_TRUE(rig.pool->shut_down(60s));
        else
            rig.pool->force_stop();
        EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
        EXPECT_EQ(rig.system.live_count(), 0u);
    }
}

// trap S10: a count is never taken down for an entry before it was put up for it, so nobody who
// looks without the lock sees less than nothing.
TEST(scheduler_traps, S10_counts_of_lanes_are_never_below_nothing) {
    const std::uint64_t each = sized(100'000, 10);
    struct none_stale final : stale_test {
        [[nodiscard]] bool stale(lane_entry) const noexcept override { return false; }
    };
    runtime::heap_memory memory;
    const none_stale staleness;
    lane_set lanes({.memory = &memory, .stale = &staleness});
    constexpr std::array where = {lane::cancel, lane::timed, lane::ready};
    std::atomic<unsigned> pushing{2};
    std::atomic<std::uint64_t> popped{0};
    std::latch all_there(4);
    in_threads(4, [&](unsigned t) {
        all_there.arrive_and_wait();
        if (t < 2) {
            for (std::uint64_t i = 0; i < each; ++i) {
                const auto priority = static_cast<std::uint8_t>(i % 2 == 0 ? 128 : i % 256);
                lanes.push({static_cast<std::uint32_t>(i), 1},
                           {where[i % 3], priority, static_cast<std::int64_t>(i)});
                // Nearly empty all the time: below nothing is not far.
                while (lanes.cancel_count() + lanes.timed_count() + lanes.ready_count() > 1)
                    std::this_thread::yield();
            }
            --pushing;
            return;
        }
        for (std::uint64_t i = t; pushing.load() != 0 || !lanes.empty(); ++i) {
            if (lanes.pop(where[i % 3]).valid())
                ++popped;
            else
                std::this_thread::yield();
            // Who has just taken the last one is the first who could see less than nothing.
            EXPECT_LT(lanes.cancel_count(), absurd);
            EXPECT_LT(lanes.timed_count(), absurd);
            EXPECT_LT(lanes.ready_count(), absurd);
            EXPECT_LT(lanes.urgent_hint(), absurd);
        }
    });
    EXPECT_EQ(popped.load(), 2 * each);
    EXPECT_TRUE(lanes.empty());
    EXPECT_EQ(lanes.urgent_hint(), 0u);
}

// trap S10: the same for who sleeps and searches, for what waits anywhere, and for the depth of a
// mailbox, while workers fall asleep and are woken all the time.
TEST(scheduler_traps, S10_counts_of_a_pool_are_never_below_nothing) {
    const std::uint64_t each = sized(200'000, 10);
    constexpr std::uint32_t workers = 2;
    constexpr std::uint32_t capacity = 4;
    std::atomic<std::uint64_t> count{0};
    tactus_test::loss_counter losses;
    pool_rig rig(workers, {}, {.events = &losses});
    mailbox_options narrow;
    narrow.capacity = capacity;
    narrow.when_full = overflow::drop_oldest;
    const mailbox_index bounded = *rig.system.spawn<counting_actor>({.mailbox = narrow}, &count);
    const mailbox_index keyed = *rig.system.spawn<counting_actor>({.priority = 200}, &count);
    const mailbox_index plain = *rig.system.spawn<counting_actor>({}, &count);
    std::atomic<unsigned> sending{2};
    in_threads(3, [&](unsigned t) {
        if (t < 2) {
            for (std::uint64_t i = 0; i < each; ++i) {
                actor_scheduler::tell(bounded, 1);
                actor_scheduler::tell(keyed, 1, {.deadline = i % 2 == 0 ? 0 : 1});
                actor_scheduler::tell(plain, 1);
                if (i % 64 == 0)
                    std::this_thread::yield();  // they may fall asleep
            }
            --sending;
            return;
        }
        const coordinator& order = rig.system.order();
        while (sending.load() != 0) {
            EXPECT_LE(rig.system.order().idle().sleeping_count(), workers);
            EXPECT_LE(rig.system.order().idle().searching_count(), workers);
            for (const lane l : {lane::cancel, lane::timed, lane::ready})
                EXPECT_LT(order.queued_count(l), 1'000u);  // of three mailboxes
            EXPECT_LE(rig.system.depth_of(bounded).value_or(absurd), capacity);
        }
    });
    EXPECT_TRUE(until([&] { return count.load() + losses.letters.load() == 6 * each; }));
    EXPECT_EQ(rig.system.order().waiting_count(), 0u);
    EXPECT_EQ(rig.system.depth_of(bounded).value_or(absurd), 0u);
    EXPECT_TRUE(until([&] { return rig.system.order().idle().sleeping_count() == workers; }));
    EXPECT_EQ(rig.system.order().idle().searching_count(), 0u);
}

namespace {

struct holding_on {
    std::atomic<std::uint64_t>* count;
    void receive(turn& t, envelope& e) {
        const bool by_time = *e.get_if<int>() % 2 == 0;
        (void)t.suspend(
            suspend_reason::await_external,
            by_time ? resume_condition::after(duration::from_us(10)) : resume_condition::signal(7));
        ++*count;
    }
};

}  // namespace

// trap S12: everything that takes a lock, from threads that do so in different orders: visitors,
// offers, suspensions by time and by signal, spawning and stopping, tasks.
TEST(scheduler_traps, S12_locks_are_taken_in_one_order) {
    const std::uint64_t each = sized(20'000, 10);
    std::atomic<std::uint64_t> held{0};
    std::atomic<std::uint64_t> taken{0};
    std::atomic<std::uint64_t> tasks_run{0};
    tactus_test::loss_counter losses;
    timed_pool_rig rig(2, {.visited = true, .events = &losses}, duration::from_us(10));
    mailbox_options narrow;
    narrow.capacity = 2;
    narrow.when_full = overflow::block;
    const mailbox_index full = *rig.system.spawn<counting_actor>({.mailbox = narrow}, &taken);
    const mailbox_index holds = *rig.system.spawn<holding_on>({.priority = 10}, &held);
    worker_task_of counts([&] { ++tasks_run; });
    std::atomic<unsigned> working{4};
    in_threads(6, [&](unsigned t) {
        coordinator& order = rig.system.order();
        if (t == 4) {
            while (working.load() != 0) {
                std::array<mailbox_index, 2> some;
                const std::size_t found = order.drain_ready_cycle(some);
                for (std::size_t i = 0; i < found; ++i) {
                    const invoke_result goes_on{.outcome = invoke_outcome::yielded};
                    if (!order.handle_invoke_result(some[i], goes_on))
                        actor_scheduler::tell(full, 0);  // never: nobody stops these
                }
                std::this_thread::yield();
            }
            return;
        }
        if (t == 5) {
            while (working.load() != 0 || held.load() != each) {
                (void)rig.system.signal(7);
                std::this_thread::yield();
            }
            return;
        }
        for (std::uint64_t i = 0; i < each; ++i) {
            if (t == 0) {
                EXPECT_EQ(offer(full, 1, duration::from_s(600)), sent::accepted);
            } else if (t == 1) {
                actor_scheduler::tell(holds, static_cast<int>(i));
            } else if (t == 2) {
                EXPECT_TRUE(rig.system.execute(counts));
                while (tasks_run.load() != i + 1)
                    std::this_thread::yield();
            } else {
                (void)rig.system.suspend(full, suspension::await);
                std::this_thread::yield();
                (void)rig.system.resume(full, suspension::await);
                (void)rig.system.stop(*rig.system.spawn<silent>({}));
            }
        }
        --working;
    });
    EXPECT_TRUE(until([&] { return taken.load() == each; }));
    EXPECT_EQ(held.load(), each);
    EXPECT_EQ(tasks_run.load(), each);
    EXPECT_EQ(losses.letters.load() + losses.lost.load(), 0u);
    EXPECT_TRUE(rig.pool->shut_down(60s));
}
