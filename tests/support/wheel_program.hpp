// SPDX-License-Identifier: Apache-2.0
//
// Random programs for the timer wheel, as data.
//
// A program is a configuration and a list of plain operations. Operations name timers by how many
// were registered since ("0 is the newest") or by their rank among the pending ones, modulo what
// there is: every part of a program is a program again, which is what shrinking needs. Handles that
// are stale are named as readily as live ones.
//
// Numbers come from an entropy source with next_u64() and below(): tactus::det_rng for a seed, or
// bytes of a fuzzer. A program mixes horizons and aims at what is hard: equal deadlines registered
// at different times, block boundaries of every level, both ends of time, times inside a tick.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include <tactus/base/det_rng.hpp>
#include <tactus/base/saturating.hpp>
#include <tactus/time/timer_wheel.hpp>

namespace tactus_test {

enum class op_kind : std::uint8_t { insert, cancel, reschedule, advance, wait, next_deadline };

/// Whom `which` names: counted back from the newest registration, or by rank from the earliest
/// pending.
enum class naming : std::uint8_t { issued, pending };

struct wheel_op {
    op_kind kind = op_kind::next_deadline;
    naming by = naming::issued;
    bool in_sink = false;  // runs in the sink of the next advance: one operation per timer fired
    std::uint32_t which = 0;
    std::int64_t ns = 0;  // delay of insert and reschedule; how far advance and wait move the clock
    std::int64_t lag = 0;  // the registration's clock is so many ns behind the program's

    friend constexpr bool operator==(const wheel_op&, const wheel_op&) = default;
};

/// How a program is written in a test.
namespace program {
constexpr wheel_op insert(std::int64_t ns, std::int64_t lag = 0) noexcept {
    return {.kind = op_kind::insert, .ns = ns, .lag = lag};
}
constexpr wheel_op cancel(std::uint32_t which, naming by = naming::issued) noexcept {
    return {.kind = op_kind::cancel, .by = by, .which = which};
}
constexpr wheel_op reschedule(std::uint32_t which, std::int64_t ns, naming by = naming::issued,
                              std::int64_t lag = 0) noexcept {
    return {.kind = op_kind::reschedule, .by = by, .which = which, .ns = ns, .lag = lag};
}
/// Moves the clock and advances the wheel to it; back when `ns` is negative, for this once.
constexpr wheel_op advance(std::int64_t ns) noexcept {
    return {.kind = op_kind::advance, .ns = ns};
}
/// Moves the clock while nobody advances the wheel.
constexpr wheel_op wait(std::int64_t ns) noexcept {
    return {.kind = op_kind::wait, .ns = ns};
}
constexpr wheel_op next_deadline() noexcept {
    return {};
}
constexpr wheel_op in_sink(wheel_op op) noexcept {
    op.in_sink = true;
    return op;
}
}  // namespace program

struct wheel_config {
    std::int64_t resolution = 1'000'000;
    std::uint64_t start = 0;
    std::uint32_t timers_max = 16;
    std::optional<std::uint32_t> overflow_max;
    std::int64_t max_wheel = 86'400'000'000'000;
    std::int64_t max_timer = 604'800'000'000'000;
    std::int64_t window = 0;
    std::uint32_t group_min = 2;
    std::uint64_t first_sequence = 0;
    std::uint32_t retained = 4096;
    std::uint32_t generation_count = 0;
    bool watch_closely = true;  // next_deadline() after every operation, or only where it is asked
    bool split = false;         // advances in pieces

    friend constexpr bool operator==(const wheel_config&, const wheel_config&) = default;
};

/// Which operations a program may have.
enum class sink_use : std::uint8_t { silent, acting };

template <class Entropy>
class program_generator {
public:
    program_generator(Entropy& entropy, std::uint32_t timers_max, sink_use sinks)
        : entropy_(entropy), sinks_(sinks) {
        make_config(timers_max);
        clock_ = config_.start;
        for (auto& target : targets_)
            target = tactus::saturating_add(clock_, horizon());
    }

    [[nodiscard]] const wheel_config& config() const noexcept { return config_; }

