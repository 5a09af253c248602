// SPDX-License-Identifier: Apache-2.0
//
// Goal: selecting, resolving and stopping from threads outside, while actors come and go (AC-7,
// AC-8).
#include <tactus/runtime/actor_system.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "pool_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::until;

namespace {

struct question {
    actor_ref<int> reply_to;
};
std::atomic<int> received{0};

class node : public actor<int, question, std::string> {
public:
    void on(int) { ++received; }
    void on(const question& q) { q.reply_to.tell(5); }
    void on(const std::string& name) { (void)context().try_spawn<node>(name, {}); }
};
/// Answers to the path of who asked (C-ASK-6).
class answers_by_path : public actor<question> {
public:
    void on(const question& q) {
        struct sink final : text_sink {
            void write(std::string_view piece) noexcept override { text += piece; }
            std::string text;
        } path;
        context().world().write_path(q.reply_to.index(), path);
        context().select(path.text).tell(6);
    }
};
class stubborn : public actor<int> {
public:
    void on(int) {}
};

}  // namespace

// AC-7, C-REF-6: resolving waits for an answer; who is not there is an error that says so.
TEST(selection_threads, C_REF_6_resolving_from_outside) {
    actor_system system{"demo"};
    const auto a = system.spawn<node>("a");
    const auto found = system.resolve(system.select("user/?"), 5s);
    ASSERT_TRUE(found) << found.error().text();
    EXPECT_TRUE(*found == a.any());
    const auto nobody = system.resolve(system.select("/user/nobody"), 5s);
    ASSERT_FALSE(nobody);
    EXPECT_EQ(nobody.error().what, ask_error::kind::target_terminated);
}

// C-ASK-6: a selection can be asked; a reply to the path of who asks arrives, no dead letter.
TEST(selection_threads, C_ASK_6_asking_a_selection) {
    actor_system system{"demo"};
    (void)system.spawn<node>("a");
    const auto answer = system.ask<int>(
        system.select("/user/a").resolve(), [](auto me) { return question{me}; }, 5s);
    ASSERT_TRUE(answer);
    EXPECT_EQ(*answer, 5);
    (void)system.spawn<answers_by_path>("b");
    const auto by_path = system.ask<int>(
        system.select("/user/b").resolve(), [](auto me) { return question{me}; }, 5s);
    ASSERT_TRUE(by_path) << by_path.error().text();
    EXPECT_EQ(*by_path, 6);
}

// AC-8: from outside; true once it has ended with all its children.
TEST(selection_threads, AC_8_graceful_stop_from_outside) {
    actor_system system{"demo"};
    const auto a = system.spawn<node>("a");
    a.tell(std::string("child"));
    EXPECT_TRUE(system.graceful_stop(a, 5s));
    EXPECT_FALSE(system.stop(a));
    EXPECT_TRUE(system.graceful_stop(a, 5s));  // it has
    const auto s = system.spawn<stubborn>("s");
    EXPECT_FALSE(system.graceful_stop(s, 20ms, 7));
    EXPECT_FALSE(system.graceful_stop(s, 0s));
    EXPECT_TRUE(static_cast<bool>(system.select("/user/s")));
    EXPECT_TRUE(system.graceful_stop(s, 5s));
    EXPECT_TRUE(until([&] { return !system.select("/user/s"); }));
}

// AC-8, UP-3: within an actor it would block its worker, so it does not begin.
TEST(selection_threads, UP_3_graceful_stop_within_an_actor) {
    static std::atomic<int> result{-1};
    class asker : public actor<actor_system*> {
    public:
        void on(actor_system* system) {
            result = system->graceful_stop(system->select("/user/s").resolve(), 5s) ? 1 : 0;
        }
    };
    actor_system system{"demo"};
    (void)system.spawn<stubborn>("s");
    system.spawn<asker>("asker").tell(&system);
    EXPECT_TRUE(until([] { return result != -1; }));
    EXPECT_EQ(result, 0);
    EXPECT_TRUE(static_cast<bool>(system.select("/user/s")));
}

// AC-7: more of them than are looked for at a time: each is told once, in spite of those that come
// and go.
TEST(selection_threads, AC_7_many_while_others_come_and_go) {
    constexpr int count = 500;
    std::atomic<bool> over{false};
    actor_system system{"demo"};
    for (int i = 0; i < count; ++i)
        (void)system.spawn<node>("stays-" + std::to_string(i));
    std::vector<std::thread> others;
    for (int t = 0; t < 2; ++t) {
        others.emplace_back([&, t] {
            for (int i = 0; !over; ++i) {
                const auto made = system.spawn<node>("goes-" + std::to_string(t * 1'000'000 + i));
                EXPECT_TRUE(system.graceful_stop(made, 10s));
            }
        });
    }
    for (int round = 0; round < 20; ++round) {
        received = 0;
        system.select("/user/stays-*").tell(1);
        EXPECT_TRUE(until([] { return received == count; })) << received;
    }
    over = true;
    for (std::thread& t : others)
        t.join();
    int seen = 0;
    system.select("/user/stays-?0?").for_each([&](any_ref) { ++seen; });
    EXPECT_EQ(seen, 40);
    EXPECT_EQ(received, count);
}

// AC-8: systems that end while somebody waits do not keep them.
TEST(selection_threads, AC_8_the_system_ends_meanwhile) {
    for (int round = 0; round < 10; ++round) {
        actor_system system{"demo"};
        const auto s = system.spawn<stubborn>("s");
        std::thread waits([&] { (void)system.graceful_stop(s, 200ms, 7); });
        system.terminate();
        waits.join();
        EXPECT_TRUE(system.wait(5s));
    }
}

// AC-8: what watches may find that it has ended before the message does: that is one answer.
TEST(selection_threads, AC_8_stopping_who_has_ended_again_and_again) {
    static std::atomic<int> done{0};
    class stopper : public actor<any_ref> {
    public:
        task<> on(any_ref who) {
            for (int i = 0; i < 500; ++i) {
                const bool ended = co_await context().graceful_stop(who, duration::from_s(10));
                EXPECT_TRUE(ended);
            }
            ++done;
        }
    };
    actor_system system{"demo"};
    const auto gone = system.spawn<stubborn>("gone");
    ASSERT_TRUE(system.graceful_stop(gone, 5s));
    done = 0;
    system.spawn<stopper>("one").tell(gone.any());
    system.spawn<stopper>("two").tell(gone.any());
    for (int i = 0; i < 500; ++i)
        EXPECT_TRUE(system.graceful_stop(gone, 10s));
    EXPECT_TRUE(until([] { return done == 2; }));
}
