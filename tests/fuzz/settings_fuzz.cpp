// SPDX-License-Identifier: Apache-2.0
//
// Goal: no file makes the reader fail other than by an error, and what it has read a resolver takes
// or refuses (DR-6). Method: the first byte of libFuzzer's input chooses the format, the rest is
// the file; settings_properties.hpp says what holds. settings_mutation_test.cpp does a little of
// the same in every run of the tests.
//
// How to run:
//   cmake -S . -B build/fuzz -G Ninja -DCMAKE_CXX_COMPILER=clang++-19 -DTACTUS_FUZZ=ON
//   cmake --build build/fuzz --target settings_fuzz
//   mkdir -p build/fuzz/settings_corpus
//   build/fuzz/tests/settings_fuzz -dict=tests/fuzz/settings.dict -max_len=4096 -max_total_time=60
//       build/fuzz/settings_corpus
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "settings_properties.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using tactus::config::format;
    if (size == 0)
        return 0;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    const auto broken = tactus_test::settings_properties::broken(
        text, data[0] % 2 == 0 ? format::toml : format::json);
    if (!broken.empty()) {
        std::printf("does not hold: %s\n", std::string(broken).c_str());
        std::fflush(stdout);
        std::abort();
    }
    return 0;
}
