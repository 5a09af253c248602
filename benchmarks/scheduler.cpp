// SPDX-License-Identifier: Apache-2.0
//
// Question: what do timers cost that go through the system? (PF-8, PF-9, PF-11, PF-14, PF-32,
// PF-42)
//
// timers.cpp measures the wheel alone; here are the registration, its cell and message, the handle,
// and the delivery to an actor's mailbox. peers/scheduler_caf.cpp and peers/scheduler_erlang.erl do
// the same work.
//
//   schedule and cancel   one-shots due in 1 … 60 minutes, handles kept; cancelled in random order,
//                         in the order of registration, or each at once while no other is pending;
//                         from a thread that is no worker, and inside an actor. Per pair
//   growth                the same with 10^3 … 10^7 pending
//   expiry                10^5 timers over 1 s into one actor, CPU per delivery
//   lateness              of 10^4 timers, beside a bare loop around a timerfd
//   burst                 10,000 due on one tick, all workers stalled until after it: CPU from the
//                         end of the stall to the last delivery
//   start, shutdown       of a system with one actor
//
// The first run of a case warms the memory, and leaves it in the order in which it was cancelled.
//
// usage: bench_scheduler ours N WORKERS      BENCH_ONLY=cancel,growth,expiry,late,burst,start
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tactus/runtime/actor_system.hpp>

#include "timer_cases.hpp"

