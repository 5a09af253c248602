// SPDX-License-Identifier: Apache-2.0
//
// Goal: who subscribes samples is told of every mailbox and dispatcher once per second, and nobody
// looks at anything while nobody does (OH-3).
#include <tactus/actor/load_samples.hpp>

#include "device_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::device_rig;
using tactus_test::journal;

namespace {

constexpr std::uint32_t guardians = 3;

struct seen {
    std::uint32_t mailboxes = 0;
    std::uint32_t dispatchers = 0;
    mailbox_sample of_target;
    dispatcher_sample last;
    any_ref target;
};

class observer : public actor<mailbox_sample, dispatcher_sample> {
public:
    explicit observer(seen* to) : to_(to) {}
    void on(const mailbox_sample& s) {
        ++to_->mailboxes;
        if (s.ref == to_->target)
            to_->of_target = s;
    }
    void on(const dispatcher_sample& s) {
        ++to_->dispatchers;
        to_->last = s;
    }

private:
    seen* to_;
};

class idler : public actor<int> {
public:
    void on(int) {}
};

}  // namespace

// OH-3: at most once per second per object, from the first subscription to the last.
TEST(load_samples, once_per_second_while_somebody_subscribes) {
    device_rig rig;
    seen all;
    const auto a = rig.spawn<observer>("a", &all);
    rig.pass(3'000);
    EXPECT_EQ(all.mailboxes, 0u);
    event_stream& stream = rig.system.world().events();
    EXPECT_TRUE(stream.subscribe<mailbox_sample>(a.index()).value());
    rig.pass(1);
    EXPECT_EQ(all.mailboxes, guardians + 1);
    rig.pass(998);
    EXPECT_EQ(all.mailboxes, guardians + 1);
    rig.pass(3);
    EXPECT_EQ(all.mailboxes, 2 * (guardians + 1));
    EXPECT_EQ(all.dispatchers, 0u);

    // Another kind comes with the next samples, not before.
    EXPECT_TRUE(stream.subscribe<dispatcher_sample>(a.index()).value());
    rig.pass(500);
    EXPECT_EQ(all.dispatchers, 0u);
    rig.pass(502);
    EXPECT_EQ(all.dispatchers, 1u);
    EXPECT_EQ(all.mailboxes, 3 * (guardians + 1));

    EXPECT_TRUE(stream.unsubscribe(a.index()));
    rig.pass(3'000);
    EXPECT_EQ(all.mailboxes, 3 * (guardians + 1));
    EXPECT_EQ(all.dispatchers, 1u);
}

// OH-3: who comes back within the second waits for the rest of it.
TEST(load_samples, subscribing_again_makes_them_no_more_often) {
    device_rig rig;
    seen all;
    const auto a = rig.spawn<observer>("a", &all);
    rig.system.run();
    event_stream& stream = rig.system.world().events();
    EXPECT_TRUE(stream.subscribe<dispatcher_sample>(a.index()).value());
    rig.pass(100);
    EXPECT_EQ(all.dispatchers, 1u);
    for (int i = 0; i < 4; ++i) {
        EXPECT_TRUE(stream.unsubscribe(a.index()));
        rig.pass(100);
        EXPECT_TRUE(stream.subscribe<dispatcher_sample>(a.index()).value());
        rig.pass(100);
    }
    EXPECT_EQ(all.dispatchers, 1u);
    rig.pass(102);
    EXPECT_EQ(all.dispatchers, 2u);
    // Nobody for more than a second: nothing waits any more, and the next comes at once.
    EXPECT_TRUE(stream.unsubscribe(a.index()));
    rig.pass(2'000);
    EXPECT_TRUE(stream.subscribe<dispatcher_sample>(a.index()).value());
    rig.pass(1);
    EXPECT_EQ(all.dispatchers, 3u);
}

// OH-3, BP-3: they come as long as somebody subscribes, though timers are rejected when they do.
TEST(load_samples, BP_3_go_on_while_others_are_rejected) {
    device_rig rig;
    seen all;
    const auto a = rig.spawn<observer>("a", &all);
    const auto idle = rig.spawn<idler>("idler");
    rig.system.run();
    EXPECT_TRUE(rig.system.world().events().subscribe<dispatcher_sample>(a.index()).value());
    rig.pass(851);
    EXPECT_EQ(all.dispatchers, 1u);
    scheduler& timers = *rig.system.world().timers();
    for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(timers.add(
            job_request::once(duration::from_ms(1), timer_priority::high).send(idle.index(), {}),
            1));
        rig.time.advance(duration::from_ms(80));
        rig.system.run();
    }
    EXPECT_EQ(timers.pressure_now().state, backpressure_state::rejecting);
    EXPECT_EQ(all.dispatchers, 2u);
    for (unsigned i = 3; i < 6; ++i) {
        rig.pass(1'002);
        EXPECT_EQ(all.dispatchers, i);
    }
}

// OH-3: what they say.
TEST(load_samples, say_how_full_mailboxes_and_dispatchers_are) {
    device_rig rig;
    seen all;
    const auto a = rig.spawn<observer>("a", &all);
    const auto full =
        rig.system.try_spawn<idler>("full", spawn_options{.mailbox = {.capacity = 4}});
    ASSERT_TRUE(full.has_value());
    rig.system.run();
    all.target = any_ref(*full);
    EXPECT_TRUE(rig.system.world().subscribe<mailbox_sample>(a).value());
    EXPECT_TRUE(rig.system.world().subscribe<dispatcher_sample>(a).value());
    EXPECT_TRUE(rig.system.world().kernel().suspend(full->index(), suspension::await));
    for (int i = 0; i < 3; ++i)
        full->tell(i);
    rig.pass(1);
    EXPECT_EQ(all.of_target.user_len, 3u);
    EXPECT_EQ(all.of_target.system_len, 0u);
    EXPECT_EQ(all.of_target.capacity, 4u);
    EXPECT_EQ(all.of_target.percent, 75u);
    EXPECT_TRUE(all.of_target.at == rig.time.now());
    EXPECT_EQ(all.last.dispatcher, 0u);
    EXPECT_EQ(all.last.workers, 1u);
    EXPECT_EQ(all.last.running, 1u);  // the guardian, which looks
    EXPECT_EQ(all.last.parked, 0u);
    EXPECT_EQ(all.last.rejected, 0u);
    EXPECT_TRUE(rig.system.world().kernel().resume(full->index(), suspension::await));
}
