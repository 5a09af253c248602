// SPDX-License-Identifier: Apache-2.0
//
// SysTick driver: the interrupt that carries the clock also counts on the tick source of a system,
// and does nothing else (TS-4, TS-8). Whoever runs the system pulls.
//
//     const systick_clock clock({.core_clock_hz = hz});
//     systick_driver driver(clock);
//     tick_source ticks;
//     auto system = device_system::create(
//         "blinky", {.time = &clock, .ticks = &ticks, .driver = &driver, .memory = room});
//
// Thread rule: as the clock's owner.
#pragma once

#include <tactus/time/systick_clock.hpp>
#include <tactus/time/tick_driver.hpp>

namespace tactus::inline v0 {

class systick_driver final : public tick_driver {
public:
    /// The clock outlives it, and was given no tick source of its own.
    explicit systick_driver(const systick_clock& time) noexcept : time_(time) {}
    ~systick_driver() { systick_driver::stop(); }

    [[nodiscard]] const char* name() const noexcept override { return "systick"; }
    [[nodiscard]] clock_kind kind() const noexcept override {
        return clock_kind::realtime_hardware;
    }
    /// unsupported_environment: the host has another clock. invalid_resolution: the host ticks
    /// otherwise. unsupported_executor: it has no tick source. handle_unavailable: the interrupt
    /// counts for somebody else, or this is started.
    [[nodiscard]] std::expected<void, tick_driver_error> start(tick_host& to) noexcept override;
    void stop() noexcept override;
    [[nodiscard]] tick_driver_metrics metrics() const noexcept override;

private:
    const systick_clock& time_;
    bool started_ = false;
    // By the clock, which folds the handler's 32 bits into 64 (TS-5).
    std::uint64_t first_ = 0;
    std::uint64_t counted_ = 0;  // until it was stopped
};

}  // namespace tactus::inline v0
