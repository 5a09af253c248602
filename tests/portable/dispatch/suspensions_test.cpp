// SPDX-License-Identifier: Apache-2.0
//
// Goal: what holds an actor's messages back, and what lets them go (CO-4, CO-6).
// Method: actors that suspend themselves on a system driven by hand with a manual clock, and timers
// that are due to the nanosecond. How times go with the scheduler's ticks is in
// tests/portable/scheduler/timed_suspensions_test.cpp.
#include <tactus/dispatch/suspensions.hpp>

#include <cstdint>
#include <string_view>

#include "kernel_rig.hpp"
#include "portable_test.hpp"
#include "timed_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::closed;
using tactus_test::dead;
using tactus_test::failed;
using tactus_test::journal;
using tactus_test::kernel_rig;
using tactus_test::naive_timers;
using tactus_test::plain_actor;
using tactus_test::timed_rig;

namespace {

// Reactions: an even number holds the rest back, an odd one does not.
constexpr auto on_signal_7 = +[](turn& t, std::uint32_t n) {
    if (n % 2 == 0) {
        EXPECT_TRUE(t.suspend(suspend_reason::await_external, resume_condition::signal(7)));
    }
};
constexpr auto after_10 = +[](turn& t, std::uint32_t n) {
    if (n % 2 == 0) {
        EXPECT_TRUE(
            t.suspend(suspend_reason::rate_limit, resume_condition::after(duration::from_ns(10))));
    }
};
constexpr auto for_room = +[](turn& t, std::uint32_t n) {
    if (n % 2 == 0) {
        EXPECT_TRUE(
            t.suspend(suspend_reason::backpressure, resume_condition::when_capacity_available()));
    }
};

template <suspend_limit_action Action>
void limited(turn& t, std::uint32_t n) {
    if (n % 2 == 0) {
        EXPECT_TRUE(t.suspend(suspend_reason::user_defined, resume_condition::signal(7),
                              {duration::from_ns(100), Action}));
    }
}

}  // namespace

// CO-6: holds back after the current message; the signal resumes.
TEST(suspensions, user_messages_after_the_current_one_wait_for_the_signal) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn(on_signal_7);
    rig.tell(a, {1, 2, 3, 5});
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({1, 2}));
    EXPECT_EQ(rig->waiting().waiting_count(), 1u);
    EXPECT_EQ(rig->signal(8), 0u);
    EXPECT_EQ(rig->signal(7 + 16), 0u);  // another key of the same bucket
    EXPECT_EQ(rig.run(), 0u);
    EXPECT_EQ(rig->signal(7), 1u);
    EXPECT_EQ(rig->waiting().waiting_count(), 0u);
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({3, 5}));
    EXPECT_EQ(rig->waiting().metrics().unheard_signals, 2u);  // counted, not stored
}

// CO-6: 64-bit keys, in the order of suspension.
TEST(suspensions, a_signal_resumes_all_that_wait_in_the_order_they_suspended) {
    kernel_rig rig;
    // In the same list, and before the others.
    const mailbox_index other = rig.spawn(+[](turn& t, std::uint32_t n) {
        if (n == 2) {
            EXPECT_TRUE(t.suspend(suspend_reason::user_defined,
                                  resume_condition::signal((std::uint64_t{1} << 63) + 7)));
        }
    });
    rig.tell(other, {2, 99});
    EXPECT_EQ(rig.run(), 1u);
    mailbox_index all[4];
    for (mailbox_index& a : all)
        a = rig.spawn(on_signal_7);
    for (const unsigned i : {2u, 0u, 3u, 1u}) {
        rig.tell(all[i], {2});
        EXPECT_EQ(rig.run(), 1u);
        rig.tell(all[i], {10 * i + 11});
    }
    journal().clear();
    EXPECT_EQ(rig->signal(7), 4u);
    EXPECT_EQ(rig.run(), 4u);
    EXPECT_TRUE(journal().is({31, 11, 41, 21}));
    EXPECT_EQ(rig->signal((std::uint64_t{1} << 63) + 7), 1u);
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({99}));
}

