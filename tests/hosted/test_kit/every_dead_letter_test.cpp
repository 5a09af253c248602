// SPDX-License-Identifier: Apache-2.0
//
// Goal: every cause of a dead letter is one that something makes (MB-6, SD-5).
// Method: one program per cause; the enumeration is walked, so that a cause without one fails.
#include <tactus/dispatch/offer.hpp>
#include <tactus/test_kit/kit.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <iterator>
#include <stdexcept>

#include "mailbox_rig.hpp"

namespace tactus_test {
namespace {

using namespace tactus;  // NOLINT: a list of everything
using cause = dead_letter_cause;

struct throws_when_made {
    throws_when_made() = default;
    throws_when_made(const throws_when_made&) { throw std::runtime_error("no copy"); }
    throws_when_made& operator=(const throws_when_made&) = delete;
};
/// Keeps what it gets in its mailbox.
mailbox_index asleep(mailbox_rig& rig, std::uint32_t capacity, overflow how) {
    const mailbox_index who = rig.with(bounded(capacity, how));
    EXPECT_TRUE(rig->suspend(who, suspension::supervision));
    return who;
}
unsigned of_full_mailbox() {
    mailbox_rig rig;
    const mailbox_index who = asleep(rig, 1, overflow::drop_newest);
    rig.tell(who, {1, 2});
    return rig.events.count(cause::mailbox_full);
}
unsigned of_offer_in_vain() {
    mailbox_rig rig;
    const mailbox_index who = asleep(rig, 1, overflow::block);
    rig.tell(who, {1});
    (void)offer(who, number{2}, duration());
    return rig.events.count(cause::mailbox_timeout);
}
unsigned of_tell_that_would_wait() {
    mailbox_rig rig;
    const mailbox_index who = asleep(rig, 1, overflow::block);
    rig.tell(who, {1, 2});
    return rig.events.count(cause::would_block);
}
unsigned of_no_envelope() {
    kernel_rig rig([](kernel_rig::options& o) {
        o.envelope_capacity = 1;
        o.reserve_for_system = 1;
    });
    rig.tell(rig.spawn(), {1, 2});
    return rig.events.count(cause::pool_exhausted);
}
unsigned of_an_end() {
    kernel_rig rig;
    const mailbox_index who = rig.spawn();
    rig.tell(who, {1});
    EXPECT_TRUE(rig->stop(who));
    (void)rig.run();
    return rig.events.count(cause::recipient_terminated);
}
unsigned of_another_life() {
    kernel_rig rig;
    const mailbox_index who = rig.spawn();
    rig.tell(who, {1});
    const worker::binding bound(rig->worker_at(0));
    envelope* e = rig->worker_at(0).envelopes().take();
    EXPECT_TRUE(e->emplace<number>(number{2}, nullptr));
    e->set_generation(who.generation + 7);  // as one that was delayed for so long
    e->sender.write({});
    EXPECT_EQ(rig.at(who).enqueue(*e), enqueued::accepted);
    (void)rig.run();
    return rig.events.count(cause::wrong_generation);
}
unsigned of_a_broken_mailbox() {
    mailbox_rig rig;
    const mailbox_index who = rig.with(unbounded(mailbox_kind::deque));
    rig.tell(who, {1});
    rig.memory.allowance = 0;
    (void)rig.run();
    rig.memory.allowance = ~std::size_t{0};
    return rig.events.count(cause::scheduler_failure);
}
unsigned of_the_end_of_all() {
    kernel_rig rig;
    const mailbox_index who = rig.spawn();
    rig->begin_stop();
    rig.tell(who, {1});
    return rig.events.count(cause::shutdown);
}
unsigned of_a_drain() {
    kernel_rig rig;
    const mailbox_index who = rig.spawn();
    rig->slots().find(who)->tag.store(1, std::memory_order_relaxed);  // it has a parent
    EXPECT_TRUE(rig->refuse_senders(0));
    rig.tell(who, {1});
    return rig.events.count(cause::draining);
}
unsigned of_a_constructor() {
    kernel_rig rig;
    const mailbox_index who = rig.spawn();
    const throws_when_made message;
    actor_scheduler::tell(who, message);
    return rig.events.count(cause::construction_failed);
}

class puts_aside : public actor<int>, public with_stash<1> {
public:
    auto on(int) { return context().stash(); }
};
struct noted_causes final : world_events {
    void dead_letter(any_ref, envelope&, cause why) noexcept override {
        overflows += why == cause::stash_overflow ? 1 : 0;
        on_purpose += why == cause::explicit_request ? 1 : 0;
    }
    unsigned overflows = 0;
    unsigned on_purpose = 0;
};
unsigned of_a_full_stash() {
    noted_causes told;
    test::kit kit({.events = &told});
    const auto who = kit.spawn<puts_aside>("puts-aside");
    who.tell(1);
    who.tell(2);
    kit.run_until_idle();
    return told.overflows;
}

unsigned of_telling_nobody() {
    noted_causes told;
    test::kit kit({.events = &told});
    any_ref(kit.world().dead_letters()).tell(1);
    kit.run_until_idle();
    return told.on_purpose;
}

/// Null: nothing makes it yet (docs/deviations.md).
struct row {
    cause which;
    unsigned (*makes)();
};
constexpr row rows[] = {
    {cause::mailbox_full, of_full_mailbox},
    {cause::mailbox_timeout, of_offer_in_vain},
    {cause::would_block, of_tell_that_would_wait},
    {cause::pool_exhausted, of_no_envelope},
    {cause::recipient_terminated, of_an_end},
    {cause::wrong_generation, of_another_life},
    {cause::scheduler_failure, of_a_broken_mailbox},
    {cause::shutdown, of_the_end_of_all},
    {cause::stash_overflow, of_a_full_stash},
    {cause::explicit_request, of_telling_nobody},
    {cause::serialization, nullptr},
    {cause::construction_failed, of_a_constructor},
    {cause::draining, of_a_drain},
};

// MB-6, SD-5
TEST(every_dead_letter, SD_5_every_cause_is_produced) {
    ASSERT_EQ(std::size(rows), dead_letter_cause_count);
    for (std::size_t i = 0; i < dead_letter_cause_count; ++i) {
        ASSERT_EQ(static_cast<std::size_t>(rows[i].which), i);
        if (rows[i].which != cause::serialization) {
            EXPECT_EQ(rows[i].makes(), 1u) << name_of(rows[i].which);
        }
    }
}

}  // namespace
}  // namespace tactus_test
