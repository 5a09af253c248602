// SPDX-License-Identifier: Apache-2.0
//
// Goal: the wheel's cases of conformance/scheduler.md: TC-S43, TC-S44, TC-S45.
// Method: the case as it stands; random deltas with a seed.
#include <tactus/base/det_rng.hpp>

#include "wheel_rig.hpp"

using tactus::duration;
using tactus::tick;
using tactus::timer_handle;
using tactus_test::rig;

namespace {

void make_with_ticks_of(duration resolution) {
    auto o = rig().options();
    o.resolution = resolution;
    rig().make(o);
}

}  // namespace

// TC-S43
TEST(timer_wheel_conformance, ten_of_one_deadline_come_in_their_order) {
    make_with_ticks_of(duration::from_ms(10));
    for (std::uint64_t i = 0; i < 10; ++i)
        (void)rig().add(3, i);
    EXPECT_TRUE(rig().fires(2, {}));
    EXPECT_TRUE(rig().fires(3, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

// TC-S44: 4 to 15 entries 1 to 7 ticks away, and the shrunk regression [1, 1, 1, 1].
TEST(timer_wheel_conformance, random_deltas_come_sorted_and_in_their_order) {
    make_with_ticks_of(duration::from_ms(2));
    for (std::uint64_t i = 0; i < 4; ++i)
        (void)rig().add(1, i);
    EXPECT_TRUE(rig().fires(1, {0, 1, 2, 3}));
    tactus::det_rng random(44);
    for (int round = 0; round < 200; ++round) {
        make_with_ticks_of(duration::from_ms(2));
        const std::uint64_t count = 4 + random.below(12);
        tick deadlines[15];
        for (std::uint64_t i = 0; i < count; ++i) {
            deadlines[i] = 1 + random.below(7);
            (void)rig().add(deadlines[i], i);
        }
        std::uint64_t fired = 0;
        for (tick now = 1; now <= 7; ++now) {
            std::uint64_t next = 0;  // of those that are due now
            const auto result =
                rig().wheel().advance(rig().begin_of(now), [&](const tactus::expired_timer& t) {
                    while (next < count && deadlines[next] != now)
                        ++next;
                    EXPECT_EQ(t.payload, next);
                    EXPECT_EQ(t.deadline, now);
                    ++next;
                    ++fired;
                });
            EXPECT_TRUE(result.has_value());
        }
        ASSERT_EQ(fired, count);
    }
}

// TC-S45
TEST(timer_wheel_conformance, what_has_expired_cannot_be_cancelled) {
    auto& wheel = rig().make();
    const timer_handle first = rig().add(1, 1);
    const timer_handle second = rig().add(2, 2);
    EXPECT_TRUE(rig().fires(1, {1}));
    EXPECT_FALSE(wheel.cancel(first));
    EXPECT_EQ(wheel.size(), 1u);
    EXPECT_TRUE(wheel.pending(second));
}
