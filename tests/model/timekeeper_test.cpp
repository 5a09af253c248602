// SPDX-License-Identifier: Apache-2.0
//
// Timekeeper: of the workers that sleep, one waits for the earliest deadline, and when it leaves,
// or a deadline comes that it does not know, another does (LN-4, LN-7, MC-3).
//
// Time passes only for who waits for it: when nobody does, everybody sleeps without a limit, a
// deadlock. The small scenarios repeat the coordinator's await_work and end_idling without their
// spinning; the last runs the coordinator itself.
//
// Their deadlines are atomics that are looked at without a lock, as a timer phase may keep them;
// under a lock there are fewer ways.
//
// Bounds: two threads with four preemptions, three with two, samples for the whole.
#include <tactus/dispatch/idle_workers.hpp>

#include <array>

#include <tactus/dispatch/suspensions.hpp>

#include "naive_timers.hpp"
#include "scenario.hpp"
#include "scheduler_rig.hpp"

namespace port = tactus::port;
namespace model = tactus::port::model;
using tactus::duration;
using tactus::idle_workers;
using tactus::instant;
using tactus::mailbox_index;
using tactus::resume_condition;
using tactus::sleeper;
using tactus::suspend_reason;

namespace {

/// Stands still until somebody has waited.
class patient_clock final : public tactus::clock {
public:
    [[nodiscard]] instant now() const noexcept override {
        return instant::from_ns(ticks_.load(std::memory_order_relaxed));
    }
    [[nodiscard]] tactus::clock_kind kind() const noexcept override {
        return tactus::clock_kind::realtime_host;
    }
    void pass() { ticks_.fetch_add(100, std::memory_order_relaxed); }

private:
    port::atomic<std::uint32_t> ticks_{0};
};

/// Workers that sleep until the deadline `last` has come, and things to do that last as long.
class rig {
public:
    enum which : unsigned { before_last, last };

    /// False: there is an earlier one.
    [[nodiscard]] bool add_deadline(which one = last, std::uint32_t ns = 10) {
        const bool is_earliest = instant::from_ns(ns) < next_deadline();
        due_[one].store(ns, std::memory_order_seq_cst);
        return is_earliest;
    }
    void make_work() {
        work_.fetch_add(1, std::memory_order_seq_cst);
        (void)idle_.work_made();
    }
    void deadline_from_outside() {
        model::require(add_deadline());
        idle_.time_unkept(true);
    }

