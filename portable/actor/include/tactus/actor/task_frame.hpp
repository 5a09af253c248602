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
// Invariants
//   F1  root_ is null before the chain was started, and then the outermost, for the outermost too
//   F2  run_ of the outermost is set exactly while the chain runs; of others it is null
//   F3  the list hook of the outermost is in its coroutine_set, from its start to its end
//
// Thread safety: none; a chain belongs to its actor's turn.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>

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
    std::coroutine_handle<> who;
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
    std::coroutine_handle<> next;  // resumed when the one that runs now has suspended; or null
    state how = state::runs;
    failure why;

    /// The chain ends here, with a failure; nobody in it is resumed any more.
    void fail(const failure& with) noexcept {
        how = state::failed;
        why = with;
    }
};

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

    /// `outer` awaits this one, and can be given an exception, or not.
    void awaited_by(task_frame& outer, std::coroutine_handle<> to, bool catches) noexcept {
        root_ = outer.root_;
        continuation_ = to;
        catches_ = catches;
    }
    /// Its code has ended, one way or the other.
    void finished() noexcept {
        coroutine_run& now = run();
        if (continuation_ == nullptr)
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

    alignas(void*) std::byte thrown_[sizeof(void*)];
    result got_ = result::none;
    bool catches_ = false;
    bool waited_ = false;                   // the outermost only
    std::coroutine_handle<> continuation_;  // who awaits it; null: the outermost
    task_frame* root_ = nullptr;
    // The outermost only.
    coroutine_run* run_ = nullptr;
    handled (*outcome_)(task_frame&) noexcept = nullptr;
    std::coroutine_handle<> self_;
    coroutine_keep keep_;
};

/// The end of every task: the run goes on with who awaits it.
struct task_end {
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
        ended.promise().finished();
    }
    void await_resume() const noexcept {}
};

}  // namespace detail
}  // namespace tactus::inline v0
