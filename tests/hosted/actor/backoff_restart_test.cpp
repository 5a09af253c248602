// SPDX-License-Identifier: Apache-2.0
//
// Goal: a strategy with a back-off restarts later: what the actor is sent waits, its children end
// at once, and every way in which the wait can end is one (SV-4).
#include <tactus/actor/actor.hpp>
#include <tactus/runtime/actor_system.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>

#include "pool_rig.hpp"
#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::ms;
using tactus_test::until;
using tactus_test::world_rig;

namespace {

// What is written down beside the numbers that are handled.
enum : std::int32_t {
    began = 1'000,
    ended = 2'000,
    destroyed = 3'000,
    child_began = 4'000,
    child_ended = 5'000,
    decided = 6'000,  // + the failure's kind
};
// Numbers that mean something.
constexpr int fails = -1;
constexpr int fails_with_a_hint = -2;

int instances = 0;
int bad_starts = 0;  // from the second instance on
bool has_children = false;

class leaf : public actor<int> {
public:
    void pre_start() { journal().add(child_began); }
    void post_stop() { journal().add(child_ended); }
    void on(int) {}
};

class fragile : public actor<int> {
public:
    fragile() : number_(++instances) {}
    ~fragile() { journal().add(destroyed + number_); }
    fragile(const fragile&) = delete;
    fragile& operator=(const fragile&) = delete;
    std::expected<void, failure> pre_start() {
        if (has_children) {
            EXPECT_TRUE(context().try_spawn<leaf>("leaf", {}));
        }
        if (number_ > 1 && bad_starts > 0) {
            --bad_starts;
            return std::unexpected(failure("a bad start"));
        }
        journal().add(began + number_);
        return {};
    }
    void post_stop() { journal().add(ended + number_); }
    std::expected<void, failure> on(int v) {
        if (v == fails)
            return std::unexpected(failure("told to"));
        if (v == fails_with_a_hint) {
            failure why("not yet");
            why.retry_after = ms(5'000);
            return std::unexpected(why);
        }
        journal().add(v);
        return {};
    }

private:
    int number_;
};

supervisor_strategy strategy;
bool notes_decisions = false;
struct stop_it {};

/// Has one of them, or two, and the strategy of the test.
class boss : public actor<int, stop_it> {
public:
    explicit boss(int count) : count_(count) {}
    void pre_start() {
        for (int i = 0; i < count_; ++i) {
            children[i] = *context().try_spawn<fragile>("", how);
            context().watch(children[i]);
        }
    }
    std::expected<void, failure> on(int) { return std::unexpected(failure("the boss")); }
    void on(stop_it) { EXPECT_TRUE(context().stop(children[0])); }
    void on(const terminated&) { journal().add(9'999); }
    supervisor_strategy supervision() {
        if (notes_decisions)
            journal().add(decided);
        return strategy;
    }
    static inline actor_ref<int> children[2];
    static inline spawn_options how;

private:
    int count_;
};

struct stage : world_rig {
    explicit stage(const backoff_options& b, int count = 1)
        : stage(supervisor_strategy{}, b, count) {}
    stage(supervisor_strategy s, const backoff_options& b, int count = 1) {
        s.backoff = b;
        strategy = s;
        instances = bad_starts = 0;
        has_children = false;
        notes_decisions = false;
        boss::how = {};
        top = spawn<boss>("boss", count);
        run();
        journal().clear();
    }
    void tell(int v) {
        boss::children[0].tell(v);
        run();
    }
    /// It happens after so many milliseconds, and not before. The wheel's tick is one.
    bool begins_after(int delay_ms, std::int32_t number) {
        pass(delay_ms - 1);
        const bool early = journal().count() != 0;
        pass(2);
        const bool good = !early && journal().is({began + number});
        journal().clear();
        return good;
    }
    actor_ref<int, stop_it> top;
};
const backoff_options one_second{.min = ms(1'000), .max = ms(10'000), .random_factor = 0};

}  // namespace

// SV-4, C-TX-32: the first restart after the shortest delay, the next after twice that. The old
// instance is gone at once: what it held is not kept while it waits.
TEST(backoff_restart, C_TX_32_restarts_take_place_later) {
    stage rig(one_second);
    rig.tell(fails);
    EXPECT_TRUE(journal().is({ended + 1, destroyed + 1}));
    EXPECT_TRUE(rig.begins_after(1'000, 2));
    rig.tell(fails);
    EXPECT_TRUE(journal().is({ended + 2, destroyed + 2}));
    EXPECT_TRUE(rig.begins_after(2'000, 3));
    rig.tell(fails);
    journal().clear();
    EXPECT_TRUE(rig.begins_after(4'000, 4));
    EXPECT_EQ(rig.timing.pending(), 0u);
    rig.end();
}

// SV-4, C-TX-31, C-TYP-8: what it is sent meanwhile is handled by the new instance, in its order.
TEST(backoff_restart, C_TX_31_what_is_sent_meanwhile_waits) {
    stage rig(one_second);
    rig.tell(fails);
    journal().clear();
    for (int i = 1; i <= 4; ++i)
        rig.tell(i);
    rig.pass(900);
    EXPECT_TRUE(journal().is({}));
    rig.pass(200);
    EXPECT_TRUE(journal().is({began + 2, 1, 2, 3, 4}));
    rig.end();
}

// C-TX-31: a bounded mailbox is the limit of what waits; the rest is told as lost.
TEST(backoff_restart, C_TX_31_a_bounded_mailbox_limits_what_waits) {
    stage rig(one_second);
    boss::how = {.mailbox = {.when_full = overflow::drop_newest, .capacity = 2}};
    (void)rig.spawn<boss>("other", 1);
    rig.run();
    rig.tell(fails);
    journal().clear();
    for (int i = 1; i <= 4; ++i)
        rig.tell(i);
    EXPECT_EQ(rig.said.dead_letters, 2u);
    EXPECT_EQ(rig.said.dead_numbers[0], 3);
    EXPECT_EQ(rig.said.dead_numbers[1], 4);
    rig.pass(1'100);
    EXPECT_TRUE(journal().is({began + 3, 1, 2}));
    rig.end();
}

// SV-4, C-TX-33: a limit of restarts; a start that fails counts as one (C-TYP-9).
TEST(backoff_restart, C_TX_33_the_limit_ends_it) {
    backoff_options b = one_second;
    b.max_restarts = 2;
    stage rig(b);
    bad_starts = 100;
    rig.tell(fails);
    rig.pass(20'000);
    EXPECT_EQ(instances, 3);
    EXPECT_EQ(rig.said.decision_count, 3u);
    EXPECT_EQ(rig.said.decisions[1].why, failure_kind::post_restart);
    EXPECT_TRUE(journal().is({ended + 1, destroyed + 1, destroyed + 2, destroyed + 3, 9'999}));
    EXPECT_EQ(rig.timing.pending(), 0u);
    rig.end();
}

// SV-4, C-TX-41, C-TYP-10: what waits is kept over starts that fail.
TEST(backoff_restart, C_TX_41_what_waits_is_kept_over_bad_starts) {
    stage rig(one_second);
    bad_starts = 2;
    rig.tell(fails);
    rig.tell(1);
    rig.tell(2);
    journal().clear();
    rig.pass(1'000 + 2'000 + 4'000 + 5);
    EXPECT_TRUE(journal().is({destroyed + 2, destroyed + 3, began + 4, 1, 2}));
    rig.end();
}

// C-TX-40: another failure while messages wait: those behind it wait on.
TEST(backoff_restart, C_TX_40_a_second_failure_keeps_what_waits) {
    stage rig(one_second);
    for (const int v : {fails, fails, 1, 2})
        boss::children[0].tell(v);
    rig.run();
    rig.pass(1'005);
    EXPECT_TRUE(journal().is({ended + 1, destroyed + 1, began + 2, ended + 2, destroyed + 2}));
    rig.pass(2'005);
    EXPECT_TRUE(journal().is({began + 3, 1, 2}));
    rig.end();
}

// SV-4, C-TX-34: after long enough without a failure the delays begin anew.
TEST(backoff_restart, C_TX_34_a_quiet_time_resets_the_delay) {
    backoff_options b = one_second;
    b.reset_after = ms(100);
    stage rig(b);
    rig.tell(fails);
    journal().clear();
    EXPECT_TRUE(rig.begins_after(1'000, 2));
    rig.pass(200);
    rig.tell(fails);
    journal().clear();
    EXPECT_TRUE(rig.begins_after(1'000, 3));
    rig.pass(50);
    rig.tell(fails);
    journal().clear();
    EXPECT_TRUE(rig.begins_after(2'000, 4));
    rig.end();
}

// SV-4: a failure may say when to try again: not before that.
TEST(backoff_restart, SV_4_retry_after_is_a_hint) {
    stage rig(one_second);
    rig.tell(fails_with_a_hint);
    journal().clear();
    EXPECT_TRUE(rig.begins_after(5'000, 2));
    rig.end();
}

// SV-4, DT-4: the random part comes from the worker's stream: another one each time.
TEST(backoff_restart, SV_4_the_random_part_is_the_systems) {
    backoff_options b = one_second;
    b.max = b.min;
    b.random_factor = 1;
    stage rig(b);
    int delays[3] = {};
    for (int& d : delays) {
        rig.tell(fails);
        const int before = instances;
        while (instances == before && d < 3'000) {
            rig.pass(1);
            ++d;
        }
        EXPECT_GE(d, 1'000);
        EXPECT_LE(d, 2'002);
    }
    EXPECT_FALSE(delays[0] == delays[1] && delays[1] == delays[2]);
    rig.end();
    journal().clear();
}

// SV-4, C-TX-30: its children are stopped at once, and awaited; those of a start that fails, too.
TEST(backoff_restart, C_TX_30_children_are_stopped_at_once) {
    stage rig(one_second);
    has_children = true;
    (void)rig.spawn<boss>("other", 1);  // its fragile has a child
    rig.run();
    journal().clear();
    bad_starts = 1;
    rig.tell(fails);
    EXPECT_TRUE(journal().is({ended + 2, child_ended, destroyed + 2}));
    // The bad start's child began, and has ended before the next attempt.
    rig.pass(1'005);
    EXPECT_TRUE(journal().is({destroyed + 3, child_began, child_ended}));
    rig.pass(2'005);
    EXPECT_TRUE(journal().is({began + 4, child_began}));
    rig.end();
    journal().clear();
}

// SV-4: stopped while it waits, by its parent or from outside: the timer goes with it.
TEST(backoff_restart, SV_4_stopping_it_ends_the_wait) {
    for (const bool by_parent : {true, false}) {
        stage rig(one_second);
        rig.tell(fails);
        rig.pass(500);
        journal().clear();
        EXPECT_EQ(rig.timing.pending(), 1u);
        if (by_parent)
            rig.top.tell(stop_it{});
        else
            (void)rig.world.stop(boss::children[0].index());
        rig.run();
        EXPECT_TRUE(journal().is({9'999}));
        EXPECT_EQ(rig.timing.pending(), 0u);
        rig.pass(2'000);
        EXPECT_EQ(instances, 1);
        rig.end();
    }
}

// SV-4: so does the end, or the restart, of its parent.
TEST(backoff_restart, SV_4_the_parents_end_ends_the_wait) {
    {
        stage rig(one_second);
        rig.tell(fails);
        rig.end();
        EXPECT_EQ(rig.timing.pending(), 0u);
        EXPECT_EQ(instances, 1);
    }
    {
        stage rig(one_second);
        rig.tell(fails);
        journal().clear();
        rig.top.tell(0);
        rig.run();
        EXPECT_TRUE(journal().is({began + 2}));  // the new boss's own
        EXPECT_EQ(rig.timing.pending(), 0u);
        rig.pass(3'000);
        EXPECT_EQ(instances, 2);
        rig.end();
    }
    journal().clear();
}

// SV-4, SV-1: with all for one everybody waits, and comes back at the same time.
TEST(backoff_restart, SV_4_all_for_one_waits_together) {
    stage rig({.scope = supervision_scope::all_for_one}, one_second, 2);
    boss::children[1].tell(7);
    rig.tell(fails);
    EXPECT_EQ(journal().count(), 5u);
    journal().clear();
    boss::children[1].tell(8);
    rig.pass(990);
    EXPECT_EQ(journal().count(), 0u);
    rig.pass(20);
    EXPECT_EQ(journal().count(), 3u);  // two began, and one had a message
    EXPECT_EQ(instances, 4);
    rig.end();
    journal().clear();
}

// SV-4: who waits for a failure of its own is not put off by a sibling's.
TEST(backoff_restart, SV_4_a_siblings_failure_does_not_put_it_off) {
    stage rig(one_second, 2);
    rig.tell(fails);
    rig.pass(500);
    strategy.scope = supervision_scope::all_for_one;
    boss::children[1].tell(fails);
    rig.run();
    EXPECT_EQ(rig.timing.pending(), 2u);
    journal().clear();
    EXPECT_TRUE(rig.begins_after(500, 3));
    EXPECT_TRUE(rig.begins_after(499, 4));
    rig.end();
    journal().clear();
}

// SV-4: without memory, or room for a timer, it is stopped: it must not wait for ever.
TEST(backoff_restart, SV_4_what_cannot_wait_is_stopped) {
    stage rig(one_second);
    boss::children[0].tell(fails);
    rig.memory.refusing = true;
    rig.run();
    rig.memory.refusing = false;
    rig.pass(2'000);
    EXPECT_TRUE(journal().is({ended + 1, destroyed + 1, 9'999}));
    EXPECT_EQ(instances, 1);
    rig.end();
}
TEST(backoff_restart, SV_4_a_delay_no_timer_has_is_a_stop) {
    stage rig({.min = duration::max(), .max = duration::max(), .random_factor = 0});
    rig.tell(fails);
    EXPECT_TRUE(journal().is({ended + 1, destroyed + 1, 9'999}));
    rig.end();
}

// SV-4, BP-3: it continues an actor that is there, so that a moment of pressure does not end it.
TEST(backoff_restart, BP_3_a_restart_waits_while_others_are_rejected) {
    stage rig(one_second);
    scheduler& timers = *rig.timing.service();
    const auto child = boss::children[0].index();
    for (int i = 0; i < 2; ++i) {
        (void)timers.add(job_request::once(ms(1), timer_priority::high).send(child, {}), 1);
        rig.time.advance(ms(80));
        timers.run_due(rig.time.now());
    }
    EXPECT_EQ(timers.pressure_now().state, backpressure_state::rejecting);
    rig.tell(fails);
    EXPECT_TRUE(journal().is({1, 1, ended + 1, destroyed + 1}));
    EXPECT_TRUE(rig.begins_after(1'000, 2));
    EXPECT_EQ(rig.said.hooks_failed, 0u);
    rig.end();
}
// SV-4: where there is no place at all it is stopped, and somebody is told.
TEST(backoff_restart, SV_4_a_refused_timer_is_told) {
    stage rig(one_second);
    while (rig.timing.service()->schedule_once(ms(1'000'000), rig.top.index(), 1)) {
    }
    rig.tell(fails);
    EXPECT_TRUE(journal().is({ended + 1, destroyed + 1, 9'999}));
    EXPECT_EQ(rig.said.hooks_failed, 1u);
    rig.end();
}

namespace {

class guest : public actor<int> {
public:
    std::expected<void, failure> on(int) { return std::unexpected(failure("told to")); }
};

/// Spawns when the scheduler warns: code of the user's, which may wait for what it needs.
class spawning_events final : public world_events {
public:
    void timer_warned(const scheduler_warning&) noexcept override {
        actor_system* to = system.exchange(nullptr);
        if (to != nullptr && to->try_spawn<guest>("late", {}))
            has_spawned = true;
    }
    void hook_failed(any_ref, const char* hook, const failure_cause& why) noexcept override {
        const std::lock_guard held(mutex_);
        failed_ = std::string(hook) + ": " + std::string(why.text());
    }
    [[nodiscard]] std::string failed() {
        const std::lock_guard held(mutex_);
        return failed_;
    }
    std::atomic<actor_system*> system{nullptr};
    std::atomic<bool> has_spawned{false};

private:
    std::mutex mutex_;
    std::string failed_;
};

}  // namespace

// SC-10, SV-4: the timer of a top-level actor's restart is asked for under no lock.
TEST(backoff_restart, SC_10_a_guardian_holds_no_lock_while_it_asks_for_a_timer) {
    for (const supervision_scope scope :
         {supervision_scope::one_for_one, supervision_scope::all_for_one,
          supervision_scope::rest_for_one}) {
        SCOPED_TRACE(static_cast<int>(scope));
        spawning_events events;
        actor_system::options o;
        o.log_level = log_level::off;
        o.events = &events;
        o.scheduler.profile = scheduler_profile::custom;
        o.scheduler.custom = {1, 0, 1};
        o.guardian_strategy.scope = scope;
        o.guardian_strategy.backoff = one_second;
        actor_system system("full", o);
        const auto who = system.spawn<guest>("guest");
        while (system.scheduler().schedule_once(duration::from_s(1'000), who.index(), 1)) {
        }
        events.system = &system;
        who.tell(1);
        EXPECT_TRUE(until([&] { return events.has_spawned && !events.failed().empty(); }));
        EXPECT_EQ(events.failed(),
                  "delayed restart: the scheduler refuses a timer: capacity_exceeded");
        EXPECT_TRUE(until([&] { return !system.select("/user/guest"); }));
        EXPECT_TRUE(system.select("/user/late"));
    }
}

// PK-BKO-1, PK-SUP-3: a strategy that makes no sense fails who has it.
TEST(backoff_restart, PK_BKO_1_a_wrong_strategy_fails_the_parent) {
    stage rig({.min = ms(2), .max = ms(1)});
    rig.tell(fails);
    EXPECT_EQ(rig.said.decision_count, 1u);  // the guardian's, about the boss
    EXPECT_EQ(rig.said.decisions[0].what, directive::restart);
    EXPECT_EQ(rig.said.decisions[0].why, failure_kind::supervision);
    EXPECT_TRUE(journal().is({ended + 1, destroyed + 1, began + 2}));  // the new boss's own
    rig.end();
    journal().clear();
}

// C-TYP-9: with a back-off the default decider retries starts; kill still stops.
TEST(backoff_restart, C_TYP_9_kill_stops_all_the_same) {
    stage rig(one_second);
    boss::children[0].any().tell(tactus::kill{});
    rig.run();
    EXPECT_TRUE(journal().is({ended + 1, destroyed + 1, 9'999}));
    rig.end();
}

namespace {

std::string waits_for(stage& rig) {
    class sink final : public text_sink {
    public:
        void write(std::string_view piece) noexcept override { all += piece; }
        std::string all;
    } to;
    rig.world.dump(to);
    return to.all;
}

}  // namespace

// EV-5: what it waits for can be said.
TEST(backoff_restart, EV_5_what_it_waits_for) {
    stage rig(one_second);
    EXPECT_EQ(waits_for(rig).find("the time of its restart"), std::string::npos);
    rig.tell(fails);
    EXPECT_NE(waits_for(rig).find("waits for the time of its restart"), std::string::npos)
        << waits_for(rig);
    rig.end();
    journal().clear();
}
