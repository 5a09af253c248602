// SPDX-License-Identifier: Apache-2.0
//
// Runs a program on a scheduler and on the model, step by step, and looks at what is observed
// (SD-4).
//
// Two judges, independent of each other. The duel compares with the model after every operation:
// what a call returned, which messages were handled, in which order and with how many runs, what
// was warned, how many timers are active, when the next is due; in the end also what is kept, and
// how many were cancelled. The observations need no model: they read the trace of diagnostics and
// hold for every program.
//
// A scheduler that is looked at after every operation, or that somebody watches, is not the one
// that nobody looks at: what it puts off it does then. So there are programs that say when to look,
// and drivers without a trace, which the observations say nothing of.
//
//   O1  ticks are monotonic
//   O2  nothing fires after it was cancelled, nor is cancelled twice
//   O3  nothing fires before its deadline, and a deadline is after the registration
//   O4  what fires at one tick does so in the order of deadlines; one-shots of one deadline in the
//       order of registration
//   O5  a fixed rate that fires has, with that, run as often as its period has passed
//   O6  what is delivered has fired: no job has more runs handled than fired
#pragma once

#include <concepts>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "naive_scheduler.hpp"
#include "scheduler_program.hpp"
#include "wheel_program.hpp"

namespace tactus_test {

/// What the harness drives: the model itself, or a few lines around a real scheduler. Ids are not 0
/// and not used twice; 0 says that a registration was refused. `trace` has schedule, fire (its
/// `detail`: runs) and cancel.
template <class D>
concept scheduler_driver =
    requires(D d, const D k, tick_count n, std::uint64_t id, periodic_options o) {
        { d.schedule_once(n) } -> std::same_as<std::uint64_t>;
        { d.schedule_at_fixed_rate(n, n, o) } -> std::same_as<std::uint64_t>;
        { d.schedule_with_fixed_delay(n, n, o) } -> std::same_as<std::uint64_t>;
        { d.cancel(id) } -> std::same_as<bool>;
        d.stall(n);
        d.advance(n);
        d.handle();
        d.shutdown();
        { k.active() } -> std::convertible_to<std::size_t>;
        { k.next() } -> std::same_as<std::optional<tick_count>>;
        { k.cancelled() } -> std::convertible_to<std::size_t>;
        { k.kept() } -> std::convertible_to<std::size_t>;
        { k.deliveries() } -> std::convertible_to<const std::vector<delivery>&>;
        { k.warnings() } -> std::convertible_to<const std::vector<told_warning>&>;
        { k.trace() } -> std::convertible_to<const std::vector<diagnostic>&>;
    };
static_assert(scheduler_driver<naive_scheduler>);

/// O1 to O5, and O6 if deliveries are given. Empty: all hold.
[[nodiscard]] inline std::string broken_observation(
    const std::vector<diagnostic>& trace,
    const std::map<std::uint64_t, tick_count>& period_of_rates,
    const std::vector<delivery>& deliveries) {
    struct known {
        tick_count first = 0;  // deadline
        std::uint64_t runs = 0;
        std::uint64_t handled = 0;
        bool cancelled = false;
        tick_count fired_at = 0;
        tick_count group_deadline = 0;  // of the first run of this tick
        bool fired = false;
    };
    std::map<std::uint64_t, known> jobs;
    tick_count now = 0;
    std::optional<diagnostic> before;  // the last fire at this tick
    tick_count before_deadline = 0;
    const auto at = [](const char* what, const diagnostic& d) {
        return std::string(what) + ", job " + std::to_string(d.job) + " at tick " +
               std::to_string(d.at);
    };
    // A fixed rate is looked at when its tick is over: `each` fires several times in one.
    const auto miscounted = [&](tick_count until) -> std::string {
        for (const auto& [id, j] : jobs) {
            const auto period = period_of_rates.find(id);
            if (period == period_of_rates.end() || !j.fired || j.fired_at != until)
                continue;
            const std::uint64_t wanted = (until - j.first) / period->second + 1;
            if (j.runs != wanted)
                return "O5: " + std::to_string(j.runs) + " runs instead of " +
                       std::to_string(wanted) + ", job " + std::to_string(id);
        }
        return {};
    };
    for (const diagnostic& d : trace) {
        if (d.at < now)
            return at("O1: time went back", d);
        if (d.at > now) {
            if (std::string wrong = miscounted(now); !wrong.empty())
                return wrong;
            before.reset();
        }
        now = d.at;
        known& j = jobs[d.job];
        switch (d.kind) {
        case diagnostic_kind::schedule:
            if (d.deadline <= d.at)
                return at("O3: due when it is registered", d);
            j.first = d.deadline;
            break;
        case diagnostic_kind::cancel:
            if (j.cancelled)
                return at("O2: cancelled twice", d);
            j.cancelled = true;
            break;
        case diagnostic_kind::fire: {
            if (j.cancelled)
                return at("O2: fired after its cancel", d);
            if (d.at < d.deadline)
                return at("O3: fired early", d);
            if (!j.fired || j.fired_at != d.at)
                j.group_deadline = d.deadline;
            if (before && j.group_deadline < before_deadline)
                return at("O4: fired after a later one", d);
            if (before && before->mode == job_mode::one_shot && d.mode == job_mode::one_shot &&
                d.deadline == before_deadline && d.job < before->job)
                return at("O4: fired after one that was registered later", d);
            before = d;
            before_deadline = j.group_deadline;
            j.fired = true;
            j.fired_at = d.at;
            j.runs += static_cast<std::uint64_t>(d.detail);
            break;
        }
        case diagnostic_kind::drop:
        case diagnostic_kind::drift:
        case diagnostic_kind::driver_status:
        case diagnostic_kind::state:
        case diagnostic_kind::on_close:
        case diagnostic_kind::driver_metrics:
        case diagnostic_kind::diagnostics_overflow:
            break;
        }
    }
    for (const delivery& d : deliveries) {
        known& j = jobs[d.job];
        j.handled += d.runs;
        if (j.handled > j.runs)
            return "O6: more was handled than fired, job " + std::to_string(d.job);
    }
    return miscounted(now);
}

/// A program on a scheduler and on the model.
template <scheduler_driver Driver>
class scheduler_duel {
public:
    explicit scheduler_duel(Driver& driver, bool handles_later = false, bool looks_always = true)
        : driver_(driver), handles_later_(handles_later), looks_always_(looks_always) {}

