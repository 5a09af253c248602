// SPDX-License-Identifier: Apache-2.0
//
// What a worker keeps is moved to the global lane by another thread while the worker goes on: one
// dispatch per registration whoever takes it, no life of another dispatcher is moved, and the
// thread that moves an actor sees it made (DF-6).
//
// Bounds: two threads without a bound or with two preemptions, three with two.
#include <tactus/dispatch/dispatcher.hpp>

#include <array>
#include <optional>

#include "model_memory.hpp"
#include "scenario.hpp"
#include "scheduler_rig.hpp"

namespace port = tactus::port;
namespace model = tactus::port::model;
namespace ticket = tactus::ticket;
using scenario::note;
using scenario::scheduler_rig;
using tactus::actor_scheduler;
using tactus::default_priority;
using tactus::kept_look;
using tactus::lane;
using tactus::mailbox_index;
using tactus::slot;
using tactus::worker_lanes;

namespace {

/// Two workers of a dispatcher, without threads, and actors that are taken instead of run.
class rig {
public:
    static constexpr std::uint32_t slot_count = 2;

    rig() {
        for (auto& w : lanes_) {
            w.emplace(worker_lanes::options{.memory = &memory_,
                                            .stale = &order.staleness(),
                                            .ring_capacity = 2,
                                            .fresh_capacity = 2,
                                            .later_capacity = 2,
                                            .keyed_capacity = 1,
                                            .number = worker_number_++});
            order.add_worker(*w);
        }
        order.set_visitor(*lanes_[0]);
    }
    [[nodiscard]] worker_lanes& worker(unsigned n) { return *lanes_[n]; }
    /// An actor that is made here.
    slot& make(bool fresh = false) {
        slot* s = slots.take(cache_);
        s->set_traits(default_priority, fresh);
        (void)slots.open(*s, false);
        return *s;
    }
    /// Worker 0 makes it ready.
    void make_ready(slot& s) {
        model::require(s.state().request_schedule(tactus::schedule_hint::user));
        order.submit_ready(s, &worker(0));
    }
    /// What that worker would run.
    slot* take(unsigned worker_number) {
        slot* s = order.next(worker(worker_number));
        if (s == nullptr)
            return nullptr;
        auto& runs = runs_[slots.number_of(*s)];
        runs.write(runs.read() + 1);  // a race unless runs follow each other
        return s;
    }
    /// As the second look at the run going on.
    std::uint32_t share() {
        kept_look seen{.step = worker(0).step()};
        return order.share_kept(worker(0), seen);
    }
    [[nodiscard]] unsigned runs_of(const slot& s) const { return runs_[slots.number_of(s)].read(); }

private:
    scenario::model_memory memory_;
    scenario::model_region<slot> slot_memory_{slot_count};

public:
    tactus::registry slots{{.memory = &slot_memory_, .capacity = slot_count, .magazine_size = 1}};
    tactus::coordinator order{{.memory = &memory_,
                               .slots = &slots,
                               .worker_count = 2,
                               .queue_capacity = 2,
                               .keyed_capacity = 1}};

private:
    tactus::slot_cache cache_{slots.shared()};
    std::uint32_t worker_number_ = 0;
    std::array<std::optional<worker_lanes>, 2> lanes_;
    std::array<port::plain<unsigned>, slot_count> runs_;
};

}  // namespace

TACTUS_MODEL_TEST(kept_sharing, DF_6_moved_while_its_worker_takes_it, scenario::preempted(3)) {
    rig r;
    slot& s = r.make();
    r.make_ready(s);
    {
        model::thread sharer([&] { (void)r.share(); });
        (void)r.take(0);
    }
    (void)r.take(0);
    (void)r.take(1);
    model::require(r.runs_of(s) == 1);
}

TACTUS_MODEL_TEST(kept_sharing, DF_6_moved_while_two_workers_take, scenario::preempted(2)) {
    rig r;
    slot& s = r.make();
    r.make_ready(s);
    {
        model::thread sharer([&] { (void)r.share(); });
        model::thread other([&] { (void)r.take(1); });
        (void)r.take(0);
    }
    (void)r.take(0);
    (void)r.take(1);
    model::require(r.runs_of(s) == 1);
}

