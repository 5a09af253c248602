// SPDX-License-Identifier: Apache-2.0
//
// Goal: timers of actors count as those of messages do (BP-8).
// Method: one of each kind in a world whose time the test moves.
#include <gtest/gtest.h>

#include <tactus/actor/ask.hpp>

#include "world_rig.hpp"

using namespace tactus;
using tactus_test::ms;
using tactus_test::world_rig;

namespace {

struct beat {};
struct keyed {};
struct idle {};
struct waits {};
struct question {
    actor_ref<int> reply_to;
};
struct asks {};

class clockwork : public actor<beat, keyed, idle, waits, question, asks> {
public:
    static constexpr bool reentrant = true;
    void on(keyed) { EXPECT_TRUE(context().start_timer_at_fixed_rate("t", beat{}, ms(10))); }
    void on(beat) {
        if (++beats == 3)
            (void)context().cancel_timer("t");
    }
    void on(idle) { context().set_receive_timeout(ms(10)); }
    void on(const receive_timeout&) { context().cancel_receive_timeout(); }
    task<> on(waits) {
        const auto passed = co_await context().delay(ms(10));
        EXPECT_TRUE(passed.has_value());
    }
    void on(const question&) {}  // no reply
    task<> on(asks) {
        const auto make = [](actor_ref<int> me) { return question{me}; };
        const auto answer = co_await context().ask<int>(self(), make, ms(10));
        EXPECT_FALSE(answer.has_value());
    }
    int beats = 0;
};

}  // namespace

TEST(timer_counts, BP_8_what_actors_wait_for_has_fired) {
    world_rig rig;
    const auto who = rig.spawn<clockwork>("c");
    scheduler& timers = *rig.timing.service();
    const auto fires = [&](auto message) {
        const std::uint64_t before = timers.counted().fired;
        who.tell(message);
        rig.run();
        rig.pass(50);
        EXPECT_EQ(timers.active_count(), 0u);
        return timers.counted().fired - before;
    };
    EXPECT_EQ(fires(keyed{}), 3u);
    EXPECT_EQ(fires(idle{}), 1u);
    EXPECT_EQ(fires(waits{}), 1u);
    EXPECT_EQ(fires(asks{}), 1u);
    // Those that did not come to it have not.
    rig.run();
    who.tell(waits{});
    rig.run();
    const std::uint64_t before = timers.counted().fired;
    rig.end();
    EXPECT_EQ(timers.counted().fired, before);
}
