// SPDX-License-Identifier: Apache-2.0
//
// What the programs with actors share, ours and those of the peers written in C++: sizes and names
// of the cases, and everything that happens outside of actors. A program adds its actors and how
// one tells them something, so that no subject is measured in another way than the others.
//
// Cases that take time rather than work (PF-10, PF-15 … PF-17) are driven from the main thread,
// which sleeps in between: it takes no core away from the workers.
#pragma once

#include <time.h>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <tactus/base/det_rng.hpp>

#include "done_flag.hpp"
#include "measure.hpp"

namespace bench {

/// What the program was asked to do.
struct plan {
    std::uint64_t n = 0;  // scales the number of messages, and the time of cases that take time
    std::uint32_t workers = 0;
    const char* only = std::getenv("BENCH_ONLY");

    [[nodiscard]] bool wanted(const char* name) const {
        return only == nullptr || std::strstr(only, name) != nullptr;
    }
    [[nodiscard]] std::uint64_t hops() const { return 4 * n; }
    static constexpr std::uint32_t ring_size = 503;
    static constexpr std::uint64_t per_turn = 1'000;  // four to one
    [[nodiscard]] std::uint64_t each_of_four() const { return n / per_turn * per_turn; }
    static constexpr std::uint64_t fan_actors = 1'000;
    [[nodiscard]] std::uint64_t fan_rounds() const { return n / fan_actors; }
    static constexpr std::uint64_t pair_actors = 64;
    [[nodiscard]] std::uint64_t exchanges_each() const { return 2 * n / pair_actors; }
    [[nodiscard]] std::uint64_t leaves() const {
        std::uint64_t count = 1;
        while (count * 10 <= n)
            count *= 10;
        return count;
    }
    /// Of a tree with so many leaves, ten children each.
    [[nodiscard]] std::uint64_t tree_actors() const {
        std::uint64_t count = 0;
        for (std::uint64_t level = leaves(); level > 0; level /= 10)
            count += level;
        return count;
    }
    static constexpr std::uint64_t idle_actors = 1'000;
    [[nodiscard]] double idle_seconds() const { return n >= 1'000'000 ? 2 : 0.5; }
    [[nodiscard]] std::uint64_t hand_offs() const { return n >= 1'000'000 ? 300 : 100; }
    [[nodiscard]] std::uint64_t paced_messages() const { return n >= 1'000'000 ? 4'000 : 1'000; }
};

inline std::uint64_t now_ns() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(t.tv_nsec);
}
inline void sleep_until(std::uint64_t at_ns) {
    timespec t{};
    t.tv_sec = static_cast<time_t>(at_ns / 1'000'000'000);
    t.tv_nsec = static_cast<long>(at_ns % 1'000'000'000);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr) != 0) {
    }
}

inline void fail(const char* why) {
    std::fprintf(stderr, "bench: %s\n", why);
    std::abort();
}

/// How long messages took, noted by handlers on any worker; `done` is set when all are there.
class latencies {
public:
    void expect(std::uint64_t count) {
        values_.assign(count, 0);
        taken_.store(0, std::memory_order_relaxed);
        noted_.store(0, std::memory_order_relaxed);
    }
    void note(std::uint64_t ns) {
        values_[taken_.fetch_add(1, std::memory_order_relaxed)] = ns;
        if (noted_.fetch_add(1, std::memory_order_acq_rel) + 1 == values_.size())
            done.set();
    }
    /// In microseconds; after `done`.
    [[nodiscard]] double percentile_us(double part) {
        std::sort(values_.begin(), values_.end());
        const auto last = static_cast<double>(values_.size() - 1);
        return static_cast<double>(values_[static_cast<std::size_t>(std::lround(part * last))]) /
               1e3;
    }

private:
    std::vector<std::uint64_t> values_;
    std::atomic<std::uint64_t> taken_{0};
    std::atomic<std::uint64_t> noted_{0};
};
inline latencies noted;

inline void report_us(const char* id, const std::string& name, std::uint64_t n, double us) {
    report(id, name, n, "us", us, us);
}

/// A handler of PF-10 and PF-17: notes how long the message took.
inline void note_arrival(std::uint64_t sent_ns) {
    noted.note(now_ns() - sent_ns);
}

/// PF-10: `tell(stamp)` to an actor whose worker has slept for some milliseconds. In turns with
/// what the machine itself needs to wake a thread.
template <class Tell>
void run_hand_off(const plan& p, Tell&& tell) {
    constexpr std::uint64_t pause_ns = 3'000'000;
    const std::uint64_t count = p.hand_offs();
    done_flag wake;
    std::uint64_t stamp = 0;  // handed over by `wake`
    std::vector<std::uint64_t> hops;
    std::thread sleeper([&] {
        for (std::uint64_t i = 0; i < count; ++i) {
            wake.wait();
            hops.push_back(now_ns() - stamp);
            done.set();
        }
    });
    std::vector<std::uint64_t> offs;
    for (std::uint64_t i = 0; i < count; ++i) {
        sleep_until(now_ns() + pause_ns);
        noted.expect(1);
        tell(now_ns());
        done.wait();
        offs.push_back(static_cast<std::uint64_t>(noted.percentile_us(0) * 1e3));
        sleep_until(now_ns() + pause_ns);
        stamp = now_ns();
        wake.set();
        done.wait();
    }
    sleeper.join();
    std::sort(offs.begin(), offs.end());
    std::sort(hops.begin(), hops.end());
    const auto at = [](const std::vector<std::uint64_t>& v, std::size_t percent) {
        return static_cast<double>(v[(v.size() - 1) * percent / 100]) / 1e3;
    };
    report_us("PF-10", "hand-off, us, median", count, at(offs, 50));
    report_us("PF-10", "hand-off, us, 99 %", count, at(offs, 99));
    report_us("PF-10", "futex hop, us, median", count, at(hops, 50));
    report_us("PF-10", "futex hop, us, 99 %", count, at(hops, 99));
    const double ratio = at(offs, 50) / at(hops, 50);
    report("PF-10", "hand-off / futex hop, medians", count, "ratio", ratio, ratio);
}

/// PF-15 and PF-16: percent of one core over some time, without messages and with 50 per second.
/// `tell(i)` tells actor i of idle_actors something.
template <class Tell>
void run_idle(const plan& p, Tell&& tell) {
    const auto percent = [&](auto&& work) {
        sleep_until(now_ns() + 100'000'000);
        const double wall = seconds(CLOCK_MONOTONIC);
        const double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
        work();
        return 100 * (seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / (seconds(CLOCK_MONOTONIC) - wall);
    };
    const std::uint64_t length = static_cast<std::uint64_t>(p.idle_seconds() * 1e9);
    const double idle = percent([&] { sleep_until(now_ns() + length); });
    report("PF-15", "CPU % while idle, 1,000 actors", plan::idle_actors, "%", idle, idle);
    const double slow = percent([&] {
        constexpr std::uint64_t step = 20'000'000;
        const std::uint64_t start = now_ns();
        for (std::uint64_t i = 1; i <= length / step; ++i) {
            sleep_until(start + i * step);
            tell(i % plan::idle_actors);
        }
    });
    report("PF-16", "CPU % at 50 messages/s", plan::idle_actors, "%", slow, slow);
}

/// A handler of PF-17: notes the latency, then works for a tenth of a millisecond.
inline constexpr std::uint64_t paced_work_ns = 100'000;
inline void work_paced(std::uint64_t sent_ns) {
    const std::uint64_t start = now_ns();
    while (now_ns() - start < paced_work_ns) {
    }
    noted.note(start - sent_ns);
}

/// PF-17: messages at random moments (Poisson) to random actors, as many as keep those that can run
/// at once busy half of the time. `tell(i, stamp)` tells actor i.
template <class Tell>
void run_half_load(const plan& p, std::uint64_t actors, Tell&& tell) {
    const std::uint64_t at_once = std::min<std::uint64_t>(actors, p.workers);
    const double gap_ns = 2.0 * paced_work_ns / static_cast<double>(at_once);
    tactus::det_rng rng(actors);
    noted.expect(p.paced_messages());
    auto due = static_cast<double>(now_ns());
    for (std::uint64_t i = 0; i < p.paced_messages(); ++i) {
        due -= gap_ns * std::log((static_cast<double>(rng.next_u32()) + 1) / 4294967296.0);
        sleep_until(static_cast<std::uint64_t>(due));
        tell(rng.below(actors), now_ns());
    }
    done.wait();
    const std::string name =
        "half load, " + std::to_string(actors) + (actors == 1 ? " actor" : " actors") + ", us, p";
    for (const int part : {50, 95, 99})
        report_us("PF-17", name + std::to_string(part), actors, noted.percentile_us(part / 100.0));
}
inline constexpr std::uint64_t half_load_actors[] = {1, 10, 100, 1'000};

/// SUBJECT N WORKERS; ends the program when they are not these.
inline plan read_plan(int argc, char** argv, const char* subject) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: %s %s N WORKERS\n", argv[0], subject);
        std::exit(2);
    }
    if (std::strcmp(argv[1], subject) != 0)
        std::exit(3);
    return {.n = std::strtoull(argv[2], nullptr, 10),
            .workers = static_cast<std::uint32_t>(std::strtoul(argv[3], nullptr, 10))};
}

}  // namespace bench
