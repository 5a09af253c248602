// SPDX-License-Identifier: Apache-2.0
//
// The life of an actor: start, failure, restart, end. What it does about its children is in
// family.cpp. Everything here happens in the turn of the actor it is about.
#include <tactus/actor/actor_world.hpp>
#include <tactus/actor/system_events.hpp>
#include <tactus/dispatch/text_buffer.hpp>

#include <span>
#include <utility>

namespace tactus::inline v0 {

mailbox_index actor_world::self::index() const noexcept {
    return world.kernel_->slots().index_of(place);
}

cell_extras* actor_world::extras_of(cell& c) noexcept {
    if (c.extras() == nullptr) {
        if (void* block = memory_.allocate(sizeof(cell_extras), alignof(cell_extras)))
            c.set_extras(::new (block) cell_extras);
    }
    return c.extras();
}

handled actor_world::failed(cell& c, cause_ref why) noexcept {
    const failure text(why->kind() == failure_kind::exception ? "exception" : "failure");
    if (cell_extras* x = extras_of(c); x != nullptr) {
        x->cause = std::move(why);
        if (!c.has_failed())
            x->failed_sender = turn::current()->sender();
    }
    return handled::failed(text);
}

void actor_world::fail(turn& t, const failure& why) noexcept {
    cell& c = cell::of(t.place());
    (void)failed(c, failure_kind::returned, why);
    c.tell(*kernel_, t.place(), cell::told_fail);
}

void actor_world::fail_spawn(turn& t, std::string_view name, const spawn_error& why) noexcept {
    constexpr std::size_t shown = 40;              // of a long name, so that the reason is not cut
    char place[failure_cause::text_max + 1] = {};  // ends with a zero
    text_in text(std::span(place, failure_cause::text_max));
    text.add("cannot spawn ");
    if (name.empty())
        text.add("a child without a name");
    else
        text.add("'").add(name.substr(0, shown)).add(name.size() > shown ? "...'" : "'");
    text.add(": ").add(why.reason);
    fail(t, failure(place));
}

bool actor_world::keeps_failed_message(turn& t, cell& c, envelope& e) noexcept {
    const auto& type = static_cast<const actor_type&>(*t.place().acts());
    cell_extras* x = c.extras();
    if (type.pre_restart == nullptr || x == nullptr || x->failed_message != nullptr)
        return false;
    x->failed_message = &e;
    return true;
}

handled actor_world::with_told(cell& c, handled result) noexcept {
    if (!c.is(cell::told_fail))
        return result;
    c.clear(cell::told_fail);
    return result.is_ok() ? handled::failed(failure("failure")) : result;
}

// ---- start

handled actor_world::start(turn& t, void* state) noexcept {
    actor_world& w = of(t.system());
    cell& c = cell::at(state);
    const self s{w, t.place(), c};
    handled made;
    (void)w.create(s, failure_kind::initialization, made);
    if (c.is(cell::wants_held) && !c.is(cell::holds))
        w.hold_self(s, true);
    return made;
}

lifecycle::action actor_world::create(const self& s, failure_kind as, handled& made) noexcept {
    const actor_type& type = s.type();
    cell_extras* x = nullptr;
    const bool again = as == failure_kind::post_restart;
    (void)with_told(s.c, {});  // what an earlier instance said of itself
    made = type.construct(s.c, s.instance(), detail::actor_place(s.place).maker());
    const bool constructed = made.is_ok();
    made = with_told(s.c, made);
    if (made.is_ok()) {
        x = s.c.extras();
        if (again && type.post_restart != nullptr)
            made = type.post_restart(s.c, s.instance(), *x->cause);
        else if (type.pre_start != nullptr)
            made = type.pre_start(s.c, s.instance());
        made = with_told(s.c, made);
    }
    if (!made.is_ok()) {
        // Whatever it was, it is a failure to begin; the instance is of no use.
        x = extras_of(s.c);
        if (x != nullptr && x->cause)
            x->cause = x->cause.as(memory_, as);
        // A constructor that failed may have begun some. They refer to it.
        destroy_coroutines(s.c);
        if (constructed)
            destruct(s);
        ++s.c.instance;  // what its constructor has kept of it is of no use either
        return s.c.apply(lifecycle::event::not_created);
    }
    const lifecycle::action owed = s.c.apply(lifecycle::event::created);
    if (!stream_.is_empty()) {
        if (again)
            stream_.publish(actor_restarted{{any_ref(s.index())}, x->cause});
        else
            stream_.publish(actor_started{{any_ref(s.index())}});
    }
    return owed;
}

void actor_world::destruct(const self& s) noexcept {
    forget_functions(s.c);
    s.type().destruct(s.instance());
}

void actor_world::destroy_instance(const self& s) noexcept {
    destroy_coroutines(s.c);  // they refer to it
    destruct(s);
    ++s.c.instance;
}

void actor_world::forget_functions(cell& c) noexcept {
    cell_extras* x = c.extras();
    if (x == nullptr)
        return;
    while (instance_function* f = x->adapters) {
        x->adapters = f->next;
        f->release(memory_);
    }
    while (instance_function* f = x->becomes) {
        x->becomes = f->next;
        f->release(memory_);
    }
    while (instance_function* f = x->left) {
        x->left = f->next;
        f->release(memory_);
    }
    settle_special(c);
}

void actor_world::leave(cell_extras& x, instance_function& f) noexcept {
    if (!f.runs) {
        f.release(memory_);
        return;
    }
    f.next = x.left;
    x.left = &f;
}

void actor_world::forget_left(cell& c) noexcept {
    for (instance_function** at = &c.extras()->left; *at != nullptr;) {
        instance_function* f = *at;
        if (f->runs) {
            at = &f->next;
            continue;
        }
        *at = f->next;
        f->release(memory_);
    }
}

void actor_world::destroy(slot& place) noexcept {
    cell& c = cell::of(place);
    // Unless it is ended by force its own turn has destroyed it.
    if (!c.has_instance() ||
        c.apply(lifecycle::event::discard) != lifecycle::action::destroy_instance)
        return;
    destroy_coroutines(c);
    static_cast<const actor_type&>(*place.acts()).destruct(instance_of(place));
    // What belongs to it goes with its extras.
}

// ---- what it is told

handled actor_world::receive_system(turn& t, void* state, system_message& m) noexcept {
    actor_world& w = of(t.system());
    cell& c = cell::at(state);
    const self s{w, t.place(), c};
    const bool was_held = !can_be_told(c);
    const auto go_on = [&](handled so_far) noexcept {
        if (so_far.is_ok())
            so_far = w.decide_waiting(t, s);
        const bool tells = was_held && can_be_told(c) && work_left(s) == nullptr;
        return so_far.is_ok() && tells ? w.tell_owed(t, s) : so_far;
    };
    switch (m.kind) {
    case system_kind::supervise:
        return go_on(w.follow_orders(t, s, c.take_orders()));
    case system_kind::terminate:
        w.be_terminated(t, s);
        break;
    case system_kind::recreate:
        // A failure that its parent has not decided is answered by this.
        if (cell_extras* x = c.extras(); x != nullptr)
            (void)x->reported.take();
        c.begin_restart();
        w.be_recreated(t, s, cause_ref::take(m.data.read()));
        return go_on(handled::ok());
    case system_kind::failed:
        w.has_failed(s, failure(static_cast<const char*>(m.data.read())));
        break;
    case system_kind::watch:
        w.be_watched(s, static_cast<watch_entry&>(m));
        break;
    case system_kind::continuation:
        return c.extras()->coroutines->go_on(t, *c.extras()->coroutines, m);
    case system_kind::unwatch:
        w.be_unwatched(s, m.subject.read());
        break;
    case system_kind::death_watch_notification:
        return w.be_notified(t, s, static_cast<watch_entry&>(m));
    case system_kind::receive_timeout:
        w.rearm_lost(t, s, m);
        break;
    case system_kind::go_on:
        if constexpr (in_pieces)
            return w.go_on_with_work(t, s);
        break;
    default:
        break;
    }
    return handled::ok();
}

bool actor_world::puts_off_orders(const self& s, std::uint32_t left) noexcept {
    constexpr std::uint32_t acts =
        cell::told_resume | cell::told_reports | cell::told_fail | cell::told_terminate;
    family_work* w = work_left(s);
    if (w == nullptr || w->empty() || (left & acts) == 0)
        return false;
    w->orders = left;
    return true;
}

handled actor_world::follow_orders(turn& t, const self& s, std::uint32_t told) noexcept {
    handled result = handled::ok();
    const bool held = (told & cell::wants_held) != 0;
    if (held != s.c.is(cell::holds))
        hold_self(s, held);
    if (puts_off_orders(s, told))
        return result;
    const bool fails = (told & cell::told_fail) != 0;
    const cause_ref why = fails && s.c.extras() != nullptr ? s.c.extras()->cause : cause_ref{};
    if ((told & cell::told_resume) != 0)
        be_resumed(t, s);
    told &= ~std::uint32_t{cell::told_resume};
    if (puts_off_orders(s, told)) {
        if (why)
            s.c.extras()->cause = why;
        return result;
    }
    if ((told & cell::told_reports) != 0)
        result = look_at_reports(t, s);
    // A failure that was found among them is the one it said it has.
    told &= ~(cell::told_reports | (result.is_ok() ? 0U : std::uint32_t{cell::told_fail}));
    if (puts_off_orders(s, told))
        return result;
    if (fails && !s.c.is_ending()) {
        if (why)
            s.c.extras()->cause = why;  // not what was forgiven, or decided, meanwhile
        result = handled::failed(failure("failure"));
    }
    if ((told & cell::told_terminate) != 0)
        be_terminated(t, s);
    if (s.c.is_restarting())
        go_on_waiting(t, s);  // it may have waited for the time alone
    return result;
}

// ---- being held back

void actor_world::hold_self(const self& s, bool on) noexcept {
    const mailbox_index me = s.index();
    if (on) {
        s.c.set(cell::holds);
        (void)kernel_->suspend(me, suspension::supervision);
        if (!s.c.has_failed())
            hold_children(s, true, {});
        return;
    }
    s.c.clear(cell::holds);
    (void)kernel_->resume(me, suspension::supervision);
    if (!s.c.has_failed())
        hold_children(s, false, {});
}

// ---- failing

void actor_world::has_failed(const self& s, const failure& why) noexcept {
    cell_extras* x = extras_of(s.c);
    if (x != nullptr && !x->cause)
        x->cause = cause_ref::make(memory_, failure_kind::runtime, why);
    if (s.c.apply(lifecycle::event::fails) == lifecycle::action::drop_suspension) {
        (void)kernel_->resume(s.index(), suspension::supervision);
        return;
    }
    s.c.clear(cell::told_fail);  // it said so, and then failed at once: that is one failure
    if (!s.c.is(cell::holds))
        hold_children(s, true, x != nullptr ? x->perpetrator : mailbox_index{});
    report(s, cell::report_failed);
}

void actor_world::report(const self& s, std::uint32_t what) noexcept {
    const mailbox_index parent = s.c.parent();
    if (parent.valid()) {
        if (cell_extras* x = s.c.extras(); x != nullptr)
            x->reported.put(x->cause);
        slot& above = kernel_->slots().at(parent.slot_number());
        s.c.report(*kernel_, above, cell::of(above), s.place, what);
        return;
    }
    if (s.c.is(cell::is_orphan)) {
        s.c.tell(*kernel_, s.place, cell::told_terminate);
        return;
    }
    // The root: there is nobody above.
    const cell_extras* x = s.c.extras();
    if (events_ != nullptr && x != nullptr && x->cause)
        events_->guardian_failed(*x->cause);
    terminate();
}

void actor_world::forgive(const self& s) noexcept {
    if (cell_extras* x = s.c.extras(); x != nullptr) {
        x->cause = {};
        x->perpetrator = {};
        x->failed_sender = {};
        if (envelope* e = std::exchange(x->failed_message, nullptr))
            kernel_->dispose_kept(*e);
    }
    (void)kernel_->resume(s.index(), suspension::supervision);
    if (!s.c.is(cell::holds))
        hold_children(s, false, {});
}

void actor_world::be_resumed(turn& t, const self& s) noexcept {
    const lifecycle::action owed = s.c.apply(lifecycle::event::resume);
    if (owed == lifecycle::action::restart_instead)
        be_recreated(t, s, {});  // PK-SUP-8
    if (owed != lifecycle::action::forgive)
        return;
    const cell_extras* x = s.c.extras();
    const mailbox_index perpetrator = x != nullptr ? x->perpetrator : mailbox_index{};
    forgive(s);
    // What it failed for is forgiven, too.
    if (slot* child = find_child(s, perpetrator))
        cell::of(*child).tell(*kernel_, *child, cell::told_resume, cell::wants_held);
}

// ---- hooks whose failure nobody is asked about

template <class Hook>
void actor_world::run_hook(const self& s, const char* name, Hook&& hook) noexcept {
    const cause_ref kept = s.c.extras() != nullptr ? s.c.extras()->cause : cause_ref{};
    (void)with_told(s.c, {});  // what it said before, which ends all the same
    if (with_told(s.c, hook()).is_ok())
        return;
    cell_extras* x = s.c.extras();
    if (x == nullptr)
        return;
    if (events_ != nullptr && x->cause)
        events_->hook_failed(any_ref(s.index()), name, *x->cause);
    x->cause = kept;
}

void actor_world::run_post_stop(const self& s) noexcept {
    const actor_type& type = s.type();
    if (type.post_stop != nullptr)
        run_hook(s, "post_stop", [&] { return type.post_stop(s.c, s.instance()); });
}

// ---- restarting

void actor_world::be_recreated(turn& t, const self& s, cause_ref why) noexcept {
    const lifecycle::action owed = s.c.apply(lifecycle::event::restart);
    if (owed == lifecycle::action::nothing)
        return;
    cell_extras* x = extras_of(s.c);
    if (x == nullptr) {
        be_terminated(t, s);  // without memory it cannot be restarted, and must not wait for ever
        return;
    }
    if (owed == lifecycle::action::suspend_and_prepare) {
        (void)kernel_->suspend(s.index(), suspension::supervision);
        if (!s.c.is(cell::holds))
            hold_children(s, true, {});
    }
    // PK-SUP-12: an actor that never started starts for the first time, whatever the cause is.
    const bool never_started =
        !s.c.has_instance() && x->cause && x->cause->kind() == failure_kind::initialization;
    if (why && !never_started)
        x->cause = std::move(why);
    const actor_maker* maker = detail::actor_place(s.place).maker();
    if (maker != nullptr && !maker->again()) {
        // It was made of what could only be moved.
        if (events_ != nullptr && x->cause)
            events_->hook_failed(any_ref(s.index()),
                                 "restart (constructor arguments are move-only)", *x->cause);
        be_terminated(t, s);
        return;
    }
    destroy_coroutines(s.c);
    cancel_timers(t);
    t.end_suspensions();
    unstash(s);
    if (s.c.has_instance()) {
        const actor_type& type = s.type();
        t.set_sender(x->failed_sender);  // C-PAT-6
        if (type.pre_restart != nullptr) {
            const cause_ref cause = x->cause;
            run_hook(s, "pre_restart", [&] {
                return type.pre_restart(s.c, s.instance(), *cause, x->failed_message);
            });
        } else {
            stop_children(t);
            run_post_stop(s);
        }
    } else {
        stop_children(t);  // those of a constructor that failed
    }
    go_on_waiting(t, s);
}

void actor_world::recreate(turn& t, const self& s, failure_kind as) noexcept {
    cancel_timers(t);  // PK-TIM-7: those of its last words
    family_work::restart_of survivors;
    survivors.why = s.c.extras()->cause;
    survivors.acts = true;
    // Those that the new instance makes are none.
    static_cast<family_work::range&>(survivors) = all_children(s);
    handled made;
    if (create(s, as, made) == lifecycle::action::report_again) {
        report(s, cell::report_failed);
        return;
    }
    // PK-SUP-10: children that survived are restarted, too.
    if (!survivors.empty())
        restart_family(s, survivors);
    forgive(s);
    // PK-SUP-14: what was set before the failure still is.
    if (const idle_watch* idle = s.c.extras()->idle; idle != nullptr)
        set_receive_timeout(t, idle->after);
}

// ---- ending

void actor_world::be_terminated(turn& t, const self& s) noexcept {
    {
        // From here on nobody is spawned below it.
        const family_lock held(*this, s.c);
        if (s.c.apply(lifecycle::event::stop) == lifecycle::action::nothing)
            return;
    }
    if (s.c.extras() != nullptr) {
        cancel_timers(t);
        set_receive_timeout(t, duration::max());
        unwatch_all(t, s);
    }
    if (has_children(s)) {
        (void)kernel_->suspend(s.index(), suspension::supervision);
        stop_family(t, s);
    }
    go_on_waiting(t, s);
}

void actor_world::go_on_waiting(turn& t, const self& s) noexcept {
    // A guardian's family is read under its lock while it lives: somebody outside may add to it.
    if (!s.c.is_restarting() && !s.c.is_ending())
        return;
    if (s.c.is_restarting() ? s.c.extras()->ending_children != 0 : has_children(s))
        return;
    if (work_left(s) != nullptr)
        return;  // and then it is asked again
    const lifecycle::action owed = s.c.apply(lifecycle::event::children_gone);
    if (owed == lifecycle::action::run_post_stop || owed == lifecycle::action::close_mailbox)
        finish_termination(t, s, owed);
    if (owed == lifecycle::action::destroy_instance)
        destroy_instance(s);  // SV-4: what it holds is not kept while a back-off runs
    if (!s.c.is_restarting() || s.c.is(cell::backs_off))
        return;
    // PK-SUP-12: what failed to start starts again, as if for the first time.
    const cause_ref& why = s.c.extras()->cause;
    const bool first = s.c.apply(lifecycle::event::restart_due) == lifecycle::action::create &&
                       why && why->kind() == failure_kind::initialization;
    recreate(t, s, first ? failure_kind::initialization : failure_kind::post_restart);
}

void actor_world::finish_termination(turn& t, const self& s, lifecycle::action owed) noexcept {
    destroy_coroutines(s.c);
    if (owed == lifecycle::action::run_post_stop) {
        // Of the message it failed with, if that is why it ends.
        t.set_sender(s.c.has_failed() && s.c.extras() != nullptr ? s.c.extras()->failed_sender
                                                                 : mailbox_index{});
        run_post_stop(s);
        if (s.c.extras() != nullptr)
            cancel_timers(t);  // those of post_stop
        (void)s.c.apply(lifecycle::event::discard);
        destroy_instance(s);
    }
    if (s.c.extras() != nullptr)
        unstash(s);
    t.stop();
}

}  // namespace tactus::inline v0
