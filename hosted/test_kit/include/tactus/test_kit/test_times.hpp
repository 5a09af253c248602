// SPDX-License-Identifier: Apache-2.0
//
// How long expectations wait (PK-TST-4). On slow machines all of them can be made longer at once:
// the environment variable TACTUS_TEST_DILATION is a factor, such as 3 or 0.5.
#pragma once

#include <tactus/time/instant.hpp>

namespace tactus::inline v0::test {

struct test_times {
    duration expect = duration::from_s(3);
    duration no_message = duration::from_ms(100);
    duration shutdown = duration::from_s(10);
    double dilation = 1;

    /// With the factor of the environment. What is no positive number there is told as a failed
    /// expectation.
    [[nodiscard]] static test_times from_environment();

    [[nodiscard]] duration dilated(duration d) const noexcept;
};

}  // namespace tactus::inline v0::test
