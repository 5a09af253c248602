// SPDX-License-Identifier: Apache-2.0
//
// Question: what does a timer cost, with n of them pending? (PF-20 … PF-25)
//
// One million connections with a timeout each: delays spread evenly over 1 ms … 60 s at 1 ms
// resolution, in virtual time. Inserted in random order of deadline; each moved once, in random
// order; cancelled in random order; inserted again and fired, the loop going from one next deadline
// to the next as a tickless driver does. `far` repeats the last step over an hour, where every
// timer cascades twice.
//
// Insert is the mean over filling from nothing to n. "Next deadline" asks a wheel that has not
// changed; "cancel the earliest and ask" takes the earliest away each time.
//
// Overflow (PF-32), of ours alone: delays of 24 h and up to one hour more do not fit the wheel and
// wait in a heap. Time passes until all of them have been promoted to the wheel; then they fire.
//
// usage: timers SUBJECT N      SUBJECT: ours, asio, libuv, priority_queue, multimap
//        BENCH_ONLY=wheel or overflow: that part alone
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tactus/base/det_rng.hpp>

#include "measure.hpp"
#include "ours/timers.hpp"
#include "peers/timers_std.hpp"
#ifdef BENCH_HAS_ASIO
#include "peers/timers_asio.hpp"
#endif
#ifdef BENCH_HAS_LIBUV
#include "peers/timers_libuv.hpp"
#endif

