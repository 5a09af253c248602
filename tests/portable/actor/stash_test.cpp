// SPDX-License-Identifier: Apache-2.0
//
// Goal: messages put aside come back in order, before what waits, over restarts and ends (ST-1,
// ST-2).
#include <tactus/actor/actor.hpp>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::world_rig;

namespace {

struct open {};
struct boom {};

/// Puts numbers aside until it is opened.
class gate : public actor<int, open, boom>, public with_stash<5> {
public:
    std::expected<void, failure> on(int v) {
        if (!open_)
            return context().stash();
        journal().add(v);
        return {};
    }
    void on(open) {
        journal().add(-static_cast<std::int32_t>(context().stash_size()));
        open_ = true;
        context().unstash_all();
    }
    std::expected<void, failure> on(boom) { return std::unexpected(failure("boom")); }

private:
    bool open_ = false;
};

}  // namespace

// ST-1, C-STA-1: in their order, before what waits.
TEST(stash, C_STA_1_what_was_put_aside_comes_before_what_waits) {
    world_rig rig;
    const auto g = rig.spawn<gate>("g");
    for (int i = 1; i <= 3; ++i)
        g.tell(i);
    g.tell(open{});
    g.tell(4);
    rig.run();
    EXPECT_TRUE(journal().is({-3, 1, 2, 3, 4}));
    g.tell(open{});
    g.tell(5);
    rig.run();
    EXPECT_TRUE(journal().is({0, 5}));
    rig.end();
}

