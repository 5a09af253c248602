// SPDX-License-Identifier: Apache-2.0
//
// Goal: records arrive as lines with their fields, in order, and those that do not are counted
// (EV-4).
#include <tactus/runtime/spdlog_sink.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <unistd.h>

using tactus::log_level;
using tactus::logger;
using tactus::runtime::spdlog_sink;

namespace {

/// A file of this process, gone with the object.
class log_file {
public:
    log_file() { std::remove(path.c_str()); }
    ~log_file() { std::remove(path.c_str()); }
    log_file(const log_file&) = delete;
    log_file& operator=(const log_file&) = delete;

    [[nodiscard]] std::vector<std::string> lines() const {
        std::vector<std::string> all;
        std::ifstream in(path);
        for (std::string line; std::getline(in, line);)
            all.push_back(line);
        return all;
    }

    const std::string path = "spdlog_sink_test." + std::to_string(getpid()) + ".log";
};

/// Behind the time of day.
std::string after_time(const std::string& line) {
    std::smatch found;
    static const std::regex form(R"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} (.*))");
    return std::regex_match(line, found, form) ? found[1].str() : "no time: " + line;
}

}  // namespace

// EV-4: path and dispatcher are fields of the line; what there is none of is not named.
TEST(spdlog_sink, EV_4_a_line_has_the_fields) {
    const log_file file;
    {
        auto sink = spdlog_sink::create({.file = file.path});
        ASSERT_TRUE(sink.has_value()) << sink.error();
        logger log({.sink = sink->get(), .level = log_level::debug});
        log.write(log_level::error, "first",
                  {.actor = "/user/a", .dispatcher = "files", .thread = "t1"});
        log.write(log_level::warning, "second", {.actor = "/user/a", .thread = "t1"});
        log.write(log_level::info, "third", {.dispatcher = "files", .thread = "t1"});
        log.write(log_level::debug, "fo{}rth %v", {.thread = "t1"});
        EXPECT_EQ((*sink)->lost(), 0u);
    }
    const auto lines = file.lines();
    ASSERT_EQ(lines.size(), 4u);
    EXPECT_EQ(after_time(lines[0]), "error actor=/user/a dispatcher=files thread=t1 first");
    EXPECT_EQ(after_time(lines[1]), "warning actor=/user/a thread=t1 second");
    EXPECT_EQ(after_time(lines[2]), "info dispatcher=files thread=t1 third");
    EXPECT_EQ(after_time(lines[3]), "debug thread=t1 fo{}rth %v");
}

// EV-4: who does not say its thread is named by the system.
TEST(spdlog_sink, EV_4_the_thread_is_found) {
    const log_file file;
    {
        auto sink = spdlog_sink::create({.file = file.path});
        ASSERT_TRUE(sink.has_value()) << sink.error();
        std::jthread([&] {
            pthread_setname_np(pthread_self(), "shop-files-1");
            (*sink)->write({.level = log_level::info, .text = "text"});
        });
    }
    ASSERT_EQ(file.lines().size(), 1u);
    EXPECT_EQ(after_time(file.lines()[0]), "info thread=shop-files-1 text");
}

// EV-4: a record is one line, so nobody writes lines of others.
TEST(spdlog_sink, EV_4_a_record_is_one_line) {
    const log_file file;
    {
        auto sink = spdlog_sink::create({.file = file.path});
        ASSERT_TRUE(sink.has_value()) << sink.error();
        (*sink)->write({.text = "a\nb\r\x1b[0m\tc\x7f \xc3\xa4", .from = {.thread = "t1"}});
    }
    ASSERT_EQ(file.lines().size(), 1u);
    EXPECT_EQ(after_time(file.lines()[0]), "info thread=t1 a\\nb\\x0d\\x1b[0m\tc\\x7f \xc3\xa4");
}

