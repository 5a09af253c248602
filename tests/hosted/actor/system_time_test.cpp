// SPDX-License-Identifier: Apache-2.0
//
// Goal: what is said of the driver of a hosted system, in a whole system: its metrics once a second
// to who wants them (TS-7), no wake-ups while nothing is due (SC-36), drift and lateness told after
// a stall and not after an idle hour (SC-30, SC-33, SC-38), no user code on the driver's own thread
// (SC-10), and an end that begins there nevertheless (SC-35).
// Method: the real clock where threads sleep; a clock that stands still until the test moves it
// where the figures must be exact.
#include <tactus/runtime/actor_system.hpp>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tactus/runtime/calling_thread.hpp>
#include <tactus/runtime/steady_driver.hpp>
#include <tactus/scheduler/scheduler.hpp>

#include "blocker.hpp"
#include "pool_rig.hpp"
#include "still_time.hpp"
#include "thread_names.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::block;
using tactus_test::busy_worker;
using tactus_test::stalled_driver;
using tactus_test::still_clock;
using tactus_test::threads_named;
using tactus_test::under_sanitizer;
using tactus_test::until;

namespace {

class warnings final : public world_events {
public:
    void timer_warned(const scheduler_warning& what) noexcept override {
        const std::lock_guard held(mutex_);
        all_.push_back(what);
    }
    [[nodiscard]] std::vector<scheduler_warning> of(scheduler_warning_kind kind) {
        const std::lock_guard held(mutex_);
        std::vector<scheduler_warning> found;
        for (const scheduler_warning& w : all_) {
            if (w.kind == kind)
                found.push_back(w);
        }
        return found;
    }
    [[nodiscard]] std::size_t count() {
        const std::lock_guard held(mutex_);
        return all_.size();
    }

private:
    std::mutex mutex_;
    std::vector<scheduler_warning> all_;
};

/// A system whose time is the test's.
struct still_system {
    enum class driver_has : std::uint8_t { measured, not_measured };
    explicit still_system(driver_has it = driver_has::measured) {
        if (it == driver_has::measured)
            (void)driver.host.load()->next_act();  // as one does that has begun to drive
    }

    still_clock time;
    stalled_driver driver;
    warnings told;
    actor_system system{"still",
                        {.events = &told,
                         .tools = {.time = &time, .driver = &driver},
                         .log_level = log_level::off}};

    /// Runs something after `d`, and gives back whether it ran when the clock was moved by `moved`.
    bool runs_after(duration d, duration moved) {
        std::counting_semaphore<> ran(0);
        const auto job =
            system.scheduler().schedule_once_fn(d, [&](const execution_batch&) { ran.release(); });
        if (!job)
            return false;
        driver.pass(time, moved);
        return ran.try_acquire_for(60s);
    }
};

/// Switches that threads of this process made because they had nothing to do.
long voluntary_switches() {
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    return use.ru_nvcsw;
}

}  // namespace

