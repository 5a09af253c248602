// SPDX-License-Identifier: Apache-2.0
//
// Goal: the cases of typed supervision that Pekko's tests have (C-TYP-5, 6, 12; C-TX-21 to 46). An
// actor there is wrapped in strategies, one for each type of exception; here its parent has one,
// whose decider asks for the type (SV-1).
#include <gtest/gtest.h>

#include <algorithm>
#include <ios>
#include <memory>

#include "puppet.hpp"
#include "world_rig.hpp"

using namespace tactus;       // NOLINT: the whole vocabulary is used
using namespace tactus_test;  // NOLINT: puppets

namespace {

struct base_fault : std::runtime_error {
    base_fault() : std::runtime_error("base") {}
};
struct derived_fault : base_fault {};
struct other_fault : std::runtime_error {
    other_fault() : std::runtime_error("other") {}
};

template <class E>
run_it throws() {
    return {[](puppet&) { throw E(); }};
}

/// A boss with one child that has hooks of its own, and what each failure of it comes to.
struct decider_rig : world_rig {
    explicit decider_rig(const supervisor_strategy& s) {
        boss.strategy = s;
        boss.pre_start = [this](puppet& p) {
            kid = child_of<hooked_puppet>(p, "kid", child);
            p.ctx().watch(kid);
        };
        top = spawn<puppet>("boss", &boss);
        run();
        (void)boss.take();
        (void)child.take();
    }
    words tell(const run_it& m) {
        kid.tell(m);
        run();
        return child.take();
    }
    words ask() {
        kid.tell(ping{});
        run();
        return child.take();
    }
    strings boss;
    strings child;
    puppet_ref top;
    puppet_ref kid;
};

const words restarted{"before0", "after1"};
const words was_stopped{"stop0"};
constexpr backoff_options soon{.min = ms(10), .max = ms(10), .random_factor = 0};

}  // namespace

// C-TYP-5, C-TX-22 here: each type of exception has its directive; what matches none is stopped.
TEST(conformance_decider, C_TYP_5_C_TX_22_a_directive_for_each_type) {
    const supervisor_strategy nested{.decider = [](const failure_cause& why) {
        if (why.is<derived_fault>())
            return directive::resume;
        return why.is<other_fault>() ? directive::restart : directive::stop;
    }};
    {
        decider_rig rig(nested);
        EXPECT_EQ(rig.tell(throws<derived_fault>()), words{});  // its state is kept
        EXPECT_EQ(rig.ask(), words{"pong0"});
        EXPECT_EQ(rig.tell(throws<other_fault>()), restarted);
        EXPECT_EQ(rig.ask(), words{"pong1"});
        EXPECT_EQ(rig.tell(throws<base_fault>()), words{"stop1"});
        EXPECT_EQ(rig.boss.take(), words{"terminated0"});
        rig.end();
    }
    // C-TX-22: the more special one is asked for first, be it in the other order of strictness.
    const supervisor_strategy inner_stops{.decider = [](const failure_cause& why) {
        if (why.is<std::invalid_argument>())
            return directive::stop;
        return why.is<std::exception>() ? directive::restart : directive::escalate;
    }};
    decider_rig rig(inner_stops);
    EXPECT_EQ(rig.tell({[](puppet&) { throw std::ios_base::failure("io"); }}), restarted);
    EXPECT_EQ(rig.tell({[](puppet&) { throw std::invalid_argument("argument"); }}), words{"stop1"});
    rig.end();
}

// C-TX-24: a type stands for what is derived from it, and for nothing else.
TEST(conformance_decider, C_TX_24_a_base_stands_for_what_is_derived) {
    const supervisor_strategy how{.decider = [](const failure_cause& why) {
        return why.is<base_fault>() ? directive::restart : directive::stop;
    }};
    {
        decider_rig rig(how);
        EXPECT_EQ(rig.tell(throws<derived_fault>()), restarted);
        EXPECT_EQ(rig.ask(), words{"pong1"});
        rig.end();
    }
    decider_rig rig(how);
    EXPECT_EQ(rig.tell(throws<other_fault>()), was_stopped);
    EXPECT_EQ(rig.boss.take(), words{"terminated0"});
    rig.end();
}

// C-TX-21: a strategy that stops; in pre_start, too, which is told as a decision.
TEST(conformance_decider, C_TX_21_a_strategy_that_stops) {
    {
        decider_rig rig({.decider = &stopping_decider});
        EXPECT_EQ(rig.tell(crash()), was_stopped);
        EXPECT_EQ(rig.boss.take(), words{"terminated0"});
        rig.end();
    }
    world_rig rig({.decider = &stopping_decider});
    strings by;
    by.pre_start = [](puppet&) { throw base_fault(); };
    (void)rig.spawn<puppet>("p", &by);
    rig.run();
    EXPECT_EQ(by.take(), words{"start0"});
    ASSERT_EQ(rig.said.decision_count, 1u);
    EXPECT_EQ(rig.said.decisions[0].what, directive::stop);
    EXPECT_EQ(rig.said.decisions[0].why, failure_kind::initialization);
    rig.end();
}

