// SPDX-License-Identifier: Apache-2.0
//
// Run ring: each entry reaches the owner, a thief or the overflow exactly once, in order for each
// of them, with what the owner did before pushing it; also when the ring wraps (MC-3, LN-6).
//
// Bounds: the owner and a thief without a bound, or with four preemptions where it wraps; two
// thieves with two.
#include <tactus/dispatch/run_ring.hpp>

#include <array>

#include "scenario.hpp"

namespace port = tactus::port;
namespace model = tactus::port::model;
using tactus::lane_entry;
using tactus::run_ring;

namespace {

template <std::uint32_t Capacity>
class rig {
public:
    static constexpr unsigned count_max = 8;

    /// Each taker has its own list; entries have the numbers 1, 2, ...
    struct taker {
        std::array<unsigned, count_max> got{};
        unsigned count = 0;

        void take(lane_entry e, rig& r) {
            model::require(e.valid() && count < count_max);
            model::require(r.work[e.ticket].read() == e.ticket, "what came before the push");
            model::require(count == 0 || got[count - 1] < e.ticket, "out of order");
            got[count++] = e.ticket;
        }
    };

    void push(unsigned number) {
        work[number].write(number);
        const lane_entry e{number, number};
        ++pushed_;
        // As the coordinator does: the older half makes room, or the entry goes elsewhere.
        while (!ring.push(e)) {
            const std::uint32_t moved =
                ring.spill_half([&](lane_entry old) { overflow.take(old, *this); });
            if (moved == 0) {
                beside.take(e, *this);
                return;
            }
        }
    }
    void pop() {
        if (const lane_entry e = ring.pop(); e.valid())
            owner.take(e, *this);
    }
    void steal(taker& t, std::uint32_t max = Capacity) {
        ring.steal_half(max, [&](lane_entry e) { t.take(e, *this); });
    }
    /// At the end.
    void check_all(std::initializer_list<const taker*> thieves) {
        for (lane_entry e = ring.pop(); e.valid(); e = ring.pop())
            owner.take(e, *this);
        std::array<unsigned, count_max + 1> found{};
        const auto count = [&](const taker& t) {
            for (unsigned i = 0; i < t.count; ++i)
                ++found[t.got[i]];
        };
        count(owner);
        count(overflow);
        count(beside);
        for (const taker* t : thieves)
            count(*t);
        for (unsigned n = 1; n <= pushed_; ++n)
            model::require(found[n] == 1, "lost, or twice");
        model::require(ring.looks_empty());
    }

    std::array<run_ring::cell, Capacity> cells;
    run_ring ring{cells.data(), Capacity, true};
    std::array<port::plain<unsigned>, count_max + 1> work;
    taker owner;
    taker overflow;
    taker beside;

private:
    unsigned pushed_ = 0;
};

}  // namespace

TACTUS_MODEL_TEST(run_ring, MC3_the_owner_and_a_thief, scenario::every_interleaving()) {
    rig<4> r;
    rig<4>::taker stolen;
    {
        model::thread thief([&] { r.steal(stolen); });
        r.push(1);
        r.push(2);
        r.pop();
    }
    r.check_all({&stolen});
}

TACTUS_MODEL_TEST(run_ring, MC3_the_owner_and_a_thief_that_comes_again, scenario::preempted(4)) {
    rig<4> r;
    rig<4>::taker stolen;
    {
        model::thread thief([&] {
            r.steal(stolen);
            r.steal(stolen, 1);
        });
        r.push(1);
        r.push(2);
        r.push(3);
        r.pop();
        r.pop();
    }
    r.check_all({&stolen});
}

// Cells are written again while, or just after, a thief has read them.
TACTUS_MODEL_TEST(run_ring, MC3_it_wraps_under_a_thief, scenario::preempted(4)) {
    rig<2> r;
    rig<2>::taker stolen;
    {
        model::thread thief([&] {
            r.steal(stolen);
            r.steal(stolen);
        });
        for (unsigned n = 1; n <= 4; ++n) {
            r.push(n);
            if (n == 3)
                r.pop();
        }
    }
    r.check_all({&stolen});
}

TACTUS_MODEL_TEST(run_ring, MC3_one_cell_and_a_thief, scenario::preempted(4)) {
    rig<1> r;
    rig<1>::taker stolen;
    {
        model::thread thief([&] {
            r.steal(stolen);
            r.steal(stolen);
        });
        for (unsigned n = 1; n <= 3; ++n)
            r.push(n);
    }
    r.check_all({&stolen});
}

TACTUS_MODEL_TEST(run_ring, MC3_two_thieves, scenario::preempted(2)) {
    rig<2> r;
    rig<2>::taker first;
    rig<2>::taker second;
    {
        model::thread a([&] { r.steal(first); });
        model::thread b([&] { r.steal(second, 1); });
        r.push(1);
        r.push(2);
        r.pop();
        r.push(3);
    }
    r.check_all({&first, &second});
}

// A thief's own ring takes what it steals, and is robbed in turn.
TACTUS_MODEL_TEST(run_ring, MC3_a_thief_is_robbed, scenario::preempted(2)) {
    rig<4> r;
    rig<4>::taker stolen;
    rig<4>::taker kept;
    std::array<run_ring::cell, 4> cells;
    run_ring own(cells.data(), 4, true);
    {
        model::thread thief([&] {
            r.ring.steal_half(4, [&](lane_entry e) { model::require(own.push(e)); });
            if (const lane_entry e = own.pop(); e.valid())
                kept.take(e, r);
        });
        model::thread other([&] { own.steal_half(4, [&](lane_entry e) { stolen.take(e, r); }); });
        for (unsigned n = 1; n <= 3; ++n)
            r.push(n);
    }
    for (lane_entry e = own.pop(); e.valid(); e = own.pop())
        kept.take(e, r);
    r.check_all({&stolen, &kept});
}

TACTUS_MODEL_TEST(run_ring, MC3_three_thieves_and_many_entries, scenario::by_priorities(10'000)) {
    rig<2> r;
    std::array<rig<2>::taker, 3> stolen;
    {
        const auto rob = [&](unsigned i) {
            for (unsigned n = 0; n < 3; ++n)
                r.steal(stolen[i]);
        };
        model::thread a([&] { rob(0); });
        model::thread b([&] { rob(1); });
        model::thread c([&] { rob(2); });
        for (unsigned n = 1; n <= 7; ++n) {
            r.push(n);
            if (n % 2 == 0)
                r.pop();
        }
    }
    r.check_all({&stolen[0], &stolen[1], &stolen[2]});
}

// Weak exchanges that fail for no reason, and loads that come early.
TACTUS_MODEL_TEST(run_ring, MC3_a_thief_on_a_weak_machine, scenario::weakest(2)) {
    rig<2> r;
    rig<2>::taker stolen;
    {
        model::thread thief([&] { r.steal(stolen); });
        for (unsigned n = 1; n <= 3; ++n)
            r.push(n);
        r.pop();
    }
    r.check_all({&stolen});
}
