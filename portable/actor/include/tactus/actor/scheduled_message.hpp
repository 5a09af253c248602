// SPDX-License-Identifier: Apache-2.0
//
// A message that is sent later (AC-5): context().schedule_once(delay, to, message).
//
// It belongs to its world, not to who scheduled it: that one may end, and the message is sent all
// the same. Timers with a key (actor_timers.hpp) end with their actor, and are what an actor wants
// for itself.
//
// Who wins it frees it: the timer that fires, or whoever's cancel of that timer succeeds. A handle
// knows the timer, whose generation says if it is still the same one, and the message only to free
// it then.
//
// Thread safety: a handle is one thread's at a time, which may be any.
#pragma once

#include <cstdint>
#include <new>
#include <utility>

#include <tactus/actor/actor_ref.hpp>
#include <tactus/actor/timer_service.hpp>
#include <tactus/base/memory_source.hpp>
#include <tactus/mailbox/message_type.hpp>

namespace tactus::inline v0 {

class actor_world;

class scheduled_message : private waker {
public:
    scheduled_message(const scheduled_message&) = delete;
    scheduled_message& operator=(const scheduled_message&) = delete;

    virtual ~scheduled_message() = default;

    [[nodiscard]] virtual const message_type& type() const noexcept = 0;
    virtual void release(memory_source& memory) noexcept = 0;
    [[nodiscard]] any_ref to() const noexcept { return to_; }

protected:
    explicit scheduled_message(any_ref to) noexcept : to_(to) {}
    virtual void send(any_ref sender) noexcept = 0;

private:
    friend class actor_world;
    void wake() noexcept override;

    // Constant once it is scheduled.
    any_ref to_;
    any_ref sender_;
    actor_world* world_ = nullptr;
    timer_target target_;
    // Under the world's lock.
    scheduled_message* next_ = nullptr;
    scheduled_message** link_ = nullptr;  // what points to it; null: not in the list
    timer_handle timer_;
    bool is_held_ = false;   // who schedules it still needs it
    bool is_fired_ = false;  // and frees it, for the timer has fired meanwhile
};

namespace detail {

template <message M>
class scheduled_of final : public scheduled_message {
public:
    scheduled_of(any_ref to, M message) noexcept
        : scheduled_message(to), message_(std::move(message)) {}
    [[nodiscard]] const message_type& type() const noexcept override { return message_type_of<M>; }
    void release(memory_source& memory) noexcept override {
        this->~scheduled_of();
        memory.release(this, sizeof(scheduled_of), alignof(scheduled_of));
    }

private:
    void send(any_ref sender) noexcept override { to().tell(std::move(message_), sender); }

    M message_;
};

}  // namespace detail

/// What a message that was scheduled is cancelled by. May be dropped: then it is sent.
class schedule_handle {
public:
    schedule_handle() = default;
    schedule_handle(schedule_handle&& other) noexcept
        : root_(other.root_),
          what_(std::exchange(other.what_, nullptr)),
          timer_(other.timer_),
          is_cancelled_(other.is_cancelled_) {}
    schedule_handle& operator=(schedule_handle&& other) noexcept {
        root_ = other.root_;
        what_ = std::exchange(other.what_, nullptr);
        timer_ = other.timer_;
        is_cancelled_ = other.is_cancelled_;
        return *this;
    }
    ~schedule_handle() = default;

    /// It was scheduled; otherwise there was no room, or the delay was too long.
    explicit operator bool() const noexcept { return what_ != nullptr; }
    /// True: it is not sent. False: it was, or was cancelled before, or its system has ended.
    bool cancel() noexcept;
    [[nodiscard]] bool is_cancelled() const noexcept { return is_cancelled_; }

private:
    friend class actor_world;
    schedule_handle(mailbox_index root, scheduled_message& what, timer_handle timer) noexcept
        : root_(root), what_(&what), timer_(timer) {}

    mailbox_index root_;  // of its world
    scheduled_message* what_ = nullptr;
    timer_handle timer_;
    bool is_cancelled_ = false;
};

}  // namespace tactus::inline v0
