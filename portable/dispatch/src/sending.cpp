// SPDX-License-Identifier: Apache-2.0
//
// Sending, whatever the type of the message: everything but the short way of tell, and system
// messages. What depends on the type is in the parcel.
#include <tactus/dispatch/actor_scheduler.hpp>
#include <tactus/dispatch/job_delivery.hpp>
#include <tactus/dispatch/turn.hpp>

namespace tactus::inline v0 {

// ---- the ways to send

sent actor_scheduler::not_found() noexcept {
    if constexpr (!port::has_interrupts)
        return system_table::has_left() ? sent::forked_child : sent::no_system;
    return sent::no_system;
}

sent actor_scheduler::send_parcel(worker* w, mailbox_index to, const detail::parcel& p,
                                  const send_options& o) noexcept {
    if (w != nullptr && w->system_.has(to))
        return w->system_.deliver_or_lose(w, to, p, o);
    {
        const system_table::sender_visit v(to.system_number());
        if (v.system() != nullptr) [[likely]]
            return v.system()->deliver_or_lose(nullptr, to, p, o);
    }
    if constexpr (port::has_interrupts)
        return sent::no_system;  // counted by the table
    return send_by_shut_door(to, p, o, &actor_scheduler::deliver_or_lose, true);
}

sent actor_scheduler::send_by_shut_door(mailbox_index to, const detail::parcel& p,
                                        const send_options& o, delivery deliver_it,
                                        bool is_lost) noexcept {
    const bool inside = system_table::is_inside(to.system_number());
    const system_table::visit v(to.system_number());
    if (v.system() == nullptr)
        return not_found();  // counted by the table
    actor_scheduler& system = *v.system();
    if (inside || system.is_reply_place(to))
        return (system.*deliver_it)(nullptr, to, p, o);
    if (is_lost)
        system.dead_letter(nullptr, to, p, o.sender, sent::draining);
    else
        system.hub_.refused(place_of(nullptr), sent::draining);
    return sent::draining;
}

bool actor_scheduler::is_reply_place(mailbox_index to) noexcept {
    const slot* s = slots_.find(to);
    return s != nullptr && s->tag.load(std::memory_order_relaxed) == 0;
}

void actor_scheduler::send_parcel(mailbox_index to, const detail::parcel& p) noexcept {
    (void)send_parcel(worker::current(), to, p, {});
}

sent actor_scheduler::try_send_parcel(mailbox_index to, const detail::parcel& p,
                                      const send_options& o) noexcept {
    worker* w = worker::current();
    if (w != nullptr && w->system_.has(to))
        return w->system_.try_deliver(w, to, p, o);
    {
        const system_table::sender_visit v(to.system_number());
        if (v.system() != nullptr) [[likely]]
            return v.system()->try_deliver(nullptr, to, p, o);
    }
    if constexpr (port::has_interrupts)
        return sent::no_system;
    return send_by_shut_door(to, p, o, &actor_scheduler::try_deliver, false);
}

sent actor_scheduler::try_offer_parcel(mailbox_index to, const detail::parcel& p,
                                       const send_options& o) noexcept {
    const sent result = try_send_parcel(to, p, o);
    if (result != sent::mailbox_full)
        return result;
    const system_table::visit v(to.system_number());
    return v.system() != nullptr ? v.system()->reason_of(to, result) : result;
}

envelope* actor_scheduler::wrap_parcel(worker* w, mailbox_index to, const detail::parcel& p,
                                       mailbox_index sender) noexcept {
    envelope* e = take_envelope(w);
    if (e == nullptr || put(w, *e, p, 0) != sent::accepted)
        return nullptr;
    e->sender.write(sender);
    e->set_generation(to.generation);
    return e;
}

// ---- delivering

sent actor_scheduler::deliver(worker* w, mailbox_index to, const detail::parcel& p,
                              const send_options& o) noexcept {
    const std::uint32_t number = to.slot_number();
    // The limit is 0 once nothing is taken any more.
    if (number >= slot_limit_.load(slots_made.acquire())) [[unlikely]]
        return beyond_limit(number);
    slot& s = slots_.at(number);
    if (s.generation() != to.generation) [[unlikely]]
        return sent::recipient_terminated;
    mailbox_block* block = s.gated();
    if (block != nullptr && looks_full(w, s, *block)) [[unlikely]]
        return sent::mailbox_full;
    send_options with = o;
    if (o.deadline == 0 && gives_deadlines(s, to.generation)) [[unlikely]]
        with.deadline = due_of(s);
    envelope* e = take_envelope(w);
    if (e == nullptr) [[unlikely]]
        return exhausted();
    if (const sent failed = fill(w, *e, to, p, with); failed != sent::accepted) [[unlikely]]
        return failed == sent::pool_exhausted ? exhausted() : failed;
    const bool counted = count_send(w, *e, envelope::fits(p.type(), envelope::has_stamp));
    const sent result = block == nullptr ? push(w, s, *e) : push_gated(w, s, *block, *e, to);
    if (result == sent::accepted) [[likely]]
        return result;
    // The mailbox was closed, or full, between the look and the push.
    if (counted)
        uncount_send(w);
    p.take_back(e->payload());
    dispose(w, *e);
    return result;
}

sent actor_scheduler::try_deliver(worker* w, mailbox_index to, const detail::parcel& p,
                                  const send_options& o) noexcept {
    const sent result = deliver(w, to, p, o);
    if (result == sent::accepted) [[likely]]
        return result;
    if (w != nullptr && result == sent::mailbox_full)
        w->refused_by_ = to;
    if (result != sent::mailbox_full || !loses_newest(to)) {
        hub_.refused(place_of(w), result);
        return result;
    }
    dead_letter(w, to, p, o.sender, result);
    return sent::dropped;
}

sent actor_scheduler::deliver_or_lose(worker* w, mailbox_index to, const detail::parcel& p,
                                      const send_options& o) noexcept {
    const sent result = deliver(w, to, p, o);
    if (result != sent::accepted) [[unlikely]]
        dead_letter(w, to, p, o.sender, reason_of(to, result));
    return result;
}

void actor_scheduler::dead_letter(worker* w, mailbox_index to, const detail::parcel& p,
                                  mailbox_index sender, sent why) noexcept {
    const dead_letter_cause cause = cause_of(to, why);
    hub_.refused(place_of(w), why);
    const bool shown =
        hub_.shows() && why != sent::pool_exhausted && why != sent::construction_failed;
    envelope* e = shown ? wrap_parcel(w, to, p, sender) : nullptr;
    if (e == nullptr) {
        hub_.message_lost(to, p.type(), cause);
        return;
    }
    hub_.dead_letter(to, *e, cause);
    dispose(w, *e);
}

sent actor_scheduler::fill(worker* w, envelope& e, mailbox_index to, const detail::parcel& p,
                           const send_options& o) noexcept {
    const std::uint32_t extras = o.deadline != 0 ? std::uint32_t{envelope::has_deadline} : 0U;
    if (const sent failed = put(w, e, p, watched_ ? extras | envelope::has_span : extras);
        failed != sent::accepted) [[unlikely]]
        return failed;
    e.sender.write(o.sender);
    e.set_generation(to.generation);
    if (extras != 0) [[unlikely]]
        e.set_deadline(o.deadline);
    if (watched_) [[unlikely]]
        watch_enqueue(e, to, o.sender);
    return sent::accepted;
}

sent actor_scheduler::put(worker* w, envelope& e, const detail::parcel& p,
                          std::uint32_t extras) noexcept {
    void* place = e.make_room(p.type(), pool_.large_payloads(), extras);
    if (place != nullptr && p.make_at(place)) [[likely]]
        return sent::accepted;
    if (place != nullptr)
        e.drop_room();
    else
        e.set_flags(0);
    give_envelope(w, e);
    return place != nullptr ? sent::construction_failed : sent::pool_exhausted;
}

sent actor_scheduler::push(worker* w, slot& s, envelope& e) noexcept {
    // Read now: once it is pushed it is somebody else's.
    const bool timed = (e.flags() & envelope::has_deadline) != 0;
    const std::int64_t deadline = timed ? e.deadline() : 0;
    switch (s.enqueue(e)) {
    case enqueued::accepted:
        return sent::accepted;
    case enqueued::submit:
        if (timed) [[unlikely]]
            order_of(s).submit(s, lanes_of(w, s), {lane::timed, s.priority(), deadline});
        else
            submit_ready(s, w);
        return sent::accepted;
    case enqueued::closed:
        break;
    }
    return sent::recipient_terminated;
}

// ---- what comes of it

sent actor_scheduler::beyond_limit(std::uint32_t number) const noexcept {
    return number < slots_.constructed_count() ? sent::shutdown : sent::recipient_terminated;
}

dead_letter_cause actor_scheduler::cause_of(mailbox_index to, sent why) noexcept {
    switch (why) {
    case sent::pool_exhausted:
        return dead_letter_cause::pool_exhausted;
    case sent::shutdown:
        return dead_letter_cause::shutdown;
    case sent::draining:
        return dead_letter_cause::draining;
    case sent::construction_failed:
        return dead_letter_cause::construction_failed;
    case sent::mailbox_full:
        return dead_letter_cause::mailbox_full;
    case sent::would_block:
        return dead_letter_cause::would_block;
    case sent::timed_out:
        return dead_letter_cause::mailbox_timeout;
    default:  // no actor has this number: who tells it wants that
        return to.slot_number() == mailbox_index::slot_mask
                   ? dead_letter_cause::explicit_request
                   : dead_letter_cause::recipient_terminated;
    }
}

void actor_scheduler::refused_late(worker* w, mailbox_index to, envelope& e) noexcept {
    uncount_send(w);
    hub_.refused(place_of(w), sent::recipient_terminated);
    hub_.dead_letter(to, e, dead_letter_cause::recipient_terminated);
    dispose(w, e);
}

void actor_scheduler::submit_slowly(slot& s, worker* w) noexcept {
    order_of(s).submit_ready(s, lanes_of(w, s));
}

bool actor_scheduler::count_send(worker* w, envelope& e, bool has_room) noexcept {
    if (w == nullptr)
        return hub_.on() && counted_send_outside(e, has_room);
    if (w->lanes_.count_send()) [[unlikely]]
        counted_send(*w, e, has_room);
    return true;
}
void actor_scheduler::uncount_send(worker* w) noexcept {
    if (w != nullptr)
        w->lanes_.uncount_send();
    else
        hub_.unsent_outside();
}
void actor_scheduler::counted_send(worker& w, envelope& e, bool has_room) noexcept {
    if (w.lanes_.counted_send())
        w.home_.order().publish(w.lanes_);
    if (hub_.stamps(w.measured_) && has_room && e.flags() == 0)
        e.set_stamp(hub_.now_ns());
}
bool actor_scheduler::counted_send_outside(envelope& e, bool has_room) noexcept {
    bool stamp = false;
    if (!hub_.sends_outside(stamp))
        return false;  // nobody measures any more
    if (stamp && has_room && e.flags() == 0)
        e.set_stamp(hub_.now_ns());
    return true;
}

envelope* actor_scheduler::take_envelope_outside() noexcept {
    const port::lock_guard held(outside_.mutex);
    return outside_.envelopes.take();
}
void actor_scheduler::give_envelope_outside(envelope& e) noexcept {
    const port::lock_guard held(outside_.mutex);
    outside_.envelopes.give(e);
}

void actor_scheduler::watch_enqueue(envelope& e, mailbox_index to, mailbox_index from) noexcept {
    std::int64_t span = 0;
    if (trace_ != nullptr) {
        const job_id job = job_delivery::take();
        span = trace_->begin(from, to, *e.type.read());
        if (span != 0) {
            if (job != 0)
                trace_->carry(span, span_fact::timer_job, job);
            trace_->mark(span, tracer::point::enqueue, to);
        }
    }
    e.set_span(span);
    if (on_enqueue_ != nullptr)
        on_enqueue_->enqueuing(to, *e.type.read());
}

sent actor_scheduler::send_filled(mailbox_index to, envelope& e) noexcept {
    worker* w = own_worker();
    const auto send = [&] {
        const std::uint32_t number = to.slot_number();
        if (!has(to))
            return sent::no_system;
        // As in deliver.
        if (number >= slot_limit_.load(slots_made.acquire()))
            return beyond_limit(number);
        slot& s = slots_.at(number);
        if (s.generation() != to.generation)
            return sent::recipient_terminated;
        e.set_generation(to.generation);
        const bool counted = count_send(w, e, false);
        mailbox_block* block = s.gated();
        const sent result = block == nullptr ? push(w, s, e) : push_gated(w, s, *block, e, to);
        if (result != sent::accepted && counted)
            uncount_send(w);
        return result;
    };
    const sent result = send();
    if (result == sent::accepted)
        return result;
    const sent why = reason_of(to, result);
    hub_.refused(place_of(w), why);
    hub_.dead_letter(to, e, cause_of(to, why));
    dispose(w, e);
    return why;
}

sent actor_scheduler::send_guarded(mailbox_index to, void* block, const message_type& type,
                                   memory_source& source, mailbox_index sender) noexcept {
    worker* w = own_worker();
    envelope* e = take_envelope(w);
    if (e == nullptr) {
        hub_.message_lost(to, type, cause_of(to, exhausted()));
        if (type.destroy != nullptr)
            type.destroy(block);
        source.release(block, type.size, type.alignment);
        return sent::pool_exhausted;
    }
    e->adopt(block, type, source, extras_for(to));
    return send_with_extras(to, *e, sender);
}

sent actor_scheduler::send_noted(mailbox_index to, const detail::parcel& p,
                                 const envelope_note& note, mailbox_index sender) noexcept {
    worker* w = own_worker();
    envelope* e = take_envelope(w);
    sent result = sent::pool_exhausted;
    if (e != nullptr)
        result = put(w, *e, p, extras_for(to) | envelope::has_note);
    if (result == sent::accepted) [[likely]] {
        e->set_note(note);
        return send_with_extras(to, *e, sender);
    }
    dead_letter(w, to, p, sender, result == sent::pool_exhausted ? exhausted() : result);
    note.reader->ended(note, false);
    return result;
}

sent actor_scheduler::send_owed_parcel(slot& s, const detail::parcel& p,
                                       mailbox_index sender) noexcept {
    worker* w = own_worker();
    const mailbox_index to = slots_.index_of(s);
    const auto send = [&] {
        if (to.slot_number() >= slot_limit_.load(slots_made.acquire()))
            return beyond_limit(to.slot_number());
        envelope* e = take_envelope(w);
        if (e == nullptr)
            return exhausted();
        const std::uint32_t owed = s.kind() != nullptr ? std::uint32_t{envelope::is_owed} : 0U;
        if (const sent failed = put(w, *e, p, extras_for(to) | owed); failed != sent::accepted)
            return failed == sent::pool_exhausted ? exhausted() : failed;
        if ((e->flags() & envelope::has_deadline) != 0)
            e->set_deadline(due_of(s));
        e->sender.write(sender);
        e->set_generation(to.generation);
        if (watched_)
            watch_enqueue(*e, to, sender);
        const bool counted = count_send(w, *e, false);
        const sent result = push(w, s, *e);
        if (result == sent::accepted)
            return result;
        if (counted)
            uncount_send(w);
        dispose(w, *e);
        return result;
    };
    const sent result = send();
    if (result != sent::accepted)
        hub_.refused(place_of(w), result);
    return result;
}

std::uint32_t actor_scheduler::extras_for(mailbox_index to) noexcept {
    const bool timed = is_alive(to) && gives_deadlines(slots_.at(to.slot_number()), to.generation);
    return (timed ? std::uint32_t{envelope::has_deadline} : 0U) |
           (watched_ ? std::uint32_t{envelope::has_span} : 0U);
}

sent actor_scheduler::send_with_extras(mailbox_index to, envelope& e,
                                       mailbox_index sender) noexcept {
    if ((e.flags() & envelope::has_deadline) != 0)
        e.set_deadline(due_of(slots_.at(to.slot_number())));
    e.sender.write(sender);
    if (watched_)
        watch_enqueue(e, to, sender);
    return send_filled(to, e);
}

// ---- system messages

bool actor_scheduler::send_system(mailbox_index to, system_message& m) noexcept {
    const caller c(*this);
    worker* w = c.own();
    slot* s = c.gone() ? nullptr : slots_.find(to);
    // LN-8; read now, since the node is its receiver's from the push on. The slot's priority is
    // read later, by who has won the right to.
    const bool terminates = m.kind == system_kind::terminate;
    m.generation.write(to.generation);
    switch (s == nullptr ? enqueued::closed : s->enqueue_system(m)) {
    case enqueued::submit:
        order_of(*s).submit(*s, lanes_of(w, *s),
                            {lane::cancel, terminates ? highest_priority : s->priority(), 0});
        return true;
    case enqueued::accepted:
        // An actor that tells itself something runs, and waits in no lane: its run looks for it.
        if (!port::has_interrupts && w != nullptr && w->turn_ != nullptr && &w->turn_->place() == s)
            return true;
        order_of(*s).promote(*s, to, lanes_of(w, *s), terminates ? highest_priority : 0);
        return true;
    case enqueued::closed:
        break;
    }
    const auto done = m.done;
    hub_.system_dead_letter(to, m);
    if (done != nullptr)
        done(m);
    return false;
}

bool actor_scheduler::send_system(mailbox_index to, system_kind kind, mailbox_index subject,
                                  void* data) noexcept {
    system_message& m = pool_.take_system_message();
    m.kind = kind;
    m.subject.write(subject);
    m.data.write(data);
    return send_system(to, m);
}

}  // namespace tactus::inline v0
