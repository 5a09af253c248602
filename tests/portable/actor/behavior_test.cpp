// SPDX-License-Identifier: Apache-2.0
//
// Goal: actors made of functions: same, stopped, unhandled, become (AC-3).
#include <tactus/actor/behavior.hpp>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::world_rig;

namespace {

struct add {
    int value;
};
struct total {
    actor_ref<int> reply_to;
};

using number_behavior = behavior<int>;

number_behavior pong();
number_behavior ping() {
    return number_behavior([](auto&, const int& v) -> number_behavior {
        journal().add(v);
        if (v == 0)
            return stopped;
        if (v < 0)
            return unhandled;
        return v == 5 ? same : pong();
    });
}
number_behavior pong() {
    return number_behavior([](auto& ctx, const int& v) {
        journal().add(-v);
        ctx.become(ping());
    });
}

}  // namespace

// AC-3: state in what a function has captured.
TEST(behaviors, AC_3_functions_with_state) {
    world_rig rig;
    const auto sum = rig.spawn<functional_actor<add, total>>(
        "sum", behavior<add, total>(
                   [n = 0](auto&, const add& m) mutable {
                       n += m.value;
                       journal().add(n);
                   },
                   [](auto& ctx, const total&) {
                       journal().add(ctx.self() == actor_ref<add, total>{} ? 1 : 2);
                       return stopped;
                   }));
    sum.tell(add{1});
    sum.tell(add{2});
    sum.tell(total{});
    sum.tell(add{3});
    rig.run();
    EXPECT_TRUE(journal().is({1, 3, 2}));
    EXPECT_EQ(rig.said.dead_letters, 1u);
    rig.end();
}

// AC-3, C-TX-1, C-TX-2: what a handler returns is how it goes on.
TEST(behaviors, AC_3_same_become_unhandled_stopped) {
    world_rig rig;
    const auto a = rig.spawn<functional_actor<int>>("a", ping());
    for (const int v : {5, 1, 2, -3, 5, 0})
        a.tell(v);
    rig.run();
    EXPECT_TRUE(journal().is({5, 1, -2, -3, 5, 0}));
    EXPECT_EQ(rig.said.unhandled_count, 1u);
    EXPECT_FALSE(rig.world.find("/user/a").valid());
    rig.end();
}

// AC-3: a restart begins with the first behavior, as it was.
TEST(behaviors, AC_3_a_restart_begins_with_the_first_behavior) {
    world_rig rig({.decider = [](const failure_cause&) { return directive::restart; }});
    const auto a = rig.spawn<functional_actor<int>>(
        "a", behavior<int>([n = 0](auto&, const int& v) mutable { journal().add(v * 100 + ++n); }));
    a.tell(1);
    a.tell(2);
    a.any().tell(tactus::kill{});
    a.tell(3);
    rig.run();
    EXPECT_TRUE(journal().is({101, 202, 301}));
    rig.end();
}

// PK-TYP-2: a first behavior that is none; one that is over at once.
TEST(behaviors, PK_TYP_2_a_first_behavior_has_handlers_or_is_stopped) {
    world_rig rig;
    (void)rig.spawn<functional_actor<int>>("a", behavior<int>(same));
    (void)rig.spawn<functional_actor<int>>("b", behavior<int>(stopped));
    rig.run();
    EXPECT_EQ(rig.said.decision_count, 1u);
    EXPECT_TRUE(rig.said.decisions[0].why == failure_kind::initialization);
    EXPECT_FALSE(rig.world.find("/user/a").valid());
    EXPECT_FALSE(rig.world.find("/user/b").valid());
    rig.end();
}

// PK-TYP-1: `terminated` may be among the functions; without one it is a death pact.
TEST(behaviors, AC_3_terminated_is_handled_or_a_death_pact) {
    world_rig rig;
    const auto victim = rig.spawn<functional_actor<int>>("v", ping());
    const auto watcher = rig.spawn<functional_actor<int>>(
        "w", behavior<int>([who = victim](auto& ctx, const int&) { ctx.watch(who); },
                           [](auto&, const terminated&) { journal().add(77); }));
    const auto pact = rig.spawn<functional_actor<int>>(
        "p", behavior<int>([who = victim](auto& ctx, const int&) { ctx.watch(who); }));
    watcher.tell(1);
    pact.tell(1);
    rig.run();
    victim.tell(0);
    rig.run();
    EXPECT_EQ(journal().count(), 2u);
    journal().clear();
    EXPECT_TRUE(rig.said.decisions[0].why == failure_kind::death_pact);
    EXPECT_TRUE(rig.world.find("/user/w").valid());
    EXPECT_FALSE(rig.world.find("/user/p").valid());
    rig.end();
}
