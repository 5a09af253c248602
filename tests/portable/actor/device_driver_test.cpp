// SPDX-License-Identifier: Apache-2.0
//
// Goal: a device system starts the tick driver of its toolbox, says who it is, starts it again when
// it stops, and ends with it (SC-34, SC-35, TS-7, TS-8, TS-9); it judges ticks by its own window
// (SC-31).
// Method: a clock that is set by hand, and the driver that does so.
#include <tactus/actor/device_system.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include <tactus/time/manual_driver.hpp>

#include "hardware_clock.hpp"
#include "portable_test.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used

namespace {

constexpr device_config config{
    .actors_max = 1, .messages_max = 4, .timers_max = 2, .overflow_max = 1};
alignas(16) std::byte room[device_system::required_bytes(config)];

unsigned beats = 0;

class metronome : public actor<int> {
public:
    void pre_start() {
        (void)context().start_timer_at_fixed_rate("beat", 1, duration::from_ms(10));
    }
    void on(int) { ++beats; }
};

struct last_line final : log_sink {
    void write(const log_record& r) noexcept override {
        ++count;
        size = r.text.copy(text, sizeof text);
    }
    unsigned count = 0;
    char text[80];
    std::size_t size = 0;
};

}  // namespace

// SC-34, SC-35, TS-9
TEST(device_driver, SC_35_drives_the_system_from_its_start) {
    manual_clock time;
    manual_driver driver(time);
    tick_source ticks;
    beats = 0;
    {
        auto system = device_system::create(
            "test", {.time = &time, .ticks = &ticks, .driver = &driver, .memory = room}, config);
        EXPECT_TRUE(system.has_value());
        EXPECT_TRUE(system->spawn<metronome>("metronome").has_value());
        EXPECT_TRUE(std::string_view(system->driver().name) == "manual");
        EXPECT_TRUE(std::string_view(system->driver().kind) == "manual");
        EXPECT_EQ(system->driver().resolution, duration::from_ms(1));
        (void)system->run_until_idle();
        EXPECT_EQ(driver.advance(duration::from_ms(10)), 10u);
        EXPECT_EQ(driver.metrics().acts, 1u);  // it is in the mailbox now
        (void)system->run_until_idle();
        EXPECT_EQ(beats, 1u);
    }
    // It ended with the system, and may drive another one.
    EXPECT_EQ(driver.advance(duration::from_ms(1)), 1u);
    EXPECT_EQ(driver.metrics().wakeups, 10u);
}

// SC-35
TEST(device_driver, SC_35_one_that_does_not_start_fails_the_build) {
    manual_clock time;
    manual_clock another;
    manual_driver driver(another);
    const auto system =
        device_system::create("test", {.time = &time, .driver = &driver, .memory = room}, config);
    EXPECT_FALSE(system.has_value());
    EXPECT_EQ(system.error().what, device_error::kind::driver_failed);
    EXPECT_EQ(system.error().driver, tick_driver_error::unsupported_environment);
}

// TS-7, TS-8: in this world, too.
TEST(device_driver, TS_7_one_that_stops_is_told_of_and_started_again) {
    manual_clock time;
    manual_driver driver(time);
    last_line log;
    auto system = device_system::create(
        "test", {.time = &time, .driver = &driver, .memory = room, .log = &log}, config);
    EXPECT_TRUE(system.has_value());
    driver.break_down(tick_driver_error::drift_exceeded);
    EXPECT_TRUE(std::string_view(log.text, log.size) ==
                "scheduler: driver_stopped manual, drift_exceeded");
    system->run();
    EXPECT_EQ(system->driver().restarts, 1u);
    EXPECT_FALSE(system->has_ended());
    // Three attempts in a row, and no more.
    for (unsigned i = 0; i < 3; ++i) {
        driver.break_down(tick_driver_error::driver_stopped);
        (void)time.advance(duration::from_ms(50));
        system->run();
    }
    EXPECT_EQ(system->driver().restarts, 3u);
    EXPECT_TRUE(system->has_ended());
}

// SC-31, TS-4: what counts ticks and who looks at deadlines have one window: 3 ticks on hardware,
// unless told otherwise. Without timers it is the source's own.
TEST(device_driver, SC_31_ticks_are_judged_by_the_window_of_the_scheduler) {
    struct row {
        std::uint32_t timers_max;
        std::optional<duration> catch_up;
        std::uint32_t window;
    };
    const row rows[] = {{2, {}, 3}, {2, duration::from_ms(8), 8}, {0, {}, 5}};
    for (const row& r : rows) {
        const tactus_test::hardware_clock time;
        tick_source ticks({.catch_up_window = 5});
        device_config c = config;
        c.timers_max = r.timers_max;
        c.overflow_max = r.timers_max / 2;
        c.catch_up = r.catch_up;
        auto system =
            device_system::create("test", {.time = &time, .ticks = &ticks, .memory = room}, c);
        EXPECT_TRUE(system.has_value());
        ticks.notify_tick(r.window);
        EXPECT_TRUE(system->ticks() == tick_status{});
        ticks.notify_tick();
        EXPECT_TRUE(system->ticks() == (tick_status{tick_state::backpressured, r.window + 1}));
    }
}
