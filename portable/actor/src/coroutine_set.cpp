// SPDX-License-Identifier: Apache-2.0
//
// Beginning, going on and ending of handlers that are coroutines.
#include <tactus/actor/coroutine_set.hpp>

#include <tactus/actor/continuation_waker.hpp>

#include <utility>

namespace tactus::inline v0 {

namespace detail {

void task_frame::destroy_chain() noexcept {
    const task_frame* innermost = continuation_;
    while (innermost != this) {
        *static_cast<task_frame**>(innermost->keep_.what) = nullptr;  // its task is empty now
        std::exchange(innermost, innermost->continuation_)->destroy();
    }
    destroy();
}

}  // namespace detail

const char* name_of(wait_kind what) noexcept {
    static constexpr const char* names[wait_kind_count] = {"other", "time",   "reply",
                                                           "room",  "signal", "message"};
    return names[static_cast<std::size_t>(what)];
}

handled coroutine_set::refuse(failure why, const coroutine_keep& keep) noexcept {
    ended_waited_ = false;
    if (keep.ended != nullptr)
        keep.ended(*this, keep, coroutine_end::failed);
    last_waits_ = false;
    return handled::failed(why);  // last: what ended() called may have failed too
}

handled coroutine_set::begin(detail::task_frame& root,
                             handled (*outcome)(detail::task_frame&) noexcept,
                             const coroutine_keep& keep) noexcept {
    root.root_ = &root;
    root.outcome_ = outcome;
    root.keep_ = keep;
    begun_.push_front(root);
    ++count_;
    return run(root, root);
}

handled coroutine_set::run(detail::task_frame& root, detail::task_frame& from) noexcept {
    using state = detail::coroutine_run::state;
    const bool outer = std::exchange(running_, true);
    detail::coroutine_run now{*this, &from, state::runs, {}};
    root.run_ = &now;
    {
        const coroutine_memory bound(memory_);
        while (now.next != nullptr) {
            root.continuation_ = std::exchange(now.next, nullptr);
            root.continuation_->resume();
        }
    }
    root.run_ = nullptr;
    running_ = outer;
    // It has stopped, and nobody would go on with it: it awaits what is no wait.
    TACTUS_CHECK(3, now.how != state::runs);
    if (now.how == state::waits) {
        root.waited_ = true;
        last_waits_ = true;
        return handled::ok();
    }
    if (now.how == state::returned) {
        const handled result = root.outcome_(root);
        if (result.is_ok()) {
            end(root, coroutine_end::returned);
            return result;
        }
        now.why = result.why();
    }
    end(root, coroutine_end::failed);
    return handled::failed(now.why);  // last: destructors may have left another on this thread
}

void coroutine_set::end(detail::task_frame& root, coroutine_end how) noexcept {
    const coroutine_keep keep = root.keep_;
    const bool waited = root.waited_;
    root.unlink();
    --count_;
    root.destroy_chain();
    // Last: destructors may have started others.
    ended_waited_ = waited;
    if (keep.ended != nullptr)
        keep.ended(*this, keep, how);
    last_waits_ = false;
}

detail::resumption coroutine_set::arrived(system_message& continuation) const noexcept {
    TACTUS_CHECK(2, !running_);  // C2
    return continuation_waker::arrived(continuation);
}

handled coroutine_set::resume(const detail::resumption& next) noexcept {
    return next.root != nullptr ? run(*next.root, *next.who) : handled::ok();
}

bool coroutine_set::keeps(const void* what) noexcept {
    for (const detail::task_frame& root : begun_) {
        if (root.keep_.what == what)
            return true;
    }
    return false;
}

void coroutine_set::destroy_all() noexcept {
    TACTUS_CHECK(1, !running_);  // C2
    while (!begun_.empty())
        end(begun_.front(), coroutine_end::destroyed);
}

}  // namespace tactus::inline v0
