// SPDX-License-Identifier: Apache-2.0
//
// Goal: only a message that is being handled can be put aside (ST-1): anywhere else the envelope is
// somebody else's by now, and stash() ends the program by its name.
#include <tactus/actor/actor.hpp>

#include <gtest/gtest.h>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::ms;
using tactus_test::world_rig;

namespace {

class child : public actor<int> {
public:
    failure on(int) { return failure("told to"); }
};

/// Where it puts aside what it does not handle.
enum class place : std::uint8_t { decider, coroutine, pre_restart, post_stop };
struct fail_now {};
struct wait_now {};
world_rig* stashing_rig = nullptr;
class stasher : public actor<int, fail_now, wait_now>, public with_stash<> {
public:
    static constexpr bool reentrant = true;
    explicit stasher(place where) : where_(where) {}
    void pre_start() {
        if (where_ == place::decider)
            child_ = *context().try_spawn<child>("child", {});
    }
    void on(int v) {
        if (where_ == place::decider)
            child_.tell(v);
        if (where_ == place::coroutine) {
            // What waits goes on in this very run, behind this message.
            stashing_rig->time.advance(ms(5));
            stashing_rig->timing.service()->run_due(stashing_rig->time.now());
        }
    }
    failure on(fail_now) { return failure("told to"); }
    task<> on(wait_now) {
        const auto passed = co_await context().delay(ms(1));
        if (passed)
            (void)context().stash();
    }
    directive decide(any_ref, const failure_cause&) {
        (void)context().stash();
        return directive::resume;
    }
    void pre_restart(const failure_cause&) {
        if (where_ == place::pre_restart)
            (void)context().stash();
    }
    void post_stop() {
        if (where_ == place::post_stop)
            (void)context().stash();
    }

private:
    place where_;
    actor_ref<int> child_;
};

void put_aside(place where) {
    world_rig rig;
    stashing_rig = &rig;
    const auto s = rig.spawn<stasher>("s", where);
    if (where == place::coroutine)
        s.tell(wait_now{});
    rig.run();
    s.tell(1);  // what is not to be taken for the message being handled
    if (where == place::pre_restart)
        s.tell(fail_now{});
    if (where == place::post_stop)
        s.any().tell(poison_pill{});
    rig.run();
    rig.pass(3);
}

}  // namespace

// ST-1: a decider, a coroutine that has waited, and hooks handle no message.
TEST(stash_death, ST_1_a_decider_handles_no_message) {
    EXPECT_DEATH(put_aside(place::decider), "stash:1");
}
TEST(stash_death, ST_1_a_coroutine_that_has_waited_handles_no_message) {
    EXPECT_DEATH(put_aside(place::coroutine), "stash:1");
}
TEST(stash_death, ST_1_hooks_handle_no_message) {
    EXPECT_DEATH(put_aside(place::pre_restart), "stash:1");
    EXPECT_DEATH(put_aside(place::post_stop), "stash:1");
}

namespace {

/// Puts aside what it gets, once.
class once_more : public actor<int, any_ref>, public with_stash<> {
public:
    void on(any_ref who) { context().watch(who); }
    void on(int v) { journal().add(v); }
    std::expected<void, failure> on(const terminated&) {
        journal().add(100);
        return journal().count() > 4 ? std::expected<void, failure>{} : context().stash();
    }
};

}  // namespace

// ST-1, DW-1: `terminated` that finds the mailbox full waits its turn, and can be put aside.
TEST(stash_death, ST_1_what_comes_beside_a_full_mailbox_can_be_put_aside) {
    world_rig rig;
    const auto victim = rig.spawn<child>("v");
    auto r = detail::request_for<once_more>(rig.memory, "o", {.mailbox = {.capacity = 2}});
    const auto made = rig.world.spawn_top(*r);
    ASSERT_TRUE(made.has_value());
    const actor_ref<int, any_ref> o{any_ref(*made)};
    o.tell(any_ref(victim));
    rig.run();
    (void)rig.kernel->suspend(o.index(), suspension::await);
    o.tell(1);
    o.tell(2);
    (void)rig.world.stop(victim.index());
    rig.run();
    EXPECT_TRUE(journal().is({}));
    (void)rig.kernel->resume(o.index(), suspension::await);
    rig.run();
    EXPECT_TRUE(journal().is({1, 2, 100}));
    EXPECT_EQ(rig.said.decision_count, 0u);
    rig.end();
}
