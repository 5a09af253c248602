// SPDX-License-Identifier: Apache-2.0
//
// Holding actors back, and letting them go (CO-4, CO-6).
#include <tactus/dispatch/actor_scheduler.hpp>
#include <tactus/dispatch/turn.hpp>

namespace tactus::inline v0 {

std::expected<void, suspend_error> turn::suspend(suspend_reason reason,
                                                 const resume_condition& until,
                                                 const suspend_limit& limit) noexcept {
    system().about_to_hold(slot_, self(), held_by(reason));
    // Held back first: whoever ends it finds it so.
    if (!slot_.state().try_suspend(suspension::await)) {
        system().hub_.resumed(self());
        return std::unexpected(suspend_error::too_often);
    }
    const auto added = system().suspensions_.add(
        self(), reason, until,
        limit.after != duration::max() ? limit : slot_.limit_of_suspensions());
    if (!added) {
        (void)slot_.state().resume(suspension::await);
        system().hub_.resumed(self());
        return added;
    }
    slot_.waits = true;
    slot_.was_held = true;
    suspended_ = true;
    // Room may have come up since the message was refused, and nobody waited for it then.
    if (until.on == resume_condition::kind::when_capacity_available &&
        worker_.refused_by_.valid() && system().has_room(worker_.refused_by_))
        (void)system().suspensions_.capacity_available();
    return {};
}

void turn::end_suspensions() noexcept {
    if (!slot_.waits)
        return;
    while (system().suspensions_.forget(self()))
        (void)system().let_go(slot_, self(), suspension::await);
    slot_.waits = false;
}

bool actor_scheduler::has_room(mailbox_index who) noexcept {
    slot* s = slots_.find(who);
    mailbox_block* block = s != nullptr ? s->gated() : nullptr;
    return block == nullptr || block->gate().has_room(who.generation);
}

void actor_scheduler::about_to_hold(slot& s, mailbox_index who, held_reason why) noexcept {
    s.note_held_by(why, time_);
    hub_.suspended(who, why);
}

bool actor_scheduler::suspend(mailbox_index who, suspension why) noexcept {
    const caller c(*this);
    slot* s = c.gone() ? nullptr : slots_.find(who);
    if (s == nullptr)
        return false;
    about_to_hold(
        *s, who,
        why == suspension::supervision ? held_reason::supervision : held_reason::user_defined);
    if (s->state().try_suspend(why, life::state_mark(who.generation)))
        return true;
    hub_.resumed(who);
    return false;
}

bool actor_scheduler::resume(mailbox_index who, suspension why) noexcept {
    const caller c(*this);
    slot* s = c.gone() ? nullptr : slots_.find(who);
    if (s == nullptr)
        return false;
    // One way to end a wait is enough: what it waited for must not end another.
    if (why == suspension::await)
        (void)suspensions_.forget_beyond(who, s->state().suspend_count(why));
    return let_go(*s, who, why);
}

bool actor_scheduler::let_go(slot& s, mailbox_index who, suspension why) noexcept {
    hub_.resumed(who);
    const std::uint32_t life = life::state_mark(who.generation);
    if (s.state().resume(why, life)) {
        if (s.offer_work(life))
            order_of(s).requeue(s, lanes_of(own_worker(), s));
    } else if (why == suspension::supervision && s.keeps() && s.state().suspend_count(why) == 0 &&
               s.state().request_schedule(schedule_hint::system, life)) {
        // Still awaiting, but a continuation was held back by supervision: it may end the await.
        order_of(s).submit(s, lanes_of(own_worker(), s), {lane::cancel, s.priority(), 0});
    }
    return true;
}

void actor_scheduler::resume_suspended(mailbox_index who) noexcept {
    if (slot* s = slots_.find(who))
        (void)let_go(*s, who, suspension::await);
}

void actor_scheduler::suspension_limit(mailbox_index who, suspend_limit_action action) noexcept {
    slot* s = slots_.find(who);
    if (s == nullptr)
        return;
    const std::uint32_t life = life::state_mark(who.generation);
    if (action == suspend_limit_action::stop) {
        if (hub_.stops_at_limit(who))
            return;
        // It ends in a run: its code is not for the thread that runs what is due (SC-10), which may
        // be a driver's. Scheduled first, so that nobody is left to end it here.
        const bool is_idle = s->state().request_schedule(schedule_hint::system, life);
        (void)stop(who);
        if (is_idle)
            order_of(*s).submit(*s, lanes_of(own_worker(), *s), {lane::cancel, s->priority(), 0});
        return;
    }
    // Held back for another reason from now on: supervision decides.
    about_to_hold(*s, who, held_reason::supervision);
    (void)s->state().suspend(suspension::supervision, life);
    (void)s->state().resume(suspension::await, life);
    hub_.resumed(who);
    hub_.actor_failed(who, {"suspended for longer than its limit", nullptr});
}

}  // namespace tactus::inline v0
