// SPDX-License-Identifier: Apache-2.0
//
// Goal: keyed timers and the receive timeout, with a clock set by hand (TM-1, TM-2).
#include <tactus/actor/actor.hpp>

#include <gtest/gtest.h>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::ms;
using tactus_test::world_rig;

namespace {

struct tick {
    int value;
};
struct quiet_tick : not_influence_receive_timeout {};
enum class what : std::uint8_t {
    single,
    rate,
    delay,
    cancel,
    cancel_all,
    fail,
    active,
    pill,
    again
};

bool active_in_post_stop = false;
int starts = 0;

class timed : public actor<what, tick>, public with_stash<> {
public:
    timed() { ++starts; }
    std::expected<void, failure> on(what w) {
        switch (w) {
        case what::single:
            EXPECT_TRUE(context().start_single_timer("t", tick{1}, ms(10)));
            break;
        case what::rate:
            EXPECT_TRUE(context().start_timer_at_fixed_rate("t", tick{2}, ms(10)));
            break;
        case what::delay:
            EXPECT_TRUE(context().start_timer_with_fixed_delay("t", tick{3}, ms(1), ms(10)));
            break;
        case what::cancel:
            journal().add(context().cancel_timer("t") ? 100 : 101);
            break;
        case what::cancel_all:
            context().cancel_timers();
            break;
        case what::fail:
            return std::unexpected(failure("fail"));
        case what::active:
            journal().add(context().is_timer_active("t") ? 200 : 201);
            break;
        case what::pill:
            EXPECT_TRUE(context().start_single_timer("p", poison_pill{}, ms(5)));
            break;
        case what::again:
            again_ = true;
            break;
        }
        return {};
    }
    std::expected<void, failure> on(const tick& t) {
        journal().add(t.value);
        if (again_) {
            journal().add(context().is_timer_active("t") ? 200 : 201);
            EXPECT_TRUE(context().start_single_timer("t", tick{t.value + 1}, ms(10)));
        }
        return {};
    }
    void pre_restart(const failure_cause&) {
        journal().add(context().is_timer_active("t") ? 300 : 301);
    }
    void post_stop() {
        active_in_post_stop = context().is_timer_active("t");
        journal().add(400);
    }

private:
    bool again_ = false;
};

struct timed_rig : world_rig {
    timed_rig() {
        ref = spawn<timed>("t");
        run();
        journal().clear();
    }
    void tell(what w) {
        ref.tell(w);
        run();
    }
    actor_ref<what, tick> ref;
};

}  // namespace

// TM-1, C-TIM-1: once, not early.
TEST(actor_timers, C_TIM_1_a_single_timer_fires_once) {
    timed_rig rig;
    rig.tell(what::single);
    rig.pass(9);
    EXPECT_TRUE(journal().is({}));
    rig.pass(2);
    EXPECT_TRUE(journal().is({1}));
    rig.pass(50);
    rig.tell(what::active);
    EXPECT_TRUE(journal().is({201}));
    EXPECT_EQ(rig.timing.pending(), 0u);
    rig.end();
}

// TM-1, C-TIM-2: every interval.
TEST(actor_timers, C_TIM_2_a_timer_at_a_fixed_rate) {
    timed_rig rig;
    rig.tell(what::rate);
    rig.pass(35);
    EXPECT_TRUE(journal().is({2, 2, 2}));
    rig.tell(what::cancel);
    EXPECT_TRUE(journal().is({100}));
    rig.pass(50);
    EXPECT_TRUE(journal().is({}));
    rig.tell(what::cancel);
    EXPECT_TRUE(journal().is({101}));
    rig.end();
}

// TM-1: with a first delay of its own, then from where the message was handled.
TEST(actor_timers, TM_1_a_timer_with_a_fixed_delay) {
    timed_rig rig;
    rig.tell(what::delay);
    rig.pass(2);
    EXPECT_TRUE(journal().is({3}));
    rig.pass(8);
    EXPECT_TRUE(journal().is({}));
    rig.pass(3);
    EXPECT_TRUE(journal().is({3}));
    rig.tell(what::cancel_all);
    rig.pass(30);
    EXPECT_TRUE(journal().is({}));
    rig.end();
}

