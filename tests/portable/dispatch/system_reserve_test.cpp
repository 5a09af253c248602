// SPDX-License-Identifier: Apache-2.0
//
// Goal: a system message without a node of its own uses the reserve, arrives though user messages
// have used up the pool, and gives its envelope back whether it is handled or refused (SQ-5).
// Method: a system with one envelope for users and two for the system.
#include "kernel_rig.hpp"
#include "portable_test.hpp"

using namespace tactus;
using namespace tactus_test;

namespace {

void small(kernel_rig::options& o) {
    o.envelope_capacity = 1;
    o.reserve_for_system = 2;
}

struct counting_actor {
    unsigned* seen;
    mailbox_index* about;
    void receive(turn&, envelope&) {}
    void receive_system(turn& t, system_message& m) {
        *seen += 1;
        *about = m.subject.read();
        if (m.kind == system_kind::terminate)
            t.stop();
    }
};

}  // namespace

TEST(system_reserve, SQ_5_arrives_when_users_have_used_up_the_pool) {
    kernel_rig rig(small);
    unsigned seen = 0;
    mailbox_index about;
    const mailbox_index who = *rig->spawn<counting_actor>({}, &seen, &about);
    actor_scheduler::tell(who, number{1});
    EXPECT_EQ(static_cast<int>(actor_scheduler::try_tell(who, number{2})),
              static_cast<int>(sent::pool_exhausted));
    EXPECT_TRUE(rig->send_system(who, system_kind::watch, who));
    EXPECT_EQ(rig->envelopes().reserve_count(), 1u);
    EXPECT_EQ(seen, 0u);
    while (rig.ticks->run_once()) {
    }
    EXPECT_EQ(seen, 1u);
    EXPECT_TRUE(about == who);
    EXPECT_EQ(rig->envelopes().reserve_count(), 2u);
}

TEST(system_reserve, SQ_5_gives_back_what_is_refused) {
    kernel_rig rig([](kernel_rig::options& o) {
        small(o);
        o.events = nullptr;  // its recorder knows nodes with a value only
    });
    unsigned seen = 0;
    mailbox_index about;
    const mailbox_index who = *rig->spawn<counting_actor>({}, &seen, &about);
    EXPECT_TRUE(rig->send_system(who, system_kind::terminate));
    EXPECT_TRUE(rig->send_system(who, system_kind::watch));  // behind it: a leftover
    EXPECT_EQ(rig->envelopes().reserve_count(), 0u);
    while (rig.ticks->run_once()) {
    }
    EXPECT_EQ(seen, 1u);
    EXPECT_EQ(rig->envelopes().reserve_count(), 2u);
    EXPECT_FALSE(rig->send_system(who, system_kind::watch));  // there is no such actor any more
    EXPECT_EQ(rig->envelopes().reserve_count(), 2u);
}
