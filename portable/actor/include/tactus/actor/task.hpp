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
#include <cstddef>
#include <cstdint>
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
            std::destroy_at(&object());
    }
    task_result(const task_result&) = delete;
    task_result& operator=(const task_result&) = delete;

    template <class U = T>
        requires std::constructible_from<T, U>
    void return_value(U&& value) noexcept(std::is_nothrow_constructible_v<T, U>) {
        ::new (place()) T(std::forward<U>(value));
        set_got(result::value);
    }
    [[nodiscard]] T take() noexcept(std::is_nothrow_move_constructible_v<T>) {
        TACTUS_CHECK(2, got() == result::value);
        return std::move(object());
    }

private:
    // The place is aligned by hand: a promise that is aligned beyond a pointer's would not follow
    // the functions of its frame (task_frame.hpp).
    static constexpr std::size_t gap = alignof(T) > alignof(void*) ? alignof(T) - alignof(void*)
                                                                   : 0;
    [[nodiscard]] void* place() noexcept {
        if constexpr (gap == 0) {
            return place_;
        } else {
            const auto begin = reinterpret_cast<std::uintptr_t>(&place_[0]);
            return place_ + (0 - begin) % alignof(T);
        }
    }
    [[nodiscard]] T& object() noexcept { return *std::launder(static_cast<T*>(place())); }

    // A value exactly when got() says so.
    alignas(gap == 0 ? alignof(T) : alignof(void*)) std::byte place_[sizeof(T) + gap];
};

template <>
class task_result<void> : public task_frame {
public:
    void return_void() noexcept { set_got(result::value); }
    void take() const noexcept { TACTUS_CHECK(4, got() == result::value); }
};

template <class T, bool Exceptions>
class task_promise;
template <class T, bool Exceptions>
class task_awaiter;

/// What does not depend on exceptions.
template <class T, class Promise>
class task_functions : public task_result<T> {
public:
    [[nodiscard]] task<T> get_return_object() noexcept {
        // Then the functions are right before the promise, whatever is before them.
        static_assert(alignof(Promise) <= alignof(void*));
        auto& self = static_cast<Promise&>(*this);
        this->set_functions(std::coroutine_handle<Promise>::from_promise(self));
        return task<T>(this);
    }
    [[nodiscard]] static task<T> get_return_object_on_allocation_failure() noexcept {
        return task<T>(nullptr);
    }
};

template <class T>
class task_promise<T, false> : public task_functions<T, task_promise<T, false>> {
public:
    using task_frame::await_transform;
    template <class U>
    [[nodiscard]] task_awaiter<U, false> await_transform(task<U>&& inner) noexcept {
        return task_awaiter<U, false>(std::move(inner), *this);
    }
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

    using task_frame::await_transform;
    template <class U>
    [[nodiscard]] task_awaiter<U, true> await_transform(task<U>&& inner) noexcept {
        return task_awaiter<U, true>(std::move(inner), *this);
    }
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
    task_awaiter(task<T>&& inner, task_frame& outer) noexcept
        : inner_(std::move(inner.checked())), outer_(outer) {}

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) noexcept {
        coroutine_run& now = outer_.run();
        if (inner_.empty()) {
            now.fail({no_frame_memory, nullptr});
            return;
        }
        task_frame*& frame = inner_.frame_;
        frame->awaited_by(outer_, frame, Exceptions);
        now.next = frame;
    }
    T await_resume() {
        return task_access<T, Exceptions>::get(static_cast<task_result<T>&>(*inner_.frame_));
    }

private:
    task<T> inner_;
    task_frame& outer_;
};

class failing : public frame_awaiter {
public:
    explicit failing(const failure& why) noexcept : why_(why) {}
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <std::derived_from<task_frame> Promise>
    void await_suspend(std::coroutine_handle<Promise>) const noexcept {
        frame().run().fail(why_);
    }
    void await_resume() const noexcept {}

private:
    failure why_;
};

}  // namespace detail

/// Ends the handler's coroutine with a failure, from however deep: nothing after it is run, what
/// lives in the frames is destroyed.
[[nodiscard]] inline detail::failing fail_with(const failure& why) noexcept {
    return detail::failing(why);
}

template <class T = void>
class [[nodiscard]] task {
    static_assert(std::is_void_v<T> || (std::is_object_v<T> && !std::is_const_v<T>),
                  "a task gives a value, or nothing");

public:
    using promise_type = detail::task_promise<T, TACTUS_TASK_EXCEPTIONS>;
    using value_type = T;

    task(task&& other) noexcept : task(std::exchange(other.frame_, nullptr)) {}
    task& operator=(task&& other) noexcept {
        if (this != &other) {
            reset();
            hold(std::exchange(other.frame_, nullptr));
        }
        return *this;
    }
    ~task() { reset(); }

    /// There was no memory for it, or it was moved from or started.
    [[nodiscard]] bool empty() const noexcept { return frame_ == nullptr; }

private:
    template <class U, class Promise>
    friend class detail::task_functions;
    template <class U, bool Exceptions>
    friend class detail::task_awaiter;
    friend class coroutine_set;

    explicit task(detail::task_frame* frame) noexcept { hold(frame); }
    void hold(detail::task_frame* frame) noexcept {
        frame_ = frame;
        if (frame != nullptr)
            frame->set_holder(frame_);
    }
    [[nodiscard]] task& checked() noexcept {
        if (frame_ != nullptr)
            frame_->check_holder(frame_);
        return *this;
    }
    void reset() noexcept {
        if (frame_ != nullptr)
            frame_->destroy();
    }

    detail::task_frame* frame_;  // a task_result<T>; null: none
};

namespace detail {

/// A task that was given something without a name that g++ 12 copies bit by bit; see needs_name.
template <class T>
class unnamed_task : public task<T> {
public:
    using needs_name = std::true_type;
    explicit unnamed_task(task<T>&& of) noexcept : task<T>(std::move(of)) {}
};

}  // namespace detail

}  // namespace tactus::inline v0
