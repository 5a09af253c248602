// SPDX-License-Identifier: Apache-2.0
//
// Goal: what a probe expects comes, or the text says what did instead (TK-1, PK-TST-6, C-TST-5). In
// virtual time, where waiting takes none; on threads see system_kit_test.cpp.
#include <tactus/test_kit/kit.hpp>

#include <tactus/actor/system_events.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <ostream>
#include <string>
#include <utility>

#include "failure_text.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::text_of_failure;

namespace {

struct pong {
    int number;
    friend bool operator==(const pong&, const pong&) = default;
    friend std::ostream& operator<<(std::ostream& to, const pong& p) {
        return to << "pong " << p.number;
    }
};
struct opaque {
    int number;
    friend bool operator==(const opaque&, const opaque&) = default;
};
struct ping {
    actor_ref<pong> reply_to;
};

/// Answers with 1, 2, 3, ...
class player : public actor<ping> {
public:
    void on(const ping& m) { m.reply_to.tell(pong{++count_}); }

private:
    int count_ = 0;
};
/// Answers its sender.
class echo : public actor<int> {
public:
    void on(int n) {
        sender().tell(n);
        if (n < 0)
            throw std::runtime_error("negative");
    }
};
/// Tells `to` the numbers from 1 to n, one per second.
class counter : public actor<int> {
public:
    counter(actor_ref<int> to, int n) : to_(to), last_(n) {}
    void pre_start() { (void)context().start_timer_at_fixed_rate("tick", 0, duration::from_s(1)); }
    void on(int) {
        to_.tell(++now_);
        if (now_ == last_)
            context().stop();
    }

private:
    actor_ref<int> to_;
    int last_;
    int now_ = 0;
};

}  // namespace

// TK-1, C-TST-5: by value and by type, in order.
TEST(probe, TK_1_expects_values_and_types) {
    test::kit kit;
    auto probe = kit.create_probe<pong>();
    auto ref = kit.spawn<player>("player");
    for (int i = 0; i < 3; ++i)
        ref.tell(ping{probe.ref()});
    kit.run_until_idle();
    EXPECT_EQ(probe.expect(pong{1}), pong{1});
    EXPECT_EQ(probe.expect<pong>().number, 2);
    EXPECT_EQ(probe.receive(), pong{3});
    probe.expect_no();
}

// TK-1, C-TST-5: what was expected, what came, how long it took.
TEST(probe, TK_1_texts_say_what_came_instead) {
    test::kit kit;
    auto probe = kit.create_probe<pong, opaque, int>("listener");
    probe.ref().tell(pong{7});
    EXPECT_EQ(text_of_failure([&] { probe.expect(pong{8}); }),
              probe.name() + ": expected pong 8, found pong 7");
    EXPECT_EQ(text_of_failure([&] { probe.expect(pong{8}); }),
              probe.name() + ": timeout (3 s) during expect while waiting for pong 8, waited 3 s");
    EXPECT_EQ(text_of_failure([&] { probe.expect<int>(250ms); }),
              probe.name() +
                  ": timeout (250 ms) during expect while waiting for a message of type int, "
                  "waited 250 ms");
    const std::string pong_name(test::type_name<pong>());
    const std::string opaque_name(test::type_name<opaque>());
    probe.ref().tell(pong{7});
    EXPECT_EQ(text_of_failure([&] { probe.expect(4); }),
              probe.name() + ": expected 4, found pong 7 of type " + pong_name);
    probe.ref().tell(opaque{1});
    EXPECT_EQ(text_of_failure([&] { probe.expect(opaque{2}); }),
              probe.name() + ": expected a message of type " + opaque_name +
                  ", found a message of type " + opaque_name);
    kit.spawn<counter>("counter", probe.ref(), 1);
    EXPECT_EQ(text_of_failure([&] { probe.expect_no(5s); }),
              probe.name() + ": received unexpected message 1 after 1 s of 5 s without any");
}

