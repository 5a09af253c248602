// SPDX-License-Identifier: Apache-2.0
//
// Owned jobs: timers of actors, which their owner arms, arms again and cancels while another thread
// fires or closes (TM-1, TM-2, CN-1, CN-2, SC-22, SH-1, K2, K3).
//
// The owner is told by messages, each of which names a handle. Whatever happens at once, each
// handle it was ever given is told of once, or was cancelled, by it or by the close; one that was
// cancelled is told of at most once, and never by the name of the next; and nothing is left.
//
// Bounds: a whole scheduler and kernel; two threads with two or three preemptions.
#include <tactus/scheduler/scheduler.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "job_rig.hpp"
#include "scenario.hpp"

namespace model = tactus::port::model;
using scenario::bound;
using tactus::duration;
using tactus::job_mode;
using tactus::timer_due;
using tactus::timer_handle;

namespace {

// Rearming takes the lock where overflow is bounded, and leaves a note where it is not.
using quota_rig = scenario::job_rig<scenario::shared_clock>;
using spare_rig = scenario::job_rig<scenario::shared_clock, bound::none>;

constexpr duration a_ms = duration::from_ms(1);
constexpr duration later = duration::from_ms(5);

/// What an owner does with its timers, and what it is told.
template <class Rig>
class owner {
public:
    explicit owner(Rig& r) : rig_(r), me_(r.kernel.system.template spawn<ear>({}, *this).value()) {}

    [[nodiscard]] timer_handle arm(duration first, job_mode mode = job_mode::fixed_delay) {
        const auto made = rig_.timers.arm({.mode = mode,
                                           .first = first,
                                           .period = a_ms,
                                           .to = me_,
                                           .priority = tactus::timer_priority::high,
                                           .backlog_limit = 1,
                                           .burst_threshold = 1});
        model::require(made.has_value());
        return given_.emplace_back(*made);
    }
    bool cancel(timer_handle which) {
        const bool done = rig_.timers.cancel(which);
        if (done)
            cancelled_.push_back(which);
        return done;
    }
    /// As actors do: armed again if it was due, else replaced.
    [[nodiscard]] timer_handle arm_again(timer_handle which, duration after) {
        const auto next = rearm(which, after);
        if (next)
            return *next;
        model::require(cancel(which), "it has not ended, and is its owner's");
        return arm(after);
    }
    /// Nothing: it was not due, or has ended.
    std::optional<timer_handle> rearm(timer_handle which, duration after) {
        const auto next = rig_.timers.rearm(which, rig_.time.now() + after);
        if (!next) {
            model::require(next.error().code == tactus::scheduler_errc::closed);
            return std::nullopt;
        }
        if (*next != which)
            given_.push_back(*next);
        return *next;
    }
    /// Handles what it was told so far.
    void listen() { rig_.kernel.run_to_the_end(); }

    [[nodiscard]] unsigned told_of(timer_handle which) const {
        return static_cast<unsigned>(std::ranges::count(told_, which, &timer_due::which));
    }
    [[nodiscard]] const std::vector<timer_due>& told() const { return told_; }
    [[nodiscard]] bool was_cancelled(timer_handle which) const {
        return std::ranges::find(cancelled_, which) != cancelled_.end();
    }
    /// At the end, when every time has come.
    void require_each_ended_once() {
        listen();
        for (const timer_handle h : given_) {
            const unsigned told = told_of(h);
            model::require(told <= 1, "told once");
            model::require(told == 1 || was_cancelled(h), "told, or cancelled");
        }
        for (const timer_due& d : told_)
            model::require(std::ranges::count(given_, d.which) == 1, "by a handle it was given");
        const auto counted = rig_.timers.counted();
        // One that is cancelled on its way in is not registered.
        model::require(counted.registered <= given_.size());
        model::require(counted.registered + cancelled_.size() >= given_.size());
        model::require(counted.cancelled == cancelled_.size());
        model::require(rig_.is_empty(), "no cell is left, none was given back twice");
    }

private:
    /// The actor; runs on whatever thread is its worker.
    struct ear {
        explicit ear(owner& whose) : of(&whose) {}
        void receive(tactus::turn&, tactus::envelope& e) {
            of->told_.push_back(*e.get_if<timer_due>());
        }
        owner* of;
    };

