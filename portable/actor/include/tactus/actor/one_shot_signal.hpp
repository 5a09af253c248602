// SPDX-License-Identifier: Apache-2.0
//
// One-shot signal: something that happens once, told by anybody, awaited by one task.
//
//     co_await s.wait();                     // somewhere: s.wake();
//     if (!co_await s.wait(token)) ...       // or cancelled
//
// It is a waker (EX-7), so whatever wakes can end a wait of a coroutine. What was done before
// wake() is visible after the wait.
//
// Thread safety: wake() from any thread; waiting from one task at a time (check one_shot_signal:1).
// The signal outlives the call of wake() and the wait.
#pragma once

#include <tactus/actor/wait_awaiter.hpp>

namespace tactus::inline v0 {

class one_shot_signal final : public waker {
public:
    /// A wait for it; see wait_awaiter.hpp.
    class source {
    public:
        struct request {
            one_shot_signal* of;
        };
        using result = void;

        source(request&& what, waker& to_wake, mailbox_index) noexcept
            : of_(*what.of), to_wake_(to_wake) {}
        [[nodiscard]] bool start() noexcept { return of_.enter(to_wake_); }
        [[nodiscard]] bool give_up() noexcept { return of_.leave(); }
        void take() noexcept {}

    private:
        one_shot_signal& of_;
        waker& to_wake_;
    };

    one_shot_signal() = default;
    one_shot_signal(const one_shot_signal&) = delete;
    one_shot_signal& operator=(const one_shot_signal&) = delete;

    /// It has happened. Again: nothing.
    void wake() noexcept override;
    [[nodiscard]] bool happened() const noexcept;

    /// Nothing.
    [[nodiscard]] wait_awaiter<source> wait() noexcept { return wait_awaiter<source>({this}); }
    /// std::expected<void, cancelled>.
    [[nodiscard]] wait_awaiter<source, cancel_token> wait(cancel_token token) noexcept {
        return wait_awaiter<source, cancel_token>({this}, token);
    }

private:
    TACTUS_CHECK_MODULE("one_shot_signal");

    /// False: it has happened.
    bool enter(waker& w) noexcept;
    /// False: it has happened, and who waited was told, or is about to be.
    bool leave() noexcept;

    mutable port::mutex mutex_;
    bool happened_ = false;
    waker* waiting_ = nullptr;
};

}  // namespace tactus::inline v0
