// SPDX-License-Identifier: Apache-2.0
//
// Goal: a sink that throws ends the advance, and nothing is lost: the rest fires at the next one
// (TW-7, hosted sinks only).
// Method: throw from every position of a sequence that comes from several levels.
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <vector>

#include "wheel_fixture.hpp"

using tactus::duration;
using tactus::expired_timer;
using tactus_test::at_ms;

// TW-7
TEST(timer_wheel_exceptions, what_a_throwing_sink_left_fires_at_the_next_advance) {
    const std::vector<std::int64_t> delays = {0, 0, 5, 5, 300, 301, 70'000, 90'000'000};
    for (const bool coalesce : {false, true}) {
        for (std::size_t thrower = 0; thrower < delays.size(); ++thrower) {
            tactus_test::wheel_memory<16> memory;
            auto options = memory.options();
            if (coalesce)
                options.coalescing = {duration::from_ms(10), 2};
            auto box = std::make_unique<tactus_test::wheel_box>();
            auto& wheel = box->make(options);
            for (std::size_t i = 0; i < delays.size(); ++i)
                ASSERT_TRUE(wheel.insert(at_ms(0), duration::from_ms(delays[i]), i).has_value());
            std::vector<std::uint64_t> order;
            const auto sink = [&](const expired_timer& expired) {
                order.push_back(expired.payload);
                if (order.size() == thrower + 1)
                    throw std::runtime_error("sink");
            };
            EXPECT_THROW((void)wheel.advance(at_ms(100'000'000), sink), std::runtime_error);
            EXPECT_EQ(order.size(), thrower + 1);
            EXPECT_EQ(wheel.size(), delays.size() - thrower - 1);
            if (wheel.size() != 0) {
                EXPECT_EQ(wheel.next_deadline(), std::optional<tactus::tick>(wheel.now()));
            }
            const auto rest = wheel.advance(at_ms(100'000'000), sink);
            ASSERT_TRUE(rest.has_value());
            ASSERT_EQ(order.size(), delays.size());
            for (std::size_t i = 0; i < order.size(); ++i)
                EXPECT_EQ(order[i], i);
            EXPECT_EQ(wheel.size(), 0u);
        }
    }
}

// TW-10: what is left of a group does not wait for another one.
TEST(timer_wheel_exceptions, the_rest_of_a_group_fires_next_whatever_else_is_near) {
    tactus_test::wheel_memory<16> memory;
    auto options = memory.options();
    options.coalescing = {duration::from_ms(10), 3};
    auto box = std::make_unique<tactus_test::wheel_box>();
    auto& wheel = box->make(options);
    for (const int delay : {5, 6, 7, 18, 19, 20})
        ASSERT_TRUE(wheel.insert(at_ms(0), duration::from_ms(delay), 0).has_value());
    EXPECT_THROW((void)wheel.advance(at_ms(18), [](const auto&) { throw 1; }), int);
    EXPECT_EQ(wheel.next_deadline(), std::optional<tactus::tick>(18));
    std::size_t fired = 0;
    ASSERT_TRUE(wheel.advance(at_ms(18), [&](const auto&) { ++fired; }).has_value());
    EXPECT_GE(fired, 2u);  // 6 and 7; 18 was due too and came along
}
