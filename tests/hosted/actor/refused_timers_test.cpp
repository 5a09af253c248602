// SPDX-License-Identifier: Apache-2.0
//
// Goal: an actor whose timer finds no memory when it is to come again is told, as one that is
// refused a timer (TM-1, TM-2). Method: the wheel's memory refuses to grow, and others take the
// node that the timer had.
#include <tactus/actor/actor.hpp>
#include <tactus/time/timer_wheel.hpp>

#include <gtest/gtest.h>

#include <string>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::ms;
using tactus_test::world_rig;

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

enum class want : std::uint8_t { rate, delay, idle, cancel };
struct beat {
    int number;
};

std::string failed_with;

class clockwork : public actor<want, beat> {
public:
    void on(want w) {
        switch (w) {
        case want::rate:
            EXPECT_TRUE(context().start_timer_at_fixed_rate("t", beat{2}, ms(10)));
            break;
        case want::delay:
            EXPECT_TRUE(context().start_timer_with_fixed_delay("t", beat{3}, ms(10)));
            break;
        case want::idle:
            context().set_receive_timeout(ms(10));
            break;
        case want::cancel:
            journal().add(context().cancel_timer("t") ? 100 : 101);
            break;
        }
    }
    void on(const beat& b) { journal().add(b.number); }
    void on(const receive_timeout&) { journal().add(4); }
    void pre_restart(const failure_cause& why) { failed_with = why.text(); }
};

struct narrow_rig {
    narrow_rig() {
        failed_with.clear();
        who = world.spawn<clockwork>("c");
        world.run();
        journal().clear();
    }
    [[nodiscard]] scheduler& timers() { return *world.timing.service(); }
    /// Others take all nodes that are left, and the wheel gets no more.
    void fill() {
        nodes.refuses = true;
        while (timers().schedule_once(duration::from_s(1'000), who.index(), beat{9})) {
        }
    }
    /// So much later, what is due is on its way; nobody has handled it.
    void fire(int after) {
        world.time.advance(ms(after));
        timers().run_due(world.time.now());
    }

    sparing_memory nodes;
    world_rig world{{}, nullptr, &nodes};
    actor_ref<want, beat> who;
};

}  // namespace

// TM-1, TM-2: without memory it does not come again, and its actor fails and says why.
TEST(refused_timers, TM_1_an_actor_is_told_that_its_timer_does_not_come_again) {
    for (const want w : {want::rate, want::delay, want::idle}) {
        SCOPED_TRACE(static_cast<int>(w));
        narrow_rig rig;
        rig.who.tell(w);
        rig.world.run();
        rig.fire(10);
        rig.fill();
        rig.world.run();
        EXPECT_EQ(journal().count(), 1u);  // the one that was due
        journal().clear();
        EXPECT_EQ(failed_with, "the scheduler refuses a timer: capacity_exceeded");
        EXPECT_EQ(rig.world.said.decision_count, 1u);
        rig.who.tell(want::cancel);
        rig.world.run();
        EXPECT_TRUE(journal().is({101}));  // there is none any more
        journal().clear();
        rig.world.end();
        EXPECT_EQ(rig.timers().cell_count(), 0u);
    }
}
