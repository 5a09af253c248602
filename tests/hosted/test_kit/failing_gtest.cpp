// SPDX-License-Identifier: Apache-2.0
//
// A test that fails, by GoogleTest: what a probe says is what the framework reports (TK-1).
#include <tactus/test_kit/kit.hpp>

#include <gtest/gtest.h>

TEST(failing, by_gtest) {
    tactus::test::kit kit;
    kit.create_probe<int>("gtest").expect(42);
}
