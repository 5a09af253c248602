// SPDX-License-Identifier: Apache-2.0
//
// Timer policies on the host: set while timers are registered (SC-5).
#include <tactus/scheduler/timer_policy.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
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
    for (int i = 0; i < 20'000; ++i) {
        const fixed_rate_options o = policies.lookup({.dispatcher = 1}).fixed_rate;
        const bool whole = o == fixed_rate_options{} ||
                           (o.backlog_limit == o.burst_threshold && o.backlog_limit >= 10);
        EXPECT_TRUE(whole);
        if (!whole)
            break;
    }
    stop = true;
}

}  // namespace
}  // namespace tactus
