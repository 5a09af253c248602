// SPDX-License-Identifier: Apache-2.0
//
// The rare half of sending: from outside, refused, counted, and system messages.
#include <tactus/dispatch/actor_scheduler.hpp>
#include <tactus/dispatch/job_delivery.hpp>

namespace tactus::inline v0 {

sent actor_scheduler::beyond_limit(std::uint32_t number) const noexcept {
    return number < slots_.constructed_count() ? sent::shutdown : sent::recipient_terminated;
}

dead_letter_cause actor_scheduler::cause_of(sent why) noexcept {
    switch (why) {
    case sent::pool_exhausted:
        return dead_letter_cause::pool_exhausted;
    case sent::shutdown:
        return dead_letter_cause::shutdown;
    case sent::construction_failed:
        return dead_letter_cause::construction_failed;
    case sent::mailbox_full:
        return dead_letter_cause::mailbox_full;
    case sent::would_block:
        return dead_letter_cause::would_block;
    case sent::timed_out:
        return dead_letter_cause::mailbox_timeout;
    default:
        return dead_letter_cause::recipient_terminated;
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

void actor_scheduler::message_lost(mailbox_index to, const message_type& type,
                                   dead_letter_cause cause) noexcept {
    hub_.message_lost(to, type, cause);
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

void actor_scheduler::forward(mailbox_index to, envelope& e) noexcept {
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
        return;
    const sent why = reason_of(to, result);
    hub_.refused(place_of(w), why);
    hub_.dead_letter(to, e, cause_of(why));
    dispose(w, e);
}

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
        order_of(*s).promote(*s, lanes_of(w, *s), terminates ? highest_priority : 0);
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
