// SPDX-License-Identifier: Apache-2.0
//
// A scheduler with its kernel inside a check, small, and time that passes when it is told to.
#pragma once

#include <array>
#include <cstddef>

#include <tactus/base/memory_region.hpp>
#include <tactus/scheduler/scheduler.hpp>
#include <tactus/time/manual_clock.hpp>

#include "scheduler_rig.hpp"

namespace scenario {

template <std::size_t Bytes>
struct bytes_of {
    alignas(64) std::array<std::byte, Bytes> bytes{};
    tactus::fixed_memory region{{bytes.data(), bytes.size()}};
};

/// Of two threads: the one that does not move it may see it late.
class shared_clock final : public tactus::clock {
public:
    [[nodiscard]] tactus::instant now() const noexcept override {
        return tactus::instant::epoch() +
               tactus::duration::from_ms(passed_.load(std::memory_order_relaxed));
    }
    [[nodiscard]] tactus::clock_kind kind() const noexcept override {
        return tactus::clock_kind::deterministic;
    }
    void advance(tactus::duration d) noexcept {
        passed_.fetch_add(static_cast<std::uint32_t>(d.ns() / 1'000'000),
                          std::memory_order_relaxed);
    }

private:
    tactus::port::atomic<std::uint32_t> passed_{0};  // ms
};

/// What the bounds of a scheduler are: a quota, where who finds the lock taken waits for it; or
/// none, where it takes a spare cell and leaves a note.
enum class bound { quota, none };

template <class Clock = tactus::manual_clock, bound Bound = bound::quota, std::uint32_t Timers = 4>
class job_rig {
public:
    explicit job_rig(std::uint32_t workers = 1)
        : timers({.time = &time,
                  .config = config(),
                  .timers_max = timers_max,
                  .jobs = &jobs_.region,
                  .nodes = &nodes_.region,
                  .overflow = &overflow_.region}),
          kernel({.workers = workers, .slots = 2, .envelopes = 4, .time = nullptr}) {
        timers.attach(kernel.system);
    }
    void pass() {
        time.advance(tactus::duration::from_ms(1));
        timers.run_due(time.now());
    }
    /// Nothing is left of any job.
    [[nodiscard]] bool is_empty() {
        return timers.active_count() == 0 && timers.cell_count() == 0 &&
               timers.next_deadline() == tactus::instant::never();
    }

    Clock time;

private:
    // Without a quota there are spare cells beside them.
    static constexpr std::uint32_t timers_max = Bound == bound::quota ? Timers : Timers + 32;

    [[nodiscard]] static tactus::scheduler_config config() {
        auto c = tactus::scheduler_config::for_clock(tactus::clock_kind::deterministic);
        if (Bound == bound::quota) {
            c.profile = tactus::scheduler_profile::custom;
            c.custom = {timers_max, timers_max, 1};
        } else {
            c.profile = tactus::scheduler_profile::unbounded;
        }
        return c;
    }
    static constexpr std::size_t cells = tactus::scheduler::cells_for(timers_max);
    bytes_of<tactus::job_store::bytes(cells)> jobs_;
    bytes_of<tactus::scheduler_wheel::node_bytes(timers_max)> nodes_;
    bytes_of<tactus::scheduler_wheel::overflow_bytes(timers_max)> overflow_;

public:
    tactus::scheduler timers;
    scheduler_rig kernel;
};

/// Takes whatever comes.
struct deaf {
    void receive(tactus::turn&, tactus::envelope&) {}
};

/// Two wakes at once, or one after its end, are a race.
struct counting_waker final : tactus::waker {
    tactus::port::plain<unsigned> woken{0};
    void wake() noexcept override { woken.write(woken.read() + 1); }
};

}  // namespace scenario
