// SPDX-License-Identifier: Apache-2.0
//
// Goal: SIGTERM and SIGINT end a system in phases where that is asked for, the second one at once;
// otherwise and afterwards they are what they were (EV-3, UP-7).
#include <tactus/runtime/actor_system.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <semaphore>
#include <thread>

#include <sys/types.h>
#include <unistd.h>

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;

namespace {

bool is_default(int number) {
    struct sigaction now = {};
    sigaction(number, nullptr, &now);
    return now.sa_handler == SIG_DFL;
}
void signal_process(int number) {
    ::kill(::getpid(), number);
}

}  // namespace

// C-CSD-17: nobody watches unless asked for; several systems may; none is left afterwards.
TEST(shutdown_signals, EV_3_signals_are_left_alone_unless_asked_for) {
    {
        actor_system system{"demo"};
        EXPECT_TRUE(is_default(SIGTERM) && is_default(SIGINT));
    }
    auto first =
        std::make_unique<actor_system>("a", actor_system::options{.shutdown_on_signals = true});
    auto second =
        std::make_unique<actor_system>("b", actor_system::options{.shutdown_on_signals = true});
    EXPECT_FALSE(is_default(SIGTERM) || is_default(SIGINT));
    first.reset();
    EXPECT_FALSE(is_default(SIGTERM));
    // A shutdown that is over has no use for them.
    (void)second->shutdown().run({}).get();
    EXPECT_TRUE(second->wait(10s));
    second.reset();
    EXPECT_TRUE(is_default(SIGTERM) && is_default(SIGINT));
    // And without the shutdown's help.
    {
        actor_system third("c",
                           {.shutdown = {.run_by_terminate = false}, .shutdown_on_signals = true});
        EXPECT_FALSE(is_default(SIGTERM));
    }
    EXPECT_TRUE(is_default(SIGTERM));
}

// EV-3, UP-7: whichever thread the signal comes to, the tasks run on none that handles it.
TEST(shutdown_signals, EV_3_the_first_signal_runs_the_shutdown) {
    for (const int number : {SIGTERM, SIGINT}) {
        actor_system a("a", {.shutdown_on_signals = true});
        actor_system b("b", {.shutdown_on_signals = true});
        bool on_shutdown_thread = false;
        a.shutdown().add_task(phases::service_stop, "task", [&] {
            sigset_t blocked;
            pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
            on_shutdown_thread = sigismember(&blocked, number) == 1;
        });
        signal_process(number);
        EXPECT_TRUE(a.wait(10s));
        EXPECT_TRUE(b.wait(10s));
        EXPECT_TRUE(on_shutdown_thread);
        EXPECT_EQ(a.shutdown().reason()->name, number == SIGTERM ? "SIGTERM" : "SIGINT");
        EXPECT_EQ(b.shutdown().reason()->name, number == SIGTERM ? "SIGTERM" : "SIGINT");
        EXPECT_EQ(a.exit_code(), 0);
    }
}

namespace {

/// A program whose shutdown hangs in a task.
[[noreturn]] void hang_and_get(int number, int then, std::chrono::milliseconds wait) {
    actor_system system("demo", {.shutdown_on_signals = true});
    std::binary_semaphore hangs(0);
    std::binary_semaphore never(0);
    system.shutdown().add_task(phases::service_stop, "hangs", [&] {
        hangs.release();
        never.acquire();
    });
    signal_process(number);
    hangs.acquire();
    std::fputs("hangs\n", stderr);
    std::this_thread::sleep_for(wait);
    signal_process(then);
    std::this_thread::sleep_for(30s);
    ::_exit(1);
}
/// One that ends its process itself.
[[noreturn]] void exit_when_signalled(int times) {
    actor_system system("demo",
                        {.shutdown = {.exit = true, .exit_code = 3}, .shutdown_on_signals = true});
    system.shutdown().add_task(phases::service_stop, "says so",
                               [] { std::fputs("the task ran\n", stderr); });
    for (int i = 0; i < times; ++i)
        signal_process(SIGTERM);
    std::this_thread::sleep_for(30s);
    ::_exit(1);
}

}  // namespace

// EV-3: whoever asks twice does not want to wait.
TEST(shutdown_signals_death, EV_3_the_second_signal_ends_the_process_at_once) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(hang_and_get(SIGTERM, SIGTERM, 200ms), ::testing::ExitedWithCode(128 + SIGTERM),
                "hangs");
    EXPECT_EXIT(hang_and_get(SIGTERM, SIGINT, 0ms), ::testing::ExitedWithCode(128 + SIGINT),
                "hangs");
}

// C-CSD-15, PK-CSD-8: the process ends with the code, if asked for.
TEST(shutdown_signals_death, EV_3_a_shutdown_may_end_the_process) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(exit_when_signalled(1), ::testing::ExitedWithCode(3), "the task ran");
}

// DF-38:
// timeout(1) signals its child and then the process group: a program in that group gets two.
TEST(shutdown_signals_death, DF_38_the_same_signal_twice_at_once_is_one) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(exit_when_signalled(2), ::testing::ExitedWithCode(3), "the task ran");
}
