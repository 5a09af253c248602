// SPDX-License-Identifier: Apache-2.0
//
// What the programs with timers of a system share, ours and the peer's in C++: sizes, delays and
// orders, and everything that happens outside of actors (PF-8, PF-9, PF-14, PF-42).
//
// Deadlines of cases that wait lie behind a lead, in which they are all scheduled; what is measured
// begins after that.
#pragma once

#include <sys/timerfd.h>
#include <unistd.h>
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <tactus/base/det_rng.hpp>

#include "actor_cases.hpp"
#include "measure.hpp"
#include "permute.hpp"

namespace bench {

struct timer_plan : plan {
    static constexpr std::uint64_t expiring = 100'000;  // over a second
    [[nodiscard]] std::uint64_t late() const { return n / 100; }
    [[nodiscard]] std::uint64_t late_span_ns() const { return late() * 300'000; }
    [[nodiscard]] std::uint64_t starts() const { return n >= 1'000'000 ? 20 : 5; }
    static constexpr std::uint64_t burst = 10'000;
};

inline constexpr std::uint64_t lead_ns = 700'000'000;  // long enough to schedule them all
inline constexpr std::uint64_t tick_ns = 1'000'000;

/// From one minute to one hour: nothing is due while it is measured.
inline std::vector<std::uint32_t> far_delays_ms(std::uint64_t n, std::uint64_t seed) {
    tactus::det_rng rng(seed);
    std::vector<std::uint32_t> delays(n);
    for (auto& d : delays)
        d = 60'000 + static_cast<std::uint32_t>(rng.below(3'540'000));
    return delays;
}
inline std::vector<std::uint32_t> random_order(std::uint64_t n, std::uint64_t seed) {
    std::vector<std::uint32_t> order(n);
    for (std::uint64_t i = 0; i < n; ++i)
        order[i] = static_cast<std::uint32_t>(i);
    tactus::det_rng(seed).shuffle(std::span<std::uint32_t>(order));
    return order;
}
/// Of deadlines, behind the lead.
inline std::vector<std::uint64_t> random_offsets_ns(std::uint64_t n, std::uint64_t span_ns) {
    tactus::det_rng rng(n);
    std::vector<std::uint64_t> offsets(n);
    for (auto& o : offsets)
        o = lead_ns + rng.below(span_ns);
    return offsets;
}

/// Deliveries of a case; `done` is set by the last one. Of one actor.
struct deliveries {
    std::uint64_t left = 0;
    void note() {
        if (--left == 0)
            done.set();
    }
};
inline deliveries delivered;

/// Schedules all, by `schedule(delay_ns, deadline_ns)`, before the first is due.
template <class Schedule>
void schedule_behind_lead(const std::vector<std::uint64_t>& offsets, Schedule&& schedule) {
    const std::uint64_t start = now_ns();
    for (const std::uint64_t o : offsets) {
        const std::uint64_t now = now_ns();
        if (now >= start + lead_ns)
            fail("scheduling took longer than the lead");
        schedule(start + o - now, start + o);
    }
}

/// PF-9: CPU per delivery of timers that expire over a second into one actor, which calls
/// delivered.note().
template <class Schedule>
void run_expiry(Schedule&& schedule) {
    constexpr std::uint64_t count = timer_plan::expiring;
    delivered.left = count;
    schedule_behind_lead(random_offsets_ns(count, 1'000'000'000), schedule);
    report("PF-9", "timers expire over 1 s", count, measure(count, [] { done.wait(); }));
}

/// Notes how late a timer is; an early one is a bug.
inline void note_lateness(std::uint64_t deadline_ns) {
    const std::uint64_t now = now_ns();
    if (now < deadline_ns)
        fail("a timer came early");
    noted.note(now - deadline_ns);
}

struct lateness {
    double median_us;
    double late_us;  // 99 %
};
inline lateness report_lateness(const char* who, std::uint64_t count) {
    const lateness seen{noted.percentile_us(0.5), noted.percentile_us(0.99)};
    report_us("PF-14", std::string(who) + "lateness, us, median", count, seen.median_us);
    report_us("PF-14", std::string(who) + "lateness, us, 99 %", count, seen.late_us);
    return seen;
}

/// PF-14: of timers in a system that does nothing else; their actor calls note_lateness.
template <class Schedule>
lateness run_lateness(const timer_plan& p, Schedule&& schedule) {
    noted.expect(p.late());
    schedule_behind_lead(random_offsets_ns(p.late(), p.late_span_ns()), schedule);
    done.wait();
    return report_lateness("", p.late());
}

/// The same deadlines in a bare loop around a timerfd: what the machine itself can do.
inline lateness run_timerfd_lateness(const timer_plan& p) {
    std::vector<std::uint64_t> deadlines = random_offsets_ns(p.late(), p.late_span_ns());
    std::sort(deadlines.begin(), deadlines.end());
    noted.expect(p.late());
    const int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    if (fd < 0)
        fail("no timerfd");
    const std::uint64_t start = now_ns();
    for (std::uint64_t& at : deadlines) {
        at += start;
        if (now_ns() < at) {
            itimerspec when{};
            when.it_value.tv_sec = static_cast<time_t>(at / 1'000'000'000);
            when.it_value.tv_nsec = static_cast<long>(at % 1'000'000'000);
            std::uint64_t expirations = 0;
            if (timerfd_settime(fd, TFD_TIMER_ABSTIME, &when, nullptr) != 0 ||
                read(fd, &expirations, sizeof expirations) != sizeof expirations)
                fail("a timerfd does not work");
        }
        note_lateness(at);
    }
    close(fd);
    done.wait();
    return report_lateness("timerfd ", p.late());
}

/// PF-42: `start()` makes a system and tells an actor of it something, which sets `done`; what it
/// gives ends the system when it is destroyed.
template <class Start>
void run_start_stop(const timer_plan& p, Start&& start) {
    std::vector<std::uint64_t> starts;
    std::vector<std::uint64_t> stops;
    for (std::uint64_t i = 0; i < p.starts(); ++i) {
        const std::uint64_t begun = now_ns();
        {
            auto system = start();
            done.wait();
            starts.push_back(now_ns() - begun);
            sleep_until(now_ns() + 20'000'000);  // idle
            stops.push_back(now_ns());
        }
        stops.back() = now_ns() - stops.back();
    }
    std::sort(starts.begin(), starts.end());
    std::sort(stops.begin(), stops.end());
    const auto middle = [](const auto& v) { return static_cast<double>(v[v.size() / 2]) / 1e3; };
    report_us("PF-42", "start to first message, us", p.starts(), middle(starts));
    report_us("PF-42", "shutdown when idle, us", p.starts(), middle(stops));
}

}  // namespace bench
