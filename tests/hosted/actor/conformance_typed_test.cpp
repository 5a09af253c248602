// SPDX-License-Identifier: Apache-2.0
//
// Goal: the cases of typed behaviours and their context that Pekko's tests have (C-TYP-*, C-TX-*),
// said with our words: signals are hooks of a class, a behaviour is what it becomes.
#include <gtest/gtest.h>

#include <type_traits>

#include "puppet.hpp"
#include "world_rig.hpp"

using namespace tactus;       // NOLINT: the whole vocabulary is used
using namespace tactus_test;  // NOLINT: puppets

namespace {

using acts = behavior<run_it, ping>;

words told;  // by actors that are no puppets
words take_told() {
    return std::exchange(told, {});
}

/// A puppet behaves so from the next message on.
acts answering(const char* name) {
    return acts(
        [](auto&, const run_it& m) {
            if (m.what)
                throw std::runtime_error("crash");
        },
        [name](auto&, const ping&) { told.emplace_back(name); });
}
run_it becomes(const char* name) {
    return {[name](puppet& me) { me.ctx().become(answering(name)); }};
}

struct raw {
    int value;
};
struct other {};
/// Takes two messages, a third by an adapter, and a fourth in on_other.
class narrow : public actor<int, ping> {
public:
    void pre_start() {
        adapted_ = context().message_adapter<raw>([](raw r) { return r.value * 10; });
    }
    void on(int v) {
        told.push_back(std::to_string(v));
        if (v < 0)
            throw std::runtime_error("negative");
    }
    void on(ping) { told.emplace_back("pong"); }
    void on_other(envelope& e) {
        if (e.get_if<other>() != nullptr)
            told.emplace_back("other");
        else
            context().world().note_unhandled(context().in());
    }
    static constexpr bool wants_message = true;

private:
    actor_ref<raw> adapted_;
};

}  // namespace

// C-TYP-1: the hooks are the class's, before the first message, after one, and whatever it became;
// messages after `terminated`, after an unhandled one and after one that does nothing are handled.
TEST(conformance_typed, C_TYP_1_hooks_and_messages_in_every_state) {
    enum class when : std::uint8_t { at_once, after_a_message, after_becoming };
    for (const when w : {when::at_once, when::after_a_message, when::after_becoming}) {
        world_rig rig;
        strings by;
        strings other;
        const auto p = rig.spawn<hooked_puppet>("p", &by);
        const auto o = rig.spawn<puppet>("o", &other);
        p.tell(run_it{[&](puppet& me) { me.ctx().watch(o); }});
        rig.run();
        if (w == when::after_a_message) {
            p.tell(ping{});
            p.tell(ping{});
        }
        if (w == when::after_becoming)
            p.tell(becomes("a"));
        rig.run();
        EXPECT_EQ(by.take(), w == when::after_a_message ? (words{"start0", "pong0", "pong0"})
                                                        : words{"start0"});
        o.any().tell(poison_pill{});
        rig.run();
        EXPECT_EQ(by.take(), words{"terminated0"});
        p.any().tell(1);  // unhandled
        p.tell(ping{});
        p.tell(run_it{[](puppet& me) { me.say("ran"); }});  // fails what it became
        rig.run();
        EXPECT_EQ(rig.said.unhandled_count, 1u);
        if (w == when::after_becoming) {
            EXPECT_EQ(take_told(), words{"a"});
            EXPECT_EQ(by.take(), (words{"before0", "after1"}));
        } else {
            EXPECT_EQ(by.take(), (words{"pong0", "ran0"}));
            p.tell(crash());
            rig.run();
            EXPECT_EQ(by.take(), (words{"before0", "after1"}));
        }
        p.any().tell(poison_pill{});
        rig.run();
        EXPECT_EQ(by.take(), words{"stop1"});
        EXPECT_FALSE(rig.world.find("/user/p").valid());
        rig.end();
    }
}

