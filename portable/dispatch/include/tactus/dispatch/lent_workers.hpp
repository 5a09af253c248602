// SPDX-License-Identifier: Apache-2.0
//
// Lent workers: a dispatcher whose workers run on somebody else's executor (EX-1, EX-2, EX-8).
//
// Each worker is a task. It runs some mailboxes, submits itself again if there is more, so that the
// application's own handlers get their turn, and otherwise rests until the coordinator wakes it.
//
//   state      means                               next
//   resting    nothing to do                       wake -> submitted, or parked
//   submitted  the executor has the task           run -> running
//   running    a thread of the executor is in it   -> resting, submitted or parked
//   parked     the executor refused each attempt   next work, or retry() -> submitted
//
// What is ready waits in the lanes, in order, whatever the executor does: nothing is stranded, and
// mailboxes can be closed. While a worker is parked, work that is made wakes it as if it rested,
// and retry() does so after a time without any.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>

#include <tactus/dispatch/actor_scheduler.hpp>
#include <tactus/dispatch/executor.hpp>

namespace tactus::inline v0 {

/// What happens to executors; see kernel_events for how it is called.
class dispatcher_events {
public:
    struct rejection {
        mailbox_index first;  // the mailbox that waits longest; invalid when that is not known
        unsigned attempts;
        const char* cause;
    };
    struct starvation {
        std::uint32_t waiting;       // mailboxes; tasks count as one, however many
        std::uint32_t workers_busy;  // threads that are in handlers
    };
    struct slow_handler {
        mailbox_index who;
        std::uint32_t worker;
        duration running;  // one run of the actor, of one message or a few
    };
    struct refusal {
        std::uint32_t threads;  // that it has
        const char* cause;      // what the system said; valid during the call
    };

    /// EX-1, EX-8: a worker could not be submitted; what is ready waits, in order.
    virtual void executor_rejected(const dispatcher& where, const rejection& what) noexcept = 0;
    /// EX-8: once when the first worker is parked, once when the last one runs again. `waiting`
    /// mailboxes wait meanwhile.
    virtual void dispatcher_backpressure(const dispatcher& where, std::uint32_t waiting,
                                         bool engaged) noexcept = 0;
    /// EX-5: work has waited for starvation_deadline; again after as long, if some still does.
    virtual void dispatcher_starved(const dispatcher& where, const starvation& what) noexcept {
        (void)where;
        (void)what;
    }
    /// An actor has been in one run for that long; again when it has doubled. Sampled.
    virtual void handler_slow(const dispatcher& where, const slow_handler& what) noexcept {
        (void)where;
        (void)what;
    }
    /// EX-6: the system refused a thread, which is tried again every second; once until it gave all
    /// there should be.
    virtual void threads_refused(const dispatcher& where, const refusal& what) noexcept {
        (void)where;
        (void)what;
    }

protected:
    ~dispatcher_events() = default;
};

class lent_workers {
public:
    static constexpr std::uint32_t turns_max = 64;  // mailboxes run before the executor gets a turn

    struct options {
        memory_source* memory = nullptr;
        dispatcher_events* events = nullptr;  // null: nobody is told
        waker* parked = nullptr;              // called when one was parked: retry() is due in 50 ms
        unsigned retries = 2;                 // EX-1: after the executor's first refusal
    };
    /// Requires: nobody else runs the dispatcher's workers. Both outlive this.
    lent_workers(actor_scheduler& system, dispatcher& what, executor& to,
                 const options& o) noexcept;
    /// Requires: the executor runs none of the tasks any more, and has none.
    ~lent_workers();
    lent_workers(const lent_workers&) = delete;
    lent_workers& operator=(const lent_workers&) = delete;
    /// What it takes when it is built.
    [[nodiscard]] static constexpr memory_plan plan(std::uint32_t workers) noexcept {
        return memory_plan().array<lent>(workers);
    }

    /// Something waits, and workers are parked: retry() is due some time.
    [[nodiscard]] bool needs_retry() const noexcept {
        return parked_count() != 0 && what_.order().has_work(nullptr);
    }
    /// Submits parked workers once more: after 50 ms without anything else, or when the executor is
    /// known to accept again.
    void retry() noexcept;
    [[nodiscard]] std::uint32_t parked_count() const noexcept { return what_.parked(); }
    /// Nothing is submitted any more, and what waits is taken back where the executor can; a task
    /// that still runs ends at its next turn. True when none runs or is submitted; otherwise to be
    /// called again, since one that was being submitted may have come after the look.
    [[nodiscard]] bool stop() noexcept;
    [[nodiscard]] bool stopped() const noexcept { return active_.load(ended.acquire()) == 0; }

private:
    TACTUS_CHECK_MODULE("lent_workers");

    class lent final : public worker_task, public waker {
    public:
        lent(lent_workers& all, worker& w) noexcept : all_(all), worker_(w) {}
        [[nodiscard]] handled run() noexcept override;
        void dropped() noexcept override { all_.left(); }
        void wake() noexcept override;

    private:
        friend class lent_workers;

        lent_workers& all_;
        worker& worker_;
        // Written by whoever the worker belongs to: who wakes it, then who runs it.
        bool woken_ = false;
        bool gave_up_ = false;  // counted as parked
        bool retried_ = false;  // submitted after a refusal
    };

    /// Requires: counted as active.
    void submit(lent& l) noexcept;
    void park(lent& l) noexcept;
    void accepted(lent& l) noexcept;
    void left() noexcept { active_.fetch_sub(1, ended.release()); }

    actor_scheduler& system_;
    dispatcher& what_;
    executor& to_;
    memory_source& memory_;
    dispatcher_events* events_;
    waker* on_park_;
    unsigned attempts_max_;
    lent* lents_ = nullptr;
    port::atomic<std::uint32_t> stopping_{0};
    // "ended": what a task did happens before stopped() says so.
    static constexpr port::edge ended{"lent-ended"};
    port::atomic<std::uint32_t> active_{0};  // submitted or running
};

}  // namespace tactus::inline v0
