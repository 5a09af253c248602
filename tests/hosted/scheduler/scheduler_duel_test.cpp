// SPDX-License-Identifier: Apache-2.0
//
// Goal: the scheduler does in every program what the specification says (SD-4, TC-S42).
// Method: random programs on it and on the model, step by step; messages handled at once, and
// later. The seed of one that fails is printed, and what it was shrunk to.
#include <gtest/gtest.h>

#include "driven_scheduler.hpp"

namespace tactus_test {
namespace {

void agrees(bool later) {
    const std::uint32_t count = size_of_run(100'000, 10'000, 2'000);
    const auto found = run_programs(later ? 1'000'000 : 1, count, {.handles_later = later},
                                    [] { return driven_scheduler(); });
    if (found)
        print(*found);
    EXPECT_FALSE(found.has_value());
}

TEST(scheduler, SD_4_TC_S42_agrees_with_the_model_when_handled_at_once) {
    agrees(false);
}

TEST(scheduler, SD_4_TC_S42_agrees_with_the_model_when_handled_later) {
    agrees(true);
}

}  // namespace
}  // namespace tactus_test
