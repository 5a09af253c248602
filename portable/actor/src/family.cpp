// SPDX-License-Identifier: Apache-2.0
//
// A parent and its children: stopping and holding them, their reports, and what is decided about
// those that failed (SV-1). In the parent's turn.
#include <tactus/actor/actor_world.hpp>
#include <tactus/actor/effect_recorder.hpp>
#include <tactus/actor/system_events.hpp>

#include <new>
#include <utility>

namespace tactus::inline v0 {

bool actor_world::has_children(const self& s) noexcept {
    return s.c.first_child != cell::no_cell;
}

slot* actor_world::find_child(const self& s, mailbox_index who) noexcept {
    // The tag was written before `who` was given out. A child's slot stays until this actor has
    // looked at its end, so it names nothing else meanwhile.
    slot* child = kernel_->slots().find(who);
    const std::uint32_t parent = kernel_->slots().number_of(s.place) + 1;
    return child != nullptr && child->tag.load(std::memory_order_relaxed) == parent ? child
                                                                                    : nullptr;
}

void actor_world::hold_children(const self& s, bool on, mailbox_index except) noexcept {
    registry& slots = kernel_->slots();
    const family_lock held(*this, s.c);
    children_of all(slots, s.c);
    while (slot* child = all.next()) {
        cell& c = cell::of(*child);
        if (except.valid() && slots.index_of(*child) == except)
            continue;
        c.tell(*kernel_, *child, on ? std::uint32_t{cell::wants_held} : 0U,
               on ? 0U : std::uint32_t{cell::wants_held});
    }
}

void actor_world::order_stop(const self& s, slot& child) noexcept {
    cell& c = cell::of(child);
    if (c.is(cell::stop_ordered))
        return;
    if (cell_extras* x = extras_of(s.c); x != nullptr) {
        c.set(cell::stop_ordered);
        ++x->ending_children;
    }
    c.tell(*kernel_, child, cell::told_terminate);
}

void actor_world::stop_children(turn& t) noexcept {
    const self s{*this, t.place(), cell::of(t.place())};
    effect_recorder* recorder = recording(s.c);
    children_of all(kernel_->slots(), s.c);
    while (slot* child = all.next()) {
        const mailbox_index who = life_of(kernel_->slots(), *child);  // it may have ended
        if (recorder != nullptr)
            recorder->stopping_child(t, who);
        forget_watch(t, who);
        order_stop(s, *child);
    }
}

void actor_world::stop_self(turn& t) noexcept {
    cell::of(t.place()).tell(*kernel_, t.place(), cell::told_terminate);
}

bool actor_world::stop_child(turn& t, mailbox_index who) noexcept {
    const self s{*this, t.place(), cell::of(t.place())};
    slot* child = find_child(s, who);
    if (child == nullptr)
        return false;
    if (effect_recorder* recorder = recording(s.c))
        recorder->stopping_child(t, who);
    order_stop(s, *child);
    return true;
}

handled actor_world::look_at_reports(turn& t, const self& s) noexcept {
    handled result = handled::ok();
    cell::link next = s.c.take_reports(kernel_->slots());
    while (next != cell::no_cell) {
        slot& child = kernel_->slots().at(next);
        cell& c = cell::of(child);
        next = c.next_report.read();
        const std::uint32_t what = c.take_report();
        if ((what & cell::report_ended) != 0) {
            child_ended(t, s, child);
        } else if ((what & (cell::report_failed | cell::restart_ordered)) == cell::report_failed) {
            // Otherwise a restart is on its way to it already, for a sibling's failure.
            if ((!result.is_ok() || is_held_back(s)) && let_wait(s, child))
                continue;
            const handled decided = child_failed(t, s, child);
            if (!decided.is_ok())
                result = decided;
        }
    }
    return result;
}

bool actor_world::is_held_back(const self& s) noexcept {
    const cell_extras* x = s.c.extras();
    // A cause: its failure is on its way.
    return s.c.has_failed() || s.c.is(cell::holds) || (x != nullptr && x->cause);
}

bool actor_world::let_wait(const self& s, slot& child) noexcept {
    if (s.c.is_ending())
        return false;
    child_record* r = record_of(s, child);
    if (r == nullptr)
        return false;  // no memory: better now than never
    r->unlink();       // it may have failed before
    s.c.extras()->failures.push_back(*r);
    return true;
}

handled actor_world::decide_waiting(turn& t, const self& s) noexcept {
    cell_extras* x = s.c.extras();
    while (x != nullptr && !x->failures.empty() && !is_held_back(s)) {
        const std::uint32_t first = x->failures.pop_front()->key.slot;
        const handled decided = child_failed(t, s, kernel_->slots().at(first));
        if (!decided.is_ok())
            return decided;
    }
    return handled::ok();
}

void actor_world::forget_failure(const self& s, slot& child) noexcept {
    const cell_extras* x = s.c.extras();
    child_record* r = x != nullptr ? x->children.find(key_of(child)) : nullptr;
    if (r != nullptr)
        r->unlink();
}

void actor_world::child_ended(turn& t, const self& s, slot& child) noexcept {
    cell& c = cell::of(child);
    const mailbox_index who = c.subject.read();
    if (cell_extras* x = s.c.extras(); x != nullptr) {
        if (c.is(cell::stop_ordered))
            --x->ending_children;
        if (child_record* r = x->children.find(key_of(child)); r != nullptr) {
            x->children.remove(memory_, *r);
            free_record(*r);
        }
    }
    {
        const family_lock held(*this, s.c);
        unlink_child(kernel_->slots(), s.c, child);
    }
    if (c.is(cell::is_named))
        names_.release(who);
    free_all(child);
    kernel_->release(child);
    if (who == user_) {
        // The runtime's own actors go last, then the root.
        terminating_.store(1, std::memory_order_relaxed);
        if (slot* system = kernel_->slots().find(system_))
            order_stop(s, *system);
    } else if (who == system_) {
        be_terminated(t, s);
        return;
    }
    go_on_waiting(t, s);
}

handled actor_world::decide(const self& s, mailbox_index child, const failure_cause& why,
                            directive& d, supervisor_strategy& how) noexcept {
    const actor_type& type = s.type();
    if (s.c.has_instance()) {
        if (type.supervision != nullptr) {
            const handled asked = type.supervision(s.c, s.instance(), why, how, d);
            if (!asked.is_ok() || type.decide == nullptr)
                return asked;
        }
        if (type.decide != nullptr)
            return type.decide(s.c, s.instance(), any_ref(child), why, d);
    }
    d = default_decider(why);
    return handled::ok();
}

bool actor_world::allows(const self& s, slot& child, const supervisor_strategy& how) noexcept {
    if ((!how.max_restarts && !how.within) || cell::of(child).is(cell::restart_ordered))
        return true;
    child_record* r = record_of(s, child);
    const clock* time = kernel_->time();
    return r != nullptr && r->restarts.allows(how, time != nullptr ? time->now() : instant{});
}

child_record* actor_world::record_of(const self& s, slot& child) noexcept {
    cell_extras* x = extras_of(s.c);
    if (x == nullptr)
        return nullptr;
    const mailbox_index key = key_of(child);
    child_record* r = x->children.find(key);
    if (r != nullptr)
        return r;
    void* block = memory_.allocate(sizeof(child_record), alignof(child_record));
    if (block == nullptr)
        return nullptr;
    r = ::new (block) child_record;
    r->key = key;
    x->children.add(memory_, *r);
    return r;
}

void actor_world::apply_restart(turn& t, const self& s, slot& child, const cause_ref& why,
                                const supervisor_strategy& how) noexcept {
    // The one, all, or those from the one on. A child that user code spawns meanwhile is behind the
    // last, and not concerned; none is unlinked meanwhile.
    registry& slots = kernel_->slots();
    slot* first = &child;
    const slot* last = &child;
    if (how.scope != supervision_scope::one_for_one) {
        const family_lock held(*this, s.c);
        last = &last_child(slots, s.c);
        if (how.scope == supervision_scope::all_for_one)
            first = &slots.at(s.c.first_child);
    }
    bool allowed = true;
    std::optional<duration> delay;
    bool acts = false;  // in the second round: first each needs its permission
    for (slot* c = first;;) {
        if (acts) {
            forget_failure(s, *c);
            const bool done =
                allowed && (delay ? recreate_later(s, *c, why, *delay) : send_recreate(*c, why));
            if (!done)
                order_stop(s, *c);
        } else {
            allowed = allows(s, *c, how);
        }
        if (c != last && (acts || allowed)) {
            const family_lock held(*this, s.c);
            c = &slots.at(cell::of(*c).next_sibling);
            continue;
        }
        if (acts)
            return;
        acts = true;
        c = first;
        if (allowed && how.backoff.is_on()) {
            delay = next_delay(t, s, child, *why, how.backoff);
            allowed = delay.has_value();
        } else if (how.pacing != nullptr && !how.max_restarts && !how.within) {
            const duration pause = how.pacing->counts(*how.pacing, &s, *first, *last, child);
            if (pause != duration::zero())
                delay = pause;
        }
    }
}

handled actor_world::child_failed(turn& t, const self& s, slot& child) noexcept {
    cell& c = cell::of(child);
    if (s.c.is_ending() || c.state() == lifecycle::state::ended)
        return handled::ok();  // its end was ordered, or has come: nobody asks any more
    cell_extras* theirs = c.extras();
    const mailbox_index who = life_of(kernel_->slots(), child);  // it may be ending
    cause_ref why = theirs != nullptr ? theirs->reported.take()
                                      : cause_ref::make(memory_, failure_kind::runtime,
                                                        failure("no memory to say why it failed"));
    if (!why)
        return handled::ok();  // decided already, or it was restarted for another's failure
    directive d = directive::stop;
    supervisor_strategy how;
    how.pacing = pacing_;
    t.set_sender(who);  // C-SUP-20: for who asks
    const handled decided = decide(s, who, *why, d, how);
    if (!decided.is_ok()) {
        // PK-SUP-3: a decider that fails, fails the parent.
        if (cell_extras* x = extras_of(s.c); x != nullptr) {
            x->cause = x->cause ? x->cause.as(memory_, failure_kind::supervision) : why;
            x->perpetrator = who;
        }
        return decided;
    }
    if (events_ != nullptr)
        events_->supervised({any_ref(s.index()), any_ref(who), d, &*why});
    if (!stream_.is_empty())
        stream_.publish(supervision_decision{any_ref(s.index()), any_ref(who), d, why});
    switch (d) {
    case directive::resume:
        c.tell(*kernel_, child, cell::told_resume);
        break;
    case directive::restart:
        apply_restart(t, s, child, why, how);
        break;
    case directive::stop:
        if (how.scope == supervision_scope::one_for_one)
            order_stop(s, child);
        else
            apply_restart(t, s, child, why, {.scope = how.scope, .max_restarts = 0U});
        break;
    case directive::escalate: {
        cell_extras* x = extras_of(s.c);
        if (x != nullptr)
            x->perpetrator = who;
        return failed(s.c, std::move(why));
    }
    }
    return handled::ok();
}

}  // namespace tactus::inline v0
