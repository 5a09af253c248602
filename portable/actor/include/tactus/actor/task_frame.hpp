// SPDX-License-Identifier: Apache-2.0
//
// Task frame: what the promises of all tasks have in common, whatever their result.
//
// Tasks that await each other form a chain; the outermost is a handler's and stands for the chain
// (root). While a chain runs, a coroutine_run on the stack of whoever runs it says who goes on
// next: a coroutine that awaits another one, or ends, names its successor there and suspends, and
// the loop resumes that one. The language's own way, a tail call from one coroutine to the next, is
// only a tail call where the compiler optimises: g++ -O0 overflows the stack in a loop that awaits.
//
// Frames are known by their promises, never by coroutine handles that a compiler has computed. When
// a coroutine has no variables and awaits in a condition, g++ 12 puts the condition's value before
// the frame's function pointers. A handle and the promise then disagree about where those are:
// coroutine_handle::promise() is wrong within await_suspend, and from_promise(p).resume() passes a
// wrong address. So await_transform tells awaiters the promise, and the address that functions of
// the frame want is noted at the initial suspension (frame_).
//
// Invariants
//   F1  root_ is null before the chain was started, and then the outermost, for the outermost too
//   F2  run_ of the outermost is set exactly while the chain runs; of others it is null
//   F3  the list hook of the outermost is in its coroutine_set, from its start to its end
//   F4  while the chain does not run, continuation_ of the outermost is the innermost: a ring. So a
//       chain is destroyed from the innermost on, in a loop: a frame that destroyed what it awaits
//       would need stack for each task of the chain
//
// Thread safety: none; a chain belongs to its actor's turn.
#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <tactus/actor/coroutine_memory.hpp>
#include <tactus/base/check.hpp>
#include <tactus/base/intrusive_list.hpp>
#include <tactus/dispatch/behaviour.hpp>
#include <tactus/dispatch/invoke_result.hpp>

namespace tactus::inline v0 {

class coroutine_set;

/// The text of the failure of a handler whose coroutine had no room.
inline constexpr char no_frame_memory[] = "no memory for a coroutine frame";

/// How a handler's coroutine ended.
enum class coroutine_end : std::uint8_t {
    returned,
    failed,
    destroyed,  // its actor stopped or restarted
};

/// What lives as long as a handler's coroutine: a message, usually.
struct coroutine_keep {
    void* what = nullptr;
    /// Called once, in the actor's turn, when the coroutine has ended and its frames are gone.
    void (*ended)(coroutine_set& of, const coroutine_keep& kept,
                  coroutine_end how) noexcept = nullptr;
    void* also = nullptr;  // what belongs to it
};

namespace detail {

class task_frame;

/// Who is to go on, and the chain it is in; a null chain: nobody.
struct resumption {
    task_frame* root = nullptr;
    task_frame* who = nullptr;
};

/// One stretch of a chain: from its start, or a resumption, to the next wait or its end.
struct coroutine_run {
    enum class state : std::uint8_t {
        runs,
        waits,  // a continuation will come
        returned,
        failed,
    };

    coroutine_set& of;
    task_frame* next;  // resumed when the one that runs now has suspended; or null
    state how = state::runs;
    failure why;

    /// The chain ends here, with a failure; nobody in it is resumed any more.
    void fail(const failure& with) noexcept {
        how = state::failed;
        why = with;
    }
};

/// g++ 12 copies the bits of an aggregate or a function object that is made within a co_await, and
/// destroys both. Given is deduced from an argument: a temporary looks like what was moved.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
template <class Given>
inline constexpr bool function_needs_name =
    !std::is_lvalue_reference_v<Given> && !std::is_trivially_copyable_v<std::decay_t<Given>>;
#else
template <class Given>
inline constexpr bool function_needs_name = false;
#endif
template <class Given>
inline constexpr bool needs_name =
    std::is_aggregate_v<std::remove_cvref_t<Given>> && function_needs_name<Given>;

/// Refuses to await a temporary that was given such a thing. A template of its own, so that the
/// static_assert is the compiler's first line.
template <class Awaited>
struct named_when_needed {
    static constexpr bool met = true;
};
template <class Awaited>
    requires requires { typename Awaited::needs_name; }
struct named_when_needed<Awaited> {
    static constexpr bool met = !Awaited::needs_name::value;
    static_assert(met,
                  "with g++ 12 what owns something needs a name within co_await: "
                  "auto m = ...; co_await offer(to, m)");
};

/// What a task awaits, and where it does.
///
/// g++ 12 copies the bits of an awaiter that is an operand of ?:, though it cannot be copied, and
/// destroys both. An awaiter knows its address, so that this is a check and not a double free.
class frame_awaiter {
public:
    frame_awaiter(const frame_awaiter&) = delete;
    frame_awaiter& operator=(const frame_awaiter&) = delete;

