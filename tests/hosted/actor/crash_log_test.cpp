// SPDX-License-Identifier: Apache-2.0
//
// Goal: what was logged before the process ends by force is in the file, and the end is neither
// held up for long nor taken from the program's own handlers (DF-34).
// Method: child processes that log to a file and then end in each way.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tactus/base/check.hpp>
#include <tactus/runtime/actor_system.hpp>
#include <tactus/runtime/spdlog_sink.hpp>

#include "pool_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using runtime::spdlog_sink;

namespace {

constexpr int lines_count = 3'000;  // less than the queue holds

/// A file that the child inherits the name of.
class log_file {
public:
    explicit log_file(const char* name) : path(std::string("crash_log_test.") + name + ".log") {
        std::remove(path.c_str());
    }
    ~log_file() { std::remove(path.c_str()); }
    log_file(const log_file&) = delete;
    log_file& operator=(const log_file&) = delete;

    [[nodiscard]] int count() const {
        int n = 0;
        std::ifstream in(path);
        for (std::string line; std::getline(in, line);)
            n += line.ends_with("line " + std::to_string(n)) ? 1 : 0;
        return n;
    }

    const std::string path;
};

struct no_core {
    no_core() {
        const rlimit none{0, 0};
        setrlimit(RLIMIT_CORE, &none);
    }
};

struct die {
    void (*how)();
};
class mortal : public actor<die> {
public:
    void on(const die& m) { m.how(); }
};

using options = actor_system::options;

/// Logs, and dies on a worker or on this thread.
[[noreturn]] void log_and_die(const std::string& path, void (*how)(), bool on_worker,
                              options o = {}) {
    const no_core none;
    auto sink = spdlog_sink::create({.file = path});
    if (!sink)
        ::_exit(90);
    o.tools.log = sink->get();
    actor_system system("demo", o);
    const auto who = system.spawn<mortal>("mortal");
    for (int i = 0; i < lines_count; ++i)
        system.log().write(log_level::info, "line " + std::to_string(i));
    if (on_worker)
        who.tell(die{how});
    else
        how();
    std::this_thread::sleep_for(60s);
    ::_exit(91);
}

void fail_a_check() {
    fatal("crash_log_test", 1);
}
void end_by_terminate() {
    std::terminate();
}
void end_by_abort() {
    std::abort();
}
void send_segv() {
    (void)std::raise(SIGSEGV);
}
void send_bus() {
    (void)std::raise(SIGBUS);
}
void send_ill() {
    (void)std::raise(SIGILL);
}
void send_fpe() {
    (void)std::raise(SIGFPE);
}
void touch_nothing() {
    const char* volatile nowhere = nullptr;
    *const_cast<volatile char*>(nowhere) = 1;  // NOLINT: this is what is tested
}

bool is_default(int number) {
    struct sigaction now = {};
    sigaction(number, nullptr, &now);
    return (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL;
}

void own_handler(int) {
    ::_exit(7);
}
[[noreturn]] void own_terminate() {
    ::_exit(8);
}

}  // namespace

TEST(crash_log_death_test, DF_34_lines_are_in_the_file_however_the_process_ends) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    struct row {
        const char* name;
        void (*how)();
        int signal;
    };
    constexpr row table[] = {
        {"check", fail_a_check, SIGABRT}, {"terminate", end_by_terminate, SIGABRT},
        {"abort", end_by_abort, SIGABRT}, {"segv", send_segv, SIGSEGV},
        {"null", touch_nothing, SIGSEGV}, {"bus", send_bus, SIGBUS},
        {"ill", send_ill, SIGILL},        {"fpe", send_fpe, SIGFPE},
    };
    for (const row& r : table) {
        // Sanitizers have handlers of their own, which are left alone.
        if (!is_default(r.signal))
            continue;
        for (const bool on_worker : {true, false}) {
            SCOPED_TRACE(std::string(r.name) + (on_worker ? " on a worker" : " on main"));
            const log_file file(r.name);
            EXPECT_EXIT(log_and_die(file.path, r.how, on_worker),
                        ::testing::KilledBySignal(r.signal), "");
            EXPECT_EQ(file.count(), lines_count);
        }
    }
}

