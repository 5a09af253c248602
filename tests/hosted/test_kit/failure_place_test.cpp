// SPDX-License-Identifier: Apache-2.0
//
// Goal: what a kit says of an expectation that is not met begins with file and line of that
// expectation (DF-39). Method: each expectation fails in a line of its own, and the text is
// compared with that line.
#include <tactus/test_kit/actor_under_test.hpp>
#include <tactus/test_kit/behavior_kit.hpp>
#include <tactus/test_kit/kit.hpp>
#include <tactus/test_kit/system_kit.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <source_location>
#include <stdexcept>
#include <string>
#include <utility>

#include "failure_text.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::whole_text_of_failure;

namespace {

struct question {
    actor_ref<int> reply_to;
};

class quiet : public actor<int, question> {
public:
    void on(int n) {
        if (n < 0)
            throw std::runtime_error("negative");
    }
    void on(const question&) {}
};
class endless : public actor<int> {
public:
    void on(int n) { self().tell(n); }
};

/// The expectations of `block` are in the line where this is called.
template <class Block>
void expect_here(Block&& block, std::source_location here = std::source_location::current()) {
    const std::string text = whole_text_of_failure(std::forward<Block>(block));
    const std::string place =
        std::string(here.file_name()) + ":" + std::to_string(here.line()) + ": ";
    EXPECT_TRUE(text.starts_with(place)) << text << "\nis not of line " << here.line();
}

}  // namespace

// clang-format off: each expectation is in one line
TEST(failure_place, DF_39_expectations_of_probes_name_their_line) {
    test::kit kit;
    auto p = kit.create_probe<int>();
    const auto q = kit.spawn<quiet>("q");
    expect_here([&] { (void)p.expect(1); });
    expect_here([&] { (void)p.expect<int>(); });
    expect_here([&] { (void)p.receive(1ms); });
    expect_here([&] { (void)p.receive_n(2, 1ms); });
    expect_here([&] { p.expect_terminated(q); });
    expect_here([&] { (void)p.fish([](int) { return test::fishing_outcome::done; }); });
    expect_here([&] { p.reply(1); });
    expect_here([&] { p.within(1ms, 2ms, [] {}); });
    p.ref().tell(1);
    expect_here([&] { p.expect_no(1ms); });
    p.ref().tell(2);
    expect_here([&] { p.expect(3); });
    p.ref().tell(2);
    expect_here([&] { kit.expect_no_message_for(1s, p); });
    expect_here([&] { (void)p.spawn_child<quiet>({}, "a/b"); });
    kit.shutdown();
}

TEST(failure_place, DF_39_expectations_of_kits_name_their_line) {
    test::kit kit({.runs_max = 100});
    expect_here([&] { kit.advance(-1s); });
    expect_here([&] { kit.stall(-1s); });
    auto under = kit.spawn_under_test<quiet>("q");
    (void)kit.stop(under.ref());
    kit.run_until_idle();
    expect_here([&] { (void)under.underlying(); });
    const auto e = kit.spawn<endless>("e");
    e.tell(1);
    expect_here([&] { kit.run_until_idle(); });
    expect_here([&] { kit.advance(1s); });
    expect_here([&] { (void)kit.run_until([] { return false; }, 1s); });
    expect_here([&] { (void)kit.ask<int>(e, [](auto) { return 1; }, 1s); });
    auto p = kit.create_probe<int>();
    expect_here([&] { p.expect(1); });
}

TEST(failure_place, DF_39_expectations_of_behavior_kits_name_their_line) {
    auto kit = test::behavior_kit_of<quiet>();
    auto inbox = kit.create_inbox<int>();
    expect_here([&] { inbox.expect(1); });
    expect_here([&] { (void)inbox.receive<int>(); });
    expect_here([&] { (void)kit.expect_effect<test::watched>(); });
    expect_here([&] { kit.expect_effect(test::spawned{"a"}); });
    const auto any = [](const auto&) { return true; };
    expect_here([&] { (void)kit.expect_effect_matching<test::watched>(any); });
    expect_here([&] { (void)kit.child_inbox<int>("a"); });
    expect_here([&] { (void)kit.child_kit<int>("a"); });
    expect_here([&] { kit.stop_child("a"); });
    expect_here([&] { (void)kit.underlying<endless>(); });
    expect_here([&] { kit.signal(receive_timeout{}); });
    auto reply = kit.run_ask<int>([](actor_ref<int> to) { return question{to}; });
    expect_here([&] { (void)reply.receive_reply(); });
    inbox.ref().tell(1);
    expect_here([&] { inbox.expect_empty(); });
    kit.stop();
    expect_here([&] { kit.run(1); });
}

TEST(failure_place, DF_39_expectations_of_system_kits_name_their_line) {
    test::system_kit kit("places");
    auto p = kit.create_probe<int>();
    expect_here([&] { p.expect(1, 1ms); });
    p.ref().tell(1);
    expect_here([&] { kit.expect_no_message_for(duration::from_s(10), p); });
    kit.shutdown();
}
// clang-format on
