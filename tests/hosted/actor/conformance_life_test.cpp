// SPDX-License-Identifier: Apache-2.0
//
// Goal: the cases of stash, timers, receive timeout, watch and behaviours that Pekko's tests have,
// said with our words (C-STA-*, C-TIM-*, C-RTO-*, C-DW-*, C-TX-*).
#include <gtest/gtest.h>

#include "puppet.hpp"
#include "world_rig.hpp"

using namespace tactus;       // NOLINT: the whole vocabulary is used
using namespace tactus_test;  // NOLINT: puppets

namespace {

words told;  // by actors that are no puppets

enum class file : std::uint8_t { open, write, close };

/// Open, then writes, then close; what comes at the wrong time waits.
class protocol : public actor<file>, public with_stash<> {
public:
    std::expected<void, failure> on(file what) {
        const bool fits = open_ ? what != file::open : what == file::open;
        if (!fits)
            return context().stash();
        static constexpr const char* names[] = {"open", "write", "close"};
        told.emplace_back(names[static_cast<std::size_t>(what)]);
        if (what != file::write) {
            open_ = what == file::open;
            context().unstash_all();
        }
        return {};
    }

private:
    bool open_ = false;
};

struct nudge {};
struct quiet_nudge : not_influence_receive_timeout {};

/// Has a receive timeout.
class drowsy : public actor<nudge, quiet_nudge, int> {
public:
    void on(nudge) {
        context().set_receive_timeout(ms(1'000));
        context().set_receive_timeout(ms(500));
    }
    void on(quiet_nudge) { told.emplace_back("quiet"); }
    void on(int after) { context().set_receive_timeout(ms(after)); }
    void on(const receive_timeout&) {
        told.emplace_back("timeout");
        self().tell(quiet_nudge{});
    }
};

words take_told() {
    return std::exchange(told, {});
}

}  // namespace

// C-STA-2: what comes out of order is put aside, and handled when it fits.
TEST(conformance_life, C_STA_2_a_protocol) {
    world_rig rig;
    const auto p = rig.spawn<protocol>("p");
    for (const file f :
         {file::open, file::write, file::open, file::close, file::write, file::close})
        p.tell(f);
    rig.run();
    EXPECT_EQ(take_told(), (words{"open", "write", "close", "open", "write", "close"}));
    rig.end();
}

// C-TIM-4: a timer that is cancelled tells nothing any more.
TEST(conformance_life, C_TIM_4_a_cancelled_timer) {
    world_rig rig;
    strings by;
    const auto p = rig.spawn<puppet>("p", &by);
    p.tell(
        run_it{[](puppet& me) { (void)me.ctx().start_timer_at_fixed_rate("t", ping{}, ms(10)); }});
    rig.run();
    rig.pass(11);
    EXPECT_EQ(by.take(), (words{"start0", "pong0"}));
    p.tell(run_it{[](puppet& me) { EXPECT_TRUE(me.ctx().cancel_timer("t")); }});
    rig.run();
    rig.pass(110);
    EXPECT_EQ(by.take(), words{});
    rig.end();
}

// C-TIM-11: a timer whose message does not count leaves the receive timeout alone.
TEST(conformance_life, C_TIM_11_a_quiet_timer) {
    class ticking : public actor<quiet_nudge> {
    public:
        void pre_start() {
            context().set_receive_timeout(ms(25));
            (void)context().start_timer_at_fixed_rate("t", quiet_nudge{}, ms(10));
        }
        void on(quiet_nudge) { told.emplace_back("quiet"); }
        void on(const receive_timeout&) {
            told.emplace_back("timeout");
            context().cancel_receive_timeout();
        }
    };
    world_rig rig;
    (void)rig.spawn<ticking>("t");
    rig.run();
    rig.pass(35);
    EXPECT_EQ(take_told(), (words{"quiet", "quiet", "timeout", "quiet"}));
    rig.end();
}

// C-RTO-7: a message to itself that does not count leaves the next timeout alone.
TEST(conformance_life, C_RTO_7_a_quiet_message_in_the_timeout) {
    world_rig rig;
    const auto s = rig.spawn<drowsy>("s");
    s.tell(100);
    rig.run();
    rig.pass(205);
    EXPECT_EQ(take_told(), (words{"timeout", "quiet", "timeout", "quiet"}));
    rig.end();
}

// C-RTO-9: changed while it runs, it counts from the change.
TEST(conformance_life, C_RTO_9_counted_from_the_change) {
    world_rig rig;
    const auto s = rig.spawn<drowsy>("s");
    s.tell(500);
    rig.run();
    rig.pass(250);
    s.tell(nudge{});
    s.tell(nudge{});
    rig.run();
    rig.pass(490);
    EXPECT_EQ(take_told(), words{});
    rig.pass(20);
    EXPECT_EQ(take_told(), (words{"timeout", "quiet"}));
    rig.end();
}

// C-DW-6: who watches nobody is told of nobody's end, whatever it is sent.
TEST(conformance_life, C_DW_6_a_forged_notification) {
    world_rig rig;
    strings by;
    strings other;
    const auto p = rig.spawn<puppet>("p", &by);
    const auto o = rig.spawn<puppet>("o", &other);
    rig.run();
    (void)by.take();
    p.any().tell(terminated{o});
    rig.run();
    EXPECT_EQ(by.take(), words{});
    rig.end();
}

// C-TX-10: watched before it ends, and again after it has.
TEST(conformance_life, C_TX_10_C_TX_11_watching_a_child) {
    world_rig rig;
    strings by;
    strings child;
    puppet_ref kid;
    const auto p = rig.spawn<puppet>("p", &by);
    const auto watch = run_it{[&](puppet& me) { me.ctx().watch(kid); }};
    p.tell(run_it{[&](puppet& me) {
        kid = child_of(me, "kid", child);
        me.ctx().watch(kid);
    }});
    rig.run();
    kid.any().tell(poison_pill{});
    rig.run();
    EXPECT_EQ(by.take(), (words{"start0", "terminated0"}));
    p.tell(watch);
    rig.run();
    EXPECT_EQ(by.take(), words{"terminated0"});
    // C-TX-11: watched and unwatched: nothing.
    p.tell(run_it{[&](puppet& me) {
        kid = child_of(me, "kid", child);
        me.ctx().watch(kid);
        me.ctx().unwatch(kid);
    }});
    rig.run();
    kid.any().tell(poison_pill{});
    rig.run();
    EXPECT_EQ(by.take(), words{});
    rig.end();
}

// C-TX-13: an actor knows itself and its children. C-TX-16: a child that was told to stop may be
// told again.
TEST(conformance_life, C_TX_13_children) {
    world_rig rig;
    strings by;
    strings child;
    const auto p = rig.spawn<puppet>("p", &by);
    p.tell(run_it{[&](puppet& me) {
        EXPECT_TRUE(me.ctx().self() == p);
        EXPECT_EQ(me.ctx().child_count(), 0u);
        const puppet_ref kid = child_of(me, "kid", child);
        EXPECT_EQ(me.ctx().child_count(), 1u);
        EXPECT_TRUE(me.ctx().child("kid") == kid.any());
        EXPECT_FALSE(me.ctx().child("nobody"));
        int seen = 0;
        me.ctx().for_each_child([&](any_ref c) { seen += c == kid.any() ? 1 : 100; });
        EXPECT_EQ(seen, 1);
    }});
    rig.run();
    p.tell(run_it{[&](puppet& me) {
        const any_ref kid = me.ctx().child("kid");
        EXPECT_TRUE(me.ctx().stop(kid));
        (void)me.ctx().stop(kid);
    }});
    rig.run();
    EXPECT_EQ(child.take(), (words{"start0", "stop0"}));
    p.tell(run_it{[&](puppet& me) { EXPECT_EQ(me.ctx().child_count(), 0u); }});
    rig.run();
    EXPECT_EQ(rig.said.decision_count, 0u);
    rig.end();
}

// C-TX-5: a restarted child answers, is stopped by its parent, and that is told once.
TEST(conformance_life, C_TX_5_a_restart_under_a_watching_parent) {
    world_rig rig;
    strings by;
    strings child;
    puppet_ref kid;
    by.pre_start = [&](puppet& me) {
        kid = child_of<hooked_puppet>(me, "kid", child);
        me.ctx().watch(kid);
    };
    const auto p = rig.spawn<puppet>("p", &by);
    rig.run();
    kid.tell(crash());
    kid.tell(ping{});
    rig.run();
    EXPECT_EQ(child.take(), (words{"start0", "before0", "after1", "pong1"}));
    EXPECT_EQ(by.take(), words{"start0"});
    p.tell(run_it{[&](puppet& me) { EXPECT_TRUE(me.ctx().stop(kid)); }});
    rig.run();
    EXPECT_EQ(child.take(), words{"stop1"});
    EXPECT_EQ(by.take(), words{"terminated0"});
    rig.end();
}

// C-TX-7: a restart begins with the state of the first behavior, resume goes on with what it has.
TEST(conformance_life, C_TX_7_the_state_of_a_behavior) {
    for (const auto how : {directive::restart, directive::resume}) {
        static directive decided;
        decided = how;
        world_rig rig({.decider = [](const failure_cause&) { return decided; }});
        const auto made = rig.spawn<functional_actor<int>>(
            "counter", behavior<int>([n = 0](auto&, const int& v) mutable {
                if (v < 0)
                    throw std::runtime_error("negative");
                told.push_back(std::to_string(++n));
            }));
        made.tell(1);
        made.tell(-1);
        made.tell(1);
        rig.run();
        EXPECT_EQ(take_told(), how == directive::restart ? (words{"1", "1"}) : (words{"1", "2"}));
        rig.end();
    }
}

// C-TX-14: a receive timeout of a nanosecond comes, one of a minute does not.
TEST(conformance_life, C_TX_14_short_and_long_timeouts) {
    class waiting : public actor<nudge> {
    public:
        explicit waiting(duration after) : after_(after) {}
        void pre_start() {
            context().set_receive_timeout(after_);
            (void)context().start_single_timer("t", nudge{}, ms(1'000));
        }
        void on(nudge) { told.emplace_back("nudge"); }
        void on(const receive_timeout&) {
            told.emplace_back("timeout");
            context().cancel_receive_timeout();
        }

    private:
        duration after_;
    };
    world_rig rig;
    (void)rig.spawn<waiting>("short", duration::from_ns(1));
    rig.run();
    rig.pass(3);
    EXPECT_EQ(take_told(), words{"timeout"});
    (void)rig.spawn<waiting>("long", duration::from_s(60));
    rig.run();
    rig.pass(1'010);
    EXPECT_EQ(take_told(), (words{"nudge", "nudge"}));
    rig.end();
}

// C-TX-44: a death pact is a failure, which may be answered by a restart.
TEST(conformance_life, C_TX_44_a_death_pact_may_restart) {
    class pact : public actor<any_ref, ping> {
    public:
        void on(any_ref who) { context().watch(who); }
        void on(ping) { told.emplace_back("pong"); }
        void post_stop() { told.emplace_back("stop"); }
    };
    world_rig rig({.decider = [](const failure_cause& why) {
        EXPECT_EQ(why.kind(), failure_kind::death_pact);
        return directive::restart;
    }});
    strings other;
    const auto p = rig.spawn<pact>("p");
    const auto o = rig.spawn<puppet>("o", &other);
    p.tell(o.any());
    rig.run();
    o.any().tell(poison_pill{});
    rig.run();
    p.tell(ping{});
    rig.run();
    EXPECT_EQ(take_told(), (words{"stop", "pong"}));
    EXPECT_EQ(rig.said.decision_count, 1u);
    rig.end();
    EXPECT_EQ(take_told(), words{"stop"});
}

// C-TX-3, C-TX-4: a failure runs pre_restart once, the end post_stop once.
TEST(conformance_life, C_TX_3_C_TX_4_hooks_run_once) {
    world_rig rig;
    strings by;
    const auto p = rig.spawn<hooked_puppet>("p", &by);
    p.tell(crash());
    rig.run();
    EXPECT_EQ(by.take(), (words{"start0", "before0", "after1"}));
    p.tell(run_it{[](puppet& me) { me.ctx().stop(); }});
    rig.run();
    EXPECT_EQ(by.take(), words{"stop1"});
    rig.end();
}

// C-TX-25: two restarts within half a second; the third failure ends it, unless it comes later.
TEST(conformance_life, C_TX_25_a_limit_within_a_time) {
    for (const int pause : {0, 550}) {
        world_rig rig({.max_restarts = 2U, .within = ms(500)});
        strings by;
        const auto p = rig.spawn<hooked_puppet>("p", &by);
        p.tell(crash());
        p.tell(crash());
        rig.run();
        EXPECT_EQ(by.take(), (words{"start0", "before0", "after1", "before1", "after2"}));
        rig.pass(pause);
        p.tell(crash());
        rig.run();
        EXPECT_EQ(by.take(), pause == 0 ? words{"stop2"} : (words{"before2", "after3"}));
        rig.end();
    }
}

// C-TX-57: what was put aside and not handled when it ends is a dead letter.
TEST(conformance_life, C_TX_57_the_end_while_messages_come_back) {
    class keeping : public actor<int>, public with_stash<> {
    public:
        std::expected<void, failure> on(int v) {
            if (v == 0) {
                open_ = true;
                context().unstash_all();
                return {};
            }
            if (!open_)
                return context().stash();
            told.push_back(std::to_string(v));
            context().stop();
            return {};
        }

    private:
        bool open_ = false;
    };
    world_rig rig;
    const auto k = rig.spawn<keeping>("k");
    for (const int v : {1, 2, 0})
        k.tell(v);
    rig.run();
    EXPECT_EQ(take_told(), words{"1"});
    EXPECT_EQ(rig.said.dead_letters, 1u);
    EXPECT_EQ(rig.said.dead_numbers[0], 2);
    rig.end();
}
