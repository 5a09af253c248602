// SPDX-License-Identifier: Apache-2.0
//
// Goal: an interrupt handler that schedules or cancels is refused, at whatever instruction it
// comes, and what it interrupts is not disturbed (TS-4, SC-6).
// Method: SysTick fires while main registers and cancels, so that it also comes while main is
// inside the scheduler's lock. A handler that waited for the lock would wait for ever.
#include <tactus/actor/device_system.hpp>
#include <tactus/port/systick.hpp>

#include <cstddef>
#include <cstdint>

#include <tactus/time/manual_clock.hpp>

#include "portable_test.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used

namespace {

constexpr device_config config{
    .actors_max = 1, .messages_max = 4, .timers_max = 4, .overflow_max = 1};
alignas(16) std::byte room[device_system::required_bytes(config)];

constexpr std::uint32_t interrupts_wanted = 2'000;
constexpr std::uint32_t cycles_per_interrupt = 4'999;

struct attempts {
    scheduler* timers = nullptr;
    cancellable standing;
    std::uint32_t calls = 0;
    std::uint32_t refused = 0;
    std::uint32_t cancelled = 0;
};

void handler(void* context) noexcept {
    auto& a = *static_cast<attempts*>(context);
    ++a.calls;
    const auto made =
        a.timers->schedule_once_fn(duration::from_s(1), [](const execution_batch&) {});
    if (!made.has_value() && made.error().code == scheduler_errc::within_interrupt)
        ++a.refused;
    if (a.timers->cancel(a.standing))
        ++a.cancelled;
}

}  // namespace

// TS-4, SC-6
TEST(interrupt_scheduling, TS_4_an_interrupt_handler_is_refused) {
    EXPECT_FALSE(port::in_interrupt());
    const manual_clock time;
    auto system = device_system::create("test", {.time = &time, .memory = room}, config);
    ASSERT_TRUE(system.has_value());
    attempts a;
    a.timers = system->world().timers();
    const auto standing =
        a.timers->schedule_once_fn(duration::from_s(1), [](const execution_batch&) {});
    ASSERT_TRUE(standing.has_value());
    a.standing = *standing;
    std::uint32_t made_count = 0;
    std::uint32_t good_count = 0;
    port::systick::start({.cycles_per_tick = cycles_per_interrupt, .on_tick = {handler, &a}});
    while (port::systick::count() < interrupts_wanted) {
        auto made = a.timers->schedule_once_fn(duration::from_s(2), [](const execution_batch&) {});
        ++made_count;
        if (made.has_value() && made->cancel())
            ++good_count;
    }
    port::systick::stop();
    EXPECT_GE(a.calls, interrupts_wanted);
    EXPECT_EQ(a.refused, a.calls);
    EXPECT_EQ(a.cancelled, 0u);
    EXPECT_GT(made_count, 0u);
    EXPECT_EQ(good_count, made_count);
    EXPECT_EQ(a.timers->active_count(), 1u);
    EXPECT_TRUE(a.timers->cancel(a.standing));
    TEST_LOG("interrupts:", a.calls);
    TEST_LOG("registered and cancelled by main:", made_count);
}
