// SPDX-License-Identifier: Apache-2.0
//
// Goal: failures of children wait while their parent is held back by one, and are decided
// afterwards, in their order and by whoever is the parent's instance then (PK-SYS-7, PK-SYS-8).
#include <gtest/gtest.h>

#include "puppet.hpp"
#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::child_of;
using tactus_test::crash;
using tactus_test::hooked_puppet;
using tactus_test::ping;
using tactus_test::puppet;
using tactus_test::puppet_ref;
using tactus_test::run_it;
using tactus_test::strings;
using tactus_test::words;
using tactus_test::world_rig;

// SV-2, PK-SYS-7, PK-INV-4: two children fail before their parent looks, and it escalates both:
// each is resumed.
TEST(waiting_failures, PK_SYS_7_two_children_escalate_in_one_look) {
    strings top, middle, one, two;
    puppet_ref children[2];
    top.decide = [](any_ref, const failure_cause&) { return directive::resume; };
    middle.strategy.scope = supervision_scope::all_for_one;
    int asked = 0;
    middle.decide = [&](any_ref, const failure_cause&) {
        return asked++ == 0 ? directive::restart : directive::escalate;
    };
    for (strings* s : {&one, &two})
        s->constructor = [](puppet& p) {
            if (p.life() == 1)
                throw std::runtime_error("again");
        };
    {
        world_rig rig;
        const auto t = rig.spawn<puppet>("top", &top);
        t.tell(run_it{[&](puppet& p) {
            child_of(p, "middle", middle).tell(run_it{[&](puppet& m) {
                children[0] = child_of(m, "one", one);
                children[1] = child_of(m, "two", two);
            }});
        }});
        rig.run();
        children[0].tell(crash());
        rig.run();
        for (const puppet_ref& c : children)
            c.tell(ping{});
        rig.run();
        EXPECT_EQ(asked, 3);
        EXPECT_EQ(one.said.back(), "pong2");
        EXPECT_EQ(two.said.back(), "pong2");
        EXPECT_EQ(middle.lives, 1);
        rig.end();
    }
}

// DF-45: siblings that have failed when their parent looks are restarted once, not once for each.
TEST(waiting_failures, DF_45_siblings_that_fail_together_are_restarted_once) {
    for (const auto scope : {supervision_scope::all_for_one, supervision_scope::rest_for_one}) {
        strings top, who[3];
        puppet_ref children[3];
        top.strategy.scope = scope;
        top.strategy.max_restarts = 2U;
        int asked = 0;
        top.decide = [&](any_ref, const failure_cause&) {
            ++asked;
            return directive::restart;
        };
        for (strings& s : who)
            s.constructor = [](puppet& p) {
                if (p.life() == 1)
                    throw std::runtime_error("again");
            };
        {
            world_rig rig;
            rig.spawn<puppet>("top", &top).tell(run_it{[&](puppet& p) {
                for (int i = 0; i < 3; ++i)
                    children[i] = child_of(p, std::string(1, static_cast<char>('a' + i)), who[i]);
            }});
            rig.run();
            children[0].tell(crash());  // all are restarted, and none of them can begin
            rig.run();
            for (const puppet_ref& c : children)
                c.tell(ping{});
            rig.run();
            EXPECT_EQ(asked, 2);
            for (const strings& s : who)
                EXPECT_EQ(s.said.back(), "pong2");
            rig.end();
        }
    }
}

namespace {

/// Ends step by step, from its lowest: longer than cancels may go on in a row.
void grow(puppet& above, strings& all, int depth) {
    const puppet_ref next = child_of(above, "next", all);
    if (depth > 0)
        next.tell(run_it{[&all, depth](puppet& p) { grow(p, all, depth - 1); }});
}

}  // namespace

// PK-SYS-8, PK-SUP-10: a child fails while its parent waits for another one to end, in order to be
// restarted: the instance that has had its pre_restart is asked nothing any more, and the child is
// restarted with its parent.
TEST(waiting_failures, PK_SUP_10_a_child_fails_while_its_parent_is_restarted) {
    strings parent, ending, failing;
    parent.decide = [&](any_ref, const failure_cause&) {
        parent.said.push_back("asked");
        return directive::escalate;
    };
    failing.constructor = [](puppet& p) {
        p.say("made");
        if (p.life() == 0)
            throw std::runtime_error("cannot begin");
    };
    puppet_ref stops;
    puppet_ref fails;
    {
        world_rig rig;
        const auto p = rig.spawn<hooked_puppet>("parent", &parent);
        p.tell(run_it{[&](puppet& me) {
            stops = child_of(me, "ending", ending);
            stops.tell(run_it{[&](puppet& e) { grow(e, ending, 40); }});
        }});
        rig.run();
        EXPECT_EQ(ending.lives, 42);
        parent.pre_restart = [&](puppet& me) {
            (void)me.ctx().stop(stops);
            fails = child_of(me, "failing", failing);
            ending.post_stop = [&](puppet&) { failing.said.push_back("."); };
        };
        p.tell(crash());
        rig.run();
        EXPECT_EQ(parent.take(), (words{"start0", "before0", "after1"}));
        // It failed while the others were about to end.
        EXPECT_EQ(failing.said.size(), 42u + 3);
        EXPECT_EQ(failing.said.front(), "made0");
        EXPECT_EQ(failing.said.at(42), ".");
        EXPECT_EQ(failing.said.at(43), "made1");
        EXPECT_EQ(failing.said.at(44), "start1");
        EXPECT_EQ(rig.said.decision_count, 1u);
        fails.tell(ping{});
        rig.run();
        EXPECT_EQ(failing.said.back(), "pong1");
        rig.end();
    }
}
