// SPDX-License-Identifier: Apache-2.0
//
// Goal: a system takes, refuses and ends as it says, and no message is lost silently (CO-5, RG-1,
// SQ-5, MB-11).
// Method: bad input of every kind; each message is counted where it ends.
#include <tactus/dispatch/actor_scheduler.hpp>

#include <cstdint>
#include <optional>

#include "kernel_rig.hpp"
#include "portable_test.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::closed;
using tactus_test::dead;
using tactus_test::ended;
using tactus_test::ending_actor;
using tactus_test::journal;
using tactus_test::kernel_rig;
using tactus_test::number;

TEST(actor_scheduler, a_message_to_a_stale_reference_is_a_dead_letter) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn();
    EXPECT_TRUE(rig->stop(a));
    journal().clear();
    rig.tell(a, {1});
    EXPECT_TRUE(journal().is({dead + 1}));
    EXPECT_EQ(rig.events.last_to, a);
    EXPECT_EQ(rig.events.count(dead_letter_cause::recipient_terminated), 1u);
    const mailbox_index b = rig.spawn();  // the same slot
    EXPECT_EQ(b.slot, a.slot);
    rig.tell(a, {2});
    (void)rig.run();
    EXPECT_TRUE(journal().is({dead + 2}));
    EXPECT_EQ(actor_scheduler::try_tell(a, number{3}), sent::recipient_terminated);
    EXPECT_TRUE(journal().is({}));  // said to the caller, and nobody else
}

TEST(actor_scheduler, references_that_name_nothing_are_counted_and_harmless) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn();
    const std::uint32_t before = system_table::refused_count();
    rig.tell({}, {1});
    EXPECT_EQ(actor_scheduler::try_tell(mailbox_index{}, number{1}), sent::no_system);
    EXPECT_EQ(system_table::refused_count(), before + 2);
    // Of this system, but made up: no such slot, generation 0, one never used.
    rig.tell(mailbox_index::make(rig->system_number(), mailbox_index::slot_mask, 1), {2});
    rig.tell(a.with_generation(0), {3});
    rig.tell(mailbox_index::make(rig->system_number(), a.slot_number() + 1, 0), {4});
    EXPECT_EQ(rig.run(), 0u);
    EXPECT_TRUE(journal().is({dead + 2, dead + 3, dead + 4}));
    EXPECT_FALSE(rig->stop({}));
    EXPECT_FALSE(rig->suspend({}, suspension::await));
    EXPECT_FALSE(rig->resume({}, suspension::await));
}

TEST(actor_scheduler, messages_to_a_system_that_is_gone_are_counted) {
    mailbox_index a;
    {
        kernel_rig rig;
        a = rig.spawn();
    }
    const std::uint32_t before = system_table::refused_count();
    actor_scheduler::tell(a, number{1});
    EXPECT_EQ(actor_scheduler::try_tell(a, number{1}), sent::no_system);
    EXPECT_EQ(system_table::refused_count(), before + 2);
}

// RG-1: a system that comes after goes on from where the number's last one ended.
TEST(actor_scheduler, a_later_system_does_not_know_references_of_an_earlier_one) {
    mailbox_index old[2 * system_table::number_count];
    for (mailbox_index& a : old) {
        // By the magazine: some slots are constructed and never used.
        kernel_rig rig([](kernel_rig::options& o) { o.slot_magazine = 4; });
        a = rig.spawn();
        EXPECT_EQ(a.slot_number(), 0u);  // each numbers its slots from its own start
        for (const mailbox_index& earlier : old) {
            if (&earlier == &a)
                break;
            EXPECT_FALSE(earlier == a);
            EXPECT_EQ(rig->slots().find(earlier), nullptr);
        }
    }
}

