// SPDX-License-Identifier: Apache-2.0
//
// Goal: the cases of supervision that Pekko's tests have (C-SUP-*), said with our words.
#include <gtest/gtest.h>

#include "puppet.hpp"
#include "world_rig.hpp"

using namespace tactus;       // NOLINT: the whole vocabulary is used
using namespace tactus_test;  // NOLINT: puppets

namespace {

directive restarting(const failure_cause&) {
    return directive::restart;
}
directive escalating(const failure_cause&) {
    return directive::escalate;
}
constexpr supervision_scope scopes[] = {supervision_scope::one_for_one,
                                        supervision_scope::all_for_one};

/// A boss with one child, which it watches if told so.
template <class Child = puppet>
struct boss_rig : world_rig {
    explicit boss_rig(const supervisor_strategy& s, bool watches = false) {
        boss.strategy = s;
        boss.pre_start = [this, watches](puppet& p) {
            kid = child_of<Child>(p, "kid", child);
            if (watches)
                p.ctx().watch(kid);
        };
        top = spawn<puppet>("boss", &boss);
        run();
        (void)boss.take();
        (void)child.take();
    }
    template <class M>
    void tell(puppet_ref to, M m) {
        to.tell(std::move(m));
        run();
    }
    strings boss;
    strings child;
    puppet_ref top;
    puppet_ref kid;
};

}  // namespace

// C-SUP-1: without restarts a child that fails ends, and its watcher is told once.
TEST(conformance_supervision, C_SUP_1_no_restarts) {
    for (const auto scope : scopes) {
        boss_rig rig({.scope = scope, .max_restarts = 0U}, true);
        rig.tell(rig.kid, crash());
        EXPECT_EQ(rig.child.take(), words{"stop0"});
        EXPECT_EQ(rig.boss.take(), words{"terminated0"});
        EXPECT_EQ(rig.child.lives, 1);
        rig.end();
    }
}

// C-SUP-3: a question gets through a hierarchy of supervisors.
TEST(conformance_supervision, C_SUP_3_a_hierarchy) {
    world_rig rig;
    strings who[4];
    puppet_ref leaf;
    for (int i = 0; i < 3; ++i) {
        who[i].strategy.scope = supervision_scope::all_for_one;
        who[i].pre_start = [&, i](puppet& p) { leaf = child_of(p, "below", who[i + 1]); };
    }
    (void)rig.spawn<puppet>("top", &who[0]);
    rig.run();
    leaf.tell(ping{});
    rig.run();
    EXPECT_EQ(who[3].take(), (words{"start0", "pong0"}));
    EXPECT_TRUE(rig.world.find("/user/top/below/below/below") == leaf.index());
    rig.end();
}

// C-SUP-4, C-SUP-7: it answers before and after a failure, in the order it was told.
TEST(conformance_supervision, C_SUP_4_C_SUP_7_answers_around_a_failure) {
    for (const auto scope : scopes) {
        boss_rig<hooked_puppet> rig({.scope = scope, .max_restarts = 3U});
        rig.kid.tell(ping{});
        rig.kid.tell(crash());
        rig.kid.tell(ping{});
        rig.run();
        EXPECT_EQ(rig.child.take(), (words{"pong0", "before0", "after1", "pong1"}));
        rig.end();
    }
}

// C-SUP-9: a pre_restart that throws, then a constructor that does: the third instance is good.
TEST(conformance_supervision, C_SUP_9_failures_of_a_restart) {
    boss_rig<hooked_puppet> rig({.max_restarts = 3U, .decider = restarting});
    rig.child.pre_restart = [](puppet& p) {
        if (p.life() == 0)
            throw std::runtime_error("pre_restart");
    };
    rig.child.constructor = [](puppet& p) {
        if (p.life() == 1)
            throw std::runtime_error("constructor");
    };
    rig.tell(rig.kid, crash());
    rig.tell(rig.kid, ping{});
    EXPECT_EQ(rig.child.take(), (words{"before0", "after2", "pong2"}));
    EXPECT_EQ(rig.child.lives, 3);
    EXPECT_EQ(rig.said.hooks_failed, 1u);
    ASSERT_EQ(rig.said.decision_count, 2u);
    EXPECT_EQ(rig.said.decisions[0].why, failure_kind::exception);
    EXPECT_EQ(rig.said.decisions[1].why, failure_kind::post_restart);
    rig.end();
}

// C-SUP-10: a decider that throws fails the parent; the old child ends with what it was told, the
// new one works.
TEST(conformance_supervision, C_SUP_10_a_decider_that_throws) {
    boss_rig rig({});
    bool thrown = false;
    rig.boss.decide = [&](any_ref, const failure_cause&) -> directive {
        if (!std::exchange(thrown, true))
            throw std::runtime_error("cannot decide");
        return directive::restart;
    };
    const puppet_ref old = rig.kid;
    old.tell(crash());
    old.tell(ping{});
    rig.run();
    EXPECT_EQ(rig.boss.take(), (words{"stop0", "start1"}));
    EXPECT_EQ(rig.child.take(), (words{"stop0", "start1"}));
    EXPECT_EQ(rig.said.dead_letters, 1u);
    EXPECT_FALSE(rig.kid == old);
    rig.tell(rig.kid, ping{});
    EXPECT_EQ(rig.child.take(), words{"pong1"});
    rig.end();
}

