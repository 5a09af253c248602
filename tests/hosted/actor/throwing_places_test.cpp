// SPDX-License-Identifier: Apache-2.0
//
// Goal: what copies, moves, conversions and comparisons of messages throw fails the call, the actor
// or the ask, and never ends the process.
#include <tactus/actor/actor.hpp>
#include <tactus/actor/ask.hpp>
#include <tactus/actor/behavior.hpp>
#include <tactus/actor/task.hpp>

#include <gtest/gtest.h>

#include <exception>
#include <stdexcept>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::world_rig;

namespace {

/// Throws when it is moved for the n-th time; 0: never.
struct fragile {
    static inline int moves_left = 0;
    fragile() = default;
    fragile(const fragile&) { moved(); }
    fragile(fragile&&) { moved(); }  // NOLINT(*noexcept-move*): that is what is tested
    fragile& operator=(const fragile&) = default;
    fragile& operator=(fragile&&) = default;
    ~fragile() = default;
    static void moved() {
        if (moves_left != 0 && --moves_left == 0)
            throw std::runtime_error("a move");
    }
    friend bool operator==(const fragile&, const fragile&) {
        throw std::runtime_error("a comparison");
    }
};
/// Throws when it is made of a number.
struct made_of_number {
    made_of_number(int) {  // NOLINT(google-explicit-constructor): that is what is tested
        throw std::runtime_error("a conversion");
    }
};
/// Has no text.
struct silent : std::exception {
    [[nodiscard]] const char* what() const noexcept override { return nullptr; }
};

class taker : public actor<made_of_number, fragile> {
public:
    void on(const made_of_number&) { journal().add(1); }
    void on(const fragile&) { journal().add(2); }
};

enum : std::int32_t { failed_so = 100 };

class watcher : public actor<int, fragile> {
public:
    explicit watcher(any_ref of) : of_(of) {}
    void on(int what) {
        fragile message;
        switch (what) {
        case 1:
            fragile::moves_left = 2;
            context().watch_with(of_, std::move(message));
            break;
        case 2:
            fragile::moves_left = 3;
            (void)context().start_single_timer(1, std::move(message), duration::from_ms(1));
            break;
        case 3:
            context().watch_with(of_, fragile());
            context().watch_with(of_, fragile());
            break;
        case 4:
            throw silent();
        default:
            break;
        }
        journal().add(what);
    }
    void on(const fragile&) {}
    void post_restart(const failure_cause& why) {
        journal().add(failed_so + static_cast<std::int32_t>(why.kind()));
    }

private:
    any_ref of_;
};

constexpr auto by_exception = failed_so + static_cast<std::int32_t>(failure_kind::exception);
constexpr auto by_return = failed_so + static_cast<std::int32_t>(failure_kind::returned);

struct question {
    actor_ref<fragile> reply_to;
};
class answering : public actor<question> {
public:
    void on(const question& q) { q.reply_to.tell(fragile()); }
};
class asking : public actor<int> {
public:
    explicit asking(actor_ref<question> whom) : whom_(whom) {}
    task<void> on(int moves) {
        const actor_ref<question> whom = whom_;
        fragile::moves_left = moves;
        const auto got = co_await context().ask<fragile>(
            whom, [](actor_ref<fragile> to) { return question{to}; }, duration::from_ms(10));
        fragile::moves_left = 0;
        journal().add(got ? 1 : -1 - static_cast<int>(got.error().what));
    }

private:
    actor_ref<question> whom_;
};

}  // namespace

// DF-44
TEST(throwing_places, DF_44_a_conversion_that_throws_loses_the_message) {
    world_rig rig;
    const auto to = rig.spawn<taker>("taker");
    to.tell(5);
    to.tell(5, any_ref());
    EXPECT_THROW((void)to.try_tell(5), std::runtime_error);
    rig.run();
    EXPECT_TRUE(journal().is({}));
    rig.end();
}

TEST(throwing_places, DF_44_a_refused_message_whose_copy_throws_is_the_callers_exception) {
    world_rig rig;
    const auto to = rig.spawn<taker>("taker");
    EXPECT_TRUE(rig.world.stop(to.index()));
    rig.run();
    const fragile message;
    fragile::moves_left = 1;
    EXPECT_THROW((void)to.try_tell(message), std::runtime_error);
    fragile::moves_left = 0;
    rig.end();
}

TEST(throwing_places, DF_44_contexts_calls_and_texts_that_throw_fail_the_actor) {
    for (const int what : {1, 2, 3, 4}) {
        SCOPED_TRACE(what);
        journal().clear();
        fragile::moves_left = 0;
        world_rig rig;
        const auto other = rig.spawn<taker>("taker");
        const auto a = rig.spawn<watcher>("watcher", any_ref(other));
        a.tell(what);
        rig.run();
        fragile::moves_left = 0;
        if (what == 3) {
            EXPECT_TRUE(journal().is({3, by_return}));
        } else {
            EXPECT_TRUE(journal().is({by_exception}));
        }
        rig.end();
    }
}

