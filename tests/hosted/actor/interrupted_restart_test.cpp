// SPDX-License-Identifier: Apache-2.0
//
// Goal: decisions and signals that arrive in the middle of a restart reach the next instance, never
// the one that has had its pre_restart.
#include <tactus/runtime/actor_system.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "pool_rig.hpp"
#include "puppet.hpp"
#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::child_of;
using tactus_test::crash;
using tactus_test::ping;
using tactus_test::puppet;
using tactus_test::puppet_ref;
using tactus_test::run_it;
using tactus_test::strings;
using tactus_test::until;
using tactus_test::words;
using tactus_test::world_rig;

namespace {

std::atomic<int> crashing{0};
std::atomic<int> decided{0};

/// Ends when its grandparent has decided, some time after.
class slow_leaf : public actor<int> {
public:
    void on(int) {}
    void post_stop() {
        EXPECT_TRUE(until([] { return decided.load(std::memory_order_acquire) == 1; }));
        std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the decision arrives
    }
};

/// Reads the cause of its restart.
class reading_puppet : public puppet {
public:
    using puppet::puppet;
    void pre_restart(const failure_cause&) {
        say("before");
        context().stop_children();
    }
    void post_restart(const failure_cause& why) {
        say(why.kind() == failure_kind::exception ? "after" : "after another kind");
    }
};

}  // namespace

// DF-9:
// Two siblings fail together under all_for_one. The first failure restarts both; about the second
// one, which would be resumed while its actor waits for a child to end, nothing is asked (DF-45).
TEST(interrupted_restart, DF_9_a_resume_in_the_middle_of_a_restart_leaves_the_restart_alone) {
    strings parent, children[2];
    puppet_ref refs[2];
    crashing.store(0, std::memory_order_relaxed);
    decided.store(0, std::memory_order_relaxed);
    parent.strategy.scope = supervision_scope::all_for_one;
    parent.decide = [&](any_ref, const failure_cause&) {
        return decided.fetch_add(1, std::memory_order_release) == 0 ? directive::restart
                                                                    : directive::resume;
    };
    {
        actor_system::options o;
        o.dispatcher.workers = 4;
        o.dispatcher.max_workers = 4;
        o.log_level = log_level::off;
        actor_system system("restarts", o);
        const auto p = system.try_spawn<puppet>("parent", {}, &parent);
        ASSERT_TRUE(p.has_value());
        std::atomic<int> step{0};
        const auto reached = [&](int n) {
            return until([&] { return step.load(std::memory_order_acquire) == n; });
        };
        p->tell(run_it{[&](puppet& me) {
            for (int i = 0; i < 2; ++i)
                refs[i] = child_of<reading_puppet>(me, "", children[i]);
            step.store(1, std::memory_order_release);
        }});
        ASSERT_TRUE(reached(1));
        p->tell(run_it{[&](puppet&) {
            step.store(2, std::memory_order_release);
            // Both have failed before it looks.
            EXPECT_TRUE(until([] { return crashing.load(std::memory_order_acquire) == 2; }));
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }});
        ASSERT_TRUE(reached(2));
        for (const puppet_ref& child : refs) {
            child.tell(run_it{[](puppet& above) {
                EXPECT_TRUE(above.ctx().try_spawn<slow_leaf>("", {}).has_value());
                crashing.fetch_add(1, std::memory_order_release);
                throw std::runtime_error("crash");
            }});
            child.tell(ping{});
        }
        EXPECT_TRUE(until([] { return decided.load(std::memory_order_acquire) == 1; }));
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        EXPECT_EQ(decided.load(std::memory_order_acquire), 1);
        system.terminate();
        EXPECT_TRUE(system.wait(std::chrono::seconds(10)));
    }
    for (strings& child : children)
        EXPECT_EQ(child.take(), (words{"start0", "before0", "after1", "pong1", "stop1"}));
}

namespace {

words begun;

/// Its first pre_start fails.
class late_starter : public actor<int> {
public:
    void on(int) {}
    void pre_start() {
        begun.emplace_back("pre_start");
        if (begun.size() == 1)
            throw std::runtime_error("no file");
    }
    void post_restart(const failure_cause&) { begun.emplace_back("post_restart"); }
};
/// Fails beside it, or fails itself and keeps its children.
class late_parent : public puppet {
public:
    using puppet::puppet;
    void pre_restart(const failure_cause&) {}
};

}  // namespace

