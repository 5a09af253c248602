// SPDX-License-Identifier: Apache-2.0
//
// Goal: what user code throws becomes a failure, wherever it throws (IN-5, IN-6, EX-3, UP-4).
// Method: handlers, middleware, constructors and tasks that throw, in a file with exceptions.
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <utility>

#include "kernel_rig.hpp"
#include "mailbox_rig.hpp"
#include "spy_chain.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::failed;
using tactus_test::journal;
using tactus_test::kernel_rig;
using tactus_test::number;

namespace {

struct throwing_actor {
    void receive(turn&, envelope& e) {
        const std::uint32_t n = e.get_if<number>()->value;
        journal().add(static_cast<std::int32_t>(n));
        if (n == 2)
            throw std::runtime_error("two");
    }
};

enum class where : std::uint8_t { nowhere, before, after };
struct throwing_spy : tactus_test::spy {
    where throws = where::nowhere;
    verdict before(turn& t, envelope& e) {
        const verdict said = spy::before(t, e);
        if (throws == where::before)
            throw 1;
        return said;
    }
    void after(turn& t, envelope& e, const handled& result) {
        spy::after(t, e, result);
        if (throws == where::after)
            throw 2;
    }
};
using chain_of_two = tactus_test::chain_of_two<throwing_spy>;

struct throws_at_birth {
    explicit throws_at_birth(bool does) {
        if (does)
            throw std::logic_error("not born");
        journal().add(1);
    }
    throws_at_birth(const throws_at_birth&) = delete;
    throws_at_birth& operator=(const throws_at_birth&) = delete;
    ~throws_at_birth() { journal().add(tactus_test::ended); }
    void receive(turn&, envelope&) {}
};

}  // namespace

// IN-6
TEST(kernel_exceptions, a_handler_that_throws_fails_its_actor_and_no_other) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn<throwing_actor>();
    const mailbox_index b = rig.spawn();
    rig.tell(a, {1, 2, 3});
    rig.tell(b, {9});
    EXPECT_EQ(rig.run(), 2u);
    EXPECT_TRUE(journal().is({1, 2, failed, 9}));
    EXPECT_EQ(rig.events.last_failed, a);
    EXPECT_STREQ(rig.events.last_what, "two");
    EXPECT_TRUE(rig->resume(a, suspension::supervision));
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({3}));
}

// trap S8: who waits for room in the mailbox of an actor that throws is not left asleep. The
// message was consumed, so there is room; when the actor ends, those who still wait are told.
TEST(kernel_exceptions, a_handler_that_throws_leaves_nobody_waiting_for_room) {
    struct counting_waker final : waker {
        unsigned woken = 0;
        void wake() noexcept override { ++woken; }
    };
    tactus_test::mailbox_rig rig;
    const mailbox_index a =
        rig.with<throwing_actor>(tactus_test::bounded(1, tactus::overflow::block));
    rig.tell(a, {2});
    counting_waker woken[2];
    pending_offer first(woken[0]);
    pending_offer second(woken[1]);
    number messages[] = {{3}, {4}};  // they live until the offers are decided
    EXPECT_FALSE(first.start(a, std::move(messages[0])).has_value());
    EXPECT_FALSE(second.start(a, std::move(messages[1])).has_value());
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({2, failed}));
    EXPECT_EQ(woken[0].woken, 1u);
    EXPECT_EQ(first.decision(), sent::accepted);
    EXPECT_EQ(woken[1].woken, 0u);
    EXPECT_TRUE(rig->stop(a));  // what a supervisor may decide
    (void)rig.run();
    EXPECT_EQ(woken[1].woken, 1u);
    EXPECT_EQ(second.decision(), sent::recipient_terminated);
    EXPECT_TRUE(journal().is({tactus_test::dead + 3, tactus_test::closed}));
}

// TC-F16
TEST(kernel_exceptions, TC_F16_after_sees_the_exception_as_a_failure) {
    kernel_rig rig;
    chain_of_two two;
    rig->set_middleware(&two.chain);
    rig.tell(rig.spawn<throwing_actor>(), {2});
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({101, 102, 2, 302, 301, failed}));
}

