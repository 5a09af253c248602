// SPDX-License-Identifier: Apache-2.0
//
// Idle workers: work that is made while a worker goes to sleep is not left lying (LN-7, MC-3).
//
// The worker's loop is the coordinator's await_work without its spinning. Who makes work and then
// needs it done waits for that: if the wake-up is lost, everybody sleeps, a deadlock.
//
// Bounds: two threads without a bound or with four preemptions, three with one or two, and samples
// beyond.
#include <tactus/dispatch/idle_workers.hpp>

#include <array>
#include <optional>

#include <tactus/dispatch/lane_set.hpp>
#include <tactus/dispatch/run_ring.hpp>
#include <tactus/dispatch/worker_task.hpp>

#include "model_memory.hpp"
#include "scenario.hpp"

namespace port = tactus::port;
namespace model = tactus::port::model;
using tactus::idle_workers;
using tactus::lane;
using tactus::lane_entry;
using tactus::run_ring;
using tactus::sleeper;

namespace {

constexpr std::int64_t never = -1;
constexpr std::int64_t soon = 1'000;

/// Work in a ring of somebody else's.
struct ring_work {
    std::array<run_ring::cell, 2> cells;
    run_ring ring{cells.data(), 2, true};

    void make(unsigned number) { model::require(ring.push({number, number})); }
    [[nodiscard]] bool any() const { return !ring.looks_empty(); }
    unsigned take() {
        unsigned got = 0;
        ring.steal_half(1, [&](lane_entry e) { got = e.ticket; });
        return got;
    }
};

/// Work in lanes that all share.
struct lane_work final : private tactus::stale_test {
    scenario::model_memory memory;
    tactus::lane_set lanes{
        {.memory = &memory, .stale = this, .queue_capacity = 2, .heap_capacity = 1}};

    void make(unsigned number) { lanes.push({number, number}, {}); }
    [[nodiscard]] bool any() const { return !lanes.empty(); }
    unsigned take() { return lanes.pop(lane::ready).ticket; }

private:
    [[nodiscard]] bool stale(lane_entry) const noexcept override { return false; }
};

/// Work in lanes of a worker that nobody else may take from, made by somebody else (LN-5); in the
/// queue of parity mode, so that both ways of putting something into lanes are seen.
struct pinned_work final : private tactus::stale_test {
    static constexpr bool pinned = true;
    scenario::model_memory memory;
    tactus::lane_set lanes{
        {.memory = &memory, .stale = this, .queue_capacity = 2, .heap_capacity = 1}};

    void make(unsigned number) { lanes.push_newest({number, number}); }
    [[nodiscard]] bool any() const { return !lanes.empty(); }
    unsigned take() { return lanes.pop_newest().ticket; }

private:
    [[nodiscard]] bool stale(lane_entry) const noexcept override { return false; }
};

/// Tasks.
struct task_work {
    struct nothing final : tactus::worker_task {
        [[nodiscard]] tactus::handled run() noexcept override { return tactus::handled::ok(); }
    };
    tactus::worker_task_queue tasks;
    std::array<nothing, 3> some;

    void make(unsigned number) { model::require(tasks.push(some[number])); }
    [[nodiscard]] bool any() const { return !tasks.empty(); }
    unsigned take() {
        tactus::worker_task* t = tasks.pop();
        return t == nullptr ? 0 : static_cast<unsigned>(static_cast<nothing*>(t) - some.data());
    }
};

template <class Work>
class rig {
public:
    /// Makes an entry; what was written before is seen by who takes it.
    void make(unsigned number) {
        payload[number].write(number);
        queue.make(number);
        if constexpr (requires { Work::pinned; })
            idle.work_made_for(places[0]);
        else
            idle.work_made();
    }

    /// Takes work until it has done `share` of it; sleeps when there is none.
    void work(unsigned who, unsigned share, unsigned workers, std::int64_t timeout_ns = never) {
        bool searching = false;
        for (unsigned done = 0; done < share;) {
            if (const unsigned number = queue.take(); number != 0) {
                if (searching) {
                    searching = false;
                    if (idle.stop_search() && queue.any())
                        idle.work_made();
                }
                model::require(payload[number].read() == number);
                payload[number].write(0);
                ++done;
                continue;
            }
            if (!searching && workers != 0)
                searching = idle.start_search(workers);
            if (searching && queue.any()) {
                port::pause();  // another thief is at it
                continue;
            }
            const bool searched = searching;
            idle.prepare_sleep(places[who], searched);
            searching = false;
            if (queue.any()) {
                searching = idle.cancel_sleep(places[who], searched);
                port::pause();
                continue;
            }
            searching = idle.sleep(places[who], timeout_ns);
        }
        if (searching && idle.stop_search() && queue.any())
            idle.work_made();
    }

