// SPDX-License-Identifier: Apache-2.0
//
// Goal: what counts from when a message was handled counts from where its handler ended, however
// long it took, and be it a coroutine: receive timeouts (TM-2), keyed timers with a fixed delay
// (SC-24). Method: handlers move the clock, and timers fire meanwhile, as a driver does.
#include <tactus/actor/actor.hpp>

#include <gtest/gtest.h>

#include <vector>

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
    bool fails = false;
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
    task<failure> on(pause_for m) {
        (void)co_await context().delay(ms(m.takes));
        co_return m.fails ? failure("as it was told") : failure();
    }
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

directive resuming(const failure_cause&) {
    return directive::resume;
}

struct idle_rig : world_rig {
    explicit idle_rig(int timeout_takes = 0) : world_rig({.decider = resuming}) {
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

// TM-2, SV-3: also one that fails after it has waited, and is resumed.
TEST(receive_timeout, TM_2_a_coroutine_that_fails_is_followed_by_the_whole_time) {
    idle_rig rig;
    rig.who.tell(pause_for{150, true});
    rig.run();
    rig.pass(150);
    EXPECT_EQ(rig.said.decision_count, 1u);
    rig.expect_told_after_100_ms();
    rig.end();
}

// PK-RTO-1: set within a handler it counts from where that ended; the first one, too.
TEST(receive_timeout, PK_RTO_1_it_takes_effect_after_the_handler_that_sets_it) {
    idle_rig rig;
    rig.who.tell(idle_from_here{150});
    rig.run();
    rig.expect_told_after_100_ms();
    (void)rig.world.stop(rig.who.index());
    rig.who = rig.spawn<idler>("another", 0);
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

namespace {

struct beat {};
enum class want : std::uint8_t { cancel, replace };

std::vector<int> begun;  // when, in milliseconds
int running = 0;

/// Takes 100 ms for each beat.
template <bool Reentrant>
class drummer : public actor<beat, want> {
public:
    static constexpr bool reentrant = Reentrant;
    void pre_start() { EXPECT_TRUE(context().start_timer_with_fixed_delay("t", beat{}, ms(10))); }
    task<> on(beat) {
        begun.push_back(static_cast<int>(stage->time.now().ns() / 1'000'000));
        EXPECT_EQ(++running, 1);
        EXPECT_TRUE(context().is_timer_active("t"));
        const auto waited = co_await context().delay(ms(100));
        EXPECT_TRUE(waited);
        --running;
    }
    void on(want w) {
        if (w == want::cancel)
            EXPECT_TRUE(context().cancel_timer("t"));
        else
            EXPECT_TRUE(context().start_timer_with_fixed_delay("t", beat{}, ms(500)));
    }
};

template <bool Reentrant>
struct drummer_rig : world_rig {
    drummer_rig() {
        stage = this;
        begun.clear();
        running = 0;
        began_at = static_cast<int>(time.now().ns() / 1'000'000);
        who = spawn<drummer<Reentrant>>("d");
        run();
    }
    int began_at = 0;
    actor_ref<beat, want> who;
};

template <bool Reentrant>
void expect_110_ms_apart() {
    drummer_rig<Reentrant> rig;
    rig.pass(1'000);
    ASSERT_EQ(begun.size(), 10u);
    EXPECT_EQ(begun[0], rig.began_at + 10);
    for (std::size_t i = 1; i < begun.size(); ++i)
        EXPECT_EQ(begun[i] - begun[i - 1], 110);
    rig.end();
}

}  // namespace

// SC-24, SC-1, TM-1, AC-2: a delay of 10 ms and 100 ms of handling are 110 ms from start to start.
TEST(keyed_fixed_delay, SC_24_counts_from_where_a_coroutine_ended) {
    expect_110_ms_apart<false>();
}
// SC-24: one run in flight, also where other messages are handled meanwhile.
TEST(keyed_fixed_delay, SC_24_has_one_run_in_flight_in_a_reentrant_actor) {
    expect_110_ms_apart<true>();
}

// TM-1: cancelled or replaced while its message is handled, it does not come again by that.
TEST(keyed_fixed_delay, TM_1_what_was_cancelled_meanwhile_does_not_come_again) {
    for (const want w : {want::cancel, want::replace}) {
        drummer_rig<true> rig;
        rig.pass(50);
        EXPECT_EQ(begun.size(), 1u);
        rig.who.tell(w);
        rig.run();
        rig.pass(400);
        EXPECT_EQ(begun.size(), 1u);
        rig.pass(200);
        EXPECT_EQ(begun.size(), w == want::cancel ? 1u : 2u);
        rig.end();
    }
}
// TM-1: an actor that ends while its coroutine waits leaves no timer behind.
TEST(keyed_fixed_delay, TM_1_it_ends_with_its_actor) {
    drummer_rig<false> rig;
    rig.pass(50);
    EXPECT_EQ(running, 1);
    (void)rig.world.stop(rig.who.index());
    rig.run();
    EXPECT_EQ(rig.timing.pending(), 0u);
    EXPECT_EQ(rig.timing.service()->cell_count(), 0u);
    rig.end();
}
