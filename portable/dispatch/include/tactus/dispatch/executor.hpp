// SPDX-License-Identifier: Apache-2.0
//
// Executor: the one contract with whatever supplies threads (EX-7). Submit a task with hints, make
// a waker that submits it when something has come, be told when it was rejected.
//
// The project's own executors reject only when their system is being stopped; a foreign one may
// when it is full, too.
#pragma once

#include <cstdint>

#include <tactus/dispatch/lane.hpp>
#include <tactus/dispatch/waker.hpp>
#include <tactus/dispatch/worker_task.hpp>

namespace tactus::inline v0 {

/// What the submitter knows; an executor may ignore it.
using submit_hints = lane_place;

class executor {
public:
    /// Runs the task once, soon, on one of its threads. False: rejected, and the task is still the
    /// caller's. Callable from any thread. Runs nothing inside this call, except where that is what
    /// the executor is for (runtime::calling_thread): so hold no lock that a task may need.
    [[nodiscard]] virtual bool submit(worker_task& t, const submit_hints& hints) noexcept = 0;
    /// A task was rejected `attempts` times, and whoever submitted it gave up for now.
    virtual void notify_rejected(worker_task& t, unsigned attempts) noexcept = 0;
    /// Takes a task back that waits. False when it runs, has run, or cannot be taken back.
    [[nodiscard]] virtual bool withdraw(worker_task&) noexcept { return false; }
    /// Why it rejects, for people; asked after a rejection.
    [[nodiscard]] virtual const char* rejection_cause() const noexcept {
        return "the executor rejected it";
    }

protected:
    ~executor() = default;
};

/// Submits a task when woken. Tries three times (EX-1), then tells the executor. One wake per run
/// of the task: a task is in one queue at a time.
class task_waker final : public waker {
public:
    static constexpr unsigned attempts_max = 3;

    task_waker(executor& on, worker_task& what, const submit_hints& hints = {}) noexcept
        : on_(on), what_(what), hints_(hints) {}

    void wake() noexcept override {
        for (unsigned attempt = 0; attempt < attempts_max; ++attempt) {
            if (on_.submit(what_, hints_))
                return;
        }
        on_.notify_rejected(what_, attempts_max);
    }

private:
    executor& on_;
    worker_task& what_;
    submit_hints hints_;
};

}  // namespace tactus::inline v0
