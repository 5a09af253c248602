// SPDX-License-Identifier: Apache-2.0
//
// The gate of a bounded mailbox under its senders, its owner, who waits and who ends it: credits
// never exceed the capacity and none is lost, waiters are served in order and none is left behind,
// and a message set aside by a sender is found by the owner (MB-1, MB-2, MC-3).
//
// Bounds: two threads without a bound or with two or three preemptions, three with one, and samples
// beyond.
#include "gated_rig.hpp"
#include "scenario.hpp"

using scenario::gated_rig;
namespace model = tactus::port::model;
using tactus::overflow;

TACTUS_MODEL_TEST(mailbox_gate, MB1_two_senders_and_a_capacity_of_one,
                  scenario::every_interleaving()) {
    gated_rig r(1, overflow::reject);
    {
        model::thread other([&] { r.send(1, 1); });
        r.send(0, 0);
    }
    r.check_all();
}
TACTUS_MODEL_TEST(mailbox_gate, MB1_three_senders_of_more, scenario::by_priorities(2'000)) {
    gated_rig r(2, overflow::reject);
    {
        model::thread a([&] {
            r.send(1, 1);
            r.send(1, 2);
        });
        model::thread b([&] { r.send(2, 3); });
        r.send(0, 0);
    }
    r.check_all();
}

// Who waits for room elsewhere says so and looks at the gate; the owner gives credits back and
// looks who waits: one of them sees the other (CO-4).
TACTUS_MODEL_TEST(mailbox_gate, CO4_room_is_not_missed, scenario::every_interleaving()) {
    tactus::mailbox_gate gate;
    tactus::inbox in;
    tactus::mailbox_options o;
    o.capacity = 1;
    gate.open(1, o);
    model::require(gate.enter(1) == tactus::mailbox_gate::entry::entered);
    tactus::port::atomic<unsigned> wants{0};
    bool room = false;
    bool seen = false;
    {
        model::thread sender([&] {
            wants.store(1, std::memory_order_relaxed);
            room = gate.has_room(1);
        });
        gate.leave(1, in);
        seen = wants.load(std::memory_order_relaxed) != 0;
    }
    model::require(room || seen);
    gate.close([](tactus::envelope&) {});
}

// Whoever runs the mailbox serves who waits, before or after it got into the line.
TACTUS_MODEL_TEST(mailbox_gate, MB2_a_waiter_is_never_left_behind, scenario::preempted(3)) {
    gated_rig r(1, overflow::block);
    {
        model::thread other([&] { (void)r.offer(1, 1); });
        r.send(0, 0);
    }
    r.check_all();
    model::require(r.was_handled(0) || r.was_handled(1));
}
// Two that wait, and one that must not overtake them; the line is in order per sender.
TACTUS_MODEL_TEST(mailbox_gate, MB2_two_waiters_and_a_sender, scenario::preempted(1)) {
    gated_rig r(1, overflow::block);
    {
        model::thread a([&] {
            if (!r.offer(1, 1))
                (void)r.offer(1, 2);
        });
        model::thread b([&] { (void)r.offer(2, 3); });
        r.send(0, 0);
    }
    r.check_all();
}
// While held back: both wait, in order, and are served by who resumes it.
TACTUS_MODEL_TEST(mailbox_gate, MB2_waiters_of_a_suspended_mailbox, scenario::preempted(1)) {
    gated_rig r(1, overflow::block);
    r.suspend();
    r.send(0, 0);
    {
        model::thread a([&] { (void)r.offer(1, 1); });
        model::thread b([&] { (void)r.offer(2, 2); });
        r.resume();
    }
    r.check_all();
    model::require(r.was_handled(0) && r.was_handled(1) && r.was_handled(2));
}
TACTUS_MODEL_TEST(mailbox_gate, MB2_cancelling_against_being_served, scenario::preempted(3)) {
    gated_rig r(1, overflow::block);
    r.suspend();
    r.send(0, 0);
    {
        model::thread other([&] {
            if (r.offer(1, 1))
                r.cancel(1);
        });
        r.resume();
    }
    r.check_all();
}
// Who leaves the line lets the next one in.
TACTUS_MODEL_TEST(mailbox_gate, MB2_cancelling_the_first_of_two, scenario::preempted(2)) {
    gated_rig r(1, overflow::block);
    r.suspend();
    r.send(0, 0);
    const bool first = r.offer(1, 1);
    const bool second = r.offer(2, 2);
    model::require(first && second);
    {
        model::thread other([&] { r.cancel(1); });
        r.resume();
    }
    r.check_all();
    model::require(r.was_handled(2));
}
TACTUS_MODEL_TEST(mailbox_gate, MB2_a_close_against_a_waiter, scenario::preempted(3)) {
    gated_rig r(1, overflow::block);
    r.suspend();
    r.send(0, 0);
    {
        model::thread other([&] {
            if (r.offer(1, 1))
                r.cancel(1);
        });
        r.close();
    }
    r.check_all();
}
TACTUS_MODEL_TEST(mailbox_gate, MB2_a_close_against_a_waiter_and_a_run, scenario::preempted(1)) {
    gated_rig r(1, overflow::block);
    {
        model::thread a([&] { (void)r.offer(1, 1); });
        model::thread b([&] { r.send(2, 2); });
        r.close();
    }
    r.check_all();
}

// An eviction empties the inbox under its owner: what is set aside is found.
TACTUS_MODEL_TEST(mailbox_gate, MB1_an_eviction_against_the_owners_take, scenario::preempted(3)) {
    gated_rig r(1, overflow::drop_oldest);
    {
        model::thread other([&] { r.send(1, 1); });
        r.send(0, 0);
    }
    r.check_all();
}
TACTUS_MODEL_TEST(mailbox_gate, MB1_evictions_of_two_senders_against_a_run,
                  scenario::by_priorities(2'000)) {
    gated_rig r(2, overflow::drop_oldest);
    {
        model::thread a([&] {
            r.send(1, 1);
            r.send(1, 2);
        });
        model::thread b([&] { r.send(2, 3); });
        r.send(0, 0);
    }
    r.check_all();
}
// Held back and full: an eviction sets aside, and who resumes it must see that in the look that
// finds the inbox empty.
TACTUS_MODEL_TEST(mailbox_gate, MB1_an_eviction_against_a_resume, scenario::preempted(3)) {
    gated_rig r(2, overflow::drop_oldest);
    r.suspend();
    r.send(0, 0);
    r.send(0, 1);
    {
        model::thread other([&] { r.send(1, 2); });
        r.resume();
    }
    r.check_all();
}
TACTUS_MODEL_TEST(mailbox_gate, MB1_an_eviction_against_a_close, scenario::preempted(3)) {
    gated_rig r(2, overflow::drop_oldest);
    r.suspend();
    r.send(0, 0);
    r.send(0, 1);
    {
        model::thread other([&] {
            r.send(1, 2);
            r.send(1, 3);
        });
        r.close();
    }
    r.check_all();
}

TACTUS_MODEL_TEST(mailbox_gate, MB1_many_evictions, scenario::by_priorities(2'000)) {
    gated_rig r(2, overflow::drop_oldest);
    {
        model::thread a([&] {
            r.send(1, 1);
            r.send(1, 2);
        });
        model::thread b([&] {
            r.send(2, 3);
            r.send(2, 4);
        });
        r.suspend();
        r.send(0, 0);
        r.resume();
    }
    r.check_all();
}
TACTUS_MODEL_TEST(mailbox_gate, MB2_many_offers, scenario::by_priorities(2'000)) {
    gated_rig r(1, overflow::block);
    {
        model::thread a([&] {
            if (r.offer(1, 1))
                r.cancel(1);
            (void)r.offer(1, 2);
        });
        model::thread b([&] {
            if (r.offer(2, 3))
                r.cancel(3);
            r.send(2, 4);
        });
        r.suspend();
        r.send(0, 0);
        r.resume();
    }
    r.check_all();
}

// What a sender that sets messages aside makes known before is seen by who finds the stack empty.
TACTUS_MODEL_TEST(mailbox_gate, MB1_who_finds_it_empty_finds_what_was_set_aside,
                  scenario::every_interleaving()) {
    tactus::mailbox_gate gate;
    tactus::inbox in;
    tactus::mailbox_options o;
    o.capacity = 2;
    o.when_full = overflow::drop_oldest;
    gate.open(1, o);
    in.open();
    std::array<tactus::envelope, 2> all;
    for (tactus::envelope& e : all) {
        e.set_generation(1);
        model::require(gate.enter(1) == tactus::mailbox_gate::entry::entered);
        (void)in.push(e);
    }
    {
        model::thread other([&] { (void)gate.evict(in, 1); });
        model::require(!in.looks_empty() || gate.has_aside(), "stranded");
    }
}

// A sender of a plain life, held up until the slot's next life is a bounded one, with a block that
// was made for it: it finds a block, or none.
TACTUS_MODEL_TEST(mailbox_gate, RG2_a_late_sender_finds_a_block_that_was_made,
                  scenario::preempted(3)) {
    scenario::model_memory memory;
    tactus::mailbox box;
    box.open(1, false);
    tactus::envelope late;
    late.set_generation(1);
    tactus::mailbox_block* made = nullptr;
    struct nowhere {
        void refused(tactus::envelope&) noexcept {}
        void refused(tactus::system_message&) noexcept {}
    };
    {
        model::thread sender([&] {
            if (tactus::mailbox_block* b = box.gated())
                model::require(b->gate().enter(1) == tactus::mailbox_gate::entry::ended);
            (void)box.has_user_messages();
        });
        model::require(box.state().request_close() == tactus::mailbox_owed::finalize);
        (void)box.finalize(2, {}, nowhere{});
        void* place =
            memory.allocate(sizeof(tactus::mailbox_block), alignof(tactus::mailbox_block));
        made = ::new (place) tactus::mailbox_block(memory);
        tactus::mailbox_options o;
        o.capacity = 1;
        made->open(o, 2, nullptr);
        box.set_kind(made);
        box.open(2, false);
    }
    made->~mailbox_block();
    memory.release(made, 0, 0);
}
