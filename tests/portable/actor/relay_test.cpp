// SPDX-License-Identifier: Apache-2.0
//
// Goal: the program of the firmware example has the same witness wherever time is set by hand; on a
// board that is driven by SysTick examples/firmware has it, too (PT-5).
#include "../../../examples/firmware/relay.hpp"

#include <tactus/time/manual_clock.hpp>

#include "portable_test.hpp"

// PT-5
TEST(relay, has_its_witness) {
    alignas(std::max_align_t) static std::byte
        room[tactus::device_system::required_bytes(relay::config)];
    tactus::manual_clock clock;
    auto system =
        tactus::device_system::create("relay", {.time = &clock, .memory = room}, relay::config);
    relay::score all;
    ASSERT_TRUE(system.has_value());
    ASSERT_TRUE(relay::begin(*system, all));
    int ms = 0;
    while (!system->has_ended() && ms < 1'000) {
        system->run();
        clock.advance(tactus::duration::from_ms(1));
        ++ms;
    }
    EXPECT_EQ(all.handled, 300u);
    EXPECT_TRUE(all.order.finish() == relay::witness);
    EXPECT_EQ(ms, 501);  // the slowest sends every 5 ms
    EXPECT_EQ(system->memory().refused(), 0u);
}
