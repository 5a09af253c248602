// SPDX-License-Identifier: Apache-2.0
//
// Goal: timers and questions as effects: nothing is due, answered or late until the test says so
// (TK-1, TM-1, PK-TST-5, C-TST-3, C-TX-75, C-TX-77).
#include <tactus/test_kit/behavior_kit.hpp>

#include <tactus/actor/ask.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "failure_text.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::text_of_failure;

namespace {

struct order {
    std::function<void(actor_context)> what;
};
class timed : public actor<order, int> {
public:
    void on(const order& o) { o.what(context()); }
    void on(int n) { seen.push_back(n); }
    void on(const receive_timeout& m) { seen.push_back(static_cast<int>(-m.after.ns())); }
    std::vector<int> seen;
};
template <class Kit>
void tell(Kit& kit, std::function<void(actor_context)> what) {
    kit.run(order{std::move(what)});
}
bool active(test::behavior_kit<order, int>& kit, timer_key key) {
    bool is = false;
    tell(kit, [&](actor_context c) { is = c.is_timer_active(key); });
    return is;
}

struct price_request {
    actor_ref<int> reply_to;
};
/// Asks, and notes what came of it: the price, or minus the fault.
class buyer : public actor<std::string> {
public:
    explicit buyer(actor_ref<price_request> shop) : shop_(shop) {}
    task<> on(std::string) {
        const auto price = co_await ask<int>(
            shop_, [](actor_ref<int> me) { return price_request{me}; }, duration::from_s(10));
        seen.push_back(price ? *price : -1 - static_cast<int>(price.error().what));
    }
    std::vector<int> seen;

private:
    actor_ref<price_request> shop_;
};

}  // namespace

// C-TX-75, TM-1: a single timer: its message comes when the test sends it, once.
TEST(behavior_kit_time, C_TX_75_a_single_timer) {
    auto kit = test::behavior_kit_of<timed>();
    tell(kit, [](actor_context c) { EXPECT_TRUE(c.start_single_timer("a", 5, 10s)); });
    EXPECT_TRUE(active(kit, "a"));
    test::timer_scheduled expected;
    expected.key = "a";
    expected.first = 10s;
    expected.interval = 10s;
    const auto timer = kit.expect_effect(expected);
    EXPECT_TRUE(kit.underlying<timed>().seen.empty());
    EXPECT_TRUE(timer.send());
    EXPECT_FALSE(timer.send());  // it waits to be handled
    EXPECT_TRUE(kit.run_one());
    EXPECT_EQ(kit.underlying<timed>().seen, std::vector{5});
    EXPECT_FALSE(active(kit, "a"));
    EXPECT_FALSE(timer.send());
    EXPECT_FALSE(kit.run_one());
    EXPECT_FALSE(test::timer_scheduled{}.send());
}

// C-TX-76, C-TST-3: a message that is sent later is an effect; its handle says what became of it.
// It comes when time passes.
TEST(behavior_kit_time, C_TX_76_a_message_that_is_sent_later) {
    auto kit = test::behavior_kit_of<timed>();
    cancellable handle;
    tell(kit, [&](actor_context c) {
        handle = c.schedule_once(10s, c.self(), 7).value();
        EXPECT_TRUE(c.schedule_once(20s, c.self(), 8));
    });
    const auto first = kit.expect_effect(test::scheduled{10s, kit.ref().any()});
    EXPECT_EQ(first.type, message_type_of<int>.name);
    EXPECT_EQ(test::describe(first),
              "scheduled a message of type int to " + test::describe(kit.ref().any()) + " in 10 s");
    EXPECT_FALSE(first == (test::scheduled{11s, kit.ref().any()}));
    kit.expect_effect(test::scheduled{20s, kit.ref().any(), message_type_of<int>.name});
    EXPECT_FALSE(kit.has_effects());
    EXPECT_FALSE(handle.is_cancelled());
    EXPECT_TRUE(handle.cancel());
    EXPECT_TRUE(handle.is_cancelled());
    EXPECT_FALSE(handle.cancel());
    kit.advance(21s);
    EXPECT_TRUE(kit.run_one());
    EXPECT_FALSE(kit.run_one());
    EXPECT_EQ(kit.underlying<timed>().seen, std::vector{8});
}

