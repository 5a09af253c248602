// SPDX-License-Identifier: Apache-2.0
//
// Goal: what happens to a message that finds a bounded mailbox full, for every strategy and every
// way of sending, from outside and from a handler; every message is handled, a dead letter, or its
// sender's again, once (MB-1 … MB-3, TC-M08 … TC-M11, C-MQ-3, C-MQ-4, C-MQ-7).
// Method: one table of what the specification says; a system run by the test.
#include <array>
#include <cstdint>

#include <tactus/dispatch/invoker.hpp>

#include "mailbox_rig.hpp"
#include "portable_test.hpp"

using namespace tactus;
using namespace tactus_test;
using cause = tactus::dead_letter_cause;

namespace {

enum class way : std::uint8_t { tell, try_tell, offer };

/// What became of a message that did not fit.
enum class fate : std::uint8_t {
    in,        // it is in, another became a dead letter
    letter,    // it became a dead letter
    returned,  // it is its sender's again, and nothing is published
};

struct row {
    overflow how;
    way sending;
    bool from_inside;
    fate what;
    sent said;    // of try_tell and offer
    cause named;  // of the dead letter, if there is one
};

// MB-1, MB-2. The offer is given no time here.
constexpr std::array rows = {
    row{overflow::drop_oldest, way::tell, false, fate::in, sent::accepted, cause::mailbox_full},
    row{overflow::drop_oldest, way::tell, true, fate::in, sent::accepted, cause::mailbox_full},
    row{overflow::drop_oldest, way::try_tell, false, fate::in, sent::accepted, cause::mailbox_full},
    row{overflow::drop_oldest, way::try_tell, true, fate::in, sent::accepted, cause::mailbox_full},
    row{overflow::drop_oldest, way::offer, false, fate::in, sent::accepted, cause::mailbox_full},
    row{overflow::drop_oldest, way::offer, true, fate::in, sent::accepted, cause::mailbox_full},

    row{overflow::drop_newest, way::tell, false, fate::letter, sent::dropped, cause::mailbox_full},
    row{overflow::drop_newest, way::tell, true, fate::letter, sent::dropped, cause::mailbox_full},
    row{overflow::drop_newest, way::try_tell, false, fate::letter, sent::dropped,
        cause::mailbox_full},
    row{overflow::drop_newest, way::try_tell, true, fate::letter, sent::dropped,
        cause::mailbox_full},
    row{overflow::drop_newest, way::offer, false, fate::letter, sent::dropped, cause::mailbox_full},
    row{overflow::drop_newest, way::offer, true, fate::letter, sent::dropped, cause::mailbox_full},

    row{overflow::reject, way::tell, false, fate::letter, sent::dropped, cause::mailbox_full},
    row{overflow::reject, way::tell, true, fate::letter, sent::dropped, cause::mailbox_full},
    row{overflow::reject, way::try_tell, false, fate::returned, sent::mailbox_full, {}},
    row{overflow::reject, way::try_tell, true, fate::returned, sent::mailbox_full, {}},
    row{overflow::reject, way::offer, false, fate::returned, sent::mailbox_full, {}},
    row{overflow::reject, way::offer, true, fate::returned, sent::mailbox_full, {}},

    row{overflow::dead_letter, way::tell, false, fate::letter, sent::dropped, cause::mailbox_full},
    row{overflow::dead_letter, way::tell, true, fate::letter, sent::dropped, cause::mailbox_full},
    row{overflow::dead_letter, way::try_tell, false, fate::letter, sent::dropped,
        cause::mailbox_full},
    row{overflow::dead_letter, way::try_tell, true, fate::letter, sent::dropped,
        cause::mailbox_full},
    row{overflow::dead_letter, way::offer, false, fate::letter, sent::dropped, cause::mailbox_full},
    row{overflow::dead_letter, way::offer, true, fate::letter, sent::dropped, cause::mailbox_full},

    row{overflow::block, way::tell, false, fate::letter, sent::would_block, cause::would_block},
    row{overflow::block, way::tell, true, fate::letter, sent::would_block, cause::would_block},
    row{overflow::block, way::try_tell, false, fate::returned, sent::mailbox_full, {}},
    row{overflow::block, way::try_tell, true, fate::returned, sent::mailbox_full, {}},
    row{overflow::block, way::offer, false, fate::letter, sent::timed_out, cause::mailbox_timeout},
    row{overflow::block, way::offer, true, fate::returned, sent::would_block, {}},
};

struct attempt {
    way sending;
    mailbox_index to;
    sent said = sent::accepted;
    std::uint32_t left = 0;  // what the sender's parcel holds afterwards
};
void make(attempt& a, std::uint32_t value) {
    parcel p(value);
    switch (a.sending) {
    case way::tell:
        actor_scheduler::tell(a.to, std::move(p));
        break;
    case way::try_tell:
        a.said = actor_scheduler::try_tell(a.to, std::move(p));
        break;
    case way::offer:
        a.said = offer(a.to, std::move(p), duration());
        break;
    }
    a.left = p.value();
}

/// Makes an attempt when it is told to.
struct deputy {
    attempt* what;
    void receive(turn&, envelope& e) { make(*what, value_of(e)); }
};

/// True when all of it is as the row says.
[[nodiscard]] bool holds(const row& r) {
    mailbox_rig rig;
    parcel::live = 0;
    attempt a{.sending = r.sending, .to = rig.with(bounded(2, r.how))};
    const mailbox_index agent = rig.with<deputy>({}, &a);
    bool good = rig->suspend(a.to, suspension::supervision);  // until all is sent
    for (std::uint32_t i = 1; i <= 2; ++i)
        actor_scheduler::tell(a.to, parcel(i));
    // The third message does not fit.
    if (r.from_inside) {
        actor_scheduler::tell(agent, number{3});
        (void)rig.run();
    } else {
        make(a, 3);
    }
    const bool returned = r.what == fate::returned;
    good = good && a.left == (returned ? 3U : 0U);
    good = good && (r.sending == way::tell || a.said == r.said);
    good = good && rig.events.letters == (returned ? 0U : 1U);
    good = good && (returned || rig.events.count(r.named) == 1);
    good = good && (returned || rig.events.last_to == a.to);
    good = good && parcel::live == 2 && *rig->depth_of(a.to) == 2;
    good = good && rig->resume(a.to, suspension::supervision);
    (void)rig.run();
    good = good && (r.what == fate::in ? journal().is({2, 3}) : journal().is({1, 2}));
    return good && parcel::live == 0 && *rig->depth_of(a.to) == 0 && rig.events.lost == 0;
}

}  // namespace

