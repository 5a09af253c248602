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

void actor_world::hold_child(slot& child, bool on, mailbox_index except) noexcept {
    if (except.valid() && kernel_->slots().index_of(child) == except)
        return;
    cell::of(child).tell(*kernel_, child, on ? std::uint32_t{cell::wants_held} : 0U,
                         on ? 0U : std::uint32_t{cell::wants_held});
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

void actor_world::forget_and_stop(turn& t, const self& s, slot& child) noexcept {
    const mailbox_index who = life_of(kernel_->slots(), child);  // it may have ended
    if (effect_recorder* recorder = recording(s.c))
        recorder->stopping_child(t, who);
    forget_watch(t, who);
    order_stop(s, child);
}

void actor_world::stop_children(turn& t) noexcept {
    const self s{*this, t.place(), cell::of(t.place())};
    if (in_pieces && s.c.is_restarting()) {
        stop_family(t, s);
        return;
    }
    // In a handler, which may watch them anew afterwards.
    children_of all(kernel_->slots(), s.c);
    while (slot* child = all.next())
        forget_and_stop(t, s, *child);
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

handled actor_world::look_at_some(turn& t, const self& s, cell::link& next,
                                  std::uint32_t count) noexcept {
    handled result = handled::ok();
    for (; next != cell::no_cell && count != 0 && !walks(s); --count) {
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
    return s.c.has_failed() || s.c.is(cell::holds) || (x != nullptr && x->cause) || walks(s);
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
    std::uint32_t count = piece_.size;
    while (x != nullptr && !x->failures.empty() && !is_held_back(s)) {
        if (in_pieces && count-- == 0) {
            if (family_work* rest = put_off(s)) {
                rest->decides = true;
                break;
            }
            count = all_of_it;
        }
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

void actor_world::apply_restart(const self& s, slot& child, cause_ref why,
                                const supervisor_strategy& how) noexcept {
    // The one, all, or those from the one on. A child that user code spawns meanwhile is behind the
    // last, and not concerned; none is unlinked meanwhile.
    family_work::restart_of r;
    r.failed = kernel_->slots().number_of(child);
    r.first = r.failed;
    r.last = r.failed;
    if (how.scope != supervision_scope::one_for_one) {
        const family_work::range all = all_children(s);
        r.last = all.last;
        if (how.scope == supervision_scope::all_for_one)
            r.first = all.at;
    }
    r.at = r.first;
    r.why = std::move(why);
    r.how = how;
    restart_family(s, r);
}

void actor_world::restart_some(const self& s, family_work::restart_of& r,
                               std::uint32_t& count) noexcept {
    const supervisor_strategy& how = r.how;
    const bool is_limited = how.max_restarts || how.within;
    for (; !r.empty() && count != 0; --count) {
        slot& child = next_of(s, r);
        if (r.acts) {
            forget_failure(s, child);
            const bool done = r.allowed && (r.delay ? recreate_later(s, child, r.why, *r.delay)
                                                    : send_recreate(child, r.why));
            if (!done && r.failed != cell::no_cell)
                order_stop(s, child);
            if (r.empty())
                r.why = {};
            continue;
        }
        slot& failed = kernel_->slots().at(r.failed);
        r.allowed = allows(s, child, how);
        if (how.pacing != nullptr && !is_limited && !how.backoff.is_on()) {
            const duration pause = how.pacing->counts(*how.pacing, &s, child, child, failed);
            if (pause != duration::zero())
                r.delay = pause;
        }
        if (r.allowed && !r.empty())
            continue;
        r.acts = true;
        r.at = r.first;
        if (r.allowed && how.backoff.is_on()) {
            r.delay = next_delay(*turn::current(), s, failed, *r.why, how.backoff);
            r.allowed = r.delay.has_value();
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
        apply_restart(s, child, std::move(why), how);
        break;
    case directive::stop:
        if (how.scope == supervision_scope::one_for_one)
            order_stop(s, child);
        else
            apply_restart(s, child, std::move(why), {.scope = how.scope, .max_restarts = 0U});
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
