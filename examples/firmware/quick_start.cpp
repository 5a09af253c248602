// SPDX-License-Identifier: Apache-2.0
//
// The quick start on a board: the same actor, driven by SysTick.
#include <tactus/port/board.hpp>
#include <tactus/port/semihosting.hpp>
#include <tactus/tactus.hpp>
#include <tactus/time/systick_clock.hpp>

class metronome : public tactus::actor<int> {
public:
    void pre_start() {
        if (!context().start_timer_at_fixed_rate("beat", 4, tactus::duration::from_ms(10)))
            context().fail({"no timer"});
    }
    void on(int beats) {
        tactus::port::semihosting::write("beat\n");
        if (++count_ == beats)
            context().world().terminate();
    }
    int count_ = 0;
};

constexpr tactus::device_config config{.actors_max = 1, .timers_max = 4, .overflow_max = 1};
alignas(16) std::byte room[tactus::device_system::required_bytes(config)];

int main() {
    tactus::tick_source ticks;
    const tactus::systick_clock clock(
        {.core_clock_hz = tactus::port::board::core_clock_hz, .ticks = &ticks});
    auto system = tactus::device_system::create(
        "quick-start", {.time = &clock, .ticks = &ticks, .memory = room}, config);
    if (!system || !system->spawn<metronome>("metronome"))
        return 1;
    system->run();  // at 1 kHz; sleeps in between
}