// C-TYP-1: from A to B and back to A; what a behavior is made of is not changed by what it handles.
TEST(conformance_typed, C_TYP_1_states_switch) {
    using states = behavior<int>;
    struct table {
        static states a() {
            return states([](auto&, const int& v) -> states {
                told.push_back("a" + std::to_string(v));
                return v == 0 ? states(same) : b();
            });
        }
        static states b() {
            return states([](auto&, const int& v) -> states {
                told.push_back("b" + std::to_string(v));
                return v == 0 ? states(same) : a();
            });
        }
    };
    const states first = table::a();
    for (int round = 0; round < 2; ++round) {
        world_rig rig;
        const auto s = rig.spawn<functional_actor<int>>("s", first);
        for (const int v : {0, 1, 0, 2, 3})
            s.tell(v);
        rig.run();
        EXPECT_EQ(take_told(), (words{"a0", "a1", "b0", "b2", "a3"}));
        rig.end();
    }
}

// C-TYP-2 here: what sets an actor up is its constructor and pre_start: not before it is spawned,
// then once. What they throw is a failure to begin, and whoever watches is told of the end; one
// that says stop there ends.
TEST(conformance_typed, C_TYP_2_the_constructor_sets_it_up) {
    world_rig rig;
    strings watcher;
    strings good;
    strings bad;
    strings short_lived;
    bad.pre_start = [](puppet&) { throw std::runtime_error("cannot"); };
    short_lived.pre_start = [](puppet& me) { me.ctx().stop(); };
    EXPECT_EQ(good.lives, 0);
    const auto w = rig.spawn<puppet>("w", &watcher);
    w.tell(run_it{[&](puppet& me) {
        (void)child_of(me, "good", good);
        for (strings* s : {&bad, &short_lived}) {
            const auto kid = child_of(me, "", *s);
            EXPECT_TRUE(kid);
            me.ctx().watch(kid);
        }
        EXPECT_EQ(good.lives, 0);  // made in its own first turn
    }});
    rig.run();
    EXPECT_EQ(good.take(), words{"start0"});
    EXPECT_EQ(good.lives, 1);
    EXPECT_EQ(watcher.take(), (words{"start0", "terminated0", "terminated0"}));
    EXPECT_EQ(bad.take(), words{"start0"});
    EXPECT_EQ(short_lived.take(), (words{"start0", "stop0"}));
    ASSERT_EQ(rig.said.decision_count, 1u);
    EXPECT_EQ(rig.said.decisions[0].why, failure_kind::initialization);
    EXPECT_EQ(rig.said.decisions[0].what, directive::stop);
    rig.end();
}

// C-TYP-3 here: what is to be done at the end is post_stop, however it ends: by `stopped`, by a
// stop in pre_start, by a pill, by its parent. Children have ended before, and theirs was called.
TEST(conformance_typed, C_TYP_3_post_stop_is_called_however_it_ends) {
    enum class by_what : std::uint8_t { returned, in_pre_start, pill, parent };
    for (const by_what how :
         {by_what::returned, by_what::in_pre_start, by_what::pill, by_what::parent}) {
        for (const bool has_child : {false, true}) {
            world_rig rig;
            words order;
            strings by;
            strings child;
            strings boss;
            puppet_ref kid;
            by.post_stop = [&](puppet&) { order.emplace_back("parent"); };
            child.post_stop = [&](puppet&) { order.emplace_back("child"); };
            by.pre_start = [&](puppet& me) {
                if (has_child)
                    (void)child_of(me, "child", child);
                if (how == by_what::in_pre_start)
                    me.ctx().stop();
            };
            const auto top = rig.spawn<puppet>("boss", &boss);
            top.tell(run_it{[&](puppet& me) { kid = child_of(me, "kid", by); }});
            rig.run();
            if (how == by_what::returned) {
                kid.tell(run_it{[](puppet& me) {
                    me.ctx().become(acts([](auto&, const run_it&) { return same; },
                                         [](auto&, const ping&) { return stopped; }));
                }});
                kid.tell(ping{});
            }
            if (how == by_what::pill)
                kid.any().tell(poison_pill{});
            if (how == by_what::parent)
                top.tell(run_it{[&](puppet& me) { EXPECT_TRUE(me.ctx().stop(kid)); }});
            rig.run();
            EXPECT_EQ(order, has_child ? (words{"child", "parent"}) : words{"parent"});
            rig.end();
        }
    }
}

