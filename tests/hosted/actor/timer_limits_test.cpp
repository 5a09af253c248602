// SPDX-License-Identifier: Apache-2.0
//
// Goal: which times keyed timers, receive timeouts and questions take (SC-3), and that a timer
// which is refused leaves the one of its key as it was (SC-2). Method: an actor that says what
// became of each start; a quota of 1,000 is filled up by others.
#include <tactus/actor/actor.hpp>
#include <tactus/actor/ask.hpp>
#include <tactus/runtime/actor_system.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <string>

#include "pool_rig.hpp"
#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::ms;
using tactus_test::world_rig;

namespace {

constexpr int refused = 0;
constexpr int started = 1;
constexpr int is_active = 2;
constexpr int is_not_active = 3;
constexpr int told_idle = 4;
constexpr int beats = 100;  // + the number of the timer

struct start {
    timer_mode mode;
    duration first;
    duration period;
    int number = 0;
    bool fails = false;  // the actor, when the timer is refused
};
struct beat {
    int number;
};
struct idle_after {
    duration after;
};
struct look {};
struct question {
    actor_ref<int> reply_to;
};
struct ask_self {
    duration timeout;
};

std::string failed_with;
std::optional<scheduler_error> last_error;  // of the last start

class clockwork : public actor<start, beat, idle_after, look, question, ask_self> {
public:
    static constexpr bool reentrant = true;
    void on(const start& m) {
        const beat sends{m.number};
        const auto made =
            m.mode == timer_mode::single ? context().start_single_timer("t", sends, m.first)
            : m.mode == timer_mode::fixed_rate
                ? context().start_timer_at_fixed_rate("t", sends, m.first, m.period)
                : context().start_timer_with_fixed_delay("t", sends, m.first, m.period);
        last_error = made ? std::nullopt : std::optional(made.error());
        journal().add(made ? started : refused);
        if (!made && m.fails)
            context().fail(made.error());
    }
    void on(const beat& m) { journal().add(beats + m.number); }
    void on(const idle_after& m) { context().set_receive_timeout(m.after); }
    void on(const look&) {
        journal().add(context().is_timer_active("t") ? is_active : is_not_active);
    }
    void on(const question& m) { m.reply_to.tell(7); }
    task<> on(ask_self m) {
        const auto make = [](actor_ref<int> me) { return question{me}; };
        const auto answer = co_await context().ask<int>(self(), make, m.timeout);
        if (answer)
            journal().add(*answer);
        else
            journal().add(-1 - static_cast<int>(answer.error().what));
    }
    void on(const receive_timeout&) { journal().add(told_idle); }
    void pre_restart(const failure_cause& why) { failed_with = why.text(); }
};

struct clock_rig : world_rig {
    clock_rig() {
        failed_with.clear();
        last_error.reset();
        who = spawn<clockwork>("c");
        run();
        journal().clear();
    }
    template <class M>
    void tell(const M& m) {
        who.tell(m);
        run();
    }
    [[nodiscard]] scheduler& timers() { return *timing.service(); }
    /// Others take all places that are left.
    void fill() {
        while (timers().schedule_once(duration::from_s(1'000), who.index(), beat{9})) {
        }
    }
    [[nodiscard]] std::uint64_t refused_count() {
        const scheduler_metrics m = timers().metrics();
        return std::accumulate(std::begin(m.rejected), std::end(m.rejected), std::uint64_t{0});
    }
    detail::ref_of<clockwork> who;
};

constexpr timer_mode modes[] = {timer_mode::single, timer_mode::fixed_delay,
                                timer_mode::fixed_rate};

}  // namespace

// SC-3, C-SCH-28, TM-1: nothing, or less than nothing, is no time for a timer.
TEST(timer_limits, SC_3_times_of_keyed_timers_are_positive) {
    clock_rig rig;
    for (const duration none : {duration::zero(), ms(-1), duration::min()}) {
        for (const timer_mode mode : modes) {
            rig.tell(start{mode, none, ms(10)});
            EXPECT_TRUE(journal().is({refused}));
            if (mode == timer_mode::single)
                continue;
            rig.tell(start{mode, ms(10), none});
            EXPECT_TRUE(journal().is({refused}));
        }
    }
    EXPECT_EQ(rig.timers().active_count(), 0u);
    rig.end();
}

// SC-3, C-SCH-28, TC-S02: 2^31 - 1 ticks are accepted, one more is not.
TEST(timer_limits, SC_3_the_longest_time_of_keyed_timers) {
    clock_rig rig;
    const duration tick = rig.timers().resolution();
    const duration most = tick * std::numeric_limits<std::int32_t>::max();
    EXPECT_EQ(rig.timers().maximum_delay(), most);
    for (const timer_mode mode : modes) {
        rig.tell(start{mode, most, most});
        EXPECT_TRUE(journal().is({started}));
        rig.tell(start{mode, most + tick, ms(10)});
        EXPECT_TRUE(journal().is({refused}));
        if (mode == timer_mode::single)
            continue;
        rig.tell(start{mode, ms(10), most + tick});
        EXPECT_TRUE(journal().is({refused}));
    }
    rig.end();
}

// SC-3, TM-2: the same for a receive timeout; its actor fails with one that it cannot have.
TEST(timer_limits, SC_3_times_of_receive_timeouts) {
    clock_rig rig;
    const duration tick = rig.timers().resolution();
    const duration most = rig.timers().maximum_delay();
    for (const duration bad : {duration::zero(), ms(-1), most + tick}) {
        failed_with.clear();
        rig.tell(idle_after{bad});
        EXPECT_EQ(failed_with, "the scheduler refuses a timer: invalid_delay");
        EXPECT_EQ(rig.timers().active_count(), 0u);
    }
    EXPECT_EQ(rig.said.decision_count, 3u);
    rig.tell(idle_after{most});
    EXPECT_EQ(rig.timers().active_count(), 1u);
    EXPECT_EQ(rig.said.decision_count, 3u);
    rig.time.advance(most);
    rig.run();
    EXPECT_TRUE(journal().is({told_idle}));
    rig.end();
}

// DF-53: a scheduler that refuses new timers after a pause does not fail a question.
TEST(timer_limits, DF_53_a_question_is_asked_after_a_pause) {
    clock_rig rig;
    for (int i = 0; i < 2; ++i) {
        (void)rig.timers().add(
            job_request::once(ms(1), timer_priority::high).send(rig.who.index(), {}), beat{1});
        rig.time.advance(ms(1'000));
        rig.timers().run_due(rig.time.now());
    }
    EXPECT_EQ(rig.timers().pressure_now().state, backpressure_state::rejecting);
    rig.run();
    journal().clear();
    rig.tell(ask_self{ms(500)});
    EXPECT_TRUE(journal().is({7}));
    rig.end();
}

// SC-3, AS-1: the same for a question.
TEST(timer_limits, SC_3_times_of_questions) {
    clock_rig rig;
    const duration tick = rig.timers().resolution();
    const duration most = rig.timers().maximum_delay();
    constexpr int invalid = -1 - static_cast<int>(ask_fault::invalid_timeout);
    for (const duration bad : {duration::zero(), ms(-1), most + tick}) {
        rig.tell(ask_self{bad});
        EXPECT_TRUE(journal().is({invalid}));
    }
    for (const duration good : {tick, most, duration::max()}) {
        rig.tell(ask_self{good});
        EXPECT_TRUE(journal().is({7}));
    }
    EXPECT_EQ(rig.timers().active_count(), 0u);
    rig.end();
}

// SC-2, TM-1: a start that is refused changes nothing: the timer of its key goes on.
TEST(timer_limits, SC_2_a_refused_start_leaves_the_timer_of_its_key) {
    clock_rig rig;
    for (const timer_mode mode : modes) {
        rig.tell(start{timer_mode::single, ms(10), {}, 1});
        EXPECT_TRUE(journal().is({started}));
        rig.pass(5);
        const auto before = rig.timers().counted().cancelled;
        rig.tell(start{mode, rig.timers().maximum_delay() + ms(1), ms(10), 2});
        EXPECT_TRUE(journal().is({refused}));
        rig.tell(look{});
        EXPECT_TRUE(journal().is({is_active}));
        EXPECT_EQ(rig.timers().counted().cancelled, before);
        rig.pass(4);
        EXPECT_TRUE(journal().is({}));
        rig.pass(1);
        EXPECT_TRUE(journal().is({beats + 1}));
    }
    rig.end();
}

// DF-39, SC-2: each cause reaches the actor, with its numbers, for each kind of timer.
TEST(timer_limits, DF_39_a_refused_start_says_which_time_is_wrong) {
    clock_rig rig;
    const duration most = rig.timers().maximum_delay();
    for (const timer_mode mode : modes) {
        rig.tell(start{mode, ms(-1), ms(10)});
        ASSERT_TRUE(last_error);
        EXPECT_EQ(last_error->code, scheduler_errc::invalid_delay);
        EXPECT_EQ(last_error->value, ms(-1).ns());
        EXPECT_EQ(last_error->limit, most.ns());
        rig.tell(start{mode, ms(10), ms(10)});
        EXPECT_FALSE(last_error);
    }
    rig.end();
}
TEST(timer_limits, DF_39_a_refused_start_says_that_the_quota_is_full) {
    clock_rig rig;
    rig.fill();
    for (const timer_mode mode : modes) {
        rig.tell(start{mode, ms(10), ms(10)});
        ASSERT_TRUE(last_error);
        EXPECT_EQ(last_error->code, scheduler_errc::quota_exceeded);
        EXPECT_EQ(last_error->value, 1'000);
        EXPECT_EQ(last_error->limit, 1'000);
    }
    rig.end();
}
TEST(timer_limits, DF_39_a_refused_start_says_what_presses) {
    clock_rig rig;
    for (int i = 0; i < 2; ++i) {
        (void)rig.timers().add(
            job_request::once(ms(1), timer_priority::high).send(rig.who.index(), {}), look{});
        rig.time.advance(ms(80));
        rig.timers().run_due(rig.time.now());
    }
    ASSERT_EQ(rig.timers().pressure_now().state, backpressure_state::rejecting);
    for (const timer_mode mode : modes) {
        rig.tell(start{mode, ms(10), ms(10)});
        ASSERT_TRUE(last_error);
        EXPECT_EQ(last_error->code, scheduler_errc::backpressured);
        EXPECT_EQ(last_error->cause, backpressure_cause::driver);
    }
    rig.end();
}
TEST(timer_limits, DF_39_a_refused_start_says_that_the_scheduler_is_closed) {
    clock_rig rig;
    (void)rig.timers().shutdown();
    for (const timer_mode mode : modes) {
        rig.tell(start{mode, ms(10), ms(10)});
        ASSERT_TRUE(last_error);
        EXPECT_EQ(last_error->code, scheduler_errc::closed);
    }
    rig.end();
}
TEST(timer_limits, DF_39_an_actor_fails_with_the_sentence_of_a_refused_start) {
    clock_rig rig;
    rig.fill();
    rig.tell(start{timer_mode::single, ms(10), {}, 1, true});
    EXPECT_EQ(failed_with,
              "1000 timers are active, the quota is 1000: cancel some or choose a larger profile");
    EXPECT_EQ(rig.said.decision_count, 1u);
    rig.end();
}

// BP-2, TM-1: where all places are taken, the new one takes that of the old one.
TEST(timer_limits, BP_2_a_timer_is_replaced_at_a_full_quota) {
    clock_rig rig;
    rig.tell(start{timer_mode::single, ms(10), {}, 1});
    rig.fill();
    EXPECT_EQ(rig.timers().active_count(), 1'000u);
    const auto refused_before = rig.refused_count();
    rig.tell(start{timer_mode::fixed_rate, ms(20), ms(20), 2});
    EXPECT_TRUE(journal().is({started, started}));
    EXPECT_EQ(rig.timers().active_count(), 1'000u);
    EXPECT_EQ(rig.refused_count(), refused_before);  // BP-8
    rig.pass(40);
    EXPECT_TRUE(journal().is({beats + 2, beats + 2}));
    rig.end();
}

// BP-3, TM-1: nor does backpressure refuse what takes the place of a timer that is there.
TEST(timer_limits, BP_3_a_timer_is_replaced_while_others_are_rejected) {
    clock_rig rig;
    rig.tell(start{timer_mode::single, ms(1'000), {}, 1});
    for (int i = 0; i < 2; ++i) {
        (void)rig.timers().add(
            job_request::once(ms(1), timer_priority::high).send(rig.who.index(), {}), look{});
        rig.time.advance(ms(80));
        rig.timers().run_due(rig.time.now());
    }
    EXPECT_EQ(rig.timers().pressure_now().state, backpressure_state::rejecting);
    rig.tell(start{timer_mode::single, ms(2'000), {}, 2});
    EXPECT_TRUE(journal().is({started, is_active, is_active, started}));
    rig.pass(1'999);
    EXPECT_TRUE(journal().is({}));
    rig.pass(2);
    EXPECT_TRUE(journal().is({beats + 2}));
    rig.end();
}

namespace {

std::atomic<int> heard{0};
std::atomic<int> accepted{0};

class hasty : public actor<beat> {
public:
    void pre_start() {
        const auto single = context().start_single_timer("s", beat{1}, duration::zero());
        const auto first =
            context().start_timer_at_fixed_rate("f", beat{2}, ms(-1), duration::from_s(100));
        const auto period = context().start_timer_at_fixed_rate("p", beat{3}, duration::zero());
        accepted = (single ? 1 : 0) + (first ? 10 : 0) + (period ? 100 : 0);
    }
    void on(const beat&) { ++heard; }
};

}  // namespace

// SC-3, SC-26: with next_tick a delay of nothing comes at the next tick; a period is none.
TEST(timer_limits, SC_3_the_configuration_may_accept_a_delay_of_nothing) {
    heard = accepted = 0;
    actor_system::options o;
    o.scheduler.zero_delay = zero_delay_rule::next_tick;
    actor_system system("hasty", o);
    (void)system.spawn<hasty>("hasty");
    EXPECT_TRUE(tactus_test::until([] { return heard == 2; }));
    EXPECT_EQ(accepted, 11);
}