TEST(actor_scheduler, two_systems_send_to_each_other) {
    // S22: a worker of one system sends to an actor of the other.
    kernel_rig one;
    alignas(slot) static std::byte places[2 * sizeof(slot)];
    alignas(envelope) static std::byte letters[4 * sizeof(envelope)];
    alignas(16) static std::byte heap[tactus_test::board::roomy ? 16'384 : 2'304];
    tactus_test::test_memory memory(heap);
    fixed_memory slots(places);
    fixed_memory envelopes(letters);
    static std::optional<actor_scheduler> place;  // a small board's stack has room for one
    place.emplace(actor_scheduler::options{.memory = &memory,
                                           .slot_memory = &slots,
                                           .envelope_memory = &envelopes,
                                           .slot_capacity = 2,
                                           .envelope_capacity = 3,
                                           .reserve_for_system = 1,
                                           .slot_magazine = 1,
                                           .envelope_magazine = 1,
                                           .ring_capacity = 2,
                                           .fresh_capacity = 2,
                                           .queue_capacity = 2,
                                           .keyed_capacity = 1});
    actor_scheduler& two = *place;
    EXPECT_NE(two.system_number(), one->system_number());
    static mailbox_index other;
    other = *two.spawn<tactus_test::plain_actor>({});
    const mailbox_index a =
        one.spawn(+[](turn& t, std::uint32_t n) { t.send(other, number{n + 1}); });
    one.tell(a, {1});
    EXPECT_EQ(one.run(), 1u);
    EXPECT_TRUE(journal().is({1}));
    EXPECT_EQ(one.run(), 0u);  // it waits in the other system
    {
        inline_tick ticks(two);
        EXPECT_EQ(ticks.run_until_idle(), 1u);
    }
    EXPECT_TRUE(journal().is({2}));
    // The same slot number and generation, another system.
    EXPECT_FALSE(one->stop(other));
    place.reset();
}

TEST(actor_scheduler, slots_exhausted_is_an_error_and_ends_with_the_first_actor_that_does) {
    kernel_rig rig([](kernel_rig::options& o) { o.slot_capacity = 3; });
    const mailbox_index a = rig.spawn();
    (void)rig.spawn();
    (void)rig.spawn();
    const auto none = rig->spawn<tactus_test::plain_actor>({});
    ASSERT_FALSE(none.has_value());
    EXPECT_EQ(none.error().what, spawn_error::kind::slots_exhausted);
    EXPECT_EQ(rig->live_count(), 3u);
    EXPECT_TRUE(rig->stop(a));
    EXPECT_TRUE(rig->spawn<tactus_test::plain_actor>({}).has_value());
}

// SQ-5, MB-11: conservation with a pool of one.
TEST(actor_scheduler, with_one_envelope_every_message_is_handled_or_lost_with_a_cause) {
    kernel_rig rig([](kernel_rig::options& o) {
        o.envelope_capacity = 1;
        o.reserve_for_system = 1;
    });
    const mailbox_index a = rig.spawn();
    rig.tell(a, {1, 2, 3});
    number kept{4};
    EXPECT_EQ(actor_scheduler::try_tell(a, kept), sent::pool_exhausted);
    EXPECT_EQ(kept.value, 4u);
    EXPECT_EQ(rig.events.lost, 2u);
    EXPECT_EQ(rig.events.last_type, &message_type_of<number>);
    EXPECT_EQ(rig.events.count(dead_letter_cause::pool_exhausted), 2u);
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({1}));
    // SQ-3, SQ-5: the end of an actor needs none.
    EXPECT_EQ(rig->envelopes().reserve_count(), 1u);
    tactus_test::signal_node end(system_kind::terminate, 1);
    EXPECT_TRUE(rig->send_system(a, end));
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({closed}));
}

TEST(actor_scheduler, a_message_too_large_without_memory_for_it_is_lost_with_a_cause) {
    struct huge {
        std::uint32_t value[40];
    };
    kernel_rig rig;
    const mailbox_index a = rig.spawn();
    actor_scheduler::tell(a, huge{});
    EXPECT_EQ(rig.events.count(dead_letter_cause::pool_exhausted), 1u);
    EXPECT_EQ(rig.events.lost, 1u);
    EXPECT_EQ(rig.run(), 0u);
    rig.tell(a, {1});  // the envelope went back
    EXPECT_EQ(rig.run(), 1u);
}

