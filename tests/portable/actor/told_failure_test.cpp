// SPDX-License-Identifier: Apache-2.0
//
// Goal: context().fail outside of a handler (SV-3). Where an actor begins it is a failure to begin,
// as an exception there is; in hooks that nobody is asked about it is only told.
#include <tactus/actor/actor.hpp>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::world_rig;

namespace {

enum class where : std::uint8_t {
    nowhere,
    constructor,
    pre_start,
    post_restart,
    pre_restart,
    post_stop
};

// What is written down: a life, and what it came to.
enum : std::int32_t { made = 1, began = 2, began_again = 3, handled_one = 4 };

struct script {
    where fails = where::nowhere;
    std::int32_t failing_lives = 0;  // the first so many of those that come there
    std::int32_t lives = 0;
};
script plan;

std::int32_t last_code = 0;
failure_kind last_kind = failure_kind::runtime;
directive decided = directive::restart;

/// Notes what it is asked about.
directive deciding(const failure_cause& why) {
    last_code = why.code();
    last_kind = why.kind();
    return decided;
}
directive deciding_by_default(const failure_cause& why) {
    (void)deciding(why);
    return default_decider(why);
}

class telling_base : public actor<int> {
public:
    telling_base() {
        life_ = plan.lives++;
        note(made);
        fail_at(where::constructor);
    }
    void pre_start() {
        note(began);
        fail_at(where::pre_start);
    }
    void post_stop() { fail_at(where::post_stop); }
    std::expected<void, failure> on(int v) {
        if (v < 0)
            return std::unexpected(failure(v, "told to"));
        note(handled_one);
        return {};
    }

protected:
    void note(std::int32_t what) const { journal().add(life_ * 10 + what); }
    void fail_at(where hook) {
        if (plan.fails == hook && plan.failing_lives > 0) {
            --plan.failing_lives;
            context().fail(failure(77, "here"));
        }
    }

private:
    std::int32_t life_ = 0;
};
/// Without hooks of a restart: the defaults call pre_start and post_stop.
class plain_one : public telling_base {};
class hooked_one : public telling_base {
public:
    void pre_restart(const failure_cause&) { fail_at(where::pre_restart); }
    void post_restart(const failure_cause& why) {
        note(began_again);
        restarted_for = why.code();
        fail_at(where::post_restart);
    }
    static inline std::int32_t restarted_for = 0;
};

void begin(where fails, std::int32_t failing_lives, directive then = directive::restart) {
    plan = {.fails = fails, .failing_lives = failing_lives};
    decided = then;
    last_code = 0;
    journal().clear();
}

}  // namespace

// SV-1, SV-3, PK-SUP-12: in a constructor or pre_start it is an initialisation failure, which stops
// by default; a constructor's is not followed by pre_start.
TEST(told_failure, SV_3_a_failure_to_begin_stops) {
    for (const where hook : {where::constructor, where::pre_start}) {
        world_rig rig({.decider = deciding_by_default});
        begin(hook, 1);
        (void)rig.spawn<plain_one>("a");
        rig.run();
        EXPECT_EQ(rig.said.decision_count, 1u);
        EXPECT_TRUE(rig.said.decisions[0].what == directive::stop);
        EXPECT_TRUE(last_kind == failure_kind::initialization);
        EXPECT_EQ(last_code, 77);
        if (hook == where::constructor) {
            EXPECT_TRUE(journal().is({made}));
        } else {
            EXPECT_TRUE(journal().is({made, began}));
        }
        EXPECT_FALSE(rig.world.find("/user/a").valid());
        EXPECT_EQ(rig.said.hooks_failed, 0u);
        rig.end();
    }
}

// PK-SUP-12: who says restart or resume gets a first start: pre_start, and no post_restart. What
// was sent meanwhile is handled.
TEST(told_failure, PK_SUP_12_what_failed_to_begin_begins_again) {
    for (const directive then : {directive::restart, directive::resume}) {
        world_rig rig({.decider = deciding});
        begin(where::pre_start, 2, then);
        const auto a = rig.spawn<hooked_one>("a");
        a.tell(1);
        rig.run();
        EXPECT_EQ(rig.said.decision_count, 2u);
        EXPECT_TRUE(last_kind == failure_kind::initialization);
        EXPECT_TRUE(journal().is(
            {made, began, 10 + made, 10 + began, 20 + made, 20 + began, 20 + handled_one}));
        rig.end();
    }
}

// SV-1, SV-3: at a restart it is one of kind post_restart, with its own code; the next attempt may
// do better, and nothing is left of it then.
TEST(told_failure, SV_3_at_a_restart) {
    struct row {
        where hook;
        std::int32_t second;  // what the life that fails comes to, besides being made
    };
    static constexpr row rows[] = {{where::constructor, 0}, {where::post_restart, began_again}};
    for (const row& r : rows) {
        world_rig rig({.decider = deciding});
        begin(where::nowhere, 1);
        const auto a = rig.spawn<hooked_one>("a");
        rig.run();
        journal().clear();
        plan.fails = r.hook;
        a.tell(-5);
        a.tell(1);
        rig.run();
        EXPECT_EQ(rig.said.decision_count, 2u);
        EXPECT_TRUE(last_kind == failure_kind::post_restart);
        EXPECT_EQ(last_code, 77);
        EXPECT_EQ(hooked_one::restarted_for, 77);  // the new one for the failure to begin again
        if (r.second == 0) {
            EXPECT_TRUE(journal().is({10 + made, 20 + made, 20 + began_again, 20 + handled_one}));
        } else {
            EXPECT_TRUE(journal().is(
                {10 + made, 10 + r.second, 20 + made, 20 + began_again, 20 + handled_one}));
        }
        rig.end();
    }
}