    /// Empty: they agree all the way, and all observations hold.
    [[nodiscard]] std::string run(const job_program& program) {
        for (const job_op& op : program) {
            std::string wrong = step(op);
            if (wrong.empty())
                wrong = compare();
            if (wrong.empty() && (looks_always_ || op.kind == job_op_kind::look))
                wrong = look();
            if (!wrong.empty())
                return wrong + " after " + to_text(op);
        }
        // What still waits is handled in the end.
        driver_.handle();
        model_.handle();
        std::string wrong = compare();
        if (wrong.empty())
            wrong = look();
        if (wrong.empty())
            wrong = look_at_the_end();
        return wrong.empty() && looks_always_ ? observed() : wrong;
    }
    /// What the trace of the driver says by itself.
    [[nodiscard]] std::string observed() const {
        std::map<std::uint64_t, tick_count> periods;
        for (const registered& r : jobs_) {
            if (r.period != 0)
                periods[r.id] = r.period;
        }
        return broken_observation(driver_.trace(), periods, driver_.deliveries());
    }
    /// Runs it on the driver alone.
    void run_alone(const job_program& program) {
        for (const job_op& op : program)
            (void)step(op);
        driver_.handle();
    }

private:
    struct registered {
        std::uint64_t id = 0;     // the driver's
        std::uint64_t model = 0;  // the model's
        tick_count period = 0;    // of a fixed rate
    };

    [[nodiscard]] std::string step(const job_op& op) {
        switch (op.kind) {
        case job_op_kind::once:
            return add(driver_.schedule_once(op.first), model_.schedule_once(op.first), 0);
        case job_op_kind::fixed_rate:
            return add(driver_.schedule_at_fixed_rate(op.first, op.period, op.options),
                       model_.schedule_at_fixed_rate(op.first, op.period, op.options), op.period);
        case job_op_kind::fixed_delay:
            return add(driver_.schedule_with_fixed_delay(op.first, op.period, op.options),
                       model_.schedule_with_fixed_delay(op.first, op.period, op.options), 0);
        case job_op_kind::cancel: {
            if (jobs_.empty())
                return {};
            const registered& j = jobs_[jobs_.size() - 1 - op.which % jobs_.size()];
            const bool got = driver_.cancel(j.id);
            return got == model_.cancel(j.model) ? std::string()
                                                 : "cancel of job " + std::to_string(j.model) +
                                                       " said " + (got ? "true" : "false");
        }
        case job_op_kind::advance:
            pass(op.first);
            return {};
        case job_op_kind::steps:
            for (tick_count i = 0; i < op.first; ++i)
                pass(1);
            return {};
        case job_op_kind::stall:
            driver_.stall(op.first);
            model_.stall(op.first);
            return {};
        case job_op_kind::handle:
            handle();
            return {};
        case job_op_kind::shutdown:
            driver_.shutdown();
            model_.shutdown();
            if (!handles_later_)
                handle();
            return {};
        case job_op_kind::look:
            return {};  // see run()
        }
        return {};
    }
    void pass(tick_count n) {
        driver_.advance(n);
        model_.advance(n);
        if (!handles_later_)
            handle();
    }
    void handle() {
        driver_.handle();
        model_.handle();
    }
    [[nodiscard]] std::string add(std::uint64_t id, std::uint64_t model, tick_count period) {
        if ((id == 0) != (model == 0))
            return id == 0 ? "a registration was refused" : "a registration was accepted";
        if (id != 0)
            jobs_.push_back({id, model, period});
        return {};
    }
    [[nodiscard]] std::uint64_t driver_id(std::uint64_t model) const {
        return jobs_[model - 1].id;  // the model counts what is accepted, from 1
    }