namespace {

using namespace tactus;
using namespace bench;

duration ns(std::uint64_t count) {
    return duration::from_ns(static_cast<std::int64_t>(count));
}

// ---- schedule and cancel

class nobody : public actor<number> {
public:
    void on(const number&) { fail("a timer that was cancelled has come"); }
};

class doing : public actor<number> {
public:
    explicit doing(std::function<void(actor_context)> work) : work_(std::move(work)) {}
    void on(const number&) {
        work_(context());
        done.set();
    }

private:
    std::function<void(actor_context)> work_;
};

/// How timers are cancelled.
enum class form : std::uint8_t { random_order, in_order, at_once };
const char* name_of(form f) {
    switch (f) {
    case form::random_order:
        return "schedule, cancel in random order";
    case form::in_order:
        return "schedule, cancel in order";
    case form::at_once:
        break;
    }
    return "schedule, cancel at once";
}

void cancel(cancellable& which) {
    if (!which.cancel())
        fail("a timer could not be cancelled");
}

/// Per pair. `schedule(delay)` gives what it was answered.
template <class Schedule>
cost measure_pairs(form f, std::uint64_t n, Schedule&& schedule) {
    const auto delays = far_delays_ms(n, 1);
    const auto order = random_order(n, 2);
    std::vector<cancellable> handles(n);
    const auto make = [&](std::uint64_t i) {
        auto made = schedule(duration::from_ms(delays[i]));
        if (!made)
            fail("a timer was refused");
        return *made;
    };
    const auto once = [&] {
        if (f == form::at_once)
            return measure(n, [&] {
                for (std::uint64_t i = 0; i < n; ++i) {
                    cancellable c = make(i);
                    cancel(c);
                }
            });
        const cost in = measure(n, [&] {
            for (std::uint64_t i = 0; i < n; ++i)
                handles[i] = make(i);
        });
        if (f == form::random_order)
            permute(handles, order);
        const cost out = measure(n, [&] {
            for (cancellable& c : handles)
                cancel(c);
        });
        return cost{in.cpu_ns + out.cpu_ns, in.wall_ns + out.wall_ns};
    };
    // Small ones are repeated, so that each figure covers at least 10^5 pairs.
    const std::uint64_t repeats = n >= 100'000 ? 1 : 100'000 / n;
    once();
    cost sum{};
    for (std::uint64_t r = 0; r < repeats; ++r) {
        const cost c = once();
        sum.cpu_ns += c.cpu_ns / static_cast<double>(repeats);
        sum.wall_ns += c.wall_ns / static_cast<double>(repeats);
    }
    return sum;
}

void run_cancel(actor_system& system, const timer_plan& p, form f) {
    const auto to = system.spawn_anonymous<nobody>();
    scheduler& timers = system.scheduler();
    report("PF-8", name_of(f), p.n, measure_pairs(f, p.n, [&](duration delay) {
               return timers.schedule_once(delay, to.index(), number{1});
           }));
}
void run_cancel_inside(actor_system& system, const timer_plan& p, form f) {
    const auto to = system.spawn_anonymous<nobody>();
    const auto inside = system.spawn_anonymous<doing>([&](actor_context context) {
        report("PF-8", std::string(name_of(f)) + ", inside", p.n,
               measure_pairs(f, p.n, [&](duration delay) {
                   return context.schedule_once(delay, to, number{1});
               }));
    });
    inside.tell(number{0});
    done.wait();
}

/// PF-11: with more and more of them, in random order, and one pair at a time with so many pending.
void run_growth(actor_system& system, const timer_plan& p) {
    const auto to = system.spawn_anonymous<nobody>();
    scheduler& timers = system.scheduler();
    const auto schedule = [&](duration delay) {
        return timers.schedule_once(delay, to.index(), number{1});
    };
    double least_all = 0;
    double least_each = 0;
    double at_million = 0;
    for (std::uint64_t n = 1'000; n <= 10 * p.n; n *= 10) {
        const std::string pending = ", " + std::to_string(n) + " pending";
        const cost all = measure_pairs(form::random_order, n, schedule);
        report("PF-11", "random order" + pending, n, all);
        std::vector<cancellable> others;
        others.reserve(n);
        for (const std::uint32_t delay : far_delays_ms(n, 3)) {
            auto made = schedule(duration::from_ms(delay));
            if (!made)
                fail("a timer was refused");
            others.push_back(*made);
        }
        const cost each = measure_pairs(form::at_once, 100'000, schedule);
        report("PF-11", "at once" + pending, n, each);
        for (cancellable& c : others)
            cancel(c);
        if (n == 1'000) {
            least_all = all.cpu_ns;
            least_each = each.cpu_ns;
        }
        if (n == p.n) {
            at_million = all.cpu_ns;
            const double growth = each.cpu_ns / least_each;
            report("PF-11", "growth, at once", n, "ratio", growth, growth);
        }
    }
    const double growth = at_million / least_all;
    report("PF-11", "growth, random order", p.n, "ratio", growth, growth);
}

// ---- expiry and lateness

class counting : public actor<number> {
public:
    void on(const number&) { delivered.note(); }
};
class noting : public actor<number> {
public:
    void on(const number& deadline_ns) { note_lateness(deadline_ns.value); }
};

template <class Ref>
auto scheduling_to(actor_system& system, const Ref& to) {
    return [&timers = system.scheduler(), to](std::uint64_t delay_ns, std::uint64_t deadline_ns) {
        if (!timers.schedule_once(ns(delay_ns), to.index(), number{deadline_ns}))
            fail("a timer was refused");
    };
}

void run_late(actor_system& system, const timer_plan& p) {
    const auto to = system.spawn_anonymous<noting>();
    const lateness ours = run_lateness(p, scheduling_to(system, to));
    const lateness bare = run_timerfd_lateness(p);
    constexpr double tick_us = tick_ns / 1e3;
    const auto share = [&](const char* name, double us, double bare_us) {
        const double value = us / (tick_us + 1.3 * bare_us);
        report("PF-14", name, p.late(), "ratio", value, value);
    };
    share("lateness / (tick + 1.3 timerfd), median", ours.median_us, bare.median_us);
    share("lateness / (tick + 1.3 timerfd), 99 %", ours.late_us, bare.late_us);
}

// ---- burst

double cpu_us() {
    return seconds(CLOCK_PROCESS_CPUTIME_ID) * 1e6;
}

/// Where all workers meet, and sleep until a moment: the first to wake up notes the CPU time.
struct stall {
    std::atomic<std::uint32_t> missing;
    std::uint64_t until_ns;
    std::atomic<bool> is_over{false};
    double cpu_us_at_end = 0;
};
class stalling : public actor<number> {
public:
    explicit stalling(stall* s) : stall_(s) {}
    void on(const number&) {
        stall_->missing.fetch_sub(1);
        while (stall_->missing.load() != 0) {
        }
        sleep_until(stall_->until_ns);
        if (!stall_->is_over.exchange(true))
            stall_->cpu_us_at_end = cpu_us();
    }

private:
    stall* stall_;
};
class bursting : public actor<number> {
public:
    explicit bursting(double* end) : cpu_us_at_end_(end) {}
    void on(const number&) {
        if (delivered.left == 1)
            *cpu_us_at_end_ = cpu_us();
        delivered.note();
    }

private:
    double* cpu_us_at_end_;
};

void run_burst(actor_system& system, const timer_plan& p) {
    constexpr std::uint64_t repeats = 5;
    std::vector<double> costs;
    double end = 0;
    const auto to = system.spawn_anonymous<bursting>(&end);
    for (std::uint64_t r = 0; r < repeats; ++r) {
        // Half a tick before its end: all of them have one tick.
        const std::uint64_t due = (now_ns() / tick_ns + 100) * tick_ns + tick_ns / 2;
        stall s{.missing = p.workers, .until_ns = due + 50 * tick_ns};
        delivered.left = timer_plan::burst;
        const auto schedule = scheduling_to(system, to);
        for (std::uint64_t i = 0; i < timer_plan::burst; ++i)
            schedule(due - now_ns(), due);
        for (std::uint32_t i = 0; i < p.workers; ++i)
            system.spawn_anonymous<stalling>(&s).tell(number{0});
        done.wait();
        costs.push_back(end - s.cpu_us_at_end);
    }
    std::sort(costs.begin(), costs.end());
    report_us("PF-32", "10,000 on one tick, CPU us", timer_plan::burst, costs[repeats / 2]);
}

// ---- start and shutdown

class first : public actor<number> {
public:
    void on(const number&) { done.set(); }
};

}  // namespace

int main(int argc, char** argv) {
    const timer_plan p{read_plan(argc, argv, "ours")};
    const actor_system::options options{
        .dispatcher = {.workers = p.workers, .max_workers = p.workers}};
    const auto with_system = [&](const char* name, auto&& work) {
        if (!p.wanted(name))
            return;
        actor_system system("bench", options);
        work(system);
    };
    for (const form f : {form::random_order, form::in_order, form::at_once})
        with_system("cancel", [&](actor_system& s) { run_cancel(s, p, f); });
    for (const form f : {form::random_order, form::at_once})
        with_system("cancel", [&](actor_system& s) { run_cancel_inside(s, p, f); });
    if (p.workers == 1)
        with_system("growth", [&](actor_system& s) { run_growth(s, p); });
    with_system("expiry", [&](actor_system& s) {
        run_expiry(scheduling_to(s, s.spawn_anonymous<counting>()));
    });
    with_system("late", [&](actor_system& s) { run_late(s, p); });
    with_system("burst", [&](actor_system& s) { run_burst(s, p); });
    if (p.wanted("start"))
        run_start_stop(p, [&] {
            auto system = std::make_unique<actor_system>("bench", options);
            system->spawn_anonymous<first>().tell(number{0});
            return system;
        });
    return 0;
}
