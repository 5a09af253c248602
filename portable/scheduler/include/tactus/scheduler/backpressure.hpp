// SPDX-License-Identifier: Apache-2.0
//
// Backpressure: who may still register a timer when the scheduler cannot keep up (SC-32, BP-2 …
// BP-4, BP-9).
//
// Three states and a table (backpressure_rows). What is seen at a tick, and what is asked for, is
// turned into events; the table says where each leads:
//
//   normal         everybody, up to the quota
//   backpressure   high priority alone, up to the adaptive quota
//   rejecting      nobody
//
// Going up is immediate. Going down is one step per tick, and only while it is calm: out of
// rejecting when what led there is gone and the cooldown is over. Ticks in which nothing was due
// were calm, although nobody looked (SC-38): whoever comes after them may go down two steps, and
// what was found before them is not "in a row" with what is found after.
//
// The machine decides and tells nobody: what is to be published is returned, for the caller to
// publish when it holds no lock; it sets `at`.
//
// Invariants
//   P1  cause is none exactly in the state normal
//   P2  a refused request changes nothing but the state, and only from backpressure to rejecting
//
// Thread safety: none; belongs to the owner of the wheel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>

#include <tactus/scheduler/scheduler_config.hpp>
#include <tactus/scheduler/scheduler_error.hpp>
#include <tactus/scheduler/scheduler_event.hpp>
#include <tactus/time/backlog_judge.hpp>
#include <tactus/time/tick_scale.hpp>

namespace tactus::inline v0 {

enum class backpressure_state : std::uint8_t { normal, backpressure, rejecting };
inline constexpr std::size_t backpressure_state_count = 3;
[[nodiscard]] const char* name_of(backpressure_state state) noexcept;

enum class backpressure_event : std::uint8_t {
    behind,     // backlog > window
    engaged,    // the gauge is
    stalled,    // backlog > 2 windows, twice in a row
    no_quota,   // an acceptable request found the quota of the state used up
    recovered,  // what led to rejecting is gone, and the cooldown over
    calm,       // backlog < 0.8 windows, and the gauge clear
};
inline constexpr std::size_t backpressure_event_count = 6;
[[nodiscard]] const char* name_of(backpressure_event event) noexcept;

struct backpressure_row {
    backpressure_state from;
    backpressure_event on;
    backpressure_state to;
    backpressure_cause cause;  // none: as it was
};

/// Every pair of state and event, in the order of their numbers.
inline constexpr auto backpressure_rows = [] {
    using enum backpressure_state;
    using enum backpressure_event;
    using cause = backpressure_cause;
    // clang-format off
    return std::to_array<backpressure_row>({
        // from        on         to            because of
        {normal,       behind,    backpressure, cause::driver},
        {normal,       engaged,   backpressure, cause::gauge},
        {normal,       stalled,   rejecting,    cause::driver},
        {normal,       no_quota,  normal,       cause::none},   // quota_exceeded: no state (BP-9)
        {normal,       recovered, normal,       cause::none},
        {normal,       calm,      normal,       cause::none},
        {backpressure, behind,    backpressure, cause::none},
        {backpressure, engaged,   backpressure, cause::none},
        {backpressure, stalled,   rejecting,    cause::driver},
        {backpressure, no_quota,  rejecting,    cause::adaptive_quota},
        {backpressure, recovered, backpressure, cause::none},
        {backpressure, calm,      normal,       cause::none},
        {rejecting,    behind,    rejecting,    cause::none},
        {rejecting,    engaged,   rejecting,    cause::none},
        {rejecting,    stalled,   rejecting,    cause::driver}, // and the cooldown begins again
        {rejecting,    no_quota,  rejecting,    cause::none},
        {rejecting,    recovered, backpressure, cause::none},
        {rejecting,    calm,      rejecting,    cause::none},   // never two steps at once (BP-4)
    });
    // clang-format on
}();
static_assert(backpressure_rows.size() == backpressure_state_count * backpressure_event_count);

[[nodiscard]] constexpr const backpressure_row& row_of(backpressure_state from,
                                                       backpressure_event on) noexcept {
    return backpressure_rows[static_cast<std::size_t>(from) * backpressure_event_count +
                             static_cast<std::size_t>(on)];
}

/// What is to be published, in this order.
class pressure_warnings {
public:
    // Two when it stalls; two when it goes down two steps; two when a request meets the quota.
    static constexpr std::size_t count_max = 2;

