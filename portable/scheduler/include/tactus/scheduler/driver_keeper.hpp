// SPDX-License-Identifier: Apache-2.0
//
// Driver keeper: starts a tick driver, and again when it stops by itself (TS-7, TS-8).
//
// A driver that stopped is told of as a warning, driver_stopped {name, cause}, in every world. What
// then follows is the policy's: it is started again, at once and then at intervals, so many times;
// or the keeper gives up, as it does when all attempts were in vain. A driver that has run for a
// second has all its attempts before it again.
//
// It has no thread: whoever is told of a driver's end calls tend(), and again when that says.
//
//   state     means                           start   stopped by itself   tend
//   off       not started, or stopped         on      -                   -
//   on        the driver drives               -       broken              -
//   broken    it has stopped                  -       -                   on, broken, given_up
//   given_up  nobody starts it any more       -       -                   -
//
// Thread safety: any thread. Starting and stopping the driver is done by one at a time, and no lock
// is held then that stopped() needs. The listener is told under no lock: it may stop the keeper.
#pragma once

#include <cstdint>
#include <expected>

#include <tactus/port/port.hpp>
#include <tactus/scheduler/scheduler_event.hpp>
#include <tactus/time/tick_driver.hpp>

namespace tactus::inline v0 {

/// What becomes of a driver that stops by itself.
struct driver_policy {
    enum class kind : std::uint8_t { retry, fail_fast };
    kind what = kind::retry;
    // Of retry.
    std::uint32_t attempts = 3;
    duration apart = duration::from_ms(50);
};

class driver_keeper final : public driver_source {
public:
    enum class state : std::uint8_t { off, on, broken, given_up };

    struct options {
        tick_driver* driver = nullptr;
        tick_host* host = nullptr;  // passes driver_stopped on to stopped()
        driver_policy policy = {};
        scheduler_listener* listener = nullptr;  // null: nobody is told
    };
    /// All of it outlives the keeper.
    explicit driver_keeper(const options& o) noexcept : options_(o) {}
    driver_keeper(const driver_keeper&) = delete;
    driver_keeper& operator=(const driver_keeper&) = delete;
    /// Requires: it was stopped, or never started (check driver_keeper:1).
    ~driver_keeper();

    /// The first time. An error changes nothing: building what it is for fails (SC-35).
    [[nodiscard]] std::expected<void, tick_driver_error> start() noexcept;
    /// The driver's threads have ended when this returns, and nobody starts it again.
    void stop() noexcept;

    /// It has stopped by itself: publishes that, and gives back when tend() is to be called. Any
    /// thread of the driver's.
    instant stopped(tick_driver_error why) noexcept;
    /// Starts it again if it is time to; gives back when to call this next: instant::never() when
    /// there is nothing to do until stopped().
    [[nodiscard]] instant tend(instant now) noexcept;

    [[nodiscard]] state now() const noexcept;
    /// Why it stopped last, or could not be started again.
    [[nodiscard]] tick_driver_error cause() const noexcept;
    /// TS-9.
    [[nodiscard]] driver_view view() const noexcept override;
    [[nodiscard]] tick_driver& driver() const noexcept { return *options_.driver; }

private:
    TACTUS_CHECK_MODULE("driver_keeper");
    /// Ran for so long: what comes is another failure.
    static constexpr duration settled = duration::from_s(1);

    struct tended {
        instant at = instant::never();  // when it is to be tended next
        bool refused = false;           // it could not be started: that is to be published
    };
    [[nodiscard]] tended restart(instant now, scheduler_warning& why) noexcept;
    /// Under the lock; what is to be published.
    [[nodiscard]] scheduler_warning broke(tick_driver_error why, instant now) noexcept;
    void publish(const scheduler_warning& what) const noexcept {
        if (options_.listener != nullptr)
            options_.listener->warned(what);
    }

    const options options_;

    port::mutex changing_;  // held by who starts or stops the driver
    mutable port::mutex mutex_;
    // Under `mutex_`.
    state state_ = state::off;
    tick_driver_error cause_{};
    std::uint32_t restarts_ = 0;
    std::uint32_t attempts_ = 0;  // since it has last settled
    instant since_;
    instant next_ = instant::never();  // while broken: when it is to be started
};

}  // namespace tactus::inline v0
