// SPDX-License-Identifier: Apache-2.0
//
// Goal: what counts from when a message was handled counts from where its handler ended, however
// long it took, and be it a coroutine: receive timeouts (TM-2). Method: handlers move the clock,
// and timers fire meanwhile, as a driver does.
#include <tactus/actor/actor.hpp>

#include <gtest/gtest.h>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::ms;
using tactus_test::world_rig;

namespace {

constexpr int told = 1'000;

/// Takes so long, in milliseconds.
struct work {
    int takes;
};
struct quiet_work : not_influence_receive_timeout {
    int takes;
};
struct pause_for {
    int takes;
};
/// Sets the receive timeout, and then takes so long.
struct idle_from_here {
    int takes;
};

world_rig* stage = nullptr;

/// Time passes within a handler, and what is due then is sent.
void take(int milliseconds) {
    for (int i = 0; i < milliseconds; ++i) {
        stage->time.advance(ms(1));
        stage->timing.service()->run_due(stage->time.now());
    }
}

class idler : public actor<work, quiet_work, pause_for, idle_from_here> {
public:
    explicit idler(int timeout_takes) : timeout_takes_(timeout_takes) {}
    void on(const work& m) { take(m.takes); }
    void on(const quiet_work& m) { take(m.takes); }
    task<> on(pause_for m) { (void)co_await context().delay(ms(m.takes)); }
    void on(const idle_from_here& m) {
        context().set_receive_timeout(ms(100));
        take(m.takes);
    }
    void on(const receive_timeout&) {
        journal().add(told);
        if (++timeouts_ <= 2)  // so that the test ends when they follow each other at once
            take(timeout_takes_);
    }

private:
    int timeout_takes_;
    int timeouts_ = 0;
};

struct idle_rig : world_rig {
    explicit idle_rig(int timeout_takes = 0) {
        stage = this;
        who = spawn<idler>("idler", timeout_takes);
        who.tell(idle_from_here{0});
        run();
        journal().clear();
    }
    /// None for 99 ms, and then one.
    void expect_told_after_100_ms() {
        EXPECT_TRUE(journal().is({}));
        pass(99);
        EXPECT_TRUE(journal().is({}));
        pass(2);
        EXPECT_TRUE(journal().is({told}));
    }
    detail::ref_of<idler> who;
};

}  // namespace

// TM-2, PK-RTO-3, C-RTO-3: counted from the last of many in one run, not from where that began.
TEST(receive_timeout, TM_2_a_long_run_is_followed_by_the_whole_time) {
    idle_rig rig;
    for (int i = 0; i < 10; ++i)
        rig.who.tell(work{20});
    rig.run();
    rig.expect_told_after_100_ms();
    rig.end();
}

// TM-2, PK-RTO-3: one message that takes longer than the timeout.
TEST(receive_timeout, TM_2_a_long_handler_is_followed_by_the_whole_time) {
    idle_rig rig;
    rig.who.tell(work{150});
    rig.run();
    rig.expect_told_after_100_ms();
    rig.end();
}

// TM-2, AC-2: a coroutine has handled its message when it has ended.
TEST(receive_timeout, TM_2_a_coroutine_is_followed_by_the_whole_time) {
    idle_rig rig;
    rig.who.tell(pause_for{150});
    rig.run();
    rig.pass(150);
    rig.expect_told_after_100_ms();
    rig.end();
}

// PK-RTO-1: set within a handler it counts from where that ended.
TEST(receive_timeout, PK_RTO_1_it_takes_effect_after_the_handler_that_sets_it) {
    idle_rig rig;
    rig.who.tell(idle_from_here{150});
    rig.run();
    rig.expect_told_after_100_ms();
    rig.end();
}

// PK-RTO-3: told again after the handler of the last one, with the whole time.
TEST(receive_timeout, PK_RTO_3_its_own_handler_is_followed_by_the_whole_time) {
    idle_rig rig(150);
    rig.expect_told_after_100_ms();  // 150 ms have passed within, and one after
    rig.pass(98);
    EXPECT_TRUE(journal().is({}));
    rig.pass(1);
    EXPECT_TRUE(journal().is({told}));
    rig.end();
}

// PK-RTO-4: what does not count puts nothing off, however long it takes.
TEST(receive_timeout, PK_RTO_4_long_handlers_of_marked_messages_do_not_put_it_off) {
    idle_rig rig;
    rig.who.tell(quiet_work{{}, 150});
    rig.run();
    EXPECT_TRUE(journal().is({told}));
    rig.end();
}