// TC-F05
TEST(suspensions, TC_F05_after_a_time_on_a_manual_clock) {
    timed_rig rig;
    const mailbox_index a = rig.spawn(after_10);
    rig.tell(a, {4, 5});
    EXPECT_EQ(rig.run(), 1u);
    rig.time.advance(duration::from_ns(5));
    EXPECT_EQ(rig.run(), 0u);
    EXPECT_TRUE(journal().is({4}));
    rig.time.advance(duration::from_ns(10));
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({5}));
}

TEST(suspensions, a_time_of_zero_and_the_longest_are_kept) {
    timed_rig rig;
    const mailbox_index a = rig.spawn(+[](turn& t, std::uint32_t n) {
        if (n == 1) {
            EXPECT_TRUE(
                t.suspend(suspend_reason::rate_limit, resume_condition::after(duration::zero())));
        } else if (n == 2) {
            EXPECT_TRUE(
                t.suspend(suspend_reason::rate_limit, resume_condition::after(duration::max())));
        }
    });
    rig.tell(a, {1, 2, 3});
    (void)rig.run();
    EXPECT_TRUE(journal().is({1, 2}));
    rig.time.advance(duration::from_ms(1'000'000));
    EXPECT_EQ(rig.run(), 0u);
    EXPECT_TRUE(rig->resume(a, suspension::await));
    (void)rig.run();
    EXPECT_TRUE(journal().is({3}));
}

// TC-F06
TEST(suspensions, TC_F06_when_capacity_is_available) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn(for_room);
    const mailbox_index b = rig.spawn(for_room);
    rig.tell(a, {2, 9});
    rig.tell(b, {2, 77});
    EXPECT_EQ(rig.run(), 2u);
    journal().clear();
    EXPECT_EQ(rig->signal(0), 0u);  // no signal is meant
    EXPECT_EQ(rig->waiting().capacity_available(), 2u);
    EXPECT_EQ(rig.run(), 2u);
    EXPECT_TRUE(journal().is({9, 77}));
}

// TC-F08
TEST(suspensions, TC_F08_metrics_count_and_measure) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn(on_signal_7);
    for (const std::uint64_t ns : {10u, 20u}) {
        rig.tell(a, {2});
        EXPECT_EQ(rig.run(), 1u);
        rig.time.advance(duration::from_ns(static_cast<std::int64_t>(ns)));
        EXPECT_EQ(rig->signal(7), 1u);
        const suspension_metrics m = rig->waiting().metrics();
        EXPECT_TRUE(m.measured);
        EXPECT_EQ(m.last_ns, ns);
        EXPECT_EQ(m.total_ns, ns == 10 ? 10u : 30u);
        EXPECT_EQ(m.suspended, ns / 10);
        EXPECT_EQ(m.resumed, ns / 10);
        EXPECT_EQ(m.by_reason[static_cast<unsigned>(suspend_reason::await_external)], ns / 10);
        EXPECT_EQ(m.by_reason[static_cast<unsigned>(suspend_reason::backpressure)], 0u);
    }
}

// TC-F08
TEST(suspensions, TC_F08_without_a_clock_nothing_is_measured_and_times_are_refused) {
    kernel_rig rig([](kernel_rig::options& o) { o.time = nullptr; });
    const mailbox_index a = rig.spawn(+[](turn& t, std::uint32_t n) {
        if (n == 1) {
            EXPECT_TRUE(
                t.suspend(suspend_reason::rate_limit, resume_condition::after(duration::zero()))
                    .error() == suspend_error::no_scheduler);
            EXPECT_TRUE(t.suspend(suspend_reason::rate_limit, resume_condition::signal(1),
                                  {duration::from_ns(1), suspend_limit_action::fail})
                            .error() == suspend_error::no_scheduler);
        } else if (n == 2) {
            EXPECT_TRUE(t.suspend(suspend_reason::rate_limit, resume_condition::signal(1)));
        }
    });
    rig.tell(a, {1, 2, 3});
    (void)rig.run();
    EXPECT_TRUE(journal().is({1, 2}));  // refused: not held back
    EXPECT_EQ(rig->signal(1), 1u);
    const suspension_metrics m = rig->waiting().metrics();
    EXPECT_FALSE(m.measured);
    EXPECT_EQ(m.total_ns, 0u);
    EXPECT_EQ(m.resumed, 1u);
}

