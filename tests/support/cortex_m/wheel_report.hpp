// SPDX-License-Identifier: Apache-2.0
//
// What a board does about a failed random program: print its seed. The host has the rest
// (support/host): a program of the same configuration shrinks there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "portable_test.hpp"

namespace tactus_test {

[[nodiscard]] inline std::optional<std::uint64_t> wanted_seed() {
    return std::nullopt;
}
[[nodiscard]] inline std::uint64_t wanted_operations(std::uint64_t otherwise) {
    return otherwise;
}

template <class Experiment>
class failure_reporter {
public:
    failure_reporter(std::uint64_t seed, std::size_t, std::uint64_t) : seed_(seed) {}
    void report() const { TEST_LOG("failing seed", seed_); }

private:
    std::uint64_t seed_;
};

}  // namespace tactus_test
