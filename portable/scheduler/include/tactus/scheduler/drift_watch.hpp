// SPDX-License-Identifier: Apache-2.0
//
// Drift watch: how late ticks are processed, and whether that is worth a warning (SC-33).
//
// Drift is the time from the instant a tick was due to the instant it was processed. A little of it
// is the machine's: the budget is a share of the resolution (5 %), or three times the jitter with
// which the driver wakes under no load, whichever is more. A deterministic clock has no excuse: its
// budget is nothing.
//
// Thread safety: none; of who fires.
#pragma once

#include <cstdint>
#include <optional>

#include <tactus/time/clock.hpp>
#include <tactus/time/instant.hpp>

namespace tactus::inline v0 {

class drift_watch {
public:
    struct options {
        clock_kind clock = clock_kind::realtime_host;
        duration resolution = duration::from_ms(1);
        duration jitter = {};  // of the driver, as measured when it started
    };
    static constexpr std::uint32_t default_percent = 5;
    static constexpr std::uint32_t percent_max = 100;
    [[nodiscard]] static constexpr duration budget_of(
        const options& o, std::uint32_t percent = default_percent) noexcept {
        if (o.clock == clock_kind::deterministic)
            return {};
        const duration share = duration::from_ns(o.resolution.ns() * percent / 100);
        const duration excuse = o.jitter * 3;
        return share < excuse ? excuse : share;
    }

    /// Requires: `percent` is at most percent_max.
    explicit constexpr drift_watch(const options& o,
                                   std::uint32_t percent = default_percent) noexcept
        : percent_(percent), budget_(budget_of(o, percent)) {}

    /// A tick that was due at `due` was processed at `processed`. True: it was late beyond the
    /// budget, and nobody was warned in the last second.
    [[nodiscard]] constexpr bool note(instant due, instant processed) noexcept {
        ++counted_.noted;
        if (processed <= due)
            return false;
        const duration late = processed - due;
        counted_.latest = late;
        if (late > counted_.largest)
            counted_.largest = late;
        if (late <= budget_)
            return false;
        ++counted_.exceeded;
        if (warned_at_ && processed - *warned_at_ < warning_interval)
            return false;
        warned_at_ = processed;
        ++counted_.warned;
        return true;
    }

    [[nodiscard]] constexpr duration budget() const noexcept { return budget_; }
    /// The driver was started again, and measured anew.
    constexpr void set_budget(const options& o) noexcept { budget_ = budget_of(o, percent_); }

    struct counts {
        std::uint64_t noted = 0;     // ticks
        std::uint64_t exceeded = 0;  // of those: beyond the budget
        std::uint64_t warned = 0;    // of those: were worth a warning
        duration latest = {};        // of the last that was late
        duration largest = {};
    };
    [[nodiscard]] constexpr const counts& counted() const noexcept { return counted_; }

private:
    static constexpr duration warning_interval = duration::from_s(1);

    std::uint32_t percent_;
    duration budget_;
    counts counted_;
    std::optional<instant> warned_at_;
};

}  // namespace tactus::inline v0
