// SPDX-License-Identifier: Apache-2.0
//
// Goal: probes on threads, in real time; a system for each test, with a name of its own, that is
// seen to end (TK-1, C-TST-2, C-TST-4, PK-TST-4).
#include <tactus/test_kit/system_kit.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <latch>
#include <memory>
#include <source_location>
#include <string>
#include <thread>

#include "failure_text.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::text_of_failure;

namespace {

class echo : public actor<int> {
public:
    void on(int n) { sender().tell(n); }
};
/// Blocks its thread before it passes on what it gets.
class slow : public actor<int> {
public:
    slow(actor_ref<int> to, std::chrono::milliseconds by) : to_(to), by_(by) {}
    void on(int n) {
        std::this_thread::sleep_for(by_);
        to_.tell(n);
    }

private:
    actor_ref<int> to_;
    std::chrono::milliseconds by_;
};
/// Does not come back until it is let.
class stuck : public actor<int> {
public:
    stuck(std::shared_ptr<std::latch> there, std::shared_ptr<std::latch> let)
        : there_(std::move(there)), let_(std::move(let)) {}
    void on(int) {
        there_->count_down();
        let_->wait();
    }

private:
    std::shared_ptr<std::latch> there_;
    std::shared_ptr<std::latch> let_;
};

}  // namespace

// TK-1: a probe in a system that somebody else made.
TEST(system_kit, TK_1_a_probe_in_any_system) {
    actor_system system{"demo"};
    test::probe<int> probe(system);
    auto ref = system.spawn<echo>("echo");
    for (int i = 1; i <= 100; ++i)
        probe.send(ref, i);
    const auto all = probe.receive_n(100);
    EXPECT_EQ(all.front(), 1);
    EXPECT_EQ(all.back(), 100);
    probe.watch(ref);
    system.stop(ref);
    probe.expect_terminated(ref);
    probe.expect_no(5ms);
}

// TK-1: texts on threads have the time that was waited, which is at least the timeout.
TEST(system_kit, TK_1_timeouts_in_real_time) {
    test::system_kit kit("timeouts");
    auto probe = kit.create_probe<int>();
    const auto begin = std::chrono::steady_clock::now();
    const std::string text = text_of_failure([&] { probe.expect(1, 30ms); });
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 30ms);
    EXPECT_TRUE(text.starts_with(probe.name() + ": timeout (")) << text;
    EXPECT_NE(text.find(") during expect while waiting for 1, waited "), std::string::npos) << text;
}

// TK-1: a probe that waits is woken by the message, not by its timeout.
TEST(system_kit, TK_1_expecting_ends_with_the_message) {
    test::system_kit kit("woken");
    auto probe = kit.create_probe<int>();
    auto ref = kit.spawn<slow>("slow", probe.ref(), 20ms);
    const auto begin = std::chrono::steady_clock::now();
    ref.tell(7);
    probe.expect(7, 10s);
    kit.system().stop(ref);
    probe.expect_terminated(ref, 10s);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
}

// C-TST-2: a message that is late, because its dispatcher was blocked, is found.
TEST(system_kit, C_TST_2_late_messages_are_found) {
    test::system_kit kit("late");
    auto first = kit.create_probe<int>();
    auto second = kit.create_probe<int>();
    kit.spawn<slow>("slow", second.ref(), 50ms).tell(7);
    kit.expect_no_message_for(1ms, first, second);
    const std::string text = text_of_failure([&] { kit.expect_no_message_for(2s, first, second); });
    EXPECT_TRUE(text.starts_with(second.name() + ": received unexpected message 7 after ")) << text;
}

// C-TST-4: a name of any text, and each system has another.
TEST(system_kit, C_TST_4_names) {
    EXPECT_EQ(test::system_name_of("parser/reads a file"), "parser_reads_a_file");
    EXPECT_EQ(test::system_name_of("__init.test-1"), "init_test-1");
    EXPECT_EQ(test::system_name_of(""), "test");
    EXPECT_EQ(test::system_name_of("$%&"), "test");
    EXPECT_EQ(test::system_name_of(std::string(300, 'x')), std::string(200, 'x'));
    test::system_kit one("a b");
    test::system_kit two("a b");
    EXPECT_TRUE(one.name().starts_with("a_b-"));
    EXPECT_NE(one.name(), two.name());
}

// C-TST-4: actors with names and without; unique probes.
TEST(system_kit, C_TST_4_spawning) {
    test::system_kit kit("spawning");
    auto probe = kit.create_probe<int>();
    EXPECT_NE(probe.name(), kit.create_probe<int>().name());
    for (const actor_ref<int> ref :
         {kit.spawn<echo>("named"), kit.spawn_anonymous<echo>(),
          kit.spawn(behavior<int>([](auto& ctx, const int& n) { ctx.sender().tell(n); }), "f")}) {
        probe.send(ref, 5);
        probe.expect(5);
    }
    EXPECT_TRUE(kit.system().select("/user/named"));
    EXPECT_THROW(kit.spawn<echo>("named"), spawn_exception);
}

