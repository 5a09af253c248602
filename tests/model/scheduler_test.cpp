// SPDX-License-Identifier: Apache-2.0
//
// The kernel as a whole: two workers, actors and a sender from outside. Every message is handled or
// is a dead letter, once; actors run one at a time; nothing leaks (CO-2, MC-3).
//
// Bounds: too large for an exhaustive search but for the smallest; otherwise random and PCT
// samples, as each says.
#include "scenario.hpp"
#include "scheduler_rig.hpp"

namespace port = tactus::port;
namespace model = tactus::port::model;
using scenario::note;
using scenario::scheduler_rig;
using tactus::actor_scheduler;
using tactus::mailbox_index;
using tactus::system_kind;
using tactus::system_message;

namespace {

void two_workers_two_actors() {
    scheduler_rig r({.workers = 2});
    const mailbox_index a = r.spawn();
    const mailbox_index b = r.spawn();
    {
        model::thread first([&] { r.run(0, 5); });
        model::thread second([&] { r.run(1, 5); });
        actor_scheduler::tell(a, note{0});
        actor_scheduler::tell(b, note{1});
        actor_scheduler::tell(a, note{2});
    }
    r.run_to_the_end();
    model::require(r.handled[0] == 1 && r.handled[1] == 1 && r.handled[2] == 1);
}

void stopped_under_a_sender() {
    scheduler_rig r({.workers = 2});
    const mailbox_index a = r.spawn();
    {
        model::thread first([&] { r.run(0, 2); });
        model::thread second([&] { (void)r.system.stop(a); });
        actor_scheduler::tell(a, note{0});
        actor_scheduler::tell(a, note{1});
    }
    r.run_to_the_end();
    for (unsigned n = 0; n < 2; ++n)
        model::require(r.handled[n] + r.events.dead[n].load(std::memory_order_relaxed) == 1,
                       "handled, or a dead letter");
    model::require(r.events.closed.load(std::memory_order_relaxed) == 1);
    model::require(r.system.live_count() == 0);
}

// A task is executed although the worker was about to sleep. The worker's loop is the real one.
void a_task_for_a_worker_about_to_sleep() {
    scheduler_rig r({.workers = 1});
    port::atomic<std::uint32_t> stop{0};
    tactus::worker_task_of t([&] { stop.store(1, std::memory_order_relaxed); });
    model::thread worker([&] { r.system.run_until(r.system.worker_at(0), stop); });
    model::require(r.system.execute(t));
}

/// Tells somebody that it was called.
struct signaller {
    port::atomic<std::uint32_t>* called;
    explicit signaller(port::atomic<std::uint32_t>& flag) : called(&flag) {}
    void receive(tactus::turn&, tactus::envelope&) const {
        called->store(1, std::memory_order_relaxed);
    }
};

// A worker that runs a task does not count as one that searches: another is woken for other work,
// though the task never ends before that is done.
void a_task_that_waits_for_an_actor() {
    scheduler_rig r({.workers = 2});
    port::atomic<std::uint32_t> stop{0};
    port::atomic<std::uint32_t> called{0};
    const mailbox_index a = r.system.spawn<signaller>({}, called).value();
    tactus::worker_task_of t([&] {
        while (called.load(std::memory_order_relaxed) == 0)
            port::yield();
        stop.store(1, std::memory_order_relaxed);
        r.system.wake_workers();
    });
    model::thread first([&] { r.system.run_until(r.system.worker_at(0), stop); });
    model::thread second([&] { r.system.run_until(r.system.worker_at(1), stop); });
    model::require(r.system.execute(t));
    actor_scheduler::tell(a, note{0});
}

model::options long_runs(std::uint64_t runs) {
    model::options how = scenario::by_priorities(runs);
    how.step_limit = 100'000;
    return how;
}

/// A system message to an actor whose slot begins its next life meanwhile.
void system_message_to_an_old_life() {
    scheduler_rig r({.workers = 1, .slots = 1});
    const mailbox_index old = r.spawn();
    system_message m;
    m.kind = system_kind::terminate;
    mailbox_index next;
    {
        model::thread late([&] { (void)r.system.send_system(old, m); });
        (void)r.system.stop(old);
        if (const auto spawned = r.system.spawn<scheduler_rig::actor>({}, r))
            next = *spawned;
    }
    const unsigned before = r.handled_system;
    r.run_to_the_end();
    if (next.valid()) {
        model::require(r.handled_system == before, "meant for another");
        model::require(r.system.slots().find(next) != nullptr, "the next life ended with it");
    }
}

/// A reference of an earlier system with the same number meets a slot that is being made.
template <class Tell>
void a_reference_to_a_slot_in_the_making(Tell&& tell) {
    scheduler_rig r({.workers = 1, .slots = 1});
    const mailbox_index old = mailbox_index::make(r.system.system_number(), 0, 1'000);
    {
        model::thread other([&] { (void)r.spawn(); });
        tell(r.system, old);
    }
    r.run_to_the_end();
    model::require(r.handled[0] == 0);
    model::require(r.events.dead[0].load(std::memory_order_relaxed) +
                       r.events.lost.load(std::memory_order_relaxed) ==
                   1);
}

/// Supervision lets an actor go while the run ends that has held a continuation back.
void a_continuation_held_by_supervision() {
    scheduler_rig r({.workers = 1, .slots = 1});
    const mailbox_index a = r.spawn();
    model::require(r.system.suspend(a, tactus::suspension::await));
    model::require(r.system.suspend(a, tactus::suspension::supervision));
    system_message m;
    m.kind = system_kind::continuation;
    model::require(r.system.send_system(a, m));
    {
        model::thread other([&] { (void)r.system.resume(a, tactus::suspension::supervision); });
        r.run(0, 1);
    }
    r.run_to_the_end();
    model::require(r.handled_system == 1, "left behind");
}

/// A system message from outside while the system ends.
void a_system_message_while_the_system_ends() {
    scheduler_rig r({.workers = 1, .slots = 1});
    const mailbox_index a = r.spawn();
    static unsigned freed;
    freed = 0;
    system_message m;
    m.kind = system_kind::unwatch;
    m.done = [](system_message&) noexcept { ++freed; };
    {
        model::thread other([&] { (void)r.system.send_system(a, m); });
        r.system.begin_stop();
        const tactus::worker::binding bound(r.system.worker_at(0));
        r.system.finish_stop(r.system.worker_at(0));
    }
    model::require(freed == 1, "neither handled nor refused");
    model::require(r.system.live_count() == 0, "an actor is left");
}

/// The next life's registration is not the old one's to take back.
void an_unregister_of_an_old_life() {
    scheduler_rig r({.workers = 1, .slots = 1});
    const mailbox_index old = r.spawn();
    bool sent = false;
    {
        model::thread late([&] { (void)r.system.order().unregister(old); });
        (void)r.system.stop(old);
        if (const auto next = r.system.spawn<scheduler_rig::actor>({}, r)) {
            actor_scheduler::tell(*next, note{0});
            sent = true;
        }
    }
    r.run_to_the_end();
    model::require(r.handled[0] == (sent ? 1u : 0u), "waits in a lane, or was taken out");
}

// The same with a request that is not a message.
void a_request_for_an_old_life(bool (*request)(actor_scheduler&, mailbox_index)) {
    scheduler_rig r({.workers = 1, .slots = 1});
    const mailbox_index old = r.spawn();
    mailbox_index next;
    {
        model::thread late([&] { (void)request(r.system, old); });
        (void)r.system.stop(old);
        if (const auto spawned = r.system.spawn<scheduler_rig::actor>({}, r))
            next = *spawned;
    }
    r.run_to_the_end();
    if (!next.valid())
        return;
    actor_scheduler::tell(next, note{0});
    r.run_to_the_end();
    model::require(r.handled[0] == 1, "the next life was meant");
}

}  // namespace

TACTUS_MODEL_TEST(scheduler, CO2_a_worker_and_a_sender, scenario::preempted(4)) {
    scheduler_rig r({.workers = 1});
    const mailbox_index a = r.spawn();
    {
        model::thread worker([&] { r.run(0, 2); });
        actor_scheduler::tell(a, note{0});
        actor_scheduler::tell(a, note{1});
    }
    r.run_to_the_end();
    model::require(r.handled[0] == 1 && r.handled[1] == 1);
}

// A user message waits in the ready lane; the system message moves it to cancel, once (LN-3).
// CO-2, TC-F12: both see that something has a deadline, and one finds it gone.
TACTUS_MODEL_TEST(scheduler, CO2_two_workers_and_one_with_a_deadline, scenario::preempted(2)) {
    scheduler_rig r({.workers = 2});
    actor_scheduler::tell(r.spawn(), note{0}, {.deadline = 5});
    {
        model::thread other([&] { r.run(1, 1); });
        r.run(0, 1);
    }
    r.run_to_the_end();
    model::require(r.handled[0] == 1);
}

TACTUS_MODEL_TEST(scheduler, LN3_promoted_under_a_worker, scenario::preempted(4)) {
    scheduler_rig r({.workers = 1});
    const mailbox_index a = r.spawn();
    system_message m;
    m.kind = system_kind::watch;
    actor_scheduler::tell(a, note{0});
    {
        model::thread worker([&] { r.run(0, 1); });
        model::require(r.system.send_system(a, m));
    }
    r.run_to_the_end();
    model::require(r.handled[0] == 1 && r.handled_system == 1);
}

// Held back and let go by one thread, sent to by another, run by a third.
TACTUS_MODEL_TEST(scheduler, ME2_suspended_and_resumed_under_a_worker, scenario::preempted(2)) {
    scheduler_rig r({.workers = 1});
    const mailbox_index a = r.spawn();
    {
        model::thread worker([&] { r.run(0, 2); });
        model::thread holder([&] {
            (void)r.system.suspend(a, tactus::suspension::supervision);
            (void)r.system.resume(a, tactus::suspension::supervision);
        });
        actor_scheduler::tell(a, note{0});
    }
    r.run_to_the_end();
    model::require(r.handled[0] == 1);
}

// IN-5: a run sees what the middleware that it calls was made of.
TACTUS_MODEL_TEST(scheduler, IN5_middleware_installed_under_a_run, scenario::every_interleaving()) {
    struct counting {
        port::plain<unsigned> made{0};
        unsigned calls = 0;
        tactus::verdict before(tactus::turn&, tactus::envelope&) {
            model::require(made.read() == 1);
            ++calls;
            return tactus::verdict::proceed;
        }
        void after(tactus::turn&, tactus::envelope&, const tactus::handled&) {}
    } user;
    scheduler_rig r({.workers = 1});
    const mailbox_index a = r.spawn();
    tactus::middleware_of wrapped(user);
    tactus::middleware* const members[] = {&wrapped};
    const tactus::middleware_chain chain{members};
    actor_scheduler::tell(a, note{0});
    {
        model::thread worker([&] { r.run(0, 1); });
        user.made.write(1);
        r.system.set_middleware(&chain);
    }
    model::require(r.handled[0] == 1 && user.calls <= 1);
    r.system.set_middleware(nullptr);
}

// OH-1: a hook that finds a shard finds it made; beside a sink that comes, a run and a sender from
// outside count each message once at the most.
TACTUS_MODEL_TEST(scheduler, OH1_a_sink_is_set_under_a_run, scenario::preempted(1)) {
    struct sink_type final : tactus::metrics_sink {
        void counter(const tactus::metric_info& what, std::string_view,
                     std::uint64_t total) noexcept override {
            if (&what == &tactus::info_of(tactus::metric::enqueued))
                enqueued = total;
            if (&what == &tactus::info_of(tactus::metric::dequeued))
                dequeued = total;
        }
        void gauge(const tactus::metric_info&, std::string_view, std::uint64_t) noexcept override {}
        void histogram(const tactus::metric_info&, std::string_view,
                       const tactus::histogram_sums&) noexcept override {}
        std::uint64_t enqueued = 9;
        std::uint64_t dequeued = 9;
    } sink;
    scheduler_rig r({.workers = 1});
    const mailbox_index a = r.spawn();
    actor_scheduler::tell(a, note{0});
    {
        model::thread worker([&] { r.run(0, 1); });
        model::thread sender([&] { actor_scheduler::tell(a, note{1}); });
        model::require(r.system.set_metrics_sink(&sink));
        model::require(r.system.collect_metrics());
    }
    r.run_to_the_end();
    model::require(r.handled[0] == 1 && r.handled[1] == 1);
    model::require(r.system.collect_metrics());
    model::require(sink.enqueued <= 1 && sink.dequeued <= 2);
    model::require(r.system.set_metrics_sink(nullptr));
}

// A system that ends while somebody outside sends to it: delivered, refused or not found.
TACTUS_MODEL_TEST(scheduler, MC3_the_system_ends_under_a_sender, scenario::preempted(2)) {
    auto* r = model::make<scheduler_rig>(scheduler_rig::size{.workers = 1});
    const mailbox_index a = r->spawn();
    model::thread sender([&] { actor_scheduler::tell(a, note{0}); });
    model::dispose(r);
}

TACTUS_MODEL_TEST(scheduler, CO2_two_workers_two_actors_and_a_sender, scenario::at_random(3'000)) {
    two_workers_two_actors();
}
TACTUS_MODEL_TEST(scheduler, CO2_two_workers_two_actors_and_a_sender_pct,
                  scenario::by_priorities(3'000)) {
    two_workers_two_actors();
}
TACTUS_MODEL_TEST(scheduler, ME5_stopped_under_a_sender_and_a_run, scenario::at_random(3'000)) {
    stopped_under_a_sender();
}
TACTUS_MODEL_TEST(scheduler, LN7_a_task_for_a_worker_about_to_sleep, long_runs(2'000)) {
    a_task_for_a_worker_about_to_sleep();
}
TACTUS_MODEL_TEST(scheduler, LN7_a_task_that_waits_for_an_actor, long_runs(2'000)) {
    a_task_that_waits_for_an_actor();
}
TACTUS_MODEL_TEST(scheduler, RG2_a_system_message_never_reaches_the_next_life,
                  scenario::preempted(4)) {
    system_message_to_an_old_life();
}

TACTUS_MODEL_TEST(scheduler, RG2_a_reference_to_a_slot_in_the_making, scenario::preempted(2)) {
    a_reference_to_a_slot_in_the_making(
        [](actor_scheduler&, mailbox_index to) { actor_scheduler::tell(to, note{0}); });
}
// tell() of a worker takes the short way, which looks at the number of slots by itself.
TACTUS_MODEL_TEST(scheduler, RG2_a_worker_sends_to_a_slot_in_the_making, scenario::preempted(2)) {
    a_reference_to_a_slot_in_the_making([](actor_scheduler& s, mailbox_index to) {
        const tactus::worker::binding bound(s.worker_at(0));
        s.tell_from(s.worker_at(0), to, note{0}, {});
    });
}
TACTUS_MODEL_TEST(scheduler, RG2_forwarded_to_a_slot_in_the_making, scenario::preempted(2)) {
    a_reference_to_a_slot_in_the_making([](actor_scheduler& s, mailbox_index to) {
        tactus::envelope* const e = s.wrap(to, note{0});
        model::require(e != nullptr);
        s.forward(to, *e);
    });
}
TACTUS_MODEL_TEST(scheduler, SQ4_a_continuation_held_by_supervision, scenario::preempted(3)) {
    a_continuation_held_by_supervision();
}
TACTUS_MODEL_TEST(scheduler, SQ2_a_system_message_while_the_system_ends, scenario::preempted(3)) {
    a_system_message_while_the_system_ends();
}

// find() and the change of the state word are two steps; the word says which life it belongs to.
TACTUS_MODEL_TEST(scheduler, RG2_a_stop_never_reaches_the_next_life, scenario::preempted(2)) {
    a_request_for_an_old_life([](actor_scheduler& s, mailbox_index who) { return s.stop(who); });
}
TACTUS_MODEL_TEST(scheduler, RG2_an_unregister_never_reaches_the_next_life,
                  scenario::preempted(2)) {
    an_unregister_of_an_old_life();
}
TACTUS_MODEL_TEST(scheduler, RG2_a_suspend_never_reaches_the_next_life, scenario::preempted(2)) {
    a_request_for_an_old_life([](actor_scheduler& s, mailbox_index who) {
        return s.suspend(who, tactus::suspension::supervision);
    });
}