    [[nodiscard]] std::span<const scheduler_warning> all() const noexcept {
        return {warnings_.data(), count_};
    }
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }

private:
    friend class backpressure;
    void add(const scheduler_warning& w) noexcept;

    std::array<scheduler_warning, count_max> warnings_{};
    std::size_t count_ = 0;
};

class backpressure {
public:
    struct options {
        std::uint32_t window = 32;  // ticks; at least 1 (check backpressure:1)
        std::uint32_t quota = scheduler_capacity::unlimited;
        std::uint32_t adaptive_quota = scheduler_capacity::unlimited;
        std::uint32_t cooldown_ticks = 5;
        std::uint32_t chunk_ticks = 1'024;  // at least 1 (check backpressure:2)
        tick start = 0;
    };
    explicit backpressure(const options& o) noexcept;
    /// Requires: the configuration is valid.
    backpressure(const scheduler_config& config, tick start) noexcept;

    /// What is seen at a tick.
    struct observation {
        tick now = 0;                // not before the last one (check backpressure:3)
        std::uint64_t backlog = 0;   // ticks by which the earliest due deadline is late (SC-38)
        std::uint32_t active = 0;    // timers
        bool gauge_engaged = false;  // backpressure_gauge::sample
    };
    /// Takes note of it. Called when timers run, and before admit() when the state is not normal:
    /// the state then is that of now, although nobody has looked for long.
    [[nodiscard]] pressure_warnings observe(const observation& seen) noexcept;

    struct request {
        timer_priority priority = timer_priority::normal;
        std::uint32_t active = 0;  // timers, without this one
        tick now = 0;
    };
    struct admission {
        std::expected<void, scheduler_error> result;
        pressure_warnings warnings;
    };
    /// True: admit() would say yes, and nothing else would change.
    [[nodiscard]] bool admits_at_once(std::uint32_t active) const noexcept {
        return state_ == backpressure_state::normal && active < options_.quota && !quota_told_;
    }
    /// May a timer be registered? quota_reached is told once, until a request is admitted again.
    [[nodiscard]] admission admit(const request& wanted) noexcept;

    [[nodiscard]] backpressure_state state() const noexcept { return state_; }
    [[nodiscard]] backpressure_cause cause() const noexcept { return cause_; }
    /// Of the last observation.
    [[nodiscard]] tick_mode mode() const noexcept { return judge_.mode(); }
    [[nodiscard]] tick_status status() const noexcept { return judge_.status(); }
    [[nodiscard]] std::uint64_t backlog() const noexcept { return judge_.backlog(); }
    /// How many ticks may be processed at once now: half of them under backpressure.
    [[nodiscard]] std::uint32_t chunk_ticks() const noexcept;
    [[nodiscard]] std::uint32_t window() const noexcept { return judge_.window(); }
    [[nodiscard]] std::uint32_t quota() const noexcept { return options_.quota; }
    [[nodiscard]] std::uint32_t adaptive_quota() const noexcept { return options_.adaptive_quota; }

    // Metrics (BP-8, BP-10).
    [[nodiscard]] std::uint64_t backlog_peak() const noexcept { return backlog_peak_; }
    /// Ticks at which the backlog was found above the window.
    [[nodiscard]] std::uint64_t above_window_count() const noexcept { return above_window_; }
    /// Of a request that was refused by what is not looked at here.
    void count_refused(backpressure_cause why) noexcept {
        ++refused_[static_cast<std::size_t>(why)];
    }
    /// Requests refused; with the cause none those beyond the quota.
    [[nodiscard]] std::uint64_t refused_count(backpressure_cause why) const noexcept {
        return refused_[static_cast<std::size_t>(why)];
    }

private:
    void look(const observation& seen) noexcept;
    void apply(backpressure_event event, tick now, pressure_warnings& out) noexcept;
    [[nodiscard]] bool has_recovered(const observation& seen) const noexcept;
    [[nodiscard]] admission refuse(const request& wanted, scheduler_errc code,
                                   std::uint32_t limit) noexcept;

    // Constant after construction.
    options options_;

    backlog_judge judge_;
    tick last_;                 // of the last observation
    tick rejecting_since_ = 0;  // the cooldown counts from here
    backpressure_state state_ = backpressure_state::normal;
    backpressure_cause cause_ = backpressure_cause::none;
    bool quota_told_ = false;
    bool stall_told_ = false;
    std::uint64_t backlog_peak_ = 0;
    std::uint64_t above_window_ = 0;
    std::array<std::uint64_t, backpressure_cause_count> refused_{};
};

}  // namespace tactus::inline v0
