// SPDX-License-Identifier: Apache-2.0
//
// Registry reuse: a sender with an old index, held up at every moment while the slot ends its life
// and begins the next, never reaches the next life (RG-1, RG-2, MC-3).
//
// Its message is refused, or a leftover, or handled in the old life, or arrives in the next one
// with the old generation and is recognised; exactly one of these. Whoever wins a run runs it
// there.
//
// Bounds: two threads with four preemptions, three with one, and a sample beyond.
#include <tactus/dispatch/registry.hpp>

#include <optional>

#include "model_memory.hpp"
#include "scenario.hpp"

namespace port = tactus::port;
namespace model = tactus::port::model;
using tactus::enqueued;
using tactus::envelope;
using tactus::mailbox_index;
using tactus::mailbox_owed;
using tactus::registry;
using tactus::slot;
using tactus::slot_cache;

namespace {

struct letter {
    envelope e;
    unsigned handled = 0;
    unsigned recognised = 0;  // as another generation's
    unsigned refused = 0;
    unsigned left_over = 0;
    [[nodiscard]] unsigned sum() const { return handled + recognised + refused + left_over; }
};

class rig {
public:
    rig() { first_ = open(*slots_.take(own_), 100); }

    [[nodiscard]] mailbox_index first() const { return first_; }

    void send(mailbox_index to, letter& l, slot_cache& cache) {
        slot* s = slots_.find(to);
        if (s == nullptr) {
            ++l.refused;
            return;
        }
        l.e.set_generation(to.generation);
        l.e.type.write(reinterpret_cast<const tactus::message_type*>(&l));
        switch (s->enqueue(l.e)) {
        case enqueued::submit:
            // What submitting reads: who won the bit may.
            model::require(s->priority() == 99 + s->generation());
            run(*s, cache);
            break;
        case enqueued::closed:
            ++l.refused;
            break;
        case enqueued::accepted:
            break;
        }
    }
    void close(mailbox_index who, slot_cache& cache) {
        slot* s = slots_.find(who);
        if (s != nullptr && s->state().request_close() == mailbox_owed::finalize)
            finalize(*s, cache);
    }
    /// The next life, unless somebody else has the slot still.
    std::optional<mailbox_index> begin_again() {
        slot* s = slots_.take(own_);
        if (s == nullptr)
            return std::nullopt;
        return open(*s, 101);
    }

    [[nodiscard]] slot_cache& own() { return own_; }
    [[nodiscard]] registry& slots() { return slots_; }

private:
    mailbox_index open(slot& s, std::uint8_t priority) {
        s.set_traits(priority, true);
        life_.write(life_.read() + 1);
        return slots_.open(s, false);
    }

    static letter& letter_of(envelope& e) {
        return *reinterpret_cast<letter*>(const_cast<tactus::message_type*>(e.type.read()));
    }

    void run(slot& s, slot_cache& cache) {
        for (;;) {
            life_.write(life_.read());  // the owner's: a race unless lives and runs are in order
            if (s.fresh())
                s.end_fresh();
            while (s.state().should_process()) {
                envelope* e = s.next_user();
                if (e == nullptr)
                    break;
                letter& l = letter_of(*e);
                if (e->generation() == s.generation())
                    ++l.handled;
                else
                    ++l.recognised;
            }
            switch (s.end_run()) {
            case enqueued::submit:
                continue;
            case enqueued::accepted:
                return;
            case enqueued::closed:
                finalize(s, cache);
                return;
            }
        }
    }
    struct sink {
        void refused(envelope& e) noexcept { ++letter_of(e).left_over; }
        void refused(tactus::system_message&) noexcept {}
    };
    void finalize(slot& s, slot_cache& cache) {
        life_.write(life_.read());
        (void)s.finalize(registry::next_generation(s.generation()), {}, sink{});
        slots_.give(s, cache);
        cache.flush();
    }

    scenario::model_region<slot> memory_{1};
    registry slots_{{.memory = &memory_, .capacity = 1, .magazine_size = 1}};
    slot_cache own_{slots_.shared()};
    port::plain<unsigned> life_{0};
    mailbox_index first_;
};

/// A late sender, the end of one life and the next.
void reused(unsigned senders) {
    rig r;
    letter old[2];
    letter next;
    std::optional<mailbox_index> again;
    {
        model::thread late([&] {
            slot_cache cache(r.slots().shared());
            r.send(r.first(), old[0], cache);
        });
        std::optional<model::thread> other;
        if (senders == 2)
            other.emplace([&] {
                slot_cache cache(r.slots().shared());
                r.send(r.first(), old[1], cache);
            });
        r.close(r.first(), r.own());
        again = r.begin_again();
        if (again) {
            model::require(again->generation == r.first().generation + 1);
            r.send(*again, next, r.own());
        }
    }
    for (unsigned i = 0; i < senders; ++i)
        model::require(old[i].sum() == 1, "lost, or twice");
    model::require(next.handled == (again ? 1u : 0u), "the next life handles its own");
    model::require(r.slots().find(r.first()) == nullptr);
}

}  // namespace

TACTUS_MODEL_TEST(registry, RG2_a_late_sender_never_reaches_the_next_life, scenario::preempted(4)) {
    reused(1);
}
TACTUS_MODEL_TEST(registry, RG2_two_late_senders, scenario::preempted(1)) {
    reused(2);
}
TACTUS_MODEL_TEST(registry, RG2_two_late_senders_pct, scenario::by_priorities(20'000)) {
    reused(2);
}

// Found, or not found: never half a slot.
TACTUS_MODEL_TEST(registry, RG2_lookup_while_slots_are_constructed,
                  scenario::every_interleaving()) {
    scenario::model_region<slot> memory(2);
    registry slots({.memory = &memory, .capacity = 2, .magazine_size = 1});
    {
        model::thread looker([&] {
            for (std::uint32_t n = 0; n < 2; ++n)
                (void)slots.find(mailbox_index::make(1, n, 1));
        });
        slot_cache own(slots.shared());
        for (unsigned i = 0; i < 2; ++i) {
            slot* s = slots.take(own);
            s->set_traits(tactus::default_priority, true);
            (void)slots.open(*s, false);
        }
    }
}
