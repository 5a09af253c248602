// SPDX-License-Identifier: Apache-2.0
//
// Goal: the numbered checks of the wheel end the program and name themselves. Host only.
// Method: break each documented precondition in a child process.
#include "wheel_rig.hpp"

using tactus::duration;
using tactus::timer_handle;
using tactus_test::at_ms;
using tactus_test::rig;
using tactus_test::test_wheel;

TEST(timer_wheel_death, check_1_the_constructor_refuses_invalid_options) {
    auto o = rig().options();
    o.resolution = duration::zero();
    EXPECT_DEATH(rig().make(o), "timer_wheel:1");
    o = rig().options(0);
    EXPECT_DEATH(rig().make(o), "timer_wheel:1");
    o = rig().options();
    o.nodes = nullptr;
    EXPECT_DEATH(rig().make(o), "timer_wheel:1");
}

#ifndef NDEBUG
TEST(timer_wheel_death, check_2_a_handle_that_was_never_given_out_is_a_bug) {
    auto o = rig().options(4);
    o.tag = 1;
    auto& wheel = rig().make(o);
    const auto handle = rig().add(5, 1);
    EXPECT_DEATH((void)wheel.cancel({handle.index() + 3, handle.generation()}), "timer_wheel:2");
    EXPECT_DEATH((void)wheel.cancel({1'000'000, handle.generation()}), "timer_wheel:2");
    EXPECT_DEATH((void)wheel.cancel({handle.index(), handle.generation() + 2}), "timer_wheel:2");
    EXPECT_TRUE(wheel.cancel(handle));
    EXPECT_FALSE(wheel.cancel(handle));
}

// The tag is there so that a handle of another wheel is found out.
TEST(timer_wheel_death, check_2_a_handle_of_another_wheel_is_a_bug) {
    auto o = rig().options(4);
    o.tag = 1;
    rig().make(o);
    const auto foreign = rig().add(5, 1);
    o.tag = 2;
    auto& wheel = rig().make(o);
    rig().add(5, 1);
    EXPECT_DEATH((void)wheel.cancel(foreign), "timer_wheel:2");
}
#endif

TEST(timer_wheel_death, check_3_a_sink_must_not_advance_the_wheel) {
    auto& wheel = rig().make();
    rig().add(5, 1);
    const auto sink = [&](const tactus::expired_timer&) {
        (void)wheel.advance(at_ms(20), [](const tactus::expired_timer&) {});
    };
    EXPECT_DEATH((void)wheel.advance(at_ms(10), sink), "timer_wheel:3");
}
