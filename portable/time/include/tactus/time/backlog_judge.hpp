// SPDX-License-Identifier: Apache-2.0
//
// Backlog judge: from how many ticks somebody is late, how bad that is (TS-4, SC-32).
//
//   backlog                                 mode       state
//   at most 0.8 windows                     normal     ok
//   more than 0.8 windows                   catch_up   ok
//   more than 1 window                      catch_up   backpressured {ticks}
//   more than 2 windows, twice in a row     catch_up   stalled {ticks}
//
// Shared by who counts ticks (tick_source) and who looks at deadlines (the scheduler).
//
// Thread safety: none.
#pragma once

#include <cstdint>

namespace tactus::inline v0 {

enum class tick_mode : std::uint8_t { normal, catch_up };

enum class tick_state : std::uint8_t { ok, backpressured, stalled, suspended };

[[nodiscard]] const char* to_text(tick_state state) noexcept;

struct tick_status {
    tick_state state = tick_state::ok;
    std::uint64_t ticks = 0;  // the backlog, when backpressured or stalled

    friend constexpr bool operator==(const tick_status&, const tick_status&) = default;
};

class backlog_judge {
public:
    /// Requires: window, in ticks, is at least 1; its users check it.
    explicit constexpr backlog_judge(std::uint32_t window) noexcept : window_(window) {}

    [[nodiscard]] constexpr std::uint32_t window() const noexcept { return window_; }

    /// Takes note of a backlog.
    constexpr void look(std::uint64_t ticks) noexcept {
        far_before_ = far_;
        found(ticks);
    }
    /// Takes note of another one at the same time: the larger of the two counts.
    constexpr void look_again(std::uint64_t ticks) noexcept {
        if (ticks > backlog_)
            found(ticks);
    }
    /// What comes next is not in a row with what was found so far.
    constexpr void interrupt() noexcept { far_ = 0; }
    /// As if nothing had been found yet.
    constexpr void forget() noexcept { *this = backlog_judge(window_); }

    [[nodiscard]] constexpr std::uint64_t backlog() const noexcept { return backlog_; }
    [[nodiscard]] constexpr tick_mode mode() const noexcept { return mode_of(backlog_); }
    [[nodiscard]] constexpr tick_status status() const noexcept {
        if (backlog_ <= window_)
            return {};
        return {far_ == 2 ? tick_state::stalled : tick_state::backpressured, backlog_};
    }
    /// The worse of what was found and what is known to wait now.
    [[nodiscard]] constexpr tick_status status_with(std::uint64_t waiting) const noexcept {
        const tick_status last = status();
        if (last.state == tick_state::stalled || waiting <= window_)
            return last;
        if (far_ >= 1 && is_far(waiting))
            return {tick_state::stalled, waiting};
        return {tick_state::backpressured, waiting > backlog_ ? waiting : backlog_};
    }

    /// More than 0.8 windows. 10 t > 8 w is t > 0.8 w without fractions; it cannot wrap, since t is
    /// at most w then.
    [[nodiscard]] constexpr tick_mode mode_of(std::uint64_t ticks) const noexcept {
        const bool behind = ticks > window_ || 10 * ticks > 8 * std::uint64_t{window_};
        return behind ? tick_mode::catch_up : tick_mode::normal;
    }
    /// Less than 0.8 windows.
    [[nodiscard]] constexpr bool is_calm(std::uint64_t ticks) const noexcept {
        return ticks <= window_ && 10 * ticks < 8 * std::uint64_t{window_};
    }
    /// Less than half a window.
    [[nodiscard]] constexpr bool is_recovered(std::uint64_t ticks) const noexcept {
        return ticks <= window_ && 2 * ticks < window_;
    }

private:
    [[nodiscard]] constexpr bool is_far(std::uint64_t ticks) const noexcept {
        return ticks > 2 * std::uint64_t{window_};
    }
    constexpr void found(std::uint64_t ticks) noexcept {
        backlog_ = ticks;
        if (!is_far(ticks))
            far_ = 0;
        else
            far_ = far_before_ < 2 ? static_cast<std::uint8_t>(far_before_ + 1) : far_before_;
    }

    std::uint32_t window_;
    std::uint8_t far_ = 0;         // looks in a row, up to 2, that found more than two windows
    std::uint8_t far_before_ = 0;  // without the last one
    std::uint64_t backlog_ = 0;    // of the last look
};

}  // namespace tactus::inline v0