// TM-1, PK-TIM-2: what was replaced is not delivered, even if its message waits in the mailbox.
TEST(actor_timers, TM_1_a_replaced_timer_is_not_delivered_even_from_the_mailbox) {
    timed_rig rig;
    rig.tell(what::single);
    (void)rig.kernel->suspend(rig.ref.index(), suspension::await);
    rig.ref.tell(what::rate);  // is handled before the tick that comes now
    rig.pass(11);
    (void)rig.kernel->resume(rig.ref.index(), suspension::await);
    rig.run();
    EXPECT_TRUE(journal().is({}));
    rig.pass(11);
    EXPECT_TRUE(journal().is({2}));
    rig.end();
}

// PK-TIM-4, C-TIM-10: a single timer is over in its handler, and can be started again there.
TEST(actor_timers, C_TIM_10_started_again_in_its_own_handler) {
    timed_rig rig;
    rig.tell(what::again);
    rig.tell(what::single);
    rig.pass(11);
    EXPECT_TRUE(journal().is({1, 201}));
    rig.pass(11);
    EXPECT_TRUE(journal().is({2, 201}));
    rig.end();
    journal().clear();
}

// PK-TIM-7, PK-TIM-8, C-TIM-5, C-TIM-6, C-TIM-7: over before pre_restart and post_stop; what waits
// of the old instance is dropped by the new one, which may use the same key.
TEST(actor_timers, C_TIM_6_a_restart_ends_timers) {
    timed_rig rig;
    rig.tell(what::rate);
    (void)rig.kernel->suspend(rig.ref.index(), suspension::await);
    rig.ref.tell(what::fail);
    rig.ref.tell(what::rate);
    rig.pass(12);  // the old one's tick waits behind
    (void)rig.kernel->resume(rig.ref.index(), suspension::await);
    rig.run();
    EXPECT_TRUE(journal().is({301}));
    rig.pass(8);
    EXPECT_TRUE(journal().is({}));
    rig.pass(4);
    EXPECT_TRUE(journal().is({2}));
    (void)rig.world.stop(rig.ref.index());
    rig.run();
    EXPECT_TRUE(journal().is({400}));
    EXPECT_FALSE(active_in_post_stop);
    EXPECT_EQ(rig.timing.pending(), 0u);
    rig.end();
}

namespace {

constexpr int leaves_idle = 4;

/// Starts something when it is too late for it.
class leaving : public actor<int> {
public:
    explicit leaving(int what) : what_(what) {}
    void on(int v) { journal().add(v); }
    void on(const receive_timeout&) { journal().add(leaves_idle); }
    void post_stop() {
        journal().add(400);
        switch (what_) {
        case 1:
            EXPECT_TRUE(context().start_single_timer("t", 1, ms(10)));
            break;
        case 2:
            EXPECT_TRUE(context().start_timer_at_fixed_rate("t", 2, ms(10)));
            break;
        case 3:
            EXPECT_TRUE(context().start_timer_with_fixed_delay("t", 3, ms(10)));
            break;
        default:
            context().set_receive_timeout(ms(10));
            break;
        }
    }

private:
    int what_;
};

}  // namespace

// TM-1, TM-2, PK-TIM-7: what is started in post_stop ends with the actor.
TEST(actor_timers, TM_1_what_post_stop_starts_leaves_no_timer_behind) {
    for (int what = 1; what <= leaves_idle; ++what) {
        SCOPED_TRACE(what);
        world_rig rig;
        scheduler& timers = *rig.timing.service();
        const auto who = rig.spawn<leaving>("l", what);
        rig.run();
        const std::uint64_t before = timers.counted().registered;
        (void)rig.world.stop(who.index());
        rig.run();
        EXPECT_TRUE(journal().is({400}));
        EXPECT_EQ(timers.counted().registered, before + 1);  // it was there
        EXPECT_EQ(timers.active_count(), 0u);
        EXPECT_EQ(timers.cell_count(), 0u);
        rig.pass(30);
        EXPECT_TRUE(journal().is({}));
        EXPECT_EQ(rig.said.dead_letters, 0u);
        rig.end();
    }
}

