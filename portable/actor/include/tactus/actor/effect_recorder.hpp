// SPDX-License-Identifier: Apache-2.0
//
// Effect recorder: who is told what actors ask of their world, for test kits (TK-1).
//
// A world without one, which is every world outside of tests, pays a comparison where an actor
// spawns, watches, stops a child or touches a timer; sending and receiving know nothing of it.
//
// What the world does on its own when an actor ends (its timers, its watches, its children) is not
// told, except that a timer is gone.
//
// Called in the turn of the actor; must not block.
#pragma once

#include <tactus/actor/actor_world.hpp>

namespace tactus::inline v0 {

class effect_recorder {
public:
    /// A child is to be made; `wanted` may be changed, but for its name.
    virtual void spawning(turn& t, actor_world::spawn_request& wanted) noexcept {
        (void)t;
        (void)wanted;
    }
    /// It was; `asked` is what the actor wanted.
    virtual void spawned(turn& t, const actor_world::spawn_request& asked,
                         mailbox_index child) noexcept {
        (void)t;
        (void)asked;
        (void)child;
    }
    /// Before that becomes of it.
    virtual void stopping_child(turn& t, mailbox_index child) noexcept {
        (void)t;
        (void)child;
    }
    /// `with`: what it is told at the end; null: terminated.
    virtual void watched(turn& t, mailbox_index who, const held_message* with) noexcept {
        (void)t;
        (void)who;
        (void)with;
    }
    virtual void unwatched(turn& t, mailbox_index who) noexcept {
        (void)t;
        (void)who;
    }
    /// A function for messages of this type.
    virtual void adapting(turn& t, const message_type& from) noexcept {
        (void)t;
        (void)from;
    }
    /// `count` messages that were put aside are about to come first in the mailbox.
    virtual void unstashing(turn& t, std::uint32_t count) noexcept {
        (void)t;
        (void)count;
    }

    /// `timer` stays where it is until timer_gone.
    struct started_timer {
        const actor_timer& timer;
        duration first;
        bool overriding;  // another one had its key
    };
    virtual void timer_started(turn& t, const started_timer& what) noexcept {
        (void)t;
        (void)what;
    }
    virtual void timer_cancelled(turn& t, timer_key key) noexcept {
        (void)t;
        (void)key;
    }
    /// Fired for the last time, replaced or cancelled, by whomever.
    virtual void timer_gone(const actor_timer& timer) noexcept { (void)timer; }
    /// A message is to be sent later; it may have been already.
    virtual void scheduled(turn& t, any_ref to, const message_type& what, duration delay) noexcept {
        (void)t;
        (void)to;
        (void)what;
        (void)delay;
    }
    /// duration::max(): none any more.
    virtual void receive_timeout_set(turn& t, duration after) noexcept {
        (void)t;
        (void)after;
    }

    struct question {
        mailbox_index who;
        any_ref target;
        any_ref reply_to;
        duration timeout;
        const message_type* asked;
        const message_type* reply;
        timer_handle timer;  // of the timeout; names nothing: there is none
        waker* late;         // what that wakes; there as long as the timer can be cancelled
    };
    virtual void asked(const question& q) noexcept { (void)q; }

protected:
    ~effect_recorder() = default;
};

}  // namespace tactus::inline v0