// C-TX-75, C-TST-3: timers that go on can be sent again.
TEST(behavior_kit_time, C_TX_75_repeated_timers) {
    auto kit = test::behavior_kit_of<timed>();
    tell(kit, [](actor_context c) {
        EXPECT_TRUE(c.start_timer_at_fixed_rate("rate", 1, 2s, 5s));
        EXPECT_TRUE(c.start_timer_with_fixed_delay("delay", 2, 5s));
    });
    const auto rate = kit.expect_effect_matching<test::timer_scheduled>([](const auto& e) {
        return e.mode == timer_mode::fixed_rate && e.first == 2s && e.interval == 5s;
    });
    const auto delay = kit.expect_effect_matching<test::timer_scheduled>(
        [](const auto& e) { return e.mode == timer_mode::fixed_delay && e.key == "delay"; });
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(rate.send());
        EXPECT_TRUE(delay.send());
        EXPECT_TRUE(kit.run_one());
        EXPECT_TRUE(kit.run_one());
    }
    EXPECT_EQ(kit.underlying<timed>().seen, (std::vector{1, 2, 1, 2, 1, 2}));
    EXPECT_TRUE(active(kit, "rate"));
}

// TM-1, C-TST-3: replacing and cancelling; nothing of the old one comes, be it in the inbox.
TEST(behavior_kit_time, C_TST_3_timers_are_replaced_and_cancelled) {
    auto kit = test::behavior_kit_of<timed>();
    tell(kit, [](actor_context c) { EXPECT_TRUE(c.start_single_timer("a", 1, 10s)); });
    const auto first = kit.expect_effect<test::timer_scheduled>();
    EXPECT_FALSE(first.overriding);
    EXPECT_TRUE(first.send());
    tell(kit, [](actor_context c) { EXPECT_TRUE(c.start_single_timer("a", 2, 20s)); });
    const auto second = kit.expect_effect<test::timer_scheduled>();
    EXPECT_TRUE(second.overriding);
    EXPECT_TRUE(kit.run_one());  // of the first: not handled
    EXPECT_TRUE(kit.underlying<timed>().seen.empty());
    EXPECT_FALSE(first.send());
    tell(kit, [](actor_context c) {
        EXPECT_TRUE(c.cancel_timer("a"));
        EXPECT_FALSE(c.cancel_timer("a"));
    });
    kit.expect_effect(test::timer_cancelled{"a"});
    kit.expect_effect(test::timer_cancelled{"a"});
    EXPECT_FALSE(second.send());
    tell(kit, [](actor_context c) {
        EXPECT_TRUE(c.start_single_timer(1, 1, 1s));
        EXPECT_TRUE(c.start_single_timer(2, 2, 1s));
        c.cancel_timers();
    });
    kit.expect_effect<test::timer_scheduled>();
    kit.expect_effect<test::timer_scheduled>();
    kit.expect_effect(test::timer_cancelled{2});
    kit.expect_effect(test::timer_cancelled{1});
    kit.expect_effect(test::no_effects{});
}

// C-TST-3: no time passes, unless the test lets it; what is due comes to the inbox then.
TEST(behavior_kit_time, C_TST_3_time_is_the_tests) {
    auto kit = test::behavior_kit_of<timed>();
    tell(kit, [](actor_context c) { EXPECT_TRUE(c.start_timer_at_fixed_rate("a", 1, 10s)); });
    kit.advance(9s);
    EXPECT_FALSE(kit.run_one());
    kit.advance(1s);
    EXPECT_TRUE(kit.run_one());
    EXPECT_EQ(kit.underlying<timed>().seen, std::vector{1});
    kit.stop();
    EXPECT_FALSE(kit.expect_effect<test::timer_scheduled>().send());
}

