// SPDX-License-Identifier: Apache-2.0
//
// The quick start on a host: an actor with a timer.
#include <cstdio>

#include <tactus/tactus.hpp>

class metronome : public tactus::actor<int> {
public:
    void pre_start() {
        const auto started =
            context().start_timer_at_fixed_rate("beat", 4, tactus::duration::from_ms(10));
        if (!started)
            context().fail(started.error());
    }
    void on(int beats) {
        std::printf("beat %d of %d\n", ++count_, beats);
        if (count_ == beats)
            context().world().terminate();
    }
    int count_ = 0;
};
int main() {
    tactus::actor_system system("quick-start");
    system.spawn<metronome>("metronome");
    return system.wait(std::chrono::seconds(10)) ? 0 : 1;
}
