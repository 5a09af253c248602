// SPDX-License-Identifier: Apache-2.0
//
// Manual driver: time passes when a test says so (TS-8, SC-34). It moves a manual clock and drives
// its host as any other driver does: ticks are counted on the host's source, what is due is done by
// act().
//
// Thread safety: none; one owner moves it, and nobody reads its clock meanwhile.
#pragma once

#include <tactus/time/manual_clock.hpp>
#include <tactus/time/tick_driver.hpp>

namespace tactus::inline v0 {

class manual_driver final : public tick_driver {
public:
    /// The clock outlives it.
    explicit manual_driver(manual_clock& time) noexcept : time_(time) {}
    ~manual_driver() { manual_driver::stop(); }

    [[nodiscard]] const char* name() const noexcept override { return "manual"; }
    [[nodiscard]] clock_kind kind() const noexcept override { return clock_kind::deterministic; }

    /// unsupported_environment: the host has another clock. invalid_resolution: the clock counts
    /// other ticks than the host. handle_unavailable: it is started.
    [[nodiscard]] std::expected<void, tick_driver_error> start(tick_host& to) noexcept override;
    void stop() noexcept override { to_ = nullptr; }
    [[nodiscard]] tick_driver_metrics metrics() const noexcept override { return counted_; }
    void listen(driver_listener* to) noexcept override { listener_ = to; }
    void forget(driver_listener& who) noexcept override {
        listener_ = listener_ == &who ? nullptr : listener_;
    }

    /// Moves the clock, counts the ticks this completed, and does what is due then. How many ticks
    /// it were; they are lost when it is not started.
    tick advance(duration d) noexcept { return drive(time_.advance(d)); }
    tick advance_to(instant t) noexcept { return drive(time_.advance_to(t)); }
    /// Ends as a driver does that breaks: the host is told.
    void break_down(tick_driver_error why) noexcept;

private:
    tick drive(tick n) noexcept;

    manual_clock& time_;
    tick_host* to_ = nullptr;  // null: not started
    driver_listener* listener_ = nullptr;
    instant told_at_;
    tick_driver_metrics counted_;
};

}  // namespace tactus::inline v0
