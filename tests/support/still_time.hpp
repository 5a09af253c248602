// SPDX-License-Identifier: Apache-2.0
//
// Still time: the time of a hosted system, with its threads, in the test's hand. The clock is one
// of the machine's, but stands still until it is moved; the driver acts when the test says so, as
// one whose thread was stopped meanwhile.
//
// Thread safety: any thread moves the clock; act() by one that knows that the system runs.
#pragma once

#include <tactus/time/clock.hpp>
#include <tactus/time/tick_driver.hpp>

#include <atomic>
#include <cstdint>
#include <expected>

namespace tactus_test {

class still_clock final : public tactus::clock {
public:
    tactus::instant now() const noexcept override { return tactus::instant::from_ns(ns.load()); }
    tactus::clock_kind kind() const noexcept override { return tactus::clock_kind::realtime_host; }
    void advance(tactus::duration d) { ns.fetch_add(static_cast<std::uint64_t>(d.ns())); }
    std::atomic<std::uint64_t> ns{0};
};

class stalled_driver final : public tactus::tick_driver {
public:
    const char* name() const noexcept override { return "stalled"; }
    tactus::clock_kind kind() const noexcept override { return tactus::clock_kind::realtime_host; }
    std::expected<void, tactus::tick_driver_error> start(tactus::tick_host& to) noexcept override {
        host.store(&to);
        return {};
    }
    void stop() noexcept override { host.store(nullptr); }
    /// A worker may be there first.
    void act() {
        tactus::tick_host& to = *host.load();
        (void)to.next_act();
        (void)to.act(to.time().now());
    }
    /// `time` is that of its host.
    void pass(still_clock& time, tactus::duration d) {
        time.advance(d);
        act();
    }
    std::atomic<tactus::tick_host*> host{nullptr};
};

}  // namespace tactus_test