    [[nodiscard]] std::string compare() {
        const auto numbered = [](const char* what, std::size_t i) {
            return std::string(what) + " " + std::to_string(i) + " differs";
        };
        const auto& got = driver_.deliveries();
        const auto& wanted = model_.deliveries();
        for (; compared_ < got.size() && compared_ < wanted.size(); ++compared_) {
            delivery w = wanted[compared_];
            w.job = driver_id(w.job);
            if (got[compared_] != w)
                return numbered("delivery", compared_);
        }
        if (got.size() != wanted.size())
            return std::to_string(got.size()) + " deliveries instead of " +
                   std::to_string(wanted.size());
        const auto& told = driver_.warnings();
        const auto& expected = model_.warnings();
        if (told.size() != expected.size())
            return std::to_string(told.size()) + " warnings instead of " +
                   std::to_string(expected.size());
        for (; warned_ < told.size(); ++warned_) {
            told_warning w = expected[warned_];
            w.job = driver_id(w.job);
            if (told[warned_] != w)
                return numbered("warning", warned_);
        }
        return {};
    }
    /// What is looked at may be done by that: so once each, and in this order in the end.
    [[nodiscard]] std::string look() {
        const auto text = [](std::optional<tick_count> at) {
            return at ? "at " + std::to_string(*at) : std::string("never");
        };
        const std::size_t active = driver_.active();
        if (active != model_.active())
            return std::to_string(active) + " active timers instead of " +
                   std::to_string(model_.active());
        const auto next = driver_.next();
        return next == model_.next()
                   ? std::string()
                   : "the next is due " + text(next) + " instead of " + text(model_.next());
    }
    /// All messages have been handled.
    [[nodiscard]] std::string look_at_the_end() {
        if (driver_.kept() != model_.kept())
            return std::to_string(driver_.kept()) + " kept instead of " +
                   std::to_string(model_.kept());
        if (driver_.cancelled() != model_.cancelled())
            return std::to_string(driver_.cancelled()) + " cancelled instead of " +
                   std::to_string(model_.cancelled());
        return {};
    }

    Driver& driver_;
    naive_scheduler model_;
    bool handles_later_;
    bool looks_always_;
    std::vector<registered> jobs_;
    std::size_t compared_ = 0;
    std::size_t warned_ = 0;
};

struct failed_program {
    std::uint64_t seed = 0;
    std::string why;  // of the program as it was made
    job_program shrunk;
    std::string shrunk_why;
};

/// Where the process is, for a program that ends it.
inline std::uint64_t running_seed = 0;

/// Runs `count` programs from `seed` on, each on a driver of its own that `make` returns, and stops
/// at the first that fails, shrunk. The seed of one that ends the process is printed.
template <class Make>
[[nodiscard]] std::optional<failed_program> run_programs(std::uint64_t seed, std::size_t count,
                                                         const program_limits& limits,
                                                         Make&& make) {
    const auto verdict = [&](const job_program& p) {
        auto driver = make();
        return scheduler_duel(driver, limits.handles_later, limits.looks_always).run(p);
    };
    const auto say_seed = [](int fault) {
        std::fprintf(stderr, "program of seed %llu\n",
                     static_cast<unsigned long long>(running_seed));
        std::signal(fault, SIG_DFL);
        std::raise(fault);
    };
    const auto aborted = std::signal(SIGABRT, say_seed);
    const auto faulted = std::signal(SIGSEGV, say_seed);
    std::optional<failed_program> found;
    for (std::size_t i = 0; i < count && !found; ++i) {
        running_seed = seed + i;
        const job_program p = job_program_maker(entropy_of(running_seed), limits).make();
        const std::string why = verdict(p);
        if (why.empty())
            continue;
        job_program small = shrunk(p, [&](const job_program& q) { return !verdict(q).empty(); });
        std::string small_why = verdict(small);
        found = {running_seed, why, std::move(small), std::move(small_why)};
    }
    std::signal(SIGABRT, aborted);
    std::signal(SIGSEGV, faulted);
    return found;
}

/// For a test that fails.
inline void print(const failed_program& f) {
    std::printf("seed %llu: %s\nshrunk to %zu operations: %s\n%s",
                static_cast<unsigned long long>(f.seed), f.why.c_str(), f.shrunk.size(),
                f.shrunk_why.c_str(), to_text(f.shrunk).c_str());
}

}  // namespace tactus_test
