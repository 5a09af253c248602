// SPDX-License-Identifier: Apache-2.0
//
// Restarts that take place later (SV-4). In the parent's turn, except that a timer fires.
//
// The child is told at once to restart, so that its hooks run and its children end; what it waits
// for then is a level in its cell (cell::backs_off), which the timer ends. Whichever comes first,
// the end of its children, the message or the timer: the last one makes the new instance. The timer
// belongs to the parent's record of the child, and is cancelled before the child's slot is free.
#include <tactus/actor/actor_world.hpp>

#include <new>

namespace tactus::inline v0 {

void actor_world::free_record(child_record& r) noexcept {
    if (delayed_restart* later = r.later; later != nullptr) {
        if (later->timer)
            (void)timers_->cancel(*later->timer);
        later->~delayed_restart();
        memory_.release(later, sizeof *later, alignof(delayed_restart));
    }
    r.~child_record();
    memory_.release(&r, sizeof r, alignof(child_record));
}

delayed_restart* actor_world::delayed_restart_of(const self& s, slot& child) noexcept {
    child_record* r = timers_ != nullptr ? record_of(s, child) : nullptr;
    if (r != nullptr && r->later == nullptr) {
        if (void* block = memory_.allocate(sizeof(delayed_restart), alignof(delayed_restart)))
            r->later = ::new (block) delayed_restart(*kernel_, child);
    }
    return r != nullptr ? r->later : nullptr;
}

std::optional<duration> actor_world::next_delay(turn& t, const self& s, slot& child,
                                                const failure_cause& why,
                                                const backoff_options& how) noexcept {
    delayed_restart* later = delayed_restart_of(s, child);
    if (later == nullptr)
        return std::nullopt;
    // C-TX-34: long enough without a failure: counted anew.
    if (later->count != 0 && kernel_->time()->now() - later->again_at >= how.resets_after())
        later->count = 0;
    if (how.max_restarts && later->count >= *how.max_restarts)
        return std::nullopt;
    const duration delay = backoff_delay(later->count, how.min, how.max, how.random_factor,
                                         t.on().lanes().streams()[random_stream::jitter]);
    ++later->count;
    return delay < why.retry_after() ? why.retry_after() : delay;
}

bool actor_world::recreate_later(const self& s, slot& child, const cause_ref& why,
                                 duration delay) noexcept {
    cell& c = cell::of(child);
    if (c.is(cell::backs_off))
        return true;  // a sibling of who failed, which failed before: its own time counts
    delayed_restart* later = delayed_restart_of(s, child);
    if (later == nullptr)
        return false;
    if (later->timer)
        (void)timers_->cancel(*later->timer);  // it has fired
    later->again_at = kernel_->time()->now() + delay;
    c.set(cell::backs_off);  // seen by who gets the message
    const mailbox_index who = kernel_->slots().index_of(child);
    const scheduler::armed made = timers_->try_arm(later->target, delay);
    if (made) {
        later->timer = *made;
        return send_recreate(child, why);
    }
    later->timer.reset();
    if (events_ != nullptr)
        events_->hook_failed(
            any_ref(who), "delayed restart",
            *cause_ref::make(memory_, failure_kind::runtime, refusal(made.error().code)));
    return false;
}

}  // namespace tactus::inline v0
