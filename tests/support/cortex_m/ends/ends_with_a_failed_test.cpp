// SPDX-License-Identifier: Apache-2.0
//
// Every kind of expectation that does not hold: the run must say so and fail.
#include <optional>

#include "portable_test.hpp"

namespace {

enum class colour : unsigned char { red, green };

int calls = 0;
int next() {
    return ++calls;
}

void returns_at_the_first_failed_assertion() {
    ASSERT_EQ(1, 2);
    TEST_LOG("not reached", 0);
}

}  // namespace

TEST(expectations, hold) {
    EXPECT_TRUE(true);
    EXPECT_FALSE(false);
    EXPECT_EQ(-1, -1L);
    EXPECT_NE(-1, ~0u);  // as numbers, not as bits
    EXPECT_LT(-1, 0u);
    EXPECT_LE(2u, 2);
    EXPECT_GT(0u, -1);
    EXPECT_GE(2, 2u);
    EXPECT_EQ(colour::red, colour::red);
    EXPECT_EQ(std::optional<unsigned>(3), std::optional<unsigned>(3));
    EXPECT_EQ(std::optional<unsigned>(), std::nullopt);
    EXPECT_EQ(next(), 1);
    EXPECT_EQ(calls, 1);  // evaluated once
    EXPECT_TRUE([] {
        EXPECT_TRUE(true);  // inside the argument of another
        return true;
    }());
    if (calls == 1)
        EXPECT_TRUE(true);
    else
        EXPECT_TRUE(false);
}

TEST(expectations, fail_and_go_on) {
    EXPECT_EQ(-1, ~0u);
    EXPECT_EQ(colour::red, colour::green);
    EXPECT_EQ(std::optional<unsigned>(3), std::optional<unsigned>());
    EXPECT_LT(2, 1);
    EXPECT_TRUE(false);
}

TEST(expectations, fail_in_a_function) {
    returns_at_the_first_failed_assertion();
}

TEST(expectations, fail_and_return) {
    ASSERT_FALSE(true);
    TEST_LOG("not reached", 0);
}