// C-TST-5: a hint stands in every text.
TEST(probe, C_TST_5_hints) {
    test::kit kit;
    auto probe = kit.create_probe<int>();
    probe.hint("is the cable plugged in?");
    EXPECT_TRUE(text_of_failure([&] {
                    probe.expect(1);
                }).ends_with("waited 3 s; hint: is the cable plugged in?"));
    probe.hint("");
    EXPECT_TRUE(text_of_failure([&] { probe.expect(1); }).ends_with("waited 3 s"));
}

// TK-1: times are virtual: expecting lets time pass up to the message, not further.
TEST(probe, TK_1_expecting_moves_time_to_the_message) {
    test::kit kit;
    auto probe = kit.create_probe<int>();
    kit.spawn<counter>("counter", probe.ref(), 3);
    const instant begin = kit.now();
    probe.expect(1);
    EXPECT_EQ(kit.now() - begin, duration::from_s(1));
    probe.expect(2);
    EXPECT_EQ(kit.now() - begin, duration::from_s(2));
    EXPECT_NE(text_of_failure([&] { probe.expect(3, 500ms); }), "");
    EXPECT_EQ(kit.now() - begin, duration::from_ms(2'500));
}

// TK-1, C-TST-5: n messages, or how many there were.
TEST(probe, TK_1_receive_n) {
    test::kit kit;
    auto probe = kit.create_probe<int>();
    kit.spawn<counter>("counter", probe.ref(), 5);
    EXPECT_EQ(probe.receive_n(2), (std::vector{1, 2}));
    EXPECT_EQ(
        text_of_failure([&] { (void)probe.receive_n(2, 1500ms); }),
        probe.name() + ": timeout (1500 ms) while expecting 2 messages (got 1), waited 1500 ms");
    EXPECT_EQ(probe.receive_n(0), std::vector<int>{});
}

// TK-1, C-TST-5: fishing: complete, ignore, fail, timeout, unknown.
TEST(probe, TK_1_fishing) {
    using enum test::fishing_outcome;
    test::kit kit;
    auto probe = kit.create_probe<int, std::string>();
    const auto until = [&](int last) {
        return [last](int n) {
            return n == last ? done : n % 2 == 0 ? proceed_and_ignore : proceed;
        };
    };
    const auto send = [&](int n) {
        for (int i = 1; i <= n; ++i)
            probe.ref().tell(i);
    };
    send(6);
    EXPECT_EQ(probe.fish<int>(until(6)), (std::vector{1, 3, 5, 6}));
    send(2);
    EXPECT_EQ(text_of_failure([&] { (void)probe.fish<int>(until(6), 2s); }),
              probe.name() + ": timeout (2 s) during fish, seen messages [1, 2], waited 2 s");
    send(3);
    EXPECT_EQ(text_of_failure(
                  [&] { (void)probe.fish<int>([](int n) { return n == 2 ? fail : proceed; }); }),
              probe.name() + ": the fisher failed, seen messages [1, 2]");
    probe.expect(3);
    probe.ref().tell(std::string("eel"));
    EXPECT_EQ(text_of_failure([&] { (void)probe.fish<int>(until(6)); }),
              probe.name() + ": expected while fishing a message of type int, found eel of type " +
                  std::string(message_type_of<std::string>.name));
    send(1);
    EXPECT_EQ(text_of_failure(
                  [&] { (void)probe.fish<int>([](int) { return test::fishing_outcome{99}; }); }),
              probe.name() + ": the fisher gave no outcome that is known");
}

// TK-1, C-TST-5: before and after the end, and while other messages wait.
TEST(probe, TK_1_expect_terminated) {
    test::kit kit;
    auto probe = kit.create_probe<int>();
    auto ref = kit.spawn<echo>("echo");
    probe.ref().tell(1);
    EXPECT_EQ(text_of_failure([&] { probe.expect_terminated(ref, 10ms); }),
              probe.name() +
                  ": timeout (10 ms) while expecting the end of "
                  "[tactus://test/user/echo], waited 10 ms");
    kit.stop(ref);
    probe.expect_terminated(ref);
    probe.expect_terminated(ref);  // it has
    probe.expect(1);
    probe.expect_no();
}

// TK-1: the end is told while it is watched.
TEST(probe, TK_1_watch_and_unwatch) {
    test::kit kit;
    auto probe = kit.create_probe<int>();
    auto one = kit.spawn<echo>("one");
    auto two = kit.spawn<echo>("two");
    probe.watch(one);
    probe.watch(two);
    kit.stop(one);
    kit.stop(two);
    kit.run_until_idle();
    EXPECT_TRUE(probe.has_terminated(one));
    probe.expect_terminated(two, 0ms);
    probe.expect_terminated(one, 0ms);
    auto three = kit.spawn<echo>("three");
    probe.watch(three);
    kit.run_until_idle();
    probe.unwatch(three);
    kit.stop(three);
    kit.run_until_idle();
    EXPECT_FALSE(probe.has_terminated(three));
}

// TK-1, C-TST-5: a probe takes part: sends, is sent to, replies.
TEST(probe, TK_1_send_and_reply) {
    test::kit kit;
    auto a = kit.create_probe<int>();
    auto b = kit.create_probe<int>();
    EXPECT_EQ(
        text_of_failure([&] { a.reply(1); }),
        a.name() + ": there is nobody to reply to: no message was taken, or it had no sender");
    auto ref = kit.spawn<echo>("echo");
    a.send(ref, 5);
    a.expect(5);
    EXPECT_EQ(a.last_sender(), ref.any());
    b.send(a.ref(), 6);
    a.expect(6);
    a.reply(7);
    b.expect(7);
    EXPECT_EQ(b.last_sender(), a.ref().any());
}

// TK-1: a block has its time, shared by what it expects.
TEST(probe, TK_1_within) {
    test::kit kit;
    auto probe = kit.create_probe<int>();
    kit.spawn<counter>("counter", probe.ref(), 10);
    EXPECT_EQ(probe.within(1s, 2500ms, [&] { return probe.expect(1) + probe.expect(2); }), 3);
    EXPECT_EQ(text_of_failure([&] { probe.within(5s, 9s, [&] { probe.expect(3); }); }),
              probe.name() + ": block took 1 s, should at least have been 5 s");
    EXPECT_EQ(text_of_failure([&] { probe.within(1500ms, [&] { (void)probe.receive_n(2); }); }),
              probe.name() +
                  ": timeout (1500 ms) while expecting 2 messages (got 1), waited "
                  "1500 ms");
    // 4 came at 4 s; it is 4.5 s.
    EXPECT_EQ(text_of_failure(
                  [&] { probe.within(1s, [&] { probe.expect(5, 2s), probe.expect(6, 2s); }); }),
              probe.name() + ": block took 1500 ms, exceeding 1 s");
    // Nested: the inner one does not get more than the outer one has.
    probe.within(3s, [&] {
        EXPECT_EQ(probe.remaining(), duration::from_s(3));
        probe.within(10s, [&] { EXPECT_EQ(probe.remaining(), duration::from_s(3)); });
        probe.within(1s, [&] { EXPECT_EQ(probe.remaining(), duration::from_s(1)); });
        EXPECT_EQ(probe.remaining(), duration::from_s(3));
    });
    EXPECT_EQ(probe.remaining(), duration::from_s(3));
}

// C-TST-5: a pilot answers before the test looks, until it leaves.
TEST(probe, C_TST_5_auto_pilot) {
    test::kit kit;
    auto served = kit.create_probe<int>();
    auto asking = kit.create_probe<int>();
    served.auto_pilot([](any_ref from, int n) {
        from.tell(n * 10);
        return n < 2 ? test::pilot::keep : test::pilot::leave;
    });
    for (int i = 1; i <= 3; ++i)
        asking.send(served.ref(), i);
    EXPECT_EQ(asking.receive_n(2), (std::vector{10, 20}));
    asking.expect_no();
    EXPECT_EQ(served.receive_n(3), (std::vector{1, 2, 3}));
}

// C-TST-5: what is ignored does not come.
TEST(probe, C_TST_5_ignore) {
    test::kit kit;
    auto probe = kit.create_probe<int, std::string>();
    struct even {
        bool operator()(int n) const { return n % 2 == 0; }
        bool operator()(const std::string&) const { return false; }
    };
    probe.ignore(even{});
    for (int i = 1; i <= 4; ++i)
        probe.ref().tell(i);
    probe.ref().tell(std::string("x"));
    EXPECT_EQ(probe.receive_n<int>(2), (std::vector{1, 3}));
    probe.expect(std::string("x"));
    probe.ignore_none();
    probe.ref().tell(2);
    probe.expect(2);
}

// PK-TST-6, C-TST-5: a stopped probe has ended, and what nobody took is a dead letter.
TEST(probe, PK_TST_6_unread_messages_are_dead_letters) {
    test::kit kit;
    auto letters = kit.create_probe<dead_letter>();
    ASSERT_TRUE(kit.world().subscribe<dead_letter>(letters.ref()));
    auto watcher = kit.create_probe<int>();
    auto probe = kit.create_probe<int>();
    watcher.send(probe.ref(), 1);
    watcher.send(probe.ref(), 2);
    probe.expect(1);
    kit.run_until_idle();
    EXPECT_TRUE(probe.has_messages());
    probe.stop();
    watcher.expect_terminated(probe.ref());
    const dead_letter lost = letters.expect<dead_letter>();
    EXPECT_EQ(lost.to, probe.ref().any());
    EXPECT_EQ(lost.sender, watcher.ref().any());
    EXPECT_EQ(lost.type, &message_type_of<int>);
    letters.expect_no();
}

// C-TST-5: a probe's child is supervised as the test says.
TEST(probe, C_TST_5_children_of_probes) {
    test::kit kit;
    auto life = kit.create_probe<actor_restarted>();
    ASSERT_TRUE(kit.world().subscribe<actor_restarted>(life.ref()));
    auto probe = kit.create_probe<int>();
    const supervisor_strategy restarts{
        .decider = [](const failure_cause&) { return directive::restart; }};
    auto child = probe.spawn_child<echo>(restarts, "child");
    EXPECT_EQ(kit.path_of(child), "tactus://test/user/" + probe.name() + "/child");
    probe.send(child, -1);
    probe.expect(-1);
    EXPECT_EQ(life.receive().who, child.any());
    const supervisor_strategy stops{.decider = &stopping_decider};
    auto other = probe.spawn_child<echo>(stops, "other");
    probe.send(other, -1);
    probe.expect_terminated(other);
    EXPECT_TRUE(kit.is_alive(child));
    EXPECT_NE(text_of_failure([&] {
                  (void)probe.spawn_child<echo>(stops, "child");
              }).find("a sibling has that name"),
              std::string::npos);
}

// C-TST-5: names are unique, also of one prefix.
TEST(probe, C_TST_5_names_are_unique) {
    test::kit kit;
    auto a = kit.create_probe<int>("name");
    auto b = kit.create_probe<int>("name");
    EXPECT_NE(a.name(), b.name());
    EXPECT_TRUE(a.name().starts_with("name-"));
    EXPECT_EQ(kit.select("/user/" + a.name()), a.ref().any());
    EXPECT_EQ(kit.path_of(b.ref()), "tactus://test/user/" + b.name());
}

// PK-TST-6: tried again until it is true, or time is up.
TEST(probe, PK_TST_6_await_assert) {
    test::kit kit;
    auto probe = kit.create_probe<int>();
    int tries = 0;
    const instant begin = kit.now();
    EXPECT_EQ(probe.await_assert([&] {
        if (++tries < 4)
            throw std::runtime_error("not yet");
        return tries;
    }),
              4);
    EXPECT_EQ(kit.now() - begin, duration::from_ms(300));
    EXPECT_THROW(probe.await_assert([] { throw std::logic_error("never"); }, 1s), std::logic_error);
    EXPECT_EQ(kit.now() - begin, duration::from_ms(1'300));
}

// TK-1: expecting within an actor would never end.
TEST(probe, TK_1_expecting_within_an_actor_is_refused) {
    test::kit kit;
    auto probe = kit.create_probe<int>();
    std::string text;
    kit.spawn(behavior<int>(
                  [&](auto&, const int&) { text = text_of_failure([&] { probe.expect(1); }); }))
        .tell(1);
    kit.run_until_idle();
    EXPECT_EQ(text, probe.name() + ": an expectation would wait within an actor");
}
