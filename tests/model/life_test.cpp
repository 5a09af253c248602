// SPDX-License-Identifier: Apache-2.0
//
// One slot, two dispatchers: an operation on an actor is late, and the slot's next life belongs to
// the other dispatcher. No life runs on a foreign dispatcher, whichever operation is late: send,
// system send, stop, the promotion after a push, the end of a run, resume, register_ready (DF-1,
// DF-2; the argument is in mailbox/life.hpp).
//
// Bounds: two threads with two or three preemptions, as each says.
#include <tactus/dispatch/dispatcher.hpp>

#include "scenario.hpp"
#include "scheduler_rig.hpp"

namespace model = tactus::port::model;
using scenario::note;
using scenario::scheduler_rig;
using tactus::actor_scheduler;
using tactus::mailbox_index;
using tactus::system_kind;
using tactus::system_message;

namespace {

/// An actor that knows the dispatcher it belongs to.
class resident {
public:
    resident(scheduler_rig& r, std::uint32_t home) : rig_(&r), home_(home) {}
    void receive(tactus::turn&, tactus::envelope& e) {
        check();
        ++rig_->handled[e.get_if<note>()->number];
    }
    void receive_system(tactus::turn& t, tactus::system_message& m) {
        check();
        ++rig_->handled_system;
        if (m.kind == system_kind::terminate)
            t.stop();
    }

private:
    void check() {
        model::require(tactus::worker::current()->home().number() == home_,
                       "runs on a foreign dispatcher");
        runs_.write(runs_.read() + 1);  // a race unless runs follow each other
    }

    tactus::port::plain<unsigned> runs_{0};
    scheduler_rig* rig_;
    std::uint32_t home_;
};

/// A kernel with one slot and two dispatchers.
class two_homes {
public:
    static constexpr std::uint32_t other_workers = 2;
    static constexpr std::uint32_t not_pinned = ~0U;

    two_homes() : old(spawn(0)) {}

    [[nodiscard]] mailbox_index spawn(std::uint32_t home) {
        const auto made = rig.system.spawn<resident>({.dispatcher = home}, rig, home);
        return made ? *made : mailbox_index{};
    }
    /// One dispatch of the first dispatcher.
    void run_first() { rig.run(0, 1); }
    /// The next life, in the other dispatcher, with a message; if the old one has ended.
    void be_reborn(std::uint32_t pinned_to = not_pinned) {
        next = spawn(1);
        if (!next.valid())
            return;
        if (pinned_to != not_pinned)
            rig.system.slots().at(next.slot_number()).pin_to(pinned_to);
        actor_scheduler::tell(next, note{1});
    }
    /// The same on the thread of the first worker, which has the slot if it ended the old life.
    void run_first_and_be_reborn(std::uint32_t pinned_to = not_pinned) {
        run_first();
        be_reborn(pinned_to);
        if (next.valid())
            return;
        const tactus::worker::binding bound(rig.system.worker_at(0));
        be_reborn(pinned_to);
    }
    void run_to_the_end() {
        for (bool any = true; any;) {
            rig.run_to_the_end();
            any = false;
            for (std::uint32_t n = 0; n < other_workers; ++n) {
                tactus::worker& w = other.worker_at(n);
                const tactus::worker::binding bound(w);
                while (rig.system.run_one(w))
                    any = true;
            }
        }
        if (next.valid())
            model::require(rig.handled[1] == 1, "the next life has its message");
    }

    scheduler_rig rig{{.workers = 1, .slots = 1, .envelopes = 3}};
    tactus::dispatcher& other = **rig.system.add_dispatcher({.worker_count = other_workers,
                                                             .ring_capacity = 2,
                                                             .fresh_capacity = 2,
                                                             .queue_capacity = 2,
                                                             .keyed_capacity = 1});
    mailbox_index old;
    mailbox_index next;
};

}  // namespace

TACTUS_MODEL_TEST(life, DF_1_a_late_stop, scenario::preempted(2)) {
    two_homes r;
    actor_scheduler::tell(r.old, note{0});
    {
        model::thread late([&] { (void)r.rig.system.stop(r.old); });
        r.run_first_and_be_reborn();
    }
    r.run_to_the_end();
}

TACTUS_MODEL_TEST(life, DF_1_a_late_system_message, scenario::preempted(2)) {
    two_homes r;
    actor_scheduler::tell(r.old, note{0});
    system_message m;
    m.kind = system_kind::watch;
    {
        model::thread late([&] { (void)r.rig.system.send_system(r.old, m); });
        (void)r.rig.system.stop(r.old);
        r.run_first_and_be_reborn();
    }
    r.run_to_the_end();
}

// The sender looks for system messages after its push; those it finds are of the next life.
TACTUS_MODEL_TEST(life, DF_1_a_late_promotion_after_a_push, scenario::preempted(3)) {
    two_homes r;
    system_message m;
    m.kind = system_kind::watch;
    {
        model::thread late([&] { actor_scheduler::tell(r.old, note{0}); });
        (void)r.rig.system.stop(r.old);
        r.run_first_and_be_reborn();
        if (r.next.valid())
            (void)r.rig.system.send_system(r.next, m);
    }
    r.run_to_the_end();
}

// A sender has its ticket, and its entry is pushed after the life has ended: the traits of a
// pinned next life do not apply to it.
TACTUS_MODEL_TEST(life, DF_1_a_late_push_and_a_pinned_next_life, scenario::preempted(2)) {
    two_homes r;
    system_message m;
    m.kind = system_kind::terminate;
    {
        model::thread late([&] { actor_scheduler::tell(r.old, note{0}); });
        (void)r.rig.system.send_system(r.old, m);
        r.run_first_and_be_reborn(1);
    }
    r.run_to_the_end();
}

TACTUS_MODEL_TEST(life, DF_2_a_late_end_of_run, scenario::preempted(3)) {
    two_homes r;
    actor_scheduler::tell(r.old, note{0});
    {
        model::thread late([&] { r.run_first(); });
        (void)r.rig.system.stop(r.old);
        r.be_reborn();
    }
    r.run_to_the_end();
}

TACTUS_MODEL_TEST(life, DF_1_a_late_register_ready, scenario::preempted(2)) {
    two_homes r;
    {
        model::thread late([&] { (void)r.rig.system.order().register_ready(r.old); });
        (void)r.rig.system.stop(r.old);
        r.be_reborn();
    }
    r.run_to_the_end();
}

TACTUS_MODEL_TEST(life, DF_1_a_late_resume, scenario::preempted(2)) {
    two_homes r;
    model::require(r.rig.system.suspend(r.old, tactus::suspension::await));
    {
        model::thread late([&] { (void)r.rig.system.resume(r.old, tactus::suspension::await); });
        (void)r.rig.system.stop(r.old);
        r.run_first_and_be_reborn();
    }
    r.run_to_the_end();
}

TACTUS_MODEL_TEST(life, DF_1_a_late_send, scenario::preempted(2)) {
    two_homes r;
    {
        model::thread late([&] { actor_scheduler::tell(r.old, note{0}); });
        (void)r.rig.system.stop(r.old);
        r.run_first_and_be_reborn();
    }
    r.run_to_the_end();
}
