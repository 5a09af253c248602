// SPDX-License-Identifier: Apache-2.0
//
// Timer phase: how timers are part of a worker's loop, without the worker knowing them.
#pragma once

#include <cstdint>

#include <tactus/port/port.hpp>
#include <tactus/time/instant.hpp>

namespace tactus::inline v0 {

class metrics_sink;
class scheduler;

/// Phase 0 of the worker loop (LN-4): before any dispatch, timers that are due. A worker looks at
/// the flag before every dispatch, and at the clock now and then.
class timer_phase {
public:
    /// Something is due: the next worker to look sees to it. Callable from any thread or interrupt.
    void mark_due() noexcept { due_.store(1, std::memory_order_relaxed); }
    [[nodiscard]] bool marked_due() const noexcept {
        return due_.load(std::memory_order_relaxed) != 0;
    }

    /// When it next has something to do; instant::never() when it has nothing.
    [[nodiscard]] virtual instant next_deadline() noexcept = 0;
    /// Does what is due. Several workers may call at once; all but one may return at once.
    virtual void run_due(instant now) noexcept = 0;

    /// The layer above's; null when it is something else.
    [[nodiscard]] virtual scheduler* as_scheduler() noexcept { return nullptr; }

    /// OH-2: what it has measured.
    virtual void feed(metrics_sink& to) noexcept { (void)to; }

    /// For who looks very often.
    [[nodiscard]] const port::atomic<std::uint32_t>& due_flag() const noexcept { return due_; }

protected:
    ~timer_phase() = default;
    void clear_due() noexcept { due_.store(0, std::memory_order_relaxed); }

private:
    port::atomic<std::uint32_t> due_{0};  // a hint: whoever sees it asks the clock
};

}  // namespace tactus::inline v0