TEST(bounded_mailbox, MB1_MB2_each_strategy_and_each_way_of_sending) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const bool good = holds(rows[i]);
        EXPECT_TRUE(good);
        if (!good)
            TEST_LOG("row", i);
    }
}

// TC-M08
TEST(bounded_mailbox, TC_M08_drop_newest_keeps_what_was_there) {
    mailbox_rig rig;
    const mailbox_index a = rig.with(bounded(2, overflow::drop_newest));
    rig.tell(a, {1, 2});
    EXPECT_TRUE(actor_scheduler::try_tell(a, number{3}) == sent::dropped);
    (void)rig.run();
    EXPECT_TRUE(journal().is({dead + 3, 1, 2}));
}
// TC-M09
TEST(bounded_mailbox, TC_M09_drop_oldest_keeps_the_newest) {
    mailbox_rig rig;
    const mailbox_index a = rig.with(bounded(2, overflow::drop_oldest));
    rig.tell(a, {1, 2, 3, 4});
    (void)rig.run();
    EXPECT_TRUE(journal().is({dead + 1, dead + 2, 3, 4}));
    EXPECT_EQ(rig.events.count(cause::mailbox_full), 2u);
}
// TC-M10: an unbounded mailbox counts no message that is sent. Its length is what a run has found
// and left, so here one more is handled first; a bounded one's is exact at any time.
TEST(bounded_mailbox, TC_M10_three_messages_are_a_length_of_three) {
    mailbox_rig rig([](kernel_rig::options& o) { o.throughput = 1; });
    for (const mailbox_kind k : {mailbox_kind::fifo, mailbox_kind::deque}) {
        const mailbox_index a = rig.with(unbounded(k));
        rig.tell(a, {1, 2, 3, 4});
        EXPECT_FALSE(rig->depth_of(a).has_value());
        EXPECT_TRUE(rig.run_once());
        EXPECT_EQ(rig.at(a).user_length(), 3u);
        (void)rig.run();
        EXPECT_EQ(rig.at(a).user_length(), 0u);
        EXPECT_TRUE(journal().is({1, 2, 3, 4}));
    }
    const mailbox_index b = rig.with(bounded(10, overflow::dead_letter));
    rig.tell(b, {1, 2, 3});
    EXPECT_EQ(*rig->depth_of(b), 3u);
    (void)rig.run();
    EXPECT_TRUE(journal().is({1, 2, 3}));
    EXPECT_EQ(rig.events.letters, 0u);
}
// C-MQ-3: nothing is lost, and the depth follows each message.
TEST(bounded_mailbox, C_MQ_3_the_depth_follows_each_message) {
    mailbox_rig rig([](kernel_rig::options& o) { o.throughput = 1; });
    const mailbox_index a = rig.with(bounded(1'000, overflow::dead_letter));
    constexpr std::uint32_t many = board::roomy ? 90 : 20;
    for (std::uint32_t i = 1; i <= many; ++i) {
        rig.tell(a, {i});
        EXPECT_EQ(*rig->depth_of(a), i);
    }
    for (std::uint32_t i = many; i > 0; --i) {
        EXPECT_EQ(*rig->depth_of(a), i);
        EXPECT_TRUE(rig.run_once());
    }
    EXPECT_EQ(*rig->depth_of(a), 0u);
    EXPECT_EQ(journal().count(), many);
    EXPECT_EQ(rig.events.letters, 0u);
}
// C-MQ-4, and C-MQ-7: offers that are given no time.
TEST(bounded_mailbox, C_MQ_4_C_MQ_7_offers_without_time_become_dead_letters) {
    mailbox_rig rig;
    const mailbox_index a = rig.with(bounded(10, overflow::block));
    for (std::uint32_t i = 1; i <= 20; ++i) {
        const sent said = offer(a, number{i}, duration());
        EXPECT_TRUE(said == (i <= 10 ? sent::accepted : sent::timed_out));
    }
    EXPECT_EQ(rig.events.count(cause::mailbox_timeout), 10u);
    EXPECT_EQ(*rig->depth_of(a), 10u);
    journal().clear();
    (void)rig.run();
    EXPECT_TRUE(journal().is({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
}

// MB-2: in the order of arrival, delivered by the mailbox; full for everybody else meanwhile.
TEST(bounded_mailbox, MB2_waiting_offers_are_served_in_order_and_nobody_overtakes_them) {
    mailbox_rig rig([](kernel_rig::options& o) { o.throughput = 1; });
    struct counting_waker final : waker {
        unsigned woken = 0;
        void wake() noexcept override { ++woken; }
    };
    const mailbox_index a = rig.with(bounded(1, overflow::block));
    rig.tell(a, {1});
    std::array<counting_waker, 3> wakers;
    pending_offer first(wakers[0]);
    pending_offer second(wakers[1]);
    pending_offer third(wakers[2]);
    number messages[] = {{2}, {3}, {4}};  // they live until the offers are decided
    EXPECT_FALSE(first.start(a, std::move(messages[0])).has_value());
    EXPECT_FALSE(second.start(a, std::move(messages[1])).has_value());
    EXPECT_FALSE(third.start(a, std::move(messages[2])).has_value());
    EXPECT_TRUE(first.push_timeout() == duration::from_s(10));  // MB-12
    EXPECT_TRUE(actor_scheduler::try_tell(a, number{5}) == sent::mailbox_full);
    EXPECT_TRUE(second.cancel());
    EXPECT_FALSE(second.cancel());
    EXPECT_TRUE(rig.run_once());  // 1 is handled: 2 is in
    EXPECT_EQ(wakers[0].woken, 1u);
    EXPECT_TRUE(first.decision() == sent::accepted);
    EXPECT_FALSE(first.cancel());
    EXPECT_EQ(wakers[2].woken, 0u);
    rig.tell(a, {6});  // somebody waits still
    (void)rig.run();
    EXPECT_EQ(wakers[1].woken, 0u);
    EXPECT_EQ(wakers[2].woken, 1u);
    EXPECT_TRUE(journal().is({dead + 3, 1, dead + 6, 2, 4}));
    EXPECT_EQ(rig.events.count(cause::mailbox_timeout), 1u);
    EXPECT_EQ(rig.events.count(cause::would_block), 1u);
}
// MB-2: the message of an offer that waits when the mailbox is closed is its sender's again.
TEST(bounded_mailbox, MB2_a_close_gives_waiting_messages_back) {
    mailbox_rig rig;
    parcel::live = 0;
    struct counting_waker final : waker {
        unsigned woken = 0;
        void wake() noexcept override { ++woken; }
    } woken;
    {
        const mailbox_index a = rig.with(bounded(1, overflow::block));
        actor_scheduler::tell(a, parcel(1));
        pending_offer waits(woken);
        parcel mine(2);
        EXPECT_FALSE(waits.start(a, std::move(mine)).has_value());
        EXPECT_TRUE(rig->suspend(a, suspension::await));
        EXPECT_TRUE(rig->stop(a));
        (void)rig.run();
        EXPECT_EQ(woken.woken, 1u);
        EXPECT_TRUE(waits.decision() == sent::recipient_terminated);
        EXPECT_FALSE(waits.cancel());
        EXPECT_EQ(mine.value(), 2u);
        EXPECT_EQ(rig.events.letters, 1u);  // the one that was in
        EXPECT_TRUE(offer(a, std::move(mine), duration()) == sent::recipient_terminated);
        EXPECT_EQ(mine.value(), 2u);
    }
    EXPECT_EQ(parcel::live, 0);
}
// MB-2: an offer outlives its system, and another system has its number by then.
TEST(bounded_mailbox, MB2_an_offer_is_told_before_its_system_is_gone) {
    struct counting_waker final : waker {
        unsigned woken = 0;
        void wake() noexcept override { ++woken; }
    } woken;
    pending_offer waits(woken);
    number mine{2};  // lives until the offer is decided
    std::uint32_t number_then = 0;
    {
        mailbox_rig rig;
        number_then = rig->system_number();
        const mailbox_index a = rig.with(bounded(1, overflow::block));
        rig.tell(a, {1});
        EXPECT_FALSE(waits.start(a, std::move(mine)).has_value());
    }
    EXPECT_EQ(woken.woken, 1u);
    bool again = false;
    for (unsigned i = 0; i < system_table::number_count && !again; ++i) {
        mailbox_rig another;
        again = another->system_number() == number_then;
        EXPECT_FALSE(waits.cancel());
        EXPECT_EQ(another.events.letters, 0u);
    }
    EXPECT_TRUE(again);
}

// MB-3, MB-7, TC-M11, TC-M28: by the owner, between two messages.
namespace {
std::array<envelope, 3> nobodys;
std::array<envelope*, 3> stashed = {&nobodys[0], &nobodys[1], &nobodys[2]};
prepended put_back_result;
unsigned put_back_count = 0;

void put_back_on_one(turn& t, std::uint32_t value) {
    if (value != 1)
        return;
    envelope_list batch;
    for (unsigned i = 0; i < put_back_count; ++i)
        EXPECT_TRUE(batch.push(*stashed[i]));
    slot& s = t.system().slots().at(t.self().slot_number());
    put_back_result = s.prepend(batch);
    const bool kept = batch.size() == put_back_count;
    EXPECT_EQ(kept, put_back_result != prepended::done || put_back_count == 0);
}
}  // namespace

// TC-M11
TEST(bounded_mailbox, MB3_TC_M11_a_full_deque_takes_nothing_in_front_and_evicts_nothing) {
    for (const overflow how : {overflow::drop_oldest, overflow::drop_newest, overflow::reject,
                               overflow::dead_letter, overflow::block}) {
        mailbox_rig rig;
        const mailbox_index a = rig.with(
            bounded(2, how, mailbox_kind::deque), +[](turn& t, std::uint32_t value) {
                if (value == 1)
                    t.send(t.self(), number{3});  // takes the place of 1
                put_back_on_one(t, value);
            });
        put_back_count = 1;
        rig.tell(a, {1, 2});
        (void)rig.run();
        EXPECT_TRUE(put_back_result == prepended::full);
        EXPECT_TRUE(journal().is({1, 2, 3}));
        EXPECT_EQ(rig.events.letters, 0u);
    }
}
// TC-M29: what a stash puts back: a recoverable error, and the messages are still there; nothing is
// no error. The stash that is built on it is the actors'.
TEST(bounded_mailbox, MB7_a_kind_without_a_front_refuses_a_batch_and_loses_nothing) {
    for (const mailbox_kind k : {mailbox_kind::fifo, mailbox_kind::priority,
                                 mailbox_kind::stable_priority, mailbox_kind::control_aware}) {
        for (const bool is_bounded : {false, true}) {
            mailbox_rig rig;
            const mailbox_index a = rig.with(
                is_bounded ? bounded(5, overflow::reject, k) : unbounded(k), &put_back_on_one);
            put_back_count = 2;
            rig.tell(a, {1, 2});
            (void)rig.run();
            EXPECT_TRUE(put_back_result == prepended::not_a_deque);
            put_back_count = 0;  // nothing is no error
            rig.tell(a, {1, 2});
            (void)rig.run();
            EXPECT_TRUE(put_back_result == prepended::done);
            EXPECT_TRUE(journal().is({1, 2, 1, 2}));
        }
    }
}
// TC-M28
TEST(bounded_mailbox, MB7_TC_M28_a_batch_comes_before_what_is_queued) {
    for (const bool is_bounded : {false, true}) {
        mailbox_rig rig;
        const mailbox_index a =
            rig.with(is_bounded ? bounded(4, overflow::reject, mailbox_kind::deque)
                                : unbounded(mailbox_kind::deque),
                     &put_back_on_one);
        put_back_count = 3;
        rig.tell(a, {1, 2});
        envelope_cache pool(rig->envelopes());  // handled, they go back to it
        for (std::uint32_t i = 0; i < 3; ++i) {
            stashed[i] = pool.take();
            EXPECT_TRUE(stashed[i]->emplace<number>(number{11 + i}, nullptr));
            stashed[i]->set_generation(a.generation);
        }
        EXPECT_TRUE(rig.run_once());
        EXPECT_TRUE(put_back_result == prepended::done);
        EXPECT_TRUE(journal().is({1, 11, 12, 13, 2}));
        if (is_bounded) {
            EXPECT_EQ(*rig->depth_of(a), 0u);
        }
        stashed = {&nobodys[0], &nobodys[1], &nobodys[2]};
    }
}

// RG-1: a made-up reference does not pass the gate either.
TEST(bounded_mailbox, generation_0_does_not_pass_the_gate) {
    mailbox_rig rig;
    static mailbox_index bounded_one;
    bounded_one = rig.with(bounded(2, overflow::reject));
    const mailbox_index sender = rig.spawn(
        +[](turn& t, std::uint32_t n) { t.send(bounded_one.with_generation(0), number{n}); });
    rig.tell(sender, {1, 2, 3, 4});
    rig.run();
    EXPECT_EQ(rig.events.count(dead_letter_cause::recipient_terminated), 4u);
    EXPECT_EQ(rig->depth_of(bounded_one), 0u);
}

// CO-4, TC-F06: who waits for room goes on when there is some.
TEST(bounded_mailbox, TC_F06_who_waits_for_room_is_resumed_by_the_receivers_run) {
    for (const bool late : {false, true}) {
        mailbox_rig rig;
        static mailbox_index full;
        static bool drained_meanwhile;
        static mailbox_rig* all;
        all = &rig;
        drained_meanwhile = late;
        full = rig.with(bounded(1, overflow::reject));
        rig.tell(full, {100});
        const mailbox_index sender = rig.spawn(+[](turn& t, std::uint32_t n) {
            if (t.system().try_tell(full, number{n}) == sent::accepted)
                return;
            if (drained_meanwhile) {
                // The receiver runs between the refusal and the wait.
                drained_meanwhile = false;
                worker& w = t.system().worker_at(0);
                slot* s = t.system().order().next(w.lanes());
                EXPECT_EQ(s, &all->at(full));
                const invoke_result result = invoker::run(w, *s);
                EXPECT_TRUE(t.system().order().end_run(*s, &w.lanes(), result));
            }
            EXPECT_TRUE(t.suspend(suspend_reason::backpressure,
                                  resume_condition::when_capacity_available()));
        });
        // Behind the receiver in the lane, so that it meets a full mailbox first when not late.
        rig->suspend(full, suspension::supervision);
        rig.tell(sender, {1, 2});
        if (late)
            rig->resume(full, suspension::supervision);
        rig.run_once();
        if (!late)
            rig->resume(full, suspension::supervision);
        rig.run();
        EXPECT_EQ(rig->waiting().waiting_count(), 0u);
        EXPECT_TRUE(rig.at(sender).state().should_process());
    }
}

// CO-4: the end of the receiver is an answer too.
TEST(bounded_mailbox, CO_4_who_waits_for_room_goes_on_when_the_receiver_ends) {
    mailbox_rig rig;
    static mailbox_index full;
    full = rig.with(bounded(1, overflow::reject));
    rig.tell(full, {100});
    (void)rig->suspend(full, suspension::supervision);
    const mailbox_index sender = rig.spawn(+[](turn& t, std::uint32_t n) {
        if (n != 1 || actor_scheduler::try_tell(full, number{n}) != sent::mailbox_full)
            return;
        EXPECT_TRUE(
            t.suspend(suspend_reason::backpressure, resume_condition::when_capacity_available()));
    });
    rig.tell(sender, {1, 2});
    rig.run();
    EXPECT_EQ(rig->waiting().waiting_count(), 1u);
    EXPECT_TRUE(rig->stop(full));
    rig.run();
    EXPECT_EQ(rig->waiting().waiting_count(), 0u);
    EXPECT_TRUE(rig.at(sender).state().should_process());
}

// MB-1: credits the owner keeps to give them back together are not kept from itself.
TEST(bounded_mailbox, MB_1_an_actor_may_fill_its_own_mailbox) {
    if (!board::roomy)
        return;
    for (const std::uint32_t capacity : {1u, 15u, 16u, 127u}) {
        mailbox_rig rig;
        static std::uint32_t room;
        static unsigned taken;
        room = capacity;
        taken = 0;
        const mailbox_index a = rig.with(
            bounded(capacity, overflow::reject), +[](turn& t, std::uint32_t n) {
                if (n != 1'000)
                    return;
                for (std::uint32_t i = 0; i <= room; ++i)
                    taken +=
                        actor_scheduler::try_tell(t.self(), number{i}) == sent::accepted ? 1 : 0;
            });
        rig.tell(a, {1'000});
        rig.run();
        EXPECT_EQ(taken, capacity);
    }
}

// MB-2: an offer may be made again when it is decided.
TEST(bounded_mailbox, MB_2_an_offer_that_is_over_can_be_made_again) {
    mailbox_rig rig;
    const mailbox_index a = rig.with(bounded(1, overflow::block));
    (void)rig->suspend(a, suspension::supervision);
    rig.tell(a, {1});
    struct silent final : waker {
        void wake() noexcept override {}
    } nobody;
    pending_offer o(nobody);
    for (unsigned round = 0; round < 2; ++round) {
        EXPECT_FALSE(o.start(a, number{2}).has_value());
        EXPECT_TRUE(o.cancel());
    }
}
