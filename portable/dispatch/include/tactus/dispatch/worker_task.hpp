// SPDX-License-Identifier: Apache-2.0
//
// Task: something to run once on a worker that is not an actor, and the queue they wait in.
//
// Intrusive, so submitting never allocates; the caller keeps the task until it has run, or was told
// that it never will (dropped). What user code throws is caught where it was compiled
// (worker_task_of), so a failing task never takes its worker along.
#pragma once

#include <cstdint>
#include <utility>

#include <tactus/dispatch/behaviour.hpp>
#include <tactus/port/port.hpp>

namespace tactus::inline v0 {

/// A task's place in a queue.
class worker_task_link {
    friend class worker_task_queue;
    worker_task_link* next_ = nullptr;
};

class worker_task : public worker_task_link {
public:
    worker_task(const worker_task&) = delete;
    worker_task& operator=(const worker_task&) = delete;

    /// failed when the user's code threw; the executor reports it.
    [[nodiscard]] virtual handled run() noexcept = 0;
    /// It waited, and the system ended before its turn: it is the caller's again, and was not run.
    /// On the thread that ends the system; must not block.
    virtual void dropped() noexcept {}

protected:
    worker_task() = default;
    ~worker_task() = default;
};

template <class Call>
class worker_task_of final : public worker_task {
public:
    explicit worker_task_of(Call call) : call_(std::move(call)) {}
    [[nodiscard]] handled run() noexcept override {
        return call_user([this] { return call_(); });
    }

private:
    Call call_;
};

/// FIFO. Any thread.
class worker_task_queue {
public:
    /// False when it is closed: then the task is still the caller's.
    [[nodiscard]] bool push(worker_task& t) noexcept {
        const port::lock_guard held(mutex_);
        if (closed_)
            return false;
        if (last_ == nullptr)
            first_ = &t;
        else
            last_->next_ = &t;
        last_ = &t;
        t.next_ = nullptr;
        count_.store(count_.load(std::memory_order_relaxed) + 1, queued.seq_cst());
        return true;
    }
    /// Takes nothing any more; what waits can be popped. When this returns, every push has either
    /// been refused or put its task where pop finds it.
    void close() noexcept {
        const port::lock_guard held(mutex_);
        closed_ = true;
    }
    /// Null when empty.
    [[nodiscard]] worker_task* pop() noexcept {
        if (empty()) [[likely]]
            return nullptr;
        const port::lock_guard held(mutex_);
        worker_task* t = first_;
        if (t != nullptr) {
            first_ = static_cast<worker_task*>(t->next_);
            if (first_ == nullptr)
                last_ = nullptr;
            count_.store(count_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
        }
        return t;
    }
    [[nodiscard]] bool empty() const noexcept { return count_.load(queued.seq_cst()) == 0; }

private:
    port::mutex mutex_;
    worker_task* first_ = nullptr;
    worker_task* last_ = nullptr;
    bool closed_ = false;
    // As with lanes: raised, then a look for sleepers.
    static constexpr port::edge queued{"tasks-queued"};
    port::atomic<std::uint32_t> count_{0};
};

}  // namespace tactus::inline v0