// TS-7
TEST(system_time, TS_7_who_subscribes_is_told_of_the_driver_once_a_second) {
    runtime::steady_driver driver;
    actor_system system("told", {.tools = {.driver = &driver}});
    ASSERT_TRUE(until([&] { return driver.jitter() > duration::zero(); }));
    std::this_thread::sleep_for(200ms);
    // Nobody does: it sleeps on.
    const std::uint64_t before = driver.metrics().wakeups;
    std::this_thread::sleep_for(1'500ms);
    EXPECT_EQ(driver.metrics().wakeups, before);
    {
        auto told = system.scheduler().subscribe(diagnostic_kind::driver_metrics);
        ASSERT_TRUE(told.has_value());
        const auto next = [&] {
            std::optional<diagnostic> found;
            EXPECT_TRUE(until([&] { return (found = told->poll()).has_value(); }));
            return found;
        };
        ASSERT_TRUE(next());
        const auto begun = std::chrono::steady_clock::now();
        const auto second = next();
        ASSERT_TRUE(second);
        EXPECT_EQ(second->kind, diagnostic_kind::driver_metrics);
        EXPECT_EQ(second->driver_jitter(), driver.jitter());
        EXPECT_GT(second->driver_wakeups(), before);
        EXPECT_GT(second->driver_lateness(), duration::zero());  // it woke, to tell the first
        // It was polled late, or it came a second after the one before.
        EXPECT_GE(std::chrono::steady_clock::now() - begun, 500ms);
        EXPECT_GT(driver.metrics().wakeups, before);
    }
    // It learns of that the next time, and then sleeps on.
    EXPECT_TRUE(until([&] {
        const std::uint64_t at = driver.metrics().wakeups;
        std::this_thread::sleep_for(1'500ms);
        return driver.metrics().wakeups == at;
    }));
}

// SC-36, EX-4: of no thread. A tick of 1 ms would be 2,000 of them.
TEST(system_time, SC_36_no_thread_of_an_idle_system_wakes) {
    actor_system system("idle", {.dispatcher = {.workers = 2}});
    struct parked : actor<int> {
        void on(int) {}
    };
    for (int i = 0; i < 100; ++i)
        (void)system.spawn_anonymous<parked>();
    // A timer that is far away wakes nobody, either.
    ASSERT_TRUE(system.scheduler()
                    .schedule_once_fn(duration::from_s(3'600), [](const execution_batch&) {})
                    .has_value());
    std::this_thread::sleep_for(300ms);
    const long before = voluntary_switches();
    std::this_thread::sleep_for(2s);
    const long switches = voluntary_switches() - before;
    std::printf("switches in two idle seconds: %ld\n", switches);
    // This thread's own, and what a sanitizer's thread makes.
    EXPECT_LT(switches, under_sanitizer ? 400 : 20);
}

// SC-30, SC-33
TEST(system_time, SC_33_a_driver_that_stalls_is_warned_of) {
    still_system s;
    ASSERT_TRUE(s.runs_after(duration::from_ms(5), duration::from_s(10)));
    const auto late = s.told.of(scheduler_warning_kind::drift_exceeded);
    ASSERT_EQ(late.size(), 1u);
    EXPECT_EQ(late[0].value, duration::from_ms(9'995).ns());
    EXPECT_EQ(late[0].limit, duration::from_us(50).ns());  // a twentieth of a tick
    // SC-32: 9,995 ticks late.
    const auto m = s.system.scheduler().metrics();
    EXPECT_EQ(m.backlog_peak, 9'995u);
    EXPECT_EQ(m.drift_compensations, 1u);
    EXPECT_EQ(m.drift_max_ns, static_cast<std::uint64_t>(duration::from_ms(9'995).ns()));
    // SC-30: nothing of that time is lost.
    EXPECT_NE(s.system.dump_scheduler().find("tick 10000"), std::string::npos)
        << s.system.dump_scheduler();
}

// SC-31, BP-3, BP-4: after a stall of 10 s high priority alone is accepted, and a tick later all.
TEST(system_time, BP_4_a_stall_of_ten_seconds_is_a_moment_of_backpressure) {
    still_system s;
    scheduler& timers = s.system.scheduler();
    ASSERT_TRUE(s.runs_after(duration::from_ms(5), duration::from_s(10)));
    EXPECT_EQ(timers.pressure_now().state, backpressure_state::backpressure);
    EXPECT_EQ(timers.pressure_now().cause, backpressure_cause::driver);
    const auto nothing = [](const execution_batch&) {};
    const auto refused = timers.schedule_once_fn(duration::from_ms(1), nothing);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, scheduler_errc::backpressured);
    EXPECT_TRUE(timers.schedule_once_fn(duration::from_s(1), nothing, 0, timer_priority::high));
    auto told = s.told.of(scheduler_warning_kind::backpressure_state);
    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(told[0].value, 1);  // engaged
    EXPECT_EQ(told[0].cause, backpressure_cause::driver);
    s.time.advance(duration::from_ms(1));
    ASSERT_TRUE(s.runs_after(duration::from_ms(1), duration::from_ms(1)));
    EXPECT_EQ(timers.pressure_now().state, backpressure_state::normal);
    told = s.told.of(scheduler_warning_kind::backpressure_state);
    ASSERT_EQ(told.size(), 2u);
    EXPECT_EQ(told[1].value, 0);
    EXPECT_EQ(s.told.of(scheduler_warning_kind::driver_catch_up_exceeded).size(), 0u);
}

// SC-33: how late the driver wakes is not known until it has measured: until then nobody is blamed.
TEST(system_time, SC_33_nothing_is_late_before_the_driver_has_measured) {
    still_system s(still_system::driver_has::not_measured);
    scheduler& timers = s.system.scheduler();
    // A worker may fire the timer before this thread does, so wait until it has run.
    const auto fire_late = [&] {
        std::counting_semaphore<> ran(0);
        ASSERT_TRUE(timers.schedule_once_fn(
            duration::from_s(3'600), [&](const execution_batch&) { ran.release(); }, 0,
            timer_priority::high));
        s.time.advance(duration::from_s(3'600) + duration::from_ms(2));
        timers.run_due(s.time.now());
        ran.acquire();
    };
    const auto warnings_told = [&] {
        return s.told.of(scheduler_warning_kind::drift_exceeded).size();
    };
    fire_late();
    EXPECT_EQ(warnings_told(), 0u);
    s.driver.act();  // it asks when to act, and has measured
    fire_late();
    EXPECT_TRUE(until([&] { return warnings_told() == 1; }));
}

// SC-38
TEST(system_time, SC_38_an_idle_hour_and_then_a_timer_warns_of_nothing) {
    still_system s;
    s.driver.pass(s.time, duration::from_s(3'600));
    ASSERT_TRUE(s.runs_after(duration::from_ms(10), duration::from_ms(10)));
    const auto m = s.system.scheduler().metrics();
    EXPECT_EQ(m.backlog_peak, 0u);
    EXPECT_EQ(m.drift_compensations, 0u);
    EXPECT_EQ(m.drift_max_ns, 0u);
    EXPECT_EQ(m.above_window, 0u);
    EXPECT_EQ(s.told.count(), 0u);
    // With a timer that waits for the end of the hour, too.
    ASSERT_TRUE(s.runs_after(duration::from_s(3'600), duration::from_s(3'600)));
    EXPECT_EQ(s.told.count(), 0u);
}

std::string thread_name() {
    char name[16] = {};
    pthread_getname_np(pthread_self(), name, sizeof name);
    return name;
}

/// Says on which thread it is.
class says_where : public actor<block> {
public:
    explicit says_where(std::promise<std::string>* to) : to_(to) {}
    void on(block) { to_->set_value(thread_name()); }

private:
    std::promise<std::string>* to_;
};

// SC-10: never on the thread that counts ticks. What a timer makes ready where the sender runs the
// receiver is handed over to the first dispatcher when the driver fires it.
TEST(system_time, SC_10_the_driver_runs_no_functions_and_no_handlers) {
    busy_worker busy;
    std::promise<std::string> function;
    std::promise<std::string> handler;
    actor_system system("here", {.dispatcher = {.workers = 1, .max_workers = 1}});
    const auto here = system.dispatchers().add(
        {.id = "here", .config = {.executor = executor_kind::calling_thread}});
    ASSERT_TRUE(here);
    const auto receiver =
        system.try_spawn<says_where>("receiver", {.dispatcher = here->number()}, &handler);
    ASSERT_TRUE(receiver);
    busy.begin(system);
    // The only worker is busy: the driver fires them.
    ASSERT_TRUE(system.scheduler().schedule_once_fn(
        duration::from_ms(2), [&](const execution_batch&) { function.set_value(thread_name()); },
        static_cast<std::uint16_t>(here->number())));
    ASSERT_TRUE(system.timers().schedule_once(duration::from_ms(3), *receiver, block{}));
    ASSERT_TRUE(until([&] { return system.scheduler().active_count() == 0; }));
    ASSERT_TRUE(until([&] { return system.info().measured.acts >= 1; }));
    busy.end();
    auto first = function.get_future();
    auto second = handler.get_future();
    ASSERT_EQ(first.wait_for(60s), std::future_status::ready);
    ASSERT_EQ(second.wait_for(60s), std::future_status::ready);
    EXPECT_NE(first.get(), "tactus-time");
    EXPECT_NE(second.get(), "tactus-time");
}

/// Called by the only worker when the actors have ended: has the driver hand something over to it,
/// behind a function that keeps it busy.
class hands_over_late final : public world_events {
public:
    void world_ended() noexcept override {
        // BP-3: a machine that was away for longer than the window refuses for a moment.
        const auto add = [this](auto f, std::uint16_t dispatcher) {
            EXPECT_TRUE(until([&] {
                return timers->schedule_once_fn(duration::from_ms(1), f, dispatcher).has_value();
            }));
        };
        const auto stays = [this](const execution_batch&) {
            is_busy.release();
            go.acquire();
        };
        add(stays, 0);
        add([](const execution_batch&) {}, here);
        EXPECT_TRUE(until([this] { return timers->active_count() == 0; }));
    }
    scheduler* timers = nullptr;
    std::uint16_t here = 0;
    std::counting_semaphore<> is_busy{0};
    std::counting_semaphore<> go{0};
};

// SC-10, EX-2: what was handed over and waits for a busy worker does not hold up the end: the
// worker it waits for is the last to be stopped.
TEST(system_time, SC_10_what_was_handed_over_does_not_hold_up_the_end) {
    // The test ends without them if they do not come to an end.
    const auto late = std::make_shared<hands_over_late>();
    std::promise<void> has_ended;
    auto end = has_ended.get_future();
    std::thread ending([late, has_ended = std::move(has_ended)]() mutable {
        {
            // Its actors have ended before its destructor, which waits so long for functions alone.
            actor_system system("here", {.dispatcher = {.workers = 1, .max_workers = 1},
                                         .shutdown_limit = 10ms,
                                         .events = late.get()});
            const auto here = system.dispatchers().add(
                {.id = "here", .config = {.executor = executor_kind::calling_thread}});
            ASSERT_TRUE(here);
            late->timers = &system.scheduler();
            late->here = static_cast<std::uint16_t>(here->number());
            EXPECT_TRUE(system.terminate_and_wait(60s));
        }
        has_ended.set_value();
    });
    EXPECT_TRUE(late->is_busy.try_acquire_for(60s));
    // Its workers are stopped when nobody looks after them any more.
    EXPECT_TRUE(until([] { return threads_named("here-keeper") == 0; }));
    std::this_thread::sleep_for(10ms);
    late->go.release();
    const bool is_over = end.wait_for(60s) == std::future_status::ready;
    EXPECT_TRUE(is_over);
    if (is_over)
        ending.join();
    else
        ending.detach();
}

// SC-35, TC-S52: an executor of the program's own may run a function on the driver's thread, and
// that ends the system. Waiting there would be for itself, and says so.
TEST(system_time, SC_35_the_driver_does_not_wait_for_itself) {
    for (int round = 0; round < 5; ++round) {
        runtime::calling_thread own;
        busy_worker busy;
        actor_system system("ends", {.dispatcher = {.workers = 1, .max_workers = 1}});
        const auto here =
            system.dispatchers().add({.id = "here",
                                      .config = {.executor = executor_kind::foreign, .workers = 1},
                                      .foreign = &own});
        ASSERT_TRUE(here);
        busy.begin(system);
        // The only worker is busy: the driver's thread runs it.
        std::string on;
        bool waited = true;
        std::counting_semaphore<> ran(0);
        const auto job = system.scheduler().schedule_once_fn(
            duration::from_ms(2),
            [&](const execution_batch&) {
                on = thread_name();
                waited = system.terminate_and_wait(60s);
                ran.release();
            },
            static_cast<std::uint16_t>(here->number()));
        ASSERT_TRUE(job);
        ASSERT_TRUE(ran.try_acquire_for(60s));
        busy.end();
        EXPECT_EQ(on, "tactus-time");
        EXPECT_FALSE(waited);
        EXPECT_TRUE(system.wait(60s));
    }
}
