// SPDX-License-Identifier: Apache-2.0
//
// Goal: a message whose constructor throws fails towards nobody: the sender is told, or the message
// is reported lost; no envelope, block or half-made payload stays behind (UP-1, UP-4, MB-6).
// Method: copies and moves that throw when told to, small and large, from outside, from inside, and
// when the receiver is gone.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "kernel_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::kernel_rig;
using tactus_test::number;

namespace {

bool throws = false;
int alive = 0;

template <std::size_t Size>
struct brittle {
    explicit brittle(int v) : value(v) { ++alive; }
    brittle(const brittle& other) : value(other.value) { born(); }
    brittle(brittle&& other) noexcept(false) : value(other.value) {
        born();
        other.value = 0;
    }
    brittle& operator=(brittle&& other) noexcept(false) {
        if (throws)
            throw std::runtime_error("assigned");
        value = std::exchange(other.value, 0);
        return *this;
    }
    ~brittle() { --alive; }
    static void born() {
        if (throws)
            throw std::runtime_error("made");
        ++alive;
    }
    int value;
    std::byte bytes[Size]{};
};
using small = brittle<8>;
using large = brittle<200>;

template <class M>
struct summing {
    int* sum;
    void receive(turn&, envelope& e) {
        if (const M* m = e.get_if<M>())
            *sum += m->value;
    }
};

/// A system with three envelopes, so that one that does not come back is missed at once.
void tiny(kernel_rig::options& o) {
    o.envelope_capacity = 3;
}

template <class M>
void throwing_sends() {
    alive = 0;
    throws = false;
    {
        kernel_rig rig([](kernel_rig::options& o) {
            tiny(o);
            o.large_payloads = o.memory;
        });
        int sum = 0;
        const mailbox_index a = rig.spawn<summing<M>>(&sum);
        M kept(5);
        const std::size_t bytes = rig.memory.live_bytes;
        throws = true;
        for (int i = 0; i < 10; ++i) {
            EXPECT_EQ(actor_scheduler::try_tell(a, kept), sent::construction_failed);
            EXPECT_EQ(actor_scheduler::try_tell(a, std::move(kept)), sent::construction_failed);
        }
        EXPECT_EQ(rig.events.lost, 0u);  // the sender was told
        for (int i = 0; i < 10; ++i)
            actor_scheduler::tell(a, kept);
        EXPECT_EQ(rig.events.lost, 10u);
        EXPECT_EQ(rig.events.count(dead_letter_cause::construction_failed), 10u);
        EXPECT_EQ(rig.events.last_type, &message_type_of<M>);
        EXPECT_EQ(rig.events.last_to, a);
        EXPECT_EQ(rig.run(), 0u);
        EXPECT_EQ(alive, 1);
        EXPECT_EQ(rig.memory.live_bytes, bytes);
        throws = false;
        for (int i = 0; i < 3; ++i)  // every envelope is there
            EXPECT_EQ(actor_scheduler::try_tell(a, kept), sent::accepted);
        EXPECT_EQ(rig.run(), 1u);
        EXPECT_EQ(sum, 15);
        EXPECT_EQ(rig.memory.live_bytes, bytes);
    }
    EXPECT_EQ(alive, 0);
}

}  // namespace

// UP-4, MB-6
TEST(message_exceptions, UP_4_a_copy_or_move_that_throws_is_a_result_and_leaves_nothing) {
    throwing_sends<small>();
}
TEST(message_exceptions, UP_4_the_same_for_a_message_in_a_block) {
    throwing_sends<large>();
}

// UP-1: from a handler, by the worker's own way.
TEST(message_exceptions, UP_1_a_send_that_throws_in_a_handler_fails_nobody) {
    static mailbox_index to;
    alive = 0;
    throws = false;
    {
        kernel_rig rig(tiny);
        int sum = 0;
        to = rig.spawn<summing<small>>(&sum);
        const mailbox_index from = rig.spawn(+[](turn& t, std::uint32_t n) {
            const small one(static_cast<int>(n));
            throws = true;
            for (int i = 0; i < 5; ++i)
                t.send(to, one);
            throws = false;
            t.send(to, one);
        });
        rig.tell(from, {7});
        EXPECT_EQ(rig.run(), 2u);
        EXPECT_EQ(sum, 7);
        EXPECT_EQ(rig.events.count(dead_letter_cause::construction_failed), 5u);
        EXPECT_EQ(rig.events.failed_count, 0u);
    }
    EXPECT_EQ(alive, 0);
}

// MB-6: a dead letter that cannot be shown is lost with its own cause.
TEST(message_exceptions, a_dead_letter_that_throws_is_reported_lost) {
    alive = 0;
    throws = false;
    {
        kernel_rig rig(tiny);
        const mailbox_index a = rig.spawn();
        EXPECT_TRUE(rig->stop(a));
        small one(1);
        throws = true;
        for (int i = 0; i < 5; ++i)
            actor_scheduler::tell(a, one);
        throws = false;
        EXPECT_EQ(rig.events.lost, 5u);
        EXPECT_EQ(rig.events.letters, 0u);
        EXPECT_EQ(rig.events.count(dead_letter_cause::recipient_terminated), 5u);
        actor_scheduler::tell(a, one);  // and one that does not throw is shown
        EXPECT_EQ(rig.events.letters, 1u);
    }
    EXPECT_EQ(alive, 0);
}

namespace {

/// Ends its receiver while it is put into the envelope, and cannot come back.
struct closing {
    kernel_rig* rig;
    mailbox_index who;
    closing(kernel_rig& r, mailbox_index a) : rig(&r), who(a) {}
    closing(closing&& other) noexcept(false) : rig(other.rig), who(other.who) {
        (void)(*rig)->stop(who);
    }
    closing& operator=(closing&&) { throw std::runtime_error("assigned"); }
};

}  // namespace

// UP-4: the mailbox closed when the message was in its envelope already.
TEST(message_exceptions, UP_4_a_message_that_cannot_be_given_back_ends_nothing) {
    kernel_rig rig(tiny);
    for (int i = 0; i < 5; ++i) {
        const mailbox_index a = rig.spawn();
        closing one(rig, a);
        EXPECT_EQ(actor_scheduler::try_tell(a, std::move(one)), sent::recipient_terminated);
    }
    EXPECT_EQ(rig.events.closed_count, 5u);
    EXPECT_EQ(rig->live_count(), 0u);
}
