// SPDX-License-Identifier: Apache-2.0
//
// Jobs: cancel against fire, and the ends of cells (CN-1, CN-2, CN-4, BT-2, K2, K3).
//
// Bounds: a whole scheduler and kernel; two threads with three preemptions.
#include <tactus/scheduler/pending_delay.hpp>

#include <array>
#include <memory>
#include <optional>

#include "job_rig.hpp"
#include "scenario.hpp"

namespace port = tactus::port;
namespace model = tactus::port::model;
using scenario::counting_waker;
using scenario::deaf;
using tactus::cancellable;
using tactus::duration;
using tactus::job_mode;
using rig = scenario::job_rig<>;

namespace {

/// A copy says that it was made, its end that it ended: neither may race the other.
struct watched {
    explicit watched(port::plain<unsigned>& at) noexcept : cell(&at) {}
    watched(const watched& other) noexcept : cell(other.cell) { (void)cell->read(); }
    watched& operator=(const watched&) = delete;
    ~watched() { cell = nullptr; }
    port::plain<unsigned>* cell;
};

/// The last to go writes where copies read.
struct original : watched {
    using watched::watched;
    original(const original& other) noexcept : watched(other), is_copy(true) {}
    original(original&& other) noexcept : watched(other), is_copy(other.is_copy) {
        other.is_copy = true;  // moved from: not the original any more
    }
    original& operator=(const original&) = delete;
    ~original() {
        if (!is_copy)
            cell->write(cell->read() + 1);
    }
    bool is_copy = false;
};

}  // namespace

// CN-2: woken or cancelled; and when a cancel says it came too late, it has been woken.
TACTUS_MODEL_TEST(job, CN2_woken_or_cancelled_and_over_when_the_cancel_returns,
                  scenario::preempted(3)) {
    const auto r = std::make_unique<rig>();
    counting_waker w;
    tactus::timer_target target{.wake = &w};
    const auto armed = r->timers.arm(target, duration::from_ms(1));
    model::require(armed.has_value());
    {
        model::thread firing([&] { r->pass(); });
        const bool cancelled = r->timers.cancel(*armed);
        model::require(w.woken.read() == (cancelled ? 0U : 1U));
    }
    model::require(r->timers.active_count() == 0 && r->timers.cell_count() == 0);
}

// SC-13: what a delay's end leaves behind was not touched by who told it after that.
TACTUS_MODEL_TEST(job, SC13_a_delay_ends_when_it_was_told_that_it_is_due, scenario::preempted(3)) {
    const auto r = std::make_unique<rig>();
    counting_waker w;
    {
        std::optional<tactus::pending_delay> rest(std::in_place, r->timers, duration::from_ms(1),
                                                  &w);
        model::thread firing([&] { r->pass(); });
        rest.reset();
        model::require(w.woken.read() <= 1);
        w.woken.write(5);
    }
    model::require(w.woken.read() == 5);
    model::require(r->timers.active_count() == 0 && r->timers.cell_count() == 0);
}

TACTUS_MODEL_TEST(job, SC13_a_delay_ends_while_the_scheduler_is_closed, scenario::preempted(3)) {
    const auto r = std::make_unique<rig>();
    counting_waker w;
    {
        std::optional<tactus::pending_delay> rest(std::in_place, r->timers, duration::from_ms(1),
                                                  &w);
        model::thread closing([&] { (void)r->timers.close(); });
        rest.reset();
        model::require(w.woken.read() <= 1);
        w.woken.write(5);
    }
    model::require(w.woken.read() == 5);
    model::require(r->timers.active_count() == 0 && r->timers.cell_count() == 0);
}

// CN-2, K2: what a periodic job copies is not ended under its hands.
TACTUS_MODEL_TEST(job, K2_the_original_ends_after_its_last_copy_was_made, scenario::preempted(2)) {
    const auto r = std::make_unique<rig>();
    port::plain<unsigned> cell{0};
    auto made = r->timers.add({.mode = job_mode::fixed_rate,
                               .first = duration::from_ms(1),
                               .period = duration::from_ms(1),
                               .to = r->kernel.system.spawn<deaf>({}).value()},
                              original(cell));
    model::require(made.has_value());
    {
        model::thread firing([&] { r->pass(); });
        model::require(r->timers.cancel(*made));  // of a periodic job it always succeeds
    }
    r->kernel.run_to_the_end();
    model::require(r->timers.active_count() == 0 && r->timers.cell_count() == 0);
    model::require(cell.read() == 1);
}

// CN-1: exactly one of two cancels succeeds.
TACTUS_MODEL_TEST(job, CN1_one_of_two_cancels_succeeds, scenario::preempted(3)) {
    const auto r = std::make_unique<rig>();
    counting_waker w;
    tactus::timer_target target{.wake = &w};
    const auto armed = r->timers.arm(target, duration::from_ms(1));
    model::require(armed.has_value());
    bool other_did = false;
    bool did = false;
    {
        model::thread other([&] { other_did = r->timers.cancel(*armed); });
        did = r->timers.cancel(*armed);
    }
    model::require(did != other_did);
    model::require(r->timers.active_count() == 0 && r->timers.cell_count() == 0);
}

