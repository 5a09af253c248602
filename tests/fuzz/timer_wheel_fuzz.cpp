// SPDX-License-Identifier: Apache-2.0
//
// Goal: find what random seeds do not. Method: bytes of libFuzzer take the place of random numbers
// in the program generator, so that coverage guides the programs; wheel and oracle must agree.
//
// How to run:
//   cmake -S . -B build/fuzz -G Ninja -DCMAKE_CXX_COMPILER=clang++-19 -DTACTUS_FUZZ=ON
//   cmake --build build/fuzz --target timer_wheel_fuzz
//   mkdir -p build/fuzz/corpus
//   build/fuzz/tests/timer_wheel_fuzz -max_len=4096 -max_total_time=120 build/fuzz/corpus
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "byte_entropy.hpp"
#include "wheel_duel.hpp"
#include "wheel_report.hpp"

namespace {

constexpr std::size_t timers_max = 256;
using duel = tactus_test::wheel_duel<timers_max, 1024>;

duel& the_duel() {
    static duel one;
    return one;
}

bool holds(const tactus_test::written_program& p) {
    return agree(the_duel(), p.config, tactus_test::written_source(p.config, p.ops), p.ops.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    tactus_test::byte_entropy entropy(data, size);
    tactus_test::program_generator generator(entropy, timers_max, tactus_test::sink_use::acting);
    tactus_test::written_program whole{generator.config(), {}};
    whole.config.split = size % 2 != 0;
    while (!entropy.empty())
        whole.ops.push_back(generator.next());
    if (holds(whole))
        return 0;
    const auto shrunk = tactus_test::program_shrinker(holds).shrink(whole);
    tactus_test::print_test(0, shrunk, "agrees");
    static_cast<void>(holds(shrunk));
    std::printf("%s: expected %llu, actual %llu\n", the_duel().difference(),
                static_cast<unsigned long long>(the_duel().expected()),
                static_cast<unsigned long long>(the_duel().actual()));
    std::fflush(stdout);
    std::abort();
}
