// SPDX-License-Identifier: Apache-2.0
//
// Cells under those who tell them: a parent learns of each report once and sees what its child did
// before; the one node is never sent while it is on its way; a shared cause is freed once (SQ-3,
// SV-2, MC-3).
#include <tactus/actor/cell.hpp>
#include <tactus/actor/cell_extras.hpp>

#include <array>

#include "scenario.hpp"
#include "scheduler_rig.hpp"

namespace port = tactus::port;
namespace model = tactus::port::model;
using scenario::scheduler_rig;
using tactus::cell;
using tactus::slot;

namespace {

/// A parent whose children are told apart by what they wrote before they reported.
struct family {
    explicit family(scheduler_rig& r) : rig(r) {}

    [[nodiscard]] slot& spawn(tactus::mailbox_index parent) {
        static constexpr tactus::behaviour table{
            .receive = [](tactus::turn&, void*,
                          tactus::envelope&) noexcept { return tactus::handled::ok(); },
            .receive_system =
                [](tactus::turn& t, void* state, tactus::system_message& m) noexcept {
                    auto* f = static_cast<family*>(cell::at(state).data.read());
                    if (m.kind == tactus::system_kind::supervise)
                        f->look(t, cell::at(state));
                    return tactus::handled::ok();
                },
        };
        slot* made = nullptr;
        model::require(rig.system
                           .spawn_as(table, {},
                                     [&](slot& s) {
                                         ::new (s.user_state()) cell(parent, 0);
                                         cell::of(s).data.write(this);
                                         made = &s;
                                     })
                           .has_value());
        return *made;
    }
    void look(tactus::turn&, cell& c) noexcept {
        const std::uint32_t told = c.take_orders();
        if ((told & cell::told_resume) != 0)
            ++resumed;
        if ((told & cell::wants_held) != 0)
            model::require(reason.read() == 5);
        if (waits_for_time && (told & cell::backs_off) == 0) {
            model::require(time.read() == 7);
            waits_for_time = false;
        }
        if ((told & cell::told_reports) == 0)
            return;
        tactus::registry& slots = rig.system.slots();
        cell::link next = c.take_reports(slots);
        while (next != cell::no_cell) {
            slot& child = slots.at(next);
            cell& from = cell::of(child);
            next = from.next_report.read();
            const std::uint32_t what = from.take_report();
            if ((what & cell::report_ended) != 0) {
                model::require(from.subject.read().generation == 77);
                ++ended;
            } else if ((what & cell::report_failed) != 0) {
                ++failed;
            }
        }
    }
    scheduler_rig& rig;
    port::plain<unsigned> reason{0};  // why it is to be held
    port::plain<unsigned> time{0};    // what who ends the wait did before
    bool waits_for_time = false;
    unsigned failed = 0;
    unsigned ended = 0;
    unsigned resumed = 0;
};

void end(family& f, slot& parent, slot& child) {
    cell& c = cell::of(child);
    c.subject.write({0, 77});
    c.report(f.rig.system, parent, cell::of(parent), child, cell::report_ended);
}

}  // namespace

// SV-2: two children end while their parent looks: both are seen, with what they wrote.
TACTUS_MODEL_TEST(cell, SV2_two_children_end_under_their_parent, scenario::preempted(1)) {
    scheduler_rig r({.workers = 1, .slots = 3});
    family f(r);
    slot& parent = f.spawn({});
    slot& one = f.spawn(r.system.slots().index_of(parent));
    slot& two = f.spawn(r.system.slots().index_of(parent));
    r.run_to_the_end();
    {
        model::thread first([&] { end(f, parent, one); });
        model::thread second([&] { end(f, parent, two); });
        r.run(0, 2);
    }
    r.run_to_the_end();
    model::require(f.ended == 2);
}

// SV-2: one that reported a failure ends before its parent has looked, or just then.
TACTUS_MODEL_TEST(cell, SV2_a_child_that_failed_ends_under_its_parent, scenario::preempted(3)) {
    scheduler_rig r({.workers = 1, .slots = 2});
    family f(r);
    slot& parent = f.spawn({});
    slot& child = f.spawn(r.system.slots().index_of(parent));
    r.run_to_the_end();
    {
        model::thread fails([&] {
            cell::of(child).report(r.system, parent, cell::of(parent), child, cell::report_failed);
            end(f, parent, child);
        });
        r.run(0, 2);
    }
    r.run_to_the_end();
    model::require(f.ended == 1 && f.failed <= 1);
}

// SQ-3: told by two while it looks: the node is on its way once, and nothing told is lost.
TACTUS_MODEL_TEST(cell, SQ3_told_by_two_while_it_looks, scenario::preempted(2)) {
    scheduler_rig r({.workers = 1, .slots = 1});
    family f(r);
    slot& place = f.spawn({});
    r.run_to_the_end();
    {
        model::thread other([&] { cell::of(place).tell(r.system, place, cell::told_resume); });
        model::thread third([&] {
            f.reason.write(5);
            cell::of(place).tell(r.system, place, cell::wants_held);
        });
        r.run(0, 2);
    }
    r.run_to_the_end();
    model::require(f.resumed == 1 && cell::of(place).is(cell::wants_held));
}

// SV-4: the wait for a restart is ended by a timer while its parent tells it something else: it
// learns that it is over, and sees what was done before.
TACTUS_MODEL_TEST(cell, SV4_a_wait_is_ended_while_it_looks, scenario::preempted(2)) {
    scheduler_rig r({.workers = 1, .slots = 1});
    family f(r);
    slot& place = f.spawn({});
    r.run_to_the_end();
    cell::of(place).set(cell::backs_off);
    f.waits_for_time = true;
    {
        model::thread timer([&] {
            f.time.write(7);
            cell::of(place).tell(r.system, place, 0, cell::backs_off);
        });
        model::thread parent([&] { cell::of(place).tell(r.system, place, cell::told_resume); });
        r.run(0, 2);
    }
    r.run_to_the_end();
    model::require(!f.waits_for_time && f.resumed == 1);
}

// A cause that two hold is freed once, after both have read it.
TACTUS_MODEL_TEST(failure_cause, a_shared_cause_is_freed_once, scenario::every_interleaving()) {
    scenario::model_memory memory;
    tactus::cause_ref mine =
        tactus::cause_ref::make(memory, tactus::failure_kind::returned, tactus::failure(7));
    tactus::cause_ref yours = mine;
    {
        model::thread other([&] {
            const tactus::cause_ref gone = std::move(yours);
            model::require(gone->code() == 7);
        });
        model::require(mine->code() == 7);
        mine = {};
    }
}

// SV-2: an actor fails again before its parent has looked at the first failure: the parent reads
// the latest it takes, each is taken once at most, and all are freed.
TACTUS_MODEL_TEST(cell, SV2_an_actor_fails_again_while_its_parent_takes_the_cause,
                  scenario::every_interleaving()) {
    scenario::model_memory memory;
    const auto why = [&](int code) {
        return tactus::cause_ref::make(memory, tactus::failure_kind::returned,
                                       tactus::failure(code));
    };
    tactus::reported_cause given;
    int last = 0;
    {
        model::thread fails([&] {
            given.put(why(1));
            given.put(why(2));
        });
        for (int i = 0; i < 2; ++i) {
            if (const tactus::cause_ref taken = given.take()) {
                model::require(taken->code() > last);
                last = taken->code();
            }
        }
    }
    const tactus::cause_ref left = given.take();
    model::require(left ? left->code() == 2 && last < 2 : last == 2);
}
