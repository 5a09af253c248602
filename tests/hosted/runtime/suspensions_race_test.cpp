// SPDX-License-Identifier: Apache-2.0
//
// Goal: whatever ends a suspension, signal, time, resume by hand or stop, it ends once, and leaves
// neither record nor timer (CO-4, CO-6).
// Method: threads that signal at the moments when limits are over; counts. For ThreadSanitizer.
#include <tactus/dispatch/suspensions.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <thread>

#include "pool_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::sized;
using tactus_test::timed_pool_rig;
using tactus_test::until;

namespace {

constexpr std::uint64_t key = 7;
constexpr std::uint64_t nobodys = 8;  // is never signalled

/// How often actors were held back, and let go.
struct hold_counter final : kernel_events {
    void suspended(mailbox_index, held_reason) noexcept override { ++held; }
    void resumed(mailbox_index) noexcept override { ++let_go; }
    void dead_letter(mailbox_index, envelope&, dead_letter_cause) noexcept override {}
    void message_lost(mailbox_index, const message_type&, dead_letter_cause) noexcept override {}
    void system_dead_letter(mailbox_index, system_message&) noexcept override {}
    void mailbox_closed(mailbox_index, std::size_t, std::size_t) noexcept override { ++closed; }
    void actor_failed(mailbox_index, const failure&) noexcept override {}
    void deadline_missed(mailbox_index, std::int64_t) noexcept override {}
    std::atomic<std::uint64_t> held{0};
    std::atomic<std::uint64_t> let_go{0};
    std::atomic<std::uint64_t> closed{0};
};

struct go {};

/// Suspends itself, for a time that ends about when somebody signals, until it was held so often.
/// Every other time nobody does, and the time may be over before the suspension is known of.
struct held_often {
    std::uint64_t count;
    std::atomic<std::uint32_t>* left;
    std::uint64_t held = 0;

    void receive(turn& t, envelope&) {
        if (held == count) {
            --*left;
            return;
        }
        const bool is_alone = held % 2 != 0;
        const duration limit =
            duration::from_us(is_alone ? 1 : static_cast<std::int64_t>(10 + held % 40));
        // Refused where this machine has stood still for long: then it is tried again.
        if (t.suspend(suspend_reason::await_external,
                      resume_condition::signal(is_alone ? nobodys : key),
                      {limit, suspend_limit_action::resume}))
            ++held;
        t.send(t.self(), go{});
    }
};

}  // namespace

// CO-6, CO-4: signal against limit.
TEST(suspensions_race, CO_6_a_signal_and_a_limit_end_a_suspension_once) {
    constexpr std::uint32_t actors = 4;
    const std::uint64_t each = sized(100'000, 20);
    hold_counter events;
    timed_pool_rig rig(2, {.events = &events}, duration::from_us(10));
    std::atomic<std::uint32_t> left{actors};
    for (std::uint32_t i = 0; i < actors; ++i)
        actor_scheduler::tell(*rig.system.spawn<held_often>({}, each, &left), go{});
    std::uint64_t signalled = 0;
    ASSERT_TRUE(until([&] {
        for (int i = 0; i < 100; ++i)
            signalled += rig.system.signal(key);
        return left.load() == 0;
    }));
    const suspension_metrics m = rig.system.waiting().metrics();
    std::printf("%llu of %llu by signals\n", static_cast<unsigned long long>(signalled),
                static_cast<unsigned long long>(m.suspended));
    EXPECT_EQ(m.suspended, actors * each);
    EXPECT_EQ(m.resumed, actors * each);
    EXPECT_EQ(events.held.load(), events.let_go.load());  // refused ones, too
    EXPECT_LE(signalled, actors * each);
    EXPECT_EQ(rig.system.waiting().waiting_count(), 0u);
    EXPECT_LE(rig.system.waiting().record_count(), 8u);
    EXPECT_TRUE(until([&] { return rig.timers.cell_count() == 0; }));
    EXPECT_EQ(rig.timers.active_count(), 0u);
}

namespace {

/// Its second message, after the time, is the last. One that is to be stopped has much time.
struct held_once {
    bool is_stopped;
    std::atomic<std::uint64_t>* told = nullptr;  // that it was held back
    bool held = false;

    void receive(turn& t, envelope&) {
        if (held) {
            t.stop();
            return;
        }
        held = t.suspend(suspend_reason::await_external,
                         resume_condition::signal(is_stopped ? nobodys : key),
                         {is_stopped ? duration::from_s(3'600) : duration::from_us(20),
                          suspend_limit_action::stop})
                   .has_value();
        if (told != nullptr)
            ++*told;
        t.send(t.self(), go{});
    }
};

}  // namespace

// CO-6: stop from outside, a limit that stops, a resume by hand and signals: each actor ends once.
TEST(suspensions_race, CO_6_every_end_at_once) {
    const std::uint64_t actors = sized(20'000, 10);
    hold_counter events;
    std::atomic<std::uint64_t> told{0};
    timed_pool_rig rig(2, {.events = &events}, duration::from_us(10));
    std::atomic<bool> over{false};
    std::thread other([&] {
        while (!over.load())
            (void)rig.system.signal(key);
    });
    for (std::uint64_t i = 0; i < actors; ++i) {
        const bool waits = i % 6 == 0;  // half of those that are stopped: they are held back then
        const mailbox_index a =
            *rig.system.spawn<held_once>({}, i % 3 == 0, waits ? &told : nullptr);
        actor_scheduler::tell(a, go{});
        if (waits)
            (void)until([&] { return told.load() > i / 6; });
        if (i % 3 == 0)
            (void)rig.system.stop(a);
        else if (i % 3 == 1)
            (void)rig.system.resume(a, suspension::await);
        if (!until([&] { return events.closed.load() + 64 > i; }))
            break;
    }
    EXPECT_TRUE(until([&] { return events.closed.load() == actors; }));
    over = true;
    other.join();
    EXPECT_EQ(events.closed.load(), actors);
    EXPECT_EQ(rig.system.waiting().waiting_count(), 0u);
    EXPECT_TRUE(until([&] { return rig.timers.cell_count() == 0; }));
    EXPECT_EQ(rig.timers.active_count(), 0u);
}
