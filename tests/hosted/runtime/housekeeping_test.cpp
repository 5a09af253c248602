// SPDX-License-Identifier: Apache-2.0
//
// Goal: what the housekeeper does for dispatchers strands nobody, waits for nobody, and costs
// nothing while there is nothing to do (EX-1, EX-4, EX-6).
#include <tactus/runtime/dispatchers.hpp>
#include <tactus/runtime/housekeeper.hpp>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <limits>
#include <string>
#include <thread>

#include "dispatchers_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::dispatchers_rig;
using tactus_test::until;

namespace {

runtime::dispatcher_setup restless(std::string_view id, duration shutdown,
                                   std::uint32_t max_workers = 2) {
    return {.id = id,
            .config = {.workers = 1,
                       .max_workers = max_workers,
                       .starvation_deadline = duration::from_ms(50),
                       .shutdown_timeout = shutdown}};
}

/// As until, for what takes no time unless it never comes.
template <class Condition>
bool soon(Condition&& condition) {
    const auto limit = std::chrono::steady_clock::now() + 20s;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > limit)
            return false;
        std::this_thread::sleep_for(50us);
    }
    return true;
}

double processor_seconds() {
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

std::uint64_t mapped_bytes() {
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

// EX-6, EX-1: a task for a dispatcher that rests is run, whatever the housekeeper looks at just
// then. Who never stops calling it makes every interleaving likely.
TEST(housekeeping, EX_6_a_task_for_a_resting_dispatcher_is_never_stranded) {
    const std::uint64_t rounds = tactus_test::sized(10'000, 10);
    dispatchers_rig rig({.workers = 1});
    const auto d = *rig.all->add(restless("x", duration::from_ms(1)));
    std::atomic<bool> stop{false};
    std::thread calls([&] {
        while (!stop)
            d.set_starvation_deadline(duration::from_ms(50));
    });
    std::atomic<std::uint64_t> ran{0};
    worker_task_of t([&] { ++ran; });
    for (std::uint64_t i = 0; i < rounds; ++i) {
        const bool rests = soon([&] { return d.report().threads == 0; });
        const bool taken = d.execute(t);
        const bool run = soon([&] { return ran == i + 1; });
        EXPECT_TRUE(rests && taken && run) << "round " << i;
        if (!rests || !taken || !run)
            break;
    }
    stop = true;
    calls.join();
}

// EX-6: whoever comes when the threads are told to end is not waited for: the housekeeper has
// others to look after, whom it may need. What comes next runs beside it, on a thread again.
TEST(housekeeping, EX_6_a_rest_waits_for_no_handler) {
    struct nobody final : waker {
        void wake() noexcept override {}
    };
    nobody keeper;
    runtime::scheduler_memory memory;
    actor_scheduler system(memory.fill({.worker_count = 2}));
    runtime::dispatcher_threads threads(system, *system.dispatcher_at(0), {.keeper = &keeper});
    ASSERT_TRUE(threads.start());
    std::atomic<bool> entered{false};
    std::atomic<bool> open{false};
    worker_task_of held([&] {
        entered = true;
        while (!open)
            std::this_thread::sleep_for(1ms);
    });
    ASSERT_TRUE(system.dispatcher_at(0)->execute(held));
    ASSERT_TRUE(soon([&] { return entered.load(); }));
    std::atomic<bool> told{false};
    std::thread keeps([&] {
        (void)threads.rest();
        told = true;
    });
    EXPECT_TRUE(soon([&] { return told.load(); }));
    EXPECT_TRUE(soon([&] { return threads.running_count() == 1; }));
    std::atomic<bool> ran{false};
    worker_task_of other([&] { ran = true; });
    EXPECT_TRUE(system.dispatcher_at(0)->execute(other));
    if (told) {
        threads.tend();
        EXPECT_TRUE(soon([&] { return ran.load(); }));
        EXPECT_FALSE(open.load());
    }
    open = true;
    keeps.join();
    threads.stop();
    EXPECT_TRUE(ran || !told);
}

// Whoever is tended may be waited for by who adds another: nothing is held meanwhile.
TEST(housekeeping, somebody_is_added_while_another_is_tended) {
    struct patient final : runtime::housekept {
        std::atomic<bool> tended{false};
        std::atomic<bool> open{false};
        [[nodiscard]] instant tend(instant) override {
            tended = true;
            while (!open)
                std::this_thread::sleep_for(1ms);
            return instant::never();
        }
    };
    patient first;
    patient second;
    second.open = true;
    runtime::housekeeper keeper("t");
    keeper.add(first);
    ASSERT_TRUE(soon([&] { return first.tended.load(); }));
    std::atomic<bool> added{false};
    std::thread adds([&] {
        keeper.add(second);
        added = true;
    });
    EXPECT_TRUE(soon([&] { return added.load(); }));
    first.open = true;
    adds.join();
    EXPECT_TRUE(soon([&] { return second.tended.load(); }));
}

// EX-6: a task that came when the threads were told to end may need another dispatcher: the
// housekeeper waits for none of them.
TEST(housekeeping, EX_6_a_task_may_add_a_dispatcher_while_its_own_is_about_to_rest) {
    const std::uint64_t rounds = tactus_test::sized(1'000, 10);
    dispatchers_rig rig({.workers = 1});
    const auto d = *rig.all->add(restless("x", duration::from_ms(2), 1));
    std::atomic<std::uint64_t> ran{0};
    worker_task_of t([&] {
        std::this_thread::sleep_for(4ms);
        const std::string id = "n" + std::to_string(ran.load());
        (void)rig.all->add({.id = id, .config = {.executor = executor_kind::inline_tick}});
        ++ran;
    });
    for (std::uint64_t i = 0; i < rounds; ++i) {
        ASSERT_TRUE(d.execute(t));
        ASSERT_TRUE(soon([&] { return ran == i + 1; })) << "round " << i;
        std::this_thread::sleep_for(std::chrono::microseconds(1'000 + i * 37 % 6'000));
    }
}

// EX-6: settings that the system cannot keep are refused by name, with what it said; a dispatcher
// that never runs is not made.
TEST(housekeeping, EX_6_impossible_thread_settings_are_refused) {
    struct row {
        runtime::thread_settings how;
        const char* said;
    };
    const row table[] = {
        {{.affinity = {900}}, "on processor 900: Invalid argument"},
        {{.affinity = {0, 100'000}}, "on processor 100000: Invalid argument"},
        {{.stack_bytes = 1}, "with a stack of 1 bytes: Invalid argument"},
    };
    dispatchers_rig rig({.workers = 1});
    for (const row& r : table) {
        const auto d = rig.all->add({.id = "x", .config = {.workers = 2}, .threads = r.how});
        ASSERT_FALSE(d);
        EXPECT_EQ(d.error().what, runtime::dispatcher_error::kind::threads_refused);
        EXPECT_STREQ(name_of(d.error().what), "threads_refused");
        EXPECT_EQ(d.error().text(),
                  std::string("the operating system refuses the threads of dispatcher 'x': "
                              "a thread ") +
                      r.said);
    }
    EXPECT_EQ(rig.system.dispatcher_at(1), nullptr);
    EXPECT_TRUE(rig.all->add({.id = "x", .config = {.workers = 2}}));
}

// EX-6: a thread that is refused later is told once, and tried again until there is one.
TEST(housekeeping, EX_6_threads_refused_later_are_told_and_tried_again) {
    if (tactus_test::under_sanitizer)
        GTEST_SKIP() << "a limit of the address space";
    struct refusals final : dispatcher_events {
        std::atomic<unsigned> count{0};
        std::string last;
        std::uint32_t threads = 9;
        std::uint32_t where = 0;
        void executor_rejected(const dispatcher&, const rejection&) noexcept override {}
        void dispatcher_backpressure(const dispatcher&, std::uint32_t, bool) noexcept override {}
        void threads_refused(const dispatcher& d, const refusal& what) noexcept override {
            last = what.cause;
            threads = what.threads;
            where = d.number();
            ++count;
        }
    };
    constexpr std::uint64_t stack = 512U << 20;
    refusals told;
    runtime::scheduler_memory memory;
    runtime::steady_clock time;
    const dispatcher_config first{.workers = 1};
    actor_scheduler system(memory.fill(runtime::dispatchers::fill({.time = &time}, first)));
    runtime::dispatchers all(system, {.events = &told},
                             {.id = default_dispatcher_id, .config = first});
    runtime::dispatcher_setup setup = restless("x", duration::from_ms(20), 1);
    setup.threads.stack_bytes = stack;
    const auto d = all.add(setup);
    ASSERT_TRUE(d);
    ASSERT_TRUE(soon([&] { return d->report().stops == 1; }));  // its stack is gone
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
    const rlimit less{mapped_bytes() + stack / 2, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_AS, &less), 0);
    std::atomic<bool> ran{false};
    worker_task_of t([&] { ran = true; });
    EXPECT_TRUE(d->execute(t));
    EXPECT_TRUE(soon([&] { return told.count.load() == 1; }));
    std::this_thread::sleep_for(1'500ms);
    EXPECT_FALSE(ran.load());
    ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
    EXPECT_TRUE(soon([&] { return ran.load(); }));
    EXPECT_EQ(told.count.load(), 1u);
    EXPECT_EQ(told.last,
              "a thread with a stack of 536870912 bytes: Resource temporarily unavailable");
    EXPECT_EQ(told.threads, 0u);
    EXPECT_EQ(told.where, d->number());
    EXPECT_TRUE(soon([&] { return d->report().threads == 0; }));  // and rests again
}

// EX-4: the shortest and the longest timeout there is are waited for, too.
TEST(housekeeping, EX_4_no_timeout_makes_it_spin) {
    const duration longest = duration::from_ns(std::numeric_limits<std::int64_t>::max() - 1);
    struct row {
        duration shutdown;
        duration starvation;
    };
    for (const row& r : {row{duration::zero(), longest}, row{longest, duration::max()},
                         row{duration::max(), duration::zero()}}) {
        dispatchers_rig rig({.workers = 1, .starvation_deadline = duration::max()});
        const auto d = rig.all->add({.id = "x",
                                     .config = {.workers = 1,
                                                .starvation_deadline = r.starvation,
                                                .shutdown_timeout = r.shutdown}});
        ASSERT_TRUE(d);
        std::atomic<bool> entered{false};
        worker_task_of t([&] {
            entered = true;
            std::this_thread::sleep_for(700ms);
        });
        ASSERT_TRUE(d->execute(t));
        ASSERT_TRUE(soon([&] { return entered.load(); }));
        const double before = processor_seconds();
        std::this_thread::sleep_for(500ms);
        EXPECT_LT(processor_seconds() - before, 0.1) << r.shutdown.ns();
    }
}