    [[nodiscard]] wheel_op next() {
        const std::uint64_t kind = below(32);
        wheel_op op;
        if (kind < inserts_) {
            op.kind = op_kind::insert;
            op.ns = delay();
        } else if (kind < 22) {
            op.kind = op_kind::cancel;
        } else if (kind < 26) {
            op.kind = op_kind::reschedule;
            op.ns = delay();
        } else if (kind == 26) {
            op.kind = op_kind::next_deadline;
        } else {
            op.kind = kind == 27 && one_in(2) ? op_kind::wait : op_kind::advance;
            op.ns = jump();
            if (op.ns > 0)
                clock_ = tactus::saturating_add(clock_, static_cast<std::uint64_t>(op.ns));
        }
        if (op.kind == op_kind::cancel || op.kind == op_kind::reschedule)
            name(op);
        if (op.kind != op_kind::advance && op.kind != op_kind::wait) {
            op.in_sink = sinks_ == sink_use::acting && one_in(3);
            if (one_in(16))
                op.lag = static_cast<std::int64_t>(below(4 * resolution())) -
                         static_cast<std::int64_t>(op.in_sink ? 2 * resolution() : 0);
        }
        return op;
    }

private:
    [[nodiscard]] std::uint64_t below(std::uint64_t bound) { return entropy_.below(bound); }
    [[nodiscard]] bool one_in(std::uint64_t n) { return below(n) == 0; }
    template <class T, std::size_t N>
    [[nodiscard]] T one_of(const T (&choices)[N]) {
        return choices[static_cast<std::size_t>(below(N))];
    }
    [[nodiscard]] std::uint64_t& one_target() {
        return targets_[static_cast<std::size_t>(below(targets_.size()))];
    }
    [[nodiscard]] std::uint64_t resolution() const noexcept {
        return static_cast<std::uint64_t>(config_.resolution);
    }
    [[nodiscard]] std::uint64_t ticks(std::uint64_t n) const noexcept {
        return tactus::saturating_mul(n, resolution());
    }
    [[nodiscard]] static std::int64_t as_delay(std::uint64_t ns) noexcept {
        constexpr auto most = std::numeric_limits<std::int64_t>::max();
        return ns > static_cast<std::uint64_t>(most) ? most : static_cast<std::int64_t>(ns);
    }