// C-SUP-16: a constructor spawns a child with a name; a restart has stopped the old one before.
TEST(conformance_supervision, C_SUP_16_a_named_child_of_a_constructor) {
    world_rig rig;
    strings bob;
    strings parent;
    parent.constructor = [&](puppet& p) { EXPECT_TRUE(child_of(p, "bob", bob)); };
    const auto p = rig.spawn<puppet>("p", &parent);
    rig.run();
    p.tell(crash());
    p.tell(ping{});
    rig.run();
    EXPECT_EQ(parent.take(), (words{"start0", "stop0", "start1", "pong1"}));
    EXPECT_EQ(bob.take(), (words{"start0", "stop0", "start1"}));
    EXPECT_EQ(rig.said.decision_count, 1u);
    rig.end();
}

// C-SUP-18: a name is taken until its actor has ended, not only until it is told to.
TEST(conformance_supervision, C_SUP_18_the_name_of_a_child_that_ends) {
    boss_rig rig({});
    strings second;
    rig.tell(rig.top, run_it{[&](puppet& p) {
                 EXPECT_TRUE(p.ctx().stop(rig.kid));
                 const auto again = p.ctx().try_spawn<puppet>("kid", {}, &second);
                 ASSERT_FALSE(again);
                 EXPECT_EQ(again.error().what, spawn_error::kind::name_taken);
             }});
    EXPECT_EQ(rig.child.take(), words{"stop0"});
    rig.tell(rig.top, run_it{[&](puppet& p) { EXPECT_TRUE(child_of(p, "kid", second)); }});
    EXPECT_EQ(second.take(), words{"start0"});
    rig.end();
}

// C-SUP-20: who decides knows which child has failed.
TEST(conformance_supervision, C_SUP_20_the_child_that_failed) {
    boss_rig rig({});
    strings brother;
    puppet_ref other;
    any_ref seen;
    rig.boss.decide = [&](any_ref child, const failure_cause&) {
        seen = child;
        return directive::resume;
    };
    rig.tell(rig.top, run_it{[&](puppet& p) { other = child_of(p, "other", brother); }});
    rig.tell(rig.kid, crash());
    EXPECT_TRUE(seen == rig.kid.any());
    rig.tell(other, crash());
    EXPECT_TRUE(seen == other.any());
    rig.end();
}

// C-SUP-21: a manager that escalates is restarted, and its workers with it, as its pre_restart
// leaves them alone: each once.
TEST(conformance_supervision, C_SUP_21_survivors_are_restarted_with_their_parent) {
    world_rig rig;
    strings boss;
    strings manager;
    strings worker[3];
    puppet_ref workers[3];
    manager.strategy = {.scope = supervision_scope::all_for_one, .decider = escalating};
    boss.strategy.decider = restarting;
    boss.pre_start = [&](puppet& p) { (void)child_of<hooked_puppet>(p, "manager", manager); };
    manager.pre_start = [&](puppet& p) {
        for (int i = 0; i < 3; ++i)
            workers[i] = child_of<hooked_puppet>(p, "", worker[i]);
    };
    (void)rig.spawn<puppet>("boss", &boss);
    rig.run();
    workers[1].any().tell(tactus::kill{});
    rig.run();
    EXPECT_EQ(manager.take(), (words{"start0", "before0", "after1"}));
    for (strings& w : worker)
        EXPECT_EQ(w.take(), (words{"start0", "before0", "after1"}));
    EXPECT_EQ(boss.take(), words{"start0"});
    rig.end();
}

// C-SUP-22: one restart within a time; the second failure ends it, and its watcher is told.
TEST(conformance_supervision, C_SUP_22_a_limit_and_a_watcher) {
    boss_rig rig({.max_restarts = 1U, .within = duration::from_s(5), .decider = restarting}, true);
    rig.kid.any().tell(tactus::kill{});
    rig.run();
    EXPECT_EQ(rig.child.take(), (words{"stop0", "start1"}));
    EXPECT_EQ(rig.boss.take(), words{});
    rig.kid.any().tell(tactus::kill{});
    rig.run();
    EXPECT_EQ(rig.child.take(), words{"stop1"});
    EXPECT_EQ(rig.boss.take(), words{"terminated0"});
    rig.end();
}

// C-SUP-23: an actor that is resumed goes on, and so do those below it.
TEST(conformance_supervision, C_SUP_23_resume_of_one_with_a_child) {
    boss_rig rig({.decider = [](const failure_cause&) { return directive::resume; }});
    strings below;
    puppet_ref worker;
    rig.tell(rig.kid, run_it{[&](puppet& p) { worker = child_of(p, "worker", below); }});
    rig.kid.tell(crash());
    worker.tell(ping{});
    rig.kid.tell(ping{});
    rig.run();
    EXPECT_EQ(rig.child.take(), words{"pong0"});
    EXPECT_EQ(below.take(), (words{"start0", "pong0"}));
    rig.end();
}

