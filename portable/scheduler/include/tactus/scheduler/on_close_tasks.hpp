// SPDX-License-Identifier: Apache-2.0
//
// On-close tasks: what is to be done when the scheduler closes (SH-1, SH-2, SH-4, SH-5).
//
// Registered while it is open, run exactly once when it has closed: by priority, then in the order
// of registration. A task that fails is counted and told, and the rest go on. The tasks have a time
// for all of them; those not begun when it is over are left out and can be named. One that is
// running then cannot be stopped: it is named in the report, also to who asks while it still runs
// (progress). Where there are threads a close_runner leaves it behind, with all that it needs;
// where there are none it is waited for.
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
#include <string_view>
#include <type_traits>
#include <utility>

#include <tactus/base/memory_source.hpp>
#include <tactus/dispatch/behaviour.hpp>
#include <tactus/port/port.hpp>
#include <tactus/scheduler/execution_batch.hpp>
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
    std::uint32_t not_begun = 0;      // time was over
    std::uint32_t still_running = 0;  // 1: time was over, and it did not come back
    duration elapsed;                 // since the first began
    // The one that time was over for first: it ran, runs, or was to run.
    const char* unfinished = "";          // its name, if it has one
    std::uint64_t unfinished_number = 0;  // as its handle has it; 0: there was time for all

    [[nodiscard]] constexpr bool empty() const noexcept {
        return succeeded == 0 && failed == 0 && not_begun == 0 && still_running == 0;
    }
    /// All succeeded, in time.
    [[nodiscard]] constexpr bool is_clean() const noexcept {
        return failed == 0 && not_begun == 0 && unfinished_number == 0;
    }
};
/// One line for people; returns what fits.
std::string_view describe(const close_report& report, std::span<char> out) noexcept;

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

/// What a task does, kept in place. Holds nothing else, so that it can be left behind.
class close_call {
public:
    static constexpr std::size_t size_max = 4 * sizeof(void*);

    constexpr close_call() noexcept = default;
    close_call(close_call&& o) noexcept : does_(std::exchange(o.does_, nullptr)) {
        if (does_ != nullptr)
            does_->move(callable_, o.callable_);
    }
    close_call& operator=(close_call&&) = delete;
    ~close_call() { reset(); }

    /// Requires: it is empty.
    template <class Task>
    void emplace(Task&& what) noexcept {
        using callable = std::remove_cvref_t<Task>;
        static_assert(sizeof(callable) <= size_max,
                      "a task is small: let it hold a reference to what it needs");
        static_assert(std::is_nothrow_constructible_v<callable, Task> &&
                      std::is_nothrow_move_constructible_v<callable>);
        ::new (static_cast<void*>(callable_)) callable(std::forward<Task>(what));
        does_ = &operations_of<callable>;
    }
    /// Null: it succeeded; else what went wrong. Requires: it is not empty.
    [[nodiscard]] const char* operator()() noexcept {
        const handled result = does_->run(callable_);
        return result.what() == handled::kind::failed ? result.why().what : nullptr;
    }
    void reset() noexcept {
        if (const operations* last = std::exchange(does_, nullptr))
            last->destroy(callable_);
    }
    [[nodiscard]] bool empty() const noexcept { return does_ == nullptr; }

private:
    struct operations {
        handled (*run)(void* callable) noexcept;
        void (*move)(void* to, void* from) noexcept;  // and destroys it there
        void (*destroy)(void* callable) noexcept;
    };
    template <class Task>
    [[nodiscard]] static Task& at(void* callable) noexcept {
        return *std::launder(static_cast<Task*>(callable));
    }
    template <class Task>
    static constexpr operations operations_of{
        .run = [](void* callable) noexcept -> handled {
            if constexpr (std::is_invocable_v<Task&, const execution_batch&>)
                return call_user([&] { return at<Task>(callable)(execution_batch{}); });
            else
                return call_user([&] { return at<Task>(callable)(); });
        },
        .move =
            [](void* to, void* from) noexcept {
                ::new (to) Task(std::move(at<Task>(from)));
                at<Task>(from).~Task();
            },
        .destroy = [](void* callable) noexcept { at<Task>(callable).~Task(); },
    };

    const operations* does_ = nullptr;
    alignas(std::max_align_t) std::byte callable_[size_max];
};

/// Where tasks run that may not come back (SH-5).
class close_runner {
public:
    struct outcome {
        bool is_over = false;         // false: time was over, and it runs on, left behind
        const char* error = nullptr;  // null: it succeeded
    };
    /// Runs and destroys the task. Not called again after one that was left behind.
    [[nodiscard]] virtual outcome run(close_call&& what) noexcept = 0;

protected:
    ~close_runner() = default;
};

namespace detail {

/// A task in its place.
struct close_task {
    close_task* next = nullptr;      // in the list it is in
    close_task* previous = nullptr;  // while it waits
    const char* name = "";
    std::uint64_t number = 0;  // of this registration; 0: it does not wait
    close_priority priority{};
    close_call work;
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

    /// The task returns nothing, `handled` or a `failure`, and may take a `const execution_batch&`
    /// (BT-1): of one run, of no job. `name` is a constant.
    template <class Task>
    [[nodiscard]] std::expected<handle, scheduler_error> add(Task&& what, close_priority priority,
                                                             const char* name = "") noexcept {
        const auto place = reserve();
        if (!place)
            return std::unexpected(place.error());
        (*place)->work.emplace(std::forward<Task>(what));
        return enqueue(**place, priority, name);
    }

    /// True when the task waited: it will not run.
    bool cancel(handle which) noexcept;

    /// Nobody can register any more.
    void close() noexcept;

    /// Closes, and runs what waits: by `runner`, else on this thread. `told`, of those that fail,
    /// and `observer` may be null; both are called on this thread. A second call, or one while the
    /// first is running, does nothing and returns an empty report.
    [[nodiscard]] close_report run(const clock& time, duration timeout, scheduler_listener* told,
                                   close_observer* observer = nullptr,
                                   close_runner* runner = nullptr) noexcept;

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
    void note_result(const task& t, const char* error, instant now, scheduler_listener* told,
                     close_observer* observer) noexcept;

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
