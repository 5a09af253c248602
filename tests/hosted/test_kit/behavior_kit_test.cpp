// SPDX-License-Identifier: Apache-2.0
//
// Goal: one actor, run by hand: what it asks of its world is recorded in order, and nothing happens
// that the test does not do (TK-1, PK-TST-5, C-TST-3, C-TX-70 to C-TX-78). Timers and questions are
// in behavior_kit_time_test.cpp.
#include <tactus/test_kit/behavior_kit.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "failure_text.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::text_of_failure;

namespace {

int begun_children = 0;

struct work {
    int amount;
    friend bool operator==(const work&, const work&) = default;
};
/// Passes on half of what it gets, to itself; logs; fails for 0.
class helper : public actor<work> {
public:
    helper() { ++begun_children; }
    void on(const work& m) {
        if (m.amount == 0)
            throw std::domain_error("nothing to do");
        done += m.amount;
        if (m.amount > 1)
            self().tell(work{m.amount / 2});
    }
    int done = 0;
};

/// Does what it is told, in its turn.
struct order {
    std::function<void(actor_context)> what;
};
struct count_request {
    actor_ref<int> reply_to;
};
class boss : public actor<order, count_request, std::string>, public with_stash<10> {
public:
    explicit boss(std::vector<std::string>* log = nullptr) : log_(log) {}
    void on(const order& o) { o.what(context()); }
    void on(const count_request& m) { m.reply_to.tell(static_cast<int>(seen.size())); }
    std::expected<void, failure> on(const std::string& text) {
        if (text == "later")
            return context().stash();
        if (text == "now")
            context().unstash_all();
        seen.push_back(text);
        return {};
    }
    void on(const terminated& m) { ended.push_back(m.who); }
    void post_stop() {
        if (log_ != nullptr)
            log_->emplace_back("post_stop");
    }
    std::vector<std::string> seen;
    std::vector<any_ref> ended;

private:
    std::vector<std::string>* log_;
};

/// Restarts all its children when one fails.
class family : public actor<order> {
public:
    void on(const order& o) { o.what(context()); }
    supervisor_strategy supervision() { return {.scope = supervision_scope::all_for_one}; }
};

using numbers = behavior<int>;
numbers ending() {
    return numbers([](auto&, const int& n) -> numbers {
        if (n < 0)
            return stopped;
        return n == 0 ? numbers(unhandled) : numbers(same);
    });
}

template <class Kit>
void tell(Kit& kit, std::function<void(actor_context)> what) {
    kit.run(order{std::move(what)});
}

}  // namespace

// C-TX-70, C-TX-71: children with names and without; nothing asked is no effect.
TEST(behavior_kit, C_TX_70_spawning_is_an_effect) {
    auto kit = test::behavior_kit_of<boss>();
    EXPECT_FALSE(kit.has_effects());
    kit.expect_effect(test::no_effects{});
    tell(kit, [](actor_context c) {
        (void)c.try_spawn<helper>("anna", {});
        (void)c.try_spawn<helper>("", {});
    });
    EXPECT_TRUE(kit.has_effects());
    const auto named = kit.expect_effect(test::spawned{"anna"});
    EXPECT_EQ(named.type, test::type_name<helper>());
    EXPECT_EQ(named, (test::spawned{"anna", test::type_name<helper>()}));
    EXPECT_FALSE(named == (test::spawned{"anna", test::type_name<boss>()}));
    const auto other = kit.expect_effect<test::spawned_anonymous>();
    EXPECT_NE(other.child, named.child);
    EXPECT_FALSE(kit.has_effects());
    EXPECT_TRUE(std::holds_alternative<test::no_effects>(kit.retrieve_effect()));
}