// CO-6: the three ends of a limit.
TEST(suspensions, a_limit_resumes) {
    timed_rig rig;
    const mailbox_index a = rig.spawn(&limited<suspend_limit_action::resume>);
    rig.tell(a, {2, 3});
    (void)rig.run();
    rig.time.advance(duration::from_ns(99));
    EXPECT_EQ(rig.run(), 0u);
    rig.time.advance(duration::from_ns(1));
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({2, 3}));
    EXPECT_EQ(rig->signal(7), 0u);
}
TEST(suspensions, a_limit_fails_the_actor) {
    timed_rig rig;
    const mailbox_index a = rig.spawn(&limited<suspend_limit_action::fail>);
    rig.tell(a, {2, 3});
    (void)rig.run();
    rig.time.advance(duration::from_ns(100));
    EXPECT_EQ(rig.run(), 0u);
    EXPECT_TRUE(journal().is({2, failed}));
    EXPECT_EQ(rig.events.last_failed, a);
    EXPECT_EQ(rig.at(a).state().suspend_count(suspension::await), 0u);
    EXPECT_TRUE(rig->resume(a, suspension::supervision));  // what supervision may decide
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({3}));
}
TEST(suspensions, a_limit_stops_the_actor) {
    timed_rig rig;
    const mailbox_index a = rig.spawn(&limited<suspend_limit_action::stop>);
    rig.tell(a, {2, 3});
    (void)rig.run();
    rig.time.advance(duration::from_ns(100));
    (void)rig.run();
    EXPECT_TRUE(journal().is({2, dead + 3, closed}));
    EXPECT_EQ(rig->waiting().waiting_count(), 0u);
}
// CO-6: whatever it waits for, at the limit and not before.
TEST(suspensions, a_limit_ends_every_kind_of_suspension) {
    static constexpr resume_condition conditions[] = {
        resume_condition::signal(7), resume_condition::after(duration::from_ns(101)),
        resume_condition::when_capacity_available()};
    static constexpr suspend_limit_action actions[] = {
        suspend_limit_action::resume, suspend_limit_action::fail, suspend_limit_action::stop};
    for (const std::uint32_t condition : {0u, 1u, 2u}) {
        for (const std::uint32_t action : {0u, 1u, 2u}) {
            timed_rig rig;
            const mailbox_index a = rig.spawn(+[](turn& t, std::uint32_t n) {
                if (n < 10) {
                    EXPECT_TRUE(t.suspend(suspend_reason::user_defined, conditions[n / 3],
                                          {duration::from_ns(100), actions[n % 3]}));
                }
            });
            rig.tell(a, {3 * condition + action, 10});
            EXPECT_EQ(rig.run(), 1u);
            rig.time.advance(duration::from_ns(99));
            EXPECT_EQ(rig.run(), 0u);
            journal().clear();
            rig.time.advance(duration::from_ns(1));
            (void)rig.run();
            switch (actions[action]) {
            case suspend_limit_action::resume:
                EXPECT_TRUE(journal().is({10}));
                break;
            case suspend_limit_action::fail:
                EXPECT_TRUE(journal().is({failed}));
                break;
            case suspend_limit_action::stop:
                EXPECT_TRUE(journal().is({dead + 10, closed}));
                break;
            }
            EXPECT_EQ(rig->waiting().waiting_count(), 0u);
            EXPECT_EQ(rig->signal(7), 0u);
        }
    }
}
TEST(suspensions, a_signal_in_time_beats_the_limit) {
    timed_rig rig;
    const mailbox_index a = rig.spawn(&limited<suspend_limit_action::stop>);
    rig.tell(a, {2, 3});
    (void)rig.run();
    EXPECT_EQ(rig->signal(7), 1u);
    rig.time.advance(duration::from_ns(1'000));
    (void)rig.run();
    EXPECT_TRUE(journal().is({2, 3}));
    EXPECT_EQ(rig.events.closed_count, 0u);
}
TEST(suspensions, the_earlier_of_a_time_and_its_limit_decides) {
    timed_rig rig;
    const mailbox_index a = rig.spawn(+[](turn& t, std::uint32_t n) {
        if (n % 2 == 0) {
            EXPECT_TRUE(t.suspend(suspend_reason::user_defined,
                                  resume_condition::after(duration::from_ns(10)),
                                  {duration::from_ns(n), suspend_limit_action::fail}));
        }
    });
    rig.tell(a, {20, 3, 4, 5});
    (void)rig.run();
    rig.time.advance(duration::from_ns(10));
    (void)rig.run();  // resumed; then 4 has a limit of 4
    EXPECT_TRUE(journal().is({20, 3, 4}));
    rig.time.advance(duration::from_ns(4));
    (void)rig.run();
    EXPECT_TRUE(journal().is({failed}));
}

// CO-6: stop ends a suspension.
TEST(suspensions, a_stopped_actor_does_not_wait_any_more) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn(on_signal_7);
    rig.tell(a, {2, 3});
    (void)rig.run();
    EXPECT_TRUE(rig->stop(a));
    EXPECT_TRUE(journal().is({2, dead + 3, closed}));
    EXPECT_EQ(rig->waiting().waiting_count(), 0u);
    EXPECT_EQ(rig->signal(7), 0u);
}

// CO-6: every one of them.
TEST(suspensions, an_actor_that_suspended_itself_twice_leaves_nothing_behind) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn(+[](turn& t, std::uint32_t) {
        EXPECT_TRUE(t.suspend(suspend_reason::user_defined, resume_condition::signal(1)));
        EXPECT_TRUE(t.suspend(suspend_reason::user_defined, resume_condition::signal(2)));
    });
    rig.tell(a, {1, 2});
    (void)rig.run();
    EXPECT_EQ(rig->signal(1), 1u);
    EXPECT_EQ(rig.run(), 0u);  // nested: the second still holds it
    EXPECT_EQ(rig->signal(2), 1u);
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(rig->stop(a));
    EXPECT_EQ(rig->waiting().waiting_count(), 0u);
}

