// SPDX-License-Identifier: Apache-2.0
//
// Goal: a hosted system keeps time from the moment it is built, also when all its workers are busy
// (SC-35, SC-36); what is wrong with its scheduler or driver is said when it is built (SC-34,
// SC-37); a driver that stops is started again, or ends the system (TS-7); who drives is known
// (TS-9).
// Method: whole systems; drivers and clocks of the test where one must misbehave.
#include <tactus/runtime/actor_system.hpp>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <mutex>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <tactus/runtime/steady_clock.hpp>
#include <tactus/runtime/steady_driver.hpp>
#include <tactus/scheduler/scheduler.hpp>
#include <tactus/time/manual_clock.hpp>
#include <tactus/time/manual_driver.hpp>

#include "blocker.hpp"
#include "pool_rig.hpp"
#include "thread_names.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::block;
using tactus_test::blocker;
using tactus_test::threads_named;
using tactus_test::under_sanitizer;
using tactus_test::until;

namespace {

/// Lines of the log, for looking into.
struct lines final : log_sink {
    void write(const log_record& r) noexcept override {
        const std::lock_guard held(mutex);
        all += std::string(r.text) + "\n";
    }
    [[nodiscard]] bool has(std::string_view what) {
        const std::lock_guard held(mutex);
        return all.find(what) != std::string::npos;
    }
    std::mutex mutex;
    std::string all;
};

/// A user's own: does nothing but what the test says.
class own_driver final : public tick_driver {
public:
    const char* name() const noexcept override { return "own"; }
    clock_kind kind() const noexcept override { return of; }
    std::expected<void, tick_driver_error> start(tick_host& to) noexcept override {
        starts.fetch_add(1);
        if (refuses.load() != 0) {
            refuses.fetch_sub(1);
            return std::unexpected(why_not);
        }
        host.store(&to);
        return {};
    }
    void stop() noexcept override { host.store(nullptr); }
    void break_down(tick_driver_error why) { host.load()->driver_stopped(why); }
    void listen(driver_listener* to) noexcept override { listener.store(to); }

