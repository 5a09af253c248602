// SPDX-License-Identifier: Apache-2.0
//
// The oracle of the scheduler: what it promises, as plainly as it can be written (SD-4, TC-S42).
//
// An ordered map by (deadline tick, sequence) and a list of messages that wait to be handled; no
// wheel, no locks, no capacity. Written from the specification (SC, CN), not from the scheduler's
// source. All times are ticks, and the clock stands on a tick.
//
// Where the specification leaves a choice, this is what the model does:
//   A1  a timer that is armed again gets a new sequence, as any insertion into the wheel (TW-2)
//   A2  a fixed rate is armed again when it fires, whether its message has been handled or not;
//       several messages of it may wait
//   A3  runs that `catch_up = each` delivers one by one stand together, where the first is due
//   A4  a job that exceeds its backlog is cancelled instead of delivered (SC-22); that is its only
//       warning (TC-S16)
//       A job that delivers each run has no limit of them, and none is missed (SC-20)
//   A5  an undelivered message of a periodic job that was cancelled is not handled (CN table); one
//       of a one-shot is, since cancel() said false
//   A6  who is about to handle messages first runs what is due (SC-36)
//   A7  a one-shot is active until it fires (BP-2)
//
// With a fault it is a scheduler that is wrong in one way, for testing the harness.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <tactus/scheduler/execution_batch.hpp>
#include <tactus/scheduler/scheduler_event.hpp>

namespace tactus_test {

using tactus::diagnostic;
using tactus::diagnostic_kind;
using tactus::job_mode;
using tick_count = tactus::tick;

/// What a program says about a periodic job.
struct periodic_options {
    bool each = false;        // catch_up = each (SC-20)
    bool after_sent = false;  // of a fixed delay (SC-26)
    std::uint32_t backlog_limit = 8;
    std::uint32_t burst_threshold = 2;

    friend constexpr bool operator==(const periodic_options&, const periodic_options&) = default;
};

/// A message that was handled.
struct delivery {
    std::uint64_t job = 0;
    tick_count at = 0;
    std::uint32_t runs = 0;
    std::uint32_t missed = 0;
    job_mode mode{};

    friend constexpr bool operator==(const delivery&, const delivery&) = default;
};

/// burst_fire or backlog_exceeded.
struct told_warning {
    tactus::scheduler_warning_kind kind{};
    std::uint64_t job = 0;
    std::uint64_t missed = 0;

    friend constexpr bool operator==(const told_warning&, const told_warning&) = default;
};

enum class scheduler_fault : std::uint8_t {
    none,
    fires_early,           // a tick before the deadline
    loses_one,             // every fifth one-shot never fires
    fires_after_cancel,    // a cancelled timer stays in the map
    handles_after_cancel,  // CN-4 is forgotten
    reorders,              // equal deadlines: the last registered first
    loses_runs,            // a fold forgets one run
    drifts,                // a fixed rate counts its period from when it fired
    cancels_twice,         // a second cancel says true
    forgets_backlog,       // no limit of missed runs
    fires_when_closed,     // shutdown cancels nothing
};

class naive_scheduler {
public:
    explicit naive_scheduler(scheduler_fault fault = scheduler_fault::none) : fault_(fault) {}

    /// 0: refused.
    std::uint64_t schedule_once(tick_count delay) { return add(job_mode::one_shot, delay, 0, {}); }
    std::uint64_t schedule_at_fixed_rate(tick_count initial, tick_count interval,
                                         periodic_options o) {
        return add(job_mode::fixed_rate, initial, interval, o);
    }
    std::uint64_t schedule_with_fixed_delay(tick_count initial, tick_count delay,
                                            periodic_options o) {
        return add(job_mode::fixed_delay, initial, delay, o);
    }

    bool cancel(std::uint64_t id) {
        if (id == 0 || id > jobs_.size())
            return false;
        job& j = jobs_[id - 1];
        const bool alive = j.state == job_state::scheduled ||
                           (j.state == job_state::executing && j.mode != job_mode::one_shot);
        if (!alive)
            return fault_ == scheduler_fault::cancels_twice && j.state == job_state::cancelled;
        end(j, job_state::cancelled);
        return true;
    }

