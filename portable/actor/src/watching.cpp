// SPDX-License-Identifier: Apache-2.0
//
// Who watches whom (DW-1), and the messages every actor understands.
//
// A watch is a message to the watched actor, which keeps it until it ends, and sends it back then.
// The watcher knows whom it watches: what comes back for somebody else is dropped.
#include "owned_message.hpp"

#include <tactus/actor/actor_world.hpp>

#include <tactus/actor/effect_recorder.hpp>
#include <tactus/actor/signals.hpp>
#include <tactus/actor/system_events.hpp>

#include <new>

namespace tactus::inline v0 {

namespace {
constexpr char watched_otherwise[] =
    "this actor is already watched with another message; call unwatch() first";
constexpr char watched_elsewhere[] = "it watches an actor of another system";
}  // namespace

void actor_world::watch(turn& t, mailbox_index who, held_message* with) noexcept {
    const auto drop = [&] {
        if (with != nullptr)
            with->release(memory_);
    };
    cell& c = cell::of(t.place());
    const mailbox_index me = t.self();
    if (!who.valid() || who == me)
        return drop();
    // Nothing would come of its end: systems end in any order, and keep no records of each other.
    if (is_foreign(who)) {
        fail(t, failure(watched_elsewhere));
        return drop();
    }
    if (effect_recorder* recorder = recording(c))
        recorder->watched(t, who, with);
    cell_extras* x = extras_of(c);
    if (const watch_record* r = x != nullptr ? x->watching.find(who) : nullptr; r != nullptr) {
        const bool same_way =
            with == nullptr ? r->with == nullptr : r->with != nullptr && with->equals(*r->with);
        if (!same_way)
            fail(t, failure(watched_otherwise));
        return drop();
    }
    void* record =
        x != nullptr ? memory_.allocate(sizeof(watch_record), alignof(watch_record)) : nullptr;
    void* entry = memory_.allocate(sizeof(watch_entry), alignof(watch_entry));
    if (record == nullptr || entry == nullptr) {
        if (record != nullptr)
            memory_.release(record, sizeof(watch_record), alignof(watch_record));
        if (entry != nullptr)
            memory_.release(entry, sizeof(watch_entry), alignof(watch_entry));
        // It would wait for ever for what it asked to be told.
        fail(t, failure("no memory to watch an actor"));
        return drop();
    }
    auto* r = ::new (record) watch_record;
    r->key = who;
    r->with = with;
    x->watching.add(memory_, *r);
    auto* e = ::new (entry) watch_entry;
    e->kind = system_kind::watch;
    e->key = me;
    e->watched = who;
    // A dead one answers at once: see system_dead_letter.
    (void)kernel_->send_system(who, *e);
}

void actor_world::free_record(watch_record& r) noexcept {
    if (r.with != nullptr)
        r.with->release(memory_);
    r.~watch_record();
    memory_.release(&r, sizeof r, alignof(watch_record));
}
void actor_world::free_entry(watch_entry& e) noexcept {
    e.~watch_entry();
    memory_.release(&e, sizeof e, alignof(watch_entry));
}

void actor_world::unwatch(turn& t, mailbox_index who) noexcept {
    if (effect_recorder* recorder = recording(cell::of(t.place())))
        recorder->unwatched(t, who);
    forget_watch(t, who);
}

void actor_world::forget_watch(turn& t, mailbox_index who) noexcept {
    cell_extras* x = cell::of(t.place()).extras();
    if (x == nullptr)
        return;
    watch_record* r = x->watching.find(who);
    if (r == nullptr)
        return;
    x->watching.remove(memory_, *r);
    free_record(*r);
    // Without memory for it the watch comes back one day, and is dropped.
    if (owned_message* m = owned_message::make(memory_, system_kind::unwatch, nullptr)) {
        m->subject.write(t.self());
        (void)kernel_->send_system(who, *m);
    }
}

bool actor_world::unwatch_newest(turn& t, const self& s) noexcept {
    const watch_record* r = s.c.extras()->watching.newest();
    if (r == nullptr)
        return false;
    forget_watch(t, r->key);
    return s.c.extras()->watching.newest() != nullptr;
}

void actor_world::be_watched(const self& s, watch_entry& e) noexcept {
    cell_extras* x = extras_of(s.c);
    if (x == nullptr) {
        // Told at once that it ended: a watcher must not wait for ever.
        notify(e);
        return;
    }
    x->watchers.add(memory_, e);
}

void actor_world::be_unwatched(const self& s, mailbox_index watcher) noexcept {
    cell_extras* x = s.c.extras();
    if (watch_entry* e = x != nullptr ? x->watchers.find(watcher) : nullptr; e != nullptr) {
        x->watchers.remove(memory_, *e);
        free_entry(*e);
    }
}

void actor_world::notify(watch_entry& e) noexcept {
    e.kind = system_kind::death_watch_notification;
    (void)kernel_->send_system(e.key, e);
}

handled actor_world::be_notified(turn& t, const self& s, watch_entry& e) noexcept {
    if constexpr (in_pieces) {
        if (e.key != s.index()) [[unlikely]] {
            notify_for(s, e);
            return handled::ok();
        }
    }
    const mailbox_index who = e.watched;
    cause_ref why = std::move(e.why);
    free_entry(e);
    watch_record* r = watch_of(s, who, false);
    if (r == nullptr)
        return handled::ok();
    r->notified = true;
    r->why = std::move(why);
    return queue_terminated(t, s, *r);
}

watch_record* actor_world::watch_of(const self& s, mailbox_index who, bool notified) noexcept {
    const cell_extras* x = s.c.extras();
    watch_record* r = nullptr;
    do {
        r = x != nullptr ? x->watching.find(who, r) : nullptr;
    } while (r != nullptr && r->notified != notified);
    return r;
}

handled actor_world::queue_terminated(turn& t, const self& s, watch_record& r) noexcept {
    // Behind what the ended actor sent before, also where the mailbox is full. Without an envelope
    // at once, or as soon as there is an instance that runs; but never not at all.
    const mailbox_index who = r.key;
    const terminated m{any_ref(who)};
    if (kernel_->send_owed(s.place, terminated(m), who) == sent::accepted)
        return handled::ok();
    if (!can_be_told(s.c)) {
        s.c.extras()->owed.push_back(r);
        return handled::ok();
    }
    // As a message, which may be put aside; without memory for one as what it is.
    if (envelope* beside = kernel_->wrap(s.index(), terminated(m)); beside != nullptr)
        return receive_inner(t, s, *beside, who);
    return receive_terminated(t, s, m);
}

handled actor_world::tell_owed(turn& t, const self& s) noexcept {
    cell_extras* x = s.c.extras();
    while (x != nullptr && !x->owed.empty() && can_be_told(s.c)) {
        const handled done =
            queue_terminated(t, s, static_cast<watch_record&>(*x->owed.pop_front()));
        if (!done.is_ok())
            return done;
    }
    return handled::ok();
}

handled actor_world::receive_terminated(turn& t, const self& s, const terminated& m) noexcept {
    cell_extras* x = s.c.extras();
    watch_record* r = watch_of(s, m.who.index(), true);
    if (r == nullptr)
        return handled::ok();  // not watched any more
    x->watching.remove(memory_, *r);
    const cause_ref why = std::move(r->why);
    envelope* instead = nullptr;
    const handled made =
        r->with != nullptr ? r->with->wrap(s.c, *kernel_, s.index(), instead) : handled::ok();
    const bool lost_it = r->with != nullptr && instead == nullptr;
    free_record(*r);
    if (instead != nullptr)
        return receive_inner(t, s, *instead, m.who.index());
    if (!made.is_ok())
        return made;
    if (lost_it)
        return failed(s.c, failure_kind::runtime, failure("no room for what watch_with was given"));
    x->told_why = &why;  // a handler may stash the signal
    const handled done = tell_ended(t, s, m, why);
    x->told_why = nullptr;
    return done;
}

handled actor_world::tell_ended(turn& t, const self& s, const terminated& m,
                                const cause_ref& why) noexcept {
    const actor_type& type = s.type();
    if (why) {
        tactus::child_failed how{{m.who}, why};
        if (const auto done = tell_become(t, s, signal_kind::child_failed, &how))
            return *done;
        if (type.on_child_failed != nullptr)
            return type.on_child_failed(s.c, s.instance(), how);
    }
    terminated told = m;
    if (const auto done = tell_become(t, s, signal_kind::terminated, &told))
        return *done;
    if (type.on_terminated != nullptr)
        return type.on_terminated(s.c, s.instance(), m);
    return death_pact(s.c);
}

std::optional<handled> actor_world::tell_become(turn& t, const self& s, signal_kind what,
                                                void* signal) noexcept {
    const cell_extras* x = s.c.extras();
    if (x == nullptr || x->becomes == nullptr)
        return {};
    auto& as = static_cast<become_function&>(*x->becomes);
    if (!as.takes(what))
        return {};
    // It may say unbecome meanwhile.
    const bool outermost = !std::exchange(as.runs, true);
    const handled done = as.tell(t, s.c, what, signal);
    if (outermost) {
        as.runs = false;
        forget_left(s.c);
    }
    return done;
}

handled actor_world::receive_inner(turn& t, const self& s, envelope& inner,
                                   mailbox_index sender) noexcept {
    // As if it had come itself: a stash keeps it, a failure is its.
    inner.sender.write(sender);
    const mailbox_index outside = t.sender();
    t.set_sender(sender);
    const handled result = s.type().receive(t, s.place.user_state(), inner);
    t.set_sender(outside);
    if (!t.take_keeps(inner))
        kernel_->dispose_kept(inner);
    return result.what() == handled::kind::kept ? handled::ok() : result;
}

handled actor_world::death_pact(cell& c) noexcept {
    return failed(
        c, failure_kind::death_pact,
        failure("a watched actor terminated, and this actor has no handler for terminated"));
}

void actor_world::note_unhandled(turn& t) noexcept {
    if (t.current_message() != nullptr)
        tell_unhandled(t.self(), *t.current_message());
}

void actor_world::tell_unhandled(mailbox_index who, envelope& e) noexcept {
    if (events_ != nullptr)
        events_->unhandled(any_ref(who), e);
    if (!stream_.is_empty() && !tells_of_loss(*e.type.read()))
        stream_.publish(unhandled_letter{{any_ref(who), any_ref(e.sender.read()), e.type.read()}});
}

handled actor_world::receive_other(turn& t, cell& c, envelope& e) noexcept {
    const self s{*this, t.place(), c};
    if (const terminated* m = e.get_if<terminated>(); m != nullptr) {
        const handled done = receive_terminated(t, s, *m);
        if (!done.is_ok())
            note_failed_message(t, c, e);
        return done;
    }
    if (const timer_due* m = e.get_if<timer_due>(); m != nullptr)
        return receive_due(t, s, *m);
    if (auto* m = e.get_if<receive_timeout>(); m != nullptr) {
        if (const auto done = tell_become(t, s, signal_kind::receive_timeout, m))
            return *done;
        if (s.type().on_receive_timeout != nullptr && c.has_instance())
            return s.type().on_receive_timeout(c, s.instance(), *m);
    }
    if (e.get_if<poison_pill>() != nullptr) {
        // When this message is done: a function of the instance may be running above.
        stop_self(t);
        return handled::ok();
    }
    if (e.get_if<kill>() != nullptr)
        return failed(c, failure_kind::killed, failure("it was killed"));
    if (const identify* m = e.get_if<identify>(); m != nullptr) {
        m->reply_to.tell(actor_identity{m->id, any_ref(t.self())});
        return handled::ok();
    }
    if (cell_extras* x = c.extras(); x != nullptr) {
        for (instance_function* f = x->adapters; f != nullptr; f = f->next) {
            auto& adapter = static_cast<message_adapter&>(*f);
            if (!same_message(adapter.takes, *e.type.read()))
                continue;
            envelope* made = nullptr;
            adapter.runs = true;
            const handled done = adapter.adapt(t, c, e, made);
            adapter.runs = false;
            forget_left(c);
            if (!done.is_ok())
                return done;
            if (made == nullptr)
                return failed(c, failure_kind::runtime, failure("no room for an adapted message"));
            return receive_inner(t, s, *made, e.sender.read());
        }
    }
    if (s.type().on_other != nullptr && c.has_instance())
        return s.type().on_other(c, s.instance(), e);
    tell_unhandled(t.self(), e);
    return handled::ok();
}

}  // namespace tactus::inline v0