// C-SUP-25: it fails to begin five times, and is resumed and restarted in turn; some attempts leave
// a child. One pre_start, no post_restart, and what it was told is handled.
TEST(conformance_supervision, C_SUP_25_attempts_to_begin) {
    world_rig rig;
    strings boss;
    strings child;
    strings left;
    int decisions = 0;
    puppet_ref kid;
    boss.decide = [&](any_ref, const failure_cause& why) {
        EXPECT_EQ(why.kind(), failure_kind::initialization);
        return ++decisions % 2 == 0 ? directive::restart : directive::resume;
    };
    boss.pre_start = [&](puppet& p) { kid = child_of<hooked_puppet>(p, "kid", child); };
    child.constructor = [&](puppet& p) {
        if (p.life() % 3 == 2) {
            EXPECT_TRUE(child_of(p, "left", left));
        }
        if (p.life() < 5)
            throw std::runtime_error("cannot begin");
    };
    (void)rig.spawn<puppet>("boss", &boss);
    rig.run();
    kid.tell(ping{});
    rig.run();
    EXPECT_EQ(child.lives, 6);
    EXPECT_EQ(decisions, 5);
    EXPECT_EQ(child.take(), (words{"start5", "pong5"}));
    rig.end();
}

// C-SUP-28: hooks of its own: three restarts, and the end.
TEST(conformance_supervision, C_SUP_28_hooks_in_order) {
    boss_rig<hooked_puppet> rig({.max_restarts = 3U, .decider = restarting});
    for (int i = 0; i < 3; ++i) {
        rig.kid.any().tell(tactus::kill{});
        rig.run();
        EXPECT_EQ(rig.child.take(),
                  (words{"before" + std::to_string(i), "after" + std::to_string(i + 1)}));
    }
    rig.kid.any().tell(tactus::kill{});
    rig.run();
    EXPECT_EQ(rig.child.take(), words{"stop3"});
    rig.end();
}

// C-DW-5: a child that is spawned again under its name is told of each time.
TEST(conformance_supervision, C_DW_5_a_kid_that_comes_again) {
    boss_rig rig({}, true);
    rig.boss.ended = [&](puppet& p, any_ref) {
        if (rig.child.lives < 3) {
            rig.kid = child_of(p, "kid", rig.child);
            p.ctx().watch(rig.kid);
        }
    };
    for (int i = 0; i < 3; ++i) {
        rig.kid.any().tell(poison_pill{});
        rig.run();
        EXPECT_EQ(rig.boss.take(), words{"terminated0"});
    }
    EXPECT_EQ(rig.child.lives, 3);
    rig.end();
}

// C-PAT-7: a child that pre_restart unwatched and stopped is not told of to the new instance.
TEST(conformance_supervision, C_PAT_7_an_old_child_is_not_told_of) {
    world_rig rig;
    strings parent;
    strings child;
    puppet_ref kid;
    parent.pre_start = [&](puppet& p) {
        kid = child_of(p, "", child);
        p.ctx().watch(kid);
    };
    parent.pre_restart = [&](puppet& p) {
        p.ctx().unwatch(kid);
        EXPECT_TRUE(p.ctx().stop(kid));
    };
    const auto p = rig.spawn<hooked_puppet>("p", &parent);
    rig.run();
    p.tell(crash());
    p.tell(ping{});
    rig.run();
    EXPECT_EQ(parent.take(), (words{"start0", "before0", "after1", "pong1"}));
    EXPECT_EQ(child.take(), (words{"start0", "stop0"}));
    rig.end();
}

// C-PAT-7: the same of a child that has ended when its parent has not looked yet: it is seen by the
// reference it had, and not by that of the slot's next life.
TEST(conformance_supervision, C_PAT_7_a_child_that_ended_unseen) {
    static world_rig* in = nullptr;
    static puppet_ref kid;
    for (const bool by_unwatch : {true, false}) {
        // The guardian decides, then the kid ends, then the parent is restarted.
        world_rig rig({.decider = [](const failure_cause&) {
            EXPECT_TRUE(in->world.stop(kid.index()));
            return directive::restart;
        }});
        in = &rig;
        strings parent;
        strings child;
        parent.pre_start = [&](puppet& p) {
            kid = child_of(p, "", child);
            p.ctx().watch(kid);
        };
        parent.pre_restart = [&](puppet& p) {
            EXPECT_EQ(child.take(), (words{"start0", "stop0"}));
            int seen = 0;
            p.ctx().for_each_child([&](any_ref c) {
                ++seen;
                EXPECT_TRUE(c == kid.any());
                if (by_unwatch)
                    p.ctx().unwatch(c);
                EXPECT_FALSE(p.ctx().stop(c));  // it has ended
            });
            EXPECT_EQ(seen, 1);
            if (!by_unwatch)
                p.ctx().stop_children();
        };
        const auto p = rig.spawn<hooked_puppet>("p", &parent);
        rig.run();
        p.tell(crash());
        p.tell(ping{});
        rig.run();
        EXPECT_EQ(parent.take(), (words{"start0", "before0", "after1", "pong1"}));
        rig.end();
    }
}