    idle_workers idle;
    Work queue;
    std::array<sleeper, 2> places;
    std::array<port::plain<unsigned>, 4> payload;
};

/// One makes, one sleeps: it wakes up.
template <class Work>
void a_maker_and_a_sleeper(unsigned count, std::int64_t timeout_ns = never) {
    rig<Work> r;
    model::thread worker([&] { r.work(0, count, 0, timeout_ns); });
    for (unsigned n = 1; n <= count; ++n)
        r.make(n);
}

/// One makes two, two sleep, each must do one: the one woken wakes the other.
template <class Work>
void a_maker_and_two_sleepers() {
    rig<Work> r;
    model::thread a([&] { r.work(0, 1, 2); });
    model::thread b([&] { r.work(1, 1, 2); });
    r.make(1);
    r.make(2);
}

}  // namespace

// trap S11: work published, then sleepers looked for, against being listed, then work looked for.
TACTUS_MODEL_TEST(idle_workers, LN7_work_in_a_ring_while_a_worker_goes_to_sleep,
                  scenario::every_interleaving()) {
    a_maker_and_a_sleeper<ring_work>(1);
}
TACTUS_MODEL_TEST(idle_workers, LN7_work_in_lanes_while_a_worker_goes_to_sleep,
                  scenario::every_interleaving()) {
    a_maker_and_a_sleeper<lane_work>(1);
}
TACTUS_MODEL_TEST(idle_workers, LN7_a_task_while_a_worker_goes_to_sleep,
                  scenario::every_interleaving()) {
    a_maker_and_a_sleeper<task_work>(1);
}
TACTUS_MODEL_TEST(idle_workers, LN7_pinned_work_while_its_worker_goes_to_sleep,
                  scenario::every_interleaving()) {
    a_maker_and_a_sleeper<pinned_work>(1);
}
// LN-5: also while another wakes it for other work, and that somebody searches does not count.
TACTUS_MODEL_TEST(idle_workers, LN7_pinned_work_of_one_that_is_woken_by_another,
                  scenario::preempted(2)) {
    rig<pinned_work> r;
    model::require(r.idle.start_search(4));
    model::thread worker([&] { r.work(0, 1, 0); });
    model::thread other([&] { r.idle.wake_all(); });
    r.make(1);
}
TACTUS_MODEL_TEST(idle_workers, LN7_twice_in_a_ring, scenario::preempted(3)) {
    a_maker_and_a_sleeper<ring_work>(2);
}
TACTUS_MODEL_TEST(idle_workers, LN7_a_timeout_racing_a_wake_up, scenario::preempted(4)) {
    a_maker_and_a_sleeper<ring_work>(1, soon);
}

// The last searcher rule, also for one that finds something just before it would sleep: the maker
// leaves it to who searches, and who finds one looks for more.
TACTUS_MODEL_TEST(idle_workers, LN7_the_last_to_search_looks_again_ring, scenario::preempted(1)) {
    a_maker_and_two_sleepers<ring_work>();
}
TACTUS_MODEL_TEST(idle_workers, LN7_the_last_to_search_looks_again_ring_pct,
                  scenario::by_priorities(20'000)) {
    a_maker_and_two_sleepers<ring_work>();
}
TACTUS_MODEL_TEST(idle_workers, LN7_the_last_to_search_looks_again_lanes, scenario::preempted(2)) {
    a_maker_and_two_sleepers<lane_work>();
}

// Two make one each, one worker does both.
TACTUS_MODEL_TEST(idle_workers, LN7_two_makers, scenario::preempted(2)) {
    rig<lane_work> r;
    model::thread worker([&] { r.work(0, 2, 1); });
    model::thread a([&] { r.make(1); });
    r.make(2);
}

// Shutting down: everybody is woken, who sleeps and who is about to.
TACTUS_MODEL_TEST(idle_workers, LN7_wake_all_wakes_everybody, scenario::preempted(3)) {
    idle_workers idle;
    std::array<sleeper, 2> places;
    port::atomic<unsigned> stop{0};
    const auto loop = [&](unsigned who) {
        while (stop.load(std::memory_order_relaxed) == 0) {
            idle.prepare_sleep(places[who], false);
            if (stop.load(std::memory_order_relaxed) != 0) {
                if (idle.cancel_sleep(places[who], false))
                    (void)idle.stop_search();
                return;
            }
            if (idle.sleep(places[who], never))
                (void)idle.stop_search();
        }
    };
    {
        model::thread a([&] { loop(0); });
        model::thread b([&] { loop(1); });
        stop.store(1, std::memory_order_relaxed);
        idle.wake_all();
    }
    model::require(idle.sleeping_count() == 0 && idle.searching_count() == 0);
}
