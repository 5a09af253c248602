// SPDX-License-Identifier: Apache-2.0
//
// Goal: a world in virtual time does what the same actors do on threads, at exact times, and again
// and again the same (TK-1, PK-TST-1, PK-TST-2, C-TST-1, C-TST-6).
#include <tactus/test_kit/actor_under_test.hpp>
#include <tactus/test_kit/kit.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "failure_text.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::text_of_failure;

namespace {

/// Does what it is told, in its turn.
struct order {
    std::function<void(actor_context)> what;
};
/// One run of a job.
struct job {
    int id;
};
class worker_actor : public actor<order, job> {
public:
    void on(const order& o) { o.what(context()); }
    void on(const job& j) { ++runs[j.id]; }
    std::map<int, int> runs;
};

/// The jobs of C-TST-1, as timers of one actor.
struct jobs {
    test::kit kit{{.scheduler = {.zero_delay = zero_delay_rule::next_tick}}};
    test::actor_under_test<worker_actor> who = kit.spawn_under_test<worker_actor>("jobs");

    void every(int id, duration first, duration interval) {
        who.tell(order{[=](actor_context c) {
            EXPECT_TRUE(c.start_timer_at_fixed_rate(id, job{id}, first, interval));
        }});
    }
    void once(int id, duration delay) {
        who.tell(
            order{[=](actor_context c) { EXPECT_TRUE(c.start_single_timer(id, job{id}, delay)); }});
    }
    bool cancel(int id) {
        bool was = false;
        who.tell(order{[&was, id](actor_context c) { was = c.cancel_timer(id); }});
        return was;
    }
    int runs(int id) { return who->runs[id]; }
};

struct add {
    int value;
};
class sum : public actor<add> {
public:
    void pre_start() { context().set_receive_timeout(duration::from_s(5)); }
    void on(const add& m) {
        if (m.value < 0)
            throw std::invalid_argument("negative");
        total += m.value;
    }
    void on(const receive_timeout&) { ++timeouts; }
    int total = 0;
    int timeouts = 0;
};
class failing : public actor<int> {
public:
    failure on(int code) { return {code, "as asked"}; }
};

}  // namespace

// C-TST-1: the numbers of runs.
TEST(kit, C_TST_1_jobs_run_as_often_as_is_due) {
    jobs j;
    j.every(1, 0s, 5s);
    j.every(2, 5s, 5s);
    j.once(3, 5s);
    for (const int id : {4, 5, 6})
        j.once(id, 1s);
    j.kit.advance(12s);
    EXPECT_EQ(j.runs(1), 3);
    EXPECT_EQ(j.runs(2), 2);
    for (const int id : {3, 4, 5, 6})
        EXPECT_EQ(j.runs(id), 1) << id;
    j.kit.advance(88s);
    EXPECT_EQ(j.runs(3), 1);
    EXPECT_EQ(j.runs(1), 21);
}

// C-TST-1, PK-TST-2: cancelling, also of one among equals, and of what has not begun.
TEST(kit, C_TST_1_what_is_cancelled_does_not_run) {
    jobs j;
    for (const int id : {1, 2, 3})
        j.every(id, 5s, 5s);
    j.every(4, 0s, 5s);
    EXPECT_TRUE(j.cancel(4));
    j.kit.advance(7s);
    EXPECT_TRUE(j.cancel(2));
    EXPECT_FALSE(j.cancel(2));
    j.kit.advance(5s);
    EXPECT_EQ(j.runs(1), 2);
    EXPECT_EQ(j.runs(2), 1);
    EXPECT_EQ(j.runs(3), 2);
    j.once(5, 1s);
    EXPECT_TRUE(j.cancel(5));
    j.kit.advance(100s);
    EXPECT_EQ(j.runs(5), 0);
}

// C-TST-1: 7, 1 and 10 seconds, one after the other.
TEST(kit, C_TST_1_steps_add_up) {
    jobs j;
    j.every(1, 5s, 5s);
    j.kit.advance(7s);
    EXPECT_EQ(j.runs(1), 1);
    j.kit.advance(1s);
    EXPECT_EQ(j.runs(1), 1);
    j.kit.advance(10s);
    EXPECT_EQ(j.runs(1), 3);
}

// PK-TST-1, PK-TST-2: each at its time, those made meanwhile too, equals in the order they were
// made; the clock ends where it was sent.
TEST(kit, PK_TST_1_everything_happens_at_its_time) {
    test::kit kit;
    std::vector<std::pair<std::int64_t, int>> log;
    const instant begin = kit.now();
    kit.spawn(behavior<job>([&](auto& ctx, const job& j) {
           log.emplace_back((kit.now() - begin).ns() / 1'000'000, j.id);
           if (j.id == 0) {
               EXPECT_TRUE(ctx.start_single_timer(3, job{3}, 30ms));
               EXPECT_TRUE(ctx.start_single_timer(1, job{1}, 10ms));
               EXPECT_TRUE(ctx.start_single_timer(2, job{2}, 10ms));
           } else if (j.id == 1) {
               EXPECT_TRUE(ctx.start_single_timer(4, job{4}, 5ms));
           }
       }))
        .tell(job{0});
    kit.advance(100ms);
    EXPECT_EQ(log, (std::vector<std::pair<std::int64_t, int>>{
                       {0, 0}, {10, 1}, {10, 2}, {15, 4}, {30, 3}}));
    EXPECT_EQ(kit.now() - begin, duration::from_ms(100));
    EXPECT_EQ(text_of_failure([&] { kit.advance(-1s); }), "time does not go back, by -1 s");
}