    /// Time passes, and nobody looks (SC-30).
    void stall(tick_count n) { clock_ += n; }

    /// Time passes, and what is due fires, in one step (SC-23).
    void advance(tick_count n) {
        clock_ += n;
        if (closed_ && fault_ != scheduler_fault::fires_when_closed)
            return;
        const tick_count until = clock_ + (fault_ == scheduler_fault::fires_early ? 1 : 0);
        std::vector<std::uint64_t> due;
        for (const auto& [key, id] : armed_) {
            if (key.first > until)
                break;
            due.push_back(id);
        }
        for (const std::uint64_t id : due)
            fire(jobs_[id - 1]);
    }

    /// The receiver handles what it was sent.
    void handle() {
        advance(0);  // A6
        while (!mailbox_.empty()) {
            const delivery m = mailbox_.front();
            mailbox_.pop_front();
            job& j = jobs_[m.job - 1];
            if (j.state == job_state::cancelled && fault_ != scheduler_fault::handles_after_cancel)
                continue;  // CN-4, A5
            deliveries_.push_back({m.job, clock_, m.runs, m.missed, m.mode});
            if (j.state != job_state::executing)
                continue;  // armed again already
            if (j.mode == job_mode::one_shot)
                j.state = job_state::completed;
            else
                arm(j, clock_ + j.period);  // SC-24: the wait begins when it has been handled
        }
    }

    /// SH-1: what is due is processed, then the gate closes, and the rest is cancelled in order.
    void shutdown() {
        if (closed_)
            return;
        advance(0);
        closed_ = true;
        if (fault_ == scheduler_fault::fires_when_closed)
            return;
        // A periodic job whose run is under way is cancelled, too.
        std::map<std::uint64_t, std::uint64_t> by_sequence;
        for (std::size_t i = 0; i < jobs_.size(); ++i)
            by_sequence[jobs_[i].sequence] = i + 1;
        for (const auto& [sequence, id] : by_sequence)
            (void)cancel(id);
    }

    [[nodiscard]] std::size_t active() const {
        std::size_t count = 0;
        for (const job& j : jobs_)
            count += j.state == job_state::scheduled ||
                             (j.state == job_state::executing && j.mode != job_mode::one_shot)
                         ? 1
                         : 0;  // A7
        return count;
    }
    /// The earliest deadline.
    [[nodiscard]] std::optional<tick_count> next() const {
        return armed_.empty() ? std::nullopt : std::optional(armed_.begin()->first.first);
    }
    /// How many were cancelled, by whomever.
    [[nodiscard]] std::size_t cancelled() const {
        std::size_t count = 0;
        for (const job& j : jobs_)
            count += j.state == job_state::cancelled ? 1 : 0;
        return count;
    }
    /// Jobs and messages that something is kept of.
    [[nodiscard]] std::size_t kept() const { return active() + mailbox_.size(); }
    [[nodiscard]] const std::vector<delivery>& deliveries() const { return deliveries_; }
    [[nodiscard]] const std::vector<told_warning>& warnings() const { return warnings_; }
    /// schedule, fire and cancel; `detail` of fire has the runs.
    [[nodiscard]] const std::vector<diagnostic>& trace() const { return trace_; }

private:
    enum class job_state : std::uint8_t { scheduled, executing, completed, cancelled };
    struct job {
        std::uint64_t id = 0;
        job_mode mode{};
        job_state state = job_state::scheduled;
        tick_count registered = 0;
        tick_count deadline = 0;
        tick_count period = 0;
        std::uint64_t sequence = 0;
        periodic_options options;
    };

