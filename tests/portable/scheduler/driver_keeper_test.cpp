// SPDX-License-Identifier: Apache-2.0
//
// Goal: a driver that stops by itself is told of and started again, three times 50 ms apart, or not
// at all, as the policy says (TS-7, TS-8); who drives is known (TS-9).
// Method: a driver that does what the test says, and a clock that is set by hand.
#include <tactus/scheduler/driver_keeper.hpp>

#include <string_view>

#include <tactus/time/manual_clock.hpp>

#include "portable_test.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used

namespace {

class obedient_driver final : public tick_driver {
public:
    const char* name() const noexcept override { return "obedient"; }
    clock_kind kind() const noexcept override { return clock_kind::realtime_hardware; }
    std::expected<void, tick_driver_error> start(tick_host& to) noexcept override {
        ++start_count;
        if (refusals != 0) {
            --refusals;
            return std::unexpected(tick_driver_error::spawn_failed);
        }
        EXPECT_EQ(host, nullptr);
        host = &to;
        if (breaks_at_once)
            break_down();
        return {};
    }
    void stop() noexcept override {
        ++stop_count;
        host = nullptr;
    }
    void break_down(tick_driver_error why = tick_driver_error::driver_stopped) {
        host->driver_stopped(why);
    }

    tick_host* host = nullptr;
    unsigned refusals = 0;
    bool breaks_at_once = false;
    unsigned start_count = 0;
    unsigned stop_count = 0;
};

struct warnings final : scheduler_listener {
    void warned(const scheduler_warning& what) noexcept override {
        ++count;
        last = what;
        if (count == stops_at)
            stops->stop();
    }
    unsigned count = 0;
    unsigned stops_at = 0;
    driver_keeper* stops = nullptr;
    scheduler_warning last;
};

struct rig final : tick_host {
    explicit rig(const driver_policy& policy = {})
        : keeper({.driver = &driver, .host = this, .policy = policy, .listener = &told}) {}
    ~rig() { keeper.stop(); }

    const tactus::clock& time() const noexcept override { return now; }
    duration resolution() const noexcept override { return duration::from_ms(2); }
    void driver_stopped(tick_driver_error why) noexcept override { next = keeper.stopped(why); }

    /// Time passes, and who looks after it does so when it said.
    void pass(duration d) {
        const instant end = now.now() + d;
        while (next <= end) {
            now.advance_to(next);
            next = keeper.tend(now.now());
        }
        now.advance_to(end);
    }

    manual_clock now;
    obedient_driver driver;
    warnings told;
    instant next = instant::never();
    driver_keeper keeper;
};

using state = driver_keeper::state;

}  // namespace

// SC-35
TEST(driver_keeper, SC_35_one_that_does_not_start_is_an_error) {
    rig r;
    r.driver.refusals = 1;
    const auto begun = r.keeper.start();
    EXPECT_FALSE(begun.has_value());
    EXPECT_EQ(begun.error(), tick_driver_error::spawn_failed);
    EXPECT_EQ(r.keeper.now(), state::off);
    EXPECT_EQ(r.told.count, 0u);
}

// TS-9
TEST(driver_keeper, TS_9_says_who_drives) {
    rig r;
    r.now.advance(duration::from_s(7));
    EXPECT_TRUE(r.keeper.start().has_value());
    const driver_view v = r.keeper.view();
    EXPECT_TRUE(std::string_view(v.name) == "obedient");
    EXPECT_TRUE(std::string_view(v.kind) == "hardware");
    EXPECT_EQ(v.resolution, duration::from_ms(2));
    EXPECT_EQ(v.since, instant::epoch() + duration::from_s(7));
    EXPECT_EQ(v.restarts, 0u);
}

// TS-7, TS-8, PK-SCH-22: told with name and cause, and started again at once.
TEST(driver_keeper, TS_8_a_driver_that_stops_is_told_of_and_started_again) {
    rig r;
    EXPECT_TRUE(r.keeper.start().has_value());
    r.now.advance(duration::from_s(3));
    r.driver.break_down(tick_driver_error::drift_exceeded);
    EXPECT_EQ(r.keeper.now(), state::broken);
    EXPECT_EQ(r.told.count, 1u);
    EXPECT_EQ(r.told.last.kind, scheduler_warning_kind::driver_stopped);
    EXPECT_TRUE(std::string_view(r.told.last.about) == "obedient");
    EXPECT_TRUE(std::string_view(r.told.last.text) == "drift_exceeded");
    EXPECT_EQ(r.told.last.value, 0);
    EXPECT_EQ(r.told.last.limit, 3);
    char text[160];
    EXPECT_TRUE(describe(r.told.last, text) ==
                "the tick driver obedient stopped, drift_exceeded: 0 of at most 3 restarts so far");
    r.pass(duration::from_ns(1));
    EXPECT_EQ(r.keeper.now(), state::on);
    EXPECT_EQ(r.driver.start_count, 2u);
    EXPECT_EQ(r.keeper.view().restarts, 1u);
    EXPECT_EQ(r.keeper.view().since, instant::epoch() + duration::from_s(3));
}

