// SPDX-License-Identifier: Apache-2.0
//
// Goal: children that fail again and again on two workers while their parent decides about all of
// them, and while others are spawned beside them: nobody is lost, nothing is freed twice (SV-2).
#include <tactus/runtime/actor_system.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;

namespace {

struct strike {};
struct question {
    actor_ref<int> reply_to;
};

/// Fails when it is told so, and now and then when it is made anew.
class brittle : public actor<strike, question> {
public:
    brittle() {
        if (is_brittle && (made.fetch_add(1) * 2'654'435'761U >> 16U) % 3 == 0)
            throw std::runtime_error("cannot be made");
    }
    void on(const strike&) { throw std::runtime_error("struck"); }
    void on(const question& q) { q.reply_to.tell(1); }

    static inline std::atomic<bool> is_brittle{false};
    static inline std::atomic<unsigned> made{0};
};
class family : public actor<strike> {
public:
    static constexpr int size = 8;
    void pre_start() {
        for (int i = 0; i < size; ++i)
            children[i] =
                *context().try_spawn<brittle>(std::string(1, static_cast<char>('a' + i)), {});
        is_there = true;
    }
    void on(const strike&) {}
    supervisor_strategy supervision() {
        return {.scope = supervision_scope::all_for_one, .decider = [](const failure_cause& why) {
                    return why.text().empty() ? directive::stop : directive::restart;
                }};
    }
    static inline actor_ref<strike, question> children[size];
    static inline std::atomic<bool> is_there{false};
};
class passing : public actor<strike> {
public:
    void on(const strike&) { context().stop(); }
};

}  // namespace

// SV-2, PK-SUP-7: a child is restarted for its sibling's failure, and fails again, before its
// parent has looked at its first one.
TEST(supervision_threads, SV_2_siblings_fail_while_their_parent_decides) {
    family::is_there = false;
    brittle::is_brittle = false;
    actor_system system("demo", {.dispatcher = {.workers = 2}, .log_level = log_level::off});
    (void)system.spawn<family>("family");
    while (!family::is_there)
        std::this_thread::yield();
    brittle::is_brittle = true;
    const auto end = std::chrono::steady_clock::now() + 500ms;
    for (int i = 0; std::chrono::steady_clock::now() < end; ++i) {
        for (const auto& child : family::children)
            child.tell(strike{});
        if (i % 50 == 0)
            std::this_thread::sleep_for(1ms);
    }
    brittle::is_brittle = false;
    for (const auto& child : family::children) {
        const auto answer = system.ask<int>(child, [](auto me) { return question{me}; }, 60s);
        EXPECT_TRUE(answer.has_value());
    }
}

// SV-1, UP-2: all top-level actors are restarted for one while any thread spawns more of them: each
// can be stopped afterwards.
TEST(supervision_threads, SV_1_top_level_actors_are_spawned_while_all_are_restarted) {
    brittle::is_brittle = false;
    actor_system::options o{.dispatcher = {.workers = 2}, .log_level = log_level::off};
    o.guardian_strategy.scope = supervision_scope::all_for_one;
    std::atomic<bool> is_over{false};
    actor_system system("demo", o);
    const auto struck = system.spawn<brittle>("struck");
    std::thread spawns([&] {
        while (!is_over)
            system.spawn_anonymous<passing>().tell(strike{});
    });
    for (int i = 0; i < 1'000; ++i) {
        struck.tell(strike{});
        std::this_thread::sleep_for(100us);
    }
    is_over = true;
    spawns.join();
    EXPECT_TRUE(system.terminate_and_wait(30s));
}
