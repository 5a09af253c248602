// SPDX-License-Identifier: Apache-2.0
//
// Goal: what becomes of actors that fail: directives, scopes, limits, restarts, escalation (SV-1,
// SV-2, SV-3, SV-5).
#include <tactus/actor/actor.hpp>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::world_rig;

namespace {

enum class order : std::uint8_t { fail, ask };

// What is written down: the child's number * 100 + what happened + 10 * its life.
enum : std::int32_t { started = 1, was_stopped = 2, restarting = 3, restarted = 4, alive = 5 };

std::int32_t lives[4] = {};

/// Fails when told so.
class worker_child : public actor<order> {
public:
    explicit worker_child(int number) : number_(number), life_(lives[number]++) {}
    std::expected<void, failure> on(const order& o) {
        if (o == order::fail)
            return std::unexpected(failure(number_, "told to fail"));
        note(alive);
        return {};
    }
    void pre_start() const { note(started); }
    void post_stop() const { note(was_stopped); }
    void note(std::int32_t what) const { journal().add(number_ * 100 + life_ * 10 + what); }

private:
    int number_;
    int life_;
};

struct spawn_all {};
supervisor_strategy strategy;

/// Has three of them, and the strategy of the test.
class boss : public actor<spawn_all, int> {
public:
    void on(spawn_all) {
        for (int i = 1; i <= 3; ++i) {
            const auto made = context().try_spawn<worker_child>("", {}, i);
            children_[i - 1] = *made;
        }
    }
    /// Fails the child of the number; asks all with 0.
    void on(int number) {
        if (number != 0) {
            children_[number - 1].tell(order::fail);
            return;
        }
        for (const auto& c : children_)
            c.tell(order::ask);
    }
    supervisor_strategy supervision() { return strategy; }

private:
    actor_ref<order> children_[3];
};

struct family_rig : world_rig {
    explicit family_rig(const supervisor_strategy& s) {
        strategy = s;
        for (std::int32_t& n : lives)
            n = 0;
        ref = spawn<boss>("boss");
        ref.tell(spawn_all{});
        run();
        journal().clear();
    }
    void fail(int child) {
        ref.tell(child);
        run();
    }
    /// How many answer.
    int answers() {
        journal().clear();
        ref.tell(0);
        run();
        const int n = static_cast<int>(journal().count());
        journal().clear();
        return n;
    }
    /// How often something happened to a child in a life.
    static int count(std::int32_t what) {
        int n = 0;
        for (unsigned i = 0; i < journal().count(); ++i)
            n += journal().at(i) == what ? 1 : 0;
        return n;
    }
    actor_ref<spawn_all, int> ref;
};

directive always_resume(const failure_cause&) {
    return directive::resume;
}
directive always_stop(const failure_cause&) {
    return directive::stop;
}
directive always_escalate(const failure_cause&) {
    return directive::escalate;
}

}  // namespace

// SV-1, C-SUP-5: one for one restarts who failed, and no other. C-SUP-29: with default hooks the
// old instance's post_stop, then the new one's pre_start.
TEST(supervision, SV_1_one_for_one_restarts_who_failed) {
    for (const int failing : {1, 3, 2}) {
        family_rig rig({});
        rig.fail(failing);
        EXPECT_TRUE(journal().is({failing * 100 + was_stopped, failing * 100 + 10 + started}));
        EXPECT_EQ(rig.answers(), 3);
        EXPECT_EQ(rig.said.decision_count, 1u);
        EXPECT_TRUE(rig.said.decisions[0].what == directive::restart);
        EXPECT_TRUE(rig.said.decisions[0].why == failure_kind::returned);
        rig.end();
    }
}

// SV-1, C-SUP-6: all for one restarts all.
TEST(supervision, SV_1_all_for_one_restarts_all) {
    family_rig rig({.scope = supervision_scope::all_for_one});
    rig.fail(2);
    for (int i = 1; i <= 3; ++i) {
        EXPECT_EQ(family_rig::count(i * 100 + was_stopped), 1);
        EXPECT_EQ(family_rig::count(i * 100 + 10 + started), 1);
    }
    EXPECT_EQ(journal().count(), 6u);
    EXPECT_EQ(rig.answers(), 3);
    rig.end();
}

