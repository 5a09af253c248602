// SPDX-License-Identifier: Apache-2.0
//
// Goal: find programs for the scheduler that random seeds do not (SD-4, DF-83). Method: bytes of
// libFuzzer take the place of random numbers in the program maker; scheduler and model must agree.
// The first byte says whether messages wait and whether a subscriber watches.
//
// How to run:
//   cmake -S . -B build/fuzz -G Ninja -DCMAKE_CXX_COMPILER=clang++-19 -DTACTUS_FUZZ=ON
//   cmake --build build/fuzz --target scheduler_fuzz
//   mkdir -p build/fuzz/scheduler_corpus
//   build/fuzz/tests/scheduler_fuzz -max_len=1024 -max_total_time=60 build/fuzz/scheduler_corpus
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "byte_entropy.hpp"
#include "driven_scheduler.hpp"
#include "scheduler_duel.hpp"
#include "scheduler_program.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tactus_test;  // NOLINT: the harness
    byte_entropy entropy(data, size);
    const auto how = entropy.below(4);
    const bool is_watched = how % 2 == 0;
    const program_limits limits{
        .length_max = 127, .handles_later = how / 2 == 0, .looks_always = is_watched};
    const job_program program = job_program_maker(entropy, limits).make();
    const auto verdict = [&](const job_program& p) {
        driven_scheduler driver(is_watched ? driven_scheduler::watched::yes
                                           : driven_scheduler::watched::no);
        return scheduler_duel(driver, limits.handles_later, limits.looks_always).run(p);
    };
    const std::string why = verdict(program);
    if (why.empty())
        return 0;
    job_program small = shrunk(program, [&](const job_program& p) { return !verdict(p).empty(); });
    const std::string small_why = verdict(small);
    print({0, why, std::move(small), small_why});
    std::fflush(stdout);
    std::abort();
}
