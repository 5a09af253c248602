// SPDX-License-Identifier: Apache-2.0
//
// Parker: an unpark is never lost, and what was done before it is seen after park (LN-7, MC-3). A
// lost wake-up is a deadlock, which the checker finds.
//
// Bounds: two threads without a bound, three with three preemptions; spurious wake-ups too.
#include <tactus/dispatch/parker.hpp>

#include <array>

#include "scenario.hpp"

namespace port = tactus::port;
namespace model = tactus::port::model;
using tactus::parker;

namespace {

constexpr std::int64_t never = -1;
constexpr std::int64_t soon = 1'000;

model::options with_spurious_wakeups() {
    model::options how = scenario::every_interleaving();
    how.spurious_wakeups = true;
    return how;
}

void one_unpark_one_park() {
    parker place;
    port::plain<unsigned> work{0};
    model::thread waker([&] {
        work.write(1);
        place.unpark();
    });
    model::require(place.park(never));
    model::require(work.read() == 1);
}

}  // namespace

// trap S11: a permit published, then a sleeper looked for, against the other way round.
TACTUS_MODEL_TEST(parker, LN7_an_unpark_is_never_lost, scenario::every_interleaving()) {
    one_unpark_one_park();
}
TACTUS_MODEL_TEST(parker, LN7_nor_with_spurious_wake_ups, with_spurious_wakeups()) {
    one_unpark_one_park();
}

TACTUS_MODEL_TEST(parker, LN7_a_worker_is_woken_again_and_again, scenario::every_interleaving()) {
    parker place;
    port::plain<unsigned> work{0};
    port::atomic<unsigned> taken{0};
    model::thread waker([&] {
        work.write(1);
        place.unpark();
        while (taken.load(std::memory_order_acquire) == 0)
            port::pause();
        work.write(2);
        place.unpark();
    });
    model::require(place.park(never) && work.read() == 1);
    taken.store(1, std::memory_order_release);
    model::require(place.park(never) && work.read() == 2);
}

// One permit: two unparks may be one, and the worker that looks for its work finds that of both.
TACTUS_MODEL_TEST(parker, LN7_two_wakers, scenario::preempted(3)) {
    parker place;
    std::array<port::plain<unsigned>, 2> work;
    std::array<port::atomic<unsigned>, 2> made{port::atomic<unsigned>{0},
                                               port::atomic<unsigned>{0}};
    const auto wake = [&](unsigned i) {
        work[i].write(1);
        made[i].store(1, std::memory_order_relaxed);
        place.unpark();
    };
    model::thread a([&] { wake(0); });
    model::thread b([&] { wake(1); });
    unsigned done = 0;
    while (done < 2) {
        model::require(place.park(never));
        for (unsigned i = 0; i < 2; ++i) {
            if (made[i].exchange(0, std::memory_order_relaxed) == 1)
                ++done;
        }
    }
}

// The time may pass just when somebody unparks: the permit is then taken, or kept, never both.
TACTUS_MODEL_TEST(parker, LN7_a_timeout_racing_an_unpark, scenario::every_interleaving()) {
    parker place;
    port::plain<unsigned> work{0};
    model::thread waker([&] {
        work.write(1);
        place.unpark();
    });
    const bool in_time = place.park(soon);
    if (!in_time)
        model::require(place.park(never), "the unpark comes");
    model::require(work.read() == 1);
    model::require(!place.park(0), "one permit");
}

// Not asleep and not woken: a look that takes no time.
TACTUS_MODEL_TEST(parker, LN7_a_park_without_time_takes_what_is_there,
                  scenario::every_interleaving()) {
    parker place;
    port::plain<unsigned> work{0};
    model::thread waker([&] {
        work.write(1);
        place.unpark();
    });
    if (place.park(0))
        model::require(work.read() == 1);
    else
        model::require(place.park(never) && work.read() == 1);
}
