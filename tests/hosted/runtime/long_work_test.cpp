// SPDX-License-Identifier: Apache-2.0
//
// Goal: work that takes several runs: one piece in each, other actors in between, and nothing else
// of the actor until it has ended (DF-45). Method: a bare kernel, run step by step; the journal has
// the order.
#include <gtest/gtest.h>

#include "kernel_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::closed;
using tactus_test::dead;
using tactus_test::journal;
using tactus_test::kernel_rig;
using tactus_test::number;
using tactus_test::plain_actor;
using tactus_test::refused;
using tactus_test::signal_node;
constexpr std::int32_t sys = tactus_test::system;

namespace {

constexpr std::int32_t piece = 77'000;
constexpr std::int32_t more = 99;  // the value of the node that goes on

/// Begins with three more pieces when it is told 1.
struct working_actor {
    signal_node* node;
    int left = 0;

    void receive(turn& t, envelope& e) { plain_actor{}.receive(t, e); }
    void receive_system(turn& t, system_message& m) {
        if (m.kind == system_kind::go_on) {
            if (!t.place().works)
                return;
            journal().add(piece);
            if (--left == 0) {
                t.place().end_work();
                EXPECT_TRUE(t.system().resume(t.self(), suspension::supervision));
            }
            return;
        }
        const std::int32_t value = static_cast<signal_node&>(m).value;
        journal().add(sys + value);
        if (value != 1)
            return;
        left = 3;
        EXPECT_TRUE(t.system().suspend(t.self(), suspension::supervision));
        t.place().begin_work(*node);
    }
};

void send(kernel_rig& rig, mailbox_index to, std::initializer_list<signal_node*> all) {
    for (signal_node* one : all)
        EXPECT_TRUE(rig->send_system(to, *one));
}

}  // namespace

TEST(long_work, DF_45_pieces_are_runs_and_others_run_in_between) {
    signal_node node(system_kind::watch, more);
    kernel_rig rig;
    const mailbox_index a = rig.spawn<working_actor>(&node);
    const mailbox_index b = rig.spawn<plain_actor>(+[](turn& t, std::uint32_t n) {
        if (n < 30)
            t.send(t.self(), number{n + 1});
    });
    signal_node m[3] = {
        {system_kind::watch, 1}, {system_kind::watch, 2}, {system_kind::continuation, 3}};
    send(rig, a, {&m[0], &m[1], &m[2]});
    rig.tell(a, {7});
    EXPECT_TRUE(rig.run_once());
    EXPECT_TRUE(journal().is({sys + 1}));
    rig.tell(b, {10});
    signal_node late(system_kind::watch, 4);
    send(rig, a, {&late});
    // What comes meanwhile waits behind what had come. The pieces and `b` take turns.
    unsigned pieces = 0;
    unsigned turns = 0;
    bool is_over = false;
    while (!is_over && rig.run_once()) {
        for (unsigned i = 0; i < journal().count(); ++i) {
            if (journal().at(i) < 31)
                ++turns;
            if (journal().at(i) == piece)
                ++pieces;
            is_over = is_over || journal().at(i) == sys + 2;
        }
        if (!is_over)
            journal().clear();
    }
    EXPECT_EQ(pieces, 3U);
    EXPECT_GE(turns, 2U);
    EXPECT_TRUE(journal().is({piece, sys + 2, sys + 4, sys + 3, 7}));
    (void)rig.run();
    EXPECT_FALSE(node.linked);
}

// It may work again, with the node of the last time still behind others.
TEST(long_work, DF_45_it_works_once_more) {
    signal_node node(system_kind::watch, more);
    kernel_rig rig;
    const mailbox_index a = rig.spawn<working_actor>(&node);
    for (int i = 0; i < 3; ++i) {
        signal_node again[2] = {{system_kind::watch, 1}, {system_kind::unwatch, 1}};
        send(rig, a, {&again[0], &again[1]});
        rig.tell(a, {5});
        (void)rig.run();
        EXPECT_TRUE(journal().is({sys + 1, piece, piece, piece, sys + 1, piece, piece, piece, 5}));
    }
}

// What it has put off is refused in its order when it is closed, with what comes after it.
TEST(long_work, DF_45_an_actor_is_closed_while_it_works) {
    signal_node node(system_kind::watch, more);
    kernel_rig rig;
    const mailbox_index a = rig.spawn<working_actor>(&node);
    signal_node m[4] = {{system_kind::watch, 1},
                        {system_kind::watch, 2},
                        {system_kind::unwatch, 3},
                        {system_kind::watch, 4}};
    send(rig, a, {&m[0], &m[1], &m[2]});
    rig.tell(a, {7});
    EXPECT_TRUE(rig.run_once());
    EXPECT_TRUE(rig.run_once());
    EXPECT_TRUE(journal().is({sys + 1, piece}));
    send(rig, a, {&m[3]});
    EXPECT_TRUE(rig->stop(a));
    (void)rig.run();
    EXPECT_TRUE(
        journal().is({refused + more, refused + 2, refused + 3, refused + 4, dead + 7, closed}));
    EXPECT_FALSE(rig.at(a).works);  // for the next life of its slot
}
