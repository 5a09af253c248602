// SPDX-License-Identifier: Apache-2.0
//
// Goal: drawn orders find a broken rule, say the seed, and shrink the script to what breaks it; one
// seed is one order (DF-83). A run in virtual time is compared with the log of an earlier one
// (DF-82).
// Method: a till with a fault that shows in some orders only.
#include <tactus/scheduler/log_replay.hpp>
#include <tactus/test_kit/actor_under_test.hpp>
#include <tactus/test_kit/drawn_order.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "failure_text.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::text_of_failure;

namespace {

enum class action : std::uint8_t { pay, close, open };
constexpr const char* names[] = {"pay", "close", "open"};
const char* name_of(action a) {
    return names[static_cast<std::size_t>(a)];
}
const std::vector<action> actions = {action::pay,   action::pay,  action::pay,
                                     action::close, action::open, action::close};

class till : public actor<action> {
public:
    explicit till(bool has_fault) : has_fault_(has_fault) {}
    void on(action a) {
        is_open_ = a == action::open || (a == action::pay && is_open_);
        if (a == action::pay && (is_open_ || !has_fault_))
            ++paid;
    }
    int paid = 0;

private:
    bool has_fault_;
    bool is_open_ = true;
};

std::string play(const test::script<action>& steps, bool has_fault) {
    test::kit kit;
    auto who = kit.spawn_under_test<till>("till", has_fault);
    int paid = 0;
    for (const auto& s : steps) {
        paid += s.what == action::pay ? 1 : 0;
        who.ref().tell(s.what);
        test::run(kit, s.then);
    }
    kit.run_until_idle();
    return who->paid == paid ? "" : "a payment was lost";
}

TEST(drawn_order, DF_83_a_rule_that_holds_is_kept_in_every_order) {
    int plays = 0;
    test::check_orders(actions,
                       [&](const test::script<action>& steps) {
                           ++plays;
                           EXPECT_EQ(steps.size(), actions.size());
                           return play(steps, false);
                       },
                       name_of, {.first_seed = 3, .count = 7});
    EXPECT_EQ(plays, 7);
}

TEST(drawn_order, DF_83_a_broken_rule_is_shrunk_and_told_with_its_seed) {
    const auto faulty = [](const test::script<action>& steps) { return play(steps, true); };
    const std::string text = text_of_failure([&] { test::check_orders(actions, faulty, name_of); });
    EXPECT_TRUE(text.starts_with("a payment was lost\n  TACTUS_SEED=")) << text;
    const std::size_t close = text.find("[close]");
    const std::size_t pay = text.find("[pay]");
    EXPECT_LT(close, pay) << text;
    EXPECT_NE(pay, std::string::npos) << text;
    EXPECT_EQ(text.find('[', pay + 1), std::string::npos) << "these two suffice: " << text;
}

TEST(drawn_order, DF_83_one_seed_is_one_order) {
    const auto text_of = [](std::uint64_t seed) {
        return test::to_text(test::draw_script(actions, seed), name_of);
    };
    bool differs = false;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        EXPECT_EQ(text_of(seed), text_of(seed));
        differs = differs || text_of(seed) != text_of(seed + 1);
    }
    EXPECT_TRUE(differs);
}

TEST(drawn_order, DF_83_the_environment_chooses_a_seed) {
    ASSERT_EQ(setenv("TACTUS_SEED", "42", 1), 0);
    const test::drawn_orders one = test::drawn_orders{.first_seed = 3}.or_of_environment();
    ASSERT_EQ(unsetenv("TACTUS_SEED"), 0);
    EXPECT_EQ(one.first_seed, 42u);
    EXPECT_EQ(one.count, 1u);
    const test::drawn_orders all = test::drawn_orders{.first_seed = 3}.or_of_environment();
    EXPECT_EQ(all.first_seed, 3u);
    EXPECT_EQ(all.count, 50u);
}

/// The log of a run in which two messages are due, the second so late.
struct recorded_run {
    explicit recorded_run(std::int64_t second_ms) {
        auto& timers = kit.scheduler();
        EXPECT_TRUE(timers.enable_deterministic_log(100).has_value());
        const auto who = kit.spawn<till>("till", false);
        EXPECT_TRUE(timers.schedule_once(duration::from_ms(1), who.index(), action::pay));
        EXPECT_TRUE(timers.schedule_once(duration::from_ms(second_ms), who.index(), action::pay));
        kit.advance(duration::from_ms(10));
    }
    test::kit kit;
};

// DF-82: a program that is run again does what the log says; a changed one is told where it left.
TEST(drawn_order, DF_82_a_run_is_compared_with_the_log_of_an_earlier_one) {
    char text[600];
    const auto difference = [&](std::int64_t then, std::int64_t now) {
        recorded_run earlier(then);
        recorded_run again(now);
        std::string told;
        earlier.kit.scheduler().read_log([&](const recorded_log& recorded) {
            again.kit.scheduler().read_log([&](const recorded_log& this_run) {
                told = describe_difference(log_replay(recorded), log_replay(this_run), text);
            });
        });
        return told;
    };
    EXPECT_EQ(difference(5, 5), "");
    const std::string told = difference(5, 6);
    EXPECT_TRUE(told.starts_with("record 1 differs; recorded: tick ")) << told;
    EXPECT_NE(told.find("; this run: tick "), std::string::npos) << told;
}

}  // namespace
