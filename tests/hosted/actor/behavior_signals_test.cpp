// SPDX-License-Identifier: Apache-2.0
//
// Goal: what actors made of functions, and classes that became some, are told beside their messages
// (AC-3, AC-6): terminated, receive_timeout, their end and restart; and when become takes effect.
#include <tactus/actor/actor.hpp>

#include <gtest/gtest.h>

#include <stdexcept>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::ms;
using tactus_test::world_rig;

namespace {

class victim : public actor<int> {
public:
    void on(int) { context().stop(); }
};

behavior<int> noting(int as) {
    return behavior<int>([as](auto&, const int& v) { journal().add(as + v); });
}
/// Watches, then becomes what it was given; handles `terminated` itself, too, or not.
class changing : public actor<any_ref, int> {
public:
    explicit changing(behavior<any_ref, int> to) : to_(std::move(to)) {}
    void on(any_ref who) {
        context().watch(who);
        context().become(to_);
    }
    void on(int v) { journal().add(v); }

private:
    behavior<any_ref, int> to_;
};
class changing_watcher : public changing {
public:
    using changing::changing;
    using changing::on;
    void on(const terminated&) { journal().add(500); }
};

template <class A>
struct watching {
    explicit watching(behavior<any_ref, int> to) : a(rig.spawn<A>("a", std::move(to))) {
        v = rig.spawn<victim>("v");
        a.tell(any_ref(v));
        rig.run();
        v.tell(1);
        rig.run();
    }
    ~watching() {
        rig.end();
        journal().clear();
    }
    world_rig rig;
    actor_ref<any_ref, int> a;
    actor_ref<int> v;
};

constexpr auto ignore_ref = [](auto&, const any_ref&) {};
constexpr auto ignore_int = [](auto&, const int&) {};

}  // namespace

// C-TX-10, AC-3: what a class has become is told first; then it is, itself.
TEST(behavior_signals, AC_3_terminated_goes_to_what_a_class_has_become) {
    {
        const watching<changing> w(behavior<any_ref, int>(
            ignore_ref, [](auto&, const int& v) { journal().add(10 + v); },
            [](auto& ctx, const terminated&) {
                journal().add(600);
                ctx.unbecome();
            }));
        EXPECT_TRUE(journal().is({600}));
        EXPECT_EQ(w.rig.said.decision_count, 0u);
    }
    const watching<changing_watcher> w(behavior<any_ref, int>(ignore_ref, ignore_int));
    EXPECT_TRUE(journal().is({500}));
}

// C-TX-12, PK-TYP-1: `unhandled` is a death pact: in what a class has become, and in functions.
TEST(behavior_signals, C_TX_12_unhandled_terminated_is_a_death_pact) {
    const behavior<any_ref, int> refuses(ignore_ref, ignore_int,
                                         [](auto&, const terminated&) { return unhandled; });
    {
        const watching<changing_watcher> w(refuses);
        EXPECT_TRUE(journal().is({}));
        EXPECT_EQ(w.rig.said.decision_count, 1u);
        EXPECT_TRUE(w.rig.said.decisions[0].why == failure_kind::death_pact);
    }
    world_rig rig;
    const auto v = rig.spawn<victim>("v");
    const auto f = rig.spawn<functional_actor<any_ref>>(
        "f", behavior<any_ref>([](auto& ctx, const any_ref& who) { ctx.watch(who); },
                               [](auto&, const terminated&) { return unhandled; }));
    f.tell(any_ref(v));
    rig.run();
    v.tell(1);
    rig.run();
    EXPECT_EQ(rig.said.decision_count, 1u);
    EXPECT_TRUE(rig.said.decisions[0].why == failure_kind::death_pact);
    EXPECT_EQ(rig.said.unhandled_count, 0u);
    rig.end();
}

// AC-3: what was said to become holds from the next message on, though the function fails then.
TEST(behavior_signals, AC_3_become_before_a_failure_holds_from_the_next_message_on) {
    world_rig rig({.decider = [](const failure_cause&) { return directive::resume; }});
    const auto f = rig.spawn<functional_actor<int>>("f", behavior<int>([](auto& ctx, const int&) {
                                                        ctx.become(noting(100));
                                                        throw std::runtime_error("after become");
                                                    }));
    for (const int v : {1, 2, 3})
        f.tell(v);
    rig.run();
    EXPECT_TRUE(journal().is({102, 103}));
    rig.end();
}