// SV-5: in pre_restart, and in the post_stop of a restart, it is told as a hook that failed; the
// restart goes on, for the cause it had, and is the only one.
TEST(told_failure, SV_5_in_the_hooks_of_a_restart) {
    {
        world_rig rig({.decider = deciding});
        begin(where::pre_restart, 100);
        const auto a = rig.spawn<hooked_one>("a");
        a.tell(-5);
        a.tell(1);
        rig.run();
        EXPECT_EQ(rig.said.decision_count, 1u);
        EXPECT_EQ(rig.said.hooks_failed, 1u);
        EXPECT_EQ(hooked_one::restarted_for, -5);
        EXPECT_TRUE(journal().is({made, began, 10 + made, 10 + began_again, 10 + handled_one}));
        rig.end();
    }
    world_rig rig({.decider = deciding});
    begin(where::post_stop, 1);
    const auto a = rig.spawn<plain_one>("a");
    a.tell(-5);
    a.tell(1);
    rig.run();
    EXPECT_EQ(rig.said.decision_count, 1u);
    EXPECT_EQ(rig.said.hooks_failed, 1u);
    EXPECT_TRUE(journal().is({made, began, 10 + made, 10 + began, 10 + handled_one}));
    rig.end();
}

// SV-5, C-SUP-31: in the post_stop of an end it is told, too, and the actor is gone.
TEST(told_failure, SV_5_in_the_last_hook) {
    world_rig rig({.decider = deciding});
    begin(where::post_stop, 1);
    const auto a = rig.spawn<plain_one>("a");
    rig.run();
    (void)rig.world.stop(a.index());
    rig.run();
    EXPECT_EQ(rig.said.decision_count, 0u);
    EXPECT_EQ(rig.said.hooks_failed, 1u);
    EXPECT_FALSE(rig.world.find("/user/a").valid());
    rig.end();
    journal().clear();
}

namespace {

/// Says that it has failed, and fails.
class twice : public actor<int> {
public:
    std::expected<void, failure> on(int v) {
        if (v < 0) {
            context().fail(failure(1, "said"));
            return std::unexpected(failure(v, "returned"));
        }
        journal().add(v);
        return {};
    }
};

world_rig* in_rig = nullptr;
mailbox_index failing;
std::int32_t asked = 0;

/// As from another thread: the child says that it has failed before it looks at its orders.
directive resuming_late(const failure_cause& why) {
    (void)deciding(why);
    if (++asked == 1) {
        slot& place = *in_rig->kernel->slots().find(failing);
        cell::of(place).tell(*in_rig->kernel, place, cell::told_fail);
    }
    return directive::resume;
}

}  // namespace

// SV-3: saying it and returning it is one failure. A failure that is told together with the
// forgiving of the one before is another one, and keeps its cause.
TEST(told_failure, SV_3_a_failure_after_another) {
    {
        world_rig rig({.decider = deciding});
        begin(where::nowhere, 0, directive::resume);
        const auto a = rig.spawn<twice>("a");
        a.tell(-3);
        a.tell(4);
        rig.run();
        EXPECT_EQ(rig.said.decision_count, 1u);
        EXPECT_EQ(last_code, -3);
        EXPECT_TRUE(journal().is({4}));
        rig.end();
    }
    world_rig rig({.decider = resuming_late});
    in_rig = &rig;
    asked = 0;
    const auto a = rig.spawn<twice>("a");
    failing = a.index();
    a.tell(-3);
    a.tell(4);
    rig.run();
    EXPECT_EQ(rig.said.decision_count, 2u);
    EXPECT_TRUE(last_kind == failure_kind::returned);
    EXPECT_EQ(last_code, -3);
    EXPECT_TRUE(journal().is({4}));
    rig.end();
}

namespace {

/// Can only be moved.
struct sole_value {
    explicit sole_value(int v) noexcept : value(v) {}
    sole_value(sole_value&& from) noexcept : value(std::exchange(from.value, -1)) {}
    sole_value& operator=(sole_value&&) = delete;
    int value;
};
/// Made of one; its pre_start fails.
class sole_owner : public actor<int> {
public:
    explicit sole_owner(sole_value v) : value_(std::move(v)) { journal().add(value_.value); }
    std::expected<void, failure> pre_start() { return std::unexpected(failure("no")); }
    void on(int) {}

private:
    sole_value value_;
};

}  // namespace

// AC-6, SV-2: what can only be moved is gone with the first instance, be it that this one failed to
// begin: who is to be started again, by restart or resume, is stopped.
TEST(told_failure, AC_6_what_was_moved_makes_no_second_instance) {
    for (const directive then : {directive::restart, directive::resume}) {
        world_rig rig({.max_restarts = 3U, .decider = deciding});
        begin(where::nowhere, 0, then);
        (void)rig.spawn<sole_owner>("a", sole_value(5));
        rig.run();
        EXPECT_TRUE(journal().is({5}));
        EXPECT_EQ(rig.said.decision_count, 1u);
        EXPECT_EQ(rig.said.hooks_failed, 1u);  // it cannot be made again
        EXPECT_FALSE(rig.world.find("/user/a").valid());
        rig.end();
    }
}
