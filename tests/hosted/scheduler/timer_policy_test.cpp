// SPDX-License-Identifier: Apache-2.0
//
// Timer policies on the host: set while timers are registered (SC-5).
#include <tactus/scheduler/timer_policy.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include <tactus/dispatch/arena.hpp>

namespace tactus {
namespace {

// SC-5: a policy is found as a whole or not at all, while another thread sets and clears it.
TEST(timer_policy_hosted, policies_may_be_set_while_they_are_looked_up) {
    alignas(16) std::array<std::byte, 1'024> bytes{};
    arena memory(bytes);
    timer_policies policies(memory, 4);
    std::atomic<bool> stop{false};
    std::jthread setter([&] {
        for (std::uint32_t i = 0; !stop.load(); ++i) {
            timer_policy p;
            p.fixed_rate.backlog_limit = 10 + i % 50;
            p.fixed_rate.burst_threshold = p.fixed_rate.backlog_limit;
            if (!policies.set_for_dispatcher(static_cast<std::uint16_t>(i % 3), p))
                break;
            (void)policies.clear_for_dispatcher(static_cast<std::uint16_t>((i + 1) % 3));
        }
    });
    // Until each was found, with a policy and without, so that the two threads were at it at once.
    const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    std::uint32_t with = 0;
    std::uint32_t without = 0;
    while ((with < 1'000 || without < 1'000) && std::chrono::steady_clock::now() < limit) {
        const fixed_rate_options o = policies.lookup({.dispatcher = 1}).fixed_rate;
        const bool is_default = o == fixed_rate_options{};
        ++(is_default ? without : with);
        const bool whole =
            is_default || (o.backlog_limit == o.burst_threshold && o.backlog_limit >= 10);
        EXPECT_TRUE(whole);
        if (!whole)
            break;
    }
    EXPECT_GE(with, 1'000u);
    EXPECT_GE(without, 1'000u);
    stop = true;
}

}  // namespace
}  // namespace tactus