// C-TYP-4: who is no child is not stopped by this one, and nothing else comes of it.
TEST(conformance_typed, C_TYP_4_a_stop_of_who_is_no_child) {
    world_rig rig;
    strings by;
    strings other;
    const auto p = rig.spawn<puppet>("p", &by);
    const auto o = rig.spawn<puppet>("o", &other);
    p.tell(run_it{[&](puppet& me) {
        EXPECT_FALSE(me.ctx().stop(o));
        EXPECT_FALSE(me.ctx().stop(any_ref{}));
        EXPECT_FALSE(me.ctx().stop(me.ctx().self()));
        EXPECT_TRUE(&me.ctx().world() == &rig.world);
    }});
    p.tell(ping{});
    o.tell(ping{});
    rig.run();
    EXPECT_EQ(by.take(), (words{"start0", "pong0"}));
    EXPECT_EQ(other.take(), (words{"start0", "pong0"}));
    rig.end();
}

// C-TX-6: a child that handles nothing is stopped by its parent as any other.
TEST(conformance_typed, C_TX_6_a_child_that_handles_nothing) {
    class nothing : public actor<> {};
    world_rig rig;
    strings by;
    any_ref kid;
    const auto p = rig.spawn<puppet>("p", &by);
    p.tell(run_it{[&](puppet& me) {
        kid = *me.ctx().try_spawn<nothing>("kid", {});
        me.ctx().watch(kid);
    }});
    rig.run();
    kid.tell(1);
    p.tell(run_it{[&](puppet& me) { EXPECT_TRUE(me.ctx().stop(kid)); }});
    rig.run();
    EXPECT_EQ(by.take(), (words{"start0", "terminated0"}));
    rig.end();
}

// C-TX-8 here: with stopping_decider a failure is the end: post_stop, and its watcher is told. The
// default is a restart, of which nobody is told.
TEST(conformance_typed, C_TX_8_a_failure_that_ends_it) {
    for (const bool stops : {true, false}) {
        world_rig rig({.decider = stops ? &stopping_decider : &default_decider});
        strings by;
        strings watcher;
        const auto p = rig.spawn<puppet>("p", &by);
        const auto w = rig.spawn<puppet>("w", &watcher);
        w.tell(run_it{[&](puppet& me) { me.ctx().watch(p); }});
        rig.run();
        p.tell(crash());
        rig.run();
        EXPECT_EQ(by.take(),
                  stops ? (words{"start0", "stop0"}) : (words{"start0", "stop0", "start1"}));
        EXPECT_EQ(watcher.take(), stops ? (words{"start0", "terminated0"}) : words{"start0"});
        rig.end();
    }
}

// C-TX-12: what it became has no function for `terminated`: a death pact. Its post_stop is called,
// and it has ended.
TEST(conformance_typed, C_TX_12_a_new_behavior_without_terminated) {
    using acting = behavior<any_ref, int>;
    world_rig rig;
    strings child;
    const auto w = rig.spawn<functional_actor<any_ref, int>>(
        "w", acting([](auto& ctx, const any_ref& who) { ctx.watch(who); },
                    [](auto&, const int&) -> acting {
                        return acting([](auto&, const any_ref&) {}, [](auto&, const int&) {});
                    },
                    [](auto&, const terminated&) { told.emplace_back("handled"); }));
    const auto first = rig.spawn<puppet>("first", &child);
    const auto second = rig.spawn<puppet>("second", &child);
    w.tell(first.any());
    w.tell(second.any());
    rig.run();
    first.any().tell(poison_pill{});
    rig.run();
    EXPECT_EQ(take_told(), words{"handled"});
    w.tell(1);
    rig.run();
    second.any().tell(poison_pill{});
    rig.run();
    EXPECT_EQ(take_told(), words{});
    ASSERT_EQ(rig.said.decision_count, 1u);
    EXPECT_EQ(rig.said.decisions[0].why, failure_kind::death_pact);
    EXPECT_FALSE(rig.world.find("/user/w").valid());
    rig.end();
}

