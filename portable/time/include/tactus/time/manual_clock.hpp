// SPDX-License-Identifier: Apache-2.0
//
// Manual clock: time that moves only when told to, for tests and simulation (TS-3).
//
// It also counts ticks of a resolution, keeping the remainder: two advances of 5 ms at 10 ms per
// tick are one tick. Each advance returns the ticks it completed, ready for
// tick_source::inject_manual_tick().
//
// While paused, advancing does nothing; after resume() time goes on from where it stood, without a
// jump.
//
// Thread safety: none; one owner moves and reads it.
#pragma once

#include <tactus/time/clock.hpp>
#include <tactus/time/tick_scale.hpp>

namespace tactus::inline v0 {

class manual_clock final : public clock {
public:
    /// Requires: resolution is positive (check manual_clock:1).
    explicit manual_clock(duration resolution = duration::from_ms(1),
                          instant start = instant::epoch()) noexcept;

    [[nodiscard]] instant now() const noexcept override { return now_; }
    [[nodiscard]] clock_kind kind() const noexcept override { return clock_kind::deterministic; }

    /// Moves on by `d` and returns how many ticks that completed. A negative `d` moves nothing.
    tick advance(duration d) noexcept;
    /// Moves to `t` unless that is in the past; returns how many ticks that completed.
    tick advance_to(instant t) noexcept;

    void pause() noexcept { paused_ = true; }
    void resume() noexcept { paused_ = false; }
    [[nodiscard]] bool paused() const noexcept { return paused_; }

    [[nodiscard]] duration resolution() const noexcept { return scale_.resolution(); }
    /// Ticks completed since the epoch.
    [[nodiscard]] tick ticks() const noexcept { return scale_.floor(now_); }

private:
    tick_scale scale_;
    instant now_;
    bool paused_ = false;
};

}  // namespace tactus::inline v0
