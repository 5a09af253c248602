// SPDX-License-Identifier: Apache-2.0
//
// Goal: middleware around handlers, enqueueing and spawning, and tracing (IN-5, IN-7, IN-8).
// Method: TC-F14 ... F20 without exceptions; those that throw are tested in hosted/runtime.
#include <tactus/dispatch/middleware.hpp>

#include <cstdint>

#include "kernel_rig.hpp"
#include "portable_test.hpp"
#include "spy_chain.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::failed;
using tactus_test::journal;
using tactus_test::kernel_rig;
using tactus_test::number;

namespace {

struct deferring_spy : tactus_test::spy {
    std::uint32_t defers = 0;  // the number it defers while holding
    bool holding = false;
    verdict before(turn& t, envelope& e) {
        (void)spy::before(t, e);
        if (holding && e.get_if<number>()->value == defers) {
            EXPECT_TRUE(t.suspend(suspend_reason::rate_limit, resume_condition::signal(1)));
            return verdict::defer;
        }
        return verdict::proceed;
    }
};
using chain_of_two = tactus_test::chain_of_two<deferring_spy>;

struct failing_actor {
    handled receive(turn&, envelope& e) {
        journal().add(static_cast<std::int32_t>(e.get_if<number>()->value));
        return handled::failed({"always", nullptr});
    }
};

}  // namespace

// TC-F14
TEST(middleware, TC_F14_before_in_order_after_in_reverse) {
    kernel_rig rig;
    chain_of_two two;
    rig->set_middleware(&two.chain);
    rig.tell(rig.spawn(), {7});
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({101, 102, 7, 202, 201}));
}

// TC-F15
TEST(middleware, TC_F15_a_deferred_message_is_kept_and_tried_again_on_resume) {
    kernel_rig rig;
    chain_of_two two;
    two.b.defers = 8;
    two.b.holding = true;
    rig->set_middleware(&two.chain);
    const mailbox_index a = rig.spawn();
    rig.tell(a, {7, 8, 9});
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({101, 102, 7, 202, 201, 101, 102, 201}));  // no handler, no after B
    EXPECT_EQ(rig.run(), 0u);
    two.b.holding = false;
    EXPECT_EQ(rig->signal(1), 1u);
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({101, 102, 8, 202, 201, 101, 102, 9, 202, 201}));
    EXPECT_EQ(rig.events.letters, 0u);
}

// TC-F15 and EX-4: who defers and does not say until when is not asked again and again.
TEST(middleware, a_message_deferred_without_suspending_waits_for_a_resume) {
    struct {
        bool holding = true;
        unsigned asked = 0;
        verdict before(turn&, envelope&) {
            ++asked;
            return holding ? verdict::defer : verdict::proceed;
        }
        void after(turn&, envelope&, const handled&) {}
    } user;
    middleware_of wrapped(user);
    middleware* members[] = {&wrapped};
    const middleware_chain chain{members};
    kernel_rig rig;
    rig->set_middleware(&chain);
    const mailbox_index a = rig.spawn();
    rig.tell(a, {7, 8});
    EXPECT_EQ(rig.run(), 1u);
    rig.tell(a, {9});
    EXPECT_EQ(rig.run(), 0u);
    EXPECT_EQ(user.asked, 1u);
    user.holding = false;
    EXPECT_TRUE(rig->resume(a, suspension::await));
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({7, 8, 9}));
}

// IN-5: an `after` that fails does not consume what was deferred.
TEST(middleware, a_deferred_message_survives_an_after_that_fails) {
    struct failing final : middleware {
        handled before(turn&, envelope&) noexcept override { return handled::ok(); }
        handled after(turn&, envelope&, const handled&) noexcept override {
            return fails ? handled::failed({"after", nullptr}) : handled::ok();
        }
        bool fails = true;
    } first;
    chain_of_two two;
    two.a.defers = 8;
    two.a.holding = true;
    middleware* members[] = {&first, &two.first};
    const middleware_chain chain{members};
    kernel_rig rig;
    rig->set_middleware(&chain);
    const mailbox_index a = rig.spawn();
    rig.tell(a, {8});
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({101, failed}));
    first.fails = false;
    two.a.holding = false;
    EXPECT_EQ(rig->signal(1), 1u);
    EXPECT_EQ(rig.run(), 0u);  // supervision decides
    EXPECT_TRUE(rig->resume(a, suspension::supervision));
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({101, 8, 201}));
    EXPECT_EQ(rig.events.letters, 0u);
}

TEST(middleware, a_message_deferred_when_its_actor_ends_is_a_dead_letter) {
    kernel_rig rig;
    chain_of_two two;
    two.a.defers = 8;
    two.a.holding = true;
    rig->set_middleware(&two.chain);
    const mailbox_index a = rig.spawn();
    rig.tell(a, {8, 9});
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(rig->stop(a));
    EXPECT_TRUE(
        journal().is({101, tactus_test::dead + 8, tactus_test::dead + 9, tactus_test::closed}));
}

