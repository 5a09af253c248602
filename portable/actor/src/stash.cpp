// SPDX-License-Identifier: Apache-2.0
//
// Putting messages aside (ST-1, ST-2): envelopes are moved, never copied.
#include <tactus/actor/actor_world.hpp>
#include <tactus/actor/effect_recorder.hpp>
#include <tactus/base/check.hpp>

#include <algorithm>

namespace tactus::inline v0 {
namespace {

TACTUS_CHECK_MODULE("stash");

void take_no_credit(envelope_list& some) noexcept {
    for (envelope* e = some.peek(); e != nullptr; e = e->next.read())
        e->set_flags(e->flags() | envelope::is_owed);
}

}  // namespace

std::expected<void, failure> actor_world::stash(turn& t) noexcept {
    envelope* e = t.current_message();
    // Only types that stash say what they handle.
    TACTUS_CHECK(1, e != nullptr);
    if (t.keeps()) {
        const auto twice = failure("the message is stashed already, or belongs to a coroutine");
        fail(t, twice);
        return std::unexpected(twice);
    }
    const self s{*this, t.place(), cell::of(t.place())};
    cell_extras* x = extras_of(s.c);
    const std::uint32_t given = s.place.kind()->options().stash_capacity;
    const std::uint32_t own = s.type().stash_capacity;
    if (x == nullptr || x->stash.size() >= (given < own ? given : own)) {
        kernel_->measures().dead_letter(t.self(), *e, dead_letter_cause::stash_overflow);
        return std::unexpected(failure("the stash is full"));
    }
    // PK-STA-7: what was watched is, until it is handled for good.
    if (const terminated* m = e->get_if<terminated>(); m != nullptr) {
        void* block = memory_.allocate(sizeof(watch_record), alignof(watch_record));
        if (block == nullptr)
            return std::unexpected(failure("no memory to stash the end of an actor"));
        auto* r = ::new (block) watch_record;
        r->key = m->who.index();
        r->notified = true;
        if (x->told_why != nullptr)
            r->why = *x->told_why;
        x->watching.add(memory_, *r);
    }
    (void)x->stash.push(*e);
    t.keep();
    return {};
}

void actor_world::unstash(turn& t, std::uint32_t count) noexcept {
    if (effect_recorder* recorder = recording(cell::of(t.place())))
        recorder->unstashing(t, std::min(count, stash_size(t)));
    unstash({*this, t.place(), cell::of(t.place())}, count);
}

void actor_world::unstash(const self& s, std::uint32_t count) noexcept {
    cell_extras* x = s.c.extras();
    if (x == nullptr || x->stash.size() == 0)
        return;
    envelope_list some;
    envelope_list& oldest = count < x->stash.size() ? some : x->stash;
    while (&oldest == &some && some.size() < count)
        (void)some.push(*x->stash.pop());
    const bool waits_for_room = s.place.kind()->options().when_full == overflow::block;
    while (oldest.size() != 0) {
        const prepended result = s.place.prepend(oldest);
        if (result == prepended::done)
            return;
        if (result == prepended::full && waits_for_room) {
            take_no_credit(oldest);  // their senders have waited for room, and were told so
            continue;
        }
        // PK-STA-4: the oldest do not fit. Signals that the runtime owes always do.
        envelope* e = oldest.take_first([](const envelope& m) { return !m.owed(); });
        if (e == nullptr)
            e = oldest.pop();  // no memory for any
        kernel_->measures().dead_letter(s.index(), *e, dead_letter_cause::mailbox_full);
        kernel_->dispose_kept(*e);
    }
}

std::uint32_t actor_world::stash_size(turn& t) noexcept {
    const cell_extras* x = cell::of(t.place()).extras();
    return x != nullptr ? x->stash.size() : 0;
}

}  // namespace tactus::inline v0
