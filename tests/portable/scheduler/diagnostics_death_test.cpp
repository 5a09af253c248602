// SPDX-License-Identifier: Apache-2.0
//
// SD-2: a subscription does not outlive what it is of.
#include <tactus/scheduler/diagnostics.hpp>

#include <array>
#include <optional>

#include "portable_test.hpp"
#include "test_memory.hpp"

namespace tactus {
namespace {

TEST(diagnostics_death, a_subscription_that_is_left_is_a_defect) {
    alignas(16) static std::array<std::byte, 1'024> bytes{};
    tactus_test::test_memory memory(bytes);
    EXPECT_DEATH(
        {
            std::optional<diagnostics> hub(std::in_place, memory);
            const auto left = hub->subscribe(diagnostic_kinds::all(), 1);
            hub.reset();
        },
        "diagnostics:1");
}

}  // namespace
}  // namespace tactus