// ST-2, C-STA-7: beyond the capacity the handler has a failure, the message is a dead letter, what
// was put aside stays. PK-STA-6: with the actor it goes to dead letters.
TEST(stash, ST_2_a_stash_has_a_capacity) {
    world_rig rig({.decider = [](const failure_cause& why) {
        journal().add(why.text() == "the stash is full" ? 1'000 : 1'001);
        return directive::resume;
    }});
    const auto g = rig.spawn<gate>("g");
    for (int i = 1; i <= 6; ++i)
        g.tell(i);
    rig.run();
    EXPECT_TRUE(journal().is({1'000}));
    EXPECT_EQ(rig.said.dead_letters, 1u);
    (void)rig.world.stop(g.index());
    rig.run();
    EXPECT_EQ(rig.said.dead_letters, 6u);
    for (int i = 0; i < 5; ++i)
        EXPECT_EQ(rig.said.dead_numbers[i + 1], i + 1);  // in their order, after the one refused
    EXPECT_EQ(rig.said.dead_numbers[0], 6);
    rig.end();
}

// PK-STA-5, C-STA-4: a restart gives what was put aside to the new instance, before what waits.
TEST(stash, C_STA_4_a_restart_keeps_what_was_put_aside) {
    world_rig rig;
    const auto g = rig.spawn<gate>("g");
    g.tell(1);
    g.tell(2);
    g.tell(boom{});
    g.tell(open{});
    rig.run();
    // The new instance puts them aside again, before it comes to what waited.
    EXPECT_TRUE(journal().is({-2, 1, 2}));
    rig.end();
}

namespace {

/// Stashes one message twice, and says or does not say that this failed.
class hasty : public actor<int>, public with_stash<> {
public:
    std::expected<void, failure> on(int v) {
        if (v > 0) {
            journal().add(v);
            return {};
        }
        (void)context().stash();
        const auto again = context().stash();
        EXPECT_FALSE(again.has_value());
        return v == -1 ? again : std::expected<void, failure>{};
    }
};
/// Stashes the message that its coroutine owns.
class waiting : public actor<int>, public with_stash<> {
public:
    task<> on(int v) {
        if (v < 0)
            (void)context().stash();
        journal().add(v);
        co_return;
    }
};

directive told_of_stash(const failure_cause& why) {
    journal().add(
        why.text() == "the message is stashed already, or belongs to a coroutine" ? 1'000 : 1'001);
    return directive::resume;
}

}  // namespace

// DF-23, PK-STA-2: a second stash() of one message fails the actor, whether or not the handler
// returns the failure. The first stash() stays valid.
TEST(stash, DF_23_a_second_stash_of_a_message_fails_its_actor) {
    world_rig rig({.decider = told_of_stash});
    const auto h = rig.spawn<hasty>("h");
    for (const int v : {-1, 5, -2, 6})
        h.tell(v);
    rig.run();
    EXPECT_TRUE(journal().is({1'000, 5, 1'000, 6}));
    (void)rig.world.stop(h.index());
    rig.run();
    EXPECT_EQ(rig.said.dead_letters, 2u);  // each is in the stash once
    rig.end();
}

// DF-23: a coroutine owns its message, so that stash() there is the same error.
TEST(stash, DF_23_a_coroutine_that_stashes_its_message_fails_its_actor) {
    world_rig rig({.decider = told_of_stash});
    const auto w = rig.spawn<waiting>("w");
    w.tell(-1);
    w.tell(2);
    rig.run();
    EXPECT_TRUE(journal().is({-1, 1'000, 2}));
    rig.end();
}

// ST-1: who stashes gets a mailbox with two ends; one that has not is refused.
TEST(stash, ST_1_a_mailbox_that_cannot_is_refused) {
    world_rig rig;
    auto r = detail::request_for<gate>(rig.memory, "g",
                                       {.mailbox = {.kind = mailbox_kind::control_aware}});
    const auto made = rig.world.spawn_top(*r);
    EXPECT_FALSE(made.has_value());
    EXPECT_TRUE(made.error().what == spawn_error::kind::mailbox_unfit);
    rig.end();
}

// PK-STA-4, C-STA-6: what does not fit a bounded mailbox any more is a dead letter, the oldest.
TEST(stash, C_STA_6_a_bounded_mailbox_has_room_for_the_newest) {
    world_rig rig;
    auto r = detail::request_for<gate>(rig.memory, "g", {.mailbox = {.capacity = 4}});
    const auto made = rig.world.spawn_top(*r);
    EXPECT_TRUE(made.has_value());
    const actor_ref<int, open, boom> g{any_ref(*made)};
    for (int i = 1; i <= 5; ++i) {
        g.tell(i);
        rig.run();
    }
    g.tell(open{});
    rig.run();
    EXPECT_TRUE(journal().is({-5, 2, 3, 4, 5}));
    EXPECT_EQ(rig.said.dead_letters, 1u);
    rig.end();
}

// Senders to a mailbox that blocks have waited for room: what they were promised is not lost, also
// when others have taken the room of what was stashed.
TEST(stash, ST_2_with_block_all_messages_come_back) {
    world_rig rig;
    auto r = detail::request_for<gate>(rig.memory, "g",
                                       {.mailbox = {.when_full = overflow::block, .capacity = 2}});
    const auto made = rig.world.spawn_top(*r);
    EXPECT_TRUE(made.has_value());
    const actor_ref<int, open, boom> g{any_ref(*made)};
    for (int i = 1; i <= 5; ++i) {
        g.tell(i);
        rig.run();
    }
    g.tell(open{});
    g.tell(6);  // the mailbox is full when they come back
    rig.run();
    EXPECT_TRUE(journal().is({-5, 1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(rig.said.dead_letters, 0u);
    for (int i = 7; i <= 9; ++i)
        g.tell(i);
    rig.run();
    EXPECT_TRUE(journal().is({7, 8}));  // the capacity is what it was
    EXPECT_EQ(rig.said.dead_letters, 1u);
    rig.end();
}

namespace {

struct watch_it {
    any_ref who;
};
class patient_watcher : public actor<watch_it, open>, public with_stash<> {
public:
    void on(const watch_it& m) { context().watch(m.who); }
    std::expected<void, failure> on(const terminated&) {
        journal().add(1);
        if (!open_)
            return context().stash();
        return {};
    }
    void on(open) {
        open_ = true;
        context().unstash_all();
    }

private:
    bool open_ = false;
};

}  // namespace

// PK-STA-7, C-STA-5: `terminated` can be put aside, too: it comes twice, once for good.
TEST(stash, C_STA_5_terminated_can_be_put_aside) {
    world_rig rig;
    const auto g = rig.spawn<gate>("g");
    const auto w = rig.spawn<patient_watcher>("w");
    w.tell(watch_it{g});
    rig.run();
    (void)rig.world.stop(g.index());
    rig.run();
    EXPECT_TRUE(journal().is({1}));
    w.tell(open{});
    rig.run();
    EXPECT_TRUE(journal().is({1}));
    EXPECT_EQ(rig.said.decision_count, 0u);
    rig.end();
}
