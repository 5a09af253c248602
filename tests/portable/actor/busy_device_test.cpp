// SPDX-License-Identifier: Apache-2.0
//
// Goal: a device that is never idle keeps its time: ticks are taken, and a driver that stopped is
// started again (SC-34, TS-7).
// Method: two actors that always answer each other, on a hardware clock that every answer moves on
// by a millisecond.
#include <tactus/actor/device_system.hpp>

#include <cstddef>
#include <cstdint>

#include "portable_test.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used

namespace {

constexpr device_config config{
    .actors_max = 3, .messages_max = 8, .timers_max = 2, .overflow_max = 1};
alignas(16) std::byte room[device_system::required_bytes(config)];

class counter_clock final : public clock {
public:
    instant now() const noexcept override { return now_; }
    clock_kind kind() const noexcept override { return clock_kind::realtime_hardware; }
    void pass(duration d) noexcept { now_ = now_ + d; }

private:
    instant now_ = instant::epoch();
};

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
    counter_clock time;
    tick_source* ticks = nullptr;
    std::uint32_t answers = 0;      // each takes a millisecond
    std::uint32_t answers_max = 1;  // then both rest
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

void begin(device_system& system, course& all, std::uint32_t answers) {
    all.answers_max = answers;
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
