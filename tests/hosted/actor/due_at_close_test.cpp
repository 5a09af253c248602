// SPDX-License-Identifier: Apache-2.0
//
// Goal: what is due when the scheduler of a system closes runs before the executors end (SH-1,
// SH-5).
// Method: a clock that stands still until the test moves it, by more than workers sleep, and a
// driver that does nothing: only the close sees that functions are due.
#include <tactus/runtime/actor_system.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include <tactus/scheduler/scheduler.hpp>

#include "still_time.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::stalled_driver;
using tactus_test::still_clock;

namespace {

/// How many of 100 functions ran that were due at the close, on a dispatcher of this kind; the
/// first one has threads of its own.
int ran_at_close(executor_kind kind) {
    std::atomic<int> ran{0};
    still_clock time;
    stalled_driver driver;
    std::optional<actor_system> ends(
        std::in_place, "ends",
        actor_system::options{.dispatcher = {.workers = 1, .max_workers = 1},
                              .tools = {.time = &time, .driver = &driver},
                              .log_level = log_level::off});
    actor_system& system = *ends;
    std::uint32_t where = 0;
    if (kind != executor_kind::system_default) {
        const auto made = system.dispatchers().add(
            {.id = "other", .config = {.executor = kind, .workers = 1, .max_workers = 1}});
        EXPECT_TRUE(made);
        where = made->number();
    }
    for (int i = 0; i < 100; ++i) {
        const auto made = system.scheduler().schedule_once_fn(
            duration::from_s(3'600),
            [&ran](const execution_batch&) {
                std::this_thread::sleep_for(1ms);
                ++ran;
            },
            static_cast<std::uint16_t>(where));
        EXPECT_TRUE(made);
    }
    time.advance(duration::from_s(2 * 3'600));
    ends.reset();
    return ran.load();
}

}  // namespace

// SH-1, SH-5: whoever runs them.
TEST(due_at_close, SH_1_functions_that_are_due_run_before_the_executors_end) {
    EXPECT_EQ(ran_at_close(executor_kind::system_default), 100);
    EXPECT_EQ(ran_at_close(executor_kind::thread_pool), 100);
    EXPECT_EQ(ran_at_close(executor_kind::pinned), 100);
    EXPECT_EQ(ran_at_close(executor_kind::calling_thread), 100);
    EXPECT_EQ(ran_at_close(executor_kind::inline_tick), 100);
}

namespace {

/// A message whose end takes its time.
struct slow_to_end {
    explicit slow_to_end(std::chrono::milliseconds t) : takes(t) {}
    slow_to_end(slow_to_end&& other) noexcept : takes(std::exchange(other.takes, 0ms)) {}
    slow_to_end& operator=(slow_to_end&&) = delete;
    ~slow_to_end() { std::this_thread::sleep_for(takes); }
    void operator()(const execution_batch&) const {}
    std::chrono::milliseconds takes;
};

}  // namespace

// SH-5: the tasks have shutdown_timeout for themselves, whatever the end of timers took.
TEST(due_at_close, SH_5_the_time_of_the_tasks_begins_with_them) {
    const auto done = std::make_shared<std::atomic<bool>>(false);  // one left behind has it, too
    actor_system system("ends", {.scheduler = {.shutdown_timeout = duration::from_ms(2'000)},
                                 .log_level = log_level::off});
    ASSERT_TRUE(system.scheduler().schedule_once_fn(duration::from_s(3'600), slow_to_end(1'600ms)));
    ASSERT_TRUE(system.register_on_close(
        [done] {
            std::this_thread::sleep_for(700ms);
            *done = true;
        },
        "slow"));
    system.terminate();
    ASSERT_TRUE(system.wait(60s));
    EXPECT_EQ(system.scheduler().shutdown_progress().still_running, 0u);
    EXPECT_EQ(system.scheduler().shutdown_progress().succeeded, 1u);
    EXPECT_TRUE(done->load());
}
