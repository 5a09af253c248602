// SPDX-License-Identifier: Apache-2.0
//
// Work-stealing pool: the default executor, one thread per worker of the system (EX-2). For a
// system with one dispatcher; `dispatchers` is for several.
//
// Workers block all signals and are named `<name>-<number>`, at most 15 characters (UP-7). An idle
// worker sleeps; it uses no processor time (EX-4).
//
// Thread safety: constructed, shut down and destroyed by one thread.
#pragma once

#include <chrono>
#include <string>

#include <tactus/dispatch/actor_scheduler.hpp>
#include <tactus/dispatch/executor.hpp>
#include <tactus/runtime/dispatcher_threads.hpp>

namespace tactus::inline v0::runtime {

class work_stealing_pool final : public executor {
public:
    struct options {
        std::string name = "tactus";
    };
    /// Starts the workers. The system outlives the pool.
    work_stealing_pool(actor_scheduler& system, const options& o);
    explicit work_stealing_pool(actor_scheduler& system) : work_stealing_pool(system, options{}) {}
    /// Shuts down by force, unless it was shut down before.
    ~work_stealing_pool();
    work_stealing_pool(const work_stealing_pool&) = delete;
    work_stealing_pool& operator=(const work_stealing_pool&) = delete;

    /// CO-5: takes nothing new, lets the workers finish what is queued for at most `limit`, then
    /// stops them and closes what is left. True when everything was processed in time. A handler
    /// that never returns is waited for: threads cannot be ended from outside. Requires: the caller
    /// is none of the workers, which would wait for itself (check work_stealing_pool:1).
    bool shut_down(std::chrono::nanoseconds limit);
    /// Runs the task on one of the workers. Rejects when the pool is shut down, or about to be.
    [[nodiscard]] bool submit(worker_task& t, const submit_hints&) noexcept override {
        return system_.execute(t);
    }
    /// It will never be taken: dropped, and counted.
    void notify_rejected(worker_task& t, unsigned) noexcept override { system_.drop(t); }

    /// Does not wait for what is queued.
    void force_stop() { (void)shut_down(std::chrono::nanoseconds::zero()); }

private:
    actor_scheduler& system_;
    dispatcher_threads threads_;
    bool ended_ = false;
};

}  // namespace tactus::inline v0::runtime
