// SPDX-License-Identifier: Apache-2.0
//
// Goal: the scheduler does in every program what the specification says (SD-4, TC-S42).
// Method: random programs on it and on the model, step by step; messages handled at once, and
// later; watched, and by nobody, with many cancels before anybody looks. The seed of one that fails
// is printed, and what it was shrunk to.
#include <gtest/gtest.h>

#include "driven_scheduler.hpp"

namespace tactus_test {
namespace {

using watched = driven_scheduler::watched;

void agrees(bool later, watched how) {
    const bool is_watched = how == watched::yes;
    const std::uint32_t count = size_of_run(100'000, 10'000, 2'000) / (is_watched ? 1 : 4);
    program_limits limits{.handles_later = later, .looks_always = is_watched};
    if (!is_watched)
        limits.length_max = 127;
    const auto found =
        run_programs((later ? 1'000'000 : 1), count, limits, [&] { return driven_scheduler(how); });
    if (found)
        print(*found);
    EXPECT_FALSE(found.has_value());
}

TEST(scheduler, SD_4_TC_S42_agrees_with_the_model_when_handled_at_once) {
    agrees(false, watched::yes);
}

TEST(scheduler, SD_4_TC_S42_agrees_with_the_model_when_handled_later) {
    agrees(true, watched::yes);
}

// K1, CN-3
TEST(scheduler, SD_4_TC_S42_agrees_with_the_model_when_nobody_watches) {
    agrees(false, watched::no);
}

TEST(scheduler, SD_4_TC_S42_agrees_with_the_model_when_nobody_watches_and_handled_later) {
    agrees(true, watched::no);
}

}  // namespace
}  // namespace tactus_test