// PK-TIM-9, C-TIM-8: a poison pill by timer.
TEST(actor_timers, C_TIM_8_a_poison_pill_by_timer) {
    timed_rig rig;
    rig.tell(what::pill);
    rig.pass(7);
    EXPECT_TRUE(journal().is({400}));
    EXPECT_FALSE(rig.world.find("/user/t").valid());
    rig.end();
}

namespace {

/// Starts timers with its last words.
class speaker : public actor<what, tick> {
public:
    failure on(what) { return failure("fail"); }
    void on(const tick& t) { journal().add(t.value); }
    void post_restart(const failure_cause&) {
        journal().add(context().is_timer_active("t") ? 200 : 201);
    }

protected:
    void start() {
        EXPECT_TRUE(context().start_single_timer("t", tick{1}, ms(5)));
        EXPECT_TRUE(context().start_timer_at_fixed_rate("u", tick{2}, ms(5)));
    }
};
class in_pre_restart : public speaker {
public:
    void pre_restart(const failure_cause&) { start(); }
};
class in_post_stop : public speaker {
public:
    void post_stop() { start(); }
};

template <class A>
void fails_with_last_words() {
    world_rig rig;
    const auto a = rig.spawn<A>("a");
    a.tell(what::fail);
    rig.run();
    EXPECT_TRUE(journal().is({201}));
    EXPECT_EQ(rig.timing.pending(), 0u);
    rig.pass(20);
    EXPECT_TRUE(journal().is({}));
    rig.end();
}

}  // namespace

// PK-TIM-7, TM-1: timers of an instance's last words end with it.
TEST(actor_timers, PK_TIM_7_timers_of_last_words_do_not_reach_the_new_instance) {
    fails_with_last_words<in_pre_restart>();
    fails_with_last_words<in_post_stop>();
}

// AC-18, PK-TIM-9: what is given to a timer or to watch_with is converted as by tell.
TEST(actor_timers, AC_18_messages_are_converted_to_the_protocol) {
    struct number {
        int value;
    };
    struct digit {
        int value;
        operator number() const { return {value}; }  // NOLINT: converted, as with tell
    };
    class sum : public actor<number> {
    public:
        void pre_start() {
            EXPECT_TRUE(context().start_single_timer("one", digit{1}, ms(5)));
            EXPECT_TRUE(context().start_timer_at_fixed_rate("rate", digit{2}, ms(20)));
            EXPECT_TRUE(context().start_timer_with_fixed_delay("delay", digit{3}, ms(25)));
            EXPECT_TRUE(context().start_single_timer("end", poison_pill{}, ms(30)));
            const auto child = context().spawn<sum_child>("child");
            context().watch_with(child, digit{4});
            context().stop(child);
        }
        void on(const number& m) { journal().add(m.value); }

    private:
        class sum_child : public actor<number> {
        public:
            void on(const number&) {}
        };
    };
    world_rig rig;
    (void)rig.spawn<sum>("s");
    rig.run();
    EXPECT_TRUE(journal().is({4}));
    rig.pass(100);
    EXPECT_TRUE(journal().is({1, 2, 3}));
    rig.end();
}

// PK-TIM-11, C-TIM-9: pre_restart sees the message itself. PK-STA-8, C-STA-9: so does a stash.
TEST(actor_timers, C_TIM_9_the_message_itself_is_seen) {
    class keeper : public actor<int>, public with_stash<> {
    public:
        void pre_start() { (void)context().start_single_timer(1, 7, ms(5)); }
        std::expected<void, failure> on(int v) {
            if (v == 7 && ++times_ == 1)
                return context().stash();
            if (v == 8) {
                context().unstash_all();
                return {};
            }
            journal().add(v);
            return std::unexpected(failure("fail"));
        }
        void pre_restart(const failure_cause&, failed_message m) {
            journal().add(m.get_if<int>() != nullptr ? *m.get_if<int>() + 100 : -1);
        }

    private:
        int times_ = 0;
    };
    world_rig rig;
    const auto k = rig.spawn<keeper>("k");
    rig.run();
    rig.pass(6);
    EXPECT_TRUE(journal().is({}));
    k.tell(8);
    rig.run();
    EXPECT_TRUE(journal().is({7, 107}));
    rig.end();
}

