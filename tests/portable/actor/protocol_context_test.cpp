// SPDX-License-Identifier: Apache-2.0
//
// Goal: other messages made into those of the protocol, other behavior for them, and failing by
// call (AC-5, SV-3).
#include <tactus/actor/actor.hpp>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::world_rig;

namespace {

// ---- adapters

struct price {
    int value;
};
struct quote {
    int value;
};
struct hello {};
struct begin_quoting {
    int offset;
};

class trader : public actor<quote, begin_quoting> {
public:
    trader() {
        adapted = context().message_adapter<price>([](const price& p) { return quote{p.value}; });
    }
    void on(const quote& q) {
        journal().add(q.value);
        journal().add(sender() && sender() == expected_sender ? 1 : 0);
        if (q.value == 13)
            context().fail(failure(13));
    }
    void on(const begin_quoting& m) {
        adapted = context().message_adapter<price>([n = m.offset, this](price p) -> quote {
            if (p.value == 66) {
                // Replaces itself while it runs.
                adapted =
                    context().message_adapter<price>([](price q) { return quote{q.value * 2}; });
            }
            return quote{p.value + n};
        });
    }
    void post_stop() { journal().add(-1); }
    static inline actor_ref<price> adapted;
    static inline any_ref expected_sender;
};

}  // namespace

// C-TYP-18, AC-5: what is told to the adapter's reference is handled as what it was made into, in
// order with other messages; the sender is kept.
TEST(protocol_context, C_TYP_18_an_adapter_makes_another_message_of_it) {
    world_rig rig;
    const auto t = rig.spawn<trader>("t");
    rig.run();
    trader::expected_sender = any_ref(rig.world.user_guardian());
    t.tell(quote{1});
    trader::adapted.tell(price{2}, trader::expected_sender);
    t.tell(quote{3});
    rig.run();
    EXPECT_TRUE(journal().is({1, 0, 2, 1, 3, 0}));
    rig.end();
    journal().clear();
}

// C-TYP-18: the latest function for a message is used, be it made while the one before runs.
TEST(protocol_context, C_TYP_18_the_latest_adapter_is_used) {
    world_rig rig;
    const auto t = rig.spawn<trader>("t");
    t.tell(begin_quoting{100});
    rig.run();
    trader::adapted.tell(price{1});
    trader::adapted.tell(price{66});
    trader::adapted.tell(price{4});
    rig.run();
    EXPECT_TRUE(journal().is({101, 0, 166, 0, 8, 0}));
    rig.end();
    journal().clear();
}

// C-TX-61: what there is no adapter for is unhandled; later messages are fine.
TEST(protocol_context, C_TX_61_without_an_adapter_it_is_unhandled) {
    world_rig rig;
    const auto t = rig.spawn<trader>("t");
    t.any().tell(hello{});
    t.tell(quote{1});
    rig.run();
    EXPECT_EQ(rig.said.unhandled_count, 1u);
    EXPECT_TRUE(journal().is({1, 0}));
    rig.end();
    journal().clear();
}

// C-TX-64, C-TYP-18: after the actor has ended it is a dead letter.
TEST(protocol_context, C_TX_64_after_the_end_it_is_a_dead_letter) {
    world_rig rig;
    const auto t = rig.spawn<trader>("t");
    rig.run();
    rig.world.stop(t.index());
    rig.run();
    trader::adapted.tell(price{1});
    rig.run();
    EXPECT_EQ(rig.said.dead_letters, 1u);
    rig.end();
    journal().clear();
}

// C-TX-63: the handler fails for the third of five adapted messages; a supervisor that stops it
// leaves the others as dead letters.
TEST(protocol_context, C_TX_63_a_failure_leaves_the_rest_as_dead_letters) {
    world_rig rig({.max_restarts = 0U});
    (void)rig.spawn<trader>("t");
    rig.run();
    for (const int v : {1, 2, 13, 4, 5})
        trader::adapted.tell(price{v});
    rig.run();
    EXPECT_TRUE(journal().is({1, 0, 2, 0, 13, 0, -1}));
    EXPECT_EQ(rig.said.dead_letters, 2u);
    rig.end();
    journal().clear();
}

// ---- failing by call

// SV-3: the actor has failed when the handler returns, with what was given; the message after it
// is the new instance's.
TEST(protocol_context, SV_3_fail_is_as_if_it_had_been_returned) {
    world_rig rig;
    const auto t = rig.spawn<trader>("t");
    t.tell(quote{13});
    t.tell(quote{2});
    rig.run();
    EXPECT_EQ(rig.said.decision_count, 1u);
    EXPECT_TRUE(rig.said.decisions[0].why == failure_kind::returned);
    EXPECT_TRUE(journal().is({13, 0, -1, 2, 0}));
    rig.end();
    journal().clear();
}

