// SPDX-License-Identifier: Apache-2.0
//
// Goal: what hooks see around a failure (C-TX-26 to 28, C-PAT-6), and messages that are sent later
// (C-TX-15).
#include <gtest/gtest.h>

#include "puppet.hpp"
#include "world_rig.hpp"

using namespace tactus;       // NOLINT: the whole vocabulary is used
using namespace tactus_test;  // NOLINT: puppets

namespace {

/// Fails, and answers its sender in the hooks after that.
struct tell_me {};
class answering : public actor<int> {
public:
    void on(int v) {
        if (v == 0)
            throw std::runtime_error("told to");
        if (v == -1)
            context().fail(failure("told to"));
        if (v == -2)
            context().stop();
    }
    void pre_restart(const failure_cause&) { answer("before"); }
    void post_stop() { answer("stop"); }

private:
    void answer(std::string what) {
        if (sender())
            sender().tell(std::move(what));
    }
};
class asking : public actor<std::string, int> {
public:
    asking(any_ref whom, words* to) : whom_(whom), to_(to) {}
    void on(std::string m) { to_->push_back(std::move(m)); }
    void on(int v) { whom_.tell(v); }

private:
    any_ref whom_;
    words* to_;
};

}  // namespace

// C-PAT-6: in pre_restart, and in the post_stop of a failure, the sender is that of the message
// that failed: both may reply. In a post_stop without a failure there is none.
TEST(conformance_hooks, C_PAT_6_the_sender_of_the_message_that_failed) {
    struct row {
        directive what;
        int message;
        words answers;
    };
    static directive decided;
    const row rows[] = {
        {directive::restart, 0, {"before"}}, {directive::restart, -1, {"before"}},
        {directive::stop, 0, {"stop"}},      {directive::stop, -1, {"stop"}},
        {directive::resume, 0, {}},          {directive::restart, -2, {}},
    };
    for (const row& r : rows) {
        decided = r.what;
        world_rig rig({.decider = [](const failure_cause&) { return decided; }});
        words replies;
        words others;
        const auto a = rig.spawn<answering>("a");
        const auto asks = rig.spawn<asking>("asks", a.any(), &replies);
        const auto other = rig.spawn<asking>("other", a.any(), &others);
        asks.tell(r.message);
        rig.run();
        EXPECT_EQ(replies, r.answers);
        // What comes after that is nobody's failure.
        replies.clear();
        other.tell(1);
        rig.run();
        (void)rig.world.stop(a.index());
        rig.run();
        EXPECT_EQ(replies, words{});
        EXPECT_EQ(others, words{});
        rig.end();
    }
}

// C-PAT-6: who is restarted for a sibling's failure has no sender: nobody sent it anything.
TEST(conformance_hooks, C_PAT_6_a_siblings_failure_has_no_sender) {
    world_rig rig({.scope = supervision_scope::all_for_one,
                   .decider = [](const failure_cause&) { return directive::restart; }});
    words replies;
    const auto a = rig.spawn<answering>("a");
    const auto b = rig.spawn<answering>("b");
    const auto asks_b = rig.spawn<asking>("asks", b.any(), &replies);
    asks_b.tell(1);
    rig.run();
    a.tell(0);
    rig.run();
    EXPECT_EQ(rig.said.decision_count, 1u);
    EXPECT_EQ(replies, words{});
    // A failure of its own that is over is over.
    asks_b.tell(0);
    rig.run();
    EXPECT_EQ(std::exchange(replies, {}), words{"before"});
    a.tell(0);
    rig.run();
    EXPECT_EQ(rig.said.decision_count, 3u);
    EXPECT_EQ(replies, words{});
    rig.end();
}

