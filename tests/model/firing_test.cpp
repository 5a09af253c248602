// SPDX-License-Identifier: Apache-2.0
//
// Firing and the time it waits for: no deadline is lost between who registers, who sleeps and who
// fires (SC-6, SC-10, SC-13, LN-7, SH-1).
//
// Bounds: a whole scheduler and kernel; two threads with three preemptions, three with two, or
// samples.
#include <array>
#include <memory>
#include <optional>

#include "job_rig.hpp"
#include "scenario.hpp"

namespace port = tactus::port;
namespace model = tactus::port::model;
using scenario::bound;
using scenario::counting_waker;
using scenario::shared_clock;
using tactus::duration;
using tactus::instant;
using tactus::timer_target;

namespace {

using rig = scenario::job_rig<shared_clock>;
using spare_rig = scenario::job_rig<tactus::manual_clock, bound::none>;

/// As coordinator::await_work, of one that keeps the time: it knows of a deadline when it sleeps,
/// or is woken. When neither, it sleeps forever: a deadlock.
template <class Rig>
void sleep_until_there_is_a_deadline(Rig& r) {
    tactus::idle_workers& idle = r.kernel.system.order().idle();
    tactus::sleeper place;
    while (r.timers.next_deadline() == instant::never()) {
        model::require(idle.prepare_sleep(place, false), "nobody else keeps the time");
        if (r.timers.next_deadline() != instant::never()) {
            if (idle.cancel_sleep(place, false))
                (void)idle.stop_search();
            return;
        }
        if (idle.sleep(place, -1))
            (void)idle.stop_search();
    }
}

template <class Rig>
void a_deadline_while_a_worker_goes_to_sleep() {
    const auto r = std::make_unique<Rig>();
    counting_waker w;
    timer_target target{.wake = &w};
    {
        model::thread worker([&] { sleep_until_there_is_a_deadline(*r); });
        model::require(r->timers.arm(target, duration::from_ms(1)).has_value());
    }
    r->pass();
    model::require(w.woken.read() == 1 && r->is_empty());
}

}  // namespace

// LN-7, SC-6: the worker sees the deadline, or is told of it.
TACTUS_MODEL_TEST(firing, LN7_a_deadline_while_a_worker_goes_to_sleep, scenario::preempted(3)) {
    a_deadline_while_a_worker_goes_to_sleep<spare_rig>();
}
TACTUS_MODEL_TEST(firing, LN7_nor_is_it_lost_where_there_is_a_quota, scenario::preempted(3)) {
    a_deadline_while_a_worker_goes_to_sleep<scenario::job_rig<>>();
}

// The deadline is put in by a third one, which holds the lock for something else.
TACTUS_MODEL_TEST(firing, LN7_a_deadline_left_to_another_while_a_worker_goes_to_sleep,
                  scenario::by_priorities(5'000)) {
    const auto r = std::make_unique<spare_rig>();
    counting_waker w;
    timer_target target{.wake = &w};
    {
        model::thread worker([&] { sleep_until_there_is_a_deadline(*r); });
        model::thread other([&] { (void)r->timers.last_batch(); });
        model::require(r->timers.arm(target, duration::from_ms(1)).has_value());
    }
    r->pass();
    model::require(w.woken.read() == 1 && r->is_empty());
}

// SC-10: what came due for the second is fired by it, or by who fires already, and once.
TACTUS_MODEL_TEST(firing, SC10_due_in_between_is_fired_by_one_of_two, scenario::preempted(3)) {
    const auto r = std::make_unique<rig>();
    std::array<counting_waker, 2> w;
    std::array<timer_target, 2> targets{timer_target{.wake = &w[0]}, timer_target{.wake = &w[1]}};
    model::require(r->timers.arm(targets[0], duration::from_ms(1)).has_value());
    model::require(r->timers.arm(targets[1], duration::from_ms(2)).has_value());
    r->time.advance(duration::from_ms(1));
    const instant first = r->time.now();
    {
        model::thread other([&] { r->timers.run_due(first); });
        r->pass();
    }
    model::require(w[0].woken.read() == 1 && w[1].woken.read() == 1 && r->is_empty());
}
// The same of three: whose time is the latest decides.
TACTUS_MODEL_TEST(firing, SC10_due_in_between_is_fired_by_one_of_three, scenario::preempted(2)) {
    const auto r = std::make_unique<rig>();
    std::array<counting_waker, 2> w;
    std::array<timer_target, 2> targets{timer_target{.wake = &w[0]}, timer_target{.wake = &w[1]}};
    model::require(r->timers.arm(targets[0], duration::from_ms(1)).has_value());
    model::require(r->timers.arm(targets[1], duration::from_ms(3)).has_value());
    r->time.advance(duration::from_ms(1));
    const instant first = r->time.now();
    {
        model::thread a([&] { r->timers.run_due(first); });
        model::thread b([&] { r->pass(); });
        r->pass();
    }
    model::require(w[0].woken.read() == 1 && w[1].woken.read() == 1 && r->is_empty());
}
// What was registered in between, by who then finds that somebody fires.
TACTUS_MODEL_TEST(firing, SC10_registered_in_between_is_fired_by_one_of_two,
                  scenario::preempted(3)) {
    const auto r = std::make_unique<scenario::job_rig<shared_clock, bound::none>>();
    counting_waker w;
    timer_target target{.wake = &w};
    r->time.advance(duration::from_ms(1));
    {
        model::thread other([&] { r->timers.run_due(r->time.now()); });
        model::require(r->timers.arm(target, duration::from_ms(1)).has_value());
        r->pass();
    }
    model::require(w.woken.read() == 1 && r->is_empty());
}

// SC-13: who waits is told of the close when who fires has ended, which does.
TACTUS_MODEL_TEST(firing, SC13_closed_while_another_fires, scenario::preempted(2)) {
    const auto r = std::make_unique<rig>();
    std::array<counting_waker, 2> w;
    std::array<timer_target, 2> targets{timer_target{.wake = &w[0]}, timer_target{.wake = &w[1]}};
    model::require(r->timers.arm(targets[0], duration::from_ms(1)).has_value());
    model::require(r->timers.arm(targets[1], duration::from_ms(2)).has_value());
    {
        model::thread other([&] { r->pass(); });
        model::require(r->timers.close());
        model::require(w[1].woken.read() == 1);
    }
    model::require(w[0].woken.read() == 1 && w[1].woken.read() == 1 && r->is_empty());
}

// SH-1: what is due is delivered before the rest is cancelled, whoever fires meanwhile.
TACTUS_MODEL_TEST(firing, SH1_what_is_due_is_delivered_whoever_fires, scenario::preempted(3)) {
    const auto r = std::make_unique<rig>();
    const auto made =
        r->timers.schedule_once(duration::from_ms(1), r->kernel.spawn(), scenario::note{1});
    model::require(made.has_value());
    r->time.advance(duration::from_ms(1));
    const instant before = instant::epoch();
    {
        model::thread other([&] { r->timers.run_due(before); });
        (void)r->timers.shutdown();
    }
    r->kernel.run_to_the_end();
    model::require(r->kernel.handled[1] == 1 && r->is_empty());
}
