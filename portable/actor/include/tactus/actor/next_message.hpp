// SPDX-License-Identifier: Apache-2.0
//
// Next message: a task waits for the next message of a type (EX-7, AC-2).
//
//     const answer a = co_await context().next<answer>();
//     const std::expected<answer, next_error> b = co_await context().next<answer>(1s);
//
// An actor that has such waits takes messages from its mailbox though its handler waits. A message
// that is waited for goes to the earliest of these waits, not to its handler. Any other one goes to
// its handler, or, while a handler holds the mailbox (an actor that is not reentrant), is set
// aside. What was set aside comes back, in its order and before what is queued, when that handler
// ends.
//
// A wait owns the message it was given until the task takes it. A task that is destroyed before
// that leaves the message to the mailbox: nothing is lost, and nothing is handled twice.
//
// Thread safety: all of it belongs to the actor's turn, except the timer of a wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include <tactus/actor/wait_awaiter.hpp>
#include <tactus/base/intrusive_list.hpp>
#include <tactus/mailbox/envelope.hpp>
#include <tactus/scheduler/scheduler.hpp>

namespace tactus::inline v0 {

struct cell_coroutines;

/// Why a wait with a limit gives no message.
enum class next_error : std::uint8_t {
    timeout,          // none came within the limit
    invalid_timeout,  // the limit is not positive
    no_timer,         // the scheduler is full or closed, or the system has none
};
inline constexpr std::size_t next_error_count = 3;
[[nodiscard]] const char* name_of(next_error why) noexcept;

namespace detail {

/// One wait; what does not depend on the message.
class message_wait : public list_hook<> {
public:
    /// `limit` of duration::max(): none.
    message_wait(const message_type& wanted, duration limit, waker& to_wake) noexcept
        : type_(wanted), limit_(limit), to_wake_(to_wake) {}

    [[nodiscard]] const message_type& type() const noexcept { return type_; }

    /// Allocates what the actor needs for waits. False: there is no memory.
    [[nodiscard]] static bool prepare() noexcept;
    /// False: there is a message already, or it cannot wait.
    [[nodiscard]] bool start() noexcept;
    /// True: the waker will not be called.
    [[nodiscard]] bool give_up() noexcept;
    /// The message for which it waited is its from now on.
    void give(envelope& e) noexcept;
    /// The task is destroyed: a message that it has not taken goes back.
    void leave() noexcept;
    /// The wait is over: its message, or why there is none.
    [[nodiscard]] std::expected<envelope*, next_error> end() noexcept;
    /// The message is done with; `lost`: its move threw, so it becomes a dead letter.
    void dispose(bool lost) noexcept;

private:
    friend class message_receiver;
    [[nodiscard]] bool timer_is_gone() noexcept;

    const message_type& type_;
    duration limit_;
    waker& to_wake_;
    cell_coroutines* of_ = nullptr;
    envelope* given_ = nullptr;
    std::uint32_t before_ = 0;  // messages set aside that came before it
    bool answered_ = false;     // it was given one while it waited: the waker is called
    std::optional<next_error> refused_;
    std::optional<cancellable> timer_;
    intrusive_list<message_wait> later_;  // of the earliest of its type: the others, in order
};

template <class M, bool Limited>
class next_source {
public:
    struct request {
        duration limit;
    };
    static constexpr wait_kind waits_for = wait_kind::message;
    using result = std::conditional_t<Limited, std::expected<M, next_error>, M>;

    next_source(const request& what, waker& to_wake, mailbox_index) noexcept
        : wait_(message_type_of<M>, what.limit, to_wake) {}
    [[nodiscard]] bool start() noexcept { return wait_.start(); }
    [[nodiscard]] bool give_up() noexcept { return wait_.give_up(); }
    void leave() noexcept { wait_.leave(); }
    [[nodiscard]] result take() noexcept(std::is_nothrow_move_constructible_v<M>) {
        const std::expected<envelope*, next_error> got = wait_.end();
        if constexpr (Limited) {
            if (!got)
                return std::unexpected(got.error());
        }
        disposal after{wait_};
        M& message = *std::launder(static_cast<M*>((*got)->payload()));
        if constexpr (std::is_nothrow_move_constructible_v<M>) {
            return result(std::move(message));
        } else {
#if defined(__cpp_exceptions)
            try {
                return result(std::move(message));
            } catch (...) {
                after.lost = true;
                throw;
            }
#else
            return result(std::move(message));
#endif
        }
    }

private:
    struct disposal {
        explicit disposal(message_wait& w) noexcept : of(w) {}
        ~disposal() { of.dispose(lost); }
        disposal(const disposal&) = delete;
        disposal& operator=(const disposal&) = delete;
        message_wait& of;
        bool lost = false;
    };

    message_wait wait_;
};

}  // namespace detail

/// See protocol_context::next.
template <class M, bool Limited, class Token = no_token>
class [[nodiscard]] next_awaiter : public wait_awaiter<detail::next_source<M, Limited>, Token> {
    using base = wait_awaiter<detail::next_source<M, Limited>, Token>;

public:
    explicit next_awaiter(duration limit, Token token) noexcept : base({limit}, token) {}
    ~next_awaiter() {
        if (auto* source = this->source())
            source->leave();
    }
    next_awaiter(const next_awaiter&) = delete;
    next_awaiter& operator=(const next_awaiter&) = delete;

    template <std::derived_from<detail::task_frame> Promise>
    [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> who) noexcept {
        if (!detail::message_wait::prepare()) {
            this->frame().run().fail({no_wait_memory, nullptr});
            return true;
        }
        return base::await_suspend(who);
    }
};

}  // namespace tactus::inline v0
