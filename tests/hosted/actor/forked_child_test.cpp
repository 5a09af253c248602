// SPDX-License-Identifier: Apache-2.0
//
// Goal: in a forked child no call on the parent's system hangs or sends anything; each says so
// where it can, and the parent goes on (DF-52, UP-7).
// Method: real forks, repeated while workers and other threads keep every lock of the system busy;
// the child reports through its exit status, and is killed after a limit.
#include <tactus/runtime/actor_system.hpp>

#include <tactus/dispatch/system_table.hpp>
#include <tactus/runtime/ask_future.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;

namespace {

// In a child that ends by exit(): what only threads of the parent point to looks like a leak there.
bool leaks_are_the_parents = false;

}  // namespace

/// Called by LeakSanitizer at the end of a process.
extern "C" int __lsan_is_turned_off();  // NOLINT(bugprone-reserved-identifier): its name for it
extern "C" int __lsan_is_turned_off() {
    return leaks_are_the_parents ? 1 : 0;
}

namespace {

constexpr int forks = 60;  // as in the report of the defect

struct question {
    actor_ref<int> reply_to;
};
class echo : public actor<int, question> {
public:
    void on(int v) {
        if (v > 1'000)
            context().sender().tell(v);
    }
    void on(const question& q) { q.reply_to.tell(1); }
};

/// What a child ended with: its status, 1000 + a signal, or nothing when it had to be killed.
std::optional<int> end_of(pid_t child) {
    const auto limit = std::chrono::steady_clock::now() + 20s;
    int status = 0;
    for (;;) {
        const pid_t got = ::waitpid(child, &status, WNOHANG);
        if (got == child)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
        if (std::chrono::steady_clock::now() > limit)
            break;
        std::this_thread::sleep_for(1ms);
    }
    ::kill(child, SIGKILL);
    (void)::waitpid(child, &status, 0);
    return std::nullopt;
}
template <class F>
std::optional<int> in_child(F&& work) {
    const pid_t child = ::fork();
    if (child == 0)
        ::_exit(work());
    return end_of(child);
}

/// A system whose locks are held much of the time: threads that spawn, tell, ask for dumps and
/// stop, beside two busy workers.
class busy_system {
public:
    explicit busy_system(const char* name) : system(name, {.log_level = log_level::off}) {
        ref = system.spawn<echo>("echo");
        for (int i = 0; i < 2; ++i) {
            threads_.emplace_back([this] {
                while (!stop_.load(std::memory_order_relaxed)) {
                    for (int n = 0; n < 20; ++n)
                        ref.tell(0);
                    const auto made = system.try_spawn<echo>({}, {});
                    if (made)
                        (void)system.stop(any_ref(*made));
                    (void)system.path_of(any_ref(ref));
                }
            });
        }
    }
    ~busy_system() { end(); }
    void end() {
        stop_.store(true, std::memory_order_relaxed);
        for (std::thread& t : threads_) {
            if (::getpid() == made_in_)
                t.join();
            else
                t.detach();  // a thread of the parent's
        }
        threads_.clear();
    }
    /// The parent's system still works.
    [[nodiscard]] bool answers() {
        return system.ask<int>(ref, [](auto me) { return question{me}; }, 10s).has_value();
    }

