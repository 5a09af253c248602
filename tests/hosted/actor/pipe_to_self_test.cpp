// SPDX-License-Identifier: Apache-2.0
//
// Goal: results that come as messages: of tasks, and of questions (AS-1, AC-5).
#include <tactus/actor/ask.hpp>

#include <gtest/gtest.h>

#include <stdexcept>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::ms;
using tactus_test::world_rig;

namespace {

struct question {
    int value;
    actor_ref<int> reply_to;
};
/// Answers with the double, except to zero; negative ones kill it.
class oracle : public actor<question> {
public:
    void on(const question& q) {
        if (q.value > 0)
            q.reply_to.tell(q.value * 2);
        last = q.reply_to;
    }
    static inline actor_ref<int> last;
};

struct wait_for {
    int time_ms;
};
struct ask_it {
    int value;
};
struct come {
    int value;
};

class asker : public actor<wait_for, ask_it, come> {
public:
    explicit asker(actor_ref<question> of) : oracle_(of) {}
    void on(const wait_for& m) {
        context().pipe_to_self(after(context(), m.time_ms), [](int v) {
            if (v == 13)
                throw std::runtime_error("unlucky");
            return come{v};
        });
        journal().add(m.time_ms);
    }
    void on(const ask_it& m) {
        context().ask<int>(
            oracle_, [v = m.value](actor_ref<int> me) { return question{v, me}; }, ms(20),
            [this](std::expected<int, ask_fault> r) {
                // In the actor's turn: it may touch what is the actor's.
                ++answers_;
                if (r.has_value() && *r == 26)
                    throw std::runtime_error("unlucky");
                return come{r.has_value() ? *r : -1 - static_cast<int>(r.error())};
            });
    }
    void on(const come& m) { journal().add(1'000 + m.value); }
    void post_stop() { journal().add(answers_ > 0 ? -2 : -1); }

private:
    static task<int> after(protocol_context<wait_for, ask_it, come> ctx, int time_ms) {
        const auto passed = co_await ctx.delay(ms(time_ms));
        co_return passed ? time_ms : 0;
    }
    actor_ref<question> oracle_;
    int answers_ = 0;
};

struct two {
    world_rig rig;
    actor_ref<question> o = rig.spawn<oracle>("o");
    actor_ref<wait_for, ask_it, come> a = rig.spawn<asker>("a", o);
    ~two() {
        rig.end();
        journal().clear();
    }
};

}  // namespace

// C-ASK-11, AC-5: other messages are handled until it comes.
TEST(pipe_to_self, C_ASK_11_a_result_comes_as_a_message) {
    two t;
    t.a.tell(wait_for{10});
    t.a.tell(wait_for{5});
    t.a.tell(come{1});
    t.rig.run();
    EXPECT_TRUE(journal().is({10, 5, 1'001}));
    t.rig.pass(12);
    EXPECT_TRUE(journal().is({1'005, 1'010}));
}

// C-ASK-11: what the function throws fails the actor.
TEST(pipe_to_self, C_ASK_11_what_the_function_throws_fails_the_actor) {
    two t;
    t.a.tell(wait_for{13});
    t.rig.run();
    t.rig.pass(15);
    EXPECT_TRUE(journal().is({13, -1}));
    EXPECT_EQ(t.rig.said.decision_count, 1u);
}

namespace {

/// Fills its mailbox before each result.
class full_asker : public actor<ask_it, wait_for, come> {
public:
    explicit full_asker(actor_ref<question> of) : oracle_(of) {}
    void on(const wait_for& m) {
        context().pipe_to_self(after(context(), m.time_ms), [this](int v) { return filled(v); });
    }
    void on(const ask_it& m) {
        context().ask<int>(
            oracle_, [v = m.value](actor_ref<int> me) { return question{v, me}; }, ms(20),
            [this](const std::expected<int, ask_fault>& r) { return filled(r.value_or(-1)); });
    }
    void on(const come& m) { journal().add(m.value); }

private:
    static task<int> after(protocol_context<ask_it, wait_for, come> ctx, int time_ms) {
        const auto passed = co_await ctx.delay(ms(time_ms));
        co_return passed ? time_ms : 0;
    }
    come filled(int v) {
        for (int i = 0; i < 2; ++i)
            self().tell(come{0});
        return come{v};
    }
    actor_ref<question> oracle_;
};

}  // namespace

// AS-1: a full mailbox of the actor loses neither replies nor time-outs, which it waits for.
TEST(pipe_to_self, AS_1_a_full_mailbox_takes_results) {
    for (const overflow how : {overflow::reject, overflow::dead_letter, overflow::drop_newest,
                               overflow::drop_oldest, overflow::block}) {
        world_rig rig;
        const auto o = rig.spawn<oracle>("o");
        auto r = detail::request_for<full_asker>(rig.memory, "a",
                                                 {.mailbox = {.when_full = how, .capacity = 2}}, o);
        const auto made = rig.world.spawn_top(*r);
        ASSERT_TRUE(made.has_value());
        const actor_ref<ask_it, wait_for, come> a{any_ref(*made)};
        for (const int v : {0, 8}) {  // no answer; 16
            a.tell(ask_it{v});
            rig.run();
            rig.pass(25);
            EXPECT_TRUE(journal().is({0, 0, v == 0 ? -1 : 16}));
        }
        a.tell(wait_for{5});
        rig.run();
        rig.pass(10);
        EXPECT_TRUE(journal().is({0, 0, 5}));
        rig.end();
        journal().clear();
    }
}

namespace {

/// Starts one beside itself while it runs.
class two_waits : public actor<int> {
public:
    task<> on(int v) {
        if (v >= 100) {
            journal().add(v);
            co_return;
        }
        context().pipe_to_self(after(context(), v), [](int w) { return w + 100; });
        const auto passed = co_await context().delay(ms(3));
        journal().add(passed ? v : -1);
    }

private:
    static task<int> after(protocol_context<int> ctx, int time_ms) {
        const auto passed = co_await ctx.delay(ms(time_ms));
        co_return passed ? time_ms : 0;
    }
};

}  // namespace

// AC-2, AC-5: a coroutine may start another beside itself.
TEST(pipe_to_self, AC_2_from_within_a_coroutine) {
    world_rig rig;
    const auto a = rig.spawn<two_waits>("a");
    a.tell(1);
    a.tell(5);
    rig.run();
    rig.pass(20);
    EXPECT_TRUE(journal().is({1, 5, 101, 105}));
    rig.end();
    journal().clear();
}

namespace {

/// Its task fails before it waits.
class hasty : public actor<int> {
public:
    void on(int v) {
        context().pipe_to_self(failing(v), [](int w) { return w; });
        journal().add(v);
    }
    void pre_restart(const failure_cause& why) { journal().add(why.text() == "at once" ? 50 : 51); }

private:
    static task<int> failing(int v) {
        if (v == 1)
            throw std::runtime_error("at once");
        co_return v;
    }
};

}  // namespace

// SV-3, AC-5: a task that fails at once fails the actor with its own cause, after the handler.
TEST(pipe_to_self, SV_3_a_task_that_fails_at_once) {
    world_rig rig;
    const auto h = rig.spawn<hasty>("h");
    h.tell(1);
    rig.run();
    EXPECT_TRUE(journal().is({1, 50}));
    EXPECT_TRUE(rig.said.decisions[0].why == failure_kind::exception);
    rig.end();
    journal().clear();
}

// PK-TYP: with the actor the wait ends; nothing comes.
TEST(pipe_to_self, a_stop_ends_the_wait) {
    two t;
    t.a.tell(wait_for{10});
    t.a.any().tell(poison_pill{});
    t.rig.run();
    t.rig.pass(15);
    EXPECT_TRUE(journal().is({10, -1}));
    EXPECT_EQ(t.rig.said.dead_letters, 0u);
}

// AS-1: the reply is made a message in the actor's turn.
TEST(pipe_to_self, AS_1_a_reply_comes_as_a_message) {
    two t;
    t.a.tell(ask_it{1});
    t.rig.run();
    EXPECT_TRUE(journal().is({1'002}));
}

// C-ASK-10, C-ASK-9: no reply is a timeout, made a message, too; a late reply is a dead letter.
TEST(pipe_to_self, C_ASK_10_a_timeout_comes_as_a_message) {
    two t;
    t.a.tell(ask_it{0});
    t.rig.run();
    t.rig.pass(19);
    EXPECT_TRUE(journal().is({}));
    t.rig.pass(3);
    EXPECT_TRUE(journal().is({1'000 - 1 - static_cast<int>(ask_fault::timeout)}));
    oracle::last.tell(1);
    t.rig.run();
    EXPECT_EQ(t.rig.said.dead_letters, 1u);
}

// C-ASK-10: what the function throws fails the actor.
TEST(pipe_to_self, C_ASK_10_a_function_that_throws_fails_the_actor) {
    two t;
    t.a.tell(ask_it{13});
    t.rig.run();
    EXPECT_TRUE(journal().is({-2}));
    EXPECT_EQ(t.rig.said.decision_count, 1u);
}

// C-ASK-9: bad input: a target that has ended.
TEST(pipe_to_self, a_target_that_has_ended_answers_at_once) {
    two t;
    t.rig.world.stop(t.o.index());
    t.rig.run();
    t.a.tell(ask_it{1});
    t.rig.run();
    EXPECT_TRUE(journal().is({1'000 - 1 - static_cast<int>(ask_fault::target_terminated)}));
}

namespace {

/// Knows where it is: a copy of its bits does not.
struct placed {
    placed() noexcept = default;
    placed(const placed&) noexcept {}
    placed& operator=(const placed&) = delete;
    ~placed() { broken += is_whole() ? 0 : 1; }
    [[nodiscard]] bool is_whole() const noexcept { return me == this; }
    const placed* me = this;
    static inline int broken = 0;
};

/// Asks with functions that have something to copy and destroy.
class careful : public actor<ask_it, come> {
public:
    explicit careful(actor_ref<question> of) : oracle_(of) {}
    void on(const ask_it& m) {
        const placed p;
        context().ask<int>(
            oracle_,
            [p, v = m.value](actor_ref<int> me) { return question{p.is_whole() ? v : 500, me}; },
            ms(20),
            [p](std::expected<int, ask_fault> r) {
                return come{p.is_whole() && r.has_value() ? *r : 600};
            });
    }
    void on(const come& m) { got = m.value; }
    static inline int got = 0;

private:
    actor_ref<question> oracle_;
};

}  // namespace

// AS-1: what the functions captured is moved and destroyed as C++ says: g++ 12 copies the bits of
// some temporaries in a co_await.
TEST(pipe_to_self, AS_1_functions_are_moved_not_copied_bit_by_bit) {
    world_rig rig;
    const auto o = rig.spawn<oracle>("o");
    const auto a = rig.spawn<careful>("a", o);
    a.tell(ask_it{21});
    rig.run();
    EXPECT_EQ(careful::got, 42);
    rig.end();
    EXPECT_EQ(placed::broken, 0);
    journal().clear();
}
