// SPDX-License-Identifier: Apache-2.0
//
// Goal: a device system ends in the order of SH-1 and SH-5: actors end while it is driven, then the
// driver stops, what it had counted is taken, what is due is done, and the scheduler closes. Who
// has a loop of its own loses nothing of that (TS-4, TS-7). The settings of its scheduler are those
// of the config (SC-3, SC-31, SC-37).
// Method: a clock that is set by hand, and a driver that writes down what it sees.
#include <tactus/actor/device_system.hpp>

#include <cstddef>
#include <string_view>

#include <tactus/dispatch/text_buffer.hpp>
#include <tactus/time/manual_clock.hpp>

#include "portable_test.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used

namespace {

constexpr device_config config{
    .actors_max = 1, .messages_max = 4, .timers_max = 2, .overflow_max = 1};
alignas(16) std::byte room[device_system::required_bytes(config)];

/// Counts when it is told to, and once more while it is being stopped, as an interrupt would.
class counting_driver final : public tick_driver {
public:
    const char* name() const noexcept override { return "counting"; }
    clock_kind kind() const noexcept override { return clock_kind::deterministic; }
    std::expected<void, tick_driver_error> start(tick_host& to) noexcept override {
        ++start_count;
        host = &to;
        return {};
    }
    void stop() noexcept override {
        ++stop_count;
        if (host != nullptr && host->ticks() != nullptr)
            host->ticks()->notify_tick(counts_at_stop);
        if (timers != nullptr)
            was_open = !timers->has_closed();
        host = nullptr;
    }

    tick_host* host = nullptr;
    scheduler* timers = nullptr;
    std::uint32_t counts_at_stop = 0;
    unsigned start_count = 0;
    unsigned stop_count = 0;
    bool was_open = false;
};

struct seen_by_actor {
    unsigned stops = 99;
    bool scheduled = false;
};

class ends_late : public actor<int> {
public:
    ends_late(const counting_driver* driver, seen_by_actor* to) : driver_(driver), to_(to) {}
    void on(int) {}
    void post_stop() {
        to_->stops = driver_->stop_count;
        to_->scheduled =
            context().schedule_once(duration::from_s(1), context().self(), 1).has_value();
    }

private:
    const counting_driver* driver_;
    seen_by_actor* to_;
};

}  // namespace

// SH-1
TEST(device_close, SH_1_the_driver_stops_and_what_it_counted_is_taken) {
    manual_clock time;
    counting_driver driver;
    tick_source ticks;
    bool ran = false;
    auto system = device_system::create(
        "test", {.time = &time, .ticks = &ticks, .driver = &driver, .memory = room}, config);
    ASSERT_TRUE(system.has_value());
    scheduler& timers = *system->world().timers();
    driver.timers = &timers;
    driver.counts_at_stop = 7;
    ASSERT_TRUE(
        timers
            .schedule_once_fn(duration::from_ms(5), [&ran](const execution_batch&) { ran = true; })
            .has_value());
    (void)system->run_until_idle();
    system->terminate();
    time.advance(duration::from_ms(9));
    system->run();
    EXPECT_TRUE(system->has_ended());
    EXPECT_EQ(driver.stop_count, 1u);
    EXPECT_TRUE(driver.was_open);
    EXPECT_EQ(timers.metrics().tick_backlog_peak, 7u);
    EXPECT_TRUE(ran);
    EXPECT_TRUE(timers.has_closed());
    EXPECT_EQ(system->ticks().state, tick_state::suspended);
    ticks.notify_tick(100);  // of nobody any more
    (void)system->run_until_idle();
    EXPECT_EQ(timers.metrics().tick_backlog_peak, 7u);
}

// SH-5
TEST(device_close, SH_5_actors_end_while_the_driver_drives) {
    manual_clock time;
    counting_driver driver;
    seen_by_actor seen;
    {
        auto system = device_system::create(
            "test", {.time = &time, .driver = &driver, .memory = room}, config);
        ASSERT_TRUE(system.has_value());
        ASSERT_TRUE(system->spawn<ends_late>("late", &driver, &seen).has_value());
        (void)system->run_until_idle();
    }
    EXPECT_EQ(seen.stops, 0u);
    EXPECT_TRUE(seen.scheduled);
    EXPECT_EQ(driver.stop_count, 1u);
}

// TS-4, TS-7: who never calls run() has its ticks taken, and its driver seen to, all the same.
TEST(device_close, TS_7_a_loop_of_ones_own_takes_ticks_and_tends_the_driver) {
    manual_clock time;
    counting_driver driver;
    tick_source ticks;
    auto system = device_system::create(
        "test", {.time = &time, .ticks = &ticks, .driver = &driver, .memory = room}, config);
    ASSERT_TRUE(system.has_value());
    ticks.notify_tick(5);
    driver.host->driver_stopped(tick_driver_error::driver_stopped);
    (void)system->run_until_idle();
    EXPECT_EQ(system->world().timers()->metrics().tick_backlog_peak, 5u);
    EXPECT_EQ(system->driver().restarts, 1u);
    EXPECT_EQ(driver.start_count, 2u);
    ticks.notify_tick(6);
    (void)system->run_once();
    EXPECT_EQ(system->world().timers()->metrics().tick_backlog_peak, 6u);
}

