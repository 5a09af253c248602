// SPDX-License-Identifier: Apache-2.0
//
// Goal: the default executor: its threads, how it ends, and that it costs nothing when idle (EX-2,
// EX-4, CO-5, UP-7).
#include <tactus/dispatch/turn.hpp>
#include <tactus/runtime/scheduler_memory.hpp>
#include <tactus/runtime/steady_clock.hpp>
#include <tactus/runtime/work_stealing_pool.hpp>

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pool_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::counting_actor;
using tactus_test::pool_rig;
using tactus_test::timed_pool_rig;
using tactus_test::until;

namespace {

double processor_seconds() {
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    return seconds(use.ru_utime) + seconds(use.ru_stime);
}

}  // namespace

// UP-7
TEST(work_stealing_pool, workers_have_names_and_block_all_signals) {
    pool_rig rig(3, {.name = "a-name-that-is-too-long"});
    std::mutex mutex;
    std::set<std::string> names;
    std::atomic<int> blocked{0};
    std::atomic<int> ran{0};
    auto look = [&] {
        char name[16] = {};
        pthread_getname_np(pthread_self(), name, sizeof name);
        sigset_t mask;
        pthread_sigmask(SIG_SETMASK, nullptr, &mask);
        if (sigismember(&mask, SIGINT) == 1 && sigismember(&mask, SIGTERM) == 1 &&
            sigismember(&mask, SIGUSR1) == 1)
            ++blocked;
        {
            const std::lock_guard held(mutex);
            names.insert(name);
        }
        ++ran;
        // Until all three are in here at once: each on a thread of its own.
        until([&] { return ran.load() >= 3; });
    };
    worker_task_of a(look);
    worker_task_of b(look);
    worker_task_of c(look);
    for (worker_task* t : {static_cast<worker_task*>(&a), static_cast<worker_task*>(&b),
                           static_cast<worker_task*>(&c)})
        EXPECT_TRUE(rig.system.execute(*t));
    EXPECT_TRUE(until([&] { return ran.load() == 3; }));
    rig.pool->force_stop();
    EXPECT_EQ(blocked.load(), 3);
    EXPECT_EQ(names,
              (std::set<std::string>{"a-name-that-i-0", "a-name-that-i-1", "a-name-that-i-2"}));
    // The caller's own mask is as it was.
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    EXPECT_EQ(sigismember(&mask, SIGUSR1), 0);
}

// LN-7: a worker that runs a task does not count as searching: others are woken meanwhile.
TEST(work_stealing_pool, a_task_that_blocks_holds_up_neither_tasks_nor_actors) {
    std::atomic<bool> release{false};
    std::atomic<std::uint64_t> handled_count{0};
    std::atomic<int> others{0};
    pool_rig rig(2);
    ASSERT_TRUE(until([&] { return rig.system.order().idle().sleeping_count() == 2; }));
    worker_task_of blocking([&] { until([&] { return release.load(); }); });
    worker_task_of other([&] { ++others; });
    EXPECT_TRUE(rig.system.execute(blocking));
    ASSERT_TRUE(until([&] { return rig.system.order().idle().sleeping_count() == 1; }));
    EXPECT_TRUE(rig.system.execute(other));
    EXPECT_TRUE(until([&] { return others.load() == 1; }));
    const mailbox_index a = *rig.system.spawn<counting_actor>({}, &handled_count);
    actor_scheduler::tell(a, 1);
    EXPECT_TRUE(until([&] { return handled_count.load() == 1; }));
    release = true;
}

