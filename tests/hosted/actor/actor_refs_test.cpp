// SPDX-License-Identifier: Apache-2.0
//
// Goal: references, names and their lives: what is forwarded, who gets a name, what is freed (AC-7,
// AC-8, UP-1).
#include <tactus/actor/actor.hpp>
#include <tactus/actor/system_events.hpp>
#include <tactus/runtime/actor_system.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "pool_rig.hpp"
#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace std::chrono_literals;
using tactus_test::journal;
using tactus_test::until;
using tactus_test::world_rig;

namespace {

struct question {
    actor_ref<int> reply_to;
};
class oracle : public actor<question> {
public:
    void on(const question& q) { q.reply_to.tell(42); }
};
class listener : public actor<int> {
public:
    void on(int v) {
        journal().add(v);
        last_sender = sender();
    }
    static inline any_ref last_sender;
};
class forwarder : public actor<int> {
public:
    explicit forwarder(actor_ref<int> to) : to_(to) {}
    void on(int v) { to_.tell(v, sender()); }

private:
    actor_ref<int> to_;
};
class idle : public actor<int> {
public:
    void on(int) {}
};

}  // namespace

// C-REF-3: what was asked before a poison pill is answered; then it ends.
TEST(actor_refs, C_REF_3_asked_before_the_pill) {
    world_rig rig;
    const auto l = rig.spawn<listener>("l");
    const auto o = rig.spawn<oracle>("o");
    o.tell(question{l});
    o.tell(question{l});
    o.any().tell(poison_pill{});
    o.tell(question{l});
    rig.run();
    EXPECT_TRUE(journal().is({42, 42}));
    EXPECT_EQ(rig.said.dead_letters, 1u);
    EXPECT_FALSE(rig.world.find("/user/o").valid());
    rig.end();
}

namespace {

class killed : public actor<int> {
public:
    void on(int v) { journal().add(v); }
    void pre_restart(const failure_cause& why) { journal().add(static_cast<int>(why.kind())); }
    void post_restart(const failure_cause&) { journal().add(100); }
};
class merciful : public actor<int> {
public:
    void pre_start() { child_ = *context().try_spawn<killed>("child", {}); }
    void on(int v) {
        EXPECT_TRUE(context().child("child") == child_.any());
        EXPECT_FALSE(static_cast<bool>(context().child("other")));
        if (v == 0)
            child_.any().tell(tactus::kill{});
        child_.tell(v);
    }
    supervisor_strategy supervision() {
        return {.decider = [](const failure_cause&) { return directive::restart; }};
    }

private:
    actor_ref<int> child_;
};

}  // namespace

// C-REF-3: kill is a failure, which a strategy may answer with a restart; children by their names.
TEST(actor_refs, C_REF_3_kill_and_restart) {
    world_rig rig;
    const auto m = rig.spawn<merciful>("m");
    m.tell(0);
    rig.run();
    EXPECT_TRUE(journal().is({static_cast<int>(failure_kind::killed), 100, 0}));
    rig.end();
}

// C-REF-4: what is forwarded comes from who sent it.
TEST(actor_refs, C_REF_4_forwarding_keeps_the_sender) {
    world_rig rig;
    const auto l = rig.spawn<listener>("l");
    const auto second = rig.spawn<forwarder>("second", l);
    const auto first = rig.spawn<forwarder>("first", second);
    const auto origin = rig.spawn<forwarder>("origin", first);
    first.tell(5, origin);
    rig.run();
    EXPECT_TRUE(journal().is({5}));
    EXPECT_TRUE(listener::last_sender == origin.any());
    rig.end();
}

// C-REF-5: guardians know nothing of what they are told.
TEST(actor_refs, C_REF_5_guardians_handle_nothing) {
    world_rig rig;
    for (const char* path : {"/", "/user", "/system"})
        any_ref(rig.world.find(path)).tell(5);
    rig.run();
    EXPECT_EQ(rig.said.unhandled_count, 3u);
    EXPECT_EQ(rig.said.dead_letters, 0u);
    rig.end();
}

// C-REF-5, UP-1: what an actor was made of goes with it, whoever still has its reference.
TEST(actor_refs, C_REF_5_the_arguments_go_with_the_actor) {
    class holder : public actor<int> {
    public:
        explicit holder(std::shared_ptr<int> what) : what_(std::move(what)) {}
        void on(int) {}

    private:
        std::shared_ptr<int> what_;
    };
    world_rig rig;
    const auto what = std::make_shared<int>(5);
    const auto h = rig.spawn<holder>("h", what);
    rig.run();
    EXPECT_EQ(what.use_count(), 3);  // here, with its maker, and with the instance
    (void)rig.world.stop(h.index());
    rig.run();
    EXPECT_EQ(what.use_count(), 1);
    rig.end();
}

