// SPDX-License-Identifier: Apache-2.0
//
// Goal: messages are handled in the order of the mailbox's kind, bounded or not; a queue that
// breaks ends its actor; bad options are refused by name; a slot may have one kind after another
// (MB, MB-4, MB-12, RG-4, TC-M13 … TC-M15, C-MQ-12 … C-MQ-15).
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "mailbox_rig.hpp"
#include "portable_test.hpp"

using namespace tactus;
using namespace tactus_test;
using cause = tactus::dead_letter_cause;

namespace {

constexpr std::array strategies = {overflow::drop_oldest, overflow::drop_newest, overflow::reject,
                                   overflow::dead_letter, overflow::block};

/// One life after another in the same slot.
void one_slot(kernel_rig::options& o) {
    o.slot_capacity = 1;
    o.slot_magazine = 0;
}

/// Unbounded, and bounded with room enough, with each strategy.
template <class Check>
void each_variant(mailbox_kind kind, Check&& check) {
    check(unbounded(kind));
    for (const overflow how : strategies)
        check(bounded(20, how, kind));
}

}  // namespace

// C-MQ-12: sent by the actor itself, shuffled, in its first turn.
TEST(mailbox_kinds, C_MQ_12_priority_is_ascending) {
    for (const mailbox_kind kind : {mailbox_kind::priority, mailbox_kind::stable_priority}) {
        each_variant(kind, [](const mailbox_options& o) {
            mailbox_rig rig;
            const mailbox_index a = rig.with(
                o, +[](turn& t, std::uint32_t value) {
                    if (value == 0) {
                        for (const std::uint32_t v : {7U, 3U, 9U, 1U, 5U, 8U, 2U, 6U, 4U})
                            t.send(t.self(), number{v});
                    }
                });
            rig.tell(a, {0});
            (void)rig.run();
            EXPECT_TRUE(journal().is({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
        });
    }
}
// C-MQ-13
TEST(mailbox_kinds, C_MQ_13_stable_priority_keeps_the_order_of_equals) {
    each_variant(mailbox_kind::stable_priority, [](const mailbox_options& o) {
        mailbox_rig rig;
        rig.order.rank_max = 100;
        const mailbox_index a = rig.with(o);
        rig.tell(a, {150, 7, 110, 3, 190, 101, 1, 120});
        (void)rig.run();
        EXPECT_TRUE(journal().is({1, 3, 7, 150, 110, 190, 101, 120}));
    });
}
// A message that comes in while others wait passes them at once.
TEST(mailbox_kinds, MB_what_comes_during_a_run_takes_its_place) {
    each_variant(mailbox_kind::priority, [](const mailbox_options& o) {
        mailbox_rig rig;
        const mailbox_index a = rig.with(
            o, +[](turn& t, std::uint32_t value) {
                if (value == 5)
                    t.send(t.self(), number{1});
            });
        rig.tell(a, {5, 6});
        (void)rig.run();
        EXPECT_TRUE(journal().is({5, 1, 6}));
    });
}

// C-MQ-14, TC-M13
TEST(mailbox_kinds, C_MQ_14_TC_M13_control_messages_come_first) {
    each_variant(mailbox_kind::control_aware, [](const mailbox_options& o) {
        mailbox_rig rig;
        const mailbox_index a = rig.with(
            o, +[](turn& t, std::uint32_t value) {
                if (value == 1) {
                    t.send(t.self(), number{11});
                    t.send(t.self(), urgently(12));
                }
            });
        rig.tell(a, {1, 2});
        actor_scheduler::tell(a, urgently(3));
        actor_scheduler::tell(a, urgently(4));
        (void)rig.run();
        EXPECT_TRUE(journal().is({3, 4, 1, 12, 2, 11}));
    });
}
// TC-M14
TEST(mailbox_kinds, TC_M14_drop_oldest_evicts_no_control_message) {
    mailbox_rig rig;
    const mailbox_index a =
        rig.with(bounded(3, overflow::drop_oldest, mailbox_kind::control_aware));
    rig.tell(a, {1, 2});
    actor_scheduler::tell(a, urgently(11));
    rig.tell(a, {3});
    (void)rig.run();
    EXPECT_TRUE(journal().is({dead + 1, 11, 2, 3}));
}
// TC-M15: and where there are only such, the new one is rejected.
TEST(mailbox_kinds, TC_M15_where_nothing_may_go_the_new_one_does) {
    mailbox_rig rig;
    const mailbox_index a =
        rig.with(bounded(2, overflow::drop_oldest, mailbox_kind::control_aware));
    actor_scheduler::tell(a, urgently(1));
    actor_scheduler::tell(a, urgently(2));
    EXPECT_TRUE(actor_scheduler::try_tell(a, urgently(3)) == sent::mailbox_full);
    EXPECT_EQ(rig.events.letters, 0u);
    rig.tell(a, {4});
    EXPECT_EQ(rig.events.count(cause::mailbox_full), 1u);
    (void)rig.run();
    EXPECT_TRUE(journal().is({dead + 4, 1, 2}));
    // What was set aside by the attempts was not stranded, and everybody is welcome again.
    EXPECT_TRUE(actor_scheduler::try_tell(a, number{5}) == sent::accepted);
    (void)rig.run();
    EXPECT_TRUE(journal().is({5}));
}
// MB-1: of any other kind a control message is a message.
TEST(mailbox_kinds, MB1_drop_oldest_of_other_kinds_evicts_control_messages_too) {
    mailbox_rig rig;
    const mailbox_index a = rig.with(bounded(2, overflow::drop_oldest));
    for (std::uint32_t i = 1; i <= 3; ++i)
        actor_scheduler::tell(a, urgently(i));
    EXPECT_EQ(rig.events.letters, 1u);
    (void)rig.run();
    EXPECT_TRUE(journal().is({2, 3}));
}
// DF-5: a message is evictable until it is handed to its handler: after a run that yielded, after a
// resume, and while an older one is handled.
TEST(mailbox_kinds, DF_5_the_oldest_that_waits_is_evicted) {
    for (const mailbox_kind kind :
         {mailbox_kind::fifo, mailbox_kind::deque, mailbox_kind::control_aware}) {
        mailbox_rig rig([](kernel_rig::options& o) { o.throughput = 1; });
        const mailbox_index a = rig.with(
            bounded(3, overflow::drop_oldest, kind), +[](turn& t, std::uint32_t value) {
                if (value == 20) {
                    t.send(t.self(), number{24});
                    t.send(t.self(), number{25});
                }
            });
        rig.tell(a, {1, 2, 3});
        EXPECT_TRUE(rig.run_once());
        rig.tell(a, {4, 5});
        (void)rig.run();
        EXPECT_TRUE(journal().is({1, dead + 2, 3, 4, 5}));
        EXPECT_TRUE(rig->suspend(a, suspension::await));
        rig.tell(a, {11, 12, 13});
        EXPECT_TRUE(rig->resume(a, suspension::await));
        rig.tell(a, {14, 15});
        (void)rig.run();
        EXPECT_TRUE(journal().is({dead + 11, dead + 12, 13, 14, 15}));
        rig.tell(a, {20, 21, 22});
        (void)rig.run();
        EXPECT_TRUE(journal().is({20, dead + 21, 22, 24, 25}));
        EXPECT_EQ(*rig->depth_of(a), 0u);
    }
}
// DF-5: the lanes still learn the deadline of the message that comes next.
TEST(mailbox_kinds, DF_5_deadlines_of_evictable_messages) {
    mailbox_rig rig;
    const mailbox_index a = rig.with(bounded(2, overflow::drop_oldest));
    const mailbox_index b = rig.with(bounded(2, overflow::drop_oldest));
    for (const mailbox_index who : {a, b})
        EXPECT_TRUE(rig->suspend(who, suspension::await));
    const auto due = [](std::uint32_t value, mailbox_index to, std::int64_t at) {
        EXPECT_TRUE(actor_scheduler::try_tell(to, number{value}, {.deadline = at}) ==
                    sent::accepted);
    };
    due(1, a, 900);
    due(2, a, 700);
    due(3, b, 800);
    due(4, a, 600);  // the first is now 2
    for (const mailbox_index who : {b, a})
        EXPECT_TRUE(rig->resume(who, suspension::await));
    (void)rig.run();
    EXPECT_TRUE(journal().is({dead + 1, 2, 4, 3}));
}
// Control messages pass a backlog of any length, also where messages can be evicted.
TEST(mailbox_kinds, DF_5_a_control_message_passes_a_long_backlog) {
    if (!board::roomy)
        return;
    mailbox_rig rig;
    const mailbox_index a =
        rig.with(bounded(500, overflow::drop_oldest, mailbox_kind::control_aware));
    for (std::uint32_t i = 0; i < 66; ++i)
        rig.tell(a, {1'000 + i});
    actor_scheduler::tell(a, urgently(7));
    (void)rig.run();
    EXPECT_EQ(journal().count(), 67u);
    EXPECT_EQ(journal().at(0), 7);
}

// DF-5: the order of a priority mailbox is among all that wait, and the oldest of them is evicted.
TEST(mailbox_kinds, DF_5_a_priority_mailbox_orders_all_that_it_holds) {
    if (!board::roomy)
        return;
    mailbox_rig rig;
    constexpr std::uint32_t each = 90;
    const mailbox_index a =
        rig.with(bounded(2 * each, overflow::drop_oldest, mailbox_kind::priority));
    for (std::uint32_t i = 0; i < each; ++i)
        rig.tell(a, {1'000 + i});
    for (std::uint32_t i = 0; i < each; ++i)
        rig.tell(a, {i + 1});
    (void)rig.run();
    EXPECT_EQ(journal().count(), 2 * each);
    for (std::uint32_t i = 0; i < each; ++i)
        EXPECT_EQ(journal().at(i), static_cast<std::int32_t>(i + 1));
    EXPECT_EQ(journal().at(each), 1'000);
    EXPECT_EQ(rig.events.letters, 0u);
}
TEST(mailbox_kinds, DF_5_a_priority_mailbox_evicts_the_oldest_that_its_queue_has) {
    if (!board::roomy)
        return;
    for (const mailbox_kind kind : {mailbox_kind::priority, mailbox_kind::stable_priority}) {
        parcel::live = 0;
        {
            mailbox_rig rig([](kernel_rig::options& o) { o.throughput = 1; });
            const mailbox_index a = rig.with(bounded(3, overflow::drop_oldest, kind));
            for (const std::uint32_t n : {5U, 7U, 6U})
                actor_scheduler::tell(a, parcel(n));
            EXPECT_TRUE(rig.run_once());  // 5; the queue has the others
            EXPECT_TRUE(journal().is({5}));
            for (const std::uint32_t n : {8U, 9U})
                actor_scheduler::tell(a, parcel(n));  // there was room for one
            EXPECT_EQ(*rig->depth_of(a), 3u);
            (void)rig.run();
            EXPECT_EQ(rig.events.count(cause::mailbox_full), 1u);
            EXPECT_TRUE(journal().is({6, 8, 9}));
            EXPECT_EQ(*rig->depth_of(a), 0u);
            EXPECT_EQ(parcel::live, 0);
            // All of them, and more than there is room for.
            EXPECT_TRUE(rig->suspend(a, suspension::await));
            rig.tell(a, {3, 2, 1});
            EXPECT_TRUE(rig->resume(a, suspension::await));
            EXPECT_TRUE(rig.run_once());
            rig.tell(a, {10, 11, 12, 13});
            (void)rig.run();
            EXPECT_TRUE(journal().is({1, dead + 10, 11, dead + 2, dead + 3, 12, 13}));
            EXPECT_EQ(rig.events.count(cause::mailbox_full), 4u);
            EXPECT_EQ(*rig->depth_of(a), 0u);
            for (std::uint32_t i = 0; i < 3; ++i)
                EXPECT_TRUE(actor_scheduler::try_tell(a, number{i}) == sent::accepted);
            // What was evicted and what was not are lost together with their actor.
            EXPECT_TRUE(rig->stop(a));
        }
    }
}
// DF-5, RG-4: credits of evicted messages are not given back a second time.
TEST(mailbox_kinds, DF_5_an_order_that_fails_among_evicted_messages) {
    if (!board::roomy)
        return;
    mailbox_rig rig([](kernel_rig::options& o) { o.throughput = 1; });
    const mailbox_index a = rig.with(bounded(20, overflow::drop_oldest, mailbox_kind::priority));
    for (std::uint32_t i = 1; i <= 20; ++i)
        rig.tell(a, {i});
    EXPECT_TRUE(rig.run_once());
    for (std::uint32_t i = 21; i <= 24; ++i)
        rig.tell(a, {i});  // evicts three
    rig.order.fails = true;
    (void)rig.run();
    rig.order.fails = false;
    EXPECT_EQ(rig.events.failed_count, 1u);
    EXPECT_EQ(rig.events.letters + *rig->depth_of(a), 23u);
    EXPECT_TRUE(rig->resume(a, suspension::supervision));
    (void)rig.run();
    EXPECT_EQ(*rig->depth_of(a), 0u);
    journal().clear();
    for (std::uint32_t i = 1; i <= 20; ++i)
        EXPECT_TRUE(actor_scheduler::try_tell(a, number{i}) == sent::accepted);
    EXPECT_EQ(*rig->depth_of(a), 20u);
    (void)rig.run();
    EXPECT_EQ(journal().count(), 20u);
}
// DF-16: an order is user code, and is asked without a lock.
TEST(mailbox_kinds, DF_16_an_order_may_send_to_its_own_mailbox) {
    struct sending final : message_order {
        [[nodiscard]] answer before(envelope& x, envelope& y) noexcept override {
            if (to.valid())
                actor_scheduler::tell(std::exchange(to, mailbox_index{}), number{9});
            return value_of(x) < value_of(y) ? answer::yes : answer::no;
        }
        mailbox_index to;
    } order;
    mailbox_rig rig;
    const auto made = rig->spawn<clerk>(
        {.mailbox = bounded(3, overflow::drop_oldest, mailbox_kind::priority), .order = &order});
    EXPECT_TRUE(made.has_value());
    order.to = *made;
    rig.tell(*made, {7, 6, 5});
    (void)rig.run();
    EXPECT_EQ(journal().count(), 4u);
    EXPECT_EQ(rig.events.count(cause::mailbox_full), 1u);
    EXPECT_EQ(*rig->depth_of(*made), 0u);
}

// RG-4: contents dead letters, reported once; the mailbox stays, and is held back.
TEST(mailbox_kinds, DF_43_an_order_that_fails_fails_the_actor) {
    for (const bool is_bounded : {false, true}) {
        mailbox_rig rig;
        parcel::live = 0;
        const mailbox_index a =
            rig.with(is_bounded ? bounded(9, overflow::block, mailbox_kind::priority)
                                : unbounded(mailbox_kind::priority));
        for (std::uint32_t i = 1; i <= 5; ++i)
            actor_scheduler::tell(a, parcel(i));
        rig.order.fails = true;
        (void)rig.run();
        EXPECT_EQ(rig.events.failed_count, 1u);
        EXPECT_EQ(rig.events.closed_count, 0u);
        EXPECT_TRUE(rig.events.last_failed == a);
        EXPECT_EQ(rig.events.count(cause::scheduler_failure), 5u);
        EXPECT_EQ(parcel::live, 0);
        if (is_bounded) {
            EXPECT_EQ(*rig->depth_of(a), 0u);
        }
        rig.order.fails = false;
        rig.tell(a, {7, 6});
        EXPECT_EQ(rig.run(), 0u);
        EXPECT_TRUE(rig->resume(a, suspension::supervision));
        (void)rig.run();
        EXPECT_TRUE(journal().is({tactus_test::failed, 6, 7}));
    }
}
// Whoever waits for room gets the room of what was lost.
TEST(mailbox_kinds, DF_43_a_broken_queue_makes_room) {
    if (!board::roomy)
        return;
    mailbox_rig rig;
    const mailbox_index a = rig.with(bounded(2, overflow::block, mailbox_kind::priority));
    rig.tell(a, {1, 2});
    struct counting_waker final : waker {
        unsigned woken = 0;
        void wake() noexcept override { ++woken; }
    } wake;
    number third{3};
    pending_offer offer(wake);
    EXPECT_FALSE(offer.start(a, std::move(third)).has_value());
    rig.order.fails = true;
    (void)rig.run();
    EXPECT_EQ(wake.woken, 1u);
    rig.order.fails = false;
    EXPECT_TRUE(rig->resume(a, suspension::supervision));
    (void)rig.run();
    EXPECT_TRUE(journal().is({tactus_test::failed, dead + 2, dead + 1, 3}));
}
// RG-4: no memory to grow; the messages that fitted are handled, the others lost, in each strategy.
TEST(mailbox_kinds, DF_43_no_memory_for_the_queue_fails_the_actor) {
    if (!board::roomy)
        return;
    each_variant(mailbox_kind::deque, [](mailbox_options o) {
        if (o.is_bounded()) {
            o.capacity = 40;
            if (o.when_full == overflow::drop_oldest)
                return;  // needs no memory: its messages wait at the gate
        }
        mailbox_rig rig;
        parcel::live = 0;
        const mailbox_index a = rig.with(o);
        for (std::uint32_t i = 1; i <= 18; ++i)
            actor_scheduler::tell(a, parcel(i));
        rig.memory.allowance = 1;  // sixteen places
        (void)rig.run();
        rig.memory.allowance = ~std::size_t{0};
        EXPECT_EQ(rig.events.failed_count, 1u);
        EXPECT_EQ(rig.events.count(cause::scheduler_failure), 2u);
        EXPECT_TRUE(rig->resume(a, suspension::supervision));
        (void)rig.run();
        EXPECT_EQ(journal().count(), 17u);
        EXPECT_EQ(rig.events.letters, 2u);
        EXPECT_EQ(parcel::live, 0);
        if (o.is_bounded()) {
            EXPECT_EQ(*rig->depth_of(a), 0u);
        }
    });
}
TEST(mailbox_kinds, DF_43_an_actor_whose_mailbox_broke_can_be_stopped) {
    mailbox_rig rig;
    parcel::live = 0;
    const mailbox_index a = rig.with(unbounded(mailbox_kind::deque));
    for (std::uint32_t i = 1; i <= 18; ++i)
        actor_scheduler::tell(a, parcel(i));
    rig.memory.allowance = 1;  // sixteen places
    (void)rig.run();
    rig.memory.allowance = ~std::size_t{0};
    EXPECT_EQ(rig.events.failed_count, 1u);
    EXPECT_TRUE(rig->stop(a));
    EXPECT_EQ(rig.events.closed_count, 1u);
    EXPECT_EQ(rig.events.letters, 18u);
    EXPECT_EQ(rig.events.count(cause::scheduler_failure), 2u);
    EXPECT_EQ(parcel::live, 0);
}

// MB-4, C-MQ-15: refused by name, and the slot is as good as new.
TEST(mailbox_kinds, C_MQ_15_bad_options_are_refused_by_name) {
    mailbox_rig rig;
    using kind = spawn_error::kind;
    const auto refused_as = [&](const spawn_options& o) {
        const auto made = rig->spawn<clerk>(o);
        EXPECT_FALSE(made.has_value());
        return made.error().what;
    };
    for (const overflow how : strategies) {
        EXPECT_TRUE(refused_as({.mailbox = bounded(0, how)}) == kind::capacity_zero);
        EXPECT_TRUE(refused_as({.mailbox = bounded(mailbox_gate::capacity_max + 1, how)}) ==
                    kind::capacity_too_large);
    }
    for (const mailbox_kind k : {mailbox_kind::priority, mailbox_kind::stable_priority})
        EXPECT_TRUE(refused_as({.mailbox = unbounded(k)}) == kind::order_missing);
    rig.memory.refusing = true;
    EXPECT_TRUE(refused_as({.mailbox = bounded(1, overflow::reject)}) == kind::memory_exhausted);
    rig.memory.refusing = false;
    EXPECT_EQ(rig->live_count(), 0u);
    const mailbox_index a = rig.with(bounded(mailbox_gate::capacity_max, overflow::reject));
    rig.tell(a, {1});
    (void)rig.run();
    EXPECT_TRUE(journal().is({1}));
}

// MB-12
TEST(mailbox_kinds, MB12_the_defaults_of_a_bounded_mailbox) {
    constexpr mailbox_options o = mailbox_options::bounded();
    static_assert(o.capacity == 1'000 && o.when_full == overflow::dead_letter);
    static_assert(o.push_timeout == duration::from_s(10) && o.pressure_percent == 75);
    static_assert(o.stash_capacity == mailbox_options::unbounded);
    static_assert(o.kind == mailbox_kind::fifo && o.is_bounded() && !o.is_plain());
    static_assert(mailbox_options{}.is_plain());
    mailbox_rig rig;
    const mailbox_index a = rig.with(o);
    rig.tell(a, {1});
    EXPECT_EQ(*rig->depth_of(a), 1u);
}
// MB-4: what each kind can do.
TEST(mailbox_kinds, MB4_capabilities) {
    using can = capability;
    EXPECT_TRUE(unbounded(mailbox_kind::fifo).capabilities() == (can::mpsc | can::unbounded));
    EXPECT_TRUE(unbounded(mailbox_kind::deque).capabilities().has(can::deque | can::mpsc));
    EXPECT_FALSE(unbounded(mailbox_kind::fifo).capabilities().has(can::deque));
    EXPECT_TRUE(bounded(1, overflow::block).capabilities().has(can::blocking | can::bounded));
    EXPECT_FALSE(bounded(1, overflow::reject).capabilities().has(can::blocking));
    EXPECT_TRUE(unbounded(mailbox_kind::control_aware).capabilities().has(can::control_aware));
    const capability_set has = bounded(1, overflow::reject, mailbox_kind::deque).capabilities();
    EXPECT_TRUE(has.first_missing(can::multiple_consumer | can::blocking) == can::blocking);
}

// A slot's lives: bounded, plain, of a kind, bounded; each with messages left, so that what one
// leaves behind shows in the next.
TEST(mailbox_kinds, RG2_a_slot_is_used_for_one_kind_after_another) {
    mailbox_rig rig(one_slot);
    parcel::live = 0;
    mailbox_index last;
    const std::array<mailbox_options, 8> lives = {
        bounded(2, overflow::block),
        mailbox_options{},
        bounded(3, overflow::drop_oldest),
        unbounded(mailbox_kind::deque),
        bounded(2, overflow::reject, mailbox_kind::priority),
        mailbox_options{},
        unbounded(mailbox_kind::control_aware),
        bounded(1, overflow::dead_letter, mailbox_kind::deque)};
    for (unsigned round = 0; round < 3; ++round) {
        for (const mailbox_options& o : lives) {
            const mailbox_index a = rig.with(o);
            if (last.valid()) {
                EXPECT_TRUE(actor_scheduler::try_tell(last, parcel(9)) ==
                            sent::recipient_terminated);
                EXPECT_TRUE(offer(last, parcel(9), duration()) == sent::recipient_terminated);
            }
            const std::uint32_t room = o.is_bounded() ? o.capacity : 5;
            for (std::uint32_t i = 0; i < room; ++i)
                EXPECT_TRUE(actor_scheduler::try_tell(a, parcel(i + 1)) == sent::accepted);
            if (o.is_bounded()) {
                EXPECT_EQ(*rig->depth_of(a), room);
            }
            EXPECT_TRUE(rig->suspend(a, suspension::await));
            EXPECT_TRUE(rig->stop(a));
            (void)rig.run();
            EXPECT_EQ(rig.events.closed_user, room);
            EXPECT_EQ(parcel::live, 0);
            last = a;
        }
    }
    EXPECT_EQ(rig.events.count(cause::mailbox_full), 0u);
    rig.destroy();
    EXPECT_EQ(rig.memory.live_blocks, 0u);
    EXPECT_EQ(rig.memory.wrong_releases, 0u);
}
// The steps of a sender that is delayed across the end of a life: it has entered, and pushes late;
// its credit went with the life, and the next one's are not touched.
TEST(mailbox_kinds, RG2_a_sender_late_by_a_life_takes_no_credit_of_the_next) {
    mailbox_rig rig(one_slot);
    for (const overflow how : strategies) {
        const mailbox_index old = rig.with(bounded(1, overflow::block));
        slot& s = rig.at(old);
        EXPECT_TRUE(s.gated()->gate().enter(old.generation) == mailbox_gate::entry::entered);
        EXPECT_TRUE(rig->stop(old));
        (void)rig.run();
        const mailbox_index a = rig.with(bounded(1, how));
        rig.tell(a, {1});
        envelope_cache pool(rig->envelopes());
        envelope& late = *pool.take();
        EXPECT_TRUE(late.emplace<number>(number{7}, nullptr));
        late.set_generation(old.generation);
        journal().clear();
        EXPECT_TRUE(s.enqueue(late) == enqueued::accepted);
        EXPECT_EQ(*rig->depth_of(a), 1u);
        (void)rig.run();
        EXPECT_TRUE(journal().is({1, dead + 7}));
        EXPECT_EQ(*rig->depth_of(a), 0u);
        EXPECT_TRUE(rig->stop(a));
        (void)rig.run();
    }
    EXPECT_EQ(rig.events.count(cause::wrong_generation), 5u);
}
// A sender of a plain life that finds the gate of the bounded one before it: nobody's.
TEST(mailbox_kinds, RG2_a_plain_life_does_not_inherit_the_gate_of_the_one_before) {
    mailbox_rig rig(one_slot);
    const mailbox_index old = rig.with(bounded(1, overflow::block));
    EXPECT_TRUE(rig->stop(old));
    (void)rig.run();
    const mailbox_index plain = rig.with({});
    slot& s = rig.at(plain);
    EXPECT_TRUE(rig->stop(plain));
    (void)rig.run();
    // It looked before the end, and goes on after it.
    ASSERT_TRUE(s.gated() != nullptr);
    gate_waiter w;
    EXPECT_TRUE(s.gated()->gate().wait(plain.generation, w) == mailbox_gate::entry::ended);
}
// A constructor that fails: the gate of the life that was not begun is shut again.
TEST(mailbox_kinds, MB4_a_refused_spawn_leaves_no_open_gate) {
    mailbox_rig rig(one_slot);
    const mailbox_index first = rig.with(bounded(1, overflow::reject));
    EXPECT_TRUE(rig->stop(first));
    (void)rig.run();
    mailbox_block& block = *rig.at(first).block();
    rig.at(first).set_kind(&block);
    block.open(bounded(1, overflow::reject), first.generation + 1, nullptr);
    rig.at(first).drop_kind();
    EXPECT_TRUE(block.gate().enter(first.generation + 1) == mailbox_gate::entry::ended);
    EXPECT_TRUE(rig.at(first).kind() == nullptr);
}