// C-TX-72: what does not match says what there was.
TEST(behavior_kit, C_TX_72_texts) {
    auto kit = test::behavior_kit_of<boss>();
    const std::string type(test::type_name<helper>());
    const auto spawn = [&] {
        tell(kit, [](actor_context c) { (void)c.try_spawn<helper>("", {}); });
    };
    EXPECT_EQ(text_of_failure([&] { kit.expect_effect(test::spawned{"x"}); }),
              "expected: spawned 'x' but no effects were recorded");
    EXPECT_EQ(text_of_failure([&] { kit.expect_effect<test::watched>(); }),
              "expected: an effect of type " + std::string(test::type_name<test::watched>()) +
                  " but no effects were recorded");
    spawn();
    EXPECT_EQ(text_of_failure([&] { kit.expect_effect(test::spawned{"x"}); }),
              "expected: spawned 'x' but found spawned a child without a name of type " + type);
    spawn();
    EXPECT_EQ(text_of_failure([&] {
                  kit.expect_effect_matching<test::spawned>([](const auto&) { return true; });
              }),
              "expected matching effect but got: spawned a child without a name of type " + type);
    spawn();
    EXPECT_EQ(
        text_of_failure([&] {
            kit.expect_effect_matching<test::spawned_anonymous>([](const auto&) { return false; });
        }),
        "expected matching effect but got: spawned a child without a name of type " + type);
    spawn();
    spawn();
    kit.expect_effect_matching<test::spawned_anonymous>(
        [&](const auto& e) { return e.type == type; });
    EXPECT_EQ(kit.retrieve_all_effects().size(), 1u);
    EXPECT_FALSE(kit.has_effects());
}

// C-TST-3: watches, and their end, for children and others.
TEST(behavior_kit, C_TST_3_watching_is_an_effect) {
    auto kit = test::behavior_kit_of<boss>();
    auto other = kit.create_inbox<int>();
    tell(kit, [&](actor_context c) {
        c.watch(other.ref());
        c.unwatch(other.ref());
        const auto child = c.try_spawn<helper>("anna", {});
        c.watch(*child);
    });
    kit.expect_effect(test::watched{other.ref()});
    kit.expect_effect(test::unwatched{other.ref()});
    const any_ref child = kit.expect_effect<test::spawned>().child;
    kit.expect_effect(test::watched{child});
    // The end of a child comes as in a system: through the inbox.
    kit.stop_child("anna");
    EXPECT_TRUE(kit.run_one());
    EXPECT_EQ(kit.underlying<boss>().ended, std::vector{child});
    EXPECT_FALSE(kit.run_one());
    kit.signal(terminated{other.ref()});
    EXPECT_EQ(kit.underlying<boss>().ended.back(), other.ref().any());
    EXPECT_FALSE(kit.has_effects());
}

// C-TST-3, DW-1: a watch with a message of the actor's own.
TEST(behavior_kit, C_TST_3_watching_with_a_message) {
    auto kit = test::behavior_kit_of<boss>();
    auto other = kit.create_inbox<int>();
    tell(kit, [&](actor_context c) { c.watch_with(other.ref(), std::string("gone")); });
    kit.expect_effect(test::watched_with{other.ref(), test::type_name<std::string>()});
    EXPECT_FALSE(kit.has_effects());
}

// C-TST-3, AC-5: an adapter is an effect; what it makes is handled when the test runs it.
TEST(behavior_kit, C_TST_3_message_adapters) {
    class adapting : public actor<std::string> {
    public:
        void pre_start() {
            from = context().message_adapter<int>([](int n) { return std::to_string(n); });
        }
        void on(const std::string& text) { seen.push_back(text); }
        actor_ref<int> from;
        std::vector<std::string> seen;
    };
    auto kit = test::behavior_kit_of<adapting>();
    kit.expect_effect(test::message_adapter{test::type_name<int>()});
    kit.underlying<adapting>().from.tell(42);
    EXPECT_TRUE(kit.underlying<adapting>().seen.empty());
    EXPECT_TRUE(kit.run_one());
    EXPECT_EQ(kit.underlying<adapting>().seen, std::vector<std::string>{"42"});
}

// C-TX-78, C-TST-3: stopping a child; its name is free for the next message.
TEST(behavior_kit, C_TX_78_stopping_children) {
    auto kit = test::behavior_kit_of<boss>();
    const auto spawn = [](actor_context c) { (void)c.try_spawn<helper>("anna", {}); };
    tell(kit, spawn);
    tell(kit, [](actor_context c) { EXPECT_TRUE(c.stop(c.child("anna"))); });
    tell(kit, spawn);
    tell(kit, [](actor_context c) {
        EXPECT_EQ(c.child_count(), 1u);
        EXPECT_FALSE(c.try_spawn<helper>("anna", {}).has_value());
        c.stop_children();
    });
    const auto first = kit.expect_effect<test::spawned>();
    const auto stopped_first = kit.expect_effect(test::stopped_child{"anna"});
    EXPECT_EQ(stopped_first.child, first.child);
    const auto second = kit.expect_effect<test::spawned>();
    EXPECT_NE(second.child, first.child);
    EXPECT_EQ(kit.expect_effect(test::stopped_child{"anna"}).child, second.child);
    kit.expect_effect(test::no_effects{});
}