// The handler that was there is called when the lines are written.
TEST(crash_log_death_test, DF_34_the_programs_terminate_handler_has_its_turn) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const log_file file("own_terminate");
    const auto run = [&] {
        std::set_terminate(own_terminate);
        log_and_die(file.path, end_by_terminate, true);
    };
    EXPECT_EXIT(run(), ::testing::ExitedWithCode(8), "");
    EXPECT_EQ(file.count(), lines_count);
}

TEST(crash_log_death_test, DF_34_a_handler_of_the_program_is_left_alone) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const log_file file("own_handler");
    const auto run = [&] {
        std::signal(SIGBUS, own_handler);
        log_and_die(file.path, send_bus, true);
    };
    EXPECT_EXIT(run(), ::testing::ExitedWithCode(7), "");
}

// A log that cannot be written, here because nothing reads the pipe, holds up the end for a bounded
// time.
TEST(crash_log_death_test, DF_34_a_log_that_hangs_does_not_keep_the_process) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const log_file file("hangs");
    ASSERT_EQ(::mkfifo(file.path.c_str(), 0600), 0);
    const int held_open = ::open(file.path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    ASSERT_GE(held_open, 0);
    EXPECT_EXIT(log_and_die(file.path, end_by_abort, true), ::testing::KilledBySignal(SIGABRT), "");
    ::close(held_open);
}

namespace {

/// The log's own thread is the one that dies.
[[noreturn]] void die_in_the_log(const std::string& path) {
    const no_core none;
    auto sink = spdlog_sink::create({.file = path});
    if (!sink)
        ::_exit(90);
    actor_system system("demo", {.tools = {.log = sink->get()}});
    const auto of_log = [] {
        for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
            std::string name;
            std::ifstream in(task.path() / "comm");
            if (std::getline(in, name) && name == "tactus-log")
                return std::stoi(task.path().filename().string());
        }
        return 0;
    };
    int thread = 0;
    while ((thread = of_log()) == 0)
        std::this_thread::sleep_for(1ms);
    system.log().write(log_level::info, "line 0");
    (void)::tgkill(::getpid(), thread, SIGILL);
    std::this_thread::sleep_for(60s);
    ::_exit(91);
}

}  // namespace

TEST(crash_log_death_test, DF_34_a_crash_in_the_log_itself_ends_the_process) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    if (!is_default(SIGILL))
        GTEST_SKIP() << "a sanitizer handles it";
    const log_file file("in_log");
    EXPECT_EXIT(die_in_the_log(file.path), ::testing::KilledBySignal(SIGILL), "");
}

// Afterwards, and where they are refused, handlers are what they were.
TEST(crash_log, DF_34_handlers_can_be_refused_and_are_taken_back) {
    constexpr int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    bool before[std::size(numbers)] = {};
    for (std::size_t i = 0; i < std::size(numbers); ++i)
        before[i] = is_default(numbers[i]);
    const auto terminate_before = std::get_terminate();
    const auto all_as_before = [&] {
        for (std::size_t i = 0; i < std::size(numbers); ++i) {
            if (is_default(numbers[i]) != before[i])
                return false;
        }
        return std::get_terminate() == terminate_before;
    };
    {
        actor_system system("refuses",
                            {.flush_on_terminate = false, .flush_on_fatal_signals = false});
        EXPECT_TRUE(all_as_before());
    }
    {
        actor_system first("a");
        EXPECT_FALSE(is_default(SIGABRT));
        EXPECT_NE(std::get_terminate(), terminate_before);
        {
            actor_system second("b");
        }
        EXPECT_FALSE(is_default(SIGABRT));
    }
    EXPECT_TRUE(all_as_before());
    {
        actor_system again("c", {.flush_on_fatal_signals = false});
        EXPECT_TRUE(is_default(SIGABRT) == before[4]);
        EXPECT_NE(std::get_terminate(), terminate_before);
    }
    EXPECT_TRUE(all_as_before());
}
