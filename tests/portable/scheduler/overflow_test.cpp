// SPDX-License-Identifier: Apache-2.0
//
// Goal: who gives way where few timers may be far away (BP-6, BP-7).
// Method: room for four beyond the wheel; requests of all priorities in turn, with messages that
// are bytes and such that are not.
#include <tactus/scheduler/scheduler.hpp>

#include <cstdint>

#include "scheduler_rig.hpp"

using tactus::cancellable;
using tactus::duration;
using tactus::job_end;
using tactus::job_request;
using tactus::job_state;
using tactus::scheduler_errc;
using tactus::scheduler_warning_kind;
using tactus::timer_priority;
using tactus_test::journal;
using tactus_test::number;
using tactus_test::served_rig;

namespace {

/// A message that is more than its bytes.
struct lively {
    explicit lively(void (*when_copied)() = nullptr) noexcept : on_copy(when_copied) { ++alive; }
    lively(const lively& other) noexcept : on_copy(other.on_copy) {
        ++alive;
        if (on_copy != nullptr)
            on_copy();
    }
    lively& operator=(const lively&) = delete;
    ~lively() { --alive; }
    void (*on_copy)();
    static inline int alive = 0;
};

struct far_rig : served_rig {
    far_rig() noexcept
        : served_rig([](tactus::scheduler_options& o) { o.config.custom = {8, 4, 4}; }) {}
    template <class M = number>
    [[nodiscard]] auto add(timer_priority priority, M&& message = {1}) noexcept {
        return (*this)->add(job_request::once(tactus_test::far_away, priority).send(who, {}),
                            std::forward<M>(message));
    }
    [[nodiscard]] cancellable added(timer_priority priority) noexcept {
        const auto made = add(priority);
        EXPECT_TRUE(made.has_value());
        return made ? *made : cancellable{};
    }
    tactus::mailbox_index who = spawn();
};

// BP-6: told when three of four places are used, once.
TEST(overflow, BP_6_is_told_at_three_quarters) {
    far_rig rig;
    (void)rig.added(timer_priority::normal);
    (void)rig.added(timer_priority::normal);
    EXPECT_EQ(rig.warnings.count, 0u);
    (void)rig.added(timer_priority::normal);
    ASSERT_EQ(rig.warnings.count, 1u);
    EXPECT_EQ(rig.warnings.all[0].kind, scheduler_warning_kind::overflow_near_capacity);
    EXPECT_EQ(rig.warnings.all[0].value, 3);
    EXPECT_EQ(rig.warnings.all[0].limit, 4);
    (void)rig.added(timer_priority::normal);
    EXPECT_EQ(rig.warnings.count, 1u);
    EXPECT_EQ(rig->metrics().overflow, 4u);
    // A near one needs no place there.
    ASSERT_TRUE(rig->schedule_once(duration::from_ms(1), rig.who, number{9}).has_value());
    rig.jump(1);
    EXPECT_TRUE(journal().is({9}));
}

far_rig* suspends_in;

// BP-6, SC-1: the same in the first tick of a clock that begins with nothing, where one is due.
TEST(overflow, BP_6_nothing_is_lost_in_the_first_tick) {
    far_rig rig;
    suspends_in = &rig;
    const auto sleeper = rig.spawn([](tactus::turn& t, std::uint32_t n) {
        if (n != 1)
            return;
        EXPECT_TRUE(t.suspend(tactus::suspend_reason::rate_limit,
                              tactus::resume_condition::after(duration::zero())));
        (void)suspends_in->added(timer_priority::normal);
    });
    ASSERT_TRUE(rig->schedule_once(duration::from_ms(1), rig.who, number{9}).has_value());
    rig.kernel.tell(sleeper, {1, 2});
    rig.run();
    EXPECT_EQ(rig->active_count(), 2u);
    rig.jump(1);
    EXPECT_TRUE(journal().is({1, 2, 9}));
    EXPECT_EQ(rig->active_count(), 1u);
}

// BP-7: low before normal before high, the newest of each first.
TEST(overflow, BP_7_the_newest_of_the_least_important_gives_way) {
    far_rig rig;
    auto normal = rig.added(timer_priority::normal);
    auto low = rig.added(timer_priority::low);
    auto newer_low = rig.added(timer_priority::low);
    auto newer_normal = rig.added(timer_priority::normal);
    rig.warnings.count = 0;
    const cancellable in_order[] = {newer_low, low, newer_normal, normal};
    const std::int64_t priorities[] = {2, 2, 1, 1};
    for (unsigned i = 0; i < 4; ++i) {
        EXPECT_EQ(in_order[i].state(), job_state::scheduled);
        (void)rig.added(timer_priority::high);
        EXPECT_EQ(in_order[i].state(), job_state::cancelled);
        EXPECT_EQ(in_order[i].end(), job_end::dropped);
        ASSERT_EQ(rig.warnings.count, i + 1);
        EXPECT_EQ(rig.warnings.all[i].kind, scheduler_warning_kind::dropped_low_priority);
        EXPECT_EQ(rig.warnings.all[i].job, in_order[i].id());
        EXPECT_EQ(rig.warnings.all[i].value, priorities[i]);
    }
    EXPECT_EQ(rig->active_count(), 4u);
    const auto m = rig->metrics();
    EXPECT_EQ(m.dropped, 4u);
    EXPECT_EQ(m.cancelled, 0u);  // CN-8
    EXPECT_EQ(m.overflow, 4u);
    // All are high now: one more is itself the lowest.
    const auto fifth = rig.add(timer_priority::high);
    ASSERT_FALSE(fifth.has_value());
    EXPECT_EQ(fifth.error().code, scheduler_errc::capacity_exceeded);
    EXPECT_EQ(fifth.error().value, 4);
    EXPECT_EQ(fifth.error().limit, 4);
    EXPECT_EQ(rig.warnings.of(scheduler_warning_kind::capacity_exceeded), 1u);
}

// BP-7: the newcomer is refused where it is the lowest, or as low as the lowest.
TEST(overflow, BP_7_a_newcomer_that_is_the_lowest_is_refused) {
    far_rig rig;
    for (unsigned i = 0; i < 4; ++i)
        (void)rig.added(timer_priority::normal);
    for (const timer_priority p : {timer_priority::low, timer_priority::normal}) {
        const auto refused = rig.add(p);
        ASSERT_FALSE(refused.has_value());
        EXPECT_EQ(refused.error().code, scheduler_errc::capacity_exceeded);
    }
    EXPECT_EQ(rig->metrics().dropped, 0u);
    EXPECT_EQ(rig->active_count(), 4u);
    EXPECT_EQ(rig->cell_count(), 4u);
}

// BP-7, CN-3: a cancel frees the place at once.
TEST(overflow, BP_7_a_cancel_frees_its_place) {
    far_rig rig;
    cancellable last;
    for (unsigned i = 0; i < 4; ++i)
        last = rig.added(timer_priority::high);
    for (unsigned i = 0; i < 20; ++i) {
        EXPECT_FALSE(rig.add(timer_priority::high).has_value());
        EXPECT_TRUE(last.cancel());
        last = rig.added(timer_priority::high);
    }
    EXPECT_EQ(rig->metrics().overflow, 4u);
    EXPECT_EQ(rig->cell_count(), 4u);
}

// BP-7: the same for messages that are made in their place, and each is ended once.
TEST(overflow, BP_7_holds_for_messages_that_are_not_bytes) {
    {
        far_rig rig;
        cancellable made[4];
        for (cancellable& m : made)
            m = *rig.add(timer_priority::low, lively());
        EXPECT_EQ(lively::alive, 4);
        EXPECT_FALSE(rig.add(timer_priority::low, lively()).has_value());
        EXPECT_EQ(lively::alive, 4);
        ASSERT_TRUE(rig.add(timer_priority::high, lively()).has_value());
        EXPECT_EQ(lively::alive, 4);
        EXPECT_EQ(made[3].end(), job_end::dropped);
        EXPECT_TRUE(made[0].cancel());
        EXPECT_EQ(lively::alive, 3);
        ASSERT_TRUE(rig.add(timer_priority::low, lively()).has_value());
        EXPECT_EQ(rig->metrics().overflow, 4u);
    }
    EXPECT_EQ(lively::alive, 0);
}

// BP-6: near is what is near now, however long nobody moved the wheel.
TEST(overflow, BP_6_a_near_one_needs_no_place_after_idle_days) {
    far_rig rig;
    for (unsigned i = 0; i < 4; ++i)
        (void)rig.added(timer_priority::normal);
    rig.time.advance(duration::from_s(3 * 24 * 3'600));
    for (unsigned i = 0; i < 2; ++i)
        ASSERT_TRUE(rig->schedule_once(duration::from_ms(1), rig.who, number{9}).has_value());
    EXPECT_FALSE(rig.add(timer_priority::low).has_value());
    EXPECT_EQ(rig->metrics().overflow, 4u);
    rig.jump(1);
    EXPECT_TRUE(journal().is({9, 9}));
    EXPECT_EQ(rig->metrics().dropped, 0u);
}

/// The end of a turn of the wheel: 49.7 days.
constexpr duration turn = duration::from_ms(std::int64_t{1} << 32);

// At the end of the wheel's turn near is near, too: for newcomers and for what comes again.
TEST(overflow, DF_26_a_near_one_needs_no_place_at_the_end_of_the_turn) {
    far_rig rig;
    rig.time.advance(turn - duration::from_ms(10));
    rig.run();
    const auto rate =
        rig->schedule_at_fixed_rate(duration::from_ms(4), duration::from_ms(4), rig.who, number{1});
    ASSERT_TRUE(rate.has_value());
    for (unsigned i = 0; i < 4; ++i)
        (void)rig.added(timer_priority::normal);
    ASSERT_TRUE(rig->schedule_once(duration::from_ms(18), rig.who, number{9}).has_value());
    EXPECT_EQ(rig->metrics().overflow, 4u);
    rig.pass(20);
    EXPECT_TRUE(journal().is({1, 1, 1, 1, 9, 1}));
    EXPECT_EQ(rate->state(), job_state::scheduled);
    EXPECT_EQ(rig->metrics().dropped, 0u);
    EXPECT_EQ(rig->metrics().overflow, 4u);
}

// After a pause the wheel stands where it was before, and near is what is near now.
TEST(overflow, DF_27_what_comes_again_needs_no_place_after_a_pause) {
    far_rig rig;
    const auto rate =
        rig->schedule_at_fixed_rate(duration::from_s(1), duration::from_s(1), rig.who, number{1});
    const auto slower = rig->schedule_at_fixed_rate(duration::from_s(3'600),
                                                    duration::from_s(3'600), rig.who, number{2});
    ASSERT_TRUE(rate.has_value() && slower.has_value());
    for (unsigned i = 0; i < 4; ++i)
        (void)rig.added(timer_priority::high);
    rig.time.advance(duration::from_s(3 * 24 * 3'600));
    const auto newcomer =
        rig->schedule_once(duration::from_ms(1), rig.who, number{9}, {}, timer_priority::high);
    EXPECT_TRUE(newcomer.has_value());
    rig.run();
    EXPECT_EQ(rate->state(), job_state::scheduled);
    EXPECT_EQ(slower->state(), job_state::scheduled);
    rig.jump(1'000);
    EXPECT_TRUE(journal().is({1, 2, 9, 1}));
    EXPECT_EQ(rig->metrics().dropped, 0u);
    EXPECT_EQ(rig->metrics().overflow, 4u);
}

// Nor after one of more than a turn of the wheel, when those far away are due as well. A device is
// not switched off with its timers.
TEST(overflow, DF_27_what_comes_again_needs_no_place_after_a_pause_of_several_turns) {
    if (tactus::port::has_interrupts)
        return;
    for (const unsigned turns : {1U, 2U, 7U}) {
        far_rig rig;
        const auto rate = rig->schedule_at_fixed_rate(duration::from_s(1), duration::from_s(1),
                                                      rig.who, number{2});
        const auto slower = rig->schedule_at_fixed_rate(
            duration::from_s(3'600), duration::from_s(3'600), rig.who, number{3});
        ASSERT_TRUE(rate.has_value() && slower.has_value());
        for (unsigned i = 0; i < 4; ++i)
            (void)rig.added(timer_priority::high);
        rig.time.advance(turn * turns + duration::from_s(3 * 24 * 3'600));
        rig.run();
        EXPECT_EQ(rate->state(), job_state::scheduled);
        EXPECT_EQ(slower->state(), job_state::scheduled);
        EXPECT_TRUE(journal().is({2, 3, 1, 1, 1, 1}));
        EXPECT_EQ(rig->metrics().dropped, 0u);
        rig.jump(1'000);
        EXPECT_TRUE(journal().is({2}));
    }
}

far_rig* filled = nullptr;

// BP-7, SC-6: its place is reserved while a message is made, so who has a handle has a timer.
TEST(overflow, BP_7_a_place_is_reserved_before_the_message_is_made) {
    far_rig rig;
    filled = &rig;
    const lively crowds_in([] {
        while (filled->add(timer_priority::normal)) {
        }
    });
    const auto made = rig.add(timer_priority::normal, crowds_in);
    ASSERT_TRUE(made.has_value());
    EXPECT_EQ(made->state(), job_state::scheduled);
    EXPECT_EQ(rig->active_count(), 4u);
    EXPECT_EQ(rig->metrics().overflow, 4u);
    EXPECT_EQ(rig->metrics().dropped, 0u);
}

template <class M>
void refuse_large() {
    far_rig rig;
    auto low = rig.added(timer_priority::low);
    for (unsigned i = 0; i < 3; ++i)
        (void)rig.added(timer_priority::normal);
    static constexpr M large{};  // in flash: the stack of a small board has no room for it
    const auto refused = rig.add(timer_priority::high, large);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, scheduler_errc::capacity_exceeded);
    EXPECT_EQ(low.state(), job_state::scheduled);
    EXPECT_EQ(rig->metrics().dropped, 0u);
    EXPECT_EQ(rig.warnings.of(scheduler_warning_kind::dropped_low_priority), 0u);
    EXPECT_EQ(rig->metrics().overflow, 4u);
    EXPECT_EQ(rig->active_count(), 4u);
    // Nor is a place lost, or won.
    (void)rig.added(timer_priority::high);
    EXPECT_EQ(low.end(), job_end::dropped);
    EXPECT_EQ(rig->metrics().overflow, 4u);
}

struct large_bytes {
    char bytes[tactus_test::board::roomy ? 80 * 1024 : 512];
};
struct large_object : large_bytes {
    constexpr large_object() noexcept : large_bytes{} {}
    constexpr large_object(const large_object& other) noexcept : large_bytes(other) {}
    large_object& operator=(const large_object&) = delete;
    constexpr ~large_object() {}
};

// BP-7: nobody gives way to a newcomer for whose message there is no room.
TEST(overflow, BP_7_nobody_is_dropped_for_a_newcomer_that_has_no_room) {
    refuse_large<large_bytes>();
    refuse_large<large_object>();
}

cancellable gives_way;

// BP-7: who gives way is there until the newcomer is in.
TEST(overflow, BP_7_who_gives_way_is_there_while_the_message_is_made) {
    far_rig rig;
    gives_way = rig.added(timer_priority::low);
    for (unsigned i = 0; i < 3; ++i)
        (void)rig.added(timer_priority::normal);
    const lively looks([] { journal().add(gives_way.state() == job_state::scheduled ? 1 : 0); });
    ASSERT_TRUE(rig.add(timer_priority::high, looks).has_value());
    EXPECT_TRUE(journal().is({1}));
    EXPECT_EQ(gives_way.end(), job_end::dropped);
    EXPECT_EQ(rig->metrics().overflow, 4u);
    EXPECT_EQ(rig.warnings.of(scheduler_warning_kind::dropped_low_priority), 1u);
}

// BP-7, SC-6: one who is to give way does so for one newcomer.
TEST(overflow, BP_7_two_newcomers_need_two_who_give_way) {
    for (const unsigned low : {1u, 2u}) {
        far_rig rig;
        filled = &rig;
        for (unsigned i = 0; i < 4; ++i)
            (void)rig.added(i < low ? timer_priority::low : timer_priority::high);
        const lively crowds_in(
            [] { journal().add(filled->add(timer_priority::high).has_value() ? 1 : 0); });
        const auto made = rig.add(timer_priority::high, crowds_in);
        ASSERT_TRUE(made.has_value());
        EXPECT_EQ(made->state(), job_state::scheduled);
        EXPECT_TRUE(journal().is({low == 2 ? 1 : 0}));
        EXPECT_EQ(rig->metrics().dropped, low);
        EXPECT_EQ(rig->metrics().overflow, 4u);
        EXPECT_EQ(rig->active_count(), 4u);
    }
}

// BP-6: told whenever it rises to three quarters.
TEST(overflow, BP_6_is_told_again_when_it_has_fallen) {
    far_rig rig;
    cancellable last;
    for (unsigned i = 0; i < 3; ++i)
        last = rig.added(timer_priority::normal);
    EXPECT_EQ(rig.warnings.count, 1u);
    EXPECT_TRUE(last.cancel());
    (void)rig.added(timer_priority::normal);
    EXPECT_EQ(rig.warnings.of(scheduler_warning_kind::overflow_near_capacity), 2u);
    (void)rig.added(timer_priority::normal);
    EXPECT_EQ(rig.warnings.count, 2u);
}

/// Due in a millisecond, and then far away.
cancellable add_periodic(far_rig& rig, timer_priority priority) {
    const auto made =
        rig->schedule_at_fixed_rate(duration::from_ms(1), tactus_test::far_away, rig.who, number{1},
                                    {}, tactus::fixed_rate_options{.priority = priority});
    EXPECT_TRUE(made.has_value());
    return made ? *made : cancellable{};
}

// BP-7: what comes again is as important as a newcomer.
TEST(overflow, BP_7_others_give_way_to_a_more_important_one_that_comes_again) {
    far_rig rig;
    auto periodic = add_periodic(rig, timer_priority::high);
    cancellable low[4];
    for (cancellable& l : low)
        l = rig.added(timer_priority::low);
    rig.warnings.count = 0;
    rig.pass(1);
    EXPECT_EQ(journal().count(), 1u);
    EXPECT_EQ(periodic.state(), job_state::scheduled);
    EXPECT_EQ(low[3].end(), job_end::dropped);
    for (unsigned i = 0; i < 3; ++i)
        EXPECT_EQ(low[i].state(), job_state::scheduled);
    ASSERT_EQ(rig.warnings.count, 1u);
    EXPECT_EQ(rig.warnings.all[0].kind, scheduler_warning_kind::dropped_low_priority);
    EXPECT_EQ(rig.warnings.all[0].job, low[3].id());
    EXPECT_EQ(rig.warnings.all[0].limit, 4);
    EXPECT_EQ(rig->metrics().overflow, 4u);
    EXPECT_EQ(rig->metrics().dropped, 1u);
    journal().clear();
}

// BP-7: it is dropped itself where a newcomer is refused, and is told of as that.
TEST(overflow, BP_7_one_that_comes_again_and_is_the_lowest_is_dropped) {
    for (const timer_priority p : {timer_priority::normal, timer_priority::low}) {
        far_rig rig;
        auto periodic = add_periodic(rig, p);
        for (unsigned i = 0; i < 4; ++i)
            (void)rig.added(timer_priority::normal);
        rig.warnings.count = 0;
        rig.pass(1);
        EXPECT_EQ(periodic.end(), job_end::dropped);
        ASSERT_EQ(rig.warnings.count, 1u);
        EXPECT_EQ(rig.warnings.all[0].kind, scheduler_warning_kind::dropped_low_priority);
        EXPECT_EQ(rig.warnings.all[0].job, periodic.id());
        EXPECT_EQ(rig.warnings.all[0].limit, 0);
        EXPECT_EQ(rig->metrics().overflow, 4u);
        EXPECT_EQ(rig->active_count(), 4u);
        EXPECT_EQ(rig->cell_count(), 4u);
    }
    journal().clear();
}

// BP-6: it rises by what comes again, too.
TEST(overflow, BP_6_is_told_of_when_one_that_comes_again_fills_it) {
    far_rig rig;
    (void)add_periodic(rig, timer_priority::normal);
    for (unsigned i = 0; i < 2; ++i)
        (void)rig.added(timer_priority::normal);
    EXPECT_EQ(rig.warnings.count, 0u);
    rig.pass(1);
    ASSERT_EQ(rig.warnings.count, 1u);
    EXPECT_EQ(rig.warnings.all[0].kind, scheduler_warning_kind::overflow_near_capacity);
    EXPECT_EQ(rig.warnings.all[0].value, 3);
    EXPECT_EQ(rig.warnings.all[0].limit, 4);
    journal().clear();
}

}  // namespace
