// SPDX-License-Identifier: Apache-2.0
//
// Goal: an envelope goes on to another actor as it is: payload, sender; or is a dead letter, once.
#include <tactus/dispatch/turn.hpp>

#include "kernel_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::dead;
using tactus_test::journal;
using tactus_test::kernel_rig;
using tactus_test::number;

namespace {

constexpr std::int32_t with_sender = 500;

/// Passes everything on.
struct relay {
    mailbox_index to;
    static handled receive(turn& t, void* state, envelope&) noexcept {
        t.forward(static_cast<relay*>(state)->to);
        return handled::kept();
    }
};
constexpr behaviour relays{.receive = &relay::receive};

mailbox_index spawn_relay(kernel_rig& rig, mailbox_index to) {
    const auto made = rig->spawn_as(relays, {}, [&](slot& s) { ::new (s.user_state()) relay{to}; });
    return made ? *made : mailbox_index{};
}
void note_sender(turn& t, std::uint32_t) {
    if (t.sender().valid())
        journal().add(with_sender);
}

}  // namespace

// PK-BKO-2, AC-11: what is forwarded keeps its sender; nothing is copied, and nothing is left.
TEST(forward, PK_BKO_2_a_message_goes_on_as_it_is) {
    kernel_rig rig;
    // Another life of its slot than the relays': what is meant is the receiver's.
    EXPECT_TRUE(rig->stop(rig.spawn()));
    rig.run();
    journal().clear();
    const mailbox_index end = rig.spawn<tactus_test::plain_actor>(&note_sender);
    const mailbox_index middle = spawn_relay(rig, end);
    const mailbox_index first = spawn_relay(rig, middle);
    actor_scheduler::tell(first, number{1}, {.sender = end});
    actor_scheduler::tell(first, number{2});
    rig.run();
    EXPECT_TRUE(journal().is({1, with_sender, 2}));
}

// MB-6, AC-11: what cannot go on is a dead letter of who it was meant for: once.
TEST(forward, MB_6_what_cannot_go_on_is_a_dead_letter) {
    kernel_rig rig;
    const mailbox_index gone = rig.spawn();
    EXPECT_TRUE(rig->stop(gone));
    rig.run();
    journal().clear();
    const mailbox_index first = spawn_relay(rig, gone);
    rig.tell(first, {7});
    rig.run();
    EXPECT_TRUE(journal().is({dead + 7}));
    EXPECT_TRUE(rig.events.last_to == gone);
    // Of another system: nobody there has this one's envelopes.
    const mailbox_index alive = rig.spawn();
    const mailbox_index strange =
        mailbox_index::make(alive.system_number() + 1, alive.slot_number(), alive.generation);
    const mailbox_index second = spawn_relay(rig, strange);
    rig.tell(second, {8});
    rig.run();
    EXPECT_TRUE(journal().is({dead + 8}));
}

// MB-1: a full mailbox does with it what it does with any other.
TEST(forward, MB_1_a_bounded_mailbox_counts_it) {
    kernel_rig rig;
    const auto full = rig->spawn<tactus_test::plain_actor>(
        {.mailbox = {.when_full = overflow::drop_newest, .pressure_percent = 0, .capacity = 1}});
    EXPECT_TRUE(full.has_value());
    const mailbox_index first = spawn_relay(rig, *full);
    EXPECT_TRUE(rig->suspend(*full, suspension::await));
    rig.tell(first, {1, 2});
    rig.run();
    EXPECT_TRUE(journal().is({dead + 2}));
    EXPECT_EQ(rig.events.count(dead_letter_cause::mailbox_full), 1u);
    EXPECT_TRUE(rig->resume(*full, suspension::await));
    rig.run();
    EXPECT_TRUE(journal().is({1}));
    rig.tell(first, {3});
    rig.run();
    EXPECT_TRUE(journal().is({3}));
}
