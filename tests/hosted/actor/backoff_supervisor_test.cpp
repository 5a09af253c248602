// SPDX-License-Identifier: Apache-2.0
//
// Goal: an actor that stands for another one, and starts it again after a while (SV-4): on stop and
// on failure, its counts and limits, and what becomes of messages (PK-BKO-1 to PK-BKO-7).
#include <tactus/actor/backoff_supervisor.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::ms;
using tactus_test::world_rig;

namespace {

// What is written down beside the numbers that arrive.
enum : std::int32_t {
    began = 1'000,       // + the argument
    ended = 2'000,       // the supervisor did
    up = 3'000,          // + a number that came to the supervisor's parent
    from = 4'000,        // the sender was who sent
    unavailable = 5'000  // the reply of who has no child
};
// Numbers that mean something to the child.
constexpr int fails = -1;
constexpr int stops = -2;
constexpr int reset = -3;
constexpr int fails_with_a_hint = -4;
constexpr int last_words = 99;
struct note_to_parent {
    int value;
};
struct strange {
    int value;
};

class child : public actor<int, strange> {
public:
    child(int number, const std::string& text) : number_(number) { EXPECT_EQ(text, "text"); }
    void pre_start() { journal().add(began + number_); }
    std::expected<void, failure> on(int v) {
        switch (v) {
        case fails:
            return std::unexpected(failure("told to"));
        case fails_with_a_hint: {
            failure why("later");
            why.retry_after = ms(3'000);
            return std::unexpected(why);
        }
        case stops:
            context().stop();
            return {};
        case reset:
            context().parent().tell(backoff_reset{});
            return {};
        default:
            journal().add(v);
            if (sender())
                journal().add(from);
            return {};
        }
    }
    void on(const strange& m) { context().parent().tell(note_to_parent{m.value}); }

private:
    int number_;
};
using supervisor = backoff_supervisor<child, int, std::string>;

struct tell_it {
    int value;
};
/// Asks it, and is told what it says; above it.
class asker : public actor<tell_it, strange, current_child, backoff_restart_count, note_to_parent,
                           int, get_restart_count, get_current_child> {
public:
    explicit asker(const backoff_supervisor_options& how) : how_(how) {}
    void pre_start() {
        below = *context().try_spawn<supervisor>("below", {}, how_, 7, std::string("text"));
        context().watch(below);
    }
    void on(tell_it m) { below.tell(m.value); }
    void on(const strange& m) { below.tell(m); }
    void on(const get_restart_count&) { below.tell(get_restart_count{self()}); }
    void on(const get_current_child&) { below.tell(get_current_child{self()}); }
    void on(const current_child& m) { last_child = m.who; }
    void on(const backoff_restart_count& m) { last_count = static_cast<int>(m.count); }
    void on(const note_to_parent& m) {
        EXPECT_TRUE(sender() == below.any());
        journal().add(up + m.value);
    }
    void on(int v) { journal().add(v); }
    void on(const terminated& m) {
        EXPECT_TRUE(m.who == below.any());
        journal().add(ended);
    }
    static inline supervisor::reference below;
    static inline any_ref last_child;
    static inline int last_count = -1;

private:
    backoff_supervisor_options how_;
};

struct stage : world_rig {
    explicit stage(const backoff_supervisor_options& how) {
        top = spawn<asker>("top", how);
        run();
        EXPECT_TRUE(journal().is({began + 7}));
    }
    void tell(int v) {
        top.tell(tell_it{v});
        run();
    }
    any_ref current() {
        asker::last_child = any_ref(mailbox_index{1, 1});
        top.tell(get_current_child{});
        run();
        return asker::last_child;
    }
    int count() {
        asker::last_count = -1;
        top.tell(get_restart_count{});
        run();
        return asker::last_count;
    }
    bool is_over() { return !world.find("/user/top/below").valid(); }
    detail::ref_of<asker> top;
};

constexpr backoff_supervisor_options quick(backoff_on on) {
    return {.on = on, .min = ms(200), .max = ms(10'000), .random_factor = 0};
}
constexpr backoff_supervisor_options by_hand(backoff_on on) {
    backoff_supervisor_options o = quick(on);
    o.forgets = backoff_forgets::when_asked;
    return o;
}
directive always_stop(const failure_cause&) {
    return directive::stop;
}
directive always_restart(const failure_cause&) {
    return directive::restart;
}

}  // namespace

// C-BKO-1, PK-BKO-3: a child that stops is started again after the delay: another actor.
TEST(backoff_supervisor, C_BKO_1_a_child_that_stops_is_started_again) {
    stage rig(quick(backoff_on::stop));
    const any_ref first = rig.current();
    EXPECT_TRUE(static_cast<bool>(first));
    first.tell(poison_pill{});
    rig.run();
    EXPECT_FALSE(static_cast<bool>(rig.current()));
    rig.pass(198);
    EXPECT_TRUE(journal().is({}));
    rig.pass(4);
    EXPECT_TRUE(journal().is({began + 7}));
    EXPECT_TRUE(static_cast<bool>(rig.current()));
    EXPECT_TRUE(rig.current() != first);
    rig.end();
}

// SV-4, BP-3: a moment of pressure neither ends the wait for a child nor shortens it.
TEST(backoff_supervisor, BP_3_a_child_waits_while_others_are_rejected) {
    stage rig(quick(backoff_on::failure));
    scheduler& timers = *rig.timing.service();
    for (int i = 0; i < 2; ++i) {
        (void)timers.add(job_request::once(ms(1), timer_priority::high).send(rig.top.index(), {}),
                         1);
        rig.time.advance(ms(80));
        timers.run_due(rig.time.now());
    }
    EXPECT_EQ(timers.pressure_now().state, backpressure_state::rejecting);
    rig.tell(fails);
    EXPECT_EQ(rig.count(), 1);
    rig.pass(199);
    EXPECT_TRUE(journal().is({1, 1}));
    rig.pass(2);
    EXPECT_TRUE(journal().is({began + 7}));
    rig.end();
    journal().clear();
}

// SV-4: where there is no place at all the supervisor ends with its child.
TEST(backoff_supervisor, SV_4_a_refused_timer_ends_it) {
    stage rig(quick(backoff_on::failure));
    while (rig.timing.service()->schedule_once(ms(1'000'000), rig.top.index(), 1)) {
    }
    rig.tell(fails);
    rig.pass(1'000);
    EXPECT_TRUE(journal().is({ended}));
    EXPECT_TRUE(rig.is_over());
    rig.end();
}

// C-BKO-2, PK-BKO-2: messages go to the child, with their senders.
TEST(backoff_supervisor, C_BKO_2_messages_go_to_the_child) {
    for (const backoff_on on : {backoff_on::stop, backoff_on::failure}) {
        stage rig(quick(on));
        rig.tell(5);
        EXPECT_TRUE(journal().is({5, from}));
        asker::below.tell(6);  // from outside: nobody is the sender
        rig.run();
        EXPECT_TRUE(journal().is({6}));
        rig.end();
    }
}

// C-BKO-3: a strategy that stops, on stop; one that restarts, on failure: a new instance.
TEST(backoff_supervisor, C_BKO_3_with_a_decider_of_its_own) {
    for (const backoff_on on : {backoff_on::stop, backoff_on::failure}) {
        backoff_supervisor_options o = quick(on);
        o.decider = on == backoff_on::stop ? &always_stop : &always_restart;
        stage rig(o);
        const any_ref first = rig.current();
        rig.tell(fails);
        EXPECT_TRUE(journal().is({}));
        rig.pass(202);
        EXPECT_TRUE(journal().is({began + 7}));
        EXPECT_TRUE(rig.current() != first);
        rig.end();
    }
}

// C-BKO-4: with a strategy that stops everything: counted. C-BKO-5: until it is asked to forget, by
// its child or anybody; who forgets by itself does not know that (PK-BKO-4).
TEST(backoff_supervisor, C_BKO_4_C_BKO_5_counts_and_forgets) {
    for (const backoff_on on : {backoff_on::stop, backoff_on::failure}) {
        backoff_supervisor_options o = by_hand(on);
        if (on == backoff_on::stop)
            o.decider = &stopping_decider;
        stage rig(o);
        EXPECT_EQ(rig.count(), 0);
        rig.tell(fails);
        rig.pass(202);
        EXPECT_EQ(rig.count(), 1);
        rig.pass(10'000);
        EXPECT_EQ(rig.count(), 1);
        rig.tell(reset);
        EXPECT_EQ(rig.count(), 0);
        EXPECT_EQ(rig.said.unhandled_count, 0u);
        rig.end();
    }
    stage rig(quick(backoff_on::stop));
    rig.tell(reset);
    EXPECT_EQ(rig.said.unhandled_count, 1u);
    rig.end();
    journal().clear();
}

// PK-BKO-4: by itself it forgets a while after a start, and not while there is no child.
TEST(backoff_supervisor, PK_BKO_4_forgets_by_itself) {
    backoff_supervisor_options o = quick(backoff_on::stop);
    o.reset_after = ms(500);
    stage rig(o);
    rig.tell(stops);
    rig.pass(202);
    rig.tell(stops);  // delay 400
    EXPECT_EQ(rig.count(), 2);
    rig.pass(402);
    EXPECT_EQ(rig.count(), 2);
    rig.tell(stops);  // delay 800: longer than what it forgets after
    rig.pass(700);
    EXPECT_EQ(rig.count(), 3);
    rig.pass(110);
    EXPECT_EQ(rig.count(), 3);
    rig.pass(500);
    EXPECT_EQ(rig.count(), 0);
    journal().clear();
    rig.tell(stops);
    rig.pass(202);
    EXPECT_TRUE(journal().is({began + 7}));
    rig.end();
}

// C-BKO-8: after the last retry it ends itself.
TEST(backoff_supervisor, C_BKO_8_retries_are_limited) {
    for (const backoff_on on : {backoff_on::stop, backoff_on::failure}) {
        backoff_supervisor_options o = by_hand(on);
        o.max_retries = 2;
        if (on == backoff_on::stop)
            o.decider = &stopping_decider;
        stage rig(o);
        for (int i = 1; i <= 2; ++i) {
            rig.tell(fails);
            rig.pass(200 * i + 2);
            EXPECT_EQ(rig.count(), i);
            EXPECT_TRUE(journal().is({began + 7}));
        }
        rig.tell(fails);
        EXPECT_TRUE(journal().is({ended}));
        EXPECT_TRUE(rig.is_over());
        rig.end();
    }
}

// C-BKO-9, PK-BKO-6: a message after which it ends with its child; at once when there is none.
TEST(backoff_supervisor, C_BKO_9_the_final_stop_message) {
    backoff_supervisor_options o = quick(backoff_on::stop);
    o.final_stop_message = [](envelope& e) {
        const int* v = e.get_if<int>();
        return v != nullptr && *v == last_words;
    };
    {
        stage rig(o);
        rig.tell(last_words);
        EXPECT_TRUE(journal().is({last_words, from}));
        EXPECT_FALSE(rig.is_over());
        rig.tell(stops);
        EXPECT_TRUE(journal().is({ended}));
        EXPECT_TRUE(rig.is_over());
        rig.end();
    }
    stage rig(o);
    rig.tell(stops);
    rig.tell(5);
    EXPECT_EQ(rig.said.dead_letters, 1u);
    EXPECT_EQ(rig.said.dead_numbers[0], 5);
    EXPECT_FALSE(rig.is_over());
    rig.tell(last_words);
    EXPECT_TRUE(journal().is({ended}));
    EXPECT_TRUE(rig.is_over());
    EXPECT_EQ(rig.timing.pending(), 0u);
    rig.end();
}

// C-BKO-10: on failure a child that stops itself ends its supervisor.
TEST(backoff_supervisor, C_BKO_10_on_failure_a_stop_is_the_end) {
    stage rig(quick(backoff_on::failure));
    rig.tell(stops);
    EXPECT_TRUE(journal().is({ended}));
    rig.end();
}

// C-BKO-10: the delays double; there is one child at a time.
TEST(backoff_supervisor, C_BKO_10_the_delays_double) {
    stage rig(by_hand(backoff_on::failure));
    for (const int delay : {200, 400, 800, 1'600}) {
        rig.tell(fails);
        rig.pass(delay - 2);
        EXPECT_TRUE(journal().is({}));
        rig.pass(4);
        EXPECT_TRUE(journal().is({began + 7}));
        EXPECT_TRUE(rig.world.find("/user/top/below/child").valid());
    }
    rig.end();
}

// C-BKO-11: on failure, what the decider stops ends the supervisor. PK-BKO-2: what the child says
// to it goes to its parent, from it.
TEST(backoff_supervisor, C_BKO_11_stopped_by_the_decider_and_words_to_the_parent) {
    backoff_supervisor_options o = quick(backoff_on::failure);
    o.decider = &always_stop;
    stage rig(o);
    rig.top.tell(strange{5});
    rig.run();
    EXPECT_TRUE(journal().is({up + 5}));
    rig.tell(fails);
    EXPECT_TRUE(journal().is({ended}));
    rig.end();
}

namespace {

class holder : public actor<int> {
public:
    std::expected<void, failure> on(int) { return std::unexpected(failure("told to")); }
};

}  // namespace

// C-BKO-12, PK-BKO-7: while the old child still ends, it is the child, and nothing is counted.
TEST(backoff_supervisor, C_BKO_12_while_the_old_child_ends) {
    world_rig rig;
    const auto s = rig.spawn<backoff_supervisor<holder>>("s", by_hand(backoff_on::failure));
    class listener : public actor<current_child, backoff_restart_count> {
    public:
        void on(const current_child& m) { asker::last_child = m.who; }
        void on(const backoff_restart_count& m) { asker::last_count = static_cast<int>(m.count); }
    };
    const auto l = rig.spawn<listener>("l");
    const auto ask = [&] {
        s.tell(get_current_child{l});
        s.tell(get_restart_count{l});
        rig.run();
    };
    ask();
    const any_ref old = asker::last_child;
    // It is decided, and the child has not ended: what is asked now is answered before that.
    s.tell(1);
    while (rig.said.decision_count == 0 && rig.kernel.run_once()) {
    }
    ask();
    EXPECT_TRUE(asker::last_child == old);
    EXPECT_EQ(asker::last_count, 0);
    rig.pass(202);
    ask();
    EXPECT_TRUE(static_cast<bool>(asker::last_child));
    EXPECT_TRUE(asker::last_child != old);
    EXPECT_EQ(asker::last_count, 1);
    rig.end();
}

// C-BKO-13: six failures with five retries; three within a second, counted anew after it; and a
// window that is always over.
TEST(backoff_supervisor, C_BKO_13_retries_within_a_window) {
    {
        backoff_supervisor_options o = by_hand(backoff_on::failure);
        o.min = o.max = ms(10);
        o.max_retries = 5;
        stage rig(o);
        for (int i = 0; i < 5; ++i) {
            rig.tell(fails);
            rig.pass(12);
        }
        EXPECT_FALSE(rig.is_over());
        rig.tell(fails);
        EXPECT_TRUE(rig.is_over());
        rig.end();
    }
    {
        backoff_supervisor_options o = by_hand(backoff_on::failure);
        o.min = o.max = ms(10);
        o.max_retries = 3;
        o.within = ms(1'000);
        stage rig(o);
        for (int i = 0; i < 3; ++i) {
            rig.tell(fails);
            rig.pass(12);
        }
        rig.pass(1'000);
        for (int i = 0; i < 3; ++i) {
            rig.tell(fails);
            rig.pass(12);
            EXPECT_FALSE(rig.is_over());
        }
        rig.tell(fails);
        EXPECT_TRUE(rig.is_over());
        rig.end();
    }
    {
        backoff_supervisor_options o = by_hand(backoff_on::failure);
        o.min = o.max = ms(100);
        o.max_retries = 3;
        o.within = ms(10);
        stage rig(o);
        for (int i = 0; i < 20; ++i) {
            rig.tell(fails);
            rig.pass(102);
        }
        EXPECT_FALSE(rig.is_over());
        rig.end();
    }
    journal().clear();
}

// PK-BKO-6: while there is no child somebody else may answer, or handle.
TEST(backoff_supervisor, PK_BKO_6_while_there_is_no_child) {
    class handler : public actor<int> {
    public:
        void on(int v) {
            journal().add(up + v);
            journal().add(sender() ? 1 : 0);
        }
    };
    {
        backoff_supervisor_options o = quick(backoff_on::stop);
        o.reply_while_stopped = [](any_ref to) { to.tell(int{unavailable}); };
        stage rig(o);
        rig.tell(stops);
        rig.tell(5);
        EXPECT_TRUE(journal().is({unavailable}));
        asker::below.tell(6);  // nobody to reply to
        rig.run();
        EXPECT_EQ(rig.said.dead_letters, 1u);
        rig.end();
    }
    static any_ref other;
    class outer : public actor<int> {
    public:
        void pre_start() {
            other = context().try_spawn<handler>("handler", {})->any();
            backoff_supervisor_options o = quick(backoff_on::stop);
            o.handler_while_stopped = other;
            below_ = *context().try_spawn<supervisor>("below", {}, o, 7, std::string("text"));
        }
        void on(int v) { below_.tell(v); }

    private:
        supervisor::reference below_;
    };
    world_rig rig;
    const auto top = rig.spawn<outer>("outer");
    rig.run();
    journal().clear();
    top.tell(int{stops});
    rig.run();
    top.tell(8);
    rig.run();
    EXPECT_TRUE(journal().is({up + 8, 1}));
    rig.end();
}

// SV-4: what a failure says about when to try again is respected, in both ways.
TEST(backoff_supervisor, SV_4_retry_after_is_a_hint) {
    for (const backoff_on on : {backoff_on::stop, backoff_on::failure}) {
        backoff_supervisor_options o = quick(on);
        if (on == backoff_on::stop)
            o.decider = &stopping_decider;
        stage rig(o);
        rig.tell(fails_with_a_hint);
        rig.pass(2'990);
        EXPECT_TRUE(journal().is({}));
        rig.pass(20);
        EXPECT_TRUE(journal().is({began + 7}));
        rig.tell(on == backoff_on::stop ? stops : fails);  // it held for that one failure
        rig.pass(1'000);
        EXPECT_TRUE(journal().is({began + 7}));
        rig.end();
    }
}

// PK-BKO-1: what makes no sense is a failure to begin.
TEST(backoff_supervisor, PK_BKO_1_options_are_checked) {
    const backoff_supervisor_options bad[] = {
        {},
        {.min = ms(2), .max = ms(1)},
        {.min = ms(2), .max = ms(4), .random_factor = 2},
        {.min = ms(2), .max = ms(4), .reset_after = ms(1)},
        {.min = ms(2), .max = ms(4), .reset_after = ms(5)},
    };
    for (const backoff_supervisor_options& o : bad) {
        world_rig rig;
        EXPECT_NE(o.fault(), nullptr);
        (void)rig.spawn<supervisor>("s", o, 7, std::string("text"));
        rig.run();
        EXPECT_EQ(rig.said.decision_count, 1u);
        EXPECT_EQ(rig.said.decisions[0].why, failure_kind::initialization);
        rig.end();
    }
    EXPECT_EQ(quick(backoff_on::stop).fault(), nullptr);
}

// AC-8: what every actor understands is for itself, not for its child.
TEST(backoff_supervisor, AC_8_kill_is_for_itself) {
    stage rig(quick(backoff_on::failure));
    asker::below.any().tell(tactus::kill{});
    rig.run();
    EXPECT_TRUE(rig.is_over());  // kill stops
    rig.end();
    journal().clear();
}
