// SPDX-License-Identifier: Apache-2.0
//
// The ends of jobs: what one carries ends once, after its last use, whoever cancels, runs, arms
// again or closes; and who asks with an old handle is told of its own job (CN-1, CN-2, CN-6, SC-6,
// SC-13, SH-1, TM-1, K2, K3).
//
// Bounds: a whole scheduler and kernel; two threads with two or three preemptions.
#include <tactus/scheduler/pending_delay.hpp>

#include <memory>
#include <optional>

#include "job_rig.hpp"
#include "scenario.hpp"

namespace port = tactus::port;
namespace model = tactus::port::model;
using scenario::bound;
using scenario::counting_waker;
using scenario::deaf;
using scenario::shared_clock;
using tactus::duration;
using tactus::job_mode;
using tactus::job_state;

namespace {

using rig = scenario::job_rig<>;
using spare_rig = scenario::job_rig<shared_clock, bound::none>;

/// What is counted of a thing that moves and ends; not ordered, or twice, is a race.
struct life {
    port::plain<unsigned> used{0};
    port::plain<unsigned> ended{0};

    [[nodiscard]] bool is_over() const { return ended.read() == 1; }
};

/// A closure or message with an end.
class mortal {
public:
    explicit mortal(life& of) noexcept : of_(&of) {}
    mortal(mortal&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
    mortal(const mortal&) noexcept {}  // a copy counts nothing
    mortal& operator=(const mortal&) = delete;
    ~mortal() {
        if (of_ == nullptr)
            return;
        of_->ended.write(of_->ended.read() + 1);
        of_->used.write(of_->used.read());  // after its last use
    }
    void operator()(const tactus::execution_batch& b) const {
        model::require(of_->ended.read() == 0, "it is used before its end");
        of_->used.write(of_->used.read() + b.runs);
    }

private:
    life* of_ = nullptr;
};

constexpr duration a_ms = duration::from_ms(1);

/// A job whose function waits for a worker; `meanwhile` is what happens while that one runs it.
template <class Meanwhile>
void a_function_that_ends(job_mode mode, Meanwhile&& meanwhile) {
    const auto r = std::make_unique<rig>();
    life of;
    const auto made =
        r->timers.add_function({.mode = mode, .first = a_ms, .period = a_ms}, mortal(of));
    model::require(made.has_value());
    r->pass();
    {
        model::thread worker([&] { r->kernel.run(0, 2); });
        meanwhile(*r, *made);
    }
    r->kernel.run_to_the_end();
    model::require(of.is_over() && r->is_empty());
}

}  // namespace

// ---- functions

TACTUS_MODEL_TEST(job_end, CN2_a_function_cancelled_while_it_waits_or_runs,
                  scenario::preempted(3)) {
    a_function_that_ends(job_mode::fixed_rate, [](rig& r, const tactus::cancellable& which) {
        model::require(r.timers.cancel(which));
    });
}
TACTUS_MODEL_TEST(job_end, CN2_a_function_fired_again_and_cancelled, scenario::preempted(2)) {
    a_function_that_ends(job_mode::fixed_rate, [](rig& r, const tactus::cancellable& which) {
        r.pass();
        model::require(r.timers.cancel(which));
    });
}
TACTUS_MODEL_TEST(job_end, CN6_a_function_cancelled_while_it_is_armed_again,
                  scenario::preempted(3)) {
    a_function_that_ends(job_mode::fixed_delay, [](rig& r, const tactus::cancellable& which) {
        model::require(r.timers.cancel(which));
    });
}
TACTUS_MODEL_TEST(job_end, SH1_a_function_of_a_scheduler_that_closes, scenario::preempted(3)) {
    a_function_that_ends(job_mode::fixed_rate, [](rig& r, const tactus::cancellable&) {
        model::require(r.timers.close());
    });
}

// ---- closing

// SH-1, SC-6: registered before the close and ended by it, or refused, or ended by who came late.
TACTUS_MODEL_TEST(job_end, SH1_registered_while_it_closes, scenario::preempted(3)) {
    const auto r = std::make_unique<spare_rig>();
    const auto to = r->kernel.system.spawn<deaf>({}).value();
    life of;
    {
        model::thread closing([&] { (void)r->timers.close(); });
        const auto made = r->timers.schedule_once(a_ms, to, mortal(of));
        if (!made)
            model::require(made.error().code == tactus::scheduler_errc::closed);
    }
    model::require(of.is_over() && r->is_empty());
}
TACTUS_MODEL_TEST(job_end, SH1_armed_again_while_it_closes, scenario::preempted(3)) {
    const auto r = std::make_unique<spare_rig>();
    const auto to = r->kernel.system.spawn<deaf>({}).value();
    life of;
    const auto made = r->timers.schedule_with_fixed_delay(a_ms, a_ms, to, mortal(of));
    model::require(made.has_value());
    r->pass();
    {
        model::thread worker([&] { r->kernel.run(0, 2); });
        model::require(r->timers.close());
    }
    r->kernel.run_to_the_end();
    model::require(of.is_over() && r->is_empty());
    model::require(r->timers.state_of(*made) == job_state::cancelled);
}

// ---- wakers

// SC-13: cancelled before who holds the lock has put it in: it is not woken any more.
TACTUS_MODEL_TEST(job_end, CN2_a_wake_cancelled_on_its_way_in, scenario::preempted(2)) {
    const auto r = std::make_unique<spare_rig>();
    {
        model::thread firing([&] {
            r->pass();
            r->pass();
        });
        std::optional<counting_waker> w(std::in_place);
        tactus::timer_target target{.wake = &*w};
        const auto armed = r->timers.arm(target, duration::zero());
        model::require(armed.has_value());
        const bool cancelled = r->timers.cancel(*armed);
        model::require(w->woken.read() == (cancelled ? 0U : 1U));
        w.reset();
    }
    model::require(r->is_empty());
}
TACTUS_MODEL_TEST(job_end, SC13_a_delay_dropped_on_its_way_in, scenario::preempted(2)) {
    const auto r = std::make_unique<spare_rig>();
    {
        model::thread firing([&] {
            r->pass();
            r->pass();
        });
        std::optional<counting_waker> w(std::in_place);
        std::optional<tactus::pending_delay> rest(std::in_place, r->timers, a_ms, &*w);
        rest.reset();
        model::require(w->woken.read() <= 1);
        w.reset();
    }
    model::require(r->is_empty());
}

// DF-29: a waker that takes until another timer, due with it, has been cancelled: the cancel does
// not wait for it, and what it cancelled is not woken, though who fires has it in its list.
namespace {

struct waker_that_takes_time final : tactus::waker {
    port::atomic<std::uint32_t> may_go{0};
    void wake() noexcept override {
        while (may_go.load(std::memory_order_relaxed) == 0)
            port::yield();
    }
};

template <class Cancel>
void cancelled_beside_a_slow_waker(Cancel&& cancel) {
    const auto r = std::make_unique<rig>();
    waker_that_takes_time slow;
    tactus::timer_target first{.wake = &slow};
    model::require(r->timers.arm(first, a_ms).has_value());
    cancel(*r, [&] { slow.may_go.store(1, std::memory_order_relaxed); });
    model::require(r->is_empty());
}

}  // namespace

TACTUS_MODEL_TEST(job_end, CN2_a_wake_cancelled_while_another_is_called, scenario::preempted(3)) {
    cancelled_beside_a_slow_waker([](rig& r, auto&& let_it_go) {
        std::optional<counting_waker> w(std::in_place);
        tactus::timer_target target{.wake = &*w};
        const auto armed = r.timers.arm(target, a_ms);
        model::require(armed.has_value());
        model::thread firing([&] { r.pass(); });
        model::require(r.timers.cancel(*armed));
        model::require(!r.timers.cancel(*armed) && w->woken.read() == 0);
        w.reset();
        let_it_go();
    });
}
TACTUS_MODEL_TEST(job_end, SC13_a_delay_dropped_while_another_is_called, scenario::preempted(3)) {
    cancelled_beside_a_slow_waker([](rig& r, auto&& let_it_go) {
        std::optional<counting_waker> w(std::in_place);
        std::optional<tactus::pending_delay> rest(std::in_place, r.timers, a_ms, &*w);
        model::thread firing([&] { r.pass(); });
        rest.reset();
        model::require(w->woken.read() == 0);
        w.reset();
        let_it_go();
    });
}
// Cancelled, or called before that: whichever of the two comes first.
TACTUS_MODEL_TEST(job_end, CN2_a_wake_cancelled_when_it_is_due, scenario::preempted(3)) {
    const auto r = std::make_unique<rig>();
    {
        std::optional<counting_waker> w(std::in_place);
        tactus::timer_target target{.wake = &*w};
        const auto armed = r->timers.arm(target, a_ms);
        model::require(armed.has_value());
        model::thread firing([&] { r->pass(); });
        const bool cancelled = r->timers.cancel(*armed);
        model::require(w->woken.read() == (cancelled ? 0U : 1U));
        w.reset();
    }
    model::require(r->is_empty());
}

// ---- old handles

namespace {

/// A function has run; its cell goes to another job while somebody asks what became of it. Who
/// finds that it is over sees what it did.
template <class Before, class Again>
void an_old_handle_is_asked(Before&& before, Again&& again) {
    const auto r = std::make_unique<rig>();
    life of;
    before(*r);
    {
        mortal uses(of);
        const auto made = r->timers.schedule_once_fn(
            a_ms, [&uses](const tactus::execution_batch& b) { uses(b); });
        model::require(made.has_value());
        {
            model::thread worker([&] {
                r->pass();
                r->kernel.run(0, 2);
                again(*r);
            });
            if (r->timers.state_of(*made) == job_state::completed) {
                model::require(of.used.read() == 1);
                model::require(!r->timers.cancel(*made));
            }
        }
        model::require(r->timers.state_of(*made) == job_state::completed);
        model::require(!r->timers.cancel(*made));
    }
    model::require(r->timers.close());
    r->kernel.run_to_the_end();
    model::require(of.is_over() && r->is_empty());
}

void nothing(rig&) {}

}  // namespace

TACTUS_MODEL_TEST(job_end, CN1_an_old_handle_while_its_cell_is_a_timer, scenario::preempted(3)) {
    an_old_handle_is_asked(nothing, [](rig& r) {
        model::require(r.timers.schedule_once(a_ms, {}, scenario::note{1}).has_value());
    });
}
TACTUS_MODEL_TEST(job_end, CN1_an_old_handle_while_its_cell_is_filled, scenario::preempted(3)) {
    an_old_handle_is_asked(nothing, [](rig& r) {
        life other;
        const auto made = r.timers.schedule_once(a_ms, {}, mortal(other));
        model::require(made.has_value() && r.timers.cancel(*made) && other.is_over());
    });
}
TACTUS_MODEL_TEST(job_end, CN1_an_old_handle_while_its_cell_carries_a_copy,
                  scenario::preempted(3)) {
    an_old_handle_is_asked(
        [](rig& r) {
            const auto to = r.kernel.system.spawn<deaf>({}).value();
            model::require(
                r.timers.schedule_at_fixed_rate(a_ms * 2, a_ms, to, scenario::note{1}).has_value());
        },
        [](rig& r) { r.pass(); });
}

// TM-1: who owns a timer and hears that it is not pending any more can arm it again at once. Until
// who fires it has passed it on, it is.
TACTUS_MODEL_TEST(job_end, TM1_not_pending_once_it_can_be_armed_again, scenario::preempted(2)) {
    const auto r = std::make_unique<spare_rig>();
    const auto armed = r->timers.arm({.mode = job_mode::fixed_delay,
                                      .first = a_ms,
                                      .period = a_ms,
                                      .to = r->kernel.system.spawn<deaf>({}).value()});
    model::require(armed.has_value());
    tactus::timer_handle mine = *armed;
    {
        model::thread firing([&] { r->pass(); });
        if (!r->timers.pending(mine)) {
            const auto again = r->timers.rearm(mine, r->time.now() + a_ms * 5);
            model::require(again.has_value() && *again != mine);
            mine = *again;
        }
    }
    model::require(r->timers.cancel(mine));
    r->kernel.run_to_the_end();
    model::require(r->is_empty());
}
