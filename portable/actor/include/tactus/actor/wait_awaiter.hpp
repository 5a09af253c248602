// SPDX-License-Identifier: Apache-2.0
//
// Wait awaiter: makes something that calls a waker into something that a task can co_await.
//
// A source is a class that begins something and is told of its end:
//
//     struct source {
//         struct request { ... };                // what to wait for; moved until the wait begins
//         using result = ...;
//         source(request&& what, waker& to_wake, mailbox_index owner) noexcept;
//         bool start() noexcept;                 // false: there is nothing to wait for
//         bool give_up() noexcept;               // true: the waker will not be called
//         result take();                         // the waker was called, or start() was false
//     };
//
// It lives in the wait's block (continuation_waker.hpp): until its waker was called, or it gave up,
// it stays where it is, whatever becomes of the coroutine. The waker may be called from any thread,
// once. take() and the rest are called in the actor's turn; the destructor wherever the last share
// ends.
//
// `co_await wait_awaiter<source>(request)` gives a result; with a cancel_token as second argument
// std::expected<result, cancelled>.
#pragma once

#include <concepts>
#include <coroutine>
#include <expected>
#include <new>
#include <type_traits>
#include <utility>

#include <tactus/actor/continuation_waker.hpp>

namespace tactus::inline v0 {

/// The text of the failure of a handler that could not wait.
inline constexpr char no_wait_memory[] = "no memory for a co_await";

template <class Source>
concept wait_source = requires(Source s, typename Source::request r, waker& w, mailbox_index who) {
    requires noexcept(Source(std::move(r), w, who));
    { s.start() } noexcept -> std::same_as<bool>;
    { s.give_up() } noexcept -> std::same_as<bool>;
    { s.take() } -> std::same_as<typename Source::result>;
};

/// For waits that nobody cancels.
struct no_token {};

namespace detail {

template <class Source>
inline constexpr bool takes_quietly = noexcept(std::declval<Source&>().take());

/// The block of a wait.
template <class Source, class Token>
class wait_block final : public continuation_waker {
    static constexpr bool cancellable = std::is_same_v<Token, cancel_token>;
    struct no_watch {
        explicit no_watch(continuation_waker&) noexcept {}
    };

public:
    /// Null when there is no memory.
    [[nodiscard]] static wait_block* make(const coroutine_set& of,
                                          typename Source::request&& what) noexcept {
        void* place = of.memory().allocate(sizeof(wait_block), alignof(wait_block));
        return place != nullptr ? ::new (place) wait_block(of, std::move(what)) : nullptr;
    }

    [[nodiscard]] bool begin(task_frame& who, const Token& token) noexcept {
        if constexpr (cancellable)
            return continuation_waker::begin(who, &watch_, token);
        else
            return continuation_waker::begin(who, nullptr, {});
    }
    using continuation_waker::leave;
    using continuation_waker::was_cancelled;
    [[nodiscard]] typename Source::result outcome() noexcept(takes_quietly<Source>) {
        return source_.take();
    }
    [[nodiscard]] Source& source() noexcept { return source_; }

private:
    wait_block(const coroutine_set& of, typename Source::request&& what) noexcept
        : continuation_waker(of),
          memory_(of.memory()),
          source_(std::move(what), *this, of.owner()),
          watch_(*this) {}
    ~wait_block() = default;

    bool start() noexcept override { return source_.start(); }
    bool give_up() noexcept override { return source_.give_up(); }
    void destroy() noexcept override {
        memory_source& memory = memory_;
        this->~wait_block();
        memory.release(this, sizeof(wait_block), alignof(wait_block));
    }

    memory_source& memory_;
    Source source_;
    [[no_unique_address]] std::conditional_t<cancellable, watch, no_watch> watch_;
};

}  // namespace detail

/// NeedsName: see detail::needs_name.
template <wait_source Source, class Token = no_token,
          bool NeedsName = detail::needs_name<typename Source::request>>
class [[nodiscard]] wait_awaiter : public detail::frame_awaiter {
    static constexpr bool cancellable = std::is_same_v<Token, cancel_token>;
    static_assert(cancellable || std::is_same_v<Token, no_token>);

public:
    using needs_name = std::bool_constant<NeedsName>;
    using value = typename Source::result;
    using result = std::conditional_t<cancellable, std::expected<value, cancelled>, value>;

    explicit wait_awaiter(typename Source::request&& what, Token token = {}) noexcept
        : what_(std::move(what)), token_(token) {}
    ~wait_awaiter() {
        if (block_ != nullptr)
            block_->leave();
    }
    wait_awaiter(const wait_awaiter&) = delete;
    wait_awaiter& operator=(const wait_awaiter&) = delete;

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <std::derived_from<detail::task_frame> Promise>
    [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise>) noexcept {
        detail::coroutine_run& now = frame().run();
        block_ = block::make(now.of, std::move(what_));
        if (block_ == nullptr) {
            now.fail({no_wait_memory, nullptr});
            return true;
        }
        const bool waits = block_->begin(frame(), token_);
        if (waits) {
            now.how = detail::coroutine_run::state::waits;
            if constexpr (requires { Source::waits_for; })
                now.of.note_wait(Source::waits_for);
            else
                now.of.note_wait(wait_kind::other);
        }
        return waits;
    }
    [[nodiscard]] result await_resume() noexcept(detail::takes_quietly<Source>) {
        if constexpr (cancellable) {
            if (block_->was_cancelled())
                return std::unexpected(token_.checkpoint().value_or(cancelled{}));
            if constexpr (std::is_void_v<value>) {
                block_->outcome();
                return {};
            } else {
                return block_->outcome();
            }
        } else {
            return block_->outcome();
        }
    }

protected:
    /// Null: the wait has not begun.
    [[nodiscard]] Source* source() noexcept {
        return block_ != nullptr ? &block_->source() : nullptr;
    }

private:
    using block = detail::wait_block<Source, Token>;

    typename Source::request what_;
    [[no_unique_address]] Token token_;
    block* block_ = nullptr;
};

}  // namespace tactus::inline v0