// TC-F17
TEST(kernel_exceptions, TC_F17_an_after_that_throws_is_reported_once_and_the_others_run) {
    kernel_rig rig;
    chain_of_two two;
    two.b.throws = where::after;
    rig->set_middleware(&two.chain);
    rig.tell(rig.spawn(), {7, 8});
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({101, 102, 7, 202, 301, failed}));
    EXPECT_EQ(rig.events.failed_count, 1u);
    EXPECT_STREQ(rig.events.last_what, unknown_exception);
    // With a handler that failed before, its failure is the one reported, and each after sees it.
    struct failing {
        handled receive(turn&, envelope&) { return handled::failed({"the handler", nullptr}); }
    };
    journal().clear();
    rig.tell(rig.spawn<failing>(), {2});
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({101, 102, 302, 301, failed}));
    EXPECT_EQ(rig.events.failed_count, 2u);
    EXPECT_STREQ(rig.events.last_what, "the handler");
}

TEST(kernel_exceptions, a_before_that_throws_fails_the_actor_without_running_the_handler) {
    kernel_rig rig;
    chain_of_two two;
    two.b.throws = where::before;
    rig->set_middleware(&two.chain);
    rig.tell(rig.spawn(), {7});
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({101, 102, 301, failed}));
    EXPECT_EQ(rig.events.letters, 0u);  // consumed
}

TEST(kernel_exceptions, a_constructor_that_throws_is_a_spawn_error) {
    {
        kernel_rig rig;
        for (int i = 0; i < 3; ++i) {
            const auto none = rig->spawn<throws_at_birth>({}, true);
            ASSERT_FALSE(none.has_value());
            EXPECT_EQ(none.error().what, spawn_error::kind::constructor_failed);
        }
        EXPECT_EQ(rig->live_count(), 0u);
        EXPECT_LE(rig->slots().constructed_count(), 1u);  // the slot went back
        const auto some = rig->spawn<throws_at_birth>({}, false);
        ASSERT_TRUE(some.has_value());
        // And none of them was a life: it is as new as a slot that nobody had. (Where generations
        // begin depends on the systems before this one.)
        const auto fresh = rig->spawn<throws_at_birth>({}, false);
        ASSERT_TRUE(fresh.has_value());
        EXPECT_NE(some->slot_number(), fresh->slot_number());
        EXPECT_EQ(some->generation, fresh->generation);
        EXPECT_TRUE(rig->stop(*fresh));
        EXPECT_TRUE(journal().is({1, 1, tactus_test::ended, tactus_test::closed}));
        EXPECT_TRUE(rig->stop(*some));
        EXPECT_FALSE(rig->spawn<throws_at_birth>({}, true).has_value());
        EXPECT_TRUE(journal().is({tactus_test::ended, tactus_test::closed}));
    }
    EXPECT_TRUE(journal().is({}));
}

// Its first life, and the system ends: there is no state to destroy.
TEST(kernel_exceptions, a_state_that_was_never_born_does_not_end) {
    kernel_rig rig;
    EXPECT_FALSE(rig->spawn<throws_at_birth>({}, true).has_value());
    rig.destroy();
    EXPECT_TRUE(journal().is({}));
    EXPECT_EQ(rig.events.closed_count, 0u);
}

// TC-M40, EX-3
TEST(kernel_exceptions, TC_M40_a_task_that_throws_releases_the_guard) {
    kernel_rig rig;
    worker_task_of throwing([] { throw 1; });
    worker_task_of fine([] { journal().add(1); });
    EXPECT_TRUE(rig->execute(throwing));
    EXPECT_TRUE(rig->execute(fine));
    EXPECT_TRUE(rig.run_once());
    EXPECT_TRUE(rig.run_once());
    EXPECT_TRUE(journal().is({1}));
    EXPECT_EQ(rig->failed_task_count(), 1u);
    EXPECT_EQ(rig.ticks->nested_count(), 0u);
}