// SV-1: rest for one restarts who failed, and those spawned after it.
TEST(supervision, SV_1_rest_for_one_restarts_those_spawned_later) {
    family_rig rig({.scope = supervision_scope::rest_for_one});
    rig.fail(2);
    EXPECT_EQ(family_rig::count(100 + was_stopped), 0);
    for (int i = 2; i <= 3; ++i) {
        EXPECT_EQ(family_rig::count(i * 100 + was_stopped), 1);
        EXPECT_EQ(family_rig::count(i * 100 + 10 + started), 1);
    }
    EXPECT_EQ(rig.answers(), 3);
    rig.end();
}

// SV-1: resume keeps the instance, and what waits; stop ends it, all of them in scope.
TEST(supervision, SV_1_resume_and_stop) {
    {
        family_rig rig({.decider = always_resume});
        rig.fail(1);
        EXPECT_TRUE(journal().is({}));
        EXPECT_EQ(rig.answers(), 3);
        rig.end();
    }
    {
        family_rig rig({.decider = always_stop});
        rig.fail(1);
        EXPECT_TRUE(journal().is({100 + was_stopped}));
        EXPECT_EQ(rig.answers(), 2);
        rig.end();
    }
    {
        family_rig rig({.scope = supervision_scope::all_for_one, .decider = always_stop});
        rig.fail(1);
        EXPECT_EQ(journal().count(), 3u);
        EXPECT_EQ(rig.answers(), 0);
        rig.end();
    }
}

