// SPDX-License-Identifier: Apache-2.0
//
// Calling thread: an executor for tests. A worker lent to it runs on the thread that made it ready,
// inside the send (EX-2, EX-3).
//
// A task that comes while this thread runs one is queued behind it, never run inside it: a handler
// that sends goes on first. Another thread's task runs there, beside this one's. What fails is the
// task's business (worker_task_of); the next one runs all the same.
//
// Do not send to such actors while holding a lock their handlers need.
//
// A thread that fires timers, a driver's or a worker's, runs nothing meanwhile (SC-10): all timers
// would stand still. Of a system that was given, the first dispatcher runs what they made ready.
//
// Thread safety: any thread.
#pragma once

#include <tactus/dispatch/actor_scheduler.hpp>
#include <tactus/dispatch/executor.hpp>
#include <tactus/port/port.hpp>

namespace tactus::inline v0::runtime {

class calling_thread final : public executor {
public:
    /// Of the application: it runs on threads that fire timers, too.
    calling_thread() noexcept = default;
    /// Requires: the first dispatcher of the system has other threads. It outlives this.
    explicit calling_thread(actor_scheduler& of) noexcept : of_(&of) {}

    /// Runs it now, or after what this thread runs. Unlike others, inside this call. False: it
    /// fires timers, and the system takes no tasks any more.
    [[nodiscard]] bool submit(worker_task& t, const submit_hints&) noexcept override;
    void notify_rejected(worker_task&, unsigned) noexcept override {}
    /// Tasks that failed.
    [[nodiscard]] std::uint32_t failed_count() const noexcept {
        return failed_.load(std::memory_order_relaxed);
    }

private:
    actor_scheduler* const of_ = nullptr;
    port::atomic<std::uint32_t> failed_{0};
};

}  // namespace tactus::inline v0::runtime