// C-TST-3: receive timeouts.
TEST(behavior_kit_time, C_TST_3_receive_timeout) {
    auto kit = test::behavior_kit_of<timed>();
    tell(kit, [](actor_context c) { c.set_receive_timeout(1us); });
    kit.expect_effect(test::receive_timeout_set{1us});
    kit.signal(receive_timeout{1us});
    EXPECT_EQ(kit.underlying<timed>().seen, std::vector{-1'000});
    tell(kit, [](actor_context c) { c.cancel_receive_timeout(); });
    kit.expect_effect(test::receive_timeout_cancelled{});
    kit.stop();  // ends what is left, which nobody asked for
    kit.expect_effect(test::no_effects{});
}

// C-TX-77: a question: to whom, how long, for what; the answer is the test's.
TEST(behavior_kit_time, C_TX_77_questions_are_answered_by_the_test) {
    auto in = std::make_shared<test::bench>();
    test::inbox<price_request> shop(in, in->spawn_inbox());
    test::behavior_kit<std::string> kit(in, std::in_place_type<buyer>, "buyer", shop.ref());
    kit.run(std::string("bread"));
    EXPECT_EQ(shop.message_count(), 1u);
    test::ask_initiated expected;
    expected.target = shop.ref();
    expected.timeout = 10s;
    expected.asked = test::type_name<price_request>();
    expected.reply = test::type_name<int>();
    const auto question = kit.expect_effect(expected);
    EXPECT_EQ(text_of_failure([&] { question.respond_with(std::string("much")); }),
              "the actor asked for a reply of type int, not " +
                  std::string(test::type_name<std::string>()));
    question.respond_with(7);
    EXPECT_EQ(kit.underlying<buyer>().seen, std::vector{7});
    // C-TX-77: either, twice.
    const std::string twice = "the question was answered already, or its time was up";
    EXPECT_EQ(text_of_failure([&] { question.respond_with(8); }), twice);
    EXPECT_EQ(text_of_failure([&] { question.time_out(); }), twice);

    kit.run(std::string("milk"));
    const auto late = kit.expect_effect<test::ask_initiated>();
    late.time_out();
    EXPECT_EQ(kit.underlying<buyer>().seen,
              (std::vector{7, -1 - static_cast<int>(ask_fault::timeout)}));
    EXPECT_EQ(text_of_failure([&] { late.time_out(); }), twice);
    EXPECT_EQ(text_of_failure([] { test::ask_initiated{}.time_out(); }),
              "the question was not recorded, or its kit has ended");
}

// C-TX-77: a question that nobody waits for any more; messages wait while one is open.
TEST(behavior_kit_time, C_TX_77_open_questions) {
    auto in = std::make_shared<test::bench>();
    test::inbox<price_request> shop(in, in->spawn_inbox());
    test::behavior_kit<std::string> kit(in, std::in_place_type<buyer>, "buyer", shop.ref());
    kit.run(std::string("bread"));
    kit.run(std::string("milk"));  // not handled yet: the first one waits
    EXPECT_EQ(shop.message_count(), 1u);
    kit.expect_effect<test::ask_initiated>().respond_with(1);
    EXPECT_EQ(shop.message_count(), 2u);
    kit.stop();
    EXPECT_EQ(text_of_failure([question = kit.expect_effect<test::ask_initiated>()] {
                  question.respond_with(2);
              }),
              "nobody waits for the answer any more");
    // Nor does one that ended in time by itself.
    test::behavior_kit<std::string> patient(in, std::in_place_type<buyer>, "other", shop.ref());
    patient.run(std::string("bread"));
    patient.advance(10s);
    EXPECT_EQ(patient.underlying<buyer>().seen.size(), 1u);
    EXPECT_NE(text_of_failure([&] { patient.expect_effect<test::ask_initiated>().time_out(); }),
              "");
}

// C-TX-77: a question whose outcome comes as a message of the actor's own, through its inbox.
TEST(behavior_kit_time, C_TX_77_adapted_replies) {
    class clerk : public actor<order, std::string> {
    public:
        explicit clerk(actor_ref<price_request> shop) : shop_(shop) {}
        void on(const order&) {
            context().ask<int>(
                shop_, [](actor_ref<int> me) { return price_request{me}; }, duration::from_s(10),
                [](std::expected<int, ask_fault> price) {
                    return price ? std::to_string(*price) : std::string(name_of(price.error()));
                });
        }
        void on(const std::string& text) { seen.push_back(text); }
        std::vector<std::string> seen;

    private:
        actor_ref<price_request> shop_;
    };
    auto in = std::make_shared<test::bench>();
    test::inbox<price_request> shop(in, in->spawn_inbox());
    test::behavior_kit<order, std::string> kit(in, std::in_place_type<clerk>, "clerk", shop.ref());
    kit.run(order{});
    kit.run(order{});
    kit.expect_effect<test::ask_initiated>().respond_with(7);
    kit.expect_effect<test::ask_initiated>().time_out();
    EXPECT_TRUE(kit.run_one());
    EXPECT_TRUE(kit.run_one());
    EXPECT_EQ(kit.underlying<clerk>().seen, (std::vector<std::string>{"7", "timeout"}));
}