// SV-1, C-SUP-13, C-SUP-27: how often restarts are allowed.
TEST(supervision, SV_1_limits_of_restarts) {
    struct row {
        std::optional<std::uint32_t> restarts;
        std::optional<duration> within;
        int failures;  // one after the other
        int pause_ms;  // before the last of them
        int left;      // who answers then
    };
    static constexpr duration half = duration::from_ms(500);
    static constexpr row rows[] = {
        {0U, {}, 1, 0, 2},
        {{}, {}, 7, 0, 3},
        {{}, {}, 100, 0, 3},
        {3U, {}, 3, 0, 3},
        {3U, {}, 4, 0, 2},
        {2U, {}, 3, 10'000, 2},               // without a window nothing is forgotten
        {{}, duration::from_s(10), 1, 0, 3},  // a window alone: as one restart
        {{}, duration::from_s(10), 2, 0, 2},
        {2U, duration::from_s(1), 3, 0, 2},
        {2U, half, 3, 700, 3},                                  // the window is over: counted anew
        {2U, duration::from_s(30 * 86'400), 3, 86'400'000, 2},  // C-SUP-14: 30 days
    };
    for (const row& r : rows) {
        for (const auto scope : {supervision_scope::one_for_one, supervision_scope::all_for_one}) {
            family_rig rig({.scope = scope, .max_restarts = r.restarts, .within = r.within});
            for (int i = 0; i < r.failures; ++i) {
                if (i == r.failures - 1)
                    rig.time.advance(duration::from_ms(r.pause_ms));
                rig.fail(1);
            }
            const bool all = scope == supervision_scope::all_for_one && r.left != 3;
            EXPECT_EQ(rig.answers(), all ? 0 : r.left);
            rig.end();
        }
    }
}

// SV-2, PK-SUP-2: what waits in the mailbox is handled by the new instance; the message that failed
// is not.
TEST(supervision, SV_2_the_mailbox_survives_a_restart) {
    family_rig rig({});
    const auto child = rig.spawn<worker_child>("child", 1);
    rig.run();
    journal().clear();
    child.tell(order::ask);
    child.tell(order::fail);
    child.tell(order::ask);
    child.tell(order::ask);
    rig.run();
    // Life 1: the boss's has life 0.
    EXPECT_TRUE(journal().is({100 + 10 + alive, 100 + 10 + was_stopped, 100 + 20 + started,
                              100 + 20 + alive, 100 + 20 + alive}));
    rig.end();
}

namespace {

/// Has one child that escalates, and restarts itself.
class middle : public actor<int> {
public:
    middle() { journal().add(1); }
    void on(int v) {
        if (v == 0) {
            child_ = *context().try_spawn<worker_child>("child", {}, 2);
            return;
        }
        child_.tell(v == 1 ? order::fail : order::ask);
    }
    void post_stop() { journal().add(2); }
    supervisor_strategy supervision() { return {.decider = always_escalate}; }

private:
    actor_ref<order> child_;
};

}  // namespace

// SV-5, PK-SUP-9: who escalates fails with the same cause; its restart stops its children.
TEST(supervision, SV_5_escalation_fails_the_parent) {
    family_rig rig({});
    const auto m = rig.spawn<middle>("m");
    m.tell(0);
    rig.run();
    journal().clear();
    m.tell(1);
    rig.run();
    EXPECT_TRUE(journal().is({2, 200 + 10 + was_stopped, 1}));
    EXPECT_EQ(rig.said.decision_count, 2u);
    EXPECT_TRUE(rig.said.decisions[0].what == directive::escalate);
    EXPECT_TRUE(rig.said.decisions[1].what == directive::restart);
    // A name is free again: a new child of the same name.
    m.tell(0);
    m.tell(2);
    rig.run();
    EXPECT_TRUE(journal().is({200 + 20 + started, 200 + 20 + alive}));
    rig.end();
}

namespace {

int attempts = 0;
int good_from = 0;
/// Its pre_start fails some times.
class late_starter : public actor<int> {
public:
    std::expected<void, failure> pre_start() {
        if (++attempts < good_from)
            return std::unexpected(failure("not yet"));
        return {};
    }
    void post_restart(const failure_cause&) { journal().add(-1); }
    void on(int v) { journal().add(v); }
};
class patient : public actor<int> {
public:
    void on(int v) {
        if (v == 0)
            child_ = *context().try_spawn<late_starter>("child", {});
        else
            child_.tell(v);
    }
    supervisor_strategy supervision() {
        return {.max_restarts = 3U, .decider = [](const failure_cause& why) {
                    journal().add(static_cast<std::int32_t>(why.kind()) + 1'000);
                    return attempts % 2 == 0 ? directive::resume : directive::restart;
                }};
    }

private:
    actor_ref<int> child_;
};
constexpr std::int32_t initialization =
    1'000 + static_cast<std::int32_t>(failure_kind::initialization);

}  // namespace

// SV-1, PK-SUP-12, C-SUP-12: what fails to start is started again, be it by resume or
// restart; post_restart is not called, and what was sent meanwhile is handled.
TEST(supervision, C_SUP_12_who_fails_to_start_starts_again) {
    world_rig rig;
    attempts = 0;
    good_from = 4;
    const auto p = rig.spawn<patient>("p");
    p.tell(0);
    p.tell(5);
    rig.run();
    EXPECT_TRUE(journal().is({initialization, initialization, initialization, 5}));
    EXPECT_EQ(attempts, 4);
    rig.end();
}

// SV-1: the default decider stops who fails to start; C-SUP-33: a limit ends the attempts.
TEST(supervision, C_SUP_33_who_never_starts_is_stopped) {
    world_rig rig;
    attempts = 0;
    good_from = 1'000;
    (void)rig.spawn<late_starter>("alone");
    rig.run();
    EXPECT_EQ(attempts, 1);
    EXPECT_FALSE(rig.world.find("/user/alone").valid());
    class stubborn : public actor<int> {
    public:
        void pre_start() { (void)context().try_spawn<late_starter>("child", {}); }
        void on(int) {}
        supervisor_strategy supervision() {
            return {.max_restarts = 3U,
                    .decider = [](const failure_cause&) { return directive::restart; }};
        }
    };
    attempts = 0;
    (void)rig.spawn<stubborn>("s");
    rig.run();
    EXPECT_EQ(attempts, 4);
    EXPECT_FALSE(rig.world.find("/user/s/child").valid());
    EXPECT_TRUE(rig.world.find("/user/s").valid());
    rig.end();
    journal().clear();
}

// SV-1, AC-8: kill fails an actor, which stops it by default.
TEST(supervision, AC_8_kill_is_a_failure) {
    family_rig rig({});
    const auto child = rig.spawn<worker_child>("child", 1);
    rig.run();
    journal().clear();
    child.any().tell(tactus::kill{});
    rig.run();
    EXPECT_TRUE(journal().is({100 + 10 + was_stopped}));
    EXPECT_TRUE(rig.said.decisions[0].why == failure_kind::killed);
    EXPECT_TRUE(rig.said.decisions[0].what == directive::stop);
    rig.end();
}

namespace {

/// Says what it failed with.
class confessor : public actor<int> {
public:
    std::expected<void, failure> on(int v) {
        if (v < 0)
            return std::unexpected(failure(v, "negative"));
        journal().add(v);
        return {};
    }
    void pre_restart(const failure_cause& why, failed_message m) {
        journal().add(why.code());
        journal().add(m.get_if<int>() != nullptr ? *m.get_if<int>() : 99);
        EXPECT_TRUE(why.text() == "negative");
        EXPECT_TRUE(m.get_if<order>() == nullptr);
    }
    void post_restart(const failure_cause& why) { journal().add(why.code() * 10); }
    void post_stop() { journal().add(77); }
};

}  // namespace

// AC-6, SV-3: pre_restart gets cause and message, the new instance's post_restart the
// cause; who has hooks of its own has no post_stop between.
TEST(supervision, AC_6_hooks_of_a_restart) {
    world_rig rig;
    const auto a = rig.spawn<confessor>("a");
    a.tell(1);
    a.tell(-3);
    a.tell(2);
    rig.run();
    EXPECT_TRUE(journal().is({1, -3, -3, -30, 2}));
    (void)rig.world.stop(a.index());
    rig.run();
    EXPECT_TRUE(journal().is({77}));
    rig.end();
}

// SV-5, PK-SUP-22: what reaches the root ends the system, and says why.
TEST(supervision, SV_5_escalation_to_the_root_ends_the_world) {
    world_rig rig({.decider = always_escalate});
    const auto a = rig.spawn<confessor>("a");
    const auto b = rig.spawn<confessor>("b");
    b.tell(1);
    a.tell(-1);
    rig.run();
    EXPECT_EQ(rig.said.guardian_failures, 1u);
    EXPECT_EQ(rig.said.ended, 1u);
    EXPECT_TRUE(rig.try_spawn<confessor>("c").error().what == spawn_error::kind::shutting_down);
    EXPECT_EQ(rig.memory.live_blocks, 0u);
    journal().clear();
}

// PK-SUP-16, C-SUP-31: a post_stop that fails is told, and the actor is gone all the same.
TEST(supervision, C_SUP_31_a_post_stop_that_fails) {
    class clinging : public actor<int> {
    public:
        void on(int) {}
        std::expected<void, failure> post_stop() { return std::unexpected(failure("no")); }
    };
    world_rig rig;
    const auto c = rig.spawn<clinging>("c");
    rig.run();
    (void)rig.world.stop(c.index());
    rig.run();
    EXPECT_EQ(rig.said.hooks_failed, 1u);
    EXPECT_FALSE(rig.world.find("/user/c").valid());
    rig.end();
}

// SV-2: who cannot be restarted for want of memory is was_stopped, and waits for nobody.
TEST(supervision, SV_2_without_memory_a_restart_is_a_stop) {
    family_rig rig({});
    const auto child = rig.spawn<worker_child>("child", 1);
    rig.run();
    journal().clear();
    child.tell(order::fail);
    rig.memory.refusing = true;
    rig.run();
    rig.memory.refusing = false;
    EXPECT_TRUE(journal().is({100 + 10 + was_stopped}));
    EXPECT_FALSE(rig.world.find("/user/child").valid());
    rig.end();
}

namespace {

/// Has a child of a name, from its constructor on.
class parent_of_bob : public actor<int> {
public:
    parent_of_bob() { bob_ = *context().try_spawn<late_starter>("bob", {}); }
    std::expected<void, failure> on(int v) {
        if (v < 0)
            return std::unexpected(failure("crash"));
        bob_.tell(v);
        return {};
    }

private:
    actor_ref<int> bob_;
};

}  // namespace

// C-SUP-16, PK-SUP-10: a constructor that makes a child with a name, over a restart: the old child
// is gone by then, and the new one is no survivor: it starts once.
TEST(supervision, C_SUP_16_a_constructor_that_spawns) {
    world_rig rig;
    attempts = 0;
    good_from = 0;
    const auto p = rig.spawn<parent_of_bob>("p");
    p.tell(-1);
    p.tell(5);
    rig.run();
    EXPECT_EQ(attempts, 2);
    EXPECT_TRUE(journal().is({5}));
    EXPECT_TRUE(rig.world.find("/user/p").valid());
    EXPECT_TRUE(rig.world.find("/user/p/bob").valid());
    rig.end();
}

namespace {

/// Keeps its child over a restart, and makes another one each time.
class keeper : public actor<int> {
public:
    keeper() { (void)context().try_spawn<late_starter>("", {}); }
    std::expected<void, failure> on(int) { return std::unexpected(failure("crash")); }
    void pre_restart(const failure_cause&) {}
};

}  // namespace

// PK-SUP-10: those that survive are restarted, too, and only those.
TEST(supervision, PK_SUP_10_survivors_are_restarted) {
    world_rig rig;
    attempts = 0;
    good_from = 0;
    const auto p = rig.spawn<keeper>("p");
    p.tell(0);
    rig.run();
    EXPECT_EQ(attempts, 2);           // one each
    EXPECT_TRUE(journal().is({-1}));  // the post_restart of the first
    rig.end();
}
