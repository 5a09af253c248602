// SPDX-License-Identifier: Apache-2.0
//
// One-shot signal: something that happens once, told by anybody, awaited by tasks.
//
//     co_await s.wait();                                 // somewhere: s.wake();
//     const auto result = co_await s.wait(token);        // or cancelled
//
// It is a waker (EX-7), so whatever wakes can end waits of coroutines. What was done before wake()
// is visible after the wait. Who waits goes on in the order in which it came.
//
// Thread safety: wake() from any thread. The signal outlives the call of wake() and the waits.
#pragma once

#include <tactus/actor/wait_awaiter.hpp>
#include <tactus/base/intrusive_list.hpp>

namespace tactus::inline v0 {

class one_shot_signal final : public waker {
public:
    /// A wait for it; see wait_awaiter.hpp.
    class source : public list_hook<> {
    public:
        struct request {
            one_shot_signal* of;
        };
        static constexpr wait_kind waits_for = wait_kind::signal;
        using result = void;

        source(const request& what, waker& to_wake, mailbox_index) noexcept
            : of_(*what.of), to_wake_(to_wake) {}
        [[nodiscard]] bool start() noexcept { return of_.enter(*this); }
        [[nodiscard]] bool give_up() noexcept { return of_.leave(*this); }
        void take() noexcept {}

    private:
        friend class one_shot_signal;

        one_shot_signal& of_;
        waker& to_wake_;
        bool taken_ = false;  // to be woken, or woken; under the signal's lock
    };

    one_shot_signal() = default;
    one_shot_signal(const one_shot_signal&) = delete;
    one_shot_signal& operator=(const one_shot_signal&) = delete;

    /// It has happened. Again: nothing.
    void wake() noexcept override;
    [[nodiscard]] bool happened() const noexcept;

    /// Gives nothing.
    [[nodiscard]] wait_awaiter<source> wait() noexcept { return wait_awaiter<source>({this}); }
    /// Gives std::expected<void, cancelled>.
    [[nodiscard]] wait_awaiter<source, cancel_token> wait(cancel_token token) noexcept {
        return wait_awaiter<source, cancel_token>({this}, token);
    }

private:
    /// False: it has happened.
    bool enter(source& s) noexcept;
    /// False: it was told, or is about to be.
    bool leave(source& s) noexcept;

    mutable port::mutex mutex_;
    bool happened_ = false;
    intrusive_list<source> waiting_;
};

}  // namespace tactus::inline v0
