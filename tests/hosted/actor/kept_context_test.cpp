// SPDX-License-Identifier: Apache-2.0
//
// Goal: a context that is kept is its actor's in every turn of it, across waits, for as long as the
// instance lives; a use after that is a check with a number, never another actor (AC-5, DF-7).
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>

#include <tactus/actor/actor.hpp>
#include <tactus/runtime/actor_system.hpp>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using namespace tactus_test;

namespace {

constexpr duration ms(int n) {
    return duration::from_ms(n);
}

struct begin {};
struct look {};
struct fall {};

std::atomic<unsigned> right{0};
std::atomic<unsigned> wrong{0};

/// Has waits with a copy of its context, as docs/actors.md shows it.
class waiting : public actor<begin, any_ref> {
public:
    void on(begin) {
        context().pipe_to_self(waits(context(), self().any()), [](any_ref who) { return who; });
    }
    void on(any_ref who) { (who == self().any() ? right : wrong).fetch_add(1); }

private:
    static task<any_ref> waits(actor_context ctx, any_ref me) {
        for (int i = 0; i < 5; ++i) {
            (void)co_await ctx.delay(duration::from_us(10));
            if (ctx.self() != me)
                wrong.fetch_add(1);
        }
        co_return ctx.self();
    }
};

std::optional<actor_context> kept;

/// Keeps its context, and uses the one that is kept.
class keeper : public actor<begin, look, fall> {
public:
    void on(begin) { kept = context(); }
    void on(look) { seen = kept->self(); }
    void on(fall) { context().fail(failure("told to")); }
    static inline any_ref seen;
};

/// Its frame uses a copy of its context when it is destroyed.
class at_the_end : public actor<begin, fall> {
public:
    static constexpr bool reentrant = true;
    task<> on(begin) {
        struct last_word {
            actor_context ctx;
            ~last_word() { keeper::seen = ctx.self(); }
        };
        const last_word word{context()};
        (void)co_await context().delay(ms(1'000));
    }
    void on(fall) { context().fail(failure("told to")); }
};

}  // namespace

// DF-7
TEST(kept_context, DF_7_names_its_actor_after_waits_on_any_thread) {
    right = 0;
    wrong = 0;
    constexpr unsigned count = 200;
    {
        actor_system system("kept");
        for (unsigned i = 0; i < count; ++i)
            system.spawn_anonymous<waiting>().tell(begin{});
        while (right.load() + wrong.load() < count)
            std::this_thread::yield();
    }
    EXPECT_EQ(right.load(), count);
    EXPECT_EQ(wrong.load(), 0u);
}

// DF-7
TEST(kept_context, DF_7_works_in_a_later_turn_of_its_actor) {
    world_rig rig;
    const auto one = rig.spawn<keeper>("one");
    const auto two = rig.spawn<keeper>("two");
    one.tell(begin{});
    rig.run();
    two.tell(fall{});
    rig.run();
    one.tell(look{});
    rig.run();
    EXPECT_EQ(keeper::seen, one.any());
    kept.reset();
    rig.end();
}

// DF-7: coroutines end before their instance, by a restart and by a stop.
TEST(kept_context, DF_7_works_in_destructors_of_a_frame) {
    for (const bool restarts : {true, false}) {
        keeper::seen = {};
        world_rig rig;
        const auto one = rig.spawn<at_the_end>("one");
        one.tell(begin{});
        rig.run();
        if (restarts)
            one.tell(fall{});
        else
            one.any().tell(poison_pill{});
        rig.run();
        EXPECT_EQ(keeper::seen, one.any());
        rig.end();
    }
}

// DF-7
TEST(kept_context_death, DF_7_a_use_elsewhere_is_a_check) {
    world_rig rig;
    const auto one = rig.spawn<keeper>("one");
    const auto two = rig.spawn<keeper>("two");
    one.tell(begin{});
    rig.run();
    EXPECT_DEATH((void)kept->self(), "actor_context:3");
    two.tell(look{});
    EXPECT_DEATH(rig.run(), "actor_context:4");
    kept.reset();
}

// DF-7
TEST(kept_context_death, DF_7_a_use_after_a_restart_is_a_check) {
    world_rig rig;
    const auto one = rig.spawn<keeper>("one");
    one.tell(begin{});
    one.tell(fall{});
    rig.run();
    one.tell(look{});
    EXPECT_DEATH(rig.run(), "actor_context:5");
    kept.reset();
}

// DF-7: an actor in the slot of the one that has ended.
TEST(kept_context_death, DF_7_a_use_by_the_next_actor_in_the_slot_is_a_check) {
    world_rig rig;
    auto one = rig.spawn<keeper>("one");
    const std::uint32_t slot = one.any().index().slot_number();
    one.tell(begin{});
    one.any().tell(poison_pill{});
    rig.run();
    for (int i = 0; i < 1'000; ++i) {
        one = rig.spawn<keeper>("again");
        rig.run();
        if (one.any().index().slot_number() == slot)
            break;
        one.any().tell(poison_pill{});
        rig.run();
    }
    ASSERT_EQ(one.any().index().slot_number(), slot);
    one.tell(look{});
    EXPECT_DEATH(rig.run(), "actor_context:4");
    kept.reset();
}