// C-TST-4: what nobody handled, nobody got, and nobody had room for.
TEST(system_kit, C_TST_4_probes_of_lost_messages) {
    test::system_kit kit("lost");
    auto unhandled_ones = kit.create_unhandled_probe();
    auto dead = kit.create_dead_letter_probe();
    auto dropped = kit.create_dropped_probe();
    auto probe = kit.create_probe<int>();
    auto ref = kit.spawn<echo>("echo");
    ref.any().tell(std::string("what?"));
    EXPECT_EQ(unhandled_ones.receive().type, &message_type_of<std::string>);
    kit.system().stop(ref);
    probe.expect_terminated(ref);
    ref.tell(1);
    EXPECT_EQ(dead.receive().to, ref.any());

    auto let = std::make_shared<std::latch>(1);
    auto full = kit.system().try_spawn<stuck>(
        "full", {.mailbox = {.when_full = overflow::drop_newest, .capacity = 1}},
        std::make_shared<std::latch>(5), let);
    ASSERT_TRUE(full);
    for (int i = 0; i < 5; ++i)
        full->tell(i);
    EXPECT_EQ(dropped.receive().cause, dead_letter_cause::mailbox_full);
    let->count_down();
}

// C-TST-4: a shutdown that takes too long is a failure that says who is left.
TEST(system_kit, C_TST_4_shutdown_is_verified) {
    test::system_kit good("good");
    good.spawn<echo>("echo");
    good.shutdown();

    test::system_kit bad("bad");
    auto let = std::make_shared<std::latch>(1);
    auto there = std::make_shared<std::latch>(1);
    bad.spawn<stuck>("stuck", there, let).tell(1);
    there->wait();
    const std::string text = text_of_failure([&] { bad.shutdown(20ms); });
    EXPECT_TRUE(text.starts_with("the system '" + std::string(bad.name()) +
                                 "' did not end within 20 ms; left are:\n"))
        << text;
    let->count_down();
    bad.shutdown();
}

// PK-TST-4: all times longer by a factor of the environment.
TEST(system_kit, PK_TST_4_dilation) {
    ASSERT_EQ(setenv("TACTUS_TEST_DILATION", "2.5", 1), 0);
    const test::test_times slow_times = test::test_times::from_environment();
    ASSERT_EQ(setenv("TACTUS_TEST_DILATION", "soon", 1), 0);
    EXPECT_EQ(text_of_failure([] { (void)test::test_times::from_environment(); }),
              "TACTUS_TEST_DILATION is a positive number such as 3 or 0.5, not 'soon'");
    ASSERT_EQ(unsetenv("TACTUS_TEST_DILATION"), 0);
    EXPECT_EQ(slow_times.dilated(duration::from_ms(10)), duration::from_ms(25));
    EXPECT_EQ(slow_times.dilated(duration::max()), duration::max());
    EXPECT_EQ(test::test_times::from_environment().dilated(3s), duration::from_s(3));

    test::system_kit kit("dilated", {}, slow_times);
    auto probe = kit.create_probe<int>();
    EXPECT_TRUE(text_of_failure([&] {
                    probe.expect(1, 10ms);
                }).starts_with(probe.name() + ": timeout (25 ms) during expect"));
    probe.within(1s, [&] { EXPECT_GT(probe.remaining(), duration::from_s(1)); });
}

// TK-1: times as people read them.
TEST(describe, TK_1_durations) {
    using test::describe;
    EXPECT_EQ(describe(duration::from_s(3)), "3 s");
    EXPECT_EQ(describe(duration::from_ms(1'500)), "1500 ms");
    EXPECT_EQ(describe(duration::from_us(-20)), "-20 us");
    EXPECT_EQ(describe(duration::from_ns(7)), "7 ns");
    EXPECT_EQ(describe(duration::zero()), "0 s");
    EXPECT_EQ(describe(duration::from_ns(3'000'173'546)), "3 s");
    EXPECT_EQ(describe(duration::from_ns(30'173'546)), "30173 us");
}

// TK-1: another way to tell a failure.
TEST(failure_handler, TK_1_may_be_replaced) {
    std::string told;
    std::source_location at;
    auto before =
        test::set_failure_handler([&](const std::string& text, const std::source_location& where) {
            told = text;
            at = where;
        });
    const auto here = std::source_location::current();
    EXPECT_EQ(text_of_failure([&] { test::fail("wrong", here); }), "wrong");
    EXPECT_EQ(told, std::string(__FILE__) + ":" + std::to_string(here.line()) + ": wrong");
    EXPECT_EQ(at.line(), here.line());
    (void)test::set_failure_handler(
        [](const std::string& text, const std::source_location&) { throw std::string(text); });
    EXPECT_THROW(test::fail("wrong"), std::string);
    (void)test::set_failure_handler(std::move(before));
    told.clear();
    EXPECT_THROW(test::fail("wrong"), test::assertion_failed);
    EXPECT_EQ(told, "");
}