// EV-4: what is queued is written before the sink ends; threads keep their own order.
TEST(spdlog_sink, EV_4_the_end_writes_what_is_queued) {
    const log_file file;
    constexpr int thread_count = 3;
    constexpr int count = 1'000;
    {
        auto sink = spdlog_sink::create({.file = file.path, .queue_capacity = 3 * count});
        ASSERT_TRUE(sink.has_value()) << sink.error();
        logger log({.sink = sink->get()});
        std::vector<std::jthread> threads;
        for (int t = 0; t < thread_count; ++t)
            threads.emplace_back([&log, t] {
                for (int n = 0; n < count; ++n)
                    log.write(log_level::info, std::to_string(n),
                              {.actor = std::string(1, static_cast<char>('0' + t)), .thread = "t"});
            });
        threads.clear();
        EXPECT_EQ((*sink)->lost(), 0u);
    }
    const auto lines = file.lines();
    EXPECT_EQ(lines.size(), std::size_t{thread_count * count});
    int next[thread_count] = {};
    for (const std::string& line : lines) {
        int thread = -1;
        int number = -1;
        ASSERT_EQ(
            std::sscanf(after_time(line).c_str(), "info actor=%d thread=t %d", &thread, &number), 2)
            << line;
        ASSERT_TRUE(thread >= 0 && thread < thread_count);
        EXPECT_EQ(number, next[thread]++);
    }
}

// EV-4: a full queue loses its oldest, and says at the end how many; or makes the writer wait.
TEST(spdlog_sink, EV_4_a_full_queue_drops_the_oldest_or_waits) {
    constexpr int count = 20'000;
    for (const auto full : {spdlog_sink::when_full::drop_oldest, spdlog_sink::when_full::wait}) {
        const log_file file;
        std::uint64_t lost = 0;
        {
            auto sink = spdlog_sink::create({.file = file.path, .queue_capacity = 4, .full = full});
            ASSERT_TRUE(sink.has_value()) << sink.error();
            for (int n = 1; n <= count; ++n)
                (*sink)->write({.text = std::to_string(n), .from = {.thread = "t"}});
            lost = (*sink)->lost();
        }
        auto lines = file.lines();
        if (full == spdlog_sink::when_full::wait) {
            EXPECT_EQ(lost, 0u);
        } else {
            ASSERT_GT(lost, 0u);  // four places, and a disk
            EXPECT_EQ(after_time(lines.back()),
                      "warning " + std::to_string(lost) + " log records were lost");
            lines.pop_back();
        }
        EXPECT_EQ(lines.size() + lost, std::uint64_t{count});
        EXPECT_EQ(after_time(lines.back()), "info thread=t " + std::to_string(count));
    }
}

// EV-4: a file that cannot be opened is an error with a text, and one that cannot be written to is
// counted.
TEST(spdlog_sink, EV_4_files_that_cannot_be_written) {
    const auto none = spdlog_sink::create({.file = "/proc/no/such/file"});
    ASSERT_FALSE(none.has_value());
    EXPECT_TRUE(none.error().starts_with("no log can be written: ")) << none.error();
    EXPECT_NE(none.error().find("/proc/no/such/file"), std::string::npos) << none.error();

    auto full = spdlog_sink::create({.file = "/dev/full"});
    ASSERT_TRUE(full.has_value()) << full.error();
    (*full)->write({.level = log_level::error, .text = "text"});
    for (int i = 0; i < 10'000 && (*full)->lost() == 0; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ((*full)->lost(), 1u);
}

// UP-7: signals are for the program's threads.
TEST(spdlog_sink, UP_7_its_thread_takes_no_signals) {
    const log_file file;
    auto sink = spdlog_sink::create({.file = file.path});
    ASSERT_TRUE(sink.has_value()) << sink.error();
    std::uint64_t blocked = 0;
    // The name is set by the thread itself, a moment after it started.
    for (int i = 0; i < 10'000 && blocked == 0; ++i) {
        for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
            std::string name;
            if (!std::getline(std::ifstream(task.path() / "comm"), name) || name != "tactus-log")
                continue;
            std::ifstream status(task.path() / "status");
            for (std::string line; std::getline(status, line);) {
                if (line.starts_with("SigBlk:"))
                    blocked = std::stoull(line.substr(7), nullptr, 16);
            }
        }
    }
    for (const int signal : {SIGTERM, SIGINT, SIGUSR1})
        EXPECT_NE(blocked & (std::uint64_t{1} << (signal - 1)), 0u) << signal;
}
