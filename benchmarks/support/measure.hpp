// SPDX-License-Identifier: Apache-2.0
//
// What every benchmark needs: CPU and wall time of a piece of work, resident memory, one result per
// line.
//
// A program measures one subject (ours or a peer) once and prints one JSON object per case. Rounds,
// interleaving, medians and ratios are the business of ./bench, which starts the programs in turn.
#pragma once

#include <unistd.h>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_ZERO_STATS
#define CALLGRIND_DUMP_STATS_AT(text) static_cast<void>(text)
#endif

namespace bench {

inline double seconds(clockid_t which) {
    timespec t{};
    clock_gettime(which, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

struct cost {
    double cpu_ns;
    double wall_ns;
};

template <class Work>
cost measure_time(std::uint64_t operations, Work& work) {
    const double wall = seconds(CLOCK_MONOTONIC);
    const double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    work();
    const double per = 1e9 / static_cast<double>(operations);
    return {(seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) * per,
            (seconds(CLOCK_MONOTONIC) - wall) * per};
}

/// Under callgrind, writes the instructions counted since the last call (./bench --instructions).
inline void dump_instructions(const std::string& what) {
    CALLGRIND_DUMP_STATS_AT(what.c_str());
}

/// CPU and wall nanoseconds per operation of `work`, which does `operations` of them.
template <class Work>
cost measure(std::uint64_t operations, Work&& work) {
    CALLGRIND_ZERO_STATS;
    const cost c = measure_time(operations, work);
    dump_instructions("measured " + std::to_string(operations));
    return c;
}
/// Bytes of memory the process has in use now.
inline std::uint64_t resident_bytes() {
    unsigned long long total = 0;
    unsigned long long resident = 0;
    if (std::FILE* f = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(f, "%llu %llu", &total, &resident) != 2)
            resident = 0;
        std::fclose(f);
    }
    return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// Keeps a value alive in the eyes of the optimiser.
template <class T>
inline void keep(const T& value) {
    asm volatile("" : : "r,m"(value) : "memory");
}

inline void report(const char* id, const std::string& name, std::uint64_t n, const char* unit,
                   double value, double wall) {
    std::printf(
        "{\"id\": \"%s\", \"case\": \"%s\", \"n\": %llu, \"unit\": \"%s\", \"value\": %.4f, "
        "\"wall\": %.4f}\n",
        id, name.c_str(), static_cast<unsigned long long>(n), unit, value, wall);
    std::fflush(stdout);
    dump_instructions(std::string("reported ") + id + " " + name);
}

inline void report(const char* id, const std::string& name, std::uint64_t n, const cost& c) {
    report(id, name, n, "ns", c.cpu_ns, c.wall_ns);
}

}  // namespace bench