// LN-7: nor is a task overlooked by a worker that goes to sleep.
TEST(work_stealing_pool, every_task_is_run_by_a_pool_that_falls_asleep) {
    const std::uint64_t count = tactus_test::sized(200'000, 100);
    pool_rig rig(1);
    std::atomic<std::uint64_t> ran{0};
    worker_task_of t([&] { ++ran; });
    for (std::uint64_t i = 0; i < count; ++i) {
        EXPECT_TRUE(rig.system.execute(t));
        const auto limit = std::chrono::steady_clock::now() + 10s;
        while (ran.load() != i + 1) {
            ASSERT_LT(std::chrono::steady_clock::now(), limit);
            port::yield();
        }
        for (std::uint64_t spin = 0; spin < i % 64 * 20; ++spin)
            port::pause();
    }
}

// CO-5
TEST(work_stealing_pool, shutting_down_drains_what_is_queued) {
    pool_rig rig(2);
    std::atomic<std::uint64_t> handled_count{0};
    const mailbox_index a = *rig.system.spawn<counting_actor>({}, &handled_count);
    for (int i = 0; i < 50'000; ++i)
        actor_scheduler::tell(a, i);
    EXPECT_TRUE(rig.pool->shut_down(60s));
    EXPECT_EQ(handled_count.load(), 50'000u);
    EXPECT_EQ(rig.system.phase(), system_phase::stopped);
    EXPECT_EQ(rig.system.live_count(), 0u);
    EXPECT_EQ(actor_scheduler::try_tell(a, 1), sent::shutdown);
    EXPECT_TRUE(rig.pool->shut_down(1s));  // again: nothing to do
}

namespace {

/// Sends to everybody when it ends.
struct parting_actor {
    std::function<void()> last;
    explicit parting_actor(std::function<void()> f) : last(std::move(f)) {}
    parting_actor(const parting_actor&) = delete;
    parting_actor& operator=(const parting_actor&) = delete;
    ~parting_actor() { last(); }
    void receive(turn& t, envelope&) { t.stop(); }
};

}  // namespace

// CO-2, CO-5: what a task, or an actor that ends, makes ready by many sends is found by everybody
// when it is done; also when what it made ready last was taken away meanwhile.
TEST(work_stealing_pool, what_a_task_or_a_destructor_makes_ready_is_not_left_behind) {
    constexpr std::uint64_t many = 400;
    for (const bool by_task : {true, false}) {
        pool_rig rig(2);
        std::atomic<std::uint64_t> handled_count{0};
        std::vector<mailbox_index> all;
        for (std::uint64_t i = 0; i < many; ++i)
            all.push_back(*rig.system.spawn<counting_actor>({}, &handled_count));
        for (const mailbox_index a : all)
            actor_scheduler::tell(a, 1);
        ASSERT_TRUE(until([&] { return handled_count == many; }));  // none is fresh any more
        system_message m;
        m.kind = system_kind::unwatch;
        std::atomic<bool> done{false};
        const auto send_to_all = [&] {
            for (const mailbox_index a : all)
                actor_scheduler::tell(a, 1);
            // The other worker takes the one that would run next here.
            rig.system.send_system(all.back(), m);
            std::this_thread::sleep_for(20ms);
            done = true;
        };
        worker_task_of t(send_to_all);
        if (by_task)
            (void)rig.system.execute(t);
        else
            actor_scheduler::tell(*rig.system.spawn<parting_actor>({}, send_to_all), 1);
        EXPECT_TRUE(until([&] { return done.load(); }));
        EXPECT_TRUE(rig.pool->shut_down(60s));
        EXPECT_EQ(handled_count, 2 * many);
    }
}

// LN-11: who is spawned by somebody who never stops sending runs all the same.
TEST(work_stealing_pool, LN_11_a_new_actor_runs_although_others_play_ping_pong) {
    struct child {
        std::atomic<bool>* ran;
        void receive(turn&, envelope&) { *ran = true; }
    };
    struct player {
        std::atomic<bool>* ran;
        bool begun = false;
        void receive(turn& t, envelope& e) {
            if (const auto* to = e.get_if<mailbox_index>()) {
                t.send(*to, mailbox_index(t.self()));
                if (!begun)
                    t.send(*t.system().spawn<child>({}, ran), 1);
                begun = true;
            }
        }
    };
    for (const std::uint32_t workers : {1U, 2U}) {
        pool_rig rig(workers);
        std::atomic<bool> ran{false};
        const mailbox_index a = *rig.system.spawn<player>({}, &ran);
        const mailbox_index b = *rig.system.spawn<player>({}, &ran, true);
        actor_scheduler::tell(a, mailbox_index(b));
        EXPECT_TRUE(until([&] { return ran.load(); }));
    }
}

// A handler that takes long holds up none of those it spawned, while somebody has nothing to do.
// LN-11: who has nothing to do takes all but the newest. (What was spawned while everybody was busy
// waits for the end of the handler, or its blocking_section.)
TEST(work_stealing_pool, a_long_handler_does_not_hold_up_whom_it_spawned) {
    pool_rig rig(2);
    static std::atomic<std::uint64_t> ran;
    ran = 0;
    struct parent {
        void receive(turn& t, envelope&) {
            for (std::uint64_t i = 0; i < 4; ++i) {
                EXPECT_TRUE(until([&] { return t.system().order().idle().sleeping_count() == 1; }));
                t.send(*t.system().spawn<counting_actor>({}, &ran), 1);
                EXPECT_TRUE(until([&] { return ran >= i; }));
            }
        }
    };
    actor_scheduler::tell(*rig.system.spawn<parent>({}), 1);
    EXPECT_TRUE(until([] { return ran == 4; }));
}

TEST(work_stealing_pool, a_limit_ends_the_draining) {
    pool_rig rig(2);
    // Never done: it keeps itself busy as long as it is allowed to send.
    struct endless {
        void receive(turn&, envelope&) { std::this_thread::sleep_for(1ms); }
    };
    const mailbox_index a = *rig.system.spawn<endless>({});
    for (int i = 0; i < 10'000; ++i)
        actor_scheduler::tell(a, i);
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_FALSE(rig.pool->shut_down(20ms));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
    EXPECT_EQ(rig.system.live_count(), 0u);
}

TEST(work_stealing_pool, stopping_by_force_and_the_destructor_wait_for_nothing) {
    std::atomic<std::uint64_t> handled_count{0};
    {
        pool_rig rig(2);
        const mailbox_index a = *rig.system.spawn<counting_actor>({}, &handled_count);
        EXPECT_TRUE(rig.system.suspend(a, suspension::supervision));
        actor_scheduler::tell(a, 1);
    }
    EXPECT_EQ(handled_count.load(), 0u);
}

namespace {

class fateful final : public worker_task {
public:
    [[nodiscard]] handled run() noexcept override {
        ++runs;
        return handled::ok();
    }
    void dropped() noexcept override { ++drops; }
    std::atomic<unsigned> runs{0};
    std::atomic<unsigned> drops{0};
};

}  // namespace

// EX-1, CO-5: what comes too late is rejected, what was left is told so: nothing vanishes.
TEST(work_stealing_pool, EX_1_tasks_are_rejected_after_a_stop_and_those_left_are_dropped) {
    std::atomic<bool> begun{false};
    std::atomic<bool> release{false};
    pool_rig rig(1);
    worker_task_of blocking([&] {
        begun = true;
        until([&] { return release.load(); });
    });
    fateful left[3];
    fateful late;
    EXPECT_TRUE(rig.pool->submit(blocking, {}));
    ASSERT_TRUE(until([&] { return begun.load(); }));
    for (fateful& t : left)
        EXPECT_TRUE(rig.pool->submit(t, {}));
    // The stop waits for the task that runs; until then the pool's thread cannot take another.
    std::thread stopper([&] { rig.pool->force_stop(); });
    // While it is `stopping`, the queues of tasks are being closed.
    EXPECT_TRUE(until([&] { return rig.system.phase() == system_phase::draining; }));
    EXPECT_FALSE(rig.pool->submit(late, {}));
    // Long enough for the stop to be requested.
    std::this_thread::sleep_for(50ms);
    release = true;
    stopper.join();
    EXPECT_FALSE(rig.pool->submit(late, {}));
    unsigned dropped = 0;
    for (const fateful& t : left) {
        EXPECT_EQ(t.runs.load() + t.drops.load(), 1u);
        dropped += t.drops.load();
    }
    EXPECT_GT(dropped, 0u);
    EXPECT_EQ(rig.system.dropped_task_count(), dropped);
    EXPECT_EQ(late.runs.load() + late.drops.load(), 0u);
    rig.pool->notify_rejected(late, 3);
    EXPECT_EQ(late.drops.load(), 1u);
    EXPECT_EQ(rig.system.dropped_task_count(), dropped + 1);
}

// CO-5: for ever is a limit too.
TEST(work_stealing_pool, a_limit_without_end_waits_until_all_is_done) {
    pool_rig rig(2);
    std::atomic<std::uint64_t> count{0};
    struct slow {
        std::atomic<std::uint64_t>* to;
        void receive(turn&, envelope&) {
            std::this_thread::sleep_for(1ms);
            ++*to;
        }
    };
    const mailbox_index a = *rig.system.spawn<slow>({}, &count);
    for (int i = 0; i < 20; ++i)
        actor_scheduler::tell(a, i);
    EXPECT_TRUE(rig.pool->shut_down(std::chrono::nanoseconds::max()));
    EXPECT_EQ(count.load(), 20u);
}

// UP-3: a worker would wait for itself; it ends with a number instead.
TEST(work_stealing_pool_death_test, a_worker_cannot_shut_down_its_own_pool) {
    EXPECT_DEATH(
        {
            pool_rig rig(1);
            worker_task_of t([&] { rig.pool->force_stop(); });
            (void)rig.pool->submit(t, {});
            std::this_thread::sleep_for(30s);
        },
        "work_stealing_pool:1");
}

TEST(work_stealing_pool, starts_and_stops_many_times) {
    for (int i = 0; i < 200; ++i) {
        pool_rig rig(1 + static_cast<std::uint32_t>(i % 3));
        std::atomic<std::uint64_t> handled_count{0};
        actor_scheduler::tell(*rig.system.spawn<counting_actor>({}, &handled_count), i);
        if (i % 2 == 0) {
            EXPECT_TRUE(rig.pool->shut_down(10s));
            EXPECT_EQ(handled_count.load(), 1u);
        }
    }
}

// EX-4: 10 idle seconds cost less than 10 ms; by default a fifth of both.
TEST(work_stealing_pool, EX_4_an_idle_pool_uses_no_processor_time) {
    pool_rig rig(2);
    std::atomic<std::uint64_t> handled_count{0};
    const mailbox_index a = *rig.system.spawn<counting_actor>({}, &handled_count);
    actor_scheduler::tell(a, 1);
    ASSERT_TRUE(until([&] {
        return handled_count.load() == 1 && rig.system.order().idle().sleeping_count() == 2;
    }));
    const auto time = tactus_test::long_run() ? 10s : 2s;
    const double before = processor_seconds();
    std::this_thread::sleep_for(time);
    const double used = processor_seconds() - before;
    const double limit = 0.001 * static_cast<double>(time.count());
    EXPECT_LT(used, tactus_test::under_sanitizer ? 20 * limit : limit);
}

// S21: a sleeping pool wakes for a time.
TEST(work_stealing_pool, a_suspension_by_time_ends_while_everybody_sleeps) {
    static std::atomic<std::uint32_t> second{0};
    second = 0;
    struct sleepy {
        void receive(turn& t, envelope& e) {
            if (*e.get_if<int>() == 1) {
                EXPECT_TRUE(t.suspend(suspend_reason::rate_limit,
                                      resume_condition::after(duration::from_ms(30))));
            } else {
                ++second;
            }
        }
    };
    timed_pool_rig rig(2);
    const mailbox_index a = *rig.system.spawn<sleepy>({});
    const auto begin = std::chrono::steady_clock::now();
    actor_scheduler::tell(a, 1);
    actor_scheduler::tell(a, 2);
    EXPECT_TRUE(until([&] { return second.load() == 1; }));
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 30ms);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
}
