// SPDX-License-Identifier: Apache-2.0
//
// Goal: an actor whose timer finds no memory when it is to come again is told, as one that is
// refused a timer (TM-1, TM-2). Method: the wheel's memory refuses to grow, and others take the
// node that the timer had.
#include <tactus/time/timer_wheel.hpp>

#include <gtest/gtest.h>

#include <cstddef>

#include "clockwork.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::clock_rig;
using tactus_test::clockwork;
using tactus_test::journal;
using tactus_test::want;

namespace {

/// Gives what it has until it is told to give no more.
class sparing_memory final : public memory_region {
public:
    sparing_memory() noexcept {
        data_ = bytes_;
        size_max_ = sizeof bytes_;
    }
    [[nodiscard]] bool resize(std::size_t bytes) noexcept override {
        if (bytes > size_ && refuses)
            return false;
        size_ = bytes;
        return bytes <= size_max_;
    }
    bool refuses = false;

private:
    alignas(16) std::byte bytes_[timer_wheel::node_bytes(1'000)];
};

struct narrow_rig {
    /// Others take all nodes that are left, and the wheel gets no more.
    void fill() {
        nodes.refuses = true;
        (void)clock.fill();
    }
    sparing_memory nodes;
    clock_rig clock{&nodes};
};

}  // namespace

// TM-1, TM-2: without memory it does not come again, and its actor fails and says why.
TEST(refused_timers, TM_1_an_actor_is_told_that_its_timer_does_not_come_again) {
    for (const want w : {want::rate, want::delay, want::idle}) {
        SCOPED_TRACE(static_cast<int>(w));
        narrow_rig rig;
        rig.clock.tell(w);
        rig.clock.fire(10);
        rig.fill();
        rig.clock.run();
        EXPECT_EQ(journal().count(), 1u);  // the one that was due
        journal().clear();
        EXPECT_EQ(clockwork::failed_with, "the scheduler refuses a timer: capacity_exceeded");
        EXPECT_EQ(rig.clock.said.decision_count, 1u);
        rig.clock.tell(want::cancel);
        EXPECT_TRUE(journal().is({101}));  // there is none any more
        journal().clear();
        rig.clock.end();
        EXPECT_EQ(rig.clock.timers().cell_count(), 0u);
    }
}
