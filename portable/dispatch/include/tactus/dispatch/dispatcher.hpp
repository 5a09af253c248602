// SPDX-License-Identifier: Apache-2.0
//
// Dispatcher: a place where actors run: an order of what is ready, workers, tasks, and how much one
// run may do. A system has one at least, and as many others as it is given (DR-3).
//
// Every slot names its dispatcher, so whoever makes a mailbox ready finds the lanes it waits in.
// The threads are not its business: an executor runs the workers, or nobody does, and then what is
// ready waits.
//
// Thread safety: any thread; workers belong to the threads that run them.
#pragma once

#include <cstdint>
#include <optional>

#include <tactus/base/memory_source.hpp>
#include <tactus/dispatch/coordinator.hpp>
#include <tactus/dispatch/worker.hpp>
#include <tactus/dispatch/worker_task.hpp>

namespace tactus::inline v0 {

/// Supplies a dispatcher's workers with threads, and is told when a handler is about to block.
class worker_supply {
public:
    /// On the worker's thread, within a run; see runtime::blocking_section.
    virtual void blocking_begins(worker& w) noexcept = 0;
    virtual void blocking_ends(worker& w) noexcept = 0;
    /// EX-9: what a worker is doing, for a dump; takes no lock.
    [[nodiscard]] virtual const char* state_name(std::uint32_t worker) const noexcept = 0;

protected:
    ~worker_supply() = default;
};

class dispatcher {
public:
    static constexpr std::uint32_t count_max = 255;  // per system

    struct options {
        // Filled by the system it is added to.
        memory_source* memory = nullptr;
        registry* slots = nullptr;
        const clock* time = nullptr;
        timer_phase* timers = nullptr;  // one dispatcher of a system runs them
        tick_driver* driver = nullptr;  // of that one
        suspensions* waiting = nullptr;
        kernel_events* events = nullptr;
        std::uint32_t number = 0;
        std::uint64_t seed = 1;
        std::uint32_t cancel_streak_limit = 16;
        bool certify_schedule = false;
        governor* advice = nullptr;
        load_probe* load = nullptr;

        std::uint32_t worker_count = 1;
        bool visited = false;       // one worker: other threads call drain_ready_cycle beside it
        bool shared_queue = false;  // workers keep nothing to themselves: for handlers that block
        bool one_owner = false;     // pinned: one actor at a time
        waker* lived_in = nullptr;  // called when the first actor has come, and the last one gone
        std::optional<std::uint32_t> throughput = {};  // exact; 0 means 1. None: see invoker
        duration throughput_deadline = duration::max();
        std::uint32_t ring_capacity = 256;
        std::uint32_t fresh_capacity = 256;
        std::uint32_t queue_capacity = 64;
        std::uint32_t keyed_capacity = 16;
        lane_mode mode = lane_mode::standard;
    };
    /// Of a worker's lanes: where there are others to leave something to.
    [[nodiscard]] static constexpr std::uint32_t later_capacity(std::uint32_t workers) noexcept {
        return workers > 1 ? 1'024 : 1;
    }
    /// CO-1: lanes that keep nothing, so the smallest there are.
    [[nodiscard]] static constexpr worker_lanes::options visitor_lanes(
        worker_lanes::options o) noexcept {
        o.ring_capacity = 1;
        o.fresh_capacity = 1;
        o.later_capacity = 1;
        o.keyed_capacity = 1;
        return o;
    }

    dispatcher(actor_scheduler& system, const options& o) noexcept;
    ~dispatcher();
    dispatcher(const dispatcher&) = delete;
    dispatcher& operator=(const dispatcher&) = delete;

    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
    [[nodiscard]] coordinator& order() noexcept { return order_; }
    [[nodiscard]] const coordinator& order() const noexcept { return order_; }
    [[nodiscard]] worker& worker_at(std::uint32_t i) noexcept { return *workers_[i]; }
    [[nodiscard]] const worker& worker_at(std::uint32_t i) const noexcept { return *workers_[i]; }
    [[nodiscard]] std::uint32_t worker_count() const noexcept { return worker_count_; }
    /// Nothing waits any more.
    [[nodiscard]] bool drained() const noexcept { return !order_.has_work(nullptr); }

