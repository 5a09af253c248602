// SPDX-License-Identifier: Apache-2.0
//
// Inline tick executor: actors run when the main loop says so, on its thread (EX-2, EX-3). For bare
// metal, for tests, and for programs that have a loop of their own.
//
//     for (;;) {
//         ticks.pull();             // whatever else the loop does
//         executor.run_until_idle();
//         wait_for_interrupt();
//     }
//
// What an actor submits while it runs is queued, never run inside it: asking the executor to run
// from within a handler does nothing, and says so.
//
// Thread safety: run_once and run_until_idle belong to one thread; sending may come from any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include <tactus/dispatch/actor_scheduler.hpp>
#include <tactus/dispatch/executor.hpp>

namespace tactus::inline v0 {

class inline_tick final : public executor {
public:
    /// Runs the system's first dispatcher. Requires: it has one worker (check inline_tick:1).
    explicit inline_tick(actor_scheduler& system) noexcept;
    /// Runs another one of the system's, which must have one worker, too.
    inline_tick(actor_scheduler& system, dispatcher& where) noexcept;

    /// One run of one mailbox, or one task. False when nothing is ready, or when it is called from
    /// within one.
    bool run_once() noexcept;
    /// Until nothing is ready, or `max` runs; how many.
    std::size_t run_until_idle(std::size_t max = std::numeric_limits<std::size_t>::max()) noexcept;
    /// Takes nothing new, processes what is there for at most `max` runs, and closes the rest.
    /// Requires: not called from within a run (check inline_tick:2).
    void shut_down(std::size_t max = std::numeric_limits<std::size_t>::max()) noexcept;

    /// Runs the task in a later run_once, in the order of submission. Rejects when the system is
    /// being stopped.
    [[nodiscard]] bool submit(worker_task& t, const submit_hints&) noexcept override {
        return where_.execute(t);
    }
    /// It will never be taken: dropped, and counted.
    void notify_rejected(worker_task& t, unsigned) noexcept override { system_.drop(t); }

    /// How often run_once was called from within a run.
    [[nodiscard]] std::uint32_t nested_count() const noexcept { return nested_count_; }

private:
    TACTUS_CHECK_MODULE("inline_tick");

    actor_scheduler& system_;
    dispatcher& where_;
    bool running_ = false;
    std::uint32_t nested_count_ = 0;
};

}  // namespace tactus::inline v0