// C-TYP-11, C-TX-42 here: nothing wraps anything: a behavior that is replaced again and again takes
// the room of one, and a failure is decided once.
TEST(conformance_typed, C_TYP_11_C_TX_42_behaviors_do_not_pile_up) {
    world_rig rig;
    strings by;
    const auto p = rig.spawn<puppet>("p", &by);
    p.tell(becomes("a"));
    rig.run();
    static int depth;
    static int deepest;
    static acts (*again)();
    depth = deepest = 0;
    again = [] {
        return acts(
            [](auto&, const run_it& m) {
                if (m.what)
                    throw std::runtime_error("crash");
            },
            [](auto&, const ping&) -> acts {
                deepest = std::max(deepest, ++depth);
                told.emplace_back("a");
                acts next = again();
                --depth;
                return next;
            });
    };
    p.tell(crash());
    p.tell(run_it{[](puppet& me) { me.ctx().become(again()); }});
    rig.run();
    const auto blocks = rig.memory.live_blocks;
    for (int i = 0; i < 5; ++i)
        p.tell(ping{});
    rig.run();
    EXPECT_EQ(take_told().size(), 5u);
    EXPECT_EQ(deepest, 1);
    EXPECT_EQ(rig.memory.live_blocks, blocks);
    p.tell(crash());
    rig.run();
    EXPECT_EQ(rig.said.decision_count, 2u);
    EXPECT_EQ(by.take(), (words{"start0", "stop0", "start1", "stop1", "start2"}));
    rig.end();
}

