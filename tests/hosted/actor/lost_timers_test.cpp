// SPDX-License-Identifier: Apache-2.0
//
// Goal: a timer whose message a full mailbox refuses goes on when there is room again (TM-1, TM-2).
#include <tactus/actor/actor.hpp>

#include <gtest/gtest.h>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::ms;
using tactus_test::world_rig;

namespace {

struct beat {
    int number;
};
class clockwork : public actor<int, beat> {
public:
    void on(int what) {
        switch (what) {
        case 1:
            (void)context().start_timer_with_fixed_delay("delay", beat{1}, ms(10));
            break;
        case 2:
            (void)context().start_timer_at_fixed_rate("rate", beat{2}, ms(10));
            break;
        case 3:
            (void)context().start_single_timer("single", beat{3}, ms(10));
            break;
        case 4:
            context().set_receive_timeout(ms(10));
            break;
        default:
            break;
        }
    }
    void on(const beat& b) { journal().add(b.number); }
    void on(const receive_timeout&) { journal().add(4); }
};

/// What comes before, while and after nobody has room for it.
struct tried {
    unsigned before;
    unsigned meanwhile;
    unsigned after;
};
enum class passing : std::uint8_t { by_the_millisecond, at_once };
tried flood(int which, overflow when_full, int waits_ms = 30,
            passing how = passing::by_the_millisecond) {
    world_rig rig;
    const auto wait = [&] {
        if (how == passing::at_once) {
            rig.time.advance(ms(waits_ms));
            rig.run();
        } else {
            rig.pass(waits_ms);
        }
    };
    auto r = detail::request_for<clockwork>(rig.memory, "c",
                                            {.mailbox = {.when_full = when_full, .capacity = 2}});
    const actor_ref<int, beat> c{any_ref(*rig.world.spawn_top(*r))};
    c.tell(which);
    rig.run();
    tried seen{};
    rig.pass(which == 3 ? 5 : 25);
    seen.before = journal().count();
    journal().clear();
    (void)rig.kernel->suspend(c.index(), suspension::await);
    if (when_full == overflow::drop_oldest) {
        wait();  // it has one already, which the others drive out
        for (int i = 0; i < 4; ++i)
            c.tell(0);
    } else {
        c.tell(0);
        c.tell(0);
        wait();
    }
    seen.meanwhile = journal().count();
    (void)rig.kernel->resume(c.index(), suspension::await);
    rig.pass(25);
    for (unsigned i = 0; i < journal().count(); ++i)
        EXPECT_EQ(journal().at(i), which);
    seen.after = journal().count();
    journal().clear();
    rig.end();
    return seen;
}

}  // namespace

// TM-1, TM-2: a tick that is refused, or driven out of the mailbox, is not the last one.
TEST(lost_timers, TM_1_a_tick_that_is_lost_is_not_the_last) {
    for (const overflow when_full : {overflow::reject, overflow::dead_letter, overflow::drop_newest,
                                     overflow::drop_oldest, overflow::block}) {
        for (const int which : {1, 2, 4}) {
            SCOPED_TRACE(testing::Message() << which << ", " << static_cast<int>(when_full));
            const tried seen = flood(which, when_full);
            EXPECT_EQ(seen.before, 2u);
            EXPECT_EQ(seen.meanwhile, 0u);
            EXPECT_GE(seen.after, 2u);
        }
    }
}

// SC-22: how long it has waited in the mailbox is not how late the scheduler was.
TEST(lost_timers, SC_22_one_that_is_lost_late_is_not_ended_for_it) {
    for (const overflow when_full : {overflow::reject, overflow::drop_oldest}) {
        const tried seen = flood(2, when_full, 150);
        EXPECT_EQ(seen.meanwhile, 0u);
        EXPECT_GE(seen.after, 2u);
    }
}

// DF-24: without a limit, one that missed many runs comes back, although its message was lost.
TEST(lost_timers, DF_24_one_that_missed_many_runs_comes_back) {
    for (const overflow when_full : {overflow::reject, overflow::drop_oldest}) {
        SCOPED_TRACE(static_cast<int>(when_full));
        const tried seen = flood(2, when_full, 200, passing::at_once);
        EXPECT_EQ(seen.before, 2u);
        EXPECT_EQ(seen.meanwhile, 0u);
        EXPECT_GE(seen.after, 2u);
    }
}

// TM-1: a single one comes late, but comes, and once.
TEST(lost_timers, TM_1_a_single_one_comes_when_there_is_room) {
    for (const overflow when_full : {overflow::reject, overflow::drop_oldest}) {
        const tried seen = flood(3, when_full);
        EXPECT_EQ(seen.before, 0u);
        EXPECT_EQ(seen.meanwhile, 0u);
        EXPECT_EQ(seen.after, 1u);
    }
}
