// SPDX-License-Identifier: Apache-2.0
//
// Suspensions: whatever ends one, its time, a signal, or the end of its actor, it ends once; none
// is left behind, and no timer (CO-4, CO-6, MC-3).
//
// Who is resumed writes to a plain cell of its own: twice at once is a race, twice in a row shows
// in the count.
//
// Bounds: two threads; without a bound where timers are a list under a lock, with three preemptions
// where they are the scheduler itself.
#include <tactus/dispatch/suspensions.hpp>

#include <memory>

#include <tactus/time/manual_clock.hpp>

#include "job_rig.hpp"
#include "model_memory.hpp"
#include "naive_timers.hpp"
#include "scenario.hpp"

namespace port = tactus::port;
namespace model = tactus::port::model;
using tactus::duration;
using tactus::mailbox_index;
using tactus::resume_condition;
using tactus::suspend_limit_action;
using tactus::suspend_reason;

namespace {

constexpr std::uint64_t key = 7;
constexpr mailbox_index actor{1, 1};

/// Each end is written down by who brings it about.
struct counting_resumer final : tactus::resumer {
    void resume_suspended(mailbox_index) noexcept override { ends.write(ends.read() + 1); }
    void suspension_limit(mailbox_index, suspend_limit_action) noexcept override {
        ends.write(ends.read() + 1);
    }
    port::plain<unsigned> ends{0};
};

/// One suspension with a limit, over timers of whatever kind.
struct rig {
    rig(const tactus::clock& time, tactus::timer_service& timers)
        : all({.memory = &memory, .time = &time, .timers = &timers, .to = &to, .capacity = 1}) {}
    [[nodiscard]] bool suspend() {
        return all
            .add(actor, suspend_reason::user_defined, resume_condition::signal(key),
                 {duration::from_ms(1), suspend_limit_action::stop})
            .has_value();
    }
    void ended_once() {
        model::require(to.ends.read() == 1);
        model::require(all.waiting_count() == 0);
        model::require(all.metrics().suspended == 1);
        model::require(all.metrics().resumed == 1);
    }

    scenario::model_memory memory;
    counting_resumer to;
    tactus::suspensions all;
};

/// Timers in a list under a lock.
struct naive_parts {
    scenario::shared_clock time;
    tactus_test::naive_timers<1> timers{&time};
};
struct naive_rig : naive_parts, rig {
    naive_rig() : rig(time, timers) {}
    void pass() {
        time.advance(duration::from_ms(1));
        timers.run_due(time.now());
    }
    [[nodiscard]] bool is_empty() { return timers.active_count() == 0; }
};

/// The scheduler.
struct real_rig : scenario::job_rig<scenario::shared_clock>, rig {
    real_rig() : rig(time, timers) {}
};

}  // namespace

TACTUS_MODEL_TEST(suspensions, CO6_a_signal_against_the_limit, scenario::every_interleaving()) {
    const auto r = std::make_unique<naive_rig>();
    model::require(r->suspend());
    std::size_t signalled = 0;
    {
        model::thread signals([&] { signalled = r->all.signal(key); });
        r->pass();
    }
    model::require(signalled <= 1);
    r->ended_once();
    model::require(r->is_empty());
}

// A time that is over before there is a record of it.
TACTUS_MODEL_TEST(suspensions, CO4_time_passes_while_it_is_added, scenario::every_interleaving()) {
    const auto r = std::make_unique<naive_rig>();
    {
        model::thread passes([&] { r->pass(); });
        model::require(r->suspend());
    }
    r->pass();  // if it was armed after that
    r->ended_once();
    model::require(r->is_empty());
}

// The actor's end against its limit: the end of the actor is told to nobody.
TACTUS_MODEL_TEST(suspensions, CO6_the_end_of_the_actor_against_the_limit,
                  scenario::every_interleaving()) {
    const auto r = std::make_unique<naive_rig>();
    model::require(r->suspend());
    bool forgotten = false;
    {
        model::thread ends([&] { forgotten = r->all.forget(actor); });
        r->pass();
    }
    model::require(r->to.ends.read() == (forgotten ? 0u : 1u));
    model::require(r->all.waiting_count() == 0);
    model::require(r->is_empty());
}

TACTUS_MODEL_TEST(suspensions, CO6_a_signal_against_the_limit_of_the_scheduler,
                  scenario::preempted(3)) {
    const auto r = std::make_unique<real_rig>();
    model::require(r->suspend());
    {
        model::thread signals([&] { (void)r->all.signal(key); });
        r->pass();
    }
    r->ended_once();
    model::require(r->is_empty());
}

TACTUS_MODEL_TEST(suspensions, CO4_time_passes_while_it_is_added_to_the_scheduler,
                  scenario::preempted(3)) {
    const auto r = std::make_unique<real_rig>();
    {
        model::thread passes([&] { r->pass(); });
        model::require(r->suspend());
    }
    r->pass();
    r->ended_once();
    model::require(r->is_empty());
}

// Closing ends no suspension: its time does, or what comes after.
TACTUS_MODEL_TEST(suspensions, SH1_closing_against_the_limit, scenario::preempted(3)) {
    const auto r = std::make_unique<real_rig>();
    model::require(r->suspend());
    {
        model::thread closes([&] { (void)r->timers.close(); });
        r->pass();
    }
    (void)r->all.signal(key);
    r->ended_once();
    model::require(r->is_empty());
}
