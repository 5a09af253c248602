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
// Thread safety: any thread.
#pragma once

#include <tactus/dispatch/executor.hpp>
#include <tactus/port/port.hpp>

namespace tactus::inline v0::runtime {

class calling_thread final : public executor {
public:
    /// Runs it now, or after what this thread runs. Unlike others, inside this call.
    [[nodiscard]] bool submit(worker_task& t, const submit_hints&) noexcept override;
    void notify_rejected(worker_task&, unsigned) noexcept override {}  // it rejects nothing
    /// Tasks that failed.
    [[nodiscard]] std::uint32_t failed_count() const noexcept {
        return failed_.load(std::memory_order_relaxed);
    }

private:
    port::atomic<std::uint32_t> failed_{0};
};

}  // namespace tactus::inline v0::runtime
