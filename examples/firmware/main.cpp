// SPDX-License-Identifier: Apache-2.0
//
// The relay on a board: SysTick at 1 kHz, everything in one array, text over semihosting.
#include "relay.hpp"

#include <tactus/port/board.hpp>
#include <tactus/port/memory_use.hpp>
#include <tactus/port/semihosting.hpp>
#include <tactus/time/systick_clock.hpp>
#include <tactus/time/systick_driver.hpp>

namespace semihosting = tactus::port::semihosting;

namespace {

alignas(std::max_align_t) std::byte memory[tactus::device_system::required_bytes(relay::config)];

void say(const char* before, std::uint64_t number) {
    semihosting::write(before);
    semihosting::write_decimal(number);
}

}  // namespace

int main() {
    tactus::tick_source ticks;
    const tactus::systick_clock clock({.core_clock_hz = tactus::port::board::core_clock_hz});
    tactus::systick_driver driver(clock);
    auto system = tactus::device_system::create(
        "relay", {.time = &clock, .ticks = &ticks, .driver = &driver, .memory = memory},
        relay::config);
    tactus::port::heap_close();
    relay::score all;
    if (!system || !relay::begin(*system, all))
        return 2;
    system->run();

    say("relay: ", all.handled);
    say(" readings, witness ", all.order.finish());
    say("\nmemory: array ", sizeof memory);
    say(", of its arena used ", system->memory().peak());
    say(" of ", system->memory().size());
    say("; static ", tactus::port::static_size());
    say(" bytes of RAM, stack ", tactus::port::stack_peak());
    say(" at its peak, heap ", tactus::port::heap_used());
    semihosting::write("\n");
    return all.order.finish() == relay::witness ? 0 : 1;
}