namespace {

enum class name_case : std::uint8_t { at_once, when_ended };
class namer : public actor<name_case> {
public:
    void pre_start() { spawn(); }
    void on(name_case c) {
        if (c == name_case::when_ended)
            context().watch(child_);
        EXPECT_TRUE(context().stop(child_));
        if (c == name_case::at_once)
            spawn();
    }
    void on(const terminated&) { spawn(); }
    supervisor_strategy supervision() {
        journal().add(sender() == child_ ? 1 : 0);
        return {};
    }

private:
    void spawn() {
        const auto made = context().try_spawn<killed>("child", {});
        journal().add(made ? 10 : 20 + static_cast<int>(made.error().what));
        if (made)
            child_ = *made;
    }
    any_ref child_;
};

}  // namespace

// C-SUP-18, PK-SUP-21: the name of a child is not free as long as it has not ended. C-SUP-19,
// PK-DW-6: it is when that is told.
TEST(actor_refs, C_SUP_18_C_SUP_19_when_a_name_is_free) {
    world_rig rig;
    const auto n = rig.spawn<namer>("n");
    rig.run();
    EXPECT_TRUE(journal().is({10}));
    n.tell(name_case::when_ended);
    rig.run();
    EXPECT_TRUE(journal().is({10}));
    n.tell(name_case::at_once);
    rig.run();
    EXPECT_TRUE(journal().is({20 + static_cast<int>(spawn_error::kind::name_taken)}));
    rig.end();
}

// C-SUP-20: who decides sees the child that failed as the sender.
TEST(actor_refs, C_SUP_20_the_sender_within_a_decision) {
    world_rig rig;
    (void)rig.spawn<namer>("n");
    rig.run();
    any_ref(rig.world.find("/user/n/child")).tell(tactus::kill{});
    rig.run();
    EXPECT_TRUE(journal().is({10, 1}));
    rig.end();
}

// C-SYS-3, AC-7: actors in waves; each is found as soon as it is spawned.
TEST(actor_refs, C_SYS_3_waves_of_actors) {
    static std::atomic<int> ended{0};
    class leaf : public actor<int> {
    public:
        void on(int) { context().stop(); }
        void post_stop() { ++ended; }
    };
    constexpr int count = 50'000;
    actor_system system{"demo"};
    for (int wave = 0; wave < 3; ++wave) {
        ended = 0;
        for (int i = 0; i < count; ++i) {
            const auto made = system.spawn<leaf>("leaf-" + std::to_string(i));
            if (i % 1'000 == 0) {
                EXPECT_TRUE(system.select("/user/leaf-" + std::to_string(i)).resolve() ==
                            made.any());
            }
            made.tell(1);
        }
        ASSERT_TRUE(until([] { return ended == count; })) << ended;
        ASSERT_TRUE(until([&] { return !system.select("/user/leaf-*"); }));
    }
}

namespace {

struct quiet : dead_letter_suppression {};
class mourner : public actor<dead_letter, suppressed_dead_letter> {
public:
    void on(const dead_letter& m) { note(m, 1); }
    void on(const suppressed_dead_letter& m) { note(m, 2); }
    static void note(const lost_letter& m, int what) {
        EXPECT_FALSE(static_cast<bool>(m.to));
        EXPECT_TRUE(m.sender == from);
        journal().add(what);
    }
    static inline any_ref from;
};

}  // namespace

// C-DL-1, PK-DL-2: what a selection of nobody is told is a dead letter with its sender; what is
// marked so, a suppressed one.
TEST(actor_refs, C_DL_1_dead_letters_of_a_selection) {
    world_rig rig;
    const auto m = rig.spawn<mourner>("m");
    const auto l = rig.spawn<listener>("l");
    mourner::from = l;
    rig.run();
    EXPECT_TRUE(rig.world.subscribe<dead_letter>(m).value());
    EXPECT_TRUE(rig.world.subscribe<suppressed_dead_letter>(m).value());
    rig.world.select("/user/nobody").tell(5, l);
    rig.world.select("/user/nobody").tell(quiet{}, l);
    rig.run();
    EXPECT_TRUE(journal().is({1, 2}));
    rig.world.terminate();
    rig.run();
    EXPECT_EQ(rig.said.ended, 1u);
}
