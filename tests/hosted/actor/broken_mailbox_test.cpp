// SPDX-License-Identifier: Apache-2.0
//
// Goal: a mailbox that breaks is a failure of its actor, which its supervisor decides: the family
// is stopped in order, hooks run, owed signals and the mailbox's room survive (RG-4, DF-43).
#include <gtest/gtest.h>

#include "puppet.hpp"
#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::child_of;
using tactus_test::crash;
using tactus_test::ping;
using tactus_test::puppet;
using tactus_test::puppet_ref;
using tactus_test::run_it;
using tactus_test::strings;
using tactus_test::words;
using tactus_test::world_rig;

namespace {

struct cued_order final : message_order {
    [[nodiscard]] answer before(envelope&, envelope&) noexcept override {
        return fails ? answer::failed : answer::no;
    }
    bool fails = false;
};

/// Below a supervisor that decides `what`, an actor with two children and a mailbox that can break.
struct family {
    explicit family(directive what, mailbox_options mailbox) {
        top.decide = [what](any_ref, const failure_cause& why) {
            EXPECT_EQ(why.kind(), failure_kind::runtime);
            return what;
        };
        const auto boss = rig.spawn<puppet>("top", &top);
        boss.tell(run_it{[this, mailbox](puppet& p) {
            const auto made =
                p.ctx().try_spawn<puppet>("breaks", {.mailbox = mailbox, .order = &order}, &parent);
            EXPECT_TRUE(made.has_value());
            actor = puppet_ref(*made);
            p.ctx().watch(actor);
        }});
        rig.run();
        actor.tell(run_it{[this](puppet& p) {
            (void)child_of(p, "one", one);
            (void)child_of(p, "two", two);
        }});
        rig.run();
        for (strings* s : {&one, &two})
            s->post_stop = [this](puppet&) { parent.said.push_back("child stops"); };
        (void)parent.take();
    }
    /// Two messages that the queue has to compare.
    void break_it() {
        order.fails = true;
        actor.tell(ping{});
        actor.tell(ping{});
        rig.run();
        order.fails = false;
    }

    void refuse(bool on) { rig.memory.refusing = rig.kernel.memory.refusing = on; }

    strings top, parent, one, two;
    cued_order order;
    world_rig rig;
    puppet_ref actor;
};

mailbox_options by_priority(std::uint32_t capacity = mailbox_options::unbounded) {
    mailbox_options o;
    o.kind = mailbox_kind::priority;
    o.capacity = capacity;
    o.when_full = overflow::reject;
    return o;
}
mailbox_options a_deque() {
    mailbox_options o;
    o.kind = mailbox_kind::deque;
    return o;
}

}  // namespace

