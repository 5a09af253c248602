// SPDX-License-Identifier: Apache-2.0
//
// Timers of actors (TM-1), and the receive timeout (TM-2).
//
// A due timer comes as a message that says which; the actor's list of timers says what it means.
// The receive timeout costs a message nothing but a note of when it came: its timer runs on, and
// when it is due it looks how long that was ago.
#include <tactus/actor/actor_world.hpp>
#include <tactus/actor/effect_recorder.hpp>

#include <new>

namespace tactus::inline v0 {

bool actor_world::start_timer(turn& t, actor_timer& timer, duration first) noexcept {
    const bool overriding = drop_timer(t, timer.key);
    cell_extras* x = extras_of(cell::of(t.place()));
    timer.target.who = t.self();
    const auto handle = x != nullptr && timers_ != nullptr ? timers_->arm(timer.target, first)
                                                           : std::optional<timer_handle>{};
    if (!handle) {
        timer.release(memory_);
        return false;
    }
    timer.handle = *handle;
    timer.due = kernel_->time()->now() + first;
    timer.next = x->timers;
    x->timers = &timer;
    if (effect_recorder* recorder = recording(cell::of(t.place())))
        recorder->timer_started(t, {timer, first, overriding});
    return true;
}

void actor_world::forget_timer(cell_extras& x, actor_timer& timer) noexcept {
    for (actor_timer** at = &x.timers; *at != nullptr; at = &(*at)->next) {
        if (*at == &timer) {
            *at = timer.next;
            if (recorder_ != nullptr)
                recorder_->timer_gone(timer);
            timer.release(memory_);
            return;
        }
    }
}

bool actor_world::cancel_timer(turn& t, timer_key key) noexcept {
    if (effect_recorder* recorder = recording(cell::of(t.place())))
        recorder->timer_cancelled(t, key);
    return drop_timer(t, key);
}

bool actor_world::drop_timer(turn& t, timer_key key) noexcept {
    cell_extras* x = cell::of(t.place()).extras();
    for (actor_timer* timer = x != nullptr ? x->timers : nullptr; timer != nullptr;
         timer = timer->next) {
        if (timer->key == key) {
            (void)timers_->cancel(timer->handle);
            forget_timer(*x, *timer);
            return true;
        }
    }
    return false;
}

void actor_world::cancel_timers(turn& t) noexcept {
    cell_extras* x = cell::of(t.place()).extras();
    effect_recorder* recorder = recording(cell::of(t.place()));
    while (x != nullptr && x->timers != nullptr) {
        if (recorder != nullptr)
            recorder->timer_cancelled(t, x->timers->key);
        (void)timers_->cancel(x->timers->handle);
        forget_timer(*x, *x->timers);
    }
}

bool actor_world::timer_active(turn& t, timer_key key) noexcept {
    const cell_extras* x = cell::of(t.place()).extras();
    for (const actor_timer* timer = x != nullptr ? x->timers : nullptr; timer != nullptr;
         timer = timer->next) {
        if (timer->key == key)
            return true;
    }
    return false;
}

handled actor_world::receive_due(turn& t, const self& s, timer_due due) noexcept {
    cell_extras* x = s.c.extras();
    if (x == nullptr)
        return handled::ok();
    if (x->idle != nullptr && x->idle->timer == due.which)
        return receive_idle(t, s);
    actor_timer* timer = x->timers;
    while (timer != nullptr && timer->handle != due.which)
        timer = timer->next;
    if (timer == nullptr)
        return handled::ok();  // replaced, cancelled, or of an earlier instance
    const mailbox_index me = s.index();
    const bool last = timer->mode == timer_mode::single;
    envelope* inner = timer->wrap(*kernel_, me, last);
    const timer_key key = timer->key;
    if (last) {
        // PK-TIM-4: over before its message is handled.
        forget_timer(*x, *timer);
    } else if (timer->mode == timer_mode::fixed_rate) {
        timer->due = timer->due + timer->interval;
        const duration rest = timer->due - kernel_->time()->now();
        const auto next =
            timers_->arm(timer->target, rest > duration::zero() ? rest : duration::zero());
        if (next)
            timer->handle = *next;
        else
            forget_timer(*x, *timer);
    }
    if (inner == nullptr)
        return handled::ok();
    const handled result = receive_inner(t, s, *inner, me);
    // Fixed delay: counted from here, unless it was cancelled or replaced meanwhile.
    for (actor_timer* same = s.c.extras()->timers; same != nullptr; same = same->next) {
        if (same->key == key && same->handle == due.which) {
            const auto next = timers_->arm(same->target, same->interval);
            if (next)
                same->handle = *next;
            else
                forget_timer(*x, *same);
            break;
        }
    }
    return result;
}

// ---- receive timeout

void actor_world::arm_receive_timeout(turn& t, idle_watch& idle, duration after) noexcept {
    idle.target.who = t.self();
    idle.timer =
        timers_ != nullptr ? timers_->arm(idle.target, after) : std::optional<timer_handle>{};
}

void actor_world::set_receive_timeout(turn& t, duration after) noexcept {
    cell& c = cell::of(t.place());
    const bool off = after == duration::max();
    if (effect_recorder* recorder = recording(c))
        recorder->receive_timeout_set(t, after);
    cell_extras* x = off ? c.extras() : extras_of(c);
    idle_watch* idle = x != nullptr ? x->idle : nullptr;
    if (idle != nullptr && idle->timer)
        (void)timers_->cancel(*idle->timer);
    if (off) {
        if (idle == nullptr)
            return;
        memory_.release(idle, sizeof *idle, alignof(idle_watch));
        x->idle = nullptr;
        if (x->becomes == nullptr)
            c.clear(cell::special);
        return;
    }
    if (idle == nullptr) {
        void* block =
            x != nullptr ? memory_.allocate(sizeof(idle_watch), alignof(idle_watch)) : nullptr;
        if (block == nullptr) {
            fail(t, failure("no memory for a receive timeout"));
            return;
        }
        idle = ::new (block) idle_watch;
        x->idle = idle;
    }
    c.set(cell::special);
    idle->after = after;
    idle->active_at = kernel_->time()->now();
    arm_receive_timeout(t, *idle, after);
}

void actor_world::note_activity(turn& t, cell& c, const envelope& e) noexcept {
    idle_watch* idle = c.extras()->idle;
    if (idle == nullptr)
        return;
    const message_type* type = e.type.read();
    // PK-RTO-4: nor does the question who it is.
    if (type != &message_type_of<timer_due> && type != &message_type_of<identify> &&
        !type->keeps_receive_timeout)
        idle->active_at = t.now();
}

handled actor_world::receive_idle(turn& t, const self& s) noexcept {
    idle_watch& idle = *s.c.extras()->idle;
    const duration after = idle.after;
    const duration since = kernel_->time()->now() - idle.active_at;
    if (since < after) {
        arm_receive_timeout(t, idle, after - since);
        return handled::ok();
    }
    idle.active_at = kernel_->time()->now();
    arm_receive_timeout(t, idle, after);
    if (s.type().on_receive_timeout == nullptr)
        return handled::ok();
    return s.type().on_receive_timeout(s.c, s.instance(), receive_timeout{after});
}

}  // namespace tactus::inline v0