// TS-7: three attempts, 50 ms apart.
TEST(driver_keeper, TS_7_three_attempts_50_ms_apart) {
    rig r;
    EXPECT_TRUE(r.keeper.start().has_value());
    r.driver.refusals = 100;
    r.driver.break_down();
    r.pass(duration::from_ms(49));
    EXPECT_EQ(r.driver.start_count, 2u);
    r.pass(duration::from_ms(1));
    EXPECT_EQ(r.driver.start_count, 3u);
    r.pass(duration::from_ms(49));
    EXPECT_EQ(r.driver.start_count, 3u);
    EXPECT_EQ(r.keeper.now(), state::broken);
    r.pass(duration::from_ms(1));
    EXPECT_EQ(r.driver.start_count, 4u);
    EXPECT_EQ(r.keeper.now(), state::given_up);
    EXPECT_EQ(r.keeper.cause(), tick_driver_error::spawn_failed);
    EXPECT_EQ(r.told.count, 4u);
    EXPECT_EQ(r.keeper.view().restarts, 0u);
    r.pass(duration::from_s(10));
    EXPECT_EQ(r.driver.start_count, 4u);
}

// TS-7: one that starts and stops at once uses its attempts up, too.
TEST(driver_keeper, TS_7_one_that_breaks_when_it_is_started_is_given_up) {
    rig r;
    EXPECT_TRUE(r.keeper.start().has_value());
    r.driver.breaks_at_once = true;
    r.driver.break_down();
    r.pass(duration::from_s(10));
    EXPECT_EQ(r.keeper.now(), state::given_up);
    EXPECT_EQ(r.driver.start_count, 4u);
    EXPECT_EQ(r.keeper.view().restarts, 3u);
}

// TS-7: who ran for a second begins anew.
TEST(driver_keeper, TS_7_attempts_are_counted_anew_after_a_second) {
    rig r;
    EXPECT_TRUE(r.keeper.start().has_value());
    for (unsigned i = 0; i < 10; ++i) {
        r.driver.break_down();
        r.pass(duration::from_ms(100));
        EXPECT_EQ(r.keeper.now(), state::on);
        r.pass(duration::from_s(1));
    }
    EXPECT_EQ(r.keeper.view().restarts, 10u);
    for (unsigned i = 0; i < 3; ++i) {
        r.driver.break_down();
        r.pass(duration::from_ms(100));
        EXPECT_EQ(r.keeper.now(), state::on);
    }
    r.driver.break_down();
    EXPECT_EQ(r.keeper.now(), state::given_up);
}

// TS-7
TEST(driver_keeper, TS_7_fail_fast_gives_up_at_once) {
    rig r({.what = driver_policy::kind::fail_fast});
    EXPECT_TRUE(r.keeper.start().has_value());
    r.driver.break_down(tick_driver_error::drift_exceeded);
    EXPECT_EQ(r.keeper.now(), state::given_up);
    EXPECT_EQ(r.told.count, 1u);
    EXPECT_EQ(r.told.last.limit, 0);
    r.pass(duration::from_s(1));
    EXPECT_EQ(r.driver.start_count, 1u);
}

// SC-35, TC-S52: who is stopped stays so, whatever it says in its last moment.
TEST(driver_keeper, TC_S52_one_that_is_stopped_is_not_started_again) {
    rig r;
    EXPECT_TRUE(r.keeper.start().has_value());
    r.driver.break_down();
    r.keeper.stop();
    EXPECT_EQ(r.driver.stop_count, 1u);
    r.pass(duration::from_s(1));
    EXPECT_EQ(r.driver.start_count, 1u);
    r.keeper.stop();
    EXPECT_EQ(r.driver.stop_count, 1u);
    EXPECT_EQ(r.keeper.stopped(tick_driver_error::driver_stopped), instant::never());
    EXPECT_EQ(r.told.count, 1u);
}

// TS-8: told under no lock, or who is told could not stop it.
TEST(driver_keeper, TS_8_who_is_told_of_a_failed_restart_may_stop_it) {
    rig r;
    EXPECT_TRUE(r.keeper.start().has_value());
    r.told.stops = &r.keeper;
    r.told.stops_at = 2;
    r.driver.refusals = 100;
    r.driver.break_down();
    r.pass(duration::from_s(1));
    EXPECT_EQ(r.told.count, 2u);
    EXPECT_EQ(r.keeper.now(), state::off);
    EXPECT_EQ(r.driver.start_count, 2u);
}