// CO-5
TEST(actor_scheduler, stopping_refuses_what_is_new_and_processes_what_is_there) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn<ending_actor>(+[](turn& t, std::uint32_t n) {
        if (n == 1) {
            t.send(t.self(), number{50});  // new: refused
            EXPECT_FALSE(t.system().spawn<tactus_test::plain_actor>({}).has_value());
        }
    });
    rig.tell(a, {1, 2});
    EXPECT_EQ(rig->phase(), system_phase::running);
    rig->begin_stop();
    EXPECT_EQ(rig->phase(), system_phase::draining);
    rig->begin_stop();  // idempotent
    rig.tell(a, {3});
    EXPECT_EQ(actor_scheduler::try_tell(a, number{4}), sent::shutdown);
    const auto none = rig->spawn<tactus_test::plain_actor>({});
    ASSERT_FALSE(none.has_value());
    EXPECT_EQ(none.error().what, spawn_error::kind::shutting_down);
    rig.ticks->shut_down();
    EXPECT_EQ(rig->phase(), system_phase::stopped);
    EXPECT_TRUE(journal().is({dead + 3, 1, dead + 50, 2, ended, closed}));
    EXPECT_EQ(rig.events.count(dead_letter_cause::shutdown), 2u);
    EXPECT_EQ(rig->live_count(), 0u);
}

// CO-5: by force, whatever waits becomes a dead letter with the cause.
TEST(actor_scheduler, an_end_by_force_closes_everything_at_once) {
    kernel_rig rig;
    const mailbox_index idle = rig.spawn<ending_actor>();
    const mailbox_index waiting = rig.spawn<ending_actor>();
    const mailbox_index suspended = rig.spawn<ending_actor>();
    EXPECT_TRUE(rig->suspend(suspended, suspension::supervision));
    const mailbox_index stopping = rig.spawn<ending_actor>();
    rig.tell(waiting, {1});
    rig.tell(suspended, {2});
    rig.tell(stopping, {3});
    EXPECT_TRUE(rig->stop(stopping));
    (void)idle;
    rig.destroy();
    EXPECT_TRUE(journal().is({ended, closed, ended, dead + 1, closed, ended, dead + 2, closed,
                              ended, dead + 3, closed}));
    EXPECT_EQ(rig.events.count(dead_letter_cause::shutdown), 3u);
    EXPECT_EQ(rig.memory.live_bytes, 0u);
    EXPECT_EQ(rig.memory.wrong_releases, 0u);
}

TEST(actor_scheduler, a_limit_ends_the_draining) {
    kernel_rig rig([](kernel_rig::options& o) { o.throughput = 1; });
    const mailbox_index a = rig.spawn();
    rig.tell(a, {1, 2, 3});
    rig.ticks->shut_down(2);
    EXPECT_TRUE(journal().is({1, 2, dead + 3, closed}));
}

TEST(actor_scheduler, priorities_of_actors_decide) {
    kernel_rig rig;
    const mailbox_index low = *rig->spawn<tactus_test::plain_actor>({.priority = 1});
    const mailbox_index normal = rig.spawn();
    const mailbox_index high = *rig->spawn<tactus_test::plain_actor>({.priority = 250});
    rig.tell(low, {1});
    rig.tell(normal, {2});
    rig.tell(high, {3});
    EXPECT_EQ(rig.run(), 3u);
    EXPECT_TRUE(journal().is({3, 2, 1}));
}

TEST(actor_scheduler, spawn_and_stop_storms_reuse_slots_and_memory) {
    kernel_rig rig;
    (void)rig.spawn();
    const std::size_t bytes = rig.memory.live_bytes;
    for (unsigned i = 0; i < 2'000; ++i) {
        const mailbox_index a = rig.spawn(+[](turn& t, std::uint32_t) { t.stop(); });
        rig.tell(a, {1});
        ASSERT_EQ(rig.run(), 1u);
        journal().clear();
    }
    EXPECT_EQ(rig->live_count(), 1u);
    EXPECT_LE(rig->slots().constructed_count(), 4u);
    EXPECT_EQ(rig.memory.live_bytes, bytes);
}