// DF-9, PK-SUP-12: an actor that has never started is restarted for another one's failure.
TEST(interrupted_restart, DF_9_an_actor_that_never_started_starts_for_the_first_time) {
    for (const auto scope : {supervision_scope::one_for_one, supervision_scope::all_for_one,
                             supervision_scope::rest_for_one}) {
        for (const bool parent_fails : {false, true}) {
            begun.clear();
            strings parent, sibling;
            parent.strategy.scope = scope;
            parent.decide = [](any_ref, const failure_cause&) { return directive::restart; };
            world_rig rig;
            const auto p = rig.spawn<late_parent>("parent", &parent);
            p.tell(run_it{[&](puppet& me) {
                const auto other = child_of(me, "sibling", sibling);
                (void)me.ctx().try_spawn<late_starter>("late", {});
                if (parent_fails)
                    throw std::runtime_error("parent");
                other.tell(crash());
            }});
            rig.run();
            rig.end();
            ASSERT_GE(begun.size(), 2u);
            EXPECT_EQ(begun[1], "pre_start")
                << static_cast<int>(scope) << (parent_fails ? ", parent" : ", sibling");
        }
    }
}

namespace {

/// A watched actor and its watcher, whose mailbox is bounded.
struct watch_rig : world_rig {
    explicit watch_rig(const mailbox_options& box) {
        const auto p = spawn<puppet>("parent", &parent);
        p.tell(run_it{[&](puppet& me) {
            watched = child_of(me, "watched", ending);
            watcher = *me.ctx().try_spawn<puppet>("watcher", {.mailbox = box}, &watching);
            watcher.tell(run_it{[&](puppet& w) { w.ctx().watch(watched); }});
        }});
        run();
        (void)watching.take();
    }
    strings parent, watching, ending;
    puppet_ref watcher, watched;
};

run_it pause(int ms) {
    return {[ms](puppet& p) {
        EXPECT_TRUE(p.ctx().suspend(suspend_reason::user_defined,
                                    resume_condition::after(duration::from_ms(ms)), {}));
    }};
}

constexpr overflow refusing[] = {overflow::reject, overflow::dead_letter, overflow::drop_newest,
                                 overflow::block};

}  // namespace

// DF-10
TEST(interrupted_restart, DF_10_a_full_mailbox_tells_no_destroyed_instance_of_an_end) {
    for (const overflow when_full : refusing) {
        watch_rig rig({.when_full = when_full, .capacity = 2});
        rig.parent.strategy.backoff = {
            .min = duration::from_ms(100), .max = duration::from_ms(100), .random_factor = 0};
        rig.watcher.tell(crash());
        rig.run();
        rig.watcher.tell(ping{});
        rig.watcher.tell(ping{});
        EXPECT_TRUE(rig.world.stop(rig.watched.index()));
        rig.run();
        EXPECT_EQ(rig.watching.take(), (words{"stop0"}));
        rig.pass(200);
        EXPECT_EQ(rig.watching.take(), (words{"start1", "pong1", "pong1", "terminated1"}));
        rig.end();
    }
}

TEST(interrupted_restart, DF_10_a_full_mailbox_tells_no_suspended_actor_of_an_end) {
    for (const overflow when_full : refusing) {
        watch_rig rig({.when_full = when_full, .capacity = 2});
        rig.watcher.tell(pause(100));
        rig.run();
        rig.watcher.tell(ping{});
        rig.watcher.tell(ping{});
        EXPECT_TRUE(rig.world.stop(rig.watched.index()));
        rig.run();
        EXPECT_EQ(rig.watching.take(), words{});
        rig.pass(200);
        EXPECT_EQ(rig.watching.take(), (words{"pong0", "pong0", "terminated0"}));
        rig.end();
    }
}

// DF-11:
// A signal takes no place of the mailbox: as many messages fit as before.
TEST(interrupted_restart, DF_11_drop_oldest_evicts_no_signal) {
    watch_rig rig({.when_full = overflow::drop_oldest, .capacity = 2});
    rig.watcher.tell(pause(100));
    rig.run();
    EXPECT_TRUE(rig.world.stop(rig.watched.index()));
    rig.run();
    for (int i = 0; i < 10; ++i)
        rig.watcher.tell(ping{});
    rig.run();
    EXPECT_EQ(rig.watching.take(), words{});
    rig.pass(200);
    EXPECT_EQ(rig.watching.take(), (words{"terminated0", "pong0", "pong0"}));
    EXPECT_EQ(rig.said.dead_letters, 8u);
    // The credits are back.
    rig.watcher.tell(ping{});
    rig.watcher.tell(ping{});
    rig.run();
    EXPECT_EQ(rig.watching.take(), (words{"pong0", "pong0"}));
    rig.end();
}
