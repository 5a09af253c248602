// SPDX-License-Identifier: Apache-2.0
//
// Goal: how a system ends: through its coordinated shutdown, once, with everybody gone (EV-3,
// SV-5, UP-2).
#include <tactus/runtime/actor_system.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <future>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#include "pool_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::until;

namespace {

struct leave {};
class guest : public actor<leave, int> {
public:
    void on(leave) { context().stop(); }
    void on(int) {}
};
using list = std::vector<std::string>;

std::string how_of(const shutdown_result& r, std::string_view phase, std::size_t task) {
    for (const auto& p : r.phases) {
        if (p.name == phase && task < p.tasks.size())
            return name_of(p.tasks[task].how);
    }
    return "none";
}

}  // namespace

// C-CSD-16: a run terminates the system; terminate() is a run with its reason.
TEST(system_shutdown, EV_3_a_run_terminates_the_system) {
    std::atomic<bool> was_there{false};
    actor_system system{"demo"};
    (void)system.spawn<guest>("guest");
    system.shutdown().add_task(phases::before_actor_system_terminate, "look", [&] {
        was_there = static_cast<bool>(system.select("/user/guest")) && worker::current() == nullptr;
    });
    const shutdown_result all = system.shutdown().run({.name = "mine"}).get();
    EXPECT_TRUE(all.is_clean()) << all.text();
    EXPECT_TRUE(was_there.load());
    EXPECT_TRUE(system.wait(0s));
    EXPECT_EQ(system.shutdown().reason()->name, "mine");
    EXPECT_EQ(how_of(all, phases::actor_system_terminate, 0), "done");
}

TEST(system_shutdown, EV_3_terminate_is_a_run_with_its_reason) {
    actor_system system{"demo"};
    bool ran = false;
    system.shutdown().add_task(phases::service_stop, "task", [&] { ran = true; });
    EXPECT_TRUE(system.terminate_and_wait(10s));
    EXPECT_TRUE(ran);
    EXPECT_EQ(system.shutdown().reason()->name, "system_terminate");
    EXPECT_EQ(system.exit_code(), 0);
    system.terminate();  // again is no fault
    // C-CSD-17: what belongs to a system that has ended can still be asked.
    EXPECT_TRUE(system.shutdown().run({}).get().is_clean());
}

// C-CSD-16: or not, when that is not asked for.
TEST(system_shutdown, EV_3_terminate_leaves_the_shutdown_alone_if_told_so) {
    bool ran = false;
    actor_system system("demo", {.shutdown = {.run_by_terminate = false}});
    system.shutdown().add_task(phases::service_stop, "task", [&] { ran = true; });
    EXPECT_TRUE(system.terminate_and_wait(10s));
    EXPECT_FALSE(ran);
    EXPECT_FALSE(system.shutdown().reason());
    EXPECT_THROW(actor_system("demo", {.shutdown = {.terminate_system = false}}),
                 std::invalid_argument);
}

// PK-CSD-8: a run that leaves the actors alone, by the options or by its reason.
TEST(system_shutdown, EV_3_a_run_that_leaves_the_actors_alone) {
    for (const bool by_reason : {true, false}) {
        actor_system system(
            "demo", {.shutdown = {.run_by_terminate = by_reason, .terminate_system = by_reason}});
        auto a = system.spawn<guest>("guest");
        shutdown_reason why{.name = "rehearsal"};
        if (by_reason)
            why.terminate_system = false;
        EXPECT_TRUE(system.shutdown().run(why).get().is_clean());
        EXPECT_FALSE(system.wait(0s));
        EXPECT_TRUE(a.try_tell(1).has_value());
        EXPECT_TRUE(system.terminate_and_wait(10s));
    }
}

// C-CSD-11, UP-2: a shutdown that fails on its way leaves the actors to the destructor.
TEST(system_shutdown, UP_2_the_destructor_ends_what_a_failed_shutdown_left) {
    actor_ref<leave, int> a;
    {
        auto phases = default_shutdown_phases();
        phases[0].recover = false;
        actor_system system("demo", {.shutdown = {.phases = phases}});
        a = system.spawn<guest>("guest");
        system.shutdown().add_task(phases[0].name, "fails", [] { throw std::runtime_error("x"); });
        EXPECT_FALSE(system.shutdown().run({}).get().completed());
        EXPECT_FALSE(system.wait(0s));
    }
    EXPECT_FALSE(a.try_tell(1).has_value());
}