// SC-31, SC-37
TEST(device_close, SC_37_what_is_wrong_with_the_scheduler_is_said) {
    const manual_clock time;
    const auto fault = [&](const auto& change) {
        device_config c = config;
        change(c);
        const auto made = device_system::create("test", {.time = &time, .memory = room}, c);
        EXPECT_FALSE(made.has_value());
        EXPECT_EQ(made.error().what, device_error::kind::scheduler_invalid);
        return made.error().scheduler;
    };
    const auto wide = fault([](device_config& c) { c.catch_up = duration::from_ms(33); });
    EXPECT_EQ(wide.code, scheduler_config_errc::catch_up_window_too_large);
    EXPECT_EQ(wide.value, 33);
    EXPECT_EQ(wide.limit, 32);
    EXPECT_EQ(fault([](device_config& c) { c.chunk_ticks = 0; }).code,
              scheduler_config_errc::invalid_chunk);
    EXPECT_EQ(fault([](device_config& c) { c.adaptive_quota_divisor = 0; }).code,
              scheduler_config_errc::invalid_divisor);
    EXPECT_EQ(fault([](device_config& c) { c.shutdown_timeout = {}; }).code,
              scheduler_config_errc::invalid_shutdown_timeout);
}

// SC-3, SC-31, TS-7
TEST(device_close, SC_3_the_settings_of_the_config_are_those_of_the_scheduler) {
    manual_clock time;
    counting_driver driver;
    device_config c = config;
    c.zero_delay = zero_delay_rule::next_tick;
    c.catch_up = duration::from_ms(4);
    c.chunk_ticks = 16;
    c.driver_stops.what = driver_policy::kind::fail_fast;
    auto system =
        device_system::create("test", {.time = &time, .driver = &driver, .memory = room}, c);
    ASSERT_TRUE(system.has_value());
    scheduler& timers = *system->world().timers();
    EXPECT_EQ(timers.metrics().window, 4u);
    EXPECT_EQ(timers.pressure_now().chunk_ticks, 16u);
    EXPECT_TRUE(timers.schedule_once_fn({}, [](const execution_batch&) {}).has_value());
    driver.host->driver_stopped(tick_driver_error::driver_stopped);
    system->run();
    EXPECT_EQ(driver.start_count, 1u);
    EXPECT_TRUE(system->has_ended());
}

/// The last line, and how bad it is.
struct last_line final : log_sink {
    void write(const log_record& r) noexcept override {
        level = r.level;
        text.clear();
        text.add(r.text);
    }
    log_level level = log_level::off;
    text_buffer<200> text;
};

// SH-5: a device tells what became of the tasks, too.
TEST(device_close, SH_5_a_device_tells_what_became_of_the_tasks) {
    alignas(16) static std::byte bytes[2'048];
    arena memory(bytes);
    full_scheduler_services services(
        {.memory = &memory, .tasks_max = 2, .probes_max = 1, .policies_max = 1});
    manual_clock time;
    last_line log;
    device_config c = config;
    c.timer_services = &services;
    c.shutdown_timeout = duration::from_ms(10);
    auto system = device_system::create("test", {.time = &time, .memory = room, .log = &log}, c);
    ASSERT_TRUE(system.has_value());
    scheduler& timers = *system->world().timers();
    ASSERT_TRUE(timers
                    .register_on_close([&time] { (void)time.advance(duration::from_ms(20)); },
                                       close_priority::runtime)
                    .has_value());
    ASSERT_TRUE(timers.register_on_close([] {}, close_priority::user, "never").has_value());
    system->terminate();
    system->run();
    EXPECT_EQ(log.level, log_level::warning);
    EXPECT_EQ(log.text.view(),
              std::string_view("on-close tasks: 1 done, 0 failed, 1 not begun, in 20000 us, time "
                               "was over for number 1, which has no name"));
}

// SH-2, SH-3: with services a device has on-close tasks, too.
TEST(device_close, SH_2_a_device_with_services_runs_on_close_tasks) {
    alignas(16) static std::byte bytes[2'048];
    arena memory(bytes);
    full_scheduler_services services(
        {.memory = &memory, .tasks_max = 2, .probes_max = 1, .policies_max = 1});
    const manual_clock time;
    device_config c = config;
    c.timer_services = &services;
    unsigned runs = 0;
    auto system = device_system::create("test", {.time = &time, .memory = room}, c);
    ASSERT_TRUE(system.has_value());
    scheduler& timers = *system->world().timers();
    ASSERT_TRUE(
        timers.register_on_close([&runs] { ++runs; }, close_priority::user, "hook").has_value());
    system->terminate();
    system->run();
    EXPECT_EQ(runs, 1u);
    EXPECT_EQ(timers.shutdown_progress().succeeded, 1u);
}