// C-TYP-5: limits: two within a minute, and the third ends it; a new window after it; none at all.
TEST(conformance_decider, C_TYP_5_limits) {
    const supervisor_strategy two{.max_restarts = 2U, .within = duration::from_s(60)};
    for (const bool waits : {false, true}) {
        decider_rig rig(two);
        EXPECT_EQ(rig.tell(crash()), restarted);
        EXPECT_EQ(rig.tell(crash()), (words{"before1", "after2"}));
        if (waits)
            rig.time.advance(duration::from_s(61));
        EXPECT_EQ(rig.tell(crash()), waits ? (words{"before2", "after3"}) : words{"stop2"});
        rig.end();
    }
    decider_rig rig({.max_restarts = 0U});
    EXPECT_EQ(rig.tell(crash()), was_stopped);
    rig.end();
}

// C-TYP-6, C-TX-23 here: with a back-off for one type and a restart at once for another: the
// strategy is asked for at each failure, and may be another one.
TEST(conformance_decider, C_TYP_6_C_TX_23_a_back_off_for_one_type) {
    for (const bool first_waits : {true, false}) {
        decider_rig rig({});
        const supervisor_strategy later{.backoff = soon};
        rig.boss.strategy = first_waits ? later : supervisor_strategy{};
        EXPECT_EQ(rig.tell(throws<base_fault>()), first_waits ? words{"before0"} : restarted);
        EXPECT_EQ(rig.ask(), first_waits ? words{} : words{"pong1"});
        rig.pass(12);
        EXPECT_EQ(rig.child.take(), first_waits ? (words{"after1", "pong1"}) : words{});
        rig.boss.strategy = first_waits ? supervisor_strategy{} : later;
        EXPECT_EQ(rig.tell(throws<other_fault>()),
                  first_waits ? (words{"before1", "after2"}) : words{"before1"});
        rig.pass(12);
        (void)rig.child.take();
        EXPECT_EQ(rig.ask(), words{"pong2"});
        rig.end();
    }
}

// C-TX-43 here: a back-off at first, and resume from the second life on; what was sent while it
// waited is answered.
TEST(conformance_decider, C_TX_43_another_strategy_for_the_second_life) {
    decider_rig rig({.backoff = soon});
    EXPECT_EQ(rig.tell(crash()), words{"before0"});
    EXPECT_EQ(rig.ask(), words{});
    rig.boss.strategy = {.decider = [](const failure_cause&) { return directive::resume; }};
    rig.pass(12);
    EXPECT_EQ(rig.child.take(), (words{"after1", "pong1"}));
    EXPECT_EQ(rig.tell(crash()), words{});
    EXPECT_EQ(rig.ask(), words{"pong1"});
    EXPECT_EQ(rig.child.lives, 2);
    rig.end();
}

