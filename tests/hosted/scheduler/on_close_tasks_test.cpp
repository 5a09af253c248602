// SPDX-License-Identifier: Apache-2.0
//
// On-close tasks on the host: what throws, and registering that races with closing.
#include <tactus/scheduler/on_close_tasks.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

#include <tactus/dispatch/arena.hpp>
#include <tactus/scheduler/scheduler.hpp>

#include "large_scheduler_rig.hpp"

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

// C-SCH-17, SH-4: as many run as were accepted, and afterwards 200 in a row are refused.
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
        // Otherwise it could be that none was ever accepted.
        while (round % 3 != 0 && accepted.load() == 0)
            std::this_thread::yield();
        for (int i = 0; i < round % 7; ++i)
            std::this_thread::yield();
        const close_report report = tasks.run(still_clock(), 1_s, nullptr);
        producer.join();
        ASSERT_EQ(report.succeeded, ran.load()) << round;
        ASSERT_EQ(ran.load() + cancelled.load(), accepted.load()) << round;
        ASSERT_EQ(tasks.count(), 0u) << round;
    }
}

class heap final : public memory_source {
public:
    [[nodiscard]] void* allocate(std::size_t size, std::size_t alignment) noexcept override {
        return ::operator new(size, std::align_val_t(alignment), std::nothrow);
    }
    void release(void* block, std::size_t, std::size_t alignment) noexcept override {
        ::operator delete(block, std::align_val_t(alignment));
    }
};

/// What is to run when its time comes, or at the close, and once.
struct once_only {
    scheduler* timers;
    std::vector<std::atomic<std::uint8_t>> ran;
    std::atomic<std::uint32_t> over{0};  // those whose time has come

    void run(std::uint32_t number) { ran[number].fetch_add(1, std::memory_order_relaxed); }
    /// False: it is refused.
    [[nodiscard]] bool enqueue(std::uint32_t number) {
        const auto at_close =
            timers->register_on_close([this, number] { run(number); }, close_priority::runtime);
        if (!at_close)
            return false;
        const auto in_time =
            timers->schedule_once_fn(duration::from_ms(1 + number % 2),
                                     [this, number, left = *at_close](const execution_batch&) {
                                         if (timers->cancel_on_close(left))
                                             run(number);
                                         over.fetch_add(1, std::memory_order_relaxed);
                                     });
        if (!in_time)
            over.fetch_add(1, std::memory_order_relaxed);  // it is left for the close
        return true;
    }
};

// C-SCH-11, SH-4: of 1,000,000, with TACTUS_LONG=1; otherwise of a part of them. Somebody enqueues
// until it is refused, time passes, and then all is closed.
TEST(on_close_tasks_hosted, C_SCH_11_what_was_accepted_runs_exactly_once) {
    const std::uint32_t size = tactus_test::size_of_run(1'000'000, 200'000, 30'000);
    heap memory;
    full_scheduler_services services({.memory = &memory});
    once_only all{.timers = nullptr, .ran = std::vector<std::atomic<std::uint8_t>>(2 * size)};
    tactus_test::large_scheduler_rig r(1U << 17U,
                                       [&](scheduler_options& o) { o.services = &services; });
    all.timers = &r.timers;
    std::atomic<std::uint32_t> accepted{0};
    std::jthread enqueues([&] {
        for (;;) {
            const std::uint32_t number = accepted.load();
            // Who lets time pass has fewer turns than this on a machine that is busy.
            const bool is_full = number == all.ran.size();
            if (number - all.over.load() > 50'000 || is_full) {
                std::this_thread::yield();
                if (!r.timers.has_closed())
                    continue;
                if (is_full)
                    return;  // there is no place to note another
            }
            if (!all.enqueue(number))
                return;
            accepted.fetch_add(1);
        }
    });
    while (accepted.load() < size)
        r.pass(1);
    const close_report report = r.timers.shutdown();
    enqueues.join();
    (void)r.kernel.run();
    EXPECT_EQ(report.failed, 0u);
    EXPECT_EQ(report.not_begun, 0u);
    for (std::uint32_t i = 0; i < all.ran.size(); ++i)
        ASSERT_EQ(all.ran[i].load(), i < accepted.load() ? 1 : 0) << i;
}

}  // namespace
}  // namespace tactus
