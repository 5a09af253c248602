// SPDX-License-Identifier: Apache-2.0
//
// The relay on the host, with a clock that is set by hand: what the board should do.
#include "relay.hpp"

#include <cstdio>

#include <tactus/time/manual_clock.hpp>

namespace {

alignas(std::max_align_t) std::byte memory[tactus::device_system::required_bytes(relay::config)];

}  // namespace

int main() {
    tactus::manual_clock clock;
    auto system =
        tactus::device_system::create("relay", {.time = &clock, .memory = memory}, relay::config);
    relay::score all;
    if (!system || !relay::begin(*system, all))
        return 2;
    while (!system->has_ended()) {
        system->run();
        clock.advance(tactus::duration::from_ms(1));
    }
    std::printf("relay: %u readings, witness %llu\n", static_cast<unsigned>(all.handled),
                static_cast<unsigned long long>(all.order.finish()));
    return all.order.finish() == relay::witness ? 0 : 1;
}