TEST(broken_mailbox, DF_43_a_stopped_family_ends_in_order) {
    family f(directive::stop, by_priority());
    f.break_it();
    EXPECT_EQ(f.parent.said, (words{"child stops", "child stops", "stop0"}));
    EXPECT_EQ(f.top.said.back(), "terminated0");
    EXPECT_EQ(f.rig.said.decision_count, 1u);
    EXPECT_EQ(f.rig.said.dead_letters, 2u);
    f.rig.end();
    EXPECT_EQ(f.one.said.back(), "stop0");
}
TEST(broken_mailbox, DF_43_a_restarted_actor_goes_on) {
    family f(directive::restart, by_priority());
    f.break_it();
    EXPECT_EQ(f.parent.take(), (words{"stop0", "child stops", "child stops", "start1"}));
    f.actor.tell(ping{});
    f.actor.tell(ping{});
    f.rig.run();
    EXPECT_EQ(f.parent.take(), (words{"pong1", "pong1"}));
    f.rig.end();
}
TEST(broken_mailbox, DF_43_a_resumed_actor_keeps_its_children_and_its_room) {
    family f(directive::resume, by_priority(2));
    for (int i = 0; i < 5; ++i)
        f.break_it();
    EXPECT_EQ(f.rig.said.decision_count, 5u);
    EXPECT_EQ(f.rig.said.dead_letters, 10u);
    EXPECT_TRUE(f.actor.try_tell(ping{}).has_value());
    EXPECT_TRUE(f.actor.try_tell(ping{}).has_value());
    EXPECT_FALSE(f.actor.try_tell(ping{}).has_value());
    f.rig.run();
    EXPECT_EQ(f.parent.take(), (words{"pong0", "pong0"}));
    f.rig.end();
    EXPECT_EQ(f.parent.take(), (words{"child stops", "child stops", "stop0"}));
}
TEST(broken_mailbox, DF_43_one_failed_allocation_loses_only_what_finds_no_place) {
    family f(directive::resume, a_deque());
    f.actor.tell(run_it{[&](puppet&) {
        for (int i = 0; i < 18; ++i)
            f.actor.tell(ping{});
        f.refuse(true);
    }});
    (void)f.rig.kernel.run_once();
    (void)f.rig.kernel.run_once();
    f.refuse(false);
    f.rig.run();
    EXPECT_EQ(f.rig.said.decision_count, 1u);
    EXPECT_EQ(f.rig.said.dead_letters, 2u);
    EXPECT_EQ(f.parent.take(), words(16, "pong0"));
    f.rig.end();
}
// Without memory for anything it cannot be restarted: it is stopped, in order.
TEST(broken_mailbox, DF_43_without_any_memory_the_family_ends_in_order) {
    family f(directive::restart, a_deque());
    f.actor.tell(run_it{[&](puppet&) {
        for (int i = 0; i < 18; ++i)
            f.actor.tell(ping{});
        f.refuse(true);
    }});
    f.rig.run();
    f.refuse(false);
    EXPECT_EQ(f.parent.take(), (words{"child stops", "child stops", "stop0"}));
    f.rig.end();
}
// In their place, as far as the kind has both ends.
TEST(broken_mailbox, DF_43_owed_signals_survive) {
    struct row {
        mailbox_options mailbox;
        std::size_t queued, handled;
    };
    for (const row& r : {row{by_priority(), 1, 0}, row{by_priority(1), 1, 0},
                         row{a_deque(), 16, 15}, row{a_deque(), 20, 15}}) {
        family f(directive::resume, r.mailbox);
        strings victim;
        const auto watched = f.rig.spawn<puppet>("victim", &victim);
        f.actor.tell(run_it{[&](puppet& p) { p.ctx().watch(watched); }});
        f.rig.run();
        EXPECT_TRUE(f.rig.kernel->suspend(f.actor.index(), suspension::await));
        for (std::size_t i = 0; i < r.queued; ++i)
            f.actor.tell(ping{});
        watched.tell(run_it{[&](puppet& p) { p.ctx().stop(); }});
        f.rig.run();
        f.order.fails = true;
        f.refuse(true);  // of a deque
        EXPECT_TRUE(f.rig.kernel->resume(f.actor.index(), suspension::await));
        f.rig.run();
        f.refuse(false);
        EXPECT_EQ(f.rig.said.dead_letters, r.queued - r.handled);
        words expected(r.handled, "pong0");
        expected.push_back("terminated0");
        EXPECT_EQ(f.parent.take(), expected);
        f.rig.end();
    }
}
// The failure of a handler and the break of the queue in one run are one failure.
TEST(broken_mailbox, DF_43_a_handler_that_fails_as_well) {
    family f(directive::restart, by_priority());
    f.actor.tell(run_it{[&](puppet&) {
        f.order.fails = true;
        f.actor.tell(ping{});
        f.actor.tell(ping{});
    }});
    f.rig.run();
    f.order.fails = false;
    EXPECT_EQ(f.parent.take(), (words{"stop0", "child stops", "child stops", "start1"}));
    f.actor.tell(ping{});
    f.rig.run();
    EXPECT_EQ(f.parent.take(), (words{"pong1"}));
    f.rig.end();
}