// TC-F16
TEST(middleware, TC_F16_after_runs_in_reverse_with_the_failure) {
    kernel_rig rig;
    chain_of_two two;
    rig->set_middleware(&two.chain);
    rig.tell(rig.spawn<failing_actor>(), {7});
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({101, 102, 7, 302, 301, failed}));
}

// TC-F18
TEST(middleware, TC_F18_a_chain_added_while_running_applies_from_the_next_message) {
    static chain_of_two two;
    kernel_rig rig;
    const mailbox_index a = rig.spawn(+[](turn& t, std::uint32_t n) {
        t.system().set_middleware(n == 1 ? &two.chain : nullptr);
    });
    rig.tell(a, {1, 2, 3});
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({1, 101, 102, 2, 202, 201, 3}));
}

TEST(middleware, an_empty_chain_changes_nothing) {
    kernel_rig rig;
    const middleware_chain none{};
    rig->set_middleware(&none);
    rig.tell(rig.spawn(), {1, 2});
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({1, 2}));
}

namespace {

class size_spy final : public enqueue_middleware {
public:
    void enqueuing(mailbox_index to, const message_type& type) noexcept override {
        last_to = to;
        ++count;
        sizes += type.size;
    }
    mailbox_index last_to;
    unsigned count = 0;
    std::size_t sizes = 0;
};

class reason_spy final : public spawn_middleware {
public:
    [[nodiscard]] const char* spawning(const request& r) noexcept override {
        priority = r.options.priority;
        capacity = r.options.mailbox.capacity;
        acts = &r.acts;
        return r.options.priority > 200 ? "too important" : nullptr;
    }
    unsigned priority = 0;
    const behaviour* acts = nullptr;
    std::uint32_t capacity = 0;
};

}  // namespace

// TC-F19
TEST(middleware, TC_F19_enqueueing_sees_type_and_size_and_keeps_the_order) {
    size_spy spy_on;
    kernel_rig rig([&](kernel_rig::options& o) { o.on_enqueue = &spy_on; });
    const mailbox_index a = rig.spawn();
    rig.tell(a, {1, 2, 3});
    EXPECT_EQ(spy_on.count, 3u);
    EXPECT_EQ(spy_on.sizes, 3 * sizeof(number));
    EXPECT_EQ(spy_on.last_to, a);
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({1, 2, 3}));
}

// TC-F20
TEST(middleware, TC_F20_spawning_may_be_refused_with_a_reason) {
    reason_spy spy_on;
    kernel_rig rig([&](kernel_rig::options& o) { o.on_spawn = &spy_on; });
    const auto refused = rig->spawn<tactus_test::plain_actor>({.priority = 201});
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().what, spawn_error::kind::refused);
    EXPECT_EQ(refused.error().reason[0], 't');
    EXPECT_EQ(spy_on.acts, &behaviour_of<tactus_test::plain_actor>());
    EXPECT_EQ(rig->live_count(), 0u);
    EXPECT_TRUE(rig->spawn<tactus_test::plain_actor>({.priority = 200}).has_value());
    EXPECT_EQ(spy_on.priority, 200u);
}

// IN-8: it sees all that is asked for.
TEST(middleware, spawning_is_shown_the_options) {
    reason_spy spy_on;
    kernel_rig rig([&](kernel_rig::options& o) { o.on_spawn = &spy_on; });
    spawn_options o;
    o.mailbox.capacity = 3;
    EXPECT_TRUE(rig->spawn<tactus_test::plain_actor>(o).has_value());
    EXPECT_EQ(spy_on.capacity, 3u);
}

namespace {

class span_spy final : public tracer {
public:
    [[nodiscard]] std::int64_t begin(mailbox_index from, mailbox_index to,
                                     const message_type&) noexcept override {
        last_from = from;
        last_to = to;
        return next == 0 ? 0 : next++;
    }
    void mark(std::int64_t span, point where, mailbox_index who) noexcept override {
        journal().add(static_cast<std::int32_t>(1'000 + span * 10) +
                      static_cast<std::int32_t>(where));
        marked = who;
    }
    std::int64_t next = 1;
    mailbox_index last_from;
    mailbox_index last_to;
    mailbox_index marked;
};

}  // namespace

// IN-7: enqueue, dequeue and invoke have the same id.
TEST(middleware, IN_7_the_way_of_a_message_is_one_span) {
    span_spy spans;
    kernel_rig rig([&](kernel_rig::options& o) { o.trace = &spans; });
    const mailbox_index a = rig.spawn();
    const mailbox_index from = rig.spawn();
    actor_scheduler::tell(a, number{1}, {.sender = from});
    actor_scheduler::tell(a, number{2}, {.sender = from, .deadline = 50});
    EXPECT_EQ(spans.last_from, from);
    EXPECT_EQ(spans.last_to, a);
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_EQ(spans.marked, a);
    EXPECT_TRUE(journal().is({1'010, 1'020, 1'011, 1'012, 1, 1'021, 1'022, 2}));
    spans.next = 0;  // not traced
    rig.tell(a, {3});
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({3}));
}
