// SPDX-License-Identifier: Apache-2.0
//
// Goal: what the kernel warns of reaches who subscribes it, and who listens to the world (EV-1).
#include <tactus/actor/system_events.hpp>

#include <gtest/gtest.h>

#include "world_rig.hpp"

using namespace tactus;       // NOLINT: the whole vocabulary is used
using namespace tactus_test;  // NOLINT: rigs

namespace {

/// What was told last, and how often.
struct heard {
    int all = 0;
    pressure_warning pressure;
    pool_warning pool;
    deadline_warning deadline;
    user_code_warning user;
};
class hearing : public actor<pressure_warning, pool_warning, deadline_warning, user_code_warning> {
public:
    explicit hearing(heard* to) : to_(to) {}
    void on(const pressure_warning& w) { note(to_->pressure, w); }
    void on(const pool_warning& w) { note(to_->pool, w); }
    void on(const deadline_warning& w) { note(to_->deadline, w); }
    void on(const user_code_warning& w) { note(to_->user, w); }

private:
    template <class W>
    void note(W& last, const W& now) {
        last = now;
        ++to_->all;
    }
    heard* to_;
};
/// Of any kind.
class counting : public actor<kernel_warning> {
public:
    explicit counting(int* to) : to_(to) {}
    void on(const kernel_warning&) { ++*to_; }

private:
    int* to_;
};
class target : public actor<int> {
public:
    void on(int) {}
};

template <class A, class... Args>
auto spawn_with(world_rig& rig, const spawn_options& how, Args... args) {
    const auto r = detail::request_for<A>(rig.memory, {}, how, args...);
    return detail::ref_of<A>(any_ref(rig.world.spawn_top(*r).value()));
}

struct warned_rig : world_rig {
    warned_rig() {
        stays = 1;
        const any_ref to = spawn<hearing>("hearing", &got).any();
        EXPECT_TRUE(world.subscribe<pressure_warning>(to).value());
        EXPECT_TRUE(world.subscribe<pool_warning>(to).value());
        EXPECT_TRUE(world.subscribe<deadline_warning>(to).value());
        EXPECT_TRUE(world.subscribe<user_code_warning>(to).value());
        EXPECT_TRUE(world.subscribe<kernel_warning>(spawn<counting>("all", &every).any()).value());
        run();
    }
    heard got;
    int every = 0;
    kernel_events& from_kernel = world;
};

}  // namespace

// EV-1, MB-5: a bounded mailbox that is filling up.
TEST(kernel_warnings, EV_1_pressure) {
    warned_rig rig;
    const auto a = spawn_with<target>(rig, {.mailbox = {.capacity = 4}});
    rig.run();
    for (int i = 0; i < 4; ++i)
        a.tell(i);
    rig.run();
    EXPECT_EQ(rig.got.all, 1);
    EXPECT_EQ(rig.every, 1);
    EXPECT_TRUE(rig.got.pressure.who == a.any());
    EXPECT_EQ(rig.got.pressure.len, 3u);
    EXPECT_EQ(rig.got.pressure.capacity, 4u);
    EXPECT_EQ(rig.got.pressure.percent, 75u);
    EXPECT_EQ(rig.said.pressures, 1u);
    rig.end();
}

// DF-64, MB-5: and when.
TEST(kernel_warnings, DF_64_pressure_says_when) {
    warned_rig rig;
    const auto a = spawn_with<target>(rig, {.mailbox = {.capacity = 4}});
    rig.run();
    rig.time.advance(ms(7));
    const instant then = rig.time.now();
    for (int i = 0; i < 4; ++i)
        a.tell(i);
    rig.time.advance(ms(1));
    rig.run();
    EXPECT_EQ(rig.got.all, 1);
    EXPECT_TRUE(rig.got.pressure.at == then);
    rig.end();
}

// EV-1, LN-9: a message that came to run after its deadline.
TEST(kernel_warnings, EV_1_a_deadline) {
    warned_rig rig;
    const auto a = spawn_with<target>(rig, {.deadline = ms(1)});
    rig.run();
    a.tell(1);
    rig.time.advance(ms(5));
    rig.run();
    EXPECT_EQ(rig.got.all, 1);
    EXPECT_TRUE(rig.got.deadline.who == a.any());
    EXPECT_TRUE(rig.got.deadline.late == ms(4));
    EXPECT_EQ(rig.said.deadlines, 1u);
    rig.end();
}

// EV-1, MB-11, UP-4: what is about the system.
TEST(kernel_warnings, EV_1_of_the_system) {
    warned_rig rig;
    rig.from_kernel.pool_exhausted(17);
    rig.from_kernel.user_code_failed(user_code::governor, failure(3, "oops"));
    rig.run();
    EXPECT_EQ(rig.got.all, 2);
    EXPECT_EQ(rig.every, 2);
    EXPECT_EQ(rig.got.pool.refused, 17u);
    EXPECT_FALSE(rig.got.pool.who);
    EXPECT_EQ(rig.got.user.where, user_code::governor);
    ASSERT_TRUE(rig.got.user.why);
    EXPECT_EQ(rig.got.user.why->text(), "oops");
    EXPECT_EQ(rig.got.user.why->code(), 3);
    EXPECT_EQ(rig.said.exhaustions, 1u);
    EXPECT_EQ(rig.said.user_code_failures, 1u);
    rig.got.user = {};  // its cause is the world's
    rig.end();
}

// EV-1, UP-4: user code that throws whenever something is sent throws when that is told, too: this
// is not told again.
TEST(kernel_warnings, EV_1_what_throws_while_it_is_told) {
    static world_rig* in = nullptr;
    static int threw = 0;
    warned_rig rig;
    in = &rig;
    threw = 0;
    // Nobody takes what it is told: that each time is a dead letter, at which the code throws.
    const auto full = spawn_with<counting>(
        rig,
        {.mailbox = {.when_full = overflow::dead_letter, .pressure_percent = 0, .capacity = 1}},
        &rig.every);
    rig.run();
    EXPECT_TRUE(rig.world.subscribe<user_code_warning>(full.any()).value());
    full.tell(kernel_warning{});
    rig.said.on_dead_letter = [](envelope&) noexcept {
        if (++threw < 100)
            static_cast<kernel_events&>(in->world).user_code_failed(user_code::tracer, "again");
    };
    rig.from_kernel.user_code_failed(user_code::tracer, "first");
    EXPECT_EQ(threw, 1);
    rig.said.on_dead_letter = nullptr;
    rig.run();
    // The next one is told again.
    rig.from_kernel.user_code_failed(user_code::tracer, "second");
    rig.run();
    ASSERT_TRUE(rig.got.user.why);
    EXPECT_EQ(rig.got.user.why->text(), "second");
    EXPECT_EQ(rig.got.all, 2);
    rig.got.user = {};
    rig.end();
}
