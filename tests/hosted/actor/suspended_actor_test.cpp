// SPDX-License-Identifier: Apache-2.0
//
// Goal: actors that suspend themselves for a time, in a whole system: a restart and an end end it
// (CO-6), a shutdown does not wait for it, and nothing is left of its timer.
// Method: a world on one thread with a clock set by hand; a hosted system for its end.
#include <tactus/actor/actor.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>

#include <tactus/runtime/actor_system.hpp>

#include "pool_rig.hpp"
#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::ms;
using tactus_test::world_rig;

namespace {

constexpr int holds = 1;
constexpr int holds_and_fails = 2;
constexpr int holds_with_limit = 3;

/// A number of its own lives.
class pausing : public actor<int> {
public:
    void on(int v) {
        journal().add(v);
        if (v > holds_with_limit)
            return;
        const suspend_limit limit{v == holds_with_limit ? ms(5) : duration::max(),
                                  suspend_limit_action::fail};
        const resume_condition until = v == holds_with_limit
                                           ? resume_condition::signal(7)
                                           : resume_condition::after(duration::from_s(3'600));
        EXPECT_TRUE(context().suspend(suspend_reason::user_defined, until, limit));
        if (v == holds_and_fails)
            context().fail({"on purpose", nullptr});
    }
    void post_restart(const failure_cause&) { journal().add(100); }
};

}  // namespace

// CO-6: restart ends a suspension; what was held back goes on.
TEST(suspended_actor, CO_6_a_restart_ends_a_suspension) {
    world_rig rig;
    const auto a = rig.spawn<pausing>("a");
    const std::uint32_t before = rig.timing.service()->active_count();
    a.tell(holds_and_fails);
    a.tell(10);
    rig.run();
    EXPECT_TRUE(journal().is({holds_and_fails, 100, 10}));
    EXPECT_EQ(rig.timing.service()->active_count(), before);
    EXPECT_EQ(rig.kernel->waiting().waiting_count(), 0u);
}

// CO-6: a limit that fails the actor: supervision decides, by default it is restarted.
TEST(suspended_actor, CO_6_a_limit_that_fails_restarts_the_actor) {
    world_rig rig;
    const auto a = rig.spawn<pausing>("a");
    a.tell(holds_with_limit);
    a.tell(10);
    rig.run();
    rig.time.advance(ms(4));
    rig.run();
    EXPECT_TRUE(journal().is({holds_with_limit}));
    rig.time.advance(ms(2));
    rig.run();
    EXPECT_TRUE(journal().is({100, 10}));
}

namespace {

class leaf : public actor<int> {
public:
    void on(int) {}
    void post_stop() { journal().add(201); }
};
class limited : public actor<int> {
public:
    void pre_start() {
        EXPECT_TRUE(context().try_spawn<leaf>("leaf", {}));
        EXPECT_TRUE(context().start_timer_at_fixed_rate("beat", 1, duration::from_s(60)));
    }
    void on(int) {
        EXPECT_TRUE(context().suspend(suspend_reason::user_defined, resume_condition::signal(7),
                                      {ms(5), suspend_limit_action::stop}));
    }
    void post_stop() { journal().add(200); }
};

}  // namespace

// CO-6: a limit that stops the actor ends it as any other end does, its children first.
TEST(suspended_actor, CO_6_a_limit_that_stops_ends_the_family) {
    world_rig rig;
    const std::uint32_t before = rig.timing.service()->active_count();
    const auto a = rig.spawn<limited>("a");
    a.tell(1);
    rig.run();
    rig.time.advance(ms(6));
    rig.run();
    EXPECT_TRUE(journal().is({201, 200}));
    EXPECT_FALSE(rig.world.stop(a.index()));  // it is gone
    EXPECT_EQ(rig.timing.service()->active_count(), before);
    EXPECT_EQ(rig.kernel->waiting().waiting_count(), 0u);
}

// CO-6: stop ends a suspension.
TEST(suspended_actor, CO_6_an_end_cancels_the_timer) {
    world_rig rig;
    const auto a = rig.spawn<pausing>("a");
    const std::uint32_t before = rig.timing.service()->active_count();
    a.tell(holds);
    rig.run();
    EXPECT_EQ(rig.timing.service()->active_count(), before + 1);
    EXPECT_TRUE(rig.world.stop(a.index()));
    rig.run();
    EXPECT_EQ(rig.timing.service()->active_count(), before);
    EXPECT_EQ(rig.kernel->waiting().waiting_count(), 0u);
}

namespace {

std::atomic<int> handled_after{0};

class napping : public actor<int> {
public:
    void on(int v) {
        if (v != 0)
            EXPECT_TRUE(context().suspend(suspend_reason::rate_limit,
                                          resume_condition::after(duration::from_ms(v))));
        else
            ++handled_after;
    }
};

}  // namespace

// CO-4: in real time, while all workers sleep and no thread of the test looks.
TEST(suspended_actor, CO_4_a_time_ends_in_a_hosted_system) {
    using clock = std::chrono::steady_clock;
    handled_after = 0;
    actor_system system("naps");
    const auto a = system.spawn<napping>("a");
    const std::uint32_t before = system.scheduler().active_count();
    const auto begun = clock::now();
    a.tell(20);
    a.tell(0);
    while (handled_after.load() == 0 && clock::now() - begun < std::chrono::minutes(1))
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    EXPECT_EQ(handled_after.load(), 1);
    EXPECT_GE(clock::now() - begun, std::chrono::milliseconds(20));
    EXPECT_EQ(system.scheduler().active_count(), before);
}

// CO-6, SH-5: the end of the system does not wait for the time.
TEST(suspended_actor, CO_6_a_system_ends_while_actors_are_suspended) {
    std::optional<actor_system> system(std::in_place, "naps");
    const auto a = system->spawn<napping>("a");
    a.tell(3'600'000);
    a.tell(0);
    const auto begun = std::chrono::steady_clock::now();
    system.reset();
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::minutes(1));
}

namespace {

constexpr int holds_by_itself = 4;

/// Suspends itself without a limit, or with one that is longer than its own.
class held : public actor<int> {
public:
    void on(int v) {
        journal().add(v);
        suspend_limit limit;
        if (v == holds_with_limit)
            limit = {ms(20), suspend_limit_action::resume};
        if (v > holds_by_itself)
            return;
        EXPECT_TRUE(
            context().suspend(suspend_reason::user_defined, resume_condition::signal(7), limit));
    }
    void post_restart(const failure_cause&) { journal().add(100); }
    void post_stop() { journal().add(200); }
};

}  // namespace

// CO-6: an actor that is spawned with a limit has it for each suspension that is given none.
TEST(suspended_actor, CO_6_a_limit_of_the_actor_is_that_of_its_suspensions) {
    for (const auto action :
         {suspend_limit_action::resume, suspend_limit_action::fail, suspend_limit_action::stop}) {
        SCOPED_TRACE(static_cast<int>(action));
        world_rig rig;
        auto r = detail::request_for<held>(rig.memory, "a", {.suspending = {ms(5), action}});
        const actor_ref<int> a{any_ref(*rig.world.spawn_top(*r))};
        a.tell(holds_by_itself);
        a.tell(10);
        rig.run();
        rig.pass(4);
        EXPECT_TRUE(journal().is({holds_by_itself}));
        rig.pass(2);
        switch (action) {
        case suspend_limit_action::resume:
            EXPECT_TRUE(journal().is({10}));
            break;
        case suspend_limit_action::fail:
            EXPECT_TRUE(journal().is({200, 100, 10}));
            break;
        case suspend_limit_action::stop:
            EXPECT_TRUE(journal().is({200}));
            break;
        }
        journal().clear();
        rig.end();
        journal().clear();
    }
}

// CO-6: what a suspension says itself comes first.
TEST(suspended_actor, CO_6_a_limit_of_a_suspension_stands_for_the_actors) {
    world_rig rig;
    auto r = detail::request_for<held>(rig.memory, "a",
                                       {.suspending = {ms(5), suspend_limit_action::fail}});
    const actor_ref<int> a{any_ref(*rig.world.spawn_top(*r))};
    a.tell(holds_with_limit);
    a.tell(10);
    rig.run();
    rig.pass(19);
    EXPECT_TRUE(journal().is({holds_with_limit}));
    rig.pass(2);
    EXPECT_TRUE(journal().is({10}));
    rig.end();
    journal().clear();
}

namespace {

/// Suspends itself once, without a limit.
class held_once : public actor<int> {
public:
    void on(int v) {
        if (v == holds_by_itself)
            EXPECT_TRUE(
                context().suspend(suspend_reason::user_defined, resume_condition::signal(7)));
        else
            ++handled_after;
    }
};

}  // namespace

// CO-6, DR-4: the limit reaches an actor that is placed by its deployment, too.
TEST(suspended_actor, CO_6_a_limit_of_the_actor_goes_with_its_deployment) {
    handled_after = 0;
    actor_system::options o;
    o.names = [](resolver&) -> std::expected<void, std::string> { return {}; };
    actor_system system("placed", o);
    const auto a =
        system.try_spawn<held_once>("a", {.suspending = {ms(5), suspend_limit_action::resume}});
    ASSERT_TRUE(a.has_value());
    a->tell(holds_by_itself);
    a->tell(10);
    EXPECT_TRUE(tactus_test::until([] { return handled_after.load() == 1; }));
}
