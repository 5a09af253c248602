// SPDX-License-Identifier: Apache-2.0
//
// The quick start on a host: an actor with a timer.
#include <cstdio>

#include <tactus/tactus.hpp>

struct metronome : tactus::actor<int> {
    void pre_start() {
        if (!context().start_timer_at_fixed_rate("beat", 4, tactus::duration::from_ms(10)))
            context().fail({"no timer"});
    }
    void on(int beats) {
        std::printf("beat %d of %d\n", ++count, beats);
        if (count == beats)
            context().world().terminate();
    }
    int count = 0;
};
int main() {
    tactus::actor_system system("quick-start");
    system.spawn<metronome>("metronome");
    return system.wait(std::chrono::seconds(10)) ? 0 : 1;
}
