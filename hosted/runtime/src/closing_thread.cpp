// SPDX-License-Identifier: Apache-2.0
//
// Handing tasks to a thread, and leaving it.
#include "closing_thread.hpp"

#include "signals_blocked.hpp"
#include "wait_until.hpp"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>

#include <pthread.h>

namespace tactus::inline v0::runtime {

struct closing_thread::shared {
    void work() noexcept {
        std::unique_lock held(mutex);
        for (;;) {
            changed.wait(held, [this] { return is_over || task; });
            if (!task)
                return;
            std::optional<close_call> mine;
            mine.emplace(std::move(*task));
            task.reset();
            held.unlock();
            const char* const failed = (*mine)();
            mine.reset();  // user code, too
            held.lock();
            error = failed;
            is_done = true;
            changed.notify_all();
        }
    }

    std::mutex mutex;
    std::condition_variable changed;
    // Under the lock.
    std::optional<close_call> task;
    const char* error = nullptr;
    bool is_done = false;
    bool is_over = false;
};

closing_thread::closing_thread(std::chrono::nanoseconds within) noexcept : within_(within) {}

closing_thread::~closing_thread() {
    if (!thread_.joinable())
        return;
    {
        const std::lock_guard held(shared_->mutex);
        shared_->is_over = true;
        shared_->changed.notify_all();
    }
    thread_.join();
}

bool closing_thread::start() noexcept {
    if (thread_.joinable())
        return true;
    const signals_blocked blocked;
    try {
        shared_ = std::make_shared<shared>();
        thread_ = std::thread([mine = shared_] { mine->work(); });
    } catch (const std::exception&) {
        return false;
    }
    pthread_setname_np(thread_.native_handle(), "tactus-closing");
    return true;
}

close_runner::outcome closing_thread::run(close_call&& what) noexcept {
    if (!end_)
        end_ = end_of(std::chrono::steady_clock::now(), within_);
    if (!start())
        return {.is_over = true, .error = what()};
    std::unique_lock held(shared_->mutex);
    shared_->is_done = false;
    shared_->task.emplace(std::move(what));
    shared_->changed.notify_all();
    if (shared_->changed.wait_until(held, *end_, [this] { return shared_->is_done; }))
        return {.is_over = true, .error = shared_->error};
    shared_->is_over = true;
    thread_.detach();
    return {};
}

}  // namespace tactus::inline v0::runtime