    actor_system system;
    actor_ref<int, question> ref;

private:
    const pid_t made_in_ = ::getpid();
    std::atomic<bool> stop_{false};
    std::vector<std::thread> threads_;
};

/// Forks again and again; `work` gives 0 when everything was as it should be.
template <class F>
void expect_in_children(F&& work) {
    busy_system busy("forks");
    for (int i = 0; i < forks; ++i) {
        const auto status = in_child([&] { return work(busy.system, busy.ref); });
        ASSERT_TRUE(status.has_value()) << "the child of fork " << i << " hung";
        ASSERT_EQ(*status, 0) << "in the child of fork " << i;
    }
    busy.end();
    EXPECT_TRUE(busy.answers());
}

}  // namespace

TEST(forked_child, DF_52_UP_7_tell_does_nothing_and_is_counted) {
    expect_in_children([](actor_system&, const auto& ref) {
        const std::uint32_t before = system_table::refused_count();
        for (int i = 0; i < 1'000; ++i)
            ref.tell(1);
        return system_table::refused_count() - before == 1'000 ? 0 : 1;
    });
}

TEST(forked_child, DF_52_UP_7_try_tell_says_forked_child) {
    expect_in_children([](actor_system&, const auto& ref) {
        for (int i = 0; i < 100; ++i) {
            const auto told = ref.try_tell(i);
            if (told || told.error().why != sent::forked_child || told.error().message != i)
                return 1;
        }
        return 0;
    });
}

TEST(forked_child, DF_52_UP_7_spawn_is_refused) {
    expect_in_children([](actor_system& system, const auto&) {
        for (int i = 0; i < 100; ++i) {
            const auto made = system.try_spawn<echo>("late", {});
            if (made || made.error().what != spawn_error::kind::forked_child)
                return 1;
        }
        try {
            (void)system.spawn<echo>("later");
        } catch (const spawn_exception& e) {
            return std::string(e.what()).find("forked") != std::string::npos ? 0 : 2;
        }
        return 3;
    });
}

TEST(forked_child, DF_52_UP_7_asks_fail_at_once) {
    expect_in_children([](actor_system& system, const auto& ref) {
        const auto make = [](auto me) { return question{me}; };
        const auto begun = std::chrono::steady_clock::now();
        const auto answer = system.ask<int>(ref, make, 1h);
        if (answer || answer.error().what != ask_fault::forked_child)
            return 1;
        if (answer.error().text().find("forked") == std::string::npos)
            return 2;
        auto later = ask_future<int>(system, ref, make, 1h);
        const auto got = later.get();
        if (got || got.error().what != ask_fault::forked_child)
            return 3;
        const auto who = system.resolve(system.select("/user/echo"), 1h);
        if (who || who.error().what != ask_fault::forked_child)
            return 4;
        return std::chrono::steady_clock::now() - begun < 10s ? 0 : 5;
    });
}

TEST(forked_child, DF_52_UP_7_other_calls_return_at_once) {
    expect_in_children([](actor_system& system, const auto& ref) {
        if (system.stop(any_ref(ref)))
            return 1;
        if (system.graceful_stop(any_ref(ref), 1h))
            return 2;
        if (system.dump().find("forked") == std::string::npos)
            return 3;
        if (system.dump_scheduler().find("forked") == std::string::npos)
            return 4;
        if (!system.path_of(any_ref(ref)).empty())
            return 5;
        if (system.terminate_and_wait(1h))
            return 6;
        if (system.drain(1h).what != drain_report::outcome::forked_child)
            return 11;
        system.force_stop();
        if (system.on_terminated([] {}))
            return 7;
        const auto task = system.register_on_close([] {});
        if (task || task.error().code != scheduler_errc::closed)
            return 8;
        if (!system.failure_text().empty() || system.exit_code() != 0)
            return 9;
        if (system.name() != "forks")
            return 10;
        (void)system.info();
        return 0;
    });
}

// exit() runs the destructors of globals: that of the system returns, without its threads.
TEST(forked_child, DF_52_UP_7_exit_with_a_global_system) {
    // In a process of its own, which has no system when it is forked, so that it may make one.
    const auto status = in_child([] {
        static busy_system busy("global");
#if defined(TACTUS_TEST_SANITIZED)
        constexpr int exits = 5;  // ThreadSanitizer sleeps for a second in each exit()
#else
        constexpr int exits = forks;
#endif
        for (int i = 0; i < exits; ++i) {
            const pid_t child = ::fork();
            if (child == 0) {
                leaks_are_the_parents = true;
                std::exit(7);  // NOLINT(concurrency-mt-unsafe): that is the test
            }
            const auto ended = end_of(child);
            if (!ended)
                return 1;
            if (*ended != 7)
                return 2;
        }
        busy.end();
        return busy.answers() ? 0 : 3;
    });
    EXPECT_EQ(status, 0);
}

TEST(forked_child, DF_52_UP_7_exec_works) {
    busy_system busy("exec");
    for (int i = 0; i < forks; ++i) {
        const auto status = in_child([] {
            ::execl("/bin/sh", "sh", "-c", "exit 5", static_cast<char*>(nullptr));
            return 1;
        });
        ASSERT_EQ(status, 5);
    }
    EXPECT_TRUE(busy.answers());
}

TEST(forked_child, DF_52_UP_7_a_new_system_is_refused) {
    expect_in_children([](actor_system&, const auto&) {
        try {
            const actor_system another("another");
        } catch (const std::system_error& e) {
            if (e.code() != std::errc::operation_not_permitted)
                return 2;
            return std::string(e.what()).find("forked child") != std::string::npos ? 0 : 3;
        }
        return 1;
    });
}

// A daemon forks first: nothing of a system is left behind then.
TEST(forked_child, DF_52_UP_7_a_system_after_the_end_of_the_last_is_allowed) {
    {
        const actor_system first("first", {.log_level = log_level::off});
    }
    const auto status = in_child([] {
        actor_system second("second", {.log_level = log_level::off});
        const auto ref = second.spawn<echo>("echo");
        return second.ask<int>(ref, [](auto me) { return question{me}; }, 10s) ? 0 : 1;
    });
    EXPECT_EQ(status, 0);
}

namespace {

struct fork_here {
    actor_ref<int, question> other;
    actor_ref<int> reply_to;
};
/// Forks within its handler; tells the child's status.
class forker : public actor<fork_here> {
public:
    void on(const fork_here& m) {
        const auto status = in_child([&] {
            for (int i = 0; i < 1'000; ++i)
                m.other.tell(0);
            const auto told = m.other.try_tell(0);
            return !told && told.error().why == sent::forked_child ? 0 : 1;
        });
        m.reply_to.tell(status.value_or(-1));
    }
};

}  // namespace

TEST(forked_child, DF_52_UP_7_a_fork_within_a_handler) {
    busy_system busy("within");
    const auto who = busy.system.spawn<forker>("forker");
    for (int i = 0; i < 20; ++i) {
        const auto status =
            busy.system.ask<int>(who, [&](auto me) { return fork_here{busy.ref, me}; }, 60s);
        ASSERT_TRUE(status.has_value());
        ASSERT_EQ(*status, 0);
    }
}

// The pipe between the handler of signals and its thread is the parent's: a signal to the child is
// no signal to the parent.
TEST(forked_child, DF_52_UP_7_a_signal_to_the_child_is_not_the_parents) {
    actor_system system("signals", {.shutdown_on_signals = true, .log_level = log_level::off});
    const auto ref = system.spawn<echo>("echo");
    int ready[2] = {};
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        (void)!::write(ready[1], "x", 1);
        for (;;)
            ::pause();
    }
    char mark = 0;
    ASSERT_EQ(::read(ready[0], &mark, 1), 1);
    ::close(ready[0]);
    ::close(ready[1]);
    ::kill(child, SIGTERM);
    EXPECT_EQ(end_of(child), 1000 + SIGTERM);
    EXPECT_FALSE(system.wait(100ms)) << "the parent's system has ended";
    EXPECT_TRUE(system.ask<int>(ref, [](auto me) { return question{me}; }, 10s).has_value());
}

// A process may fork after its last system has ended. What was made for signals stays then, and is
// the parent's: a child that makes a system has its own.
TEST(forked_child, DF_52_UP_7_signals_of_a_child_that_makes_its_own_system) {
    const actor_system::options how{.shutdown_on_signals = true, .log_level = log_level::off};
    const auto status = in_child([&] {
        {
            actor_system before("before", how);
        }
        int ready[2] = {};
        if (::pipe(ready) != 0)
            return 1;
        const pid_t child = ::fork();
        if (child == 0) {
            actor_system own("own", how);
            (void)!::write(ready[1], "x", 1);
            ::_exit(own.wait(20s) ? 7 : 8);
        }
        actor_system own("own", how);
        char mark = 0;
        if (::read(ready[0], &mark, 1) != 1)
            return 2;
        ::kill(child, SIGTERM);
        if (end_of(child) != 7)
            return 3;
        return own.wait(100ms) ? 4 : 0;
    });
    EXPECT_EQ(status, 0);
}
