// SPDX-License-Identifier: Apache-2.0
//
// System driver: who keeps the time of a hosted system, and what is done when that stops (SC-34 …
// SC-36, TS-7, TS-9).
//
// A worker that sleeps as timekeeper is the first to see a deadline: it can run what is due without
// waking another. So the driver acts at a deadline only where no worker waits for it, because all
// are busy; where one does, it comes one and a half ticks later, as a backup (ADR 0016).
//
// A driver that stops by itself is started again by the housekeeper; when that is in vain, or not
// wanted, the system ends.
//
// Thread safety: any thread; start and stop once each.
#pragma once

#include <tactus/dispatch/actor_scheduler.hpp>
#include <tactus/runtime/housekeeper.hpp>
#include <tactus/runtime/steady_driver.hpp>
#include <tactus/scheduler/driver_keeper.hpp>
#include <tactus/scheduler/scheduler_config.hpp>

#include <functional>
#include <optional>
#include <string>

namespace tactus::inline v0::runtime {

class system_driver final : public tick_host, public driver_source, private housekept {
public:
    struct options {
        const clock* time = nullptr;
        scheduler_config config = {};
        tick_driver* given = nullptr;  // null: a steady driver, but none in a test configuration
        driver_policy policy = {};
        scheduler_listener* told = nullptr;  // of drivers that stop
        // There is no driver any more, and will be none; the text says why. On the housekeeper's
        // thread.
        std::function<void(const std::string& why)> gave_up;
    };
    explicit system_driver(options o);
    ~system_driver();
    system_driver(const system_driver&) = delete;
    system_driver& operator=(const system_driver&) = delete;

    /// Who is to be told of nearer deadlines; null: there is none.
    [[nodiscard]] tick_driver* driver() const noexcept {
        return keeper_ ? &keeper_->driver() : nullptr;
    }
    /// From now on it drives the kernel. Both outlive the next stop. Throws driver_exception.
    void start(actor_scheduler& kernel, housekeeper& tends);
    [[nodiscard]] tick_driver_metrics metrics() const noexcept {
        return keeper_ ? keeper_->driver().metrics() : tick_driver_metrics{};
    }
    /// From now on one that stops is seen to. Once, after start.
    void look_after();
    void stop() noexcept;
    [[nodiscard]] driver_view view() const noexcept override;

    [[nodiscard]] const clock& time() const noexcept override { return *how_.time; }
    [[nodiscard]] duration resolution() const noexcept override { return how_.config.resolution; }
    [[nodiscard]] instant next_act() noexcept override;
    bool act(instant now) noexcept override;
    void driver_stopped(tick_driver_error why) noexcept override;

private:
    [[nodiscard]] instant tend(instant now) override;
    /// Requires: there is a driver. It calls, or the housekeeper because of it.
    [[nodiscard]] driver_keeper& keeper() noexcept {
        return *keeper_;  // NOLINT(bugprone-unchecked-optional-access)
    }
    void learn_jitter() noexcept;

    options how_;
    instant built_;
    std::optional<steady_driver> own_;
    std::optional<driver_keeper> keeper_;
    actor_scheduler* kernel_ = nullptr;  // constant while it drives
    housekeeper* tends_ = nullptr;
    bool told_ = false;          // that it gave up; the housekeeper's
    bool knows_jitter_ = false;  // the scheduler does; the driver's thread's
};

}  // namespace tactus::inline v0::runtime
