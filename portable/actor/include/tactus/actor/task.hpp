// SPDX-License-Identifier: Apache-2.0
//
// Task: a coroutine of an actor, lazily started, awaited by other tasks or started as a handler
// (AC-2, UP-3).
//
//     task<int> price_of(item what) { ... co_return 3; }
//     task<> on(const order& m) {
//         const int price = co_await price_of(m.what);
//         ...
//     }
//
// A task runs in the turns of one actor, on whichever worker has them. Its arguments live in its
// frame, references among them refer to what their owner keeps.
//
// Failing. With exceptions: throw; who awaits the task sees it, and what leaves the handler is the
// failure of the handler. Without them, and with them too:
//     co_await fail_with({"no such item"});      ends the whole handler, from however deep
// and a handler may be a task<failure>, which always fails, or a
// task<std::expected<void, failure>>, which fails with its error.
//
// Frames come from the source bound to the thread (coroutine_memory.hpp). When it has none left the
// task is empty: starting or awaiting it is the failure no_frame_memory of the handler.
//
// Whether a translation unit has exceptions is part of the promise's type, so that objects compiled
// with and without them may be linked together; the layout does not depend on it.
#pragma once

#include <concepts>
#include <coroutine>
#include <expected>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <tactus/actor/task_frame.hpp>

#if defined(__cpp_exceptions)
#include <exception>
#define TACTUS_TASK_EXCEPTIONS true
#else
#define TACTUS_TASK_EXCEPTIONS false
#endif

namespace tactus::inline v0 {

template <class T>
class task;

namespace detail {

template <class T>
class task_result : public task_frame {
public:
    task_result() = default;
    ~task_result() {
        if (got() == result::value)
            std::destroy_at(&place_.value);
    }
    task_result(const task_result&) = delete;
    task_result& operator=(const task_result&) = delete;

    template <class U = T>
        requires std::constructible_from<T, U>
    void return_value(U&& value) noexcept(std::is_nothrow_constructible_v<T, U>) {
        std::construct_at(&place_.value, std::forward<U>(value));
        set_got(result::value);
    }
    [[nodiscard]] T take() noexcept(std::is_nothrow_move_constructible_v<T>) {
        TACTUS_CHECK(2, got() == result::value);
        return std::move(place_.value);
    }

private:
    union place {
        place() noexcept {}
        ~place() {}
        place(const place&) = delete;
        place& operator=(const place&) = delete;
        T value;
    };
    place place_;  // a value exactly when got() says so
};

template <>
class task_result<void> : public task_frame {
public:
    void return_void() noexcept { set_got(result::value); }
    void take() const noexcept { TACTUS_CHECK(4, got() == result::value); }
};

template <class T, bool Exceptions>
class task_promise;

/// What does not depend on exceptions.
template <class T, class Promise>
class task_functions : public task_result<T> {
public:
    [[nodiscard]] task<T> get_return_object() noexcept {
        auto& self = static_cast<Promise&>(*this);
        return task<T>(std::coroutine_handle<Promise>::from_promise(self), this);
    }
    [[nodiscard]] static task<T> get_return_object_on_allocation_failure() noexcept {
        return task<T>({}, nullptr);
    }
    [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
    [[nodiscard]] task_end final_suspend() const noexcept { return {}; }
};

template <class T>
class task_promise<T, false> : public task_functions<T, task_promise<T, false>> {
public:
    static void unhandled_exception() noexcept { fatal("task", 3); }  // there are none
};

/// Takes the T out of a task; what was thrown is thrown again, where that can be.
template <class T, bool Exceptions>
struct task_access {
    [[nodiscard]] static T get(task_result<T>& from) { return from.take(); }
};

#if defined(__cpp_exceptions)
[[nodiscard]] inline std::exception_ptr& exception_of(task_frame& f) noexcept {
    static_assert(sizeof(std::exception_ptr) == sizeof(void*));
    return *std::launder(static_cast<std::exception_ptr*>(f.thrown()));
}

template <class T>
class task_promise<T, true> : public task_functions<T, task_promise<T, true>> {
public:
    task_promise() = default;
    ~task_promise() {
        if (this->got() == task_frame::result::thrown)
            std::destroy_at(&exception_of(*this));
    }
    task_promise(const task_promise&) = delete;
    task_promise& operator=(const task_promise&) = delete;

    void unhandled_exception() noexcept {
        ::new (this->thrown()) std::exception_ptr(std::current_exception());
        this->set_got(task_frame::result::thrown);
    }
};

template <class T>
struct task_access<T, true> {
    [[nodiscard]] static T get(task_result<T>& from) {
        if (from.got() == task_frame::result::thrown)
            std::rethrow_exception(exception_of(from));
        return from.take();
    }
};
#endif

template <class T, bool Exceptions>
class task_awaiter {
public:
    explicit task_awaiter(task<T>&& inner) noexcept : inner_(std::move(inner)) {}

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <std::derived_from<task_frame> Promise>
    void await_suspend(std::coroutine_handle<Promise> outer) noexcept {
        coroutine_run& now = outer.promise().run();
        if (inner_.empty()) {
            now.fail({no_frame_memory, nullptr});
            return;
        }
        inner_.result_->awaited_by(outer.promise(), outer, Exceptions);
        now.next = inner_.frame_;
    }
    T await_resume() { return task_access<T, Exceptions>::get(*inner_.result_); }

private:
    task<T> inner_;
};

struct failing {
    failure why;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <std::derived_from<task_frame> Promise>
    void await_suspend(std::coroutine_handle<Promise> who) const noexcept {
        who.promise().run().fail(why);
    }
    void await_resume() const noexcept {}
};

}  // namespace detail

/// Ends the handler's coroutine with a failure, from however deep: nothing after it is run, what
/// lives in the frames is destroyed.
[[nodiscard]] inline detail::failing fail_with(const failure& why) noexcept {
    return {why};
}

template <class T = void>
class [[nodiscard]] task {
    static_assert(std::is_void_v<T> || (std::is_object_v<T> && !std::is_const_v<T>),
                  "a task gives a value, or nothing");

public:
    using promise_type = detail::task_promise<T, TACTUS_TASK_EXCEPTIONS>;
    using value_type = T;

    task(task&& other) noexcept
        : frame_(std::exchange(other.frame_, {})), result_(std::exchange(other.result_, nullptr)) {}
    task& operator=(task&& other) noexcept {
        if (this != &other) {
            reset();
            frame_ = std::exchange(other.frame_, {});
            result_ = std::exchange(other.result_, nullptr);
        }
        return *this;
    }
    ~task() { reset(); }

    /// There was no memory for it, or it was moved from or started.
    [[nodiscard]] bool empty() const noexcept { return frame_ == nullptr; }

    /// In another task: runs it, and gives what it returns. What it throws is thrown there.
    template <bool Exceptions = TACTUS_TASK_EXCEPTIONS>
    [[nodiscard]] detail::task_awaiter<T, Exceptions> operator co_await() && noexcept {
        return detail::task_awaiter<T, Exceptions>(std::move(*this));
    }

private:
    template <class U, class Promise>
    friend class detail::task_functions;
    template <class U, bool Exceptions>
    friend class detail::task_awaiter;
    friend class coroutine_set;

    task(std::coroutine_handle<> frame, detail::task_result<T>* result) noexcept
        : frame_(frame), result_(result) {}
    void reset() noexcept {
        if (frame_ != nullptr)
            frame_.destroy();
    }

    std::coroutine_handle<> frame_;
    detail::task_result<T>* result_;  // in the frame
};

}  // namespace tactus::inline v0