// CO-6: 100,000 cycles leave no memory behind.
TEST(suspensions, cycles_leave_no_memory_behind) {
    constexpr unsigned cycles = tactus_test::board::random_operations;
    kernel_rig rig;
    const mailbox_index a = rig.spawn(on_signal_7);
    const std::size_t bytes = rig.memory.live_bytes;
    for (unsigned i = 0; i < cycles; ++i) {
        rig.tell(a, {2});
        ASSERT_EQ(rig.run(), 1u);
        ASSERT_EQ(rig->signal(7), 1u);
    }
    EXPECT_EQ(rig->waiting().record_count(), 1u);
    EXPECT_EQ(rig.memory.live_bytes, bytes);
    EXPECT_EQ(rig->waiting().metrics().suspended, cycles);
}

// CO-6: also with a limit that is never reached, behind an earlier time that is not either.
TEST(suspensions, cycles_with_a_limit_leave_no_memory_behind) {
    constexpr unsigned cycles = tactus_test::board::random_operations / 10;
    timed_rig rig;
    rig.tell(rig.spawn(after_10), {2});
    EXPECT_EQ(rig.run(), 1u);
    const mailbox_index a = rig.spawn(&limited<suspend_limit_action::stop>);
    const std::size_t bytes = rig.memory.live_bytes;
    for (unsigned i = 0; i < cycles; ++i) {
        rig.tell(a, {2});
        ASSERT_EQ(rig.run(), 1u);
        ASSERT_EQ(rig->signal(7), 1u);
    }
    EXPECT_EQ(rig->waiting().record_count(), 2u);
    EXPECT_EQ(rig.memory.live_bytes, bytes);
}