    void make_config(std::uint32_t timers_max) {
        constexpr std::uint64_t end = std::numeric_limits<std::uint64_t>::max();
        constexpr std::int64_t forever = std::numeric_limits<std::int64_t>::max();
        constexpr std::int64_t hour = 3'600'000'000'000;
        constexpr std::int64_t resolutions[] = {1'000'000, 1'000'000, 1, 7, 10'000'000};
        config_.resolution = one_of(resolutions);
        const std::uint64_t starts[] = {0,
                                        0,
                                        below(std::uint64_t{1} << 40),
                                        ticks(std::uint64_t{1} << 32) - below(ticks(300)),
                                        ticks(std::uint64_t{3} << 32) - below(ticks(70'000)),
                                        ticks(1u << 24) - below(ticks(300)),
                                        ticks(65'536) - below(ticks(300)),
                                        (end >> 1) - below(ticks(300)),
                                        end - ticks(below(70'000)),
                                        end - below(ticks(300))};
        config_.start = one_of(starts);
        const std::uint32_t sizes[] = {1, 3, 8, 20, 64, timers_max, timers_max, timers_max};
        config_.timers_max = one_of(sizes);
        if (config_.timers_max > timers_max)
            config_.timers_max = timers_max;
        constexpr std::uint32_t overflows[] = {0, 1, 4, 16};
        if (one_in(3))
            config_.overflow_max = std::min(one_of(overflows), config_.timers_max);
        const std::uint64_t wheels[] = {0,   1,      10,     100,       255,
                                        256, 65'535, 65'536, 1'000'000, std::uint64_t{1} << 32};
        if (one_in(2))
            config_.max_wheel = as_delay(ticks(one_of(wheels)));
        const std::int64_t longest[] = {forever, forever, as_delay(ticks(1000)), hour};
        if (!one_in(3))
            config_.max_timer = one_of(longest);
        const std::uint64_t windows[] = {1, 3, 10, 10, 255, 256, 300, 70'000, end};
        if (one_in(2))
            config_.window = as_delay(ticks(one_of(windows)));
        constexpr std::uint32_t groups[] = {0, 1, 2, 2, 3, 3, 5, 10};
        config_.group_min = one_of(groups);
        const std::uint64_t sequences[] = {
            0, 0, 0xffff'fff0, (end >> 1) - below(64), end - below(8), end - below(64)};
        config_.first_sequence = one_of(sequences);
        constexpr std::uint32_t kept[] = {0, 1, 64, 4096};
        config_.retained = one_of(kept);
        constexpr std::uint32_t generations[] = {2, 6, 40, 200};
        if (one_in(8))
            config_.generation_count = one_of(generations);
        config_.watch_closely = !one_in(4);
        // How far this program looks, and how fast it fills the wheel.
        reach_ = below(4);
        calm_ = one_in(3);
        constexpr std::uint64_t pace[] = {8, 12, 16, 19};
        inserts_ = one_of(pace);
    }

    // A span of time from the program's reach.
    [[nodiscard]] std::uint64_t horizon() {
        constexpr std::uint64_t second = 1'000'000'000;
        constexpr std::uint64_t units[] = {1'000'000, second, 60 * second, 3600 * second,
                                           86'400 * second};
        constexpr std::uint64_t edges[] = {255,        256,         257,           65'535,
                                           65'536,     65'537,      0xff'ffff,     0x100'0000,
                                           0x100'0001, 0xffff'ffff, 0x1'0000'0000, 0x1'0000'0001};
        switch (reach_) {
        case 0:
            return ticks(below(24));
        case 1:
            return ticks(below(600));
        case 2:
            return one_in(2) ? ticks(below(600)) : ticks(below(150'000));
        default:
            break;
        }
        switch (below(5)) {
        case 0:
            return ticks(one_of(edges));
        case 1:
            return (entropy_.next_u64() >> 14) >> below(50);
        case 2:
            return ticks(below(300));
        default:
            return below(50) * one_of(units);
        }
    }

    // The first instant of a tick near the clock in which every digit below `level` is zero.
    [[nodiscard]] std::uint64_t block_after(std::uint64_t level) const {
        const std::uint64_t size = std::uint64_t{1} << (8 * level);
        const std::uint64_t tick = (clock_ / resolution() / size + 1) * size;
        return tactus::saturating_mul(tick, resolution());
    }

    // Somewhere around `ns`: exactly, or a little off.
    [[nodiscard]] std::uint64_t around(std::uint64_t ns) {
        switch (below(8)) {
        case 0:
            return ns - (ns > 0 ? 1 : 0);
        case 1:
            return tactus::saturating_add<std::uint64_t>(ns, 1);
        case 2:
            return tactus::saturating_sub(ns, resolution());
        case 3:
            return tactus::saturating_add(ns, resolution());
        default:
            return ns;
        }
    }

    [[nodiscard]] std::int64_t delay() {
        std::uint64_t span = 0;
        switch (below(16)) {
        case 0:
            return 0;
        case 1:
            if (one_in(4))
                return std::numeric_limits<std::int64_t>::min();
            return -as_delay(horizon());
        case 2:
            span = around(
                static_cast<std::uint64_t>(one_in(2) ? config_.max_timer : config_.max_wheel));
            break;
        case 3:
            span = around(static_cast<std::uint64_t>(config_.window));
            break;
        case 4:
            span =
                tactus::saturating_sub(around(block_after(1 + below(reach_ < 2 ? 2 : 4))), clock_);
            break;
        case 5:
            if (one_in(8))
                return std::numeric_limits<std::int64_t>::max();
            span = std::numeric_limits<std::uint64_t>::max() - clock_;  // the end of time
            span = tactus::saturating_sub(span, one_in(2) ? 0 : below(ticks(4)));
            break;
        case 6:
        case 7:
        case 8:
        case 9: {
            // Equal deadlines: one of a few targets, while it is still ahead.
            auto& target = one_target();
            if (target <= clock_)
                target = tactus::saturating_add(clock_, horizon());
            span = target - clock_;
            break;
        }
        default:
            span = around(horizon());
            break;
        }
        return as_delay(span);
    }

    [[nodiscard]] std::int64_t jump() {
        if (calm_ && !one_in(4))
            return as_delay(one_in(3) ? below(ticks(2)) : ticks(below(3)));
        switch (below(12)) {
        case 0:
            return one_in(4) ? -as_delay(horizon()) : 0;
        case 1:
            return as_delay(below(resolution()));
        case 2:
        case 3:
            return as_delay(ticks(1 + below(4)));
        case 4:
        case 5:
        case 6: {
            const std::uint64_t to = around(one_target());
            return as_delay(tactus::saturating_sub(to, clock_));
        }
        case 7:
            return as_delay(
                tactus::saturating_sub(around(block_after(1 + below(reach_ < 2 ? 2 : 4))), clock_));
        case 8:
            if (one_in(16))
                return as_delay(tactus::saturating_add(horizon(), ticks(0x1'0000'0000)));
            return as_delay(ticks(below(300)));
        default:
            return as_delay(around(horizon()) >> below(8));
        }
    }

    void name(wheel_op& op) {
        op.by = one_in(2) ? naming::pending : naming::issued;
        constexpr std::uint64_t depths[] = {2, 8, 64, 4096};
        op.which = static_cast<std::uint32_t>(below(one_of(depths)));
    }

    Entropy& entropy_;
    sink_use sinks_;
    wheel_config config_;
    std::uint64_t reach_ = 0;
    bool calm_ = false;  // time passes slowly: what is held for its group stays so for a while
    std::uint64_t inserts_ = 0;
    std::uint64_t clock_ = 0;
    std::array<std::uint64_t, 4> targets_{};
};

/// Seeds count from 1; neighbours must not give similar programs (splitmix64).
[[nodiscard]] constexpr tactus::det_rng entropy_of(std::uint64_t seed) noexcept {
    std::uint64_t z = seed * 0x9e37'79b9'7f4a'7c15;
    z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9;
    z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11eb;
    return tactus::det_rng(z ^ (z >> 31));
}

}  // namespace tactus_test
