// SPDX-License-Identifier: Apache-2.0
//
// Continuation waker: one wait of a coroutine; wakes it by a message to its actor (EX-7, SQ-4).
//
// A wait has up to three parties, and any of them may be the last to know of it:
//   the coroutine, in its actor's turns, which may be destroyed while it waits;
//   the source of what it waits for, on any thread, which calls wake() once, or was told not to;
//   a cancel context, on any thread, which may want the wait to end early.
// So a wait lives in a block of its own, which each party has a share in; the last one frees it. A
// share of the source, or of the context, passes to the continuation that it sends, and ends when
// the kernel says `done`: handled, or refused because the actor has ended.
//
// Everything but the shares is decided in the actor's turn: a continuation that finds the coroutine
// gone does nothing, a cancellation asks the source to give up and, when that is too late, leaves
// the rest to the wake that is on its way. A wake that comes before the coroutine has suspended
// needs nothing special: its continuation is handled in a later part of the turn.
//
// Invariants
//   N1  each node is sent at most once
//   N2  shares_ counts: the coroutine until leave(); the source until its node is done, or it gave
//       up or never began; the context until its node is done, or it was told not to call
//   N3  state_ is waiting exactly while the coroutine is to be resumed by a continuation
#pragma once

#include <cstdint>

#include <tactus/actor/cancel_context.hpp>
#include <tactus/actor/coroutine_set.hpp>
#include <tactus/dispatch/waker.hpp>
#include <tactus/mailbox/system_message.hpp>
#include <tactus/port/port.hpp>

namespace tactus::inline v0 {

class continuation_waker : public waker {
public:
    continuation_waker(const continuation_waker&) = delete;
    continuation_waker& operator=(const continuation_waker&) = delete;

    /// What is waited for has come. At most once, and not after give_up() said true. From any
    /// thread.
    void wake() noexcept final { send(wake_node_); }

    using resumption = detail::resumption;
    /// A continuation has come. Called by: the coroutine_set, in the actor's turn.
    [[nodiscard]] static resumption arrived(system_message& node) noexcept {
        return static_cast<continuation_waker*>(node.data.read())->handle(node);
    }

protected:
    /// What a context calls; part of waits that can be cancelled.
    class watch final : public cancel_callback {
    public:
        explicit watch(continuation_waker& of) noexcept : of_(of) { of.prepare(node_); }
        void context_cancelled() noexcept override { of_.send(node_); }

    private:
        continuation_waker& of_;
        system_message node_;
    };

    explicit continuation_waker(const coroutine_set& of) noexcept;
    ~continuation_waker() = default;

    /// Begins the wait. False: there is nothing to wait for, the coroutine goes on at once.
    virtual bool start() noexcept = 0;
    /// Asks the source to forget this waker. False: wake() was called, or is about to be.
    virtual bool give_up() noexcept = 0;
    /// Ends this object and gives its memory back.
    virtual void destroy() noexcept = 0;

    // What awaiters call, in the actor's turn.

    /// `who` waits; `w` is null or watches `token`. False: it goes on at once.
    [[nodiscard]] bool begin(detail::task_frame& who, watch* w, const cancel_token& token) noexcept;
    [[nodiscard]] bool was_cancelled() const noexcept { return state_ == state::cancelled; }
    /// The awaiter ends: it has what it waited for, or its coroutine is destroyed.
    void leave() noexcept;

private:
    TACTUS_CHECK_MODULE("continuation_waker");

    /// The source's, as the actor knows it.
    enum class state : std::uint8_t {
        idle,       // never began, or ended at once; or nobody waits any more
        waiting,    // will wake
        woken,      // has woken, and its node was handled
        cancelled,  // gave up, or never began, because of the context
    };

    void prepare(system_message& node) noexcept;
    void send(system_message& node) noexcept;
    [[nodiscard]] resumption handle(const system_message& node) noexcept;
    void drop(std::uint32_t shares) noexcept;

    // "wait-shares": what a party did with the block happens before the last one frees it. Each
    // drop is a read-modify-write, so it continues the release sequence of those before.
    static constexpr port::edge shares_given_up{"wait-shares"};

    // Constant after construction
    mailbox_index owner_;

    // The actor's turn only
    state state_ = state::idle;
    bool watched_ = false;
    port::plain<detail::task_frame*> who_;
    cancel_token token_;
    watch* watch_ = nullptr;

    // Shared
    port::atomic<std::uint32_t> shares_{1};  // the coroutine's
    system_message wake_node_;               // the source's, then the kernel's
};

}  // namespace tactus::inline v0