namespace {

alignas(16) std::byte bytes[4'096];  // of one test at a time: a small board has little more

struct counting_resumer final : resumer {
    void resume_suspended(mailbox_index) noexcept override { ++resumed; }
    void suspension_limit(mailbox_index, suspend_limit_action) noexcept override { ++limits; }
    unsigned resumed = 0;
    unsigned limits = 0;
};

}  // namespace

// CO-4: what cannot be kept has no timer either.
TEST(suspensions, CO_4_are_refused_when_memory_is_gone) {
    for (const std::size_t allowance : {0u, 1u}) {  // how often it can grow
        tactus_test::test_memory memory(bytes);
        manual_clock time;
        naive_timers<12> timers(&time);
        counting_resumer to;
        suspensions s(
            {.memory = &memory, .time = &time, .timers = &timers, .to = &to, .capacity = 4});
        memory.allowance = allowance;
        unsigned kept = 0;
        for (std::uint32_t i = 1; i <= 12; ++i) {
            const auto added = s.add({i, 1}, suspend_reason::user_defined,
                                     resume_condition::after(duration::from_ms(1)), {});
            kept += added ? 1 : 0;
            EXPECT_TRUE(added || added.error() == suspend_error::no_memory);
        }
        EXPECT_EQ(kept, allowance == 0 ? 4u : 8u);
        EXPECT_EQ(s.waiting_count(), kept);
        EXPECT_EQ(s.metrics().suspended, kept);
        EXPECT_EQ(timers.active_count(), kept);
        time.advance(duration::from_ms(1));
        timers.run_due(time.now());
        EXPECT_EQ(to.resumed, kept);
    }
}

// CO-4: refused by the timers: as before, but for the error.
TEST(suspensions, CO_4_are_refused_when_there_is_no_timer_left) {
    tactus_test::test_memory memory(bytes);
    manual_clock time;
    naive_timers<1> timers(&time);
    counting_resumer to;
    suspensions s({.memory = &memory, .time = &time, .timers = &timers, .to = &to, .capacity = 2});
    const auto add = [&](std::uint32_t who) {
        return s.add({who, 1}, suspend_reason::user_defined, resume_condition::signal(7),
                     {duration::from_ms(1), suspend_limit_action::stop});
    };
    EXPECT_TRUE(add(1));
    EXPECT_TRUE(add(2).error() == suspend_error::timer_refused);
    EXPECT_EQ(s.waiting_count(), 1u);
    EXPECT_EQ(s.metrics().suspended, 1u);
    EXPECT_EQ(s.signal(7), 1u);
    EXPECT_EQ(timers.active_count(), 0u);
    EXPECT_TRUE(add(2));
    time.advance(duration::from_ms(1));
    timers.run_due(time.now());
    EXPECT_EQ(to.resumed, 1u);
    EXPECT_EQ(to.limits, 1u);
    EXPECT_EQ(s.metrics().resumed, 2u);
}

namespace {

/// Time is over, or the service is closed, before who has asked for a timer goes on.
struct hasty_timers final : timer_service {
    [[nodiscard]] std::optional<timer_handle> arm(timer_target& to, duration d) noexcept override {
        if (!closes) {
            time.advance(d);
            to.listener->expired(to.who, handle);
        }
        return handle;
    }
    bool cancel(timer_handle) noexcept override { return false; }
    [[nodiscard]] bool pending(timer_handle) noexcept override { return false; }
    void attach(actor_scheduler&) noexcept override {}
    [[nodiscard]] instant next_deadline() noexcept override { return instant::never(); }
    void run_due(instant) noexcept override {}