// UP-2: the destructor waits for tasks as long as they may take, and for the actors for its limit.
TEST(system_shutdown, UP_2_the_destructor_runs_the_tasks) {
    bool ran = false;
    {
        actor_system system("demo", {.shutdown_limit = 5s});
        (void)system.spawn<guest>("guest");
        system.shutdown().add_task(phases::service_stop, "slow", [&] {
            std::this_thread::sleep_for(50ms);
            ran = true;
        });
    }
    EXPECT_TRUE(ran);
}

// C-CSD-18: with a message, without, dead already, twice in one phase, in two phases.
TEST(system_shutdown, EV_3_actor_termination_tasks) {
    actor_system system{"demo"};
    auto told = system.spawn<guest>("told");
    auto alone = system.spawn<guest>("alone");
    auto dead = system.spawn<guest>("dead");
    auto twice = system.spawn<guest>("twice");
    auto both = system.spawn<guest>("both");
    dead.tell(leave{});
    ASSERT_TRUE(until([&] { return !system.select("/user/dead"); }));
    const auto stop = phases::service_stop;
    const auto later = phases::cluster_leave;
    system.add_actor_termination_task(stop, "told", told, leave{});
    system.add_actor_termination_task(stop, "alone", alone);
    system.add_actor_termination_task(stop, "dead", dead, leave{});
    system.add_actor_termination_task(stop, "twice", twice, leave{});
    system.add_actor_termination_task(stop, "twice", twice, leave{});
    system.add_actor_termination_task(stop, "both", both, poison_pill{});
    system.add_actor_termination_task(later, "both", both, poison_pill{});
    system.shutdown().add_task(stop, "somebody", [&] { alone.tell(leave{}); });
    bool gone = false;
    system.shutdown().add_task(later, "look", [&] {
        gone = !told.try_tell(1) && !alone.try_tell(1) && !twice.try_tell(1) && !both.try_tell(1);
    });
    const shutdown_result all = system.shutdown().run({}).get();
    EXPECT_TRUE(all.is_clean()) << all.text();
    EXPECT_TRUE(gone);
}

TEST(system_shutdown, EV_3_an_actor_that_stays_times_out) {
    auto phases = default_shutdown_phases();
    phases[3].timeout = 50ms;
    actor_system system("demo", {.shutdown = {.phases = phases}});
    auto stays = system.spawn<guest>("stays");
    system.add_actor_termination_task(phases[3].name, "stays", stays);
    const shutdown_result all = system.shutdown().run({}).get();
    EXPECT_EQ(how_of(all, phases[3].name, 0), "timed_out");
    EXPECT_TRUE(system.wait(0s));
}

// C-SYS-2, PK-CSD-10: callbacks in reverse order, once; afterwards they are refused.
TEST(system_shutdown, EV_3_callbacks_are_called_in_reverse) {
    for (const bool coordinated : {true, false}) {
        list called;
        actor_system system("demo", {.shutdown = {.run_by_terminate = coordinated}});
        for (const char* name : {"1", "2", "3"})
            EXPECT_TRUE(system.on_terminated([&called, name] { called.emplace_back(name); }));
        EXPECT_TRUE(system.on_terminated([] { throw std::runtime_error("ignored"); }));
        EXPECT_TRUE(called.empty());
        EXPECT_TRUE(system.terminate_and_wait(10s));
        EXPECT_EQ(called, (list{"3", "2", "1"}));
        EXPECT_FALSE(system.on_terminated([] {}));
    }
}

// C-SYS-2: who registers while it ends is refused, or called: exactly one of them.
TEST(system_shutdown, EV_3_callbacks_during_the_end) {
    std::atomic<int> taken{0};
    std::atomic<int> called{0};
    {
        actor_system system{"demo"};
        std::vector<std::jthread> threads;
        for (int t = 0; t < 3; ++t)
            threads.emplace_back([&] {
                for (int i = 0; i < 100'000; ++i) {
                    if (!system.on_terminated([&] { ++called; }))
                        return;
                    ++taken;
                }
            });
        EXPECT_TRUE(system.terminate_and_wait(60s));
    }
    EXPECT_EQ(called.load(), taken.load());
}

