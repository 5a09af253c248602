// SPDX-License-Identifier: Apache-2.0
//
// Ending thread: where a system ends. It exists from the beginning and sleeps, since a machine that
// gives no thread at the end would leave nothing to end it with.
//
// Thread safety: begin() on any thread; the rest is its owner's.
#pragma once

#include "signals_blocked.hpp"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include <pthread.h>

namespace tactus::inline v0::runtime {

class ending_thread {
public:
    /// Throws std::system_error when there is no thread. `work` does not throw.
    explicit ending_thread(std::function<void()> work) : work_(std::move(work)) {
        const signals_blocked blocked;
        thread_ = std::thread([this] { run(); });
        pthread_setname_np(thread_.native_handle(), "tactus-ending");
    }
    ~ending_thread() { join(); }
    ending_thread(const ending_thread&) = delete;
    ending_thread& operator=(const ending_thread&) = delete;

    /// Runs the work, once.
    void begin() noexcept { tell(state::begun); }
    /// Waits for work that has begun; otherwise it never runs.
    void join() noexcept {
        if (!thread_.joinable())
            return;
        tell(state::over);
        thread_.join();
    }

private:
    enum class state : std::uint8_t { waiting, begun, over };

    void tell(state to) noexcept {
        const std::lock_guard held(mutex_);
        if (is_ == state::waiting)
            is_ = to;
        changed_.notify_all();
    }
    void run() noexcept {
        {
            std::unique_lock held(mutex_);
            changed_.wait(held, [this] { return is_ != state::waiting; });
            if (is_ == state::over)
                return;
        }
        work_();
    }

    const std::function<void()> work_;
    std::mutex mutex_;
    std::condition_variable changed_;
    state is_ = state::waiting;  // under the mutex
    std::thread thread_;         // the last: it uses the others
};

}  // namespace tactus::inline v0::runtime
