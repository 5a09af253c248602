// SPDX-License-Identifier: Apache-2.0
//
// The life of an actor: start, failure, restart, end; and what a parent does about its children.
//
// Everything here happens in the turn of the actor it is about.
#include "owned_message.hpp"

#include <tactus/actor/actor_world.hpp>

#include <utility>

namespace tactus::inline v0 {

mailbox_index actor_world::self::index() const noexcept {
    return world.kernel_->slots().index_of(place);
}

void* actor_world::instance_of(slot& s, cell& c) const noexcept {
    return c.body()->instance(static_cast<const actor_type&>(*s.acts()).alignment);
}

cell_extras* actor_world::extras_of(cell& c) noexcept {
    cell_body* body = c.body();
    if (body->extras == nullptr) {
        if (void* block = memory_.allocate(sizeof(cell_extras), alignof(cell_extras)))
            body->extras = ::new (block) cell_extras;
    }
    return body->extras;
}

handled actor_world::failed(cell& c, cause_ref why) noexcept {
    const failure text(why->kind() == failure_kind::exception ? "exception" : "failure");
    if (cell_extras* x = extras_of(c); x != nullptr)
        x->cause = std::move(why);
    return handled::failed(text);
}

void actor_world::note_failed_message(turn& t, cell& c, envelope& e) noexcept {
    const auto& type = static_cast<const actor_type&>(*t.place().acts());
    cell_extras* x = c.body()->extras;
    if (type.pre_restart == nullptr || x == nullptr || x->failed_message != nullptr)
        return;
    x->failed_message = &e;
    t.keep();
}

// ---- start

handled actor_world::start(turn& t, void* state) noexcept {
    actor_world& w = of(t.system());
    cell& c = cell::at(state);
    const self s{w, t.place(), c};
    const handled made = w.create(s, failure_kind::initialization);
    if (c.is(cell::wants_held) && !c.is(cell::holds))
        w.hold_self(s, true);
    return made;
}

handled actor_world::create(const self& s, failure_kind as) noexcept {
    const actor_type& type = s.type();
    cell_extras* x = s.c.body()->extras;
    const bool again = as == failure_kind::post_restart;
    handled made = type.construct(s.c, s.instance(), x != nullptr ? x->maker : nullptr);
    if (made.is_ok()) {
        s.c.set(cell::has_instance);
        x = s.c.body()->extras;
        if (again && type.post_restart != nullptr)
            made = type.post_restart(s.c, s.instance(), *x->cause);
        else if (type.pre_start != nullptr)
            made = type.pre_start(s.c, s.instance());
    }
    if (made.is_ok()) {
        s.c.set_phase(cell_phase::alive);
        return made;
    }
    // Whatever it was, it is a failure to begin; the instance is of no use.
    x = extras_of(s.c);
    if (x != nullptr && x->cause)
        x->cause = x->cause.as(memory_, as);
    destroy_instance(s);
    return made;
}

void actor_world::destroy_instance(const self& s) noexcept {
    if (!s.c.is(cell::has_instance))
        return;
    s.c.clear(cell::has_instance);
    s.type().destruct(s.instance());
}

void actor_world::destroy(slot& place) noexcept {
    cell& c = cell::of(place);
    if (!c.is(cell::has_instance))
        return;
    c.clear(cell::has_instance);
    const auto& type = static_cast<const actor_type&>(*place.acts());
    type.destruct(c.body()->instance(type.alignment));
}

// ---- what it is told

handled actor_world::receive_system(turn& t, void* state, system_message& m) noexcept {
    actor_world& w = of(t.system());
    cell& c = cell::at(state);
    const self s{w, t.place(), c};
    switch (m.kind) {
    case system_kind::supervise:
        return w.look_at_orders(t, s);
    case system_kind::terminate:
        w.be_terminated(t, s);
        break;
    case system_kind::recreate:
        w.be_recreated(t, s, cause_ref::take(m.data.read()));
        break;
    case system_kind::failed:
        w.has_failed(s, failure(static_cast<const char*>(m.data.read())));
        break;
    case system_kind::watch:
        w.be_watched(s, static_cast<watch_entry&>(m));
        break;
    case system_kind::unwatch:
        w.be_unwatched(s, m.subject.read());
        break;
    case system_kind::death_watch_notification:
        w.be_notified(t, s, static_cast<watch_entry&>(m));
        break;
    default:
        break;
    }
    return handled::ok();
}

handled actor_world::look_at_orders(turn& t, const self& s) noexcept {
    const std::uint32_t told = s.c.take_orders();
    handled result = handled::ok();
    const bool held = (told & cell::wants_held) != 0;
    if (held != s.c.is(cell::holds))
        hold_self(s, held);
    if ((told & cell::told_resume) != 0)
        be_resumed(t, s);
    if ((told & cell::told_reports) != 0)
        result = look_at_reports(t, s);
    if ((told & cell::told_terminate) != 0)
        be_terminated(t, s);
    return result;
}

// ---- being held back

void actor_world::hold_self(const self& s, bool on) noexcept {
    const mailbox_index me = s.index();
    if (on) {
        s.c.set(cell::holds);
        (void)kernel_->suspend(me, suspension::supervision);
        if (!s.c.is(cell::failed))
            hold_children(s, true, {});
        return;
    }
    s.c.clear(cell::holds);
    (void)kernel_->resume(me, suspension::supervision);
    if (!s.c.is(cell::failed))
        hold_children(s, false, {});
}

void actor_world::hold_children(const self& s, bool on, mailbox_index except) noexcept {
    registry& slots = kernel_->slots();
    children_of all(slots, s.c);
    while (slot* child = all.next()) {
        cell& c = cell::of(*child);
        if (except.valid() && slots.index_of(*child) == except)
            continue;
        c.tell(*kernel_, *child, on ? std::uint32_t{cell::wants_held} : 0U,
               on ? 0U : std::uint32_t{cell::wants_held});
    }
}

// ---- failing

void actor_world::has_failed(const self& s, const failure& why) noexcept {
    cell_extras* x = extras_of(s.c);
    if (x != nullptr && !x->cause)
        x->cause = cause_ref::make(memory_, failure_kind::runtime, why);
    if (s.c.phase() == cell_phase::terminating || s.c.is(cell::failed)) {
        // Nobody asks any more, or was asked already: one suspension is enough.
        (void)kernel_->resume(s.index(), suspension::supervision);
        return;
    }
    s.c.set(cell::failed);
    if (!s.c.is(cell::holds))
        hold_children(s, true, x != nullptr ? x->perpetrator : mailbox_index{});
    report(s, cell::report_failed);
}

void actor_world::report(const self& s, std::uint32_t what) noexcept {
    const mailbox_index parent = s.c.parent();
    if (parent.valid()) {
        if (cell_extras* x = s.c.body()->extras; x != nullptr)
            x->reported = x->cause;
        slot& above = kernel_->slots().at(parent.slot_number());
        s.c.report(*kernel_, above, cell::of(above), s.place, what);
        return;
    }
    if (s.c.is(cell::is_orphan)) {
        s.c.tell(*kernel_, s.place, cell::told_terminate);
        return;
    }
    // The root: there is nobody above.
    const cell_extras* x = s.c.body()->extras;
    if (events_ != nullptr && x != nullptr && x->cause)
        events_->guardian_failed(*x->cause);
    terminate();
}

void actor_world::end_failure(const self& s) noexcept {
    if (cell_extras* x = s.c.body()->extras; x != nullptr) {
        x->cause = {};
        x->perpetrator = {};
        if (envelope* e = std::exchange(x->failed_message, nullptr))
            kernel_->dispose_kept(*e);
    }
    if (!s.c.is(cell::failed))
        return;
    s.c.clear(cell::failed);
    (void)kernel_->resume(s.index(), suspension::supervision);
    if (!s.c.is(cell::holds))
        hold_children(s, false, {});
}

void actor_world::be_resumed(turn& t, const self& s) noexcept {
    if (!s.c.is(cell::failed) || s.c.phase() == cell_phase::terminating)
        return;
    // PK-SUP-8: who never came to life is made now.
    if (!s.c.is(cell::has_instance)) {
        be_recreated(t, s, {});
        return;
    }
    const cell_extras* x = s.c.body()->extras;
    const mailbox_index perpetrator = x != nullptr ? x->perpetrator : mailbox_index{};
    end_failure(s);
    // What it failed for is forgiven, too.
    if (slot* child = find_child(s, perpetrator))
        cell::of(*child).tell(*kernel_, *child, cell::told_resume, cell::wants_held);
}

slot* actor_world::find_child(const self& s, mailbox_index who) noexcept {
    if (!who.valid())
        return nullptr;
    children_of all(kernel_->slots(), s.c);
    while (slot* child = all.next()) {
        if (kernel_->slots().index_of(*child) == who)
            return child;
    }
    return nullptr;
}

// ---- restarting

void actor_world::be_recreated(turn& t, const self& s, cause_ref why) noexcept {
    if (s.c.phase() >= cell_phase::terminating)
        return;
    cell_extras* x = extras_of(s.c);
    if (s.c.phase() == cell_phase::restarting || x == nullptr)
        return;  // the restart going on makes a new one anyway
    if (!s.c.is(cell::failed)) {
        // A sibling failed: this one is held back for its restart as if it had.
        s.c.set(cell::failed);
        (void)kernel_->suspend(s.index(), suspension::supervision);
        if (!s.c.is(cell::holds))
            hold_children(s, true, {});
    }
    if (why)
        x->cause = std::move(why);
    const bool first =
        !s.c.is(cell::has_instance) && x->cause && x->cause->kind() == failure_kind::initialization;
    if (x->maker != nullptr && !x->maker->again() && s.c.is(cell::has_instance)) {
        // It was made of what could only be moved.
        if (events_ != nullptr && x->cause)
            events_->hook_failed(any_ref(s.index()), "restart: it cannot be made again", *x->cause);
        be_terminated(t, s);
        return;
    }
    cancel_timers(t);
    unstash(s);
    if (s.c.is(cell::has_instance)) {
        const actor_type& type = s.type();
        handled done = handled::ok();
        if (type.pre_restart != nullptr) {
            const cause_ref kept = x->cause;
            done = type.pre_restart(s.c, s.instance(), *kept, x->failed_message);
            if (!done.is_ok() && events_ != nullptr && x->cause)
                events_->hook_failed(any_ref(s.index()), "pre_restart", *x->cause);
            x->cause = kept;
        } else {
            stop_children(t);
            if (type.post_stop != nullptr) {
                const cause_ref kept = x->cause;
                done = type.post_stop(s.c, s.instance());
                if (!done.is_ok() && events_ != nullptr && x->cause)
                    events_->hook_failed(any_ref(s.index()), "post_stop", *x->cause);
                x->cause = kept;
            }
        }
    } else {
        stop_children(t);  // those of a constructor that failed
    }
    s.c.set_phase(first ? cell_phase::starting : cell_phase::restarting);
    if (x->ending_children == 0)
        finish_restart(t, s);
    else
        s.c.set_phase(cell_phase::restarting);
}

void actor_world::finish_restart(turn& t, const self& s) noexcept {
    cell_extras* x = s.c.body()->extras;
    const bool had_instance = s.c.is(cell::has_instance);
    destroy_instance(s);
    // PK-SUP-12: what failed to start starts again, as if for the first time.
    const bool first =
        !had_instance && x->cause && x->cause->kind() == failure_kind::initialization;
    const cause_ref why = x->cause;
    const handled made =
        create(s, first ? failure_kind::initialization : failure_kind::post_restart);
    if (!made.is_ok()) {
        // Still failed: the supervisor is asked again.
        s.c.set_phase(cell_phase::alive);
        report(s, cell::report_failed);
        return;
    }
    // PK-SUP-10: children that survived are restarted, too.
    children_of all(kernel_->slots(), s.c);
    while (slot* child = all.next()) {
        (void)send_recreate(kernel_->slots().index_of(*child), why);
    }
    end_failure(s);
    // PK-SUP-14: what was set before the failure still is.
    if (cell_extras* kept = s.c.body()->extras; kept->receive_timeout != duration::max())
        set_receive_timeout(t, kept->receive_timeout);
}

// ---- ending

void actor_world::be_terminated(turn& t, const self& s) noexcept {
    if (s.c.phase() >= cell_phase::terminating)
        return;
    if (s.c.is(cell::is_guardian)) {
        // From here on nobody is spawned below it.
        const port::lock_guard held(guardians_);
        s.c.set_phase(cell_phase::terminating);
    } else {
        s.c.set_phase(cell_phase::terminating);
    }
    cancel_timers(t);
    set_receive_timeout(t, duration::max());
    unwatch_all(t, s);
    if (has_children(s) && !s.c.is(cell::suspended)) {
        s.c.set(cell::suspended);
        (void)kernel_->suspend(s.index(), suspension::supervision);
    }
    stop_children(t);
    go_on_waiting(t, s);
}

bool actor_world::has_children(const self& s) noexcept {
    return s.c.first_child != cell::no_cell;
}

void actor_world::go_on_waiting(turn& t, const self& s) noexcept {
    switch (s.c.phase()) {
    case cell_phase::restarting:
        if (s.c.body()->extras->ending_children == 0)
            finish_restart(t, s);
        break;
    case cell_phase::terminating:
        if (!has_children(s))
            finish_termination(t, s);
        break;
    default:
        break;
    }
}

void actor_world::finish_termination(turn& t, const self& s) noexcept {
    if (s.c.is(cell::has_instance)) {
        const actor_type& type = s.type();
        if (type.post_stop != nullptr && !type.post_stop(s.c, s.instance()).is_ok() &&
            events_ != nullptr) {
            const cell_extras* x = s.c.body()->extras;
            if (x != nullptr && x->cause)
                events_->hook_failed(any_ref(s.index()), "post_stop", *x->cause);
        }
        cancel_timers(t);
        destroy_instance(s);
    }
    unstash(s);
    t.stop();
}

// ---- children

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
    children_of all(kernel_->slots(), s.c);
    while (slot* child = all.next()) {
        unwatch(t, kernel_->slots().index_of(*child));
        order_stop(s, *child);
    }
}

