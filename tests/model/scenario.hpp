// SPDX-License-Identifier: Apache-2.0
//
// Scenarios: the checks of the lock-free kernel, each a test and, for the mutations, an entry of a
// list (MC-3, MC-4).
//
//     TACTUS_MODEL_TEST(parker, LN7_an_unpark_is_never_lost, every_interleaving()) {
//         ... the body of a check ...
//     }
//
// defines a GoogleTest test, which passes when the search within the bounds finds nothing (and was
// complete, if it is exhaustive), and puts the same body on the list of scenarios(). The test
// prints how many executions there were.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include <tactus/port/model.hpp>

namespace scenario {

namespace model = tactus::port::model;

struct entry {
    const char* suite;
    const char* name;
    model::options how;
    void (*body)();
};

/// All of the program's, in no order that means anything.
[[nodiscard]] std::vector<entry>& all();

struct registration {
    explicit registration(const entry& e) { all().push_back(e); }
};

/// What each test does.
void expect_holds(const entry& e);

/// Exhaustive, without a bound: for two threads.
[[nodiscard]] inline model::options every_interleaving() {
    model::options how;
    how.preemption_bound = std::nullopt;
    return how;
}
/// Exhaustive among the interleavings that switch at most so often away from a thread that could
/// go on: for three threads.
[[nodiscard]] inline model::options preempted(unsigned times) {
    model::options how;
    how.preemption_bound = times;
    return how;
}
/// The same, and compare_exchange_weak fails for no reason, and relaxed loads may see what is
/// stored later (load buffering).
[[nodiscard]] inline model::options weakest(unsigned times) {
    model::options how = preempted(times);
    how.spurious_weak_failures = true;
    how.future_reads = true;
    return how;
}
/// What is too large for either.
[[nodiscard]] inline model::options at_random(std::uint64_t runs) {
    model::options how;
    how.search = model::strategy::random;
    how.runs = runs;
    return how;
}
[[nodiscard]] inline model::options by_priorities(std::uint64_t runs, unsigned depth = 3) {
    model::options how;
    how.search = model::strategy::pct;
    how.runs = runs;
    how.pct_depth = depth;
    return how;
}

}  // namespace scenario

#define TACTUS_MODEL_TEST(suite, name, ...)                                             \
    static void body_##suite##_##name();                                                \
    static const scenario::entry entry_##suite##_##name{#suite, #name, __VA_ARGS__,     \
                                                        body_##suite##_##name};         \
    static const scenario::registration known_##suite##_##name(entry_##suite##_##name); \
    TEST(suite, name) {                                                                 \
        scenario::expect_holds(entry_##suite##_##name);                                 \
    }                                                                                   \
    static void body_##suite##_##name()