    static constexpr timer_handle handle{1, 1};
    manual_clock time;
    bool closes = false;
};

}  // namespace

// CO-4: a timer that is due before there is a record: ended once all the same.
TEST(suspensions, CO_4_a_time_that_comes_before_its_record_ends_it) {
    for (const suspend_limit_action action :
         {suspend_limit_action::resume, suspend_limit_action::fail}) {
        tactus_test::test_memory memory(bytes);
        hasty_timers timers;
        counting_resumer to;
        suspensions s(
            {.memory = &memory, .time = &timers.time, .timers = &timers, .to = &to, .capacity = 2});
        EXPECT_TRUE(s.add({1, 1}, suspend_reason::user_defined, resume_condition::signal(7),
                          {duration::from_ns(5), action}));
        EXPECT_EQ(to.resumed, action == suspend_limit_action::resume ? 1u : 0u);
        EXPECT_EQ(to.limits, action == suspend_limit_action::resume ? 0u : 1u);
        EXPECT_EQ(s.waiting_count(), 0u);
        EXPECT_EQ(s.signal(7), 0u);
    }
}
// CO-4: never early: one that will never come has not come.
TEST(suspensions, CO_4_a_timer_that_is_closed_at_once_ends_nothing) {
    tactus_test::test_memory memory(bytes);
    hasty_timers timers;
    timers.closes = true;
    counting_resumer to;
    suspensions s(
        {.memory = &memory, .time = &timers.time, .timers = &timers, .to = &to, .capacity = 2});
    EXPECT_TRUE(s.add({1, 1}, suspend_reason::user_defined, resume_condition::signal(7),
                      {duration::from_ns(5), suspend_limit_action::stop}));
    EXPECT_EQ(s.waiting_count(), 1u);
    EXPECT_EQ(to.limits, 0u);
    EXPECT_EQ(s.signal(7), 1u);
    EXPECT_EQ(to.resumed, 1u);
}

TEST(suspensions, every_reason_has_a_name) {
    EXPECT_TRUE(std::string_view(name_of(suspend_reason::backpressure)) == "backpressure");
    EXPECT_TRUE(std::string_view(name_of(suspend_reason::user_defined)) == "user_defined");
}
TEST(suspensions, every_error_has_a_name_and_a_text) {
    for (std::size_t i = 0; i < suspend_error_count; ++i) {
        const auto why = static_cast<suspend_error>(i);
        EXPECT_TRUE(!std::string_view(name_of(why)).empty());
        EXPECT_TRUE(std::string_view(text_of(why)).size() > 10);
    }
    EXPECT_TRUE(std::string_view(name_of(suspend_error::timer_refused)) == "timer_refused");
}

// ME-2: held back as often as can be counted: refused, and what was counted stays right.
TEST(suspensions, ME_2_more_than_can_be_counted_is_refused) {
    if (!tactus_test::board::roomy)
        return;  // there is no memory for so many
    kernel_rig rig;
    static unsigned taken;
    taken = 0;
    const mailbox_index a = rig.spawn(+[](turn& t, std::uint32_t) {
        for (unsigned i = 0; i < 70; ++i)
            taken += t.suspend(suspend_reason::user_defined, resume_condition::signal(1)) ? 1 : 0;
    });
    rig.tell(a, {1, 2});
    rig.run();
    EXPECT_EQ(taken, state_word::suspension_count_max);
    EXPECT_FALSE(rig->suspend(a, suspension::await));
    EXPECT_TRUE(rig->suspend(a, suspension::supervision));
    EXPECT_EQ(rig->signal(1), std::size_t{state_word::suspension_count_max});
    EXPECT_EQ(rig.run(), 0u);  // supervision still holds it
    EXPECT_TRUE(rig->resume(a, suspension::supervision));
    EXPECT_EQ(rig.run(), 1u);
    EXPECT_TRUE(journal().is({1, 2}));
}

// CO-6: let go by hand, what it waited for does not end a later wait.
TEST(suspensions, CO_6_a_manual_resume_ends_the_wait_it_stands_for) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn(+[](turn& t, std::uint32_t key) {
        EXPECT_TRUE(t.suspend(suspend_reason::await_external, resume_condition::signal(key)));
    });
    rig.tell(a, {1, 2, 3});
    rig.run();
    EXPECT_TRUE(rig->resume(a, suspension::await));
    rig.run();
    EXPECT_TRUE(journal().is({1, 2}));  // and waits for 2
    EXPECT_EQ(rig->signal(1), 0u);
    EXPECT_EQ(rig.run(), 0u);
    EXPECT_EQ(rig->signal(2), 1u);
    rig.run();
    EXPECT_TRUE(journal().is({3}));
}
// One that is held back by hand as well is let go by hand; its wait stays.
TEST(suspensions, CO_6_a_manual_resume_ends_a_manual_suspension_first) {
    kernel_rig rig;
    const mailbox_index a = rig.spawn(+[](turn& t, std::uint32_t key) {
        (void)t.suspend(suspend_reason::await_external, resume_condition::signal(key));
    });
    rig.tell(a, {1, 2});
    rig.run();
    EXPECT_TRUE(rig->suspend(a, suspension::await));
    EXPECT_TRUE(rig->resume(a, suspension::await));
    EXPECT_EQ(rig.run(), 0u);
    EXPECT_EQ(rig->signal(1), 1u);
    EXPECT_EQ(rig.run(), 1u);
}
