// SPDX-License-Identifier: Apache-2.0
//
// Deadline sleeper: a deadline that is added while the sleeper goes to sleep is seen by it, or
// wakes it (SC-36, LN-7, MC-3). A lost one is a deadlock: nobody else wakes it.
//
// The deadlines are an atomic that is looked at without a lock, as a timer phase may keep them;
// under a lock there are fewer ways.
//
// Bounds: two threads without a bound, three with two preemptions.
#include <tactus/dispatch/deadline_sleeper.hpp>

#include "scenario.hpp"

namespace port = tactus::port;
namespace model = tactus::port::model;
using tactus::deadline_sleeper;
using tactus::instant;

namespace {

/// Deadlines as bits, the nearest the lowest; and one who sleeps until they are all there.
struct rig {
    static constexpr std::uint32_t none = 0;

    [[nodiscard]] instant earliest() const {
        const std::uint32_t set = deadlines.load(std::memory_order_seq_cst);
        if ((set & 1U) != 0)
            return instant::from_ns(10);
        return (set & 2U) != 0 ? instant::from_ns(20) : instant::never();
    }
    void add(std::uint32_t which, std::uint64_t ns) {
        deadlines.fetch_or(which, std::memory_order_seq_cst);
        (void)place.deadline_added(instant::from_ns(ns));
    }
    /// As the driver's loop; time does not pass.
    void sleep_until_earliest_is(instant wanted) {
        for (;;) {
            const instant at = earliest();
            if (at == wanted)
                return;
            place.prepare(at);
            if (earliest() < at)
                place.stay();
            else
                model::require(place.sleep_until(-1));
        }
    }

    deadline_sleeper place;
    port::atomic<std::uint32_t> deadlines{none};
};

}  // namespace

TACTUS_MODEL_TEST(deadline_sleeper, SC36_a_deadline_while_it_goes_to_sleep,
                  scenario::every_interleaving()) {
    rig r;
    model::thread adder([&] { r.add(1, 10); });
    r.sleep_until_earliest_is(instant::from_ns(10));
}

TACTUS_MODEL_TEST(deadline_sleeper, SC36_a_nearer_one_wakes_it_again,
                  scenario::every_interleaving()) {
    rig r;
    model::thread adder([&] {
        r.add(2, 20);
        r.add(1, 10);
    });
    r.sleep_until_earliest_is(instant::from_ns(10));
}

TACTUS_MODEL_TEST(deadline_sleeper, SC36_two_that_add_at_once, scenario::preempted(2)) {
    rig r;
    model::thread far([&] { r.add(2, 20); });
    model::thread near([&] { r.add(1, 10); });
    r.sleep_until_earliest_is(instant::from_ns(10));
}

// TC-S52: whoever ends it sets a flag and calls.
TACTUS_MODEL_TEST(deadline_sleeper, SC36_a_call_is_not_lost, scenario::every_interleaving()) {
    deadline_sleeper place;
    port::atomic<std::uint32_t> stop{0};
    model::thread caller([&] {
        stop.store(1, std::memory_order_relaxed);
        place.call();
    });
    while (stop.load(std::memory_order_relaxed) == 0) {
        place.prepare(instant::never());
        model::require(place.sleep_until(-1));
    }
}