    Rig& rig_;
    tactus::mailbox_index me_;
    std::vector<timer_handle> given_;
    std::vector<timer_handle> cancelled_;
    std::vector<timer_due> told_;
};

template <class Rig>
void cancelled_while_it_is_fired() {
    const auto r = std::make_unique<Rig>();
    owner o(*r);
    const timer_handle mine = o.arm(a_ms);
    {
        model::thread firing([&] { r->pass(); });
        model::require(o.cancel(mine), "it is its owner's, due or not");
        model::require(!o.cancel(mine) && !r->timers.pending(mine));
    }
    o.require_each_ended_once();
}

// Two of one tick: who fires has both in its list while it tells of the first.
template <class Rig>
void two_cancelled_while_they_are_fired() {
    const auto r = std::make_unique<Rig>();
    owner o(*r);
    const timer_handle first = o.arm(a_ms);
    const timer_handle second = o.arm(a_ms);
    {
        model::thread firing([&] { r->pass(); });
        model::require(o.cancel(second) && o.cancel(first));
    }
    o.require_each_ended_once();
}

// Replaced: what comes by the name of the old one is not the new one's.
template <class Rig>
void replaced_while_it_is_fired() {
    const auto r = std::make_unique<Rig>();
    owner o(*r);
    const timer_handle old = o.arm(a_ms);
    std::optional<timer_handle> next;
    {
        model::thread firing([&] { r->pass(); });
        model::require(o.cancel(old));
        next = o.arm(later);
    }
    o.listen();
    model::require(*next != old && o.told_of(*next) == 0, "its time has not come");
    r->time.advance(later);
    r->pass();
    o.listen();
    model::require(o.told_of(*next) == 1 && o.cancel(*next));
    o.require_each_ended_once();
}

template <class Rig>
void armed_again_while_it_is_fired() {
    const auto r = std::make_unique<Rig>();
    owner o(*r);
    const timer_handle old = o.arm(a_ms);
    std::optional<timer_handle> next;
    {
        model::thread firing([&] { r->pass(); });
        next = o.arm_again(old, later);
    }
    o.listen();
    model::require(*next == old || o.told_of(*next) == 0, "its time has not come");
    // About to be told when it was to be armed again: then it has been by now.
    if (*next == old) {
        model::require(o.told_of(old) == 1);
        next = o.rearm(old, later);
    }
    model::require(next.has_value() && *next != old);
    r->time.advance(later);
    r->pass();
    o.listen();
    model::require(o.told_of(*next) == 1 && o.cancel(*next));
    o.require_each_ended_once();
}

// It was told, and arms it again, while another one fires what is due: that or something else.
template <class Rig>
void told_and_armed_again_while_another_fires() {
    const auto r = std::make_unique<Rig>();
    owner o(*r);
    const timer_handle mine = o.arm(a_ms);
    r->pass();
    o.listen();
    model::require(o.told_of(mine) == 1);
    std::optional<timer_handle> next;
    {
        model::thread firing([&] { r->pass(); });
        next = o.rearm(mine, a_ms);
        model::require(next.has_value() && *next != mine);
    }
    r->pass();
    o.listen();
    model::require(o.told_of(*next) == 1 && o.cancel(*next));
    o.require_each_ended_once();
}

// The owner gives up what it has just armed again, due or not.
template <class Rig>
void armed_again_and_cancelled_while_another_fires() {
    const auto r = std::make_unique<Rig>();
    owner o(*r);
    const timer_handle mine = o.arm(a_ms);
    r->pass();
    {
        model::thread firing([&] { r->pass(); });
        const auto next = o.rearm(mine, duration::zero());
        model::require(next.has_value() && o.cancel(*next));
        model::require(!r->timers.cancel(mine), "an old handle");
    }
    o.require_each_ended_once();
}

// SC-22: it is so late that it is ended, by who fires it or by its owner.
template <class Rig>
void cancelled_while_it_is_found_late() {
    const auto r = std::make_unique<Rig>();
    owner o(*r);
    const timer_handle mine = o.arm(a_ms, job_mode::fixed_rate);
    r->time.advance(later);
    bool cancelled = false;
    {
        model::thread firing([&] { r->pass(); });
        cancelled = o.cancel(mine);
    }
    o.listen();
    const auto& told = o.told();
    model::require(told.size() <= 1 && (cancelled || !told.empty()));
    model::require(told.empty() || told.front().is_over != cancelled, "one of them has ended it");
    model::require(r->timers.counted().cancelled == 1);
    model::require(r->is_empty());
}

// SH-1: whatever its owner was about to do, it has ended, once, and nothing is left.
template <class Rig, class Act>
void closed_while_its_owner_acts(bool was_told, Act&& act) {
    const auto r = std::make_unique<Rig>();
    owner o(*r);
    const timer_handle mine = o.arm(a_ms);
    if (was_told)
        r->pass();
    timer_handle last = mine;
    {
        model::thread closing([&] { model::require(r->timers.close()); });
        last = act(o, mine);
    }
    model::require(!r->timers.pending(last) && !r->timers.cancel(last));
    o.listen();
    model::require(o.told_of(mine) == (was_told ? 1U : 0U));
    model::require(last == mine || o.told_of(last) == 0);
    model::require(r->timers.counted().cancelled == 1);
    model::require(r->is_empty());
}

template <class Rig>
void closed_while_it_is_armed_again() {
    closed_while_its_owner_acts<Rig>(
        true, [](owner<Rig>& o, timer_handle mine) { return o.rearm(mine, a_ms).value_or(mine); });
}
template <class Rig>
void closed_while_it_is_cancelled(bool was_told) {
    closed_while_its_owner_acts<Rig>(was_told, [](owner<Rig>& o, timer_handle mine) {
        (void)o.cancel(mine);
        return mine;
    });
}

// Closed while it is due: it is told, or not; its owner has nothing to do any more.
template <class Rig>
void closed_while_it_is_fired() {
    const auto r = std::make_unique<Rig>();
    owner o(*r);
    const timer_handle mine = o.arm(a_ms);
    {
        model::thread firing([&] { r->pass(); });
        model::require(r->timers.close());
    }
    o.listen();
    model::require(o.told().size() <= 1 && o.told_of(mine) == o.told().size());
    model::require(!o.cancel(mine) && !o.rearm(mine, a_ms));
    model::require(r->timers.counted().cancelled == 1);
    model::require(r->is_empty());
}

}  // namespace