    std::uint64_t add(job_mode mode, tick_count first, tick_count period, periodic_options o) {
        if (closed_ || first == 0 || (mode != job_mode::one_shot && period == 0))
            return 0;
        jobs_.push_back({.id = jobs_.size() + 1,
                         .mode = mode,
                         .registered = clock_,
                         .period = period,
                         .options = o});
        job& j = jobs_.back();
        arm(j, clock_ + first);
        note(diagnostic_kind::schedule, j, 0);
        return j.id;
    }

    void arm(job& j, tick_count deadline) {
        j.state = job_state::scheduled;
        j.deadline = deadline;
        j.sequence = next_sequence_++;  // A1
        armed_[key_of(j)] = j.id;
    }
    [[nodiscard]] std::pair<tick_count, std::uint64_t> key_of(const job& j) const {
        return {j.deadline, fault_ == scheduler_fault::reorders ? ~j.sequence : j.sequence};
    }

    void end(job& j, job_state how) {
        if (how != job_state::cancelled || fault_ != scheduler_fault::fires_after_cancel)
            armed_.erase(key_of(j));
        j.state = how;
        if (how == job_state::cancelled)
            note(diagnostic_kind::cancel, j, 0);
    }

    void fire(job& j) {
        armed_.erase(key_of(j));
        if (fault_ == scheduler_fault::loses_one && j.mode == job_mode::one_shot && j.id % 5 == 0) {
            j.state = job_state::completed;
            return;
        }
        switch (j.mode) {
        case job_mode::one_shot:
            j.state = job_state::executing;
            send(j, 1, 0);
            break;
        case job_mode::fixed_delay:
            j.state = job_state::executing;
            send(j, 1, 0);  // SC-24: one run, however late
            if (j.options.after_sent)
                arm(j, clock_ + j.period);  // SC-26
            break;
        case job_mode::fixed_rate:
            fire_at_rate(j);
            break;
        }
    }

    void fire_at_rate(job& j) {
        const tick_count late = clock_ < j.deadline ? 0 : clock_ - j.deadline;
        const auto missed = static_cast<std::uint32_t>(late / j.period);
        if (!j.options.each && missed > j.options.backlog_limit &&
            fault_ != scheduler_fault::forgets_backlog) {
            warnings_.push_back(
                {tactus::scheduler_warning_kind::backlog_exceeded, j.id, missed});  // A4
            end(j, job_state::cancelled);
            return;
        }
        if (missed > j.options.burst_threshold)
            warnings_.push_back({tactus::scheduler_warning_kind::burst_fire, j.id, missed});
        tick_count next = j.deadline;
        if (j.options.each) {
            for (std::uint32_t i = 0; i <= missed; ++i) {  // A3
                j.deadline = next;
                send(j, 1, 0);
                next += j.period;
            }
        } else {
            const std::uint32_t forgotten =
                fault_ == scheduler_fault::loses_runs && missed > 0 ? 1 : 0;
            send(j, missed + 1 - forgotten, missed - forgotten);
            next += (missed + 1) * j.period;
        }
        arm(j, fault_ == scheduler_fault::drifts ? clock_ + j.period : next);  // A2
    }

    void send(const job& j, std::uint32_t runs, std::uint32_t missed) {
        note(diagnostic_kind::fire, j, runs);
        mailbox_.push_back({j.id, clock_, runs, missed, j.mode});
    }
    void note(diagnostic_kind kind, const job& j, std::uint32_t runs) {
        trace_.push_back({.kind = kind,
                          .mode = j.mode,
                          .job = j.id,
                          .scheduled_at = j.registered,
                          .deadline = j.deadline,
                          .at = clock_,
                          .detail = runs});
    }

    scheduler_fault fault_;
    tick_count clock_ = 0;
    std::uint64_t next_sequence_ = 0;
    bool closed_ = false;
    std::vector<job> jobs_;
    std::map<std::pair<tick_count, std::uint64_t>, std::uint64_t> armed_;  // to the job's id
    std::deque<delivery> mailbox_;
    std::vector<delivery> deliveries_;
    std::vector<told_warning> warnings_;
    std::vector<diagnostic> trace_;
};

}  // namespace tactus_test