namespace {

struct begin {
    int n;
};
/// Schedules a message, of which one move throws.
class scheduling : public actor<begin, fragile, made_of_number> {
public:
    void on(const begin& first) {
        const int n = first.n;
        const auto note = [](const auto& made) {
            fragile::moves_left = 0;
            const bool thrown = !made && made.error().code == scheduler_errc::construction_failed;
            journal().add(made ? 1 : thrown ? 2 : 3);
        };
        const duration soon = duration::from_ms(1);
        fragile message;
        fragile::moves_left = n;
        // Those of the context take the message by value: what that throws is the handler's.
        const typed_scheduler timers = context().timers();
        note(timers.schedule_once(soon, self(), message));
        fragile::moves_left = n;
        note(timers.schedule_at_fixed_rate(soon, soon, self(), std::move(message)));
        fragile::moves_left = n;
        note(timers.schedule_with_fixed_delay(soon, soon, self(), std::move(message)));
        note(timers.schedule_once(soon, self(), 5));
    }
    void on(const fragile&) {}
    void on(const made_of_number&) {}
};

/// An answer, none, or a failure by what was thrown; the journal is empty afterwards.
bool has_one_outcome() {
    const bool one = journal().count() == 1;
    const std::int32_t first = journal().at(0);
    journal().clear();
    return one && (first == 1 || first == 2 || first == by_exception);
}

/// Asks with a function, and ends another with a message, of which one move throws.
class moving : public actor<int, bool> {
public:
    explicit moving(actor_ref<question> whom) : whom_(whom) {}
    task<void> on(int n) {
        const auto make = [kept = fragile()](actor_ref<fragile> to) { return question{to}; };
        const actor_ref<question> whom = whom_;
        fragile::moves_left = n;
        const auto got = co_await context().ask<fragile>(whom, make, duration::from_ms(10));
        fragile::moves_left = 0;
        journal().add(got ? 1 : 2);
    }
    task<void> on(bool n) {
        const fragile last;
        const any_ref whom(whom_);
        fragile::moves_left = n ? 1 : 2;
        const bool ended = co_await context().graceful_stop(whom, duration::from_ms(10), last);
        fragile::moves_left = 0;
        journal().add(ended ? 1 : 2);
    }
    void post_restart(const failure_cause& why) {
        fragile::moves_left = 0;
        journal().add(failed_so + static_cast<std::int32_t>(why.kind()));
    }

private:
    actor_ref<question> whom_;
};

}  // namespace

// DF-44: a message that is scheduled is copied, moved and converted by the user's code.
TEST(throwing_places, DF_44_scheduling_a_message_that_throws_is_refused) {
    for (int n = 1; n <= 4; ++n) {
        SCOPED_TRACE(n);
        journal().clear();
        world_rig rig;
        rig.spawn<scheduling>("a").tell(begin{n});
        rig.run();
        const std::int32_t made = n == 1 ? 2 : 1;  // one copy or move each
        EXPECT_TRUE(journal().is({made, made, made, 2}));
        rig.end();
    }
}

// DF-44: whichever move of the function throws, the question or its actor fails.
TEST(throwing_places, DF_44_functions_and_messages_of_waits_may_throw_when_they_are_moved) {
    for (int n = 1; n <= 8; ++n) {
        SCOPED_TRACE(n);
        journal().clear();
        world_rig rig;
        const auto whom = rig.spawn<answering>("whom");
        const auto a = rig.spawn<moving>("a", whom);
        a.tell(n);
        rig.run();
        rig.pass(20);
        EXPECT_TRUE(has_one_outcome());
        a.tell(n % 2 == 0);
        rig.run();
        rig.pass(20);
        EXPECT_TRUE(has_one_outcome());
        rig.end();
    }
}

// DF-44: a behavior is moved where nothing may throw; what its functions captured lies in a block.
TEST(throwing_places, DF_44_a_behavior_whose_captures_throw_fails_who_makes_it) {
    unsigned thrown = 0;
    for (int n = 1; n <= 8; ++n) {
        SCOPED_TRACE(n);
        world_rig rig;
        fragile::moves_left = n;
        try {
            const behavior<int> first([kept = fragile()](auto&, int v) { journal().add(v); });
            behavior<int> second(first);
            behavior<int> third(std::move(second));
            fragile::moves_left = 0;
            auto request = detail::request_for<functional_actor<int>>(rig.memory, "b", {}, third);
            const auto made = rig.world.spawn_top(*request);
            ASSERT_TRUE(made.has_value());
            rig.run();
            actor_ref<int>(any_ref(*made)).tell(n);
            rig.run();
            EXPECT_TRUE(journal().is({n}));
        } catch (const std::runtime_error&) {
            ++thrown;
        }
        fragile::moves_left = 0;
        rig.end();
    }
    EXPECT_GT(thrown, 0u);
    EXPECT_LT(thrown, 8u);
}

// DF-16:
// Whichever move throws, the question ends; a reply that arrived and could not be moved says so.
TEST(throwing_places, DF_16_a_reply_whose_move_throws_fails_the_ask) {
    int failed = 0;
    for (int moves = 0; moves < 6; ++moves) {
        SCOPED_TRACE(moves);
        journal().clear();
        world_rig rig;
        const auto whom = rig.spawn<answering>("answering");
        const auto a = rig.spawn<asking>("asking", actor_ref<question>(whom));
        a.tell(moves);
        rig.run();
        rig.pass(20);
        fragile::moves_left = 0;
        ASSERT_EQ(journal().count(), 1u);
        failed += journal().at(0) == -1 - static_cast<int>(ask_fault::reply_failed) ? 1 : 0;
        journal().clear();
        rig.end();
    }
    EXPECT_GE(failed, 2);
}