// SC-6: registering while another thread holds the lock.
TACTUS_MODEL_TEST(job, SC6_both_are_registered_and_both_come, scenario::preempted(2)) {
    const auto r = std::make_unique<rig>();
    std::array<counting_waker, 2> w;
    std::array<tactus::timer_target, 2> targets{tactus::timer_target{.wake = &w[0]},
                                                tactus::timer_target{.wake = &w[1]}};
    {
        model::thread other(
            [&] { model::require(r->timers.arm(targets[0], duration::from_ms(1)).has_value()); });
        model::require(r->timers.arm(targets[1], duration::from_ms(1)).has_value());
    }
    r->pass();
    model::require(w[0].woken.read() == 1 && w[1].woken.read() == 1);
    model::require(r->timers.cell_count() == 0);
}

namespace {

/// K3: a cell goes to another job when nobody refers to it any more.
void a_cell_is_used_again(job_mode mode) {
    const auto r = std::make_unique<rig>();
    const tactus::job_request every_ms{.mode = mode,
                                       .first = duration::from_ms(1),
                                       .period = duration::from_ms(1),
                                       .to = r->kernel.spawn(),
                                       .after_sent = mode == job_mode::fixed_delay};
    const auto made = r->timers.add(every_ms, scenario::note{1});
    model::require(made.has_value());
    r->pass();  // a copy is in the mailbox
    std::optional<cancellable> next;
    {
        model::thread worker([&] { r->kernel.run(0, 2); });
        model::require(r->timers.cancel(*made));
        const auto again = r->timers.add(every_ms, scenario::note{2});
        model::require(again.has_value());
        next = *again;
    }
    model::require(r->timers.cancel(*next));
    r->kernel.run_to_the_end();
    model::require(r->timers.active_count() == 0 && r->timers.cell_count() == 0);
    model::require(r->kernel.handled[1] <= 1 && r->kernel.handled[2] == 0);
}

}  // namespace

TACTUS_MODEL_TEST(job, K3_a_cell_is_used_again_when_nobody_refers_to_it, scenario::preempted(2)) {
    a_cell_is_used_again(job_mode::fixed_rate);
}
// SC-26
TACTUS_MODEL_TEST(job, K3_nor_does_who_counts_from_the_sending, scenario::preempted(2)) {
    a_cell_is_used_again(job_mode::fixed_delay);
}

// CN-4: a copy that was not handled before the cancel is not handled after it.
TACTUS_MODEL_TEST(job, CN4_nothing_is_handled_after_a_cancel, scenario::preempted(2)) {
    const auto r = std::make_unique<rig>();
    const auto made = r->timers.add({.mode = job_mode::fixed_delay,
                                     .first = duration::from_ms(1),
                                     .period = duration::from_ms(1),
                                     .to = r->kernel.spawn()},
                                    scenario::note{1});
    model::require(made.has_value());
    r->pass();
    {
        model::thread worker([&] { r->kernel.run(0, 2); });
        model::require(r->timers.cancel(*made));
    }
    const unsigned before = r->kernel.handled[1];
    r->pass();
    r->kernel.run_to_the_end();
    model::require(r->kernel.handled[1] == before);
    model::require(r->timers.active_count() == 0 && r->timers.cell_count() == 0);
}

namespace {

/// A function with a state: two runs at once, or unordered, are a race.
struct counting_function {
    port::plain<unsigned>* runs;
    void operator()(const tactus::execution_batch& b) const { runs->write(runs->read() + b.runs); }
};

}  // namespace

// The runs of a function follow each other, on whatever worker.
TACTUS_MODEL_TEST(job, SC10_runs_of_a_function_follow_each_other, scenario::preempted(1)) {
    const auto r = std::make_unique<rig>(2);
    port::plain<unsigned> runs{0};
    const auto made = r->timers.schedule_at_fixed_rate_fn(
        duration::from_ms(1), duration::from_ms(1), counting_function{&runs});
    model::require(made.has_value());
    r->pass();
    {
        model::thread worker([&] { r->kernel.run(0, 2); });
        r->pass();
        r->kernel.run(1, 2);
    }
    r->kernel.run_to_the_end();
    model::require(runs.read() == 2);
    model::require(r->timers.cancel(*made));
    model::require(r->timers.cell_count() == 0);
}

// CN-1: who sees that it is completed sees what it did.
TACTUS_MODEL_TEST(job, CN1_completed_is_after_its_run, scenario::preempted(2)) {
    const auto r = std::make_unique<rig>();
    port::plain<unsigned> runs{0};
    const auto made = r->timers.schedule_once_fn(duration::from_ms(1), counting_function{&runs});
    model::require(made.has_value());
    r->pass();
    {
        model::thread worker([&] { r->kernel.run(0, 2); });
        if (r->timers.state_of(*made) == tactus::job_state::completed)
            model::require(runs.read() == 1);
    }
    r->kernel.run_to_the_end();
}