    /// Runs a task on some worker. False when the system is being stopped: then the task is still
    /// the caller's.
    [[nodiscard]] bool execute(worker_task& t) noexcept;
    [[nodiscard]] worker_task_queue& tasks() noexcept { return tasks_; }

    // DR-5: what may be changed while running applies from the next run.

    /// Messages per run, exactly; 0: the default rule.
    [[nodiscard]] std::uint32_t throughput() const noexcept {
        return throughput_.load(std::memory_order_relaxed);
    }
    void set_throughput(std::optional<std::uint32_t> n) noexcept {
        throughput_.store(!n ? 0U : *n == 0 ? 1U : *n, std::memory_order_relaxed);
    }
    /// max: none. Kept in whole microseconds, rounded up; 71 minutes and more are none.
    [[nodiscard]] duration throughput_deadline() const noexcept {
        const std::uint32_t us = deadline_us_.load(std::memory_order_relaxed);
        return us == no_deadline ? duration::max() : duration::from_us(us);
    }
    [[nodiscard]] bool has_throughput_deadline() const noexcept {
        return deadline_us_.load(std::memory_order_relaxed) != no_deadline;
    }
    /// Without a clock there is none.
    void set_throughput_deadline(duration d) noexcept;

    // TC-M38: actors that run here; those of the system's first dispatcher are not counted, because
    // every spawn would write one word.
    [[nodiscard]] std::uint32_t inhabitants() const noexcept {
        return inhabitants_.load(std::memory_order_relaxed);
    }
    /// An actor, by the number of its slot, comes to run here. False when this is pinned and
    /// belongs to another (TC-M39); one that is here already stays so.
    [[nodiscard]] bool attach(std::uint32_t who) noexcept;
    void detach() noexcept;

    /// Sets what supplies its workers with threads, before they run; null: nothing does. `from` is
    /// complete: a dump on any thread may call it from now on.
    void supply(worker_supply* from) noexcept { supply_.store(from, supplied.release()); }
    [[nodiscard]] worker_supply* supply() const noexcept {
        return supply_.load(supplied.acquire());
    }

    /// Workers whose executor refused them (EX-8); told by who lends them, for who looks.
    /// True for the first of them.
    bool note_parked() noexcept {
        return parked_.fetch_add(1, std::memory_order_relaxed) == 0;  // a count
    }
    /// True for the last of them.
    bool note_unparked() noexcept {
        return parked_.fetch_sub(1, std::memory_order_relaxed) == 1;  // a count
    }
    [[nodiscard]] std::uint32_t parked() const noexcept {
        return parked_.load(std::memory_order_relaxed);
    }
    /// Submissions that were given up, since it was made.
    void note_rejected() noexcept { rejected_.fetch_add(1, std::memory_order_relaxed); }
    [[nodiscard]] std::uint32_t rejected() const noexcept {
        return rejected_.load(std::memory_order_relaxed);
    }

    /// Where its lanes and workers live.
    [[nodiscard]] memory_source& memory() const noexcept { return memory_; }

private:
    TACTUS_CHECK_MODULE("dispatcher");

    void make_visitor(worker_lanes::options o) noexcept;

    memory_source& memory_;
    std::uint32_t number_;
    port::atomic<std::uint32_t> throughput_;
    static constexpr std::uint32_t no_deadline = 0xffff'ffff;
    port::atomic<std::uint32_t> deadline_us_{no_deadline};
    bool has_clock_;
    worker_task_queue tasks_;
    coordinator order_;
    worker** workers_ = nullptr;
    std::uint32_t worker_count_;
    worker_lanes* visitor_ = nullptr;  // null: visitors share worker 0's
    // Written by: the supply's constructor and destructor. Read by: workers, and any dump.
    // "supplied": the supply is constructed before it is found.
    static constexpr port::edge supplied{"dispatcher-supplied"};
    port::atomic<worker_supply*> supply_{nullptr};
    bool one_owner_;
    waker* lived_in_;
    // Counts, and a claim that nothing is handed over with: what follows from them is decided by
    // who is called.
    port::atomic<std::uint32_t> inhabitants_{0};
    port::atomic<std::uint32_t> owner_{0};  // pinned: slot number + 1
    port::atomic<std::uint32_t> parked_{0};
    port::atomic<std::uint32_t> rejected_{0};
};

}  // namespace tactus::inline v0
