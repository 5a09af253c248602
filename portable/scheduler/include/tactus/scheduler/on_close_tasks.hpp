// SPDX-License-Identifier: Apache-2.0
//
// On-close tasks: what is to be done when the scheduler closes (SH-1, SH-2, SH-4, SH-5).
//
// Registered while it is open, run exactly once when it has closed: by priority, then in the order
// of registration. A task that fails is counted and told, and the rest go on. The tasks have a time
// for all of them; those not begun when it is over are left out and can be named. One that is
// running then cannot be stopped: it is named in the report, also to who asks while it still runs
// (progress).
//
// A task is a small callable, kept in place: nothing is allocated after construction, unless it
// grows (the unbounded profile).
//
// Invariants
//   T1  a task is in exactly one of: free, being made, waiting, running or being destroyed
//   T2  once closed nothing starts to wait, so run() sees all there will ever be
//   T3  task code, destructors included, is called under no lock
//
// Thread safety: any thread; not from interrupt handlers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include <tactus/base/memory_source.hpp>
#include <tactus/dispatch/behaviour.hpp>
#include <tactus/port/port.hpp>
#include <tactus/scheduler/scheduler_config.hpp>
#include <tactus/scheduler/scheduler_error.hpp>
#include <tactus/scheduler/scheduler_event.hpp>
#include <tactus/time/clock.hpp>

namespace tactus::inline v0 {

/// Who goes first (SH-2).
enum class close_priority : std::uint8_t { system_critical, runtime, user };
inline constexpr std::size_t close_priority_count = 3;
[[nodiscard]] const char* name_of(close_priority priority) noexcept;

/// What came of the tasks.
struct close_report {
    std::uint32_t succeeded = 0;
    std::uint32_t failed = 0;
    std::uint32_t not_begun = 0;  // time was over
    duration elapsed;             // since the first began
    const char* unfinished = "";  // the one that time was over for first: it ran, or was to run

    [[nodiscard]] constexpr bool empty() const noexcept {
        return succeeded == 0 && failed == 0 && not_begun == 0;
    }
};

/// One task that was run.
struct close_result {
    std::uint64_t number = 0;
    const char* name = "";
    close_priority priority{};
    const char* error = nullptr;  // null: it succeeded
};

/// Is told of each, in the order in which they ran, under no lock.
class close_observer {
public:
    virtual void task_ran(const close_result& what) noexcept = 0;

protected:
    ~close_observer() = default;
};

namespace detail {

/// A task in its place.
struct close_task {
    static constexpr std::size_t size_max = 4 * sizeof(void*);

    struct operations {
        handled (*run)(void* callable) noexcept;
        void (*destroy)(void* callable) noexcept;
    };

    close_task* next = nullptr;      // in the list it is in
    close_task* previous = nullptr;  // while it waits
    const operations* call = nullptr;
    const char* name = "";
    std::uint64_t number = 0;  // of this registration; 0: it does not wait
    close_priority priority{};
    alignas(std::max_align_t) std::byte callable[size_max];
};

template <class Task>
inline constexpr close_task::operations close_operations_of{
    .run = [](void* callable) noexcept -> handled {
        auto& task = *std::launder(static_cast<Task*>(callable));
        return call_user([&] { return task(); });
    },
    .destroy = [](void* callable) noexcept { std::launder(static_cast<Task*>(callable))->~Task(); },
};

}  // namespace detail

class on_close_tasks {
public:
    /// Names one registration, good for that alone. Requires: used while the tasks live.
    class handle {
    public:
        constexpr handle() noexcept = default;
        /// As warnings name it; 0: none.
        [[nodiscard]] constexpr std::uint64_t number() const noexcept { return number_; }
        friend constexpr bool operator==(const handle&, const handle&) = default;

    private:
        friend class on_close_tasks;
        constexpr handle(detail::close_task* at, std::uint64_t number) noexcept
            : at_(at), number_(number) {}
        detail::close_task* at_ = nullptr;
        std::uint64_t number_ = 0;
    };

    /// Room for `capacity` tasks is taken here, capacity() is 0 when there was none; when unlimited
    /// it is taken as it is needed. The memory outlives this.
    on_close_tasks(memory_source& memory, std::uint32_t capacity) noexcept;
    on_close_tasks(const on_close_tasks&) = delete;
    on_close_tasks& operator=(const on_close_tasks&) = delete;
    /// Tasks that were never run are destroyed. Requires: nobody runs them (check
    /// on_close_tasks:1).
    ~on_close_tasks();

    /// The task returns nothing, `handled` or a `failure`. `name` is a constant.
    template <class Task>
    [[nodiscard]] std::expected<handle, scheduler_error> add(Task&& what, close_priority priority,
                                                             const char* name = "") noexcept {
        using callable = std::remove_cvref_t<Task>;
        static_assert(sizeof(callable) <= detail::close_task::size_max,
                      "a task is small: let it hold a reference to what it needs");
        static_assert(std::is_nothrow_constructible_v<callable, Task>);
        const auto place = reserve();
        if (!place)
            return std::unexpected(place.error());
        ::new (static_cast<void*>((*place)->callable)) callable(std::forward<Task>(what));
        (*place)->call = &detail::close_operations_of<callable>;
        return enqueue(**place, priority, name);
    }

    /// True when the task waited: it will not run.
    bool cancel(handle which) noexcept;

    /// Nobody can register any more.
    void close() noexcept;

    /// Closes, and runs what waits, on this thread. `told`, of those that fail, and `observer`
    /// may be null. A second call, or one while the first is running, does nothing and returns an
    /// empty report.
    [[nodiscard]] close_report run(const clock& time, duration timeout, scheduler_listener* told,
                                   close_observer* observer = nullptr) noexcept;

    /// What came of them so far; `unfinished` is the one that runs now.
    [[nodiscard]] close_report progress() const noexcept;
    /// The names of those that wait, in their order, as many as fit; returns how many wait.
    std::size_t waiting_names(std::span<const char*> out) const noexcept;

    [[nodiscard]] bool is_open() const noexcept;
    [[nodiscard]] std::uint32_t count() const noexcept;
    [[nodiscard]] std::uint32_t capacity() const noexcept { return capacity_; }

private:
    using task = detail::close_task;
    struct block;  // tasks that were allocated together
    struct list {
        task* first = nullptr;
        task* last = nullptr;
    };
    enum class phase : std::uint8_t { open, closed, running, over };

    [[nodiscard]] std::expected<task*, scheduler_error> reserve() noexcept;
    [[nodiscard]] std::expected<handle, scheduler_error> enqueue(task& t, close_priority priority,
                                                                 const char* name) noexcept;
    [[nodiscard]] bool grow(std::uint32_t by) noexcept;
    void unlink(task& t) noexcept;
    void destroy(task& t) noexcept;
    [[nodiscard]] task* take_next() noexcept;
    void run_one(task& t, scheduler_listener* told, close_observer* observer) noexcept;

    // Constant after construction.
    memory_source& memory_;
    std::uint32_t capacity_;

    mutable port::mutex mutex_;
    // Under the lock.
    block* blocks_ = nullptr;
    task* free_ = nullptr;
    list waiting_[close_priority_count];
    const task* running_ = nullptr;
    std::uint64_t running_number_ = 0;  // of the one that runs, or ran last
    std::uint64_t last_number_ = 0;
    std::uint32_t used_ = 0;  // not free
    std::uint32_t waiting_count_ = 0;
    phase phase_ = phase::open;
    close_report report_;
};

}  // namespace tactus::inline v0