// C-TX-26: a restart waits for children that end slowly: a question that waits is answered after
// that, then there are no children, and then comes the end of a third one that ended meanwhile.
TEST(conformance_hooks, C_TX_26_a_restart_waits_for_children) {
    world_rig rig;
    words order;
    strings by;
    strings kids[2];
    strings below[2];
    strings third;
    const auto note = [&](std::string what) {
        return [&order, what](puppet&) { order.push_back(what); };
    };
    for (int i = 0; i < 2; ++i) {
        kids[i].post_stop = note("kid");
        below[i].post_stop = note("below");
        kids[i].pre_start = [&, i](puppet& me) { (void)child_of(me, "below", below[i]); };
    }
    const auto o = rig.spawn<puppet>("o", &third);
    by.pre_start = [&](puppet& me) {
        order.emplace_back("start");
        if (me.life() == 0) {
            me.ctx().watch(o);
            for (strings& k : kids)
                (void)child_of(me, "", k);
        }
    };
    by.ended = [&](puppet&, any_ref who) {
        EXPECT_TRUE(who == o.any());
        order.emplace_back("third");
    };
    const auto p = rig.spawn<puppet>("p", &by);
    rig.run();
    order.clear();
    p.tell(run_it{[&](puppet&) {
        (void)rig.world.stop(o.index());
        throw std::runtime_error("crash");
    }});
    p.tell(run_it{[&](puppet& me) {
        order.emplace_back("asked");
        EXPECT_EQ(me.ctx().child_count(), 0u);
        EXPECT_EQ(me.life(), 1);
    }});
    rig.run();
    EXPECT_EQ(order, (words{"below", "below", "kid", "kid", "start", "asked", "third"}));
    rig.end();
}

// C-TX-27: a restart forgets the watch of the children it stops, not that of others.
TEST(conformance_hooks, C_TX_27_watches_over_a_restart) {
    class watcher : public actor<any_ref, int, tell_me> {
    public:
        explicit watcher(words* to) : to_(to) {}
        void on(any_ref who) {
            context().watch_with(who, 0);
            const auto child = context().try_spawn(behavior<int>([](auto&, const int&) {}));
            ASSERT_TRUE(child);
            context().watch_with(*child, 1);
        }
        void on(int v) { to_->push_back("ended " + std::to_string(v)); }
        void on(tell_me) { throw std::runtime_error("crash"); }
        void post_stop() { to_->emplace_back("stop"); }

    private:
        words* to_;
    };
    world_rig rig;
    words told;
    strings other;
    const auto w = rig.spawn<watcher>("w", &told);
    const auto o = rig.spawn<puppet>("o", &other);
    w.tell(o.any());
    rig.run();
    w.tell(tell_me{});
    rig.run();
    EXPECT_EQ(told, words{"stop"});
    (void)rig.world.stop(o.index());
    rig.run();
    EXPECT_EQ(told, (words{"stop", "ended 0"}));
    rig.end();
}

// C-TX-28 here: a pre_restart of its own leaves the children where they are: they are the same
// actors after the restart, restarted themselves as they survived it (PK-SUP-10); with a back-off,
// too.
TEST(conformance_hooks, C_TX_28_children_that_survive) {
    const backoff_options soon{.min = ms(10), .max = ms(10), .random_factor = 0};
    for (const bool waits : {false, true}) {
        world_rig rig({.backoff = waits ? soon : backoff_options{}});
        strings by;
        strings child;
        puppet_ref kid;
        by.pre_start = [&](puppet& me) { kid = child_of<hooked_puppet>(me, "kid", child); };
        const auto p = rig.spawn<hooked_puppet>("p", &by);
        rig.run();
        p.tell(crash());
        rig.run();
        rig.pass(12);
        EXPECT_EQ(by.take(), (words{"start0", "before0", "after1"}));
        EXPECT_EQ(child.take(), (words{"start0", "before0", "after1"}));  // no post_stop
        p.tell(run_it{[&](puppet& me) {
            EXPECT_EQ(me.ctx().child_count(), 1u);
            EXPECT_TRUE(me.ctx().child("kid") == kid.any());
        }});
        kid.tell(ping{});
        rig.run();
        EXPECT_EQ(child.take(), words{"pong1"});
        rig.end();
    }
}

// ---- later

