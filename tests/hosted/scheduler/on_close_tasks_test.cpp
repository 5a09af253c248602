// SPDX-License-Identifier: Apache-2.0
//
// On-close tasks on the host: what throws, and registering that races with closing.
#include <tactus/scheduler/on_close_tasks.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>

#include <tactus/dispatch/arena.hpp>

namespace tactus {
namespace {

constexpr auto user = close_priority::user;

class still_clock final : public clock {
public:
    [[nodiscard]] instant now() const noexcept override { return instant::epoch(); }
    [[nodiscard]] clock_kind kind() const noexcept override { return clock_kind::deterministic; }
};

struct test_arena {
    std::unique_ptr<std::byte[]> bytes = std::make_unique<std::byte[]>(400'000);
    arena memory{{bytes.get(), 400'000}};
};

// C-SCH-37, TC-S34
TEST(on_close_tasks_hosted, a_task_that_throws_is_caught_and_the_next_one_runs) {
    test_arena a;
    on_close_tasks tasks(a.memory, 8);
    bool ran = false;
    ASSERT_TRUE(tasks.add([] { throw std::runtime_error("broken"); }, user));
    ASSERT_TRUE(tasks.add([&] { ran = true; }, user));
    const close_report report = tasks.run(still_clock(), 1_s, nullptr);
    EXPECT_EQ(report.failed, 1u);
    EXPECT_EQ(report.succeeded, 1u);
    EXPECT_TRUE(ran);
}

// C-SCH-17, C-SCH-11, SH-4: as many run as were accepted, and afterwards 200 in a row are refused.
TEST(on_close_tasks_hosted, what_was_accepted_runs_exactly_once_when_closing_races) {
    for (int round = 0; round < 60; ++round) {
        test_arena a;
        on_close_tasks tasks(a.memory, round % 2 == 0 ? 1'024 : scheduler_capacity::unlimited);
        std::atomic<unsigned> accepted{0};
        std::atomic<unsigned> ran{0};
        std::atomic<unsigned> cancelled{0};
        std::atomic<bool> go{false};
        std::jthread producer([&] {
            while (!go.load())
                std::this_thread::yield();
            for (int refused = 0; refused < 200;) {
                const auto one = tasks.add([&ran] { ran.fetch_add(1); }, user);
                if (!one) {
                    ++refused;
                    continue;
                }
                refused = 0;
                accepted.fetch_add(1);
                if (accepted.load() % 5 == 0 && tasks.cancel(*one))
                    cancelled.fetch_add(1);
            }
        });
        go = true;
        for (int i = 0; i < round % 7; ++i)
            std::this_thread::yield();
        const close_report report = tasks.run(still_clock(), 1_s, nullptr);
        producer.join();
        ASSERT_EQ(report.succeeded, ran.load()) << round;
        ASSERT_EQ(ran.load() + cancelled.load(), accepted.load()) << round;
        ASSERT_EQ(tasks.count(), 0u) << round;
    }
}

}  // namespace
}  // namespace tactus