namespace {

constexpr std::uint32_t minute_ms = 60'000;
constexpr std::uint32_t hour_ms = 3'600'000;
constexpr std::uint32_t day_ms = 24 * hour_ms;  // as far as the wheel reaches

std::vector<std::uint32_t> random_delays(std::size_t n, std::uint32_t horizon_ms,
                                         std::uint64_t seed) {
    tactus::det_rng rng(seed);
    std::vector<std::uint32_t> delays(n);
    for (auto& d : delays)
        d = static_cast<std::uint32_t>(rng.below(horizon_ms)) + 1;
    return delays;
}

std::vector<std::uint32_t> random_order(std::size_t n, std::uint64_t seed) {
    std::vector<std::uint32_t> order(n);
    for (std::size_t i = 0; i < n; ++i)
        order[i] = static_cast<std::uint32_t>(i);
    tactus::det_rng(seed).shuffle(std::span<std::uint32_t>(order));
    return order;
}

template <class Subject>
void insert_all(Subject& subject, const std::vector<std::uint32_t>& delays) {
    for (std::size_t i = 0; i < delays.size(); ++i)
        subject.insert(i, delays[i]);
}

// Takes the earliest away and asks for the next, again and again; then puts them back.
template <class Subject>
void cancel_earliest(Subject& subject, const std::vector<std::uint32_t>& delays) {
    const std::size_t count = std::min<std::size_t>(delays.size() / 10, 10'000);
    std::vector<std::uint32_t> by_deadline(delays.size());
    std::iota(by_deadline.begin(), by_deadline.end(), 0u);
    std::stable_sort(by_deadline.begin(), by_deadline.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return delays[a] < delays[b]; });
    bench::report("PF-24", "cancel the earliest and ask", delays.size(), bench::measure(count, [&] {
                      for (std::size_t i = 0; i < count; ++i) {
                          subject.cancel(by_deadline[i]);
                          bench::keep(subject.next_deadline());
                      }
                  }));
    for (std::size_t i = 0; i < count; ++i)
        subject.insert(by_deadline[i], delays[by_deadline[i]]);
}

template <class Subject>
int run(std::size_t n) {
    const auto delays = random_delays(n, minute_ms, 1);
    const auto moved = random_delays(n, minute_ms, 2);
    const auto far = random_delays(n, hour_ms, 3);
    const auto order = random_order(n, 4);
    const auto order2 = random_order(n, 5);
    // Small runs are repeated, so that each figure covers at least 10^5 operations.
    const std::size_t repeats = n >= 100'000 ? 1 : 100'000 / n;

    const std::uint64_t before = bench::resident_bytes();
    Subject subject(n);
    insert_all(subject, delays);
    const std::uint64_t after = bench::resident_bytes();
    bench::report(
        "PF-25", "bytes per timer", n, "bytes",
        static_cast<double>(after - before) / static_cast<double>(n) - Subject::handle_bytes, 0);
    // Warm from here on. Cancelled backwards, so that everybody's free memory is in its original
    // order.
    for (std::size_t i = n; i-- > 0;)
        subject.cancel(i);

    bench::cost insert{}, reschedule{}, cancel{}, expire{}, expire_far{};
    const auto add = [&](bench::cost& sum, const bench::cost& part) {
        sum.cpu_ns += part.cpu_ns / static_cast<double>(repeats);
        sum.wall_ns += part.wall_ns / static_cast<double>(repeats);
    };
    for (std::size_t r = 0; r < repeats; ++r) {
        add(insert, bench::measure(n, [&] { insert_all(subject, delays); }));
        subject.permute(order2);
        add(reschedule, bench::measure(n, [&] {
                for (std::size_t i = 0; i < n; ++i)
                    subject.reschedule(i, moved[i]);
            }));
        if (r + 1 == repeats) {
            const std::uint64_t calls = 1'000'000;
            bench::report("PF-24", "next deadline", n, bench::measure(calls, [&] {
                              for (std::uint64_t i = 0; i < calls; ++i)
                                  bench::keep(subject.next_deadline());
                          }));
        }
        subject.permute(order);
        add(cancel, bench::measure(n, [&] {
                for (std::size_t i = 0; i < n; ++i)
                    subject.cancel(i);
            }));
        subject.restore();
        insert_all(subject, delays);
        if (r + 1 == repeats)
            cancel_earliest(subject, delays);
        std::uint64_t fired = 0;
        add(expire, bench::measure(n, [&] { fired = subject.expire_all(); }));
        if (subject.reaches(hour_ms)) {
            insert_all(subject, far);
            add(expire_far, bench::measure(n, [&] { fired += subject.expire_all() - n; }));
        }
        if (fired != n) {
            std::fprintf(stderr, "timers: %llu of %llu timers fired\n",
                         static_cast<unsigned long long>(fired),
                         static_cast<unsigned long long>(n));
            return 1;
        }
    }
    bench::report("PF-20", "insert", n, insert);
    bench::report("PF-21", "cancel, random order", n, cancel);
    bench::report("PF-22", "reschedule, random order", n, reschedule);
    bench::report("PF-23", "expire with cascade", n, expire);
    if (subject.reaches(hour_ms))
        bench::report("PF-23", "expire with cascade, over an hour", n, expire_far);
    return 0;
}

int run_overflow(std::size_t n) {
    auto delays = random_delays(n, hour_ms, 6);
    for (auto& d : delays)
        d += day_ms;
    bench::ours_timers subject(n);
    // Warm, as above.
    insert_all(subject, delays);
    for (std::size_t i = n; i-- > 0;)
        subject.cancel(i);
    const auto insert = bench::measure(n, [&] { insert_all(subject, delays); });
    const std::size_t waiting = subject.overflow_count();
    bench::report("PF-32", "insert beyond the wheel", n, insert);
    const auto promote = bench::measure(n, [&] { subject.pass(2 * hour_ms); });
    const std::size_t left = subject.overflow_count();
    bench::report("PF-32", "promote from overflow", n, promote);
    std::uint64_t fired = 0;
    const auto expire = bench::measure(n, [&] { fired = subject.expire_all(); });
    bench::report("PF-32", "expire after promotion", n, expire);
    if (waiting != n || left != 0 || fired != n) {
        std::fprintf(stderr, "timers: %zu of %zu waited in overflow, %zu were left, %llu fired\n",
                     waiting, n, left, static_cast<unsigned long long>(fired));
        return 1;
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string subject = argc > 2 ? argv[1] : "";
    const std::size_t n = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
    if (n == 0) {
        std::fprintf(stderr, "usage: timers ours|asio|libuv|priority_queue|multimap N\n");
        return 2;
    }
    const char* const only = std::getenv("BENCH_ONLY");
    const auto wanted = [&](std::string_view part) { return only == nullptr || part == only; };
    if (subject == "ours") {
        const int failed = wanted("wheel") ? run<bench::ours_timers>(n) : 0;
        return failed == 0 && wanted("overflow") ? run_overflow(n) : failed;
    }
    if (subject == "priority_queue")
        return run<bench::priority_queue_timers>(n);
    if (subject == "multimap")
        return run<bench::multimap_timers>(n);
#ifdef BENCH_HAS_ASIO
    if (subject == "asio")
        return run<bench::asio_timers>(n);
#endif
#ifdef BENCH_HAS_LIBUV
    if (subject == "libuv")
        return run<bench::libuv_timers>(n);
#endif
    std::fprintf(stderr,
                 "timers: subject '%s' is unknown or was not installed when this was built\n",
                 subject.c_str());
    return 3;
}