// C-TX-35: two back-offs, one below the other, with different times after which they forget: the
// child of one that waits has ended, and nothing of its wait is left.
TEST(conformance_decider, C_TX_35_a_back_off_below_a_back_off) {
    world_rig rig;
    strings boss;
    strings middle;
    strings leaf;
    puppet_ref mid;
    puppet_ref low;
    boss.strategy.backoff = {
        .min = ms(20), .max = ms(100), .random_factor = 0, .reset_after = ms(40)};
    middle.strategy.backoff = {
        .min = ms(10), .max = ms(100), .random_factor = 0, .reset_after = ms(1'000)};
    boss.pre_start = [&](puppet& p) { mid = child_of(p, "middle", middle); };
    middle.pre_start = [&](puppet& p) { low = child_of(p, "leaf", leaf); };
    (void)rig.spawn<puppet>("boss", &boss);
    rig.run();
    (void)leaf.take();
    (void)middle.take();
    low.tell(crash());
    rig.run();
    rig.pass(12);
    EXPECT_EQ(leaf.take(), (words{"stop0", "start1"}));
    rig.pass(100);  // longer than the boss remembers, shorter than the middle does
    low.tell(crash());
    rig.run();
    rig.pass(12);
    EXPECT_EQ(leaf.take(), words{"stop1"});  // twice as long
    mid.tell(crash());
    rig.run();
    EXPECT_EQ(middle.take(), words{"stop0"});
    rig.pass(15);
    EXPECT_EQ(leaf.take(), words{});  // it is not started by who waits itself
    rig.pass(8);
    EXPECT_EQ(middle.take(), words{"start1"});
    EXPECT_EQ(leaf.take(), words{"start2"});
    EXPECT_EQ(rig.timing.pending(), 0u);
    rig.pass(100);
    mid.tell(crash());
    rig.run();
    rig.pass(22);  // the boss has forgotten the first one
    EXPECT_EQ(middle.take(), (words{"stop1", "start2"}));
    rig.end();
}

// C-TX-37 here: who fails to begin is stopped, unless its strategy says otherwise: resume and a
// limit make it again at once, a back-off later. C-TX-39: a decider that does not know the type of
// the failure stops it.
TEST(conformance_decider, C_TX_37_C_TX_39_a_start_that_fails_once) {
    struct row {
        supervisor_strategy how;
        bool begins;
        int after_ms;
    };
    constexpr auto only_other = [](const failure_cause& why) {
        return why.is<other_fault>() ? directive::restart : directive::stop;
    };
    backoff_options retries{.min = ms(100), .max = ms(100), .random_factor = 0};
    const row rows[] = {
        {{}, false, 0},
        {{.decider = [](const failure_cause&) { return directive::resume; }}, true, 0},
        {{.max_restarts = 3U, .decider = &retrying_decider}, true, 0},
        {{.backoff = retries}, true, 100},
        // C-TX-39
        {{.decider = only_other}, false, 0},
        {{.max_restarts = 3U, .decider = only_other}, false, 0},
        {{.decider = only_other, .backoff = retries}, false, 0},
    };
    for (const row& r : rows) {
        world_rig rig(r.how);
        strings by;
        by.constructor = [](puppet& p) {
            if (p.life() == 0)
                throw base_fault();
        };
        const auto p = rig.spawn<puppet>("p", &by);
        p.tell(ping{});
        rig.run();
        if (r.after_ms != 0) {
            EXPECT_EQ(by.take(), words{});
            rig.pass(r.after_ms - 2);
            EXPECT_EQ(by.take(), words{});
            rig.pass(4);
        }
        EXPECT_EQ(by.take(), r.begins ? (words{"start1", "pong1"}) : words{});
        EXPECT_EQ(by.lives, r.begins ? 2 : 1);
        EXPECT_EQ(rig.said.decisions[0].why, failure_kind::initialization);
        EXPECT_EQ(rig.said.dead_letters, r.begins ? 0u : 1u);
        rig.end();
    }
}

// C-TYP-12: an adapter's function that throws is a failure of its actor, decided by its type.
// C-TX-62: on the third of four: two are handled, then post_stop, and the fourth is a dead letter.
TEST(conformance_decider, C_TYP_12_C_TX_62_an_adapter_that_throws) {
    struct raw {
        int value;
    };
    class adapting : public actor<int> {
    public:
        explicit adapting(words* to) : to_(to) {}
        void pre_start() {
            from_ = context().message_adapter<raw>([](raw r) {
                if (r.value == 3)
                    throw other_fault();
                return r.value;
            });
        }
        void on(int v) { to_->push_back(std::to_string(v)); }
        void post_stop() { to_->emplace_back("stop"); }

    private:
        words* to_;
        actor_ref<raw> from_;
    };
    for (const bool stops : {true, false}) {
        world_rig rig({.decider = stops ? [](const failure_cause& why) {
            return why.is<other_fault>() ? directive::stop : directive::escalate;
        } : [](const failure_cause& why) {
            return why.is<other_fault>() ? directive::resume : directive::escalate;
        }});
        words told;
        const auto a = rig.spawn<adapting>("a", &told);
        rig.run();
        for (int i = 1; i <= 4; ++i)
            a.any().tell(raw{i});
        rig.run();
        EXPECT_EQ(told, stops ? (words{"1", "2", "stop"}) : (words{"1", "2", "4"}));
        EXPECT_EQ(rig.said.dead_letters, stops ? 1u : 0u);
        EXPECT_EQ(rig.world.find("/user/a").valid(), !stops);
        rig.end();
    }
}

// C-SUP-2 here: each life has an instance of its own, made after the one before was destroyed; what
// is to survive is an argument.
TEST(conformance_decider, C_SUP_2_instances_are_the_runtimes) {
    struct kept {
        int alive = 0;
        int alive_max = 0;
        int made = 0;
        int count = 0;
    };
    class counter : public actor<int> {
    public:
        explicit counter(std::shared_ptr<kept> k) : kept_(std::move(k)) {
            ++kept_->made;
            kept_->alive_max = std::max(kept_->alive_max, ++kept_->alive);
        }
        counter(const counter&) = delete;
        counter& operator=(const counter&) = delete;
        ~counter() { --kept_->alive; }
        void on(int v) {
            own_ += v;
            kept_->count += v;
            EXPECT_EQ(own_, v);  // of this life
            throw base_fault();
        }

    private:
        std::shared_ptr<kept> kept_;
        int own_ = 0;
    };
    world_rig rig({.max_restarts = 3U});
    const auto state = std::make_shared<kept>();
    const auto c = rig.spawn<counter>("c", state);
    for (int i = 1; i <= 4; ++i)
        c.tell(i);
    rig.run();
    EXPECT_EQ(state->made, 4);
    EXPECT_EQ(state->alive_max, 1);
    EXPECT_EQ(state->alive, 0);
    EXPECT_EQ(state->count, 10);
    EXPECT_FALSE(rig.world.find("/user/c").valid());
    rig.end();
    EXPECT_EQ(state.use_count(), 1);
}