// TM-2, AC-6: a receive timeout reaches a function that takes it; without one it is unhandled.
TEST(behavior_signals, TM_2_receive_timeout_reaches_functions_or_is_unhandled) {
    world_rig rig;
    const auto f = rig.spawn<functional_actor<int>>(
        "f", behavior<int>(
                 [](auto& ctx, const int& v) {
                     if (v == 0)
                         ctx.become(noting(100));
                     else
                         ctx.set_receive_timeout(ms(v));
                 },
                 [](auto&, const receive_timeout& m) {
                     journal().add(static_cast<std::int32_t>(m.after.ns() / 1'000'000));
                 }));
    f.tell(10);
    rig.run();
    rig.pass(25);
    EXPECT_TRUE(journal().is({10, 10}));
    EXPECT_EQ(rig.said.unhandled_count, 0u);
    f.tell(0);
    rig.run();
    rig.pass(15);
    EXPECT_TRUE(journal().is({}));
    EXPECT_EQ(rig.said.unhandled_count, 1u);
    rig.end();
}

// TM-2: so it is with a class that becomes one, and one that has no handler.
TEST(behavior_signals, TM_2_receive_timeout_and_classes) {
    class waits : public actor<int> {
    public:
        void on(int v) {
            context().set_receive_timeout(ms(10));
            if (v == 1)
                context().become(behavior<int>(
                    ignore_int, [](auto&, const receive_timeout&) { journal().add(1); }));
        }
    };
    world_rig rig;
    const auto plain = rig.spawn<waits>("plain");
    const auto becomes = rig.spawn<waits>("becomes");
    plain.tell(0);
    becomes.tell(1);
    rig.run();
    rig.pass(12);
    EXPECT_TRUE(journal().is({1}));
    EXPECT_EQ(rig.said.unhandled_count, 1u);
    rig.end();
}

namespace {

/// Says what it is told of its life.
behavior<int> noting_life(int as) {
    return behavior<int>(
        [as](auto& ctx, const int& v) {
            if (v == 0)
                ctx.become(noting_life(as + 1'000));
            if (v == 1)
                throw std::runtime_error("one");
            if (v == 2)
                ctx.stop();
        },
        [as](auto&, const post_stop_signal&) { journal().add(as + 1); },
        [as](auto&, const pre_restart_signal& s) {
            journal().add(s.why.text() == "one" ? as + 2 : -1);
        });
}

}  // namespace

// AC-6, PK-TYP-3, PK-TYP-6, C-TYP-1, C-TX-3: the last behavior is told of its restart, and its end.
TEST(behavior_signals, AC_6_functions_are_told_of_a_restart_and_of_the_end) {
    world_rig rig;
    const auto f = rig.spawn<functional_actor<int>>("f", noting_life(100));
    for (const int v : {0, 1, 2})
        f.tell(v);
    rig.run();
    EXPECT_TRUE(journal().is({1'102, 101}));
    EXPECT_EQ(rig.said.hooks_failed, 0u);
    rig.end();
}

// AC-6: without a function for restarts that for the end is called; children are stopped.
TEST(behavior_signals, AC_6_the_end_is_the_restart_of_who_has_no_other_function) {
    world_rig rig;
    const auto f = rig.spawn<functional_actor<int>>(
        "f", behavior<int>(
                 [](auto& ctx, const int& v) {
                     if (v == 1) {
                         (void)ctx.template try_spawn<victim>("child", {});
                         throw std::runtime_error("one");
                     }
                     journal().add(static_cast<std::int32_t>(ctx.child_count()));
                 },
                 [](auto&, const post_stop_signal&) { journal().add(7); }));
    f.tell(1);
    f.tell(2);
    rig.run();
    EXPECT_TRUE(journal().is({7, 0}));
    (void)rig.world.stop(f.index());
    rig.run();
    EXPECT_TRUE(journal().is({7}));
    rig.end();
}
