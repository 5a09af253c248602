// SPDX-License-Identifier: Apache-2.0
//
// Goal: what a context has for who does not look at errors: spawn; and suspend (AC-5, CO-6).
#include <tactus/actor/actor.hpp>

#include <gtest/gtest.h>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::world_rig;

namespace {

class echo : public actor<int> {
public:
    explicit echo(int add) : add_(add) {}
    void on(int v) { journal().add(v + add_); }

private:
    int add_;
};

/// Spawns under the name it is given.
class parent : public actor<const char*, int> {
public:
    void on(const char* name) {
        const actor_ref<int> child = context().spawn<echo>(name, 10);
        journal().add(child ? 1 : 0);
        child.tell(1);
    }
    void on(int v) {
        context().spawn_anonymous<echo>(v).tell(1);
        context()
            .spawn(behavior<int>([v](auto&, const int& w) { journal().add(v + w); }), "functions")
            .tell(2);
    }
    void pre_restart(const failure_cause& why) {
        journal().add(why.kind() == failure_kind::returned &&
                              why.text() == "cannot spawn 'a': a sibling has that name"
                          ? 500
                          : 501);
    }
};

}  // namespace

// AC-5: spawn gives a reference, or fails the actor, which says which child there is already.
TEST(context_face, AC_5_DF_39_spawn_gives_a_child_or_fails) {
    world_rig rig;
    const auto p = rig.spawn<parent>("p");
    p.tell("a");
    rig.run();
    EXPECT_TRUE(journal().is({1, 11}));
    EXPECT_TRUE(rig.world.find("/user/p/a").valid());
    p.tell(20);
    rig.run();
    EXPECT_EQ(journal().count(), 2u);  // in whichever order: they are two actors
    EXPECT_EQ(journal().at(0) + journal().at(1), 21 + 22);
    journal().clear();
    p.tell("a");
    rig.run();
    EXPECT_TRUE(journal().is({0, 500}));
    EXPECT_EQ(rig.said.decision_count, 1u);
    rig.end();
}

namespace {

class pausing : public actor<int> {
public:
    void on(int v) {
        journal().add(v);
        if (v == 1)
            journal().add(
                context().suspend(suspend_reason::user_defined, resume_condition::signal(7))
                    ? 100
                    : -100);
    }
};

}  // namespace

// CO-6, AC-5: an actor holds its messages back until a signal.
TEST(context_face, CO_6_an_actor_suspends_itself) {
    world_rig rig;
    const auto p = rig.spawn<pausing>("p");
    p.tell(1);
    p.tell(2);
    rig.run();
    EXPECT_TRUE(journal().is({1, 100}));
    EXPECT_EQ(rig.kernel->signal(7), 1u);
    rig.run();
    EXPECT_TRUE(journal().is({2}));
    rig.end();
}