// TK-1: nothing happens by itself, and time stands while the world runs.
TEST(kit, TK_1_nothing_happens_by_itself) {
    test::kit kit;
    auto probe = kit.create_probe<int>();
    auto ref = kit.spawn(behavior<int>([to = probe.ref()](auto&, const int& n) { to.tell(n); }));
    ref.tell(1);
    EXPECT_FALSE(probe.has_messages());
    const instant begin = kit.now();
    kit.run_until_idle();
    EXPECT_TRUE(probe.has_messages());
    EXPECT_EQ(kit.now(), begin);
    const auto reply = kit.ask<int>(
        kit.spawn(behavior<actor_ref<int>>([](auto&, const actor_ref<int>& to) { to.tell(42); })),
        [](actor_ref<int> me) { return me; }, 1s);
    EXPECT_EQ(reply, 42);
    EXPECT_EQ(kit.ask<int>(ref, [](actor_ref<int>) { return 1; }, 1s), std::nullopt);
    EXPECT_EQ(kit.now() - begin, duration::from_s(1));
}

// TK-1, PK-TST-3: silence of several probes, for an exact time.
TEST(kit, TK_1_expect_no_message_for) {
    test::kit kit;
    auto a = kit.create_probe<int>();
    auto b = kit.create_probe<int>();
    kit.spawn(behavior<int>([&](auto& ctx, const int& n) {
           if (n == 0)
               EXPECT_TRUE(ctx.start_single_timer("t", 1, 2s));
           else
               b.ref().tell(n);
       }))
        .tell(0);
    const instant begin = kit.now();
    kit.expect_no_message_for(1999ms, a, b);
    EXPECT_EQ(kit.now() - begin, duration::from_ms(1'999));
    EXPECT_EQ(text_of_failure([&] { kit.expect_no_message_for(2ms, a, b); }),
              b.name() + ": received unexpected message 1 after 1 ms of 2 ms without any");
}

// TK-1: a world that is never idle is an error, not a test that hangs.
TEST(kit, TK_1_a_world_that_is_never_idle) {
    test::kit kit({.runs_max = 1'000});
    auto ref = kit.spawn(behavior<int>([](auto& ctx, const int& n) { ctx.self().tell(n); }));
    ref.tell(1);
    EXPECT_EQ(text_of_failure([&] { kit.run_until_idle(); }),
              "the world of 'test' is never idle: 1000 runs without time passing");
    kit.stop(ref);
    kit.shutdown();
    EXPECT_THROW(kit.spawn<sum>("late"), spawn_exception);
}

// C-TST-6: handled on the calling thread; the instance can be seen; what it throws comes out.
TEST(kit, C_TST_6_an_actor_under_test) {
    test::kit kit;
    auto one = kit.spawn_under_test<sum>("sum");
    one.tell(add{2});
    one.receive(add{3});
    EXPECT_EQ(one.underlying().total, 5);
    EXPECT_EQ(one->total, 5);
    EXPECT_THROW(one.receive(add{-1}), std::invalid_argument);
    EXPECT_EQ(one->total, 0);  // restarted
    one.tell(add{-1});
    one.receive(add{4});  // of its own message only
    EXPECT_EQ(one->total, 4);
    kit.advance(11s);
    EXPECT_EQ(one->timeouts, 2);

    auto two = kit.spawn_under_test<failing>("failing");
    try {
        two.receive(7);
        ADD_FAILURE() << "it failed";
    } catch (const test::actor_failure& e) {
        EXPECT_EQ(e.code(), 7);
        EXPECT_EQ(e.kind(), failure_kind::returned);
        EXPECT_STREQ(e.what(), "returned: as asked");
    }
}

// C-TST-6: kill restarts it where the supervisor says so; a poison pill ends it.
TEST(kit, C_TST_6_kill_and_poison_pill) {
    test::kit kit({.guardian_strategy = {
                       .decider = [](const failure_cause&) { return directive::restart; }}});
    auto one = kit.spawn_under_test<sum>("sum");
    one.tell(add{2});
    EXPECT_THROW(one.receive(tactus::kill{}), test::actor_failure);
    EXPECT_TRUE(one.is_alive());
    EXPECT_EQ(one->total, 0);
    one.tell(poison_pill{});
    EXPECT_FALSE(one.is_alive());
    EXPECT_EQ(text_of_failure([&] { (void)one.underlying(); }),
              "the actor under test has no instance: it has ended, or did not begin");
}

// TK-1: a shutdown sees to it that everybody ends.
TEST(kit, TK_1_shutdown) {
    test::kit kit;
    auto probe = kit.create_probe<int>();
    auto ref = kit.spawn<sum>("sum");
    kit.shutdown();
    EXPECT_FALSE(kit.is_alive(ref));
    EXPECT_FALSE(kit.is_alive(probe.ref()));
}
