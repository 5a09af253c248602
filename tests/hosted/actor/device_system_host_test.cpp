// SPDX-License-Identifier: Apache-2.0
//
// Goal: a device system in real time: with nobody to tick it sleeps until a deadline or a message
// from another thread; with a tick source it looks after every tick (PT-7).
#include <tactus/actor/device_system.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <stop_token>
#include <thread>

#include <gtest/gtest.h>

#include <tactus/runtime/host_toolbox.hpp>
#include <tactus/runtime/steady_clock.hpp>

using namespace tactus;  // NOLINT: the whole vocabulary is used

namespace {

constexpr device_config config{.actors_max = 4};

/// Ends the system after some beats of its timer, or when it is told.
class worker_bee : public actor<int> {
public:
    explicit worker_bee(int beats) : left_(beats) {}
    void pre_start() {
        if (left_ != 0)
            (void)context().start_timer_with_fixed_delay(1, 1, duration::from_ms(2));
    }
    void on(int n) {
        if (n == 7 || --left_ == 0)
            context().world().terminate();
    }

private:
    int left_;
};

}  // namespace

// PT-7: complete defaults on the host.
TEST(device_system_host, sleeps_until_its_timers_are_due) {
    runtime::host_toolbox defaults(device_system::required_bytes(config));
    auto system = device_system::create("test", defaults.fill({}), config);
    ASSERT_TRUE(system.has_value());
    const auto before = std::chrono::steady_clock::now();
    ASSERT_TRUE(system->spawn<worker_bee>("bee", 5).has_value());
    system->run();
    EXPECT_TRUE(system->has_ended());
    EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(10));
}

// PT-7
TEST(device_system_host, a_message_of_another_thread_wakes_it) {
    runtime::host_toolbox defaults(device_system::required_bytes(config));
    auto system = device_system::create("test", defaults.fill({}), config);
    ASSERT_TRUE(system.has_value());
    const auto bee = system->spawn<worker_bee>("bee", 0);
    ASSERT_TRUE(bee.has_value());
    std::thread other([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        bee->tell(7);
    });
    system->run();
    EXPECT_TRUE(system->has_ended());
    other.join();
}

// PT-7: a thread that ticks is a tick driver, too.
TEST(device_system_host, a_thread_may_tick_it) {
    tick_source ticks;
    std::atomic<bool> over{false};
    std::thread driver([&] {
        while (!over.load()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            ticks.notify_tick();
        }
    });
    {
        runtime::host_toolbox defaults(device_system::required_bytes(config));
        auto system = device_system::create("test", defaults.fill({.ticks = &ticks}), config);
        ASSERT_TRUE(system.has_value());
        ASSERT_TRUE(system->spawn<worker_bee>("bee", 5).has_value());
        system->run();
        EXPECT_TRUE(system->has_ended());
    }
    over = true;
    driver.join();
}

namespace {

/// An executor of the application: one thread.
class one_thread final : public executor {
public:
    bool submit(worker_task& t, const submit_hints&) noexcept override {
        const std::lock_guard held(mutex_);
        tasks_.push_back(&t);
        changed_.notify_one();
        return true;
    }
    void notify_rejected(worker_task&, unsigned) noexcept override {}

private:
    void run(const std::stop_token& stop) {
        std::unique_lock held(mutex_);
        while (changed_.wait(held, stop, [this] { return !tasks_.empty(); })) {
            worker_task* const next = tasks_.front();
            tasks_.pop_front();
            held.unlock();
            (void)next->run();
            held.lock();
        }
    }
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<worker_task*> tasks_;
    std::jthread thread_{[this](const std::stop_token& stop) { run(stop); }};
};

/// Counts from a thread of its own.
class ticking_thread final : public tick_driver {
public:
    ~ticking_thread() { ticking_thread::stop(); }
    const char* name() const noexcept override { return "ticking"; }
    clock_kind kind() const noexcept override { return clock_kind::realtime_host; }
    std::expected<void, tick_driver_error> start(tick_host& to) noexcept override {
        thread_ = std::jthread([ticks = to.ticks()](const std::stop_token& stop) {
            while (!stop.stop_requested()) {
                std::this_thread::sleep_for(std::chrono::microseconds(200));
                ticks->notify_tick();
            }
        });
        return {};
    }
    void stop() noexcept override {
        stops.fetch_add(thread_.joinable() ? 1 : 0);
        thread_ = {};
    }
    std::atomic<int> stops{0};

private:
    std::jthread thread_;
};

}  // namespace

// SH-1, PT-7: the world ends on the executor's thread while the owner pulls ticks.
TEST(device_system_host, SH_1_one_thread_ends_it_while_another_pulls_its_ticks) {
    for (int round = 0; round < 20; ++round) {
        one_thread runs;
        tick_source ticks;
        ticking_thread driver;
        runtime::host_toolbox defaults(device_system::required_bytes(config));
        auto system = device_system::create(
            "test", defaults.fill({.ticks = &ticks, .driver = &driver, .runs = &runs}), config);
        ASSERT_TRUE(system.has_value());
        ASSERT_TRUE(system->spawn<worker_bee>("bee", 2).has_value());
        system->run();
        EXPECT_TRUE(system->has_ended());
        EXPECT_EQ(driver.stops.load(), 1);
        EXPECT_TRUE(system->world().timers()->has_closed());
        EXPECT_EQ(system->ticks().state, tick_state::suspended);
    }
}

namespace {

struct counted_lines final : log_sink {
    void write(const log_record&) noexcept override { ++count; }
    int count = 0;
};

}  // namespace

// PT-7: every part is there, and each may be another one.
TEST(device_system_host, defaults_are_complete_and_leave_what_is_given) {
    runtime::host_toolbox defaults(1'024);
    const toolbox all = defaults.fill({});
    ASSERT_NE(all.time, nullptr);
    EXPECT_EQ(all.time->kind(), clock_kind::realtime_host);
    EXPECT_EQ(all.memory.size(), 1'024U);
    ASSERT_NE(all.local, nullptr);
    EXPECT_GE(all.local->states().size, 32U);
    EXPECT_NE(all.log, nullptr);
    EXPECT_EQ(all.runs, nullptr);   // the thread that calls run
    EXPECT_EQ(all.ticks, nullptr);  // it sleeps until there is something to do
    EXPECT_EQ(all.seed, 1U);

    runtime::steady_clock time;
    tick_source ticks;
    std::byte bytes[16];
    port_local_slot<8> local;
    counted_lines lines;
    const toolbox mine{
        .time = &time, .ticks = &ticks, .memory = bytes, .local = &local, .log = &lines, .seed = 9};
    const toolbox kept = defaults.fill(mine);
    EXPECT_EQ(kept.time, &time);
    EXPECT_EQ(kept.ticks, &ticks);
    EXPECT_EQ(kept.memory.data(), bytes);
    EXPECT_EQ(kept.local, &local);
    EXPECT_EQ(kept.log, &lines);
    EXPECT_EQ(kept.seed, 9U);
    // One part alone.
    const toolbox one = defaults.fill({.log = &lines});
    EXPECT_EQ(one.log, &lines);
    EXPECT_EQ(one.time, all.time);
}