// C-TST-3, C-TX-78: what children get waits; they begin when the test runs one.
TEST(behavior_kit, C_TST_3_children) {
    begun_children = 0;
    auto kit = test::behavior_kit_of<boss>();
    actor_ref<work> anna;
    tell(kit, [&](actor_context c) {
        anna = *c.try_spawn<helper>("anna", {});
        anna.tell(work{6});
        anna.tell(work{0});
        c.try_spawn<helper>("", {})->tell(work{1});
    });
    EXPECT_EQ(begun_children, 0);
    auto inbox = kit.child_inbox<work>("anna");
    EXPECT_EQ(inbox.message_count(), 2u);
    EXPECT_EQ(inbox.ref(), anna);

    auto child = kit.child_kit<work>("anna");
    EXPECT_EQ(begun_children, 1);
    EXPECT_TRUE(child.run_one());
    EXPECT_EQ(child.underlying<helper>().done, 6);
    child.run(work{10});
    EXPECT_EQ(child.underlying<helper>().done, 16);
    EXPECT_THROW(child.run_one(), std::domain_error);
    EXPECT_TRUE(child.is_alive());  // its parent restarts it
    EXPECT_EQ(child.underlying<helper>().done, 0);
    EXPECT_EQ(inbox.receive_all<work>(), (std::vector{work{3}, work{5}}));

    (void)kit.retrieve_effect();
    const auto other = kit.expect_effect<test::spawned_anonymous>();
    kit.child_inbox(actor_ref<work>(other.child)).expect(work{1});
    EXPECT_EQ(text_of_failure([&] { (void)kit.child_kit<work>("bert"); }),
              "there was no child with the name 'bert'");
    EXPECT_EQ(text_of_failure([&] { (void)kit.child_kit(actor_ref<work>{}); }),
              "there was no such child");
}

// A child that the test has not begun gets its parent's orders, and does not begin by them.
TEST(behavior_kit, DF_9_orders_to_a_child_that_is_not_begun) {
    begun_children = 0;
    auto kit = test::behavior_kit_of<family>();
    kit.run(order{[](actor_context c) {
        (void)c.try_spawn<helper>("anna", {});
        (void)c.try_spawn<helper>("bert", {});
    }});
    auto anna = kit.child_kit<work>("anna");
    EXPECT_THROW(anna.run(work{0}), std::domain_error);
    EXPECT_TRUE(anna.is_alive());
    EXPECT_EQ(begun_children, 2);  // anna, twice
    auto bert = kit.child_kit<work>("bert");
    EXPECT_EQ(begun_children, 3);
    bert.run(work{1});
    EXPECT_EQ(bert.underlying<helper>().done, 1);
}

// C-TST-3: what the actor is sent waits in its inbox, and is handled one by one.
TEST(behavior_kit, C_TST_3_the_inbox) {
    auto kit = test::behavior_kit_of<helper>();
    kit.run(work{8});
    EXPECT_EQ(kit.underlying<helper>().done, 8);
    EXPECT_TRUE(kit.run_one());
    EXPECT_EQ(kit.underlying<helper>().done, 12);
    kit.self_inbox().expect(work{2});
    EXPECT_FALSE(kit.run_one());
    kit.ref().tell(work{1});
    EXPECT_EQ(text_of_failure([&] { kit.self_inbox().expect(work{2}); }),
              "expected a message of type " + std::string(test::type_name<work>()) +
                  ", found a message of type " + std::string(test::type_name<work>()));
    auto box = kit.create_inbox<int, std::string>();
    EXPECT_EQ(text_of_failure([&] { box.expect(1); }), "expected 1, but the inbox is empty");
    box.ref().tell(1);
    EXPECT_EQ(text_of_failure([&] { box.expect(std::string("x")); }),
              "expected x, found a message of type int");
    EXPECT_EQ(text_of_failure([&] { box.expect_empty(); }),
              "expected no message, found 1, the first of type int");
    box.expect(1);
    box.expect_empty();
}

// ST-1: what the actor puts aside comes before what waits, here too.
TEST(behavior_kit, ST_1_a_stash_comes_first) {
    auto kit = test::behavior_kit_of<boss>();
    kit.run(std::string("later"));
    kit.ref().tell(std::string("waits"));
    kit.run(std::string("later"));
    EXPECT_EQ(kit.self_inbox().message_count(), 1u);
    kit.run(order{[&](actor_context c) {
        kit.ref().tell(std::string("new"));
        c.unstash_all();
    }});
    EXPECT_EQ(kit.self_inbox().receive_all<std::string>(),
              (std::vector<std::string>{"later", "later", "waits", "new"}));
}

