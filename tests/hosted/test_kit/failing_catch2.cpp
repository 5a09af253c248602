// SPDX-License-Identifier: Apache-2.0
//
// A test that fails, by Catch2: what a probe says is what the framework reports (TK-1).
#define CATCH_CONFIG_MAIN
#include <tactus/test_kit/kit.hpp>

#include <catch2/catch.hpp>

TEST_CASE("failing by Catch2") {
    tactus::test::kit kit;
    kit.create_probe<int>("catch2").expect(42);
}