    void awaited_in(task_frame& frame) const noexcept {
        TACTUS_CHECK(5, in_ == this);
        in_ = &frame;
    }

protected:
    frame_awaiter() noexcept = default;
    ~frame_awaiter() = default;
    [[nodiscard]] task_frame& frame() const noexcept { return *static_cast<task_frame*>(in_); }

private:
    TACTUS_CHECK_MODULE("task");
    mutable void* in_ = this;  // then the frame that awaits
};

/// An awaiter that stays where it is: g++ 12 would copy one that await_transform returns.
template <class A>
struct awaiter_at {
    A* of;
    [[nodiscard]] bool await_ready() const noexcept { return of->await_ready(); }
    template <class Promise>
    auto await_suspend(std::coroutine_handle<Promise> who) const noexcept {
        return of->await_suspend(who);
    }
    decltype(auto) await_resume() const noexcept(noexcept(of->await_resume())) {
        return of->await_resume();
    }
};

struct task_begin;
struct task_end;

class task_frame : public list_hook<> {
public:
    enum class result : std::uint8_t { none, value, thrown };

    task_frame() = default;
    ~task_frame() = default;
    task_frame(const task_frame&) = delete;
    task_frame& operator=(const task_frame&) = delete;

    [[nodiscard]] static void* operator new(std::size_t size) noexcept {
        return coroutine_memory::allocate_frame(size);
    }
    static void operator delete(void* frame, std::size_t size) noexcept {
        coroutine_memory::release_frame(frame, size);
    }

    [[nodiscard]] coroutine_run& run() const noexcept {
        TACTUS_CHECK(1, root_ != nullptr && root_->run_ != nullptr);
        return *root_->run_;
    }
    [[nodiscard]] task_frame& root() const noexcept { return *root_; }

    /// The functions of the frame, as its promise says; and its address, as the compiler says.
    void set_functions(std::coroutine_handle<> at) noexcept { functions_ = at; }
    void set_frame(void* address) noexcept { frame_ = address; }
    void resume() const {
        if (frame_ == functions_.address()) [[likely]]
            functions_.resume();
        else
            call(0);
    }
    void destroy() const {
        if (frame_ == functions_.address()) [[likely]]
            functions_.destroy();
        else
            call(1);
    }

    /// Where the task object that has the frame keeps it; of the outermost only before its start.
    /// g++ 12 copies the bits of a task that is an operand of ?: (see frame_awaiter).
    void set_holder(task_frame*& holder) noexcept { keep_.what = &holder; }
    void check_holder(task_frame* const& holder) const noexcept {
        TACTUS_CHECK(6, keep_.what == &holder);
    }

    [[nodiscard]] task_begin initial_suspend() noexcept;
    [[nodiscard]] task_end final_suspend() noexcept;
    template <class A>
    [[nodiscard]] decltype(auto) await_transform(A&& what) noexcept {
        static_assert(named_when_needed<A>::met);
        if constexpr (std::derived_from<std::remove_cvref_t<A>, frame_awaiter>) {
            what.awaited_in(*this);
            return awaiter_at<std::remove_reference_t<A>>{&what};
        } else {
            return static_cast<A&&>(what);
        }
    }

    /// `outer` awaits this one, has it in `holder`, and can be given an exception, or not.
    void awaited_by(task_frame& outer, task_frame*& holder, bool catches) noexcept {
        root_ = outer.root_;
        continuation_ = &outer;
        catches_ = catches;
        set_holder(holder);
    }
    /// Its code has ended, one way or the other.
    void finished() noexcept {
        coroutine_run& now = run();
        if (root_ == this)
            now.how = coroutine_run::state::returned;
        else if (got_ == result::thrown && !catches_)
            now.fail({unknown_exception, nullptr});
        else
            now.next = continuation_;
    }

    [[nodiscard]] result got() const noexcept { return got_; }
    void set_got(result r) noexcept { got_ = r; }
    /// Where an exception is kept by who has exceptions: the layout is everybody's.
    [[nodiscard]] void* thrown() noexcept { return thrown_; }

protected:
    TACTUS_CHECK_MODULE("task");

private:
    friend class tactus::v0::coroutine_set;

    /// Of the outermost: destroys the whole chain. Requires: it does not run.
    void destroy_chain() noexcept;
    /// As a handle does it: the frame begins with two functions that take its address.
    void call(int which) const {
        using function = void (*)(void*);
        static_cast<const function*>(functions_.address())[which](frame_);
    }

    alignas(void*) std::byte thrown_[sizeof(void*)];
    result got_ = result::none;
    bool catches_ = false;
    bool waited_ = false;  // the outermost only
    std::coroutine_handle<> functions_;
    void* frame_ = nullptr;
    task_frame* continuation_ = nullptr;  // what awaits it; of the outermost: F4
    task_frame* root_ = nullptr;
    // The outermost only.
    coroutine_run* run_ = nullptr;
    handled (*outcome_)(task_frame&) noexcept = nullptr;
    coroutine_keep keep_;  // of others, and before the start, its `what` is the holder
};

/// The begin of every task: it waits to be awaited, or started.
struct task_begin {
    task_frame& of;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> frame) const noexcept {
        of.set_frame(frame.address());
    }
    void await_resume() const noexcept {}
};

/// The end of every task: the run goes on with who awaits it.
struct task_end {
    task_frame& of;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) const noexcept { of.finished(); }
    void await_resume() const noexcept {}
};

inline task_begin task_frame::initial_suspend() noexcept {
    return {*this};
}
inline task_end task_frame::final_suspend() noexcept {
    return {*this};
}

}  // namespace detail
}  // namespace tactus::inline v0
