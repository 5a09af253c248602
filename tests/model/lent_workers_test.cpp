// SPDX-License-Identifier: Apache-2.0
//
// Workers without threads of their own: lent to an executor that rejects, standing by for one that
// blocks, and dispatchers that are added meanwhile (EX-1, EX-5, EX-8, MC-3).
//
// A worker's runs follow each other: every handler writes one plain cell of the worker, so that two
// runs nothing orders are a race, whatever actors they run.
//
// Bounds: two threads with three preemptions, three with samples.
#include <tactus/dispatch/lent_workers.hpp>

#include <array>
#include <optional>

#include "scenario.hpp"
#include "scheduler_rig.hpp"

namespace port = tactus::port;
namespace model = tactus::port::model;
using scenario::note;
using scenario::scheduler_rig;
using tactus::actor_scheduler;
using tactus::mailbox_index;
using tactus::worker_task;

namespace {

/// One place, for the one worker there is; refuses as often as it is told.
class fickle final : public tactus::executor {
public:
    explicit fickle(unsigned refusals) : refusals_(refusals) {}

    [[nodiscard]] bool submit(worker_task& t, const tactus::submit_hints&) noexcept override {
        const port::lock_guard held(mutex_);
        model::require(waiting_ == nullptr, "a worker is submitted once at a time");
        if (refusals_ > 0) {
            --refusals_;
            return false;
        }
        waiting_ = &t;
        return true;
    }
    void notify_rejected(worker_task&, unsigned) noexcept override {}
    bool run_one() {
        worker_task* t = nullptr;
        {
            const port::lock_guard held(mutex_);
            t = std::exchange(waiting_, nullptr);
        }
        return t != nullptr && t->run().is_ok();
    }

private:
    port::mutex mutex_;
    unsigned refusals_;
    worker_task* waiting_ = nullptr;
};

struct lent_rig {
    explicit lent_rig(unsigned refusals)
        : on(refusals),
          lent(rig.system, *rig.system.dispatcher_at(0), on, {.memory = &rig.memory}) {}

    struct actor {
        explicit actor(lent_rig& r) : all(&r) {}
        void receive(tactus::turn&, tactus::envelope& e) const {
            all->worker_runs.write(all->worker_runs.read() + 1);
            ++all->rig.handled[e.get_if<note>()->number];
        }
        lent_rig* all;
    };
    [[nodiscard]] mailbox_index spawn() { return rig.system.spawn<actor>({}, *this).value(); }

    scheduler_rig rig{{.workers = 1}};
    port::plain<unsigned> worker_runs{0};
    fickle on;
    tactus::lent_workers lent;
};

/// A sender, and a thread of the executor; then retries until nothing is left to retry.
void rejected_under_a_sender(unsigned refusals) {
    lent_rig r(refusals);
    const mailbox_index a = r.spawn();
    const mailbox_index b = r.spawn();
    {
        model::thread runner([&] {
            for (int i = 0; i < 2; ++i) {
                if (!r.on.run_one())
                    port::yield();
            }
        });
        actor_scheduler::tell(a, note{0});
        actor_scheduler::tell(b, note{1});
    }
    while (r.on.run_one() || r.lent.needs_retry())
        r.lent.retry();
    model::require(r.rig.handled[0] == 1 && r.rig.handled[1] == 1, "stranded");
    model::require(r.lent.parked_count() == 0 && r.lent.stop());
}

model::options samples(std::uint64_t runs) {
    model::options how = scenario::by_priorities(runs);
    how.step_limit = 100'000;
    return how;
}

struct flag final : tactus::waker {
    port::atomic<std::uint32_t> called{0};
    void wake() noexcept override { called.fetch_add(1, std::memory_order_relaxed); }
    [[nodiscard]] unsigned count() const { return called.load(std::memory_order_relaxed); }
};

}  // namespace

