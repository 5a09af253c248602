// SPDX-License-Identifier: Apache-2.0
//
// Goal: handlers that are coroutines: they wait, others wait for them or not, they fail, they end
// with their actor (AC-2).
#include <tactus/actor/ask.hpp>

#include <gtest/gtest.h>

#include <stdexcept>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::ms;
using tactus_test::world_rig;

namespace {

/// A message that says when it ends.
struct parcel {
    explicit parcel(int n) noexcept : number(n) {}
    parcel(parcel&& other) noexcept : number(other.number) { other.number = 0; }
    parcel& operator=(parcel&&) = delete;
    ~parcel() {
        if (number != 0)
            journal().add(1'000 + number);
    }
    int number;
};

/// Takes ten milliseconds for each parcel.
class carrier : public actor<parcel, int> {
public:
    task<> on(const parcel& p) {
        journal().add(p.number);
        const auto passed = co_await context().delay(ms(10));
        journal().add(passed ? p.number + 10 : -1);
        if (p.number == 5)
            throw std::runtime_error("lost a parcel");
    }
    void on(int v) { journal().add(v); }
    void pre_restart(const failure_cause& why) {
        journal().add(why.text() == "lost a parcel" ? 500 : 501);
    }
    void post_stop() { journal().add(600); }
};
class busy_carrier : public carrier {
public:
    static constexpr bool reentrant = true;
};
class plain_carrier : public carrier {
public:
    static constexpr bool reentrant = false;
};

}  // namespace

// AC-2: while a handler waits others do; its message lives as long as it does.
TEST(coroutine_handlers, AC_2_others_wait_for_a_handler_that_waits) {
    world_rig rig;
    const auto c = rig.spawn<carrier>("c");
    c.tell(parcel(1));
    c.tell(77);
    rig.run();
    EXPECT_TRUE(journal().is({1}));
    rig.pass(9);
    EXPECT_TRUE(journal().is({}));
    rig.pass(2);
    EXPECT_TRUE(journal().is({11, 1'001, 77}));
    rig.end();
    journal().clear();
}

// AC-2: a reentrant actor handles others meanwhile.
TEST(coroutine_handlers, AC_2_a_reentrant_actor_handles_others_meanwhile) {
    world_rig rig;
    const auto c = rig.spawn<busy_carrier>("c");
    c.tell(parcel(1));
    c.tell(77);
    c.tell(parcel(2));
    rig.run();
    EXPECT_TRUE(journal().is({1, 77, 2}));
    rig.pass(12);
    EXPECT_TRUE(journal().is({11, 1'001, 12, 1'002}));
    rig.end();
    journal().clear();
}

// AC-2: one that says it is not reentrant is none.
TEST(coroutine_handlers, AC_2_reentrant_may_be_said_to_be_false) {
    world_rig rig;
    const auto c = rig.spawn<plain_carrier>("c");
    c.tell(parcel(1));
    c.tell(77);
    rig.run();
    EXPECT_TRUE(journal().is({1}));
    rig.pass(12);
    EXPECT_TRUE(journal().is({11, 1'001, 77}));
    rig.end();
    journal().clear();
}

// AC-2, SV-3: an exception after a wait is a failure as any other; what waits goes on afterwards.
TEST(coroutine_handlers, AC_2_a_failure_after_a_wait) {
    world_rig rig;
    const auto c = rig.spawn<carrier>("c");
    c.tell(parcel(5));
    c.tell(77);
    rig.run();
    rig.pass(12);
    // The message is kept for pre_restart.
    EXPECT_TRUE(journal().is({5, 15, 500, 1'005, 77}));
    EXPECT_TRUE(rig.said.decisions[0].why == failure_kind::exception);
    rig.end();
    journal().clear();
}

// AC-2: coroutines end before post_stop, newest first; their timers, too.
TEST(coroutine_handlers, AC_2_coroutines_end_before_post_stop_newest_first) {
    world_rig rig;
    const auto c = rig.spawn<busy_carrier>("c");
    c.tell(parcel(1));
    c.tell(parcel(2));
    c.tell(parcel(3));
    rig.run();
    journal().clear();
    (void)rig.world.stop(c.index());
    rig.run();
    EXPECT_TRUE(journal().is({1'003, 1'002, 1'001, 600}));
    EXPECT_EQ(rig.timing.pending(), 0u);
    rig.end();
}

// AC-2: coroutine x suspend: one that is held back by supervision goes on afterwards.
TEST(coroutine_handlers, AC_2_a_continuation_waits_for_supervision) {
    world_rig rig;
    const auto c = rig.spawn<carrier>("c");
    c.tell(parcel(1));
    rig.run();
    journal().clear();
    (void)rig.kernel->suspend(c.index(), suspension::supervision);
    rig.pass(15);
    EXPECT_TRUE(journal().is({}));
    (void)rig.kernel->resume(c.index(), suspension::supervision);
    rig.run();
    EXPECT_TRUE(journal().is({11, 1'001}));
    rig.end();
    journal().clear();
}

// AC-2: a handler that does not wait is as any other; one that fails at once, too.
TEST(coroutine_handlers, AC_2_a_coroutine_that_does_not_wait) {
    class quick : public actor<int> {
    public:
        task<std::expected<void, failure>> on(int v) {
            journal().add(v);
            if (v == 3)
                co_return std::unexpected(failure(3, "three"));
            co_return {};
        }
        void pre_restart(const failure_cause& why) { journal().add(why.code() * 100); }
    };
    world_rig rig;
    const auto q = rig.spawn<quick>("q");
    for (const int v : {1, 3, 2})
        q.tell(v);
    rig.run();
    EXPECT_TRUE(journal().is({1, 3, 300, 2}));
    rig.end();
}

namespace {

struct total {
    actor_ref<int> reply_to;
};
actor_ref<int> late_one;
class answering : public actor<total> {
public:
    explicit answering(int how) : how_(how) {}
    void on(const total& m) {
        if (how_ != 0)
            m.reply_to.tell(how_);
        else
            late_one = m.reply_to;
    }

private:
    int how_;
};
struct question {
    any_ref target;
    int timeout_ms;
};
class asking : public actor<question> {
public:
    task<> on(const question& q) {
        const auto answer = co_await ask<int>(
            q.target, [](actor_ref<int> me) { return total{me}; }, ms(q.timeout_ms));
        journal().add(answer ? *answer : -1 - static_cast<int>(answer.error().what));
    }
};

}  // namespace

// AS-1, C-ASK-1, C-ASK-4, C-ASK-10: asked by a coroutine; the first reply counts.
TEST(coroutine_handlers, AS_1_a_coroutine_asks) {
    world_rig rig;
    const auto good = rig.spawn<answering>("good", 42);
    const auto mute = rig.spawn<answering>("mute", 0);
    const auto a = rig.spawn<asking>("a");
    a.tell(question{good, 10});
    rig.run();
    EXPECT_TRUE(journal().is({42}));
    EXPECT_EQ(rig.timing.pending(), 0u);  // the timer was cancelled
    a.tell(question{mute, 10});
    rig.run();
    EXPECT_TRUE(journal().is({}));
    rig.pass(12);
    EXPECT_TRUE(journal().is({-1 - static_cast<int>(ask_fault::timeout)}));
    const std::uint32_t before = rig.said.dead_letters;
    late_one.tell(5);  // C-ASK-9: a late reply is a dead letter
    rig.run();
    EXPECT_EQ(rig.said.dead_letters, before + 1);
    a.tell(question{mute, 0});
    rig.run();
    EXPECT_TRUE(journal().is({-1 - static_cast<int>(ask_fault::invalid_timeout)}));
    (void)rig.world.stop(good.index());
    rig.run();
    a.tell(question{good, 10});
    rig.run();
    EXPECT_TRUE(journal().is({-1 - static_cast<int>(ask_fault::target_terminated)}));
    rig.end();
}

// AS-1: who asks ends: the question with it.
TEST(coroutine_handlers, AS_1_a_question_ends_with_who_asked) {
    world_rig rig;
    const auto mute = rig.spawn<answering>("mute", 0);
    const auto a = rig.spawn<asking>("a");
    a.tell(question{mute, 1'000});
    rig.run();
    EXPECT_EQ(rig.timing.pending(), 1u);
    (void)rig.world.stop(a.index());
    rig.run();
    EXPECT_EQ(rig.timing.pending(), 0u);
    late_one.tell(5);
    rig.run();
    EXPECT_TRUE(journal().is({}));
    rig.end();
}

namespace {

world_rig* hasty_rig = nullptr;

/// Its time is over while it makes the question, and who it asks has ended.
class hasty : public actor<any_ref> {
public:
    task<> on(any_ref target) {
        const auto said = co_await context().ask<int>(
            target,
            [](actor_ref<int>) {
                hasty_rig->time.advance(ms(5));
                hasty_rig->timing.service()->run_due(hasty_rig->time.now());
                return 1;
            },
            ms(1));
        journal().add(said ? 0 : static_cast<std::int32_t>(said.error().what));
    }
};

}  // namespace

// AS-1: the time is over before the question is refused: one end, and one wake.
TEST(coroutine_handlers, AS_1_a_question_that_is_late_and_refused) {
    world_rig rig;
    hasty_rig = &rig;
    const auto gone = rig.spawn<carrier>("gone");
    const auto h = rig.spawn<hasty>("h");
    rig.run();
    (void)rig.world.stop(gone.index());
    rig.run();
    journal().clear();
    h.tell(any_ref(gone));
    rig.run();
    EXPECT_TRUE(journal().is({static_cast<std::int32_t>(ask_fault::target_terminated)}));
    rig.end();
}