// C-SYS-4: spawning begins to fail, goes on failing, and leaves nobody alive.
TEST(system_shutdown, UP_2_spawning_fails_from_some_point_on) {
    std::atomic<int> made{0};
    std::atomic<int> ended{0};
    std::atomic<int> after_failure{0};
    std::atomic<int> wrong{0};
    class counted : public actor<int> {
    public:
        explicit counted(std::atomic<int>* ended) : ended_(ended) {}
        void on(int) {}
        void post_stop() { ++*ended_; }

    private:
        std::atomic<int>* ended_;
    };
    {
        actor_system system{"demo"};
        std::vector<std::jthread> threads;
        for (int t = 0; t < 3; ++t)
            threads.emplace_back([&] {
                int failures = 0;
                while (failures < 50) {
                    const auto one = system.try_spawn<counted>({}, {}, &ended);
                    made += one ? 1 : 0;
                    after_failure += one && failures != 0 ? 1 : 0;
                    failures += one ? 0 : 1;
                    wrong += !one && one.error().what != spawn_error::kind::shutting_down ? 1 : 0;
                }
            });
        ASSERT_TRUE(until([&] { return made > 500; }));
        EXPECT_TRUE(system.terminate_and_wait(60s));
    }
    EXPECT_EQ(after_failure.load(), 0);
    EXPECT_EQ(wrong.load(), 0);
    EXPECT_EQ(ended.load(), made.load());
}

// SV-5: a failure that ends the system is a reason, with a code; the tasks run.
TEST(system_shutdown, SV_5_a_failed_guardian_runs_the_shutdown) {
    class fails : public actor<int> {
    public:
        void on(int) { throw std::runtime_error("beyond repair"); }
    };
    std::atomic<bool> ran{false};
    actor_system system("demo", {.guardian_strategy = {.decider = [](const failure_cause&) {
                                     return directive::escalate;
                                 }}});
    system.shutdown().add_task(phases::service_stop, "task", [&] { ran = true; });
    system.spawn<fails>("a").tell(1);
    EXPECT_TRUE(system.wait(10s));
    ASSERT_TRUE(until([&] { return system.shutdown().reason().has_value(); }));
    EXPECT_TRUE(system.shutdown().run({}).get().completed());
    EXPECT_EQ(system.shutdown().reason()->name, "guardian_failed");
    EXPECT_TRUE(ran.load());
    EXPECT_EQ(system.exit_code(), 70);
}

// UP-1: terminate() from within an actor, which does not wait for itself.
TEST(system_shutdown, UP_1_an_actor_may_end_the_system) {
    class ender : public actor<actor_system*> {
    public:
        void on(actor_system* s) { s->terminate(); }
    };
    actor_system system{"demo"};
    system.spawn<ender>("ender").tell(&system);
    EXPECT_TRUE(system.wait(10s));
}

#if !defined(TACTUS_TEST_SANITIZED)
namespace {

/// No room for the stack of another thread.
void refuse_threads() {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t size = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + (2U << 20U);
    const rlimit limit{size, size};
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
    try {
        std::thread([] {}).join();
        FAIL() << "there is a thread all the same";
    } catch (const std::system_error&) {
    }
}
[[noreturn]] void end_without_another_thread() {
    actor_system system("demo", {.shutdown = {.run_by_terminate = false}});
    std::atomic<bool> called{false};
    system.on_terminated([&] { called = true; });
    refuse_threads();
    system.terminate();
    const bool ended = system.wait(10s);
    std::fputs(ended && called ? "ended\n" : "not ended\n", stderr);
    ::_exit(ended && called ? 0 : 1);
}

}  // namespace

// DF-17:
// A std::thread was made in a noexcept function when a system ended.
TEST(system_shutdown_death, DF_17_a_system_ends_when_there_are_no_more_threads) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(end_without_another_thread(), ::testing::ExitedWithCode(0), "^ended");
}
#endif