/// The same with a quota, and without.
#define TACTUS_OWNED_TEST(name, body, preemptions)                                       \
    TACTUS_MODEL_TEST(owned, name, scenario::preempted(preemptions)) {                   \
        body<quota_rig>();                                                               \
    }                                                                                    \
    TACTUS_MODEL_TEST(owned, name##_without_a_quota, scenario::preempted(preemptions)) { \
        body<spare_rig>();                                                               \
    }                                                                                    \
    static_assert(true, "asks for a semicolon")

// ---- the owner cancels

TACTUS_OWNED_TEST(CN2_cancelled_while_it_is_fired, cancelled_while_it_is_fired, 3);
TACTUS_OWNED_TEST(K3_two_cancelled_while_they_are_fired, two_cancelled_while_they_are_fired, 2);
TACTUS_OWNED_TEST(SC22_cancelled_while_it_is_found_late, cancelled_while_it_is_found_late, 3);

// ---- the owner arms again

TACTUS_OWNED_TEST(TM1_replaced_while_it_is_fired, replaced_while_it_is_fired, 2);
TACTUS_OWNED_TEST(TM2_armed_again_while_it_is_fired, armed_again_while_it_is_fired, 2);
TACTUS_OWNED_TEST(TM1_told_and_armed_again, told_and_armed_again_while_another_fires, 2);
TACTUS_OWNED_TEST(CN2_armed_again_and_cancelled, armed_again_and_cancelled_while_another_fires, 2);

// ---- closing

TACTUS_OWNED_TEST(SH1_closed_while_it_is_armed_again, closed_while_it_is_armed_again, 3);
TACTUS_MODEL_TEST(owned, SH1_closed_while_it_is_cancelled, scenario::preempted(3)) {
    closed_while_it_is_cancelled<spare_rig>(false);
}
TACTUS_MODEL_TEST(owned, SH1_closed_while_it_is_cancelled_after_it_was_due,
                  scenario::preempted(3)) {
    closed_while_it_is_cancelled<spare_rig>(true);
}
TACTUS_MODEL_TEST(owned, SH1_closed_while_it_is_fired, scenario::preempted(2)) {
    closed_while_it_is_fired<spare_rig>();
}
