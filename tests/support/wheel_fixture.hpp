// SPDX-License-Identifier: Apache-2.0
//
// A wheel with memory of its own, and a record of what fired: what nearly every wheel test starts
// from.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <tactus/time/timer_wheel.hpp>

#include "portable_test.hpp"
#include "test_wheel.hpp"

namespace tactus_test {

/// Regions for up to `Timers` timers. Large ones belong in static storage.
template <std::size_t Timers, class Wheel = test_wheel>
class wheel_memory {
public:
    [[nodiscard]] tactus::timer_wheel_options options() noexcept {
        tactus::timer_wheel_options o;
        o.timers_max = Timers;
        o.nodes = &nodes_;
        o.overflow = &overflow_;
        return o;
    }

private:
    alignas(16) std::array<std::byte, Wheel::node_bytes(Timers)> node_bytes_{};
    alignas(16) std::array<std::byte, Wheel::overflow_bytes(Timers)> overflow_bytes_{};
    tactus::fixed_memory nodes_{node_bytes_};
    tactus::fixed_memory overflow_{overflow_bytes_};
};

/// Storage for one wheel at a time: wheels with 32-bit links are too large for a small stack.
template <class Wheel>
class basic_wheel_box {
public:
    basic_wheel_box() = default;
    basic_wheel_box(const basic_wheel_box&) = delete;
    basic_wheel_box& operator=(const basic_wheel_box&) = delete;
    ~basic_wheel_box() { clear(); }

    /// Builds a wheel in place of the last one. Requires: the options are valid.
    Wheel& make(const tactus::timer_wheel_options& o) noexcept {
        clear();
        return wheel_.emplace(o);
    }
    void clear() noexcept { wheel_.reset(); }

private:
    std::optional<Wheel> wheel_;
};
using wheel_box = basic_wheel_box<test_wheel>;

/// The payloads that fired, in order, and the tick each was due at. Keeps the first `Max`, counts
/// all.
template <std::size_t Max = 64>
struct fired_log {
    std::array<std::uint64_t, Max> payloads{};
    std::array<tactus::tick, Max> deadlines{};
    std::size_t count = 0;

    void operator()(const tactus::expired_timer& expired) noexcept {
        if (count < Max) {
            payloads[count] = expired.payload;
            deadlines[count] = expired.deadline;
        }
        ++count;
    }
};

constexpr tactus::instant at_ns(std::uint64_t ns) noexcept {
    return tactus::instant::from_ns(ns);
}
constexpr tactus::instant at_ms(std::uint64_t ms) noexcept {
    return tactus::instant::from_ns(ms * 1'000'000);
}

}  // namespace tactus_test