// EX-1: accepted at once, at the third attempt, and only after it was parked, once or twice.
TACTUS_MODEL_TEST(lent_workers, EX1_accepted_under_a_sender, samples(2'000)) {
    rejected_under_a_sender(0);
}
TACTUS_MODEL_TEST(lent_workers, EX1_rejected_twice, samples(2'000)) {
    rejected_under_a_sender(2);
}
TACTUS_MODEL_TEST(lent_workers, EX1_parked_under_a_sender, samples(2'000)) {
    rejected_under_a_sender(3);
}
TACTUS_MODEL_TEST(lent_workers, EX8_parked_twice_under_a_sender, samples(2'000)) {
    rejected_under_a_sender(6);
}

// EX-1: the retry by time comes while the worker is parked, or just before.
TACTUS_MODEL_TEST(lent_workers, EX1_retried_by_another_thread, samples(4'000)) {
    lent_rig r(3);
    const mailbox_index a = r.spawn();
    {
        model::thread runner([&] { (void)r.on.run_one(); });
        model::thread keeper([&] { r.lent.retry(); });
        actor_scheduler::tell(a, note{0});
    }
    while (r.on.run_one() || r.lent.needs_retry())
        r.lent.retry();
    model::require(r.rig.handled[0] == 1, "stranded");
    model::require(r.lent.stop());
}

// CO-5: what a task did is seen by who waits for the end.
TACTUS_MODEL_TEST(lent_workers, CO5_what_it_did_is_seen_when_it_has_stopped, samples(500)) {
    lent_rig r(0);
    actor_scheduler::tell(r.spawn(), note{0});
    {
        model::thread runner([&] { model::require(r.on.run_one()); });
        if (r.lent.stopped())
            model::require(r.worker_runs.read() == 1);
    }
    model::require(r.lent.stop());
}

// EX-5: a worker stands by while somebody sends: it is woken, or does not stand by.
TACTUS_MODEL_TEST(lent_workers, EX5_one_that_stands_by_is_woken, samples(2'000)) {
    scheduler_rig r({.workers = 2});
    const mailbox_index a = r.spawn();
    tactus::worker_lanes& lanes = r.system.worker_at(1).lanes();
    flag woken;
    bool stands_by = false;
    {
        model::thread sender([&] { actor_scheduler::tell(a, note{0}); });
        stands_by = r.system.order().stand_by(lanes, woken);
    }
    model::require(!stands_by || woken.count() == 1, "nobody would start it");
    r.system.order().take_back(lanes, stands_by);
    r.run_to_the_end();
    model::require(r.handled[0] == 1);
}

// EX-5: it stands down while somebody sends: exactly one of the two has it afterwards.
TACTUS_MODEL_TEST(lent_workers, EX5_standing_down_under_a_sender, samples(2'000)) {
    scheduler_rig r({.workers = 2});
    const mailbox_index a = r.spawn();
    tactus::worker_lanes& lanes = r.system.worker_at(1).lanes();
    flag woken;
    model::require(r.system.order().stand_by(lanes, woken));
    bool down = false;
    {
        model::thread sender([&] { actor_scheduler::tell(a, note{0}); });
        down = r.system.order().stand_down(lanes);
    }
    model::require(woken.count() == (down ? 0U : 1U));
    r.system.order().take_back(lanes, !down);
    r.run_to_the_end();
    model::require(r.handled[0] == 1);
}

// EX-4: who samples is called by the first worker that wakes, or was told that not all sleep.
TACTUS_MODEL_TEST(lent_workers, EX4_a_watcher_is_called_when_somebody_wakes, samples(2'000)) {
    scheduler_rig r({.workers = 1});
    const mailbox_index a = r.spawn();
    tactus::worker_lanes& lanes = r.system.worker_at(0).lanes();
    flag woken;
    flag watcher;
    r.system.order().lend(lanes, woken);
    model::require(r.system.order().rest(lanes));
    bool watches = false;
    {
        model::thread sender([&] { actor_scheduler::tell(a, note{0}); });
        watches = r.system.order().idle().watch(watcher, 1);
    }
    model::require(woken.count() == 1);
    model::require(watcher.count() == (watches ? 1U : 0U));
    r.system.order().take_back(lanes, true);
    r.run_to_the_end();
}

// DR-5: who finds a dispatcher finds it made.
TACTUS_MODEL_TEST(lent_workers, DR5_a_dispatcher_is_made_before_it_is_found, samples(500)) {
    scheduler_rig r({.workers = 1});
    model::thread adds([&] {
        model::require(r.system
                           .add_dispatcher({.ring_capacity = 2,
                                            .fresh_capacity = 2,
                                            .queue_capacity = 2,
                                            .keyed_capacity = 1})
                           .has_value());
    });
    if (tactus::dispatcher* d = r.system.dispatcher_at(1))
        model::require(d->attach(0) && d->inhabitants() == 1);
}

// DF-47: a dump that finds the supply of a dispatcher's threads finds it constructed.
TACTUS_MODEL_TEST(lent_workers, DF47_a_supply_is_made_before_it_is_found, samples(500)) {
    struct supply_type final : tactus::worker_supply {
        void blocking_begins(tactus::worker&) noexcept override {}
        void blocking_ends(tactus::worker&) noexcept override {}
        [[nodiscard]] const char* state_name(std::uint32_t) const noexcept override {
            return name.read();
        }
        tactus::port::plain<const char*> name;
    } supply;
    scheduler_rig r({.workers = 1});
    tactus::dispatcher& d = *r.system.dispatcher_at(0);
    {
        model::thread makes([&] {
            supply.name.write("running");
            d.supply(&supply);
        });
        if (const tactus::worker_supply* found = d.supply())
            model::require(found->state_name(0) != nullptr);
    }
    d.supply(nullptr);
}
