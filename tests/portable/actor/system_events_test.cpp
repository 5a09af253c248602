// SPDX-License-Identifier: Apache-2.0
//
// Goal: what a world publishes reaches who subscribes it (EV-1, SV-5, C-DL-1, C-EVT-16).
#include <tactus/actor/system_events.hpp>

#include <tactus/actor/actor.hpp>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::journal;
using tactus_test::world_rig;

namespace {

struct quiet : dead_letter_suppression {};

class listener : public actor<lost_letter, dead_letter, suppressed_dead_letter, unhandled_letter,
                              supervision_decision, actor_started, actor_restarted, actor_stopped> {
public:
    void on(const lost_letter&) { journal().add(1); }
    void on(const dead_letter& l) {
        journal().add(l.cause == dead_letter_cause::recipient_terminated ? 2 : 20);
        last = l.to;
    }
    void on(const suppressed_dead_letter&) { journal().add(3); }
    void on(const unhandled_letter& l) {
        journal().add(l.type == &message_type_of<quiet> ? 4 : 40);
    }
    void on(const supervision_decision& d) {
        journal().add(d.why->code() * 100 + static_cast<std::int32_t>(d.what));
    }
    void on(const actor_started&) { journal().add(5); }
    void on(const actor_restarted&) { journal().add(6); }
    void on(const actor_stopped&) { journal().add(7); }
    static any_ref last;
};
any_ref listener::last;

class target : public actor<int> {
public:
    std::expected<void, failure> on(int v) { return std::unexpected(failure(v, "told to")); }
};

}  // namespace

// EV-1, C-DL-1: dead letters and suppressed ones are told apart; their base has both.
TEST(system_events, C_DL_1_dead_letters_by_kind) {
    world_rig rig;
    const auto t = rig.spawn<target>("t");
    const auto a = rig.spawn<listener>("a");
    rig.run();
    (void)rig.world.stop(t.index());
    rig.run();
    EXPECT_TRUE(rig.world.subscribe<dead_letter>(a).value());
    EXPECT_FALSE(rig.world.subscribe<dead_letter>(a).value());
    t.tell(1);
    t.any().tell(quiet{});
    rig.run();
    EXPECT_TRUE(journal().is({2}));
    EXPECT_TRUE(listener::last == t.any());
    EXPECT_TRUE(rig.world.subscribe<suppressed_dead_letter>(a).value());
    t.any().tell(quiet{});
    rig.run();
    EXPECT_TRUE(journal().is({3}));
    rig.world.events().forget(a.index());
    EXPECT_TRUE(rig.world.subscribe<lost_letter>(a).value());
    t.tell(1);
    t.any().tell(quiet{});
    rig.run();
    EXPECT_TRUE(journal().is({1, 1}));
    rig.stays = 1;
    rig.end();
}

namespace {

/// Watches somebody, and stops when told so.
class leaver : public actor<int> {
public:
    explicit leaver(any_ref who) : who_(who) {}
    void pre_start() { context().watch(who_); }
    void on(int) { context().stop(); }
    void on(const terminated&) { journal().add(99); }

private:
    any_ref who_;
};

}  // namespace

// PK-DW-8, EV-2: a `terminated` in the mailbox of a watcher that stops is no dead letter that
// anybody should look at, nor is the poison pill of one that has ended.
TEST(system_events, PK_DW_8_what_comes_too_late_is_suppressed) {
    world_rig rig;
    const auto t = rig.spawn<target>("t");
    const auto w = rig.spawn<leaver>("w", t.any());
    const auto a = rig.spawn<listener>("a");
    rig.run();
    EXPECT_TRUE(rig.world.subscribe<dead_letter>(a).value());
    EXPECT_TRUE(rig.world.subscribe<suppressed_dead_letter>(a).value());
    // It learns of the end in the turn in which it stops.
    (void)rig.world.stop(t.index());
    w.tell(1);
    rig.run();
    EXPECT_TRUE(journal().is({3}));
    EXPECT_FALSE(rig.world.find("/user/w").valid());
    t.any().tell(poison_pill{});
    rig.run();
    EXPECT_TRUE(journal().is({3}));
    rig.stays = 1;
    rig.end();
}

// EV-1, SV-5, PK-EVT-7: unhandled messages, decisions and lives.
TEST(system_events, SV_5_decisions_and_lives_are_events) {
    world_rig rig;
    const auto a = rig.spawn<listener>("a");
    rig.run();
    EXPECT_TRUE(rig.world.subscribe<unhandled_letter>(a).value());
    EXPECT_TRUE(rig.world.subscribe<supervision_decision>(a).value());
    EXPECT_TRUE(rig.world.subscribe<actor_started>(a).value());
    EXPECT_TRUE(rig.world.subscribe<actor_restarted>(a).value());
    EXPECT_TRUE(rig.world.subscribe<actor_stopped>(a).value());
    const auto t = rig.spawn<target>("t");
    rig.run();
    EXPECT_TRUE(journal().is({5}));
    t.any().tell(quiet{});
    rig.run();
    EXPECT_TRUE(journal().is({4}));
    t.tell(9);
    rig.run();
    EXPECT_TRUE(journal().is({901, 6}));
    (void)rig.world.stop(t.index());
    rig.run();
    EXPECT_TRUE(journal().is({7}));
    rig.stays = 1;
    rig.end();
    journal().clear();
}

// EV-1, C-EVT-12, C-EVT-16, trap 13: a subscriber that has ended is forgotten, and its own dead
// letters are no events.
TEST(system_events, C_EVT_12_a_subscriber_that_has_ended_is_forgotten) {
    world_rig rig;
    const auto a = rig.spawn<listener>("a");
    const auto b = rig.spawn<listener>("b");
    rig.run();
    EXPECT_TRUE(rig.world.subscribe<dead_letter>(a).value());
    (void)rig.world.stop(a.index());
    rig.run();
    EXPECT_TRUE(rig.world.events().is_empty());
    EXPECT_TRUE(rig.world.subscribe<dead_letter>(a).value());
    EXPECT_TRUE(rig.world.events().is_empty());
    // One that fills its own mailbox with dead letters while it cannot run, and ends.
    EXPECT_TRUE(rig.world.subscribe<dead_letter>(b).value());
    a.any().tell(1);
    a.any().tell(2);
    (void)rig.world.stop(b.index());
    rig.run();
    journal().clear();
    rig.stays = 1;
    rig.end();
}
