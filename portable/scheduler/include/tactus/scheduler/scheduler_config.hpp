// SPDX-License-Identifier: Apache-2.0
//
// Configuration of a scheduler, and what is wrong with one (SC-31, SC-34, SC-37, BP-1).
//
// Plain values with defaults; validate() looks at all of them before anything is built and names
// the first that is wrong: field, value, limit. `scheduler_config::for_clock` gives the defaults of
// a clock's kind, which are valid (TC-X04).
//
// Everything that is derived from the values is derived here, once: the catch-up window in ticks,
// the capacities of a profile, the adaptive quota.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include <tactus/port/port.hpp>
#include <tactus/time/clock.hpp>
#include <tactus/time/instant.hpp>

namespace tactus::inline v0 {

/// How much a scheduler has room for.
struct scheduler_capacity {
    /// Stands for "grows".
    static constexpr std::uint32_t unlimited = std::numeric_limits<std::uint32_t>::max();

    std::uint32_t timers = 0;    // also the quota (BP-2)
    std::uint32_t overflow = 0;  // of the timers, those beyond the wheel
    std::uint32_t tasks = 0;     // on-close tasks

    friend constexpr bool operator==(const scheduler_capacity&,
                                     const scheduler_capacity&) = default;
};

/// The most a custom profile may ask for (BP-1).
inline constexpr scheduler_capacity scheduler_capacity_max{25'600, 6'400, 1'024};

enum class scheduler_profile : std::uint8_t {
    micro,
    tiny,
    small,
    standard,
    large,
    unbounded,  // hosted only
    custom,     // as scheduler_config::custom says
};
inline constexpr std::size_t scheduler_profile_count = 7;
[[nodiscard]] const char* name_of(scheduler_profile profile) noexcept;

/// Who moves the ticks (SC-34); follows from the clock.
enum class runner_mode : std::uint8_t { manual, async_host, hardware };
inline constexpr std::size_t runner_mode_count = 3;
[[nodiscard]] const char* name_of(runner_mode mode) noexcept;
[[nodiscard]] constexpr runner_mode runner_mode_of(clock_kind kind) noexcept {
    switch (kind) {
    case clock_kind::realtime_host:
        return runner_mode::async_host;
    case clock_kind::realtime_hardware:
        return runner_mode::hardware;
    case clock_kind::deterministic:
        break;
    }
    return runner_mode::manual;
}

/// What a delay of zero is (SC-3).
enum class zero_delay_rule : std::uint8_t { reject, next_tick };
/// Manual ticks are for tests: a production configuration refuses them (SC-34).
enum class scheduler_use : std::uint8_t { production, test };

struct scheduler_config {
    clock_kind clock = clock_kind::realtime_host;
    scheduler_use use = scheduler_use::production;
    zero_delay_rule zero_delay = zero_delay_rule::reject;
    scheduler_profile profile =
        port::has_interrupts ? scheduler_profile::micro : scheduler_profile::unbounded;
    scheduler_capacity custom = {};  // of the profile custom
    duration resolution = duration::from_ms(1);
    std::optional<duration> catch_up = {};  // none: the default of the clock's kind
    std::uint32_t chunk_ticks = 1'024;
    std::uint32_t adaptive_quota_divisor = 2;
    std::uint32_t cooldown_ticks = 5;          // 0: none
    std::uint32_t diagnostics_capacity = 256;  // events in the queue of who subscribes (SD-2)
    duration shutdown_timeout = duration::from_s(5);

    /// The defaults for a clock of this kind. Valid.
    [[nodiscard]] static constexpr scheduler_config for_clock(clock_kind kind) noexcept {
        scheduler_config c;
        c.clock = kind;
        if (kind == clock_kind::deterministic)
            c.use = scheduler_use::test;
        if (kind == clock_kind::realtime_hardware)
            c.profile = scheduler_profile::micro;
        return c;
    }
};

// The comment says what `value` and `limit` of the error hold.
enum class scheduler_config_errc : std::uint8_t {
    invalid_resolution,            // ns | 1, or the longest in ns
    invalid_catch_up_window,       // ns | 1
    catch_up_window_too_large,     // ticks | the most
    invalid_chunk,                 // 0 | 1
    capacity_out_of_range,         // given | the most, or the least where it is below that
    invalid_divisor,               // 0 | 1
    invalid_shutdown_timeout,      // ns | 1
    invalid_diagnostics_capacity,  // 0 | 1
    unsupported_profile,         // the profile's number | that of large: without a heap none grows
    manual_ticks_in_production,  // the number of the clock's or driver's kind | of realtime_host
};
inline constexpr std::size_t scheduler_config_errc_count = 10;
[[nodiscard]] const char* name_of(scheduler_config_errc code) noexcept;

struct scheduler_config_error {
    scheduler_config_errc code{};
    const char* field = "";  // of scheduler_config, as it is spelt there
    std::int64_t value = 0;
    std::int64_t limit = 0;
};

/// Writes a sentence such as "catch_up: a window of 33 ticks exceeds the limit of 32 ticks" into
/// `out`, cut to its size, and returns the part written.
std::string_view describe(const scheduler_config_error& error, std::span<char> out) noexcept;

/// The first thing that is wrong, if any.
[[nodiscard]] std::expected<void, scheduler_config_error> validate(
    const scheduler_config& config) noexcept;

inline constexpr duration resolution_max = duration::from_s(1);

/// The longest catch-up window of a clock's kind, in ticks (SC-31).
[[nodiscard]] constexpr std::uint32_t catch_up_ticks_max(clock_kind kind) noexcept {
    return kind == clock_kind::realtime_hardware ? 8 : 32;
}

/// ceil(window / resolution). Requires: resolution is positive. Nothing for a negative window.
[[nodiscard]] constexpr std::uint64_t window_in_ticks(duration window,
                                                      duration resolution) noexcept {
    if (window <= duration::zero())
        return 0;
    const auto length = static_cast<std::uint64_t>(window.ns());
    const auto tick_length = static_cast<std::uint64_t>(resolution.ns());
    return length / tick_length + (length % tick_length != 0 ? 1u : 0u);
}

/// The catch-up window of a configuration, in ticks (SC-31). Requires: resolution is positive.
[[nodiscard]] constexpr std::uint64_t catch_up_ticks(const scheduler_config& config) noexcept {
    if (config.catch_up)
        return window_in_ticks(*config.catch_up, config.resolution);
    if (config.clock == clock_kind::realtime_hardware)
        return 3;
    const std::uint64_t wanted = window_in_ticks(duration::from_ms(50), config.resolution);
    const std::uint64_t most = catch_up_ticks_max(config.clock);
    return wanted < most ? wanted : most;
}

/// What a profile has room for; of custom: nothing, see below.
[[nodiscard]] constexpr scheduler_capacity capacity_of(scheduler_profile profile) noexcept {
    constexpr std::uint32_t grows = scheduler_capacity::unlimited;
    switch (profile) {
    case scheduler_profile::micro:
        return {64, 16, 8};
    case scheduler_profile::tiny:
        return {2'048, 512, 128};
    case scheduler_profile::small:
        return {4'096, 1'024, 256};
    case scheduler_profile::standard:
        return {10'240, 2'560, 512};
    case scheduler_profile::large:
        return {25'600, 6'400, 1'024};
    case scheduler_profile::unbounded:
        return {grows, grows, grows};
    case scheduler_profile::custom:
        break;
    }
    return {};
}
[[nodiscard]] constexpr scheduler_capacity capacity_of(const scheduler_config& config) noexcept {
    return config.profile == scheduler_profile::custom ? config.custom
                                                       : capacity_of(config.profile);
}

/// How many timers may be active under backpressure (BP-3): quota / divisor, but at least one, so
/// that a quota can be free again; all where there is no quota (BP-9). Requires: divisor is
/// positive.
[[nodiscard]] constexpr std::uint32_t adaptive_quota_of(std::uint32_t quota,
                                                        std::uint32_t divisor) noexcept {
    if (quota == scheduler_capacity::unlimited)
        return quota;
    return quota / divisor == 0 ? 1 : quota / divisor;
}

}  // namespace tactus::inline v0