// C-TX-73: what is logged.
TEST(behavior_kit, C_TX_73_log) {
    auto kit = test::behavior_kit_of<boss>();
    tell(kit, [&](actor_context) { kit.logger().write(log_level::info, "hello"); });
    EXPECT_EQ(kit.log_entries(), (std::vector<test::log_entry>{{log_level::info, "hello"}}));
    kit.clear_log();
    EXPECT_TRUE(kit.log_entries().empty());
}

// C-TST-3: the default address; replies to a question; another sender.
TEST(behavior_kit, C_TX_78_run_ask) {
    auto kit = test::behavior_kit_of<boss>();
    kit.run(std::string("one"));
    const auto question = [](actor_ref<int> me) { return count_request{me}; };
    kit.run_ask<int>(question).expect_reply(1);
    auto reply = kit.run_ask<int>(question);
    EXPECT_TRUE(reply.has_reply());
    EXPECT_EQ(reply.receive_reply(), 1);
    reply.expect_no_reply();
    EXPECT_EQ(text_of_failure([&] { kit.run_ask<int>(question).expect_reply(2); }),
              "expected 2, found 1");
    auto sender = kit.create_inbox<int>();
    any_ref seen;
    kit.run(order{[&](actor_context c) { seen = c.sender(); }}, sender.ref());
    EXPECT_EQ(seen, sender.ref().any());
    std::string path;
    struct sink final : text_sink {
        explicit sink(std::string& t) : to(t) {}
        void write(std::string_view piece) noexcept override { to += piece; }
        std::string& to;
    } writer(path);
    tell(kit, [&](actor_context c) { c.world().write_path(c.self().index(), writer); });
    EXPECT_EQ(path, "tactus://bench/user/testkit");
}

// PK-TST-5: an exception reaches the test, after post_stop; there is nothing to run then.
TEST(behavior_kit, PK_TST_5_failures_reach_the_test) {
    std::vector<std::string> log;
    auto kit = test::behavior_kit_of<boss>(&log);
    EXPECT_THROW(tell(kit, [](actor_context) { throw std::domain_error("bad"); }),
                 std::domain_error);
    EXPECT_EQ(log, std::vector<std::string>{"post_stop"});
    EXPECT_FALSE(kit.is_alive());
    EXPECT_EQ(text_of_failure([&] { kit.run(std::string("x")); }), "the actor 'testkit' has ended");
    EXPECT_EQ(text_of_failure([&] { (void)kit.underlying<boss>(); }), "the actor has ended");
    EXPECT_EQ(text_of_failure([&] { (void)kit.underlying<helper>(); }),
              "the actor is a " + std::string(test::type_name<boss>()) + ", not a " +
                  std::string(test::type_name<helper>()));

    class unborn : public actor<int> {
    public:
        unborn() { throw std::domain_error("not today"); }
        void on(int) {}
    };
    EXPECT_THROW((void)test::behavior_kit_of<unborn>(), std::domain_error);

    // It does not handle the end of others: a death pact.
    auto pact = test::behavior_kit_of<helper>();
    EXPECT_THROW(pact.signal(terminated{pact.ref()}), test::actor_failure);
    EXPECT_EQ(text_of_failure([] { test::behavior_kit_of<helper>().signal(receive_timeout{}); }),
              "the actor has no handler for receive_timeout");
}

// C-TST-3: an actor made of functions: what it is now, and its end.
TEST(behavior_kit, C_TST_3_functions) {
    const numbers second = ending();
    const numbers begin(
        [](auto&, const int& n) -> numbers { return n == 2 ? ending() : numbers(same); });
    test::behavior_kit<int> kit(begin);
    const numbers first = kit.current_behavior();
    kit.run(1);
    EXPECT_TRUE(kit.current_behavior().has_functions_of(first));
    kit.run(2);
    EXPECT_FALSE(kit.current_behavior().has_functions_of(first));
    EXPECT_TRUE(kit.current_behavior().has_functions_of(second));
    kit.run(0);
    EXPECT_TRUE(kit.is_alive());
    kit.run(-1);
    EXPECT_FALSE(kit.is_alive());

    test::behavior_kit<int> pill(second);
    pill.run(poison_pill{});
    EXPECT_FALSE(pill.is_alive());
    test::behavior_kit<int> stopping(second);
    stopping.stop();
    EXPECT_FALSE(stopping.is_alive());
}