// C-TYP-13: whatever the strategy is: what is stopped at first, in pre_start, or after a restart
// has ended.
TEST(conformance_typed, C_TYP_13_stopped_under_every_strategy) {
    const backoff_options later{.min = ms(10), .max = ms(20), .random_factor = 0};
    const supervisor_strategy all[] = {
        {.decider = [](const failure_cause&) { return directive::resume; }},
        {.decider = [](const failure_cause&) { return directive::restart; }},
        {.max_restarts = 3U, .within = ms(1'000)},
        {.decider = &stopping_decider},
        {.backoff = later},
    };
    for (const supervisor_strategy& how : all) {
        world_rig rig(how);
        (void)rig.spawn<functional_actor<int>>("first", behavior<int>(stopped));
        strings in_pre_start;
        in_pre_start.pre_start = [](puppet& me) { me.ctx().stop(); };
        (void)rig.spawn<puppet>("second", &in_pre_start);
        strings later_on;
        later_on.pre_start = [](puppet& me) {
            if (me.life() == 1)
                me.ctx().stop();
        };
        const auto third = rig.spawn<puppet>("third", &later_on);
        rig.run();
        third.tell(crash());
        rig.run();
        rig.pass(15);
        EXPECT_FALSE(rig.world.find("/user/first").valid());
        EXPECT_FALSE(rig.world.find("/user/second").valid());
        const bool resumed = how.decider == all[0].decider;
        EXPECT_EQ(rig.world.find("/user/third").valid(), resumed);
        EXPECT_EQ(rig.said.decision_count, 1u);
        rig.end();
    }
}

// C-TYP-14: timers are over in the post_stop of a failure; two of them fire; they are kept when it
// becomes something else; nothing of them is lost after the end; one that is due before a restart
// is nothing to who comes after it.
TEST(conformance_typed, C_TYP_14_timers_of_a_behavior) {
    world_rig rig({.decider = &stopping_decider});
    strings by;
    bool active = true;
    by.post_stop = [&](puppet& me) { active = me.ctx().is_timer_active("a"); };
    const auto p = rig.spawn<puppet>("p", &by);
    p.tell(run_it{[](puppet& me) {
        EXPECT_TRUE(me.ctx().start_timer_at_fixed_rate("a", ping{}, ms(10)));
        EXPECT_TRUE(me.ctx().start_timer_at_fixed_rate("b", ping{}, ms(10)));
    }});
    rig.run();
    rig.pass(11);
    EXPECT_EQ(by.take(), (words{"start0", "pong0", "pong0"}));
    p.tell(becomes("changed"));
    rig.run();
    rig.pass(10);
    EXPECT_EQ(take_told(), (words{"changed", "changed"}));
    p.tell(crash());
    rig.run();
    EXPECT_FALSE(active);
    rig.pass(30);
    EXPECT_EQ(by.take(), words{"stop0"});
    EXPECT_EQ(rig.said.dead_letters, 0u);
    rig.end();
}
TEST(conformance_typed, C_TYP_14_a_timer_that_is_due_before_a_restart) {
    world_rig rig;
    strings by;
    const auto p = rig.spawn<puppet>("p", &by);
    p.tell(run_it{[&](puppet& me) {
        EXPECT_TRUE(me.ctx().start_single_timer("a", ping{}, ms(1)));
        rig.time.advance(ms(5));
        rig.timing.service()->run_due(rig.time.now());  // its message waits in the mailbox
        throw std::runtime_error("crash");
    }});
    rig.run();
    EXPECT_EQ(by.take(), (words{"start0", "stop0", "start1"}));
    EXPECT_EQ(rig.said.unhandled_count, 0u);
    EXPECT_EQ(rig.said.decision_count, 1u);
    rig.end();
}

// C-TYP-15: a receive timeout that was set and taken back, whose message waits already; and one
// that never was.
TEST(conformance_typed, C_TYP_15_a_stale_receive_timeout) {
    class resting : public actor<world_rig*, ping> {
    public:
        void on(world_rig* rig) {
            context().set_receive_timeout(ms(1));
            rig->time.advance(ms(5));
            rig->timing.service()->run_due(rig->time.now());
            context().cancel_receive_timeout();
        }
        void on(ping) { told.emplace_back("pong"); }
        void on(const receive_timeout&) { told.emplace_back("timeout"); }
    };
    world_rig rig;
    const auto r = rig.spawn<resting>("r");
    r.tell(&rig);
    r.any().tell(timer_due{});
    r.tell(ping{});
    rig.run();
    rig.pass(10);
    EXPECT_EQ(take_told(), words{"pong"});
    EXPECT_EQ(rig.said.decision_count, 0u);
    rig.end();
}

// C-TYP-19, C-TYP-20, C-TX-46 here: references narrow by conversion, and what a narrowed one is
// told fails and restarts as anything else; an adapter transforms before the handler; what no
// handler takes goes to on_other, and only then is unhandled.
TEST(conformance_typed, C_TYP_19_C_TYP_20_C_TX_46_narrowing_and_transforming) {
    static_assert(std::is_convertible_v<actor_ref<int, ping>, actor_ref<int>>);
    static_assert(!std::is_convertible_v<actor_ref<int>, actor_ref<int, ping>>);
    static_assert(!std::is_convertible_v<actor_ref<int>, actor_ref<ping>>);
    world_rig rig;
    const auto whole = rig.spawn<narrow>("n");
    const actor_ref<int> part = whole;
    part.tell(1);
    part.tell(-1);
    part.tell(2);
    whole.any().tell(raw{3});
    whole.any().tell(other{});
    whole.any().tell(2.5);
    whole.tell(ping{});
    rig.run();
    EXPECT_EQ(take_told(), (words{"1", "-1", "2", "30", "other", "pong"}));
    EXPECT_EQ(rig.said.decision_count, 1u);
    EXPECT_EQ(rig.said.unhandled_count, 1u);
    rig.end();
}
