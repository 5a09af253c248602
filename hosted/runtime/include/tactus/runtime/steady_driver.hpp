// SPDX-License-Identifier: Apache-2.0
//
// Steady driver: a thread that keeps the time of a hosted system when its workers do not (SC-36,
// TS-7). It sleeps until its host has something to do, or for ever; a nearer deadline wakes it, and
// nothing else does: an idle system makes no wake-ups. It sleeps until an instant, not for a while:
// being slow on its way to sleep makes it no later.
//
// When it starts it measures how late this machine wakes a thread that has nothing else to do.
//
// Thread safety: as tick_driver.
#pragma once

#include <cstddef>
#include <memory>

#include <tactus/time/tick_driver.hpp>

namespace tactus::inline v0::runtime {

class steady_driver final : public tick_driver {
public:
    struct options {
        const char* name = "tactus-time";  // of the thread, too: at most 15 characters; a constant
        // Woken later than that it stops by itself, with drift_exceeded; max(): never.
        duration lateness_max = duration::max();
        std::size_t stack_bytes = 0;  // 0: as usual
    };
    explicit steady_driver(const options& o);
    steady_driver() : steady_driver(options{}) {}
    ~steady_driver();

    [[nodiscard]] const char* name() const noexcept override;
    [[nodiscard]] clock_kind kind() const noexcept override { return clock_kind::realtime_host; }
    /// handle_unavailable: it is started. unsupported_environment: the host's clock is none of the
    /// operating system. unsupported_executor: the host cannot be driven by a thread.
    /// invalid_resolution: it is not positive. spawn_failed: there is no thread.
    [[nodiscard]] std::expected<void, tick_driver_error> start(tick_host& to) noexcept override;
    void stop() noexcept override;
    void deadline_added(instant at) noexcept override;
    /// Nothing until it is measured, soon after the start.
    [[nodiscard]] duration jitter() const noexcept override;
    [[nodiscard]] tick_driver_metrics metrics() const noexcept override;
    void listen(driver_listener* to) noexcept override;
    void forget(driver_listener& who) noexcept override;

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace tactus::inline v0::runtime