    clock_kind of = clock_kind::realtime_host;
    tick_driver_error why_not = tick_driver_error::handle_unavailable;
    std::atomic<int> refuses{0};
    std::atomic<int> starts{0};
    std::atomic<tick_host*> host{nullptr};
    std::atomic<driver_listener*> listener{nullptr};
};

/// Set by hand while threads read it.
class shared_clock final : public tactus::clock {
public:
    instant now() const noexcept override { return instant::from_ns(ns.load()); }
    clock_kind kind() const noexcept override { return clock_kind::deterministic; }
    std::atomic<std::uint64_t> ns{0};
};

/// Why it cannot be built.
std::string refusal(const actor_system::options& o) {
    try {
        const actor_system system("test", o);
    } catch (const std::exception& e) {
        return e.what();
    }
    return {};
}

/// It has measured itself, and most likely sleeps for ever: a deadline must wake it.
bool sleeps(const runtime::steady_driver& driver) {
    const bool measured = until([&] { return driver.jitter() > duration::zero(); });
    std::this_thread::sleep_for(20ms);
    return measured;
}

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

// SC-36: all workers are in handlers until the function of a timer has run elsewhere.
TEST(system_driver, SC_36_timers_fire_while_all_workers_are_busy) {
    runtime::steady_driver driver;
    std::latch in(2);
    std::counting_semaphore<> go(0);
    std::counting_semaphore<> ran(0);
    std::atomic<std::int64_t> after{0};
    actor_system system(
        "test", {.dispatcher = {.workers = 2, .max_workers = 2}, .tools = {.driver = &driver}});
    const auto other = system.dispatchers().add(
        {.id = "other", .config = {.executor = executor_kind::thread_pool, .workers = 1}});
    ASSERT_TRUE(other);
    ASSERT_TRUE(sleeps(driver));
    for (int i = 0; i < 2; ++i)
        system.spawn_anonymous<blocker>(&in, &go).tell(block{});
    in.wait();
    const instant begun = system.tools().time->now();
    const auto job = system.scheduler().add_function(
        {.first = duration::from_ms(20), .executor = static_cast<std::uint16_t>(other->number())},
        [&](const execution_batch&) {
            after.store((system.tools().time->now() - begun).ns());
            ran.release();
        });
    ASSERT_TRUE(job);
    EXPECT_TRUE(ran.try_acquire_for(60s));
    EXPECT_GE(after.load(), duration::from_ms(20).ns());
    EXPECT_TRUE(until([&] { return driver.metrics().acts >= 1; }));
    std::printf("20 ms with all workers busy: %.1f ms\n", static_cast<double>(after.load()) / 1e6);
    // Into a mailbox, too, though nobody can handle it yet.
    const auto sleeper = system.spawn_anonymous<blocker>(&in, &go);
    const auto fired = system.scheduler().counted().fired;
    // BP-3: a machine that was away for longer than the window refuses for a moment.
    ASSERT_TRUE(until([&] {
        return system.scheduler()
            .schedule_once(duration::from_ms(5), any_ref(sleeper).index(), poison_pill{})
            .has_value();
    }));
    EXPECT_TRUE(until([&] { return system.scheduler().counted().fired == fired + 1; }));
    go.release(2);
}

// SC-36: armed by a handler that then does not come to an end.
TEST(system_driver, SC_36_a_timer_of_a_busy_actor_fires_elsewhere) {
    runtime::steady_driver driver;
    std::counting_semaphore<> ran(0);
    std::counting_semaphore<> over(0);
    actor_system system(
        "test", {.dispatcher = {.workers = 1, .max_workers = 1}, .tools = {.driver = &driver}});
    ASSERT_TRUE(sleeps(driver));
    const auto other = system.dispatchers().add(
        {.id = "other", .config = {.executor = executor_kind::thread_pool, .workers = 1}});
    ASSERT_TRUE(other);
    struct busy : actor<int> {
        busy(std::counting_semaphore<>* r, std::counting_semaphore<>* o, std::uint16_t n)
            : ran_(r), over_(o), number_(n) {}
        void on(int) {
            scheduler& timers = *context().world().timers();
            EXPECT_TRUE(timers.add_function({.first = duration::from_ms(10), .executor = number_},
                                            [r = ran_](const execution_batch&) { r->release(); }));
            EXPECT_TRUE(ran_->try_acquire_for(60s));
            over_->release();
        }
        std::counting_semaphore<>* ran_;
        std::counting_semaphore<>* over_;
        std::uint16_t number_;
    };
    system.spawn<busy>("busy", &ran, &over, static_cast<std::uint16_t>(other->number())).tell(1);
    EXPECT_TRUE(over.try_acquire_for(90s));
}

// SC-36, EX-4, PF-15: no wake-ups, no CPU.
TEST(system_driver, SC_36_an_idle_system_makes_no_wake_ups) {
    runtime::steady_driver driver;
    actor_system system("test", {.tools = {.driver = &driver}});
    struct parked : actor<int> {
        void on(int) {}
    };
    for (int i = 0; i < 1'000; ++i)
        (void)system.spawn_anonymous<parked>();
    ASSERT_TRUE(until([&] { return driver.jitter() > duration::zero(); }));
    std::this_thread::sleep_for(200ms);
    const std::uint64_t before = driver.metrics().wakeups;
    const auto cpu = [] {
        rusage use{};
        getrusage(RUSAGE_SELF, &use);
        return std::chrono::seconds(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
               std::chrono::microseconds(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
    };
    const auto used = cpu();
    std::this_thread::sleep_for(1s);
    const auto cost = cpu() - used;
    EXPECT_EQ(driver.metrics().wakeups, before);
    std::printf("an idle second: %lld us of CPU\n", static_cast<long long>(cost.count()));
    if (!under_sanitizer) {
        EXPECT_LT(cost, 10ms);
    }
}

// SC-35, TC-S52, TS-6: it ticks from the moment it is built; the end takes its thread with it.
TEST(system_driver, TC_S52_the_driver_ends_with_its_system) {
    const unsigned before = threads_named("tactus-time");
    {
        actor_system one("one");
        actor_system two("two");
        EXPECT_TRUE(until([&] { return threads_named("tactus-time") == before + 2; }));
        std::counting_semaphore<> ran(0);
        ASSERT_TRUE(one.scheduler().schedule_once_fn(
            duration::from_ms(1), [&](const execution_batch&) { ran.release(); }));
        EXPECT_TRUE(ran.try_acquire_for(60s));
    }
    // It has been joined; the kernel forgets it a moment later.
    EXPECT_TRUE(until([&] { return threads_named("tactus-time") == before; }));
}

// SC-35, TS-8: a driver that does not start, whatever the reason, is an exception that says it.
TEST(system_driver, SC_35_a_driver_that_does_not_start_fails_the_build) {
    for (std::size_t i = 0; i < tick_driver_error_count; ++i) {
        own_driver driver;
        driver.refuses = 1;
        driver.why_not = static_cast<tick_driver_error>(i);
        try {
            const actor_system system("test", {.tools = {.driver = &driver}});
            ADD_FAILURE() << "it was built";
        } catch (const driver_exception& e) {
            EXPECT_EQ(e.error(), driver.why_not);
            EXPECT_TRUE(has(e.what(), "'own'")) << e.what();
            EXPECT_TRUE(has(e.what(), name_of(driver.why_not))) << e.what();
            EXPECT_TRUE(has(e.what(), text_of(driver.why_not))) << e.what();
        }
    }
}

// TS-9
TEST(system_driver, TS_9_the_system_says_who_drives_it) {
    const instant before = runtime::steady_clock{}.now();
    actor_system system("named", {.scheduler = {.resolution = duration::from_ms(5)}});
    const system_info info = system.info();
    EXPECT_EQ(info.name, "named");
    EXPECT_STREQ(info.driver.name, "tactus-time");
    EXPECT_STREQ(info.driver.kind, "async_host");
    EXPECT_EQ(info.driver.resolution, duration::from_ms(5));
    EXPECT_GE(info.driver.since, before);
    EXPECT_EQ(info.driver.restarts, 0U);
    EXPECT_EQ(system.scheduler().resolution(), duration::from_ms(5));
    EXPECT_TRUE(has(system.dump(), "\ndriver tactus-time (async_host): resolution 5000000 ns, "))
        << system.dump();
    const std::string json = system.dump(dump_format::json);
    EXPECT_TRUE(has(json, R"("driver":{"name":"tactus-time","kind":"async_host",)")) << json;
    EXPECT_TRUE(has(json, R"("restarts":0})")) << json;
}

// TS-7, TS-8
TEST(system_driver, TS_7_a_driver_that_stops_is_started_again) {
    own_driver driver;
    lines log;
    actor_system system("test", {.tools = {.driver = &driver, .log = &log}});
    EXPECT_EQ(driver.starts.load(), 1);
    driver.break_down(tick_driver_error::driver_stopped);
    // It counts as started again before it is.
    EXPECT_TRUE(until([&] {
        return driver.starts.load() == 2 && driver.host.load() != nullptr &&
               system.info().driver.restarts == 1;
    }));
    EXPECT_TRUE(log.has("the tick driver own stopped, driver_stopped: 0 of at most 3 restarts"));
    driver.refuses = 1;
    driver.break_down(tick_driver_error::drift_exceeded);
    // One that is refused counts until that is known.
    EXPECT_TRUE(
        until([&] { return driver.starts.load() == 4 && system.info().driver.restarts == 2; }));
    EXPECT_TRUE(log.has("drift_exceeded"));
    EXPECT_TRUE(log.has("handle_unavailable"));
    EXPECT_FALSE(system.wait(1ms));
}

/// Stops by itself as soon as it was started, once: while the system is still being built.
class hasty_driver final : public tick_driver {
public:
    ~hasty_driver() { hasty_driver::stop(); }
    const char* name() const noexcept override { return "hasty"; }
    clock_kind kind() const noexcept override { return clock_kind::realtime_host; }
    std::expected<void, tick_driver_error> start(tick_host& to) noexcept override {
        stop();
        if (starts.fetch_add(1) == 0)
            stops_ = std::thread([&to] { to.driver_stopped(tick_driver_error::driver_stopped); });
        return {};
    }
    void stop() noexcept override {
        if (stops_.joinable())
            stops_.join();
    }
    std::atomic<int> starts{0};

private:
    std::thread stops_;
};

// TS-8: told and started again; who is told reads nothing that is being made (ThreadSanitizer).
TEST(system_driver, TS_8_a_driver_may_stop_while_its_system_is_built) {
    for (int round = 0; round < 20; ++round) {
        hasty_driver driver;
        lines log;
        actor_system system("test", {.tools = {.driver = &driver, .log = &log}});
        ASSERT_TRUE(until([&] { return driver.starts.load() == 2; }));
        ASSERT_TRUE(log.has("the tick driver hasty stopped, driver_stopped"));
    }
}

// TS-7: the hosted one, too.
TEST(system_driver, TS_7_the_steady_driver_is_started_again) {
    runtime::steady_driver driver({.lateness_max = {}});
    lines log;
    actor_system system("test",
                        {.driver_stops = {.attempts = 1'000'000, .apart = duration::from_ms(1)},
                         .tools = {.driver = &driver, .log = &log}});
    // When it sleeps until a deadline it wakes late, as always; at times it need not sleep.
    EXPECT_TRUE(until([&] {
        (void)system.scheduler().schedule_once_fn(duration::from_ms(3),
                                                  [](const execution_batch&) {});
        return system.info().driver.restarts >= 2;
    }));
    EXPECT_TRUE(log.has("the tick driver tactus-time stopped, drift_exceeded"));
}

// TS-7, TS-8: a driver outlives its system, and keeps nothing of it.
TEST(system_driver, TS_7_a_driver_forgets_a_system_that_has_ended) {
    own_driver driver;
    {
        actor_system system("first", {.tools = {.driver = &driver}});
        // Nobody reads it any more, but the driver has not told it so yet.
        ASSERT_TRUE(system.scheduler().subscribe(diagnostic_kind::driver_metrics));
        EXPECT_NE(driver.listener.load(), nullptr);
    }
    EXPECT_EQ(driver.listener.load(), nullptr);
    // One that was never asked is left alone.
    struct kept_listener final : driver_listener {
        bool measured(const tick_driver_metrics&) noexcept override { return true; }
    };
    kept_listener other;
    driver.listen(&other);
    {
        const actor_system system("second", {.tools = {.driver = &driver}});
    }
    EXPECT_EQ(driver.listener.load(), &other);
}

// TS-7, TS-8: of the steady one, when it drives another system: told after a second, the first one
// would be read (AddressSanitizer).
TEST(system_driver, TS_7_the_steady_driver_tells_no_system_that_has_ended) {
    runtime::steady_driver driver;
    std::counting_semaphore<> ran(0);
    {
        actor_system system("first", {.tools = {.driver = &driver}});
        ASSERT_TRUE(system.scheduler().subscribe(diagnostic_kind::driver_metrics));
    }
    actor_system system("second", {.tools = {.driver = &driver}});
    ASSERT_TRUE(sleeps(driver));
    const std::uint64_t before = driver.metrics().wakeups;
    ASSERT_TRUE(system.scheduler().schedule_once_fn(
        duration::from_ms(1'100), [&](const execution_batch&) { ran.release(); }));
    EXPECT_TRUE(ran.try_acquire_for(60s));
    // It wakes as a backup, and looks who wants to know.
    EXPECT_TRUE(until([&] { return driver.metrics().wakeups >= before + 2; }));
}

// TS-7: fail_fast, and attempts that are used up, end the system.
TEST(system_driver, TS_7_a_system_without_a_driver_ends) {
    for (const auto what : {driver_policy::kind::fail_fast, driver_policy::kind::retry}) {
        own_driver driver;
        lines log;
        actor_system system("test", {.driver_stops = {.what = what, .apart = duration::from_ms(1)},
                                     .tools = {.driver = &driver, .log = &log}});
        driver.refuses = 100;
        driver.break_down(tick_driver_error::driver_stopped);
        EXPECT_TRUE(system.wait(60s));
        EXPECT_EQ(driver.starts.load(), what == driver_policy::kind::fail_fast ? 1 : 4);
        EXPECT_EQ(system.exit_code(), 70);
        EXPECT_TRUE(has(system.failure_text(), "the tick driver 'own' stopped"));
        EXPECT_EQ(system.shutdown().reason()->name, "driver_stopped");
        EXPECT_TRUE(log.has("is not started again, the system ends"));
    }
}

// SC-34
TEST(system_driver, SC_34_production_refuses_manual_ticks) {
    const manual_clock by_hand;
    EXPECT_EQ(refusal({.tools = {.time = &by_hand}}),
              "scheduler.clock: ticks made by hand (deterministic) are for tests, production has "
              "those of realtime_host");
    own_driver manual;
    manual.of = clock_kind::deterministic;
    EXPECT_EQ(refusal({.tools = {.driver = &manual}}),
              "scheduler.driver: ticks made by hand (deterministic) are for tests, production has "
              "those of realtime_host");
    EXPECT_EQ(manual.starts.load(), 0);
}

// SC-34: and a test configuration starts no driver of its own.
TEST(system_driver, SC_34_a_test_configuration_starts_no_driver) {
    const unsigned before = threads_named("tactus-time");
    const shared_clock time;
    for (const tactus::clock* c :
         {static_cast<const tactus::clock*>(nullptr), static_cast<const tactus::clock*>(&time)}) {
        actor_system system("test",
                            {.scheduler = {.use = scheduler_use::test}, .tools = {.time = c}});
        EXPECT_STREQ(system.info().driver.name, "none");
        EXPECT_STREQ(system.info().driver.kind, c == nullptr ? "async_host" : "manual");
        EXPECT_EQ(threads_named("tactus-time"), before);
    }
}

// SC-34, TS-8: time by hand, by a driver of the test's, with threads.
TEST(system_driver, SC_34_a_test_moves_the_time_of_a_system) {
    shared_clock time;
    own_driver driver;
    driver.of = clock_kind::deterministic;
    std::counting_semaphore<> ran(0);
    actor_system system("test", {.scheduler = {.use = scheduler_use::test},
                                 .tools = {.time = &time, .driver = &driver}});
    EXPECT_STREQ(system.info().driver.kind, "manual");
    ASSERT_TRUE(system.scheduler().schedule_once_fn(
        duration::from_s(3'600), [&](const execution_batch&) { ran.release(); }));
    tick_host& host = *driver.host.load();
    EXPECT_EQ(host.next_act(), instant::epoch() + duration::from_s(3'600));
    EXPECT_FALSE(host.act(time.now()));
    EXPECT_FALSE(ran.try_acquire());
    time.ns.store(static_cast<std::uint64_t>(duration::from_s(3'600).ns()));
    (void)host.act(time.now());  // a worker may see it first
    EXPECT_TRUE(ran.try_acquire_for(60s));
}

// SC-1, SC-36: where a worker keeps the time the driver comes after it, in case that one has become
// busy: one and a half ticks, and 2 ms at most where ticks are long.
TEST(system_driver, SC_1_the_backup_is_not_late_by_long_ticks) {
    struct row {
        duration resolution;
        duration after;
    };
    constexpr row rows[] = {{duration::from_ms(1), duration::from_us(1'500)},
                            {duration::from_ms(10), duration::from_ms(2)},
                            {duration::from_s(1), duration::from_ms(2)}};
    for (const row& r : rows) {
        own_driver driver;
        actor_system system(
            "test", {.scheduler = {.resolution = r.resolution}, .tools = {.driver = &driver}});
        scheduler& timers = system.scheduler();
        ASSERT_TRUE(
            timers.schedule_once_fn(duration::from_s(3'600), [](const execution_batch&) {}));
        ASSERT_TRUE(until([&] { return system.world().kernel().order().idle().time_kept(); }));
        // All workers sleep, and it stays kept.
        EXPECT_EQ(driver.host.load()->next_act() - timers.next_deadline(), r.after);
    }
}

// SC-37, TC-S51: found when the system is built; field, value, limit.
TEST(system_driver, TC_S51_a_resolution_of_nothing_fails_the_build) {
    EXPECT_EQ(refusal({.scheduler = {.resolution = {}}}),
              "scheduler.resolution: a tick of 0 ns, but it has 1 ns to 1000000000 ns: nearest is "
              "1 ns");
    const auto refused = [](const scheduler_config& c, std::string_view field,
                            std::string_view value, std::string_view limit) {
        const std::string text = refusal({.scheduler = c});
        EXPECT_TRUE(has(text, "scheduler." + std::string(field))) << text;
        EXPECT_TRUE(has(text, value)) << text;
        EXPECT_TRUE(has(text, limit)) << text;
    };
    refused({.resolution = duration::from_s(2)}, "resolution", "2000000000", "1000000000");
    refused({.catch_up = duration::from_ms(33)}, "catch_up", "33", "32");
    refused({.chunk_ticks = 0}, "chunk_ticks", "0", "1");
    refused({.profile = scheduler_profile::custom, .custom = {25'601, 1, 1}}, "timers", "25601",
            "25600");
    refused({.shutdown_timeout = {}}, "shutdown_timeout", "0", "1");
    EXPECT_EQ(refusal({.scheduler = {.profile = scheduler_profile::small}}), "");
}

// BP-1: the profile is the system's.
TEST(system_driver, a_bounded_profile_bounds_the_timers_of_a_system) {
    actor_system system(
        "test", {.scheduler = {.profile = scheduler_profile::custom, .custom = {64, 16, 8}}});
    std::vector<cancellable> all;
    for (;;) {
        auto made = system.scheduler().schedule_once_fn(duration::from_s(60),
                                                        [](const execution_batch&) {});
        if (!made) {
            EXPECT_EQ(made.error().code, scheduler_errc::quota_exceeded);
            break;
        }
        all.push_back(*made);
        ASSERT_LE(all.size(), 64U);
    }
    EXPECT_EQ(all.size(), 64U);
}