namespace {

struct set {
    duration after;
};
struct quiet_set : not_influence_receive_timeout {
    duration after;
};
class idler : public actor<int, quiet_tick, set, quiet_set> {
public:
    explicit idler(duration first) {
        if (first != duration::zero())
            context().set_receive_timeout(first);
    }
    void on(int) {}
    void on(const quiet_tick&) {}
    void on(const set& m) { context().set_receive_timeout(m.after); }
    void on(const quiet_set& m) { context().set_receive_timeout(m.after); }
    void on(const receive_timeout& t) {
        journal().add(static_cast<std::int32_t>(t.after.ns() / 1'000'000));
    }
    void post_stop() { journal().add(-1); }
};

}  // namespace

// TM-2, C-RTO-2: set in the constructor; it carries the time, and repeats while idle (PK-RTO-3).
TEST(receive_timeout, C_RTO_2_is_told_while_nothing_comes) {
    world_rig rig;
    (void)rig.spawn<idler>("i", ms(50));
    rig.run();
    rig.pass(49);
    EXPECT_TRUE(journal().is({}));
    rig.pass(3);
    EXPECT_TRUE(journal().is({50}));
    rig.pass(52);
    EXPECT_TRUE(journal().is({50}));
    rig.end();
    journal().clear();
}

// TM-2, C-RTO-3: messages put it off, without an operation on the wheel for each.
TEST(receive_timeout, C_RTO_3_messages_put_it_off) {
    world_rig rig;
    const auto i = rig.spawn<idler>("i", ms(50));
    rig.run();
    const std::uint64_t before = rig.timing.service()->counted().registered;
    for (int n = 0; n < 10; ++n) {
        rig.pass(10);
        i.tell(1);
        rig.run();
        EXPECT_EQ(rig.timing.pending(), 1u);
    }
    EXPECT_TRUE(journal().is({}));
    EXPECT_LE(rig.timing.service()->counted().registered, before + 2);  // at 50, at 100
    rig.pass(48);
    EXPECT_TRUE(journal().is({}));
    rig.pass(5);
    EXPECT_TRUE(journal().is({50}));
    rig.end();
    journal().clear();
}

// C-RTO-5, C-RTO-8: never set; set and taken back by messages that do not count. C-RTO-6: such
// messages do not put it off, nor does identify.
TEST(receive_timeout, C_RTO_6_marked_messages_do_not_put_it_off) {
    world_rig rig;
    const auto i = rig.spawn<idler>("i", duration::zero());
    rig.run();
    rig.pass(100);
    EXPECT_TRUE(journal().is({}));
    i.tell(quiet_set{{}, ms(30)});
    rig.run();
    for (int n = 0; n < 3; ++n) {
        rig.pass(10);
        i.tell(quiet_tick{});
        i.any().tell(identify{});
        rig.run();
    }
    rig.pass(3);
    EXPECT_TRUE(journal().is({30}));
    i.tell(quiet_set{{}, duration::max()});
    rig.run();
    rig.pass(100);
    EXPECT_TRUE(journal().is({}));
    rig.end();
    journal().clear();
}

// C-RTO-11: set, then stopped: nothing comes later.
TEST(receive_timeout, C_RTO_11_over_with_the_actor) {
    world_rig rig;
    const auto i = rig.spawn<idler>("i", ms(20));
    rig.run();
    (void)rig.world.stop(i.index());
    rig.run();
    rig.pass(50);
    EXPECT_TRUE(journal().is({-1}));
    EXPECT_EQ(rig.said.dead_letters, 0u);
    EXPECT_EQ(rig.timing.pending(), 0u);
    rig.end();
}

// C-RTO-4: taken back in its own handler: told once.
TEST(receive_timeout, C_RTO_4_taken_back_in_its_own_handler) {
    class once : public actor<int> {
    public:
        void pre_start() { context().set_receive_timeout(ms(10)); }
        void on(int) {}
        void on(const receive_timeout&) {
            journal().add(1);
            context().cancel_receive_timeout();
        }
    };
    world_rig rig;
    (void)rig.spawn<once>("o");
    rig.run();
    rig.pass(50);
    EXPECT_TRUE(journal().is({1}));
    EXPECT_EQ(rig.timing.pending(), 0u);
    rig.end();
}