// The thread that looks has seen nothing of the actor but the entry.
TACTUS_MODEL_TEST(kept_sharing, DF_6_actors_made_in_the_run_that_is_looked_at,
                  scenario::preempted(3)) {
    rig r;
    slot* made = nullptr;
    {
        model::thread sharer([&] { (void)r.share(); });
        made = &r.make();
        r.make_ready(*made);
    }
    (void)r.share();
    (void)r.take(1);
    model::require(r.runs_of(*made) == 1, "a later look has moved it");
}

TACTUS_MODEL_TEST(kept_sharing, DF_6_fresh_actors_made_in_the_run_that_is_looked_at,
                  scenario::preempted(2)) {
    rig r;
    std::array<slot*, 2> made{};
    kept_look seen{.step = r.worker(0).step()};
    {
        model::thread sharer([&] {
            (void)r.order.share_kept(r.worker(0), seen);
            (void)r.order.share_kept(r.worker(0), seen);
        });
        for (slot*& s : made) {
            s = &r.make(true);
            r.make_ready(*s);
        }
    }
    (void)r.order.share_kept(r.worker(0), seen);
    for (slot* s : made) {
        s = r.take(1);
        model::require(s != nullptr, "a later look has moved it");
    }
    model::require(r.runs_of(*made[0]) == 1 && r.runs_of(*made[1]) == 1);
}

// The worst of what a reader can see: the slot of one entry with the ticket of another, which that
// slot has again in its next life, at another dispatcher.
TACTUS_MODEL_TEST(kept_sharing, DF_6_an_entry_read_in_halves_and_a_life_elsewhere,
                  scenario::preempted(2)) {
    rig r;
    slot& a = r.make();
    slot& b = r.make();
    r.make_ready(a);
    model::require(r.take(0) == &a);
    (void)a.state().run_ended();
    const auto run = [&](slot& s) {
        r.make_ready(s);
        while (r.take(0) != &s)
            port::yield();  // it is on its way to the global lane
        (void)s.state().run_ended();
    };
    {
        model::thread sharer([&] { (void)r.share(); });
        run(a);  // its second ticket
        run(b);  // its first
        b.set_traits(default_priority, false, 1);
        (void)ticket::issue(b.ticket(), lane::ready);  // its second
    }
    model::require(r.take(1) == nullptr, "it belongs to another dispatcher");
}

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
        if (m.kind == tactus::system_kind::terminate)
            t.stop();
    }

private:
    void check() {
        model::require(tactus::worker::current()->home().number() == home_,
                       "runs on a foreign dispatcher");
        runs_.write(runs_.read() + 1);
    }

    port::plain<unsigned> runs_{0};
    scheduler_rig* rig_;
    std::uint32_t home_;
};

}  // namespace

// The receiver is stopped, and its slot's next life belongs to another dispatcher.
TACTUS_MODEL_TEST(kept_sharing, DF_6_stopped_and_reborn_elsewhere_under_a_look,
                  scenario::preempted(2)) {
    scheduler_rig r({.workers = 2, .slots = 1, .envelopes = 3});
    tactus::dispatcher& other = **r.system.add_dispatcher({.worker_count = 1,
                                                           .ring_capacity = 2,
                                                           .fresh_capacity = 2,
                                                           .queue_capacity = 2,
                                                           .keyed_capacity = 1});
    const mailbox_index old = *r.system.spawn<resident>({}, r, 0U);
    mailbox_index next;
    {
        const tactus::worker::binding bound(r.system.worker_at(0));
        actor_scheduler::tell(old, note{0});  // kept
    }
    {
        model::thread sharer([&] {
            worker_lanes& w = r.system.worker_at(0).lanes();
            kept_look seen{.step = w.step()};
            (void)r.system.order().share_kept(w, seen);
        });
        (void)r.system.stop(old);
        r.run(0, 1);
        const tactus::worker::binding bound(r.system.worker_at(0));
        if (const auto made = r.system.spawn<resident>({.dispatcher = 1}, r, 1U)) {
            next = *made;
            actor_scheduler::tell(next, note{1});
        }
    }
    r.run_to_the_end();
    if (next.valid()) {
        tactus::worker& w = other.worker_at(0);
        const tactus::worker::binding bound(w);
        while (r.system.run_one(w)) {
        }
        model::require(r.handled[1] == 1, "the next life has its message");
    }
    model::require(!r.system.is_alive(old));
}