// C-TX-15, AC-5: a message to somebody after a while, from who scheduled it, though this one has
// ended.
TEST(conformance_hooks, C_TX_15_a_message_is_sent_later) {
    world_rig rig;
    strings by;
    strings other;
    const auto p = rig.spawn<puppet>("p", &by);
    const auto o = rig.spawn<puppet>("o", &other);
    any_ref from;
    p.tell(run_it{[&](puppet& me) {
        EXPECT_TRUE(me.ctx().schedule_once(duration::from_ns(1), o, ping{}));
        EXPECT_TRUE(me.ctx().schedule_once(ms(10), o, run_it{[&](puppet& at) {
                                               from = at.ctx().sender();
                                               at.say("late");
                                           }}));
        me.ctx().stop();
    }});
    rig.run();
    EXPECT_EQ(other.take(), words{"start0"});
    rig.pass(2);
    EXPECT_EQ(other.take(), words{"pong0"});
    EXPECT_EQ(by.take(), (words{"start0", "stop0"}));
    rig.pass(7);
    EXPECT_EQ(other.take(), words{});
    rig.pass(3);
    EXPECT_EQ(other.take(), words{"late0"});
    EXPECT_TRUE(from == p.any());
    EXPECT_EQ(rig.timing.pending(), 0u);
    rig.end();
}

// C-TX-15, AC-5: a handle cancels it, once; not what was sent. What is not sent when everything
// ends is freed.
TEST(conformance_hooks, C_TX_15_a_message_that_is_cancelled) {
    world_rig rig;
    strings by;
    cancellable kept;
    cancellable sent_already;
    cancellable left;
    EXPECT_FALSE(kept);
    EXPECT_FALSE(kept.cancel());
    const auto p = rig.spawn<puppet>("p", &by);
    p.tell(run_it{[&](puppet& me) {
        kept = me.ctx().schedule_once(ms(10), me.ctx().self(), ping{}).value();
        sent_already = me.ctx().schedule_once(ms(1), me.ctx().self(), ping{}).value();
        left = me.ctx().schedule_once(ms(100), me.ctx().self(), ping{}).value();
    }});
    rig.run();
    EXPECT_FALSE(kept.is_cancelled());
    EXPECT_TRUE(kept.cancel());
    EXPECT_TRUE(kept.is_cancelled());
    EXPECT_FALSE(kept.cancel());
    EXPECT_TRUE(kept.is_cancelled());
    rig.pass(20);
    EXPECT_EQ(by.take(), (words{"start0", "pong0"}));
    EXPECT_FALSE(sent_already.cancel());
    EXPECT_FALSE(sent_already.is_cancelled());
    EXPECT_TRUE(left);
    rig.end();  // nothing is left of it
    EXPECT_FALSE(left.cancel());
    EXPECT_TRUE(left.is_cancelled());  // SH-1: by the end of the system
}

// AC-5, UP-6: without memory, or with a delay no timer has, nothing is scheduled.
TEST(conformance_hooks, AC_5_what_cannot_be_scheduled) {
    world_rig rig;
    strings by;
    const auto p = rig.spawn<puppet>("p", &by);
    p.tell(run_it{[&](puppet& me) {
        const auto too_long = me.ctx().schedule_once(duration::max(), me.ctx().self(), ping{});
        ASSERT_FALSE(too_long);
        EXPECT_EQ(too_long.error().code, scheduler_errc::invalid_delay);
        const auto at_once = me.ctx().schedule_once(ms(0), me.ctx().self(), ping{});
        ASSERT_FALSE(at_once);
        EXPECT_EQ(at_once.error().code, scheduler_errc::invalid_delay);
        struct wide {
            char bytes[200] = {};
        };
        rig.memory.refusing = true;
        const auto too_large = me.ctx().schedule_once(ms(1), any_ref(me.ctx().self()), wide{});
        ASSERT_FALSE(too_large);
        EXPECT_EQ(too_large.error().code, scheduler_errc::capacity_exceeded);
        rig.memory.refusing = false;
    }});
    rig.run();
    rig.end();
}