    /// A worker's loop; `task` is what taking the work means beside waiting.
    template <class Task>
    void work(unsigned who, Task&& task) {
        bool searching = false;
        bool owes_time = false;
        bool unknown = false;
        while (!ended()) {
            if (take_work()) {
                end_idling(searching, owes_time, unknown);
                searching = owes_time = false;
                unknown = task();
                owes_time = unknown;
                // The next thing to do lasts until the end: time is for others.
                end_idling(false, owes_time, unknown);
                wait_for_the_end();
                return;
            }
            if (const instant now = time_.now(); next_deadline() <= now) {
                run_due(now);
                continue;
            }
            const bool keeps = idle_.prepare_sleep(places_[who], searching);
            if (has_work() || ended()) {
                searching = idle_.cancel_sleep(places_[who], searching);
                owes_time = idle_workers::left_time(places_[who]);
                port::pause();
                continue;
            }
            const bool timed = keeps && next_deadline() != instant::never();
            searching = idle_.sleep(places_[who], timed ? 1'000 : -1);
            owes_time = idle_workers::left_time(places_[who]);
            if (timed && !searching)
                time_.pass();
        }
        end_idling(searching, owes_time, unknown);
    }
    void work(unsigned who) {
        work(who, [] { return false; });
    }

private:
    static constexpr unsigned worker_max = 3;

    [[nodiscard]] bool ended() const { return ended_.load(std::memory_order_relaxed) != 0; }
    [[nodiscard]] bool has_work() const { return work_.load(std::memory_order_seq_cst) != 0; }
    [[nodiscard]] bool take_work() {
        std::uint32_t seen = work_.load(std::memory_order_relaxed);
        while (seen != 0) {
            if (work_.compare_exchange_weak(seen, seen - 1, std::memory_order_relaxed,
                                            std::memory_order_relaxed))
                return true;
        }
        return false;
    }
    void wait_for_the_end() {
        while (!ended())
            (void)port::wait_on(ended_, 0, -1);
    }
    void end_idling(bool searching, bool owes_time, bool unknown) {
        const auto pending = [&] { return next_deadline() != instant::never(); };
        if (searching && idle_.stop_search() && (has_work() || (!idle_.time_kept() && pending())))
            (void)idle_.work_made();
        if (owes_time && pending())
            idle_.time_unkept(unknown);
    }

    [[nodiscard]] instant next_deadline() const {
        instant next = instant::never();
        for (const auto& due : due_) {
            const std::uint32_t ns = due.load(std::memory_order_seq_cst);
            if (ns != 0 && instant::from_ns(ns) < next)
                next = instant::from_ns(ns);
        }
        return next;
    }
    void run_due(instant now) {
        for (const which one : {before_last, last}) {
            std::uint32_t ns = due_[one].load(std::memory_order_relaxed);
            if (ns != 0 && instant::from_ns(ns) <= now &&
                due_[one].compare_exchange_strong(ns, 0, std::memory_order_relaxed,
                                                  std::memory_order_relaxed))
                has_come(one);
        }
    }
    void has_come(which one) {
        if (one == before_last) {
            // In its next-to-run place: nobody is woken for it (LN-11).
            work_.fetch_add(1, std::memory_order_relaxed);
            return;
        }
        ended_.store(1, std::memory_order_relaxed);
        for (unsigned i = 0; i < worker_max; ++i)
            port::wake_one(ended_);
        idle_.wake_all();
    }

    patient_clock time_;
    idle_workers idle_;
    std::array<sleeper, worker_max> places_;
    using atomic = port::atomic<std::uint32_t>;
    std::array<atomic, 2> due_{atomic{0}, atomic{0}};  // ns; 0: none
    port::atomic<std::uint32_t> work_{0};
    port::atomic<std::uint32_t> ended_{0};
};

/// Moves on whenever it is read.
class restless_clock final : public tactus::clock {
public:
    [[nodiscard]] instant now() const noexcept override {
        return instant::from_ns(reads_.fetch_add(1, std::memory_order_relaxed));
    }
    [[nodiscard]] tactus::clock_kind kind() const noexcept override {
        return tactus::clock_kind::realtime_host;
    }

private:
    mutable port::atomic<std::uint32_t> reads_{0};
};

/// Suspends itself for a while after its first message; its second ends everything.
struct napper {
    port::atomic<std::uint32_t>* stop;
    explicit napper(port::atomic<std::uint32_t>& s) : stop(&s) {}
    void receive(tactus::turn& t, tactus::envelope& e) const {
        if (e.get_if<scenario::note>()->number == 0) {
            model::require(t.suspend(suspend_reason::rate_limit,
                                     resume_condition::after(duration::from_ns(20)))
                               .has_value());
            return;
        }
        stop->store(1, std::memory_order_relaxed);
        port::wake_one(*stop);
        t.system().wake_workers();
    }
};
/// Holds its worker up until then.
struct blocker {
    port::atomic<std::uint32_t>* stop;
    explicit blocker(port::atomic<std::uint32_t>& s) : stop(&s) {}
    void receive(tactus::turn&, tactus::envelope&) const {
        while (stop->load(std::memory_order_relaxed) == 0)
            (void)port::wait_on(*stop, 0, -1);
    }
};

}  // namespace

// The worker sees the deadline, or who added it sees the worker.
TACTUS_MODEL_TEST(timekeeper, LN7_a_deadline_while_a_worker_goes_to_sleep, scenario::preempted(4)) {
    rig r;
    model::thread worker([&] { r.work(0); });
    r.deadline_from_outside();
}

TACTUS_MODEL_TEST(timekeeper, LN7_a_deadline_while_two_workers_go_to_sleep,
                  scenario::preempted(2)) {
    rig r;
    model::thread a([&] { r.work(0); });
    model::thread b([&] { r.work(1); });
    r.deadline_from_outside();
}

// Whoever takes the work has other things to do until the deadline has come.
TACTUS_MODEL_TEST(timekeeper, LN7_the_time_is_handed_on_by_who_finds_work, scenario::preempted(2)) {
    rig r;
    model::require(r.add_deadline());
    model::thread a([&] { r.work(0); });
    model::thread b([&] { r.work(1); });
    r.make_work();
}

// The one that waited for a deadline has something to do when it has come, and there is another.
TACTUS_MODEL_TEST(timekeeper, LN7_the_time_is_handed_on_by_who_was_woken_by_it,
                  scenario::preempted(2)) {
    rig r;
    model::require(r.add_deadline(rig::before_last, 10));
    model::require(!r.add_deadline(rig::last, 150));
    model::thread a([&] { r.work(0); });
    model::thread b([&] { r.work(1); });
}

// Who hands it on leaves it to who searches; that one finds something, too.
TACTUS_MODEL_TEST(timekeeper, LN7_the_last_to_search_looks_for_the_time,
                  scenario::by_priorities(40'000, 4)) {
    rig r;
    model::require(r.add_deadline());
    model::thread a([&] { r.work(0); });
    model::thread b([&] { r.work(1); });
    model::thread c([&] { r.work(2); });
    r.make_work();
    r.make_work();
}

// The deadline comes with the work, and its worker goes on with something else.
TACTUS_MODEL_TEST(timekeeper, LN7_a_deadline_added_by_a_run_is_handed_on, scenario::preempted(2)) {
    rig r;
    const auto adds = [&] { return r.add_deadline(); };
    model::thread a([&] { r.work(0, adds); });
    model::thread b([&] { r.work(1, adds); });
    r.make_work();
}

namespace {

model::options long_runs(std::uint64_t runs) {
    model::options how = scenario::by_priorities(runs);
    how.step_limit = 100'000;
    return how;
}

}  // namespace

TACTUS_MODEL_TEST(timekeeper, LN7_a_suspension_ends_while_the_other_worker_is_held_up,
                  long_runs(1'000)) {
    restless_clock time;
    tactus_test::naive_timers<1> timers(&time);
    scenario::scheduler_rig r({.workers = 2, .time = &time, .timers = &timers});
    timers.attach(r.system);
    port::atomic<std::uint32_t> stop{0};
    const mailbox_index naps = r.system.spawn<napper>({}, stop).value();
    const mailbox_index blocks = r.system.spawn<blocker>({}, stop).value();
    model::thread first([&] { r.system.run_until(r.system.worker_at(0), stop); });
    model::thread second([&] { r.system.run_until(r.system.worker_at(1), stop); });
    tactus::actor_scheduler::tell(naps, scenario::note{0});
    tactus::actor_scheduler::tell(naps, scenario::note{1});
    tactus::actor_scheduler::tell(blocks, scenario::note{2});
}
