// SPDX-License-Identifier: Apache-2.0
//
// Closing thread: where the on-close tasks of a system run, so that one that does not return does
// not hold up its end (SH-5).
//
// One thread for all of them, started for the first. When time is over it is left behind in its
// task: it shares what it needs and what it holds is the task alone, so that the tasks, the
// scheduler and the system may be destroyed meanwhile.
//
// Thread safety: one thread, that which closes.
#pragma once

#include <tactus/scheduler/on_close_tasks.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <thread>

namespace tactus::inline v0::runtime {

class closing_thread final : public close_runner {
public:
    /// All of them together have so much time, from the first on.
    explicit closing_thread(std::chrono::nanoseconds within) noexcept;
    /// Waits for its thread, unless a task was left behind.
    ~closing_thread();
    closing_thread(const closing_thread&) = delete;
    closing_thread& operator=(const closing_thread&) = delete;

    /// Here, if the machine gives no thread.
    [[nodiscard]] outcome run(close_call&& what) noexcept override;

private:
    struct shared;
    [[nodiscard]] bool start() noexcept;

    const std::chrono::nanoseconds within_;
    std::optional<std::chrono::steady_clock::time_point> end_;  // none: there was no task yet
    std::shared_ptr<shared> shared_;
    std::thread thread_;
};

}  // namespace tactus::inline v0::runtime