void actor_world::stop_self(turn& t) noexcept {
    cell::of(t.place()).tell(*kernel_, t.place(), cell::told_terminate);
}

bool actor_world::stop_child(turn& t, mailbox_index who) noexcept {
    const self s{*this, t.place(), cell::of(t.place())};
    slot* child = find_child(s, who);
    if (child != nullptr)
        order_stop(s, *child);
    return child != nullptr;
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
        } else if ((what & cell::report_failed) != 0) {
            const handled decided = child_failed(t, s, child);
            if (!decided.is_ok())
                result = decided;
        }
    }
    return result;
}

void actor_world::child_ended(turn& t, const self& s, slot& child) noexcept {
    cell& c = cell::of(child);
    const mailbox_index who = c.subject.read();
    const cell::link number = kernel_->slots().number_of(child);
    if (cell_extras* x = s.c.body()->extras; x != nullptr) {
        if (c.is(cell::stop_ordered))
            --x->ending_children;
        for (child_record** at = &x->children; *at != nullptr; at = &(*at)->next) {
            if ((*at)->child == number) {
                child_record* r = *at;
                *at = r->next;
                memory_.release(r, sizeof *r, alignof(child_record));
                break;
            }
        }
    }
    if (s.c.is(cell::is_guardian)) {
        const port::lock_guard held(guardians_);
        unlink_child(kernel_->slots(), s.c, child);
    } else {
        unlink_child(kernel_->slots(), s.c, child);
    }
    if (c.is(cell::is_named))
        names_.release(who);
    free_body(child);
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
    if (s.c.is(cell::has_instance)) {
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
    if (!how.max_restarts && !how.within)
        return true;
    cell_extras* x = extras_of(s.c);
    if (x == nullptr)
        return false;
    const cell::link number = kernel_->slots().number_of(child);
    child_record* r = x->children;
    while (r != nullptr && r->child != number)
        r = r->next;
    if (r == nullptr) {
        void* block = memory_.allocate(sizeof(child_record), alignof(child_record));
        if (block == nullptr)
            return false;
        r = ::new (block) child_record;
        r->child = number;
        r->next = x->children;
        x->children = r;
    }
    const clock* time = kernel_->time();
    return r->restarts.allows(how, time != nullptr ? time->now() : instant{});
}

void actor_world::apply_restart(const self& s, slot& child, const cause_ref& why,
                                const supervisor_strategy& how) noexcept {
    // Whom it concerns: the one, all, or those from the one on.
    const auto each = [&](auto&& visit) {
        bool reached = how.scope == supervision_scope::all_for_one;
        if (how.scope == supervision_scope::one_for_one) {
            visit(child);
            return;
        }
        children_of all(kernel_->slots(), s.c);
        while (slot* c = all.next()) {
            reached = reached || c == &child;
            if (reached && !visit(*c))
                return;
        }
    };
    bool allowed = true;
    each([&](slot& c) {
        allowed = allows(s, c, how);
        return allowed;
    });
    if (!allowed) {
        each([&](slot& c) {
            order_stop(s, c);
            return true;
        });
        return;
    }
    each([&](slot& c) {
        if (!send_recreate(kernel_->slots().index_of(c), why))
            order_stop(s, c);
        return true;
    });
}

handled actor_world::child_failed(turn& t, const self& s, slot& child) noexcept {
    (void)t;
    cell& c = cell::of(child);
    cell_extras* theirs = c.body()->extras;
    const mailbox_index who = kernel_->slots().index_of(child);
    cause_ref why = theirs != nullptr && theirs->reported
                        ? std::move(theirs->reported)
                        : cause_ref::make(memory_, failure_kind::runtime,
                                          failure("no memory to say why it failed"));
    directive d = directive::stop;
    supervisor_strategy how;
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
    if (s.c.phase() >= cell_phase::terminating) {
        order_stop(s, child);
        return handled::ok();
    }
    switch (d) {
    case directive::resume:
        c.tell(*kernel_, child, cell::told_resume);
        break;
    case directive::restart:
        apply_restart(s, child, why, how);
        break;
    case directive::stop:
        if (how.scope == supervision_scope::one_for_one)
            order_stop(s, child);
        else
            apply_restart(s, child, why, {.scope = how.scope, .max_restarts = 0U});
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
