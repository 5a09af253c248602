// SPDX-License-Identifier: Apache-2.0
//
// Sending to bounded mailboxes: the gate, what each strategy does when it is shut, and the memory
// of mailboxes that are not plain.
//
//   strategy      tell                          try_tell
//   drop_oldest   the oldest -> mailbox_full    the same; mailbox_full when nothing may go
//   drop_newest   it -> mailbox_full            it -> mailbox_full, dropped
//   reject        it -> mailbox_full            mailbox_full
//   dead_letter   it -> mailbox_full            it -> mailbox_full, dropped
//   block         it -> would_block             mailbox_full (offer waits)
#include <tactus/dispatch/actor_scheduler.hpp>
#include <tactus/dispatch/offer.hpp>

namespace tactus::inline v0 {

envelope* actor_scheduler::enter_gate(worker& w, slot& s, mailbox_index to) noexcept {
    mailbox_block* block = s.gated();
    if (block == nullptr || s.generation() != to.generation || s.deadline_us() != 0)
        return nullptr;
    envelope* e = w.envelopes_.take();
    if (e == nullptr)
        return nullptr;
    if (block->gate().enter(to.generation) == mailbox_gate::entry::entered) [[likely]] {
        warn_of_pressure(*block, to);
        return e;
    }
    e->tag.write(0);
    w.envelopes_.give(*e);
    return nullptr;
}

bool actor_scheduler::looks_full(worker* w, slot& s, mailbox_block& block) noexcept {
    const mailbox_gate& gate = block.gate();
    const auto full = [&gate] {
        return gate.when_full() != overflow::drop_oldest &&
               (gate.taken() >= gate.capacity() || gate.anybody_waits());
    };
    if (!full())
        return false;
    // The owner keeps some credits back, to return them together: not from itself.
    if (w == nullptr || w->running() != &s)
        return true;
    block.settle(s.senders_inbox());
    return full();
}

bool actor_scheduler::loses_newest(mailbox_index to) const noexcept {
    const slot* s = slots_.find(to);
    const mailbox_block* block = s != nullptr ? s->gated() : nullptr;
    if (block == nullptr)
        return false;
    const overflow strategy = block->gate().when_full();
    return strategy == overflow::drop_newest || strategy == overflow::dead_letter;
}

sent actor_scheduler::reason_of(mailbox_index to, sent why) const noexcept {
    if (why != sent::mailbox_full)
        return why;
    const slot* s = slots_.find(to);
    const mailbox_block* block = s != nullptr ? s->gated() : nullptr;
    return block != nullptr && block->gate().when_full() == overflow::block ? sent::would_block
                                                                            : why;
}

sent actor_scheduler::push_gated(worker* w, slot& s, mailbox_block& block, envelope& e,
                                 mailbox_index to) noexcept {
    mailbox_gate& gate = block.gate();
    switch (gate.enter(to.generation)) {
    case mailbox_gate::entry::entered:
        break;
    case mailbox_gate::entry::ended:
        return sent::recipient_terminated;
    case mailbox_gate::entry::full: {
        if (gate.when_full() != overflow::drop_oldest)
            return sent::mailbox_full;
        const mailbox_gate::eviction made = gate.evict(s.senders_inbox(), to.generation);
        if (made.result == mailbox_gate::entry::ended)
            return sent::recipient_terminated;
        if (made.result == mailbox_gate::entry::full) {
            // What was set aside has left the inbox: whoever looked there must look again.
            if (s.offer_work(life::state_mark(to.generation)))
                submit_ready(s, w);
            return sent::mailbox_full;
        }
        if (made.out == nullptr)
            break;
        hub_.discarded(place_of(w), 1);
        hub_.dead_letter(to, *made.out, dead_letter_cause::mailbox_full);
        dispose(w, *made.out);
        break;
    }
    }
    warn_of_pressure(block, to);
    return push(w, s, e);
}

void actor_scheduler::warn_of_pressure(mailbox_block& block, mailbox_index who) noexcept {
    const mailbox_block::pressure now = block.warn();
    if (now.percent != 0) [[unlikely]]
        hub_.pressure({.ref = who,
                       .len = now.length,
                       .capacity = now.capacity,
                       .percent = now.percent,
                       .at = time_ != nullptr ? time_->now() : instant()});
}

std::optional<std::uint32_t> actor_scheduler::depth_of(mailbox_index who) const noexcept {
    const slot* s = slots_.find(who);
    const mailbox_block* block = s != nullptr ? s->gated() : nullptr;
    if (block == nullptr)
        return std::nullopt;
    return block->gate().taken();
}

sent actor_scheduler::exhausted() noexcept {
    std::uint32_t refused = 0;
    {
        const port::lock_guard held(exhaustion_.mutex);
        ++exhaustion_.refused;
        // Without a clock there are no seconds: once, then.
        const instant now = time_ != nullptr ? time_->now() : instant();
        if (exhaustion_.told_before &&
            (time_ == nullptr || now - exhaustion_.told_at < duration::from_s(1)))
            return sent::pool_exhausted;
        exhaustion_.told_before = true;
        exhaustion_.told_at = now;
        refused = exhaustion_.refused;
        exhaustion_.refused = 0;
    }
    hub_.pool_exhausted(refused);
    return sent::pool_exhausted;
}

std::optional<spawn_error> actor_scheduler::prepare_mailbox(slot& s,
                                                            const spawn_options& o) noexcept {
    using kind = spawn_error::kind;
    s.set_kind(nullptr);
    const mailbox_options& m = o.mailbox;
    if (m.is_plain())
        return std::nullopt;
    if (m.capacity == 0)
        return spawn_error{kind::capacity_zero, "a mailbox of capacity 0 can never take a message"};
    if (m.is_bounded() && m.capacity > mailbox_gate::capacity_max)
        return spawn_error{kind::capacity_too_large,
                           "a bounded mailbox holds at most 2,097,150 messages"};
    const bool by_priority =
        m.kind == mailbox_kind::priority || m.kind == mailbox_kind::stable_priority;
    if (by_priority && o.order == nullptr)
        return spawn_error{kind::order_missing, "a priority mailbox needs an order of messages"};
    mailbox_block* block = s.block();
    if (block == nullptr) {
        void* place = memory_.allocate(sizeof(mailbox_block), alignof(mailbox_block));
        if (place == nullptr)
            return spawn_error{kind::memory_exhausted, "no memory for the mailbox's queue"};
        block = ::new (place) mailbox_block(memory_);
    }
    block->open(m, slots_.next_life_of(s), o.order);
    s.set_kind(block);
    return std::nullopt;
}

void actor_scheduler::release_blocks() noexcept {
    for (std::uint32_t i = 0; i < slots_.constructed_count(); ++i) {
        mailbox_block* block = slots_.at(i).block();
        if (block == nullptr)
            continue;
        block->~mailbox_block();
        memory_.release(block, sizeof(mailbox_block), alignof(mailbox_block));
    }
}

// ---- offers that wait

std::optional<sent> pending_offer::start_parcel(mailbox_index to, const detail::parcel& p,
                                                const send_options& o) noexcept {
    if constexpr (port::has_interrupts) {
        const system_table::visit v(to.system_number());
        return v.system() != nullptr ? start_in(*v.system(), to, p, o) : sent::no_system;
    } else {
        {
            const system_table::sender_visit v(to.system_number());
            if (v.system() != nullptr) [[likely]]
                return start_in(*v.system(), to, p, o);
        }
        const bool inside = system_table::is_inside(to.system_number());
        const system_table::visit v(to.system_number());
        if (v.system() == nullptr)
            return actor_scheduler::not_found();
        if (inside || v.system()->own_worker() != nullptr || v.system()->is_reply_place(to))
            return start_in(*v.system(), to, p, o);
        v.system()->hub_.refused(nullptr, sent::draining);
        return sent::draining;
    }
}

std::optional<sent> pending_offer::start_in(actor_scheduler& system, mailbox_index to,
                                            const detail::parcel& p,
                                            const send_options& o) noexcept {
    worker* w = system.own_worker();
    slot* s = system.slots_.find(to);
    mailbox_block* block = s != nullptr ? s->gated() : nullptr;
    if (block == nullptr || block->gate().when_full() != overflow::block ||
        system.phase() != system_phase::running)
        return system.try_deliver(w, to, p, o);
    const bool timed = o.deadline == 0 && actor_scheduler::gives_deadlines(*s, to.generation);
    const send_options with{o.sender, timed ? system.due_of(*s) : o.deadline};
    envelope* e = system.take_envelope(w);
    system_ = &system;
    told_.store(0, std::memory_order_relaxed);  // nobody knows it yet
    origin_ = p;
    if (e == nullptr) {
        count(sent::pool_exhausted, w);
        return system.exhausted();
    }
    if (const sent failed = system.fill(w, *e, to, p, with); failed != sent::accepted) {
        count(failed, w);
        return failed == sent::pool_exhausted ? system.exhausted() : failed;
    }
    gate_ = &block->gate();
    to_ = to;
    carried = e;
    switch (gate_->wait(to.generation, *this)) {
    case mailbox_gate::entry::entered: {
        system.warn_of_pressure(*block, to);
        const sent result = system.push(w, *s, *e);
        count(result, w);
        if (result != sent::accepted)
            return_message(w);
        return result;
    }
    case mailbox_gate::entry::ended:
        count(sent::recipient_terminated, w);
        return_message(w);
        return sent::recipient_terminated;
    case mailbox_gate::entry::full:
        break;
    }
    return std::nullopt;
}

void pending_offer::served_now(gate_waiter& w) noexcept {
    auto& self = static_cast<pending_offer&>(w);
    self.told_.store(1, std::memory_order_relaxed);  // see cancel
    self.count(self.decision(), self.system_->own_worker());
    // The mailbox was closed: the message goes back here, while its system is certainly alive.
    if (self.carried != nullptr)
        self.return_message(self.system_->own_worker());
    self.wake_->wake();  // and then it may be gone
}

void pending_offer::count(sent what, worker* w) noexcept {
    hub_place* own = actor_scheduler::place_of(w);
    if (what == sent::accepted)
        system_->hub_.enqueued(own);
    else
        system_->hub_.refused(own, what);
}

void pending_offer::return_message(worker* w) noexcept {
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): what it carries came from there
    origin_->take_back(carried->payload());
    system_->dispose(w, *carried);
    carried = nullptr;
}

bool pending_offer::cancel() noexcept {
    const system_table::visit v(to_.system_number());
    // A system that is gone has closed its mailboxes, and told who waited. Another one may have its
    // number by now: who finds that sees that this was told (relaxed: the table orders it), and who
    // has not been told has a gate to go to, for as long as the visit lasts.
    if (v.system() == nullptr || told_.load(std::memory_order_relaxed) != 0 ||
        !gate_->cancel(*this))
        return false;
    worker* w = system_->own_worker();
    count(sent::timed_out, w);
    system_->hub_.dead_letter(to_, *carried, dead_letter_cause::mailbox_timeout);
    system_->dispose(w, *carried);
    carried = nullptr;
    return true;
}

}  // namespace tactus::inline v0
