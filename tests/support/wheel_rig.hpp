// SPDX-License-Identifier: Apache-2.0
//
// One wheel, one memory and one record for all scripted wheel tests of an image.
//
// A device has a few kilobytes: the tests take turns with one box instead of having one each. The
// script speaks in ticks; `fires` says in one line where time goes and what must come out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "wheel_fixture.hpp"

namespace tactus_test {

/// Timers the shared memory holds: at least 32, at most 1000 (PT-9).
inline constexpr unsigned rig_timers = board::timers_max > 1000 ? 1000
                                       : board::timers_max < 32 ? 32
                                                                : board::timers_max;

class wheel_rig {
public:
    /// Options over the shared memory: `timers` of 1 ms, everything as long as the physical limits
    /// allow.
    [[nodiscard]] tactus::timer_wheel_options options(std::size_t timers = 32) noexcept {
        auto o = memory_.options();
        o.timers_max = timers;
        o.max_wheel_duration = tactus::duration::max();
        o.max_timer_duration = tactus::duration::max();
        return o;
    }
    /// The same, with the limits a user gets who sets none.
    [[nodiscard]] tactus::timer_wheel_options default_options(std::size_t timers = 32) noexcept {
        auto o = memory_.options();
        o.timers_max = timers;
        return o;
    }

    test_wheel& make(const tactus::timer_wheel_options& o) noexcept {
        wheel_ = &box_.make(o);
        return *wheel_;
    }
    test_wheel& make() noexcept { return make(options()); }
    [[nodiscard]] test_wheel& wheel() noexcept { return *wheel_; }

    [[nodiscard]] tactus::instant begin_of(tactus::tick n) const noexcept {
        return wheel_->scale().begin_of(n);
    }
    [[nodiscard]] tactus::instant now() const noexcept { return begin_of(wheel_->now()); }

    /// Registers a timer due at `deadline`, as of the wheel's own time. Must succeed.
    tactus::timer_handle add(tactus::tick deadline, std::uint64_t payload) noexcept {
        const auto made = wheel_->insert(now(), begin_of(deadline) - now(), payload);
        EXPECT_TRUE(made.has_value());
        return made ? *made : tactus::timer_handle{};
    }
    /// Moves a timer to `deadline`, as of the wheel's own time.
    bool move(tactus::timer_handle handle, tactus::tick deadline) noexcept {
        return wheel_->reschedule(handle, now(), begin_of(deadline) - now()).has_value();
    }

    /// Advances to `to` and says whether exactly these payloads fired, in this order, none early,
    /// their deadlines in order.
    bool fires(tactus::tick to, std::initializer_list<std::uint64_t> expected) noexcept {
        return fires_at(begin_of(to), expected);
    }
    bool fires_at(tactus::instant to, std::initializer_list<std::uint64_t> expected) noexcept {
        log_.count = 0;
        const auto fired = wheel_->advance(to, log_);
        bool good = fired.has_value() && *fired == expected.size() && log_.count == expected.size();
        std::size_t i = 0;
        for (const std::uint64_t payload : expected) {
            good = good && i < log_.payloads.size() && log_.payloads[i] == payload &&
                   log_.deadlines[i] <= wheel_->now() &&
                   (i == 0 || log_.deadlines[i - 1] <= log_.deadlines[i]);
            ++i;
        }
        if (!good)
            report(to);
        return good;
    }

    /// True when the next deadline is `n`.
    [[nodiscard]] bool next_is(tactus::tick n) const noexcept {
        const auto next = wheel_->next_deadline();
        if (next != std::optional<tactus::tick>(n)) {
            TEST_LOG("next deadline is", next.value_or(0));
            return false;
        }
        return true;
    }
    /// True when nothing is left anywhere.
    [[nodiscard]] bool bare() const noexcept {
        for (std::size_t level = 0; level < 4; ++level) {
            if (!wheel_->occupied(level).empty())
                return false;
        }
        return wheel_->size() == 0 && wheel_->overflow_size() == 0 &&
               !wheel_->next_deadline().has_value();
    }

    [[nodiscard]] const fired_log<40>& fired() const noexcept { return log_; }

private:
    void report(tactus::instant to) const noexcept {
        TEST_LOG("unexpected: advancing to ns", to.ns());
        for (std::size_t i = 0; i < log_.count && i < log_.payloads.size(); ++i) {
            TEST_LOG("  fired", log_.payloads[i]);
            TEST_LOG("    due at tick", log_.deadlines[i]);
        }
    }

    wheel_memory<rig_timers> memory_;
    wheel_box box_;
    test_wheel* wheel_ = nullptr;
    fired_log<40> log_;
};

inline wheel_rig& rig() noexcept {
    static wheel_rig one;
    return one;
}

}  // namespace tactus_test