// ---- becoming

namespace {

class moody : public actor<int, hello> {
public:
    void on(int v) { journal().add(v); }
    void on(const hello&) {
        using handlers = behavior<int, hello>;
        context().become(handlers(
            [](auto& ctx, int v) {
                journal().add(v + 100);
                if (v == 1)
                    ctx.become(handlers(
                                   [](auto& inner, int w) {
                                       journal().add(w + 200);
                                       if (w == 3)
                                           inner.fail(failure(3));
                                   },
                                   [](auto& inner, const hello&) { inner.unbecome(); }),
                               become_mode::stack);
                if (v == 3)
                    ctx.fail(failure(3));
                if (v == 9)
                    ctx.unbecome();
            },
            [](auto&, const hello&) {
                return handlers([](auto&, int w) { journal().add(w + 300); },
                                [](auto&, const hello&) { return unhandled; });
            }));
    }
};

}  // namespace

// AC-5, PK-ACT: what it becomes handles the next messages; a handler may replace it, put another
// above it, and return to what was before.
TEST(protocol_context, AC_5_a_class_becomes_a_behavior_and_unbecomes) {
    world_rig rig;
    const auto m = rig.spawn<moody>("m");
    m.tell(0);
    m.tell(hello{});
    m.tell(2);
    m.tell(1);  // puts another above
    m.tell(2);
    m.tell(hello{});  // back
    m.tell(4);
    m.tell(9);  // back to the class
    m.tell(5);
    rig.run();
    EXPECT_TRUE(journal().is({0, 102, 101, 202, 104, 109, 5}));
    rig.end();
    journal().clear();
}

// AC-3, AC-5: a handler may return what comes next, or that the message is unhandled.
TEST(protocol_context, AC_5_what_it_becomes_may_return_another) {
    world_rig rig;
    const auto m = rig.spawn<moody>("m");
    m.tell(hello{});
    m.tell(hello{});
    m.tell(1);
    m.tell(hello{});
    rig.run();
    EXPECT_TRUE(journal().is({301}));
    EXPECT_EQ(rig.said.unhandled_count, 1u);
    rig.end();
    journal().clear();
}

// C-SUP-32: a stack of two, then a failure: it behaves as its class says again.
TEST(protocol_context, C_SUP_32_a_restart_forgets_what_it_became) {
    world_rig rig;
    const auto m = rig.spawn<moody>("m");
    m.tell(hello{});
    m.tell(3);  // fails
    m.tell(4);
    rig.run();
    EXPECT_TRUE(journal().is({103, 4}));
    EXPECT_EQ(rig.said.decision_count, 1u);
    m.tell(hello{});
    m.tell(1);
    m.tell(3);
    m.tell(4);
    rig.run();
    EXPECT_TRUE(journal().is({101, 203, 4}));
    rig.end();
    journal().clear();
}

// DF-42: the frame of what it became is freed with the instance, after the pill's run of it has
// returned: rig.end() finds writes to released memory.
TEST(protocol_context, DF_42_a_pill_ends_an_actor_that_became_something_else) {
    for (const bool stacked : {false, true}) {
        world_rig rig;
        const auto m = rig.spawn<moody>("m");
        m.tell(hello{});
        if (stacked)
            m.tell(1);
        m.any().tell(poison_pill{});
        m.tell(2);  // behind the pill: a dead letter
        rig.run();
        EXPECT_EQ(journal().count(), stacked ? 1u : 0u);
        EXPECT_FALSE(rig.world.find("/user/m").valid());
        EXPECT_EQ(rig.said.dead_letters, 1u);
        rig.end();
        journal().clear();
    }
}

// AC-3, AC-5: what is made of functions may put another above itself, too, and return to it.
TEST(protocol_context, AC_5_a_behavior_is_stacked_on_a_behavior) {
    using handlers = behavior<int, hello>;
    world_rig rig;
    const auto b = rig.spawn<functional_actor<int, hello>>(
        "b", handlers([](auto&, int v) { journal().add(v); },
                      [](auto& ctx, const hello&) {
                          ctx.become(handlers([](auto&, int v) { journal().add(v + 100); },
                                              [](auto& above, const hello&) { above.unbecome(); }),
                                     become_mode::stack);
                      }));
    b.tell(1);
    b.tell(hello{});
    b.tell(2);
    b.tell(hello{});
    b.tell(3);
    rig.run();
    EXPECT_TRUE(journal().is({1, 102, 3}));
    rig.end();
    journal().clear();
}
