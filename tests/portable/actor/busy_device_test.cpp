// SPDX-License-Identifier: Apache-2.0
//
// Goal: a device that is never idle keeps its time: timers come when the run that is going on has
// ended, ticks are taken, and a driver that stopped is started again (LN-4, SC-1, SC-34, SC-36,
// TS-7).
// Method: two actors that always answer each other, on a hardware clock that every answer moves on
// by a millisecond.
#include <tactus/actor/device_system.hpp>

#include <cstddef>
#include <cstdint>

#include "hardware_clock.hpp"
#include "portable_test.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::hardware_clock;

namespace {

constexpr device_config config{
    .actors_max = 3, .messages_max = 8, .timers_max = 2, .overflow_max = 1};
alignas(16) std::byte room[device_system::required_bytes(config)];

/// Counts nothing, and breaks when told to.
class fragile_driver final : public tick_driver {
public:
    const char* name() const noexcept override { return "fragile"; }
    clock_kind kind() const noexcept override { return clock_kind::realtime_hardware; }
    std::expected<void, tick_driver_error> start(tick_host& to) noexcept override {
        host_ = &to;
        return {};
    }
    void stop() noexcept override {}
    tick_driver_metrics metrics() const noexcept override { return {}; }
    void break_down() noexcept { host_->driver_stopped(tick_driver_error::driver_stopped); }

private:
    tick_host* host_ = nullptr;
};

/// What goes on.
struct course {
    hardware_clock time;
    tick_source* ticks = nullptr;
    std::uint32_t answers = 0;      // each takes a millisecond
    std::uint32_t answers_max = 1;  // then both rest
    std::uint32_t rang_at = 0;      // after so many answers
    actor_ref<int> both[2] = {};
    fragile_driver* breaks = nullptr;  // with the first answer
    // What is seen within the last answer, which ends the system.
    device_system* ends = nullptr;
    std::uint32_t restarts = 0;
    tick_status waiting = {};
    void end() noexcept {
        restarts = ends->driver().restarts;
        waiting = ends->ticks();
        ends->terminate();
    }
};

/// Answers the other.
class partner : public actor<int> {
public:
    partner(course* all, unsigned other) : all_(all), other_(other) {}
    void on(int n) {
        all_->time.pass(duration::from_ms(1));
        if (all_->ticks != nullptr)
            all_->ticks->notify_tick();
        if (all_->answers == 0 && all_->breaks != nullptr)
            all_->breaks->break_down();
        if (++all_->answers < all_->answers_max)
            all_->both[other_].tell(n);
        else if (all_->ends != nullptr)
            all_->end();
    }

private:
    course* all_;
    unsigned other_;
};

/// Is told after 5 ms.
class alarm : public actor<int> {
public:
    explicit alarm(course* all) : all_(all) {}
    void pre_start() { (void)context().start_single_timer("alarm", 1, duration::from_ms(5)); }
    void on(int) { all_->rang_at = all_->answers; }

private:
    course* all_;
};

void begin(device_system& system, course& all, std::uint32_t answers) {
    all.answers_max = answers;
    EXPECT_TRUE(system.spawn<alarm>("alarm", &all).has_value());
    for (unsigned i = 0; i < 2; ++i) {
        const auto made = system.spawn<partner>(i == 0 ? "one" : "two", &all, 1 - i);
        EXPECT_TRUE(made.has_value());
        if (made)
            all.both[i] = *made;
    }
    while (system.run_once()) {
    }
    all.both[0].tell(1);
}

// LN-4, SC-1, SC-36: the interrupt counts, and who runs takes the ticks before every run.
TEST(busy_device, LN_4_SC_1_a_timer_comes_at_its_tick) {
    course all;
    tick_source ticks;
    all.ticks = &ticks;
    auto system =
        device_system::create("test", {.time = &all.time, .ticks = &ticks, .memory = room}, config);
    EXPECT_TRUE(system.has_value());
    begin(*system, all, 40);
    (void)system->run_until_idle();
    EXPECT_EQ(all.answers, 40u);
    EXPECT_EQ(all.rang_at, 5u);
    EXPECT_TRUE(system->ticks() == tick_status{});
}

// LN-4, SC-1: without a source of ticks who runs looks at the clock.
TEST(busy_device, LN_4_SC_1_a_timer_comes_without_a_tick_source_too) {
    course all;
    auto system = device_system::create("test", {.time = &all.time, .memory = room}, config);
    EXPECT_TRUE(system.has_value());
    begin(*system, all, 40);
    (void)system->run_until_idle();
    EXPECT_EQ(all.answers, 40u);
    EXPECT_EQ(all.rang_at, 5u);
}

// The same of run(), which would sleep until the deadline if it could.
TEST(busy_device, LN_4_SC_1_a_timer_comes_while_run_has_its_hands_full) {
    course all;
    auto system = device_system::create("test", {.time = &all.time, .memory = room}, config);
    EXPECT_TRUE(system.has_value());
    begin(*system, all, 40);
    all.ends = &*system;
    system->run();
    EXPECT_EQ(all.answers, 40u);
    EXPECT_EQ(all.rang_at, 5u);
    EXPECT_TRUE(system->has_ended());
}

// TS-7, SC-34: run() has its hands full, and sees to its driver all the same.
TEST(busy_device, TS_7_SC_34_a_driver_is_seen_to_and_ticks_are_taken) {
    course all;
    tick_source ticks;
    fragile_driver driver;
    all.ticks = &ticks;
    auto system = device_system::create(
        "test", {.time = &all.time, .ticks = &ticks, .driver = &driver, .memory = room}, config);
    EXPECT_TRUE(system.has_value());
    begin(*system, all, 200);
    all.breaks = &driver;
    all.ends = &*system;
    system->run();
    EXPECT_EQ(all.answers, 200u);
    EXPECT_EQ(all.restarts, 1u);
    EXPECT_TRUE(all.waiting == tick_status{});
    EXPECT_TRUE(system->has_ended());
}

}  // namespace
