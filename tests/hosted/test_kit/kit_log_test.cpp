// SPDX-License-Identifier: Apache-2.0
//
// Goal: what actors of a kit log, and what they fail with, reaches the test (TK-1): a sink of the
// test gets the lines, and the text of an expectation that is not met has the failures that no test
// expected.
#include <tactus/test_kit/actor_under_test.hpp>
#include <tactus/test_kit/kit.hpp>
#include <tactus/test_kit/log_recorder.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "failure_text.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::text_of_failure;

namespace {

struct order {
    int number;
    actor_ref<int> reply_to;
};

class kettle : public actor<order> {
public:
    void on(const order& m) {
        context().log().info("an order");
        context().log().debug("its number");
        if (m.number < 0)
            throw std::runtime_error("no water");
        m.reply_to.tell(m.number);
    }
};

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST(kit_log, TK_1_a_sink_gets_the_lines_of_actors) {
    test::log_recorder lines;
    test::kit kit({.log = &lines});
    kit.spawn<kettle>("kettle").tell(order{1, {}});
    kit.run_until_idle();
    EXPECT_EQ(lines.entries(), (std::vector<test::log_entry>{{log_level::info, "an order"}}));
    lines.clear();
    test::kit all({.log = &lines, .log_level = log_level::debug});
    all.spawn<kettle>("kettle").tell(order{1, {}});
    all.run_until_idle();
    EXPECT_EQ(lines.entries().size(), 2u);
}

TEST(kit_log, TK_1_a_sink_gets_the_failures_of_actors) {
    test::log_recorder lines;
    test::kit kit({.log = &lines, .log_level = log_level::error});
    kit.spawn<kettle>("kettle").tell(order{-1, {}});
    kit.run_until_idle();
    EXPECT_EQ(lines.entries(), (std::vector<test::log_entry>{
                                   {log_level::error, "failed (exception): no water; restart"}}));
}

TEST(kit_log, TK_1_a_failed_expectation_tells_what_actors_failed_with) {
    test::kit kit;
    auto guest = kit.create_probe<int>();
    kit.spawn<kettle>("kettle").tell(order{-1, guest.ref()});
    const std::string text = text_of_failure([&] { (void)guest.expect(1); });
    EXPECT_TRUE(has(text, "; recent failures: ")) << text;
    EXPECT_TRUE(has(text, "/user/kettle failed (exception): no water; restart")) << text;
    // Once.
    EXPECT_FALSE(has(text_of_failure([&] { (void)guest.expect(1); }), "recent failures"));
}

TEST(kit_log, TK_1_a_failure_that_a_test_expected_is_not_told) {
    test::kit kit;
    auto guest = kit.create_probe<int>();
    auto k = kit.spawn_under_test<kettle>("kettle");
    k.tell(order{-2, {}});
    EXPECT_THROW(k.receive(order{-1, {}}), std::runtime_error);
    const std::string text = text_of_failure([&] { (void)guest.expect(1); });
    EXPECT_TRUE(has(text, "recent failures")) << text;
    EXPECT_EQ(text.find("no water"), text.rfind("no water")) << text;
    EXPECT_THROW(k.receive(order{-1, {}}), std::runtime_error);
    EXPECT_FALSE(has(text_of_failure([&] { (void)guest.expect(1); }), "recent failures"));
}

TEST(kit_log, TK_1_of_many_failures_the_latest_are_told) {
    test::kit kit;
    auto guest = kit.create_probe<int>();
    for (int i = 0; i < 10; ++i)
        kit.spawn<kettle>("kettle" + std::to_string(i)).tell(order{-1, {}});
    const std::string text = text_of_failure([&] { (void)guest.expect(1); });
    EXPECT_TRUE(has(text, "/user/kettle9 failed")) << text;
    EXPECT_FALSE(has(text, "/user/kettle1 failed")) << text;
    EXPECT_TRUE(text.ends_with(", and 2 before")) << text;
}

// DF-40
TEST(kit_log, DF_40_spawn_takes_options) {
    test::kit kit;
    auto guest = kit.create_probe<int>();
    const spawn_options how{.mailbox = {.capacity = 1}};
    const auto by_name = kit.spawn<kettle>("kettle", how);
    const auto in_place = kit.spawn<kettle>("other", {.mailbox = {.capacity = 1}});
    const auto of_functions = kit.spawn(
        behavior<int>([to = guest.ref()](auto&, int n) { to.tell(n); }), "functions", how);
    for (int i = 1; i <= 3; ++i) {
        by_name.tell(order{i, guest.ref()});
        in_place.tell(order{10 * i, guest.ref()});
        of_functions.tell(100 * i);
    }
    kit.run_until_idle();
    EXPECT_EQ(guest.receive_n(3), (std::vector{1, 10, 100}));
    guest.expect_no(1ms);
}
