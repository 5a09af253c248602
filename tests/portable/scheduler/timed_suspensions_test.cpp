// SPDX-License-Identifier: Apache-2.0
//
// Goal: actors that suspend themselves with a time or a limit wait through the scheduler: at its
// ticks, never early, and nothing is left of a timer that is not needed any more (CO-4, CO-6,
// SC-1).
// Method: actors on a system with a scheduler, in time that the test moves.
#include <tactus/dispatch/suspensions.hpp>

#include <cstdint>

#include "portable_test.hpp"
#include "scheduler_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::closed;
using tactus_test::dead;
using tactus_test::failed;
using tactus_test::journal;
using tactus_test::scheduler_rig;

namespace {

// Reactions: an even number holds the rest back.
constexpr auto after_1500_us = +[](turn& t, std::uint32_t n) {
    if (n % 2 == 0) {
        EXPECT_TRUE(t.suspend(suspend_reason::rate_limit,
                              resume_condition::after(duration::from_us(1'500))));
    }
};
template <suspend_limit_action Action>
void limited(turn& t, std::uint32_t n) {
    if (n % 2 == 0) {
        EXPECT_TRUE(t.suspend(suspend_reason::user_defined, resume_condition::signal(7),
                              {duration::from_ms(3), Action}));
    }
}
// As often as the scheduler takes it; what became of it goes into the journal.
constexpr std::int32_t refused = 900;
constexpr auto after_an_hour = +[](turn& t, std::uint32_t n) {
    if (n % 2 != 0)
        return;
    const auto done =
        t.suspend(suspend_reason::rate_limit, resume_condition::after(duration::from_s(3'600)));
    if (!done)
        journal().add(refused + static_cast<std::int32_t>(done.error()));
};

/// One timer.
struct narrow_rig : scheduler_rig {
    narrow_rig() : scheduler_rig([](scheduler_options& o) { o.config.custom = {1, 1, 1}; }) {}
};

}  // namespace

// CO-4, SC-1: in [delay, delay + 1 tick], at a tick.
TEST(timed_suspensions, CO_4_a_time_is_over_at_its_tick_and_not_before) {
    scheduler_rig rig;
    const mailbox_index a = rig.spawn(after_1500_us);
    rig.time.advance(duration::from_us(250));
    rig.kernel.tell(a, {2, 3});
    rig.run();
    EXPECT_EQ(rig->active_count(), 1u);
    EXPECT_TRUE(rig->next_deadline() == instant::epoch() + duration::from_ms(2));
    rig.time.advance(duration::from_us(1'749));
    rig.run();
    EXPECT_TRUE(journal().is({2}));
    rig.time.advance(duration::from_us(1));
    rig.run();
    EXPECT_TRUE(journal().is({3}));
    EXPECT_EQ(rig->active_count(), 0u);
    EXPECT_EQ(rig->cell_count(), 0u);
    EXPECT_EQ(rig.kernel->waiting().waiting_count(), 0u);
}

// CO-4, SC-8: those of one tick in the order in which they were suspended.
TEST(timed_suspensions, CO_4_times_of_one_tick_are_over_in_order) {
    if (!tactus_test::board::roomy)
        return;  // it has no room for so many at once
    scheduler_rig rig;
    const mailbox_index actors[] = {rig.spawn(after_1500_us), rig.spawn(after_1500_us),
                                    rig.spawn(after_1500_us)};
    for (const unsigned i : {1u, 2u, 0u}) {
        rig.kernel.tell(actors[i], {2, 2 * i + 11});
        rig.run();
        rig.time.advance(duration::from_us(100));
    }
    journal().clear();
    rig.jump(2);
    EXPECT_TRUE(journal().is({13, 15, 11}));
}

// CO-6: what was ended otherwise has no timer any more, and its time ends nothing.
TEST(timed_suspensions, CO_6_a_signal_cancels_the_timer_of_the_limit) {
    scheduler_rig rig;
    const mailbox_index a = rig.spawn(&limited<suspend_limit_action::stop>);
    rig.kernel.tell(a, {2, 3});
    rig.run();
    EXPECT_EQ(rig->active_count(), 1u);
    EXPECT_EQ(rig.kernel->signal(7), 1u);
    EXPECT_EQ(rig->active_count(), 0u);
    EXPECT_EQ(rig->cell_count(), 0u);
    EXPECT_TRUE(rig->next_deadline() == instant::never());
    rig.kernel.tell(a, {4, 5});  // waits again, from now on
    rig.jump(2);
    EXPECT_TRUE(journal().is({2, 3, 4}));
    rig.jump(2);  // when the first would have been over
    EXPECT_TRUE(journal().is({}));
    rig.jump(1);
    EXPECT_TRUE(journal().is({dead + 5, closed}));
}
TEST(timed_suspensions, CO_6_a_manual_resume_cancels_the_timer) {
    scheduler_rig rig;
    const mailbox_index a = rig.spawn(after_1500_us);
    rig.kernel.tell(a, {2, 3});
    rig.run();
    EXPECT_TRUE(rig.kernel->resume(a, suspension::await));
    EXPECT_EQ(rig->active_count(), 0u);
    EXPECT_EQ(rig->cell_count(), 0u);
}

// CO-6: the three ends of a limit, at its tick.
TEST(timed_suspensions, CO_6_each_end_of_a_limit) {
    struct row {
        tactus_test::reaction on;
        std::int32_t first;
    };
    const row table[] = {{&limited<suspend_limit_action::resume>, 3},
                         {&limited<suspend_limit_action::fail>, failed},
                         {&limited<suspend_limit_action::stop>, dead + 3}};
    for (const row& r : table) {
        scheduler_rig rig;
        const mailbox_index a = rig.spawn(r.on);
        rig.kernel.tell(a, {2, 3});
        rig.run();
        journal().clear();
        rig.jump(2);
        EXPECT_TRUE(journal().is({}));
        rig.jump(1);
        EXPECT_EQ(journal().at(0), r.first);
        EXPECT_EQ(rig->active_count(), 0u);
        EXPECT_EQ(rig.kernel->waiting().waiting_count(), 0u);
        EXPECT_EQ(rig.kernel->signal(7), 0u);
    }
}

// SC-10: who runs what is due runs no code of actors: it may be a driver's thread.
TEST(timed_suspensions, SC_10_a_limit_that_stops_ends_the_actor_in_a_run) {
    scheduler_rig rig;
    const mailbox_index a =
        rig.kernel.spawn<tactus_test::ending_actor>(&limited<suspend_limit_action::stop>);
    rig.kernel.tell(a, {2});
    rig.run();
    rig.time.advance(duration::from_ms(3));
    rig->run_due(rig.time.now());
    EXPECT_TRUE(journal().is({2}));
    rig.run();
    EXPECT_TRUE(journal().is({tactus_test::ended, closed}));
}

// CO-4, BP-2: the quota counts them; what is refused is not held back, and not counted.
TEST(timed_suspensions, CO_4_a_full_scheduler_refuses) {
    narrow_rig rig;
    const mailbox_index a = rig.spawn(after_an_hour);
    const mailbox_index b = rig.spawn(after_an_hour);
    rig.kernel.tell(a, {2, 3});
    rig.kernel.tell(b, {4, 5});
    rig.run();
    EXPECT_TRUE(
        journal().is({2, 4, refused + static_cast<std::int32_t>(suspend_error::timer_refused), 5}));
    EXPECT_EQ(rig.kernel->waiting().metrics().suspended, 1u);
    EXPECT_EQ(rig.kernel->waiting().waiting_count(), 1u);
    EXPECT_EQ(rig.kernel.events.suspensions, rig.kernel.events.resumptions + 1);
    EXPECT_TRUE(rig.kernel->resume(a, suspension::await));
    rig.kernel.tell(b, {6, 7});  // there is room again
    rig.run();
    EXPECT_TRUE(journal().is({3, 6}));
    EXPECT_EQ(rig->active_count(), 1u);
}
// SC-3: longer than a timer may wait.
TEST(timed_suspensions, CO_4_a_time_that_is_too_long_is_refused) {
    scheduler_rig rig;
    const mailbox_index a = rig.spawn(+[](turn& t, std::uint32_t) {
        const auto done =
            t.suspend(suspend_reason::rate_limit,
                      resume_condition::after(duration::from_ms(std::int64_t{1} << 31)));
        EXPECT_TRUE(!done && done.error() == suspend_error::timer_refused);
    });
    rig.kernel.tell(a, {1, 2});
    rig.run();
    EXPECT_TRUE(journal().is({1, 2}));
}

// SH-1: its time does not come any more, and that is not its end: it is not early.
TEST(timed_suspensions, SH_1_a_scheduler_that_closes_leaves_the_actor_suspended) {
    if (!tactus_test::board::roomy)
        return;  // it has no room for so many at once
    scheduler_rig rig;
    const mailbox_index a = rig.spawn(&limited<suspend_limit_action::fail>);
    const mailbox_index b = rig.spawn(after_an_hour);
    rig.kernel.tell(a, {2, 3});
    rig.kernel.tell(b, {4, 6});
    rig.run();
    EXPECT_TRUE(rig->close());
    EXPECT_EQ(rig->active_count(), 0u);
    rig.jump(5);
    EXPECT_TRUE(journal().is({2, 4}));
    EXPECT_EQ(rig.kernel->signal(7), 1u);  // other ends are still ends
    EXPECT_TRUE(rig.kernel->resume(b, suspension::await));
    rig.run();
    EXPECT_TRUE(
        journal().is({3, 6, refused + static_cast<std::int32_t>(suspend_error::timer_refused)}));
    EXPECT_TRUE(rig.kernel->stop(a));
}

// CO-6: stop ends a suspension, all of them; the timers are gone.
TEST(timed_suspensions, CO_6_a_stopped_actor_leaves_no_timer) {
    if (!tactus_test::board::roomy)
        return;  // it has no room for so many at once
    scheduler_rig rig;
    const mailbox_index a = rig.spawn(+[](turn& t, std::uint32_t) {
        for (const std::int64_t ms : {5, 2, 9}) {
            EXPECT_TRUE(t.suspend(suspend_reason::rate_limit,
                                  resume_condition::after(duration::from_ms(ms))));
        }
    });
    rig.kernel.tell(a, {1});
    rig.run();
    EXPECT_EQ(rig->active_count(), 3u);
    rig.jump(2);
    EXPECT_EQ(rig->active_count(), 2u);  // one is over, the others hold it
    EXPECT_TRUE(rig.kernel->stop(a));
    EXPECT_EQ(rig->active_count(), 0u);
    EXPECT_EQ(rig->cell_count(), 0u);
    EXPECT_EQ(rig.kernel->waiting().waiting_count(), 0u);
    rig.jump(9);
    EXPECT_TRUE(journal().is({1, closed}));
}

// CO-6: the end of a system ends those, too.
TEST(timed_suspensions, CO_6_the_end_of_the_system_leaves_no_timer) {
    scheduler_rig rig;
    rig.kernel.tell(rig.spawn(after_an_hour), {2, 3});
    rig.run();
    EXPECT_EQ(rig->active_count(), 1u);
    rig.kernel.destroy();
    EXPECT_EQ(rig->active_count(), 0u);
    EXPECT_TRUE(journal().is({2, dead + 3, closed}));
}

// CO-6: 100,000 cycles leave nothing behind, of timers neither.
TEST(timed_suspensions, CO_6_cycles_leave_no_timer_behind) {
    constexpr unsigned cycles = tactus_test::board::random_operations / 10;
    scheduler_rig rig;
    const mailbox_index a = rig.spawn(&limited<suspend_limit_action::stop>);
    for (unsigned i = 0; i < cycles; ++i) {
        rig.kernel.tell(a, {2});
        rig.run();
        ASSERT_EQ(rig.kernel->signal(7), 1u);
    }
    EXPECT_EQ(rig.kernel->waiting().record_count(), 1u);
    EXPECT_EQ(rig->active_count(), 0u);
    EXPECT_EQ(rig->cell_count(), 0u);
}
