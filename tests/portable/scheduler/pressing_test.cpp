// SPDX-License-Identifier: Apache-2.0
//
// Goal: what a scheduler that cannot keep up refuses, tells and counts (SC-30, SC-32, SC-38, BP-2
// … BP-5, BP-9).
// Method: time moves on without anybody looking. A deadline right after the last look is late by
// as much as is slept after it, and there is no idle tick between two looks. What is counted is
// compared with numbers that stand here, so that every board proves the same (TC-X22).
#include <tactus/scheduler/scheduler.hpp>

#include <cstdint>

#include "scheduler_rig.hpp"

using tactus::backpressure_cause;
using tactus::backpressure_state;
using tactus::cancellable;
using tactus::job_mode;
using tactus::job_request;
using tactus::scheduler_errc;
using tactus::scheduler_options;
using tactus::scheduler_warning;
using tactus::scheduler_warning_kind;
using tactus::tick_mode;
using tactus::tick_state;
using tactus::timer_priority;
using tactus_test::journal;
using tactus_test::ms;
using tactus_test::number;
using tactus_test::scheduler_rig;
using tactus_test::served_rig;

namespace {

/// Quota 8, so adaptive quota 4; window 5 ticks.
void small(scheduler_options& o) {
    o.config.custom = {8, 2, 4};
    o.config.catch_up = ms(5);
}

/// A rig that can be made to fall behind.
template <class Rig>
struct pressed : Rig {
    pressed() noexcept : Rig(small) {}
    template <class Change>
    explicit pressed(Change&& change) noexcept : Rig(change) {}

    [[nodiscard]] auto once(std::int64_t delay, timer_priority priority) noexcept {
        return (*this)->add(job_request::once(ms(delay), priority).send(who, {}), number{1});
    }
    [[nodiscard]] auto refusal(timer_priority priority) noexcept {
        const auto made = once(1'000, priority);
        EXPECT_FALSE(made.has_value());
        return made ? tactus::scheduler_error{.code = scheduler_errc::closed} : made.error();
    }
    /// The next look finds a deadline that is so late.
    void fall_behind(std::uint32_t ticks) noexcept {
        ASSERT_TRUE(once(1, timer_priority::high).has_value());
        this->jump(ticks + 1);
    }
    [[nodiscard]] backpressure_state state() noexcept { return (*this)->pressure_now().state; }

    tactus::mailbox_index who = this->spawn();
};

// SC-32, TC-X05, BP-4: the worked example with window 5.
TEST(pressing, TC_X05_the_worked_example_with_a_window_of_5) {
    struct row {
        std::uint32_t backlog;
        tick_mode mode;
        tick_state status;
        backpressure_state state;
        std::uint32_t chunk;
    };
    using enum backpressure_state;
    constexpr row rows[] = {
        {4, tick_mode::normal, tick_state::ok, normal, 1'024},
        {5, tick_mode::catch_up, tick_state::ok, normal, 1'024},
        {6, tick_mode::catch_up, tick_state::backpressured, backpressure, 512},
        {10, tick_mode::catch_up, tick_state::backpressured, backpressure, 512},
        {11, tick_mode::catch_up, tick_state::backpressured, backpressure, 512},
        {11, tick_mode::catch_up, tick_state::stalled, rejecting, 512},
        {3, tick_mode::normal, tick_state::ok, rejecting, 512},
        {2, tick_mode::normal, tick_state::ok, backpressure, 512},
        {3, tick_mode::normal, tick_state::ok, normal, 1'024},
    };
    pressed<scheduler_rig> rig;
    // When it rejects nothing can be registered: the deadlines after ticks 53 and 57.
    ASSERT_TRUE(rig.once(54, timer_priority::low) && rig.once(58, timer_priority::low));
    for (const row& r : rows) {
        if (rig.state() == rejecting)
            rig.jump(r.backlog + 1);
        else
            rig.fall_behind(r.backlog);
        const auto now = rig->pressure_now();
        EXPECT_EQ(now.mode, r.mode);
        EXPECT_EQ(now.status.state, r.status);
        EXPECT_EQ(now.state, r.state);
        EXPECT_EQ(now.chunk_ticks, r.chunk);
    }
    EXPECT_EQ(journal().count(), 9u);  // nothing was lost
    struct told {
        scheduler_warning_kind kind;
        std::int64_t value;
        std::int64_t limit;
    };
    constexpr told expected[] = {
        {scheduler_warning_kind::backpressure_state, 1, 1},
        {scheduler_warning_kind::driver_catch_up_exceeded, 11, 5},
        {scheduler_warning_kind::backpressure_state, 1, 2},
        {scheduler_warning_kind::backpressure_state, 1, 1},
        {scheduler_warning_kind::backpressure_state, 0, 0},
    };
    ASSERT_EQ(rig.warnings.count, std::size(expected));
    for (unsigned i = 0; i < std::size(expected); ++i) {
        EXPECT_EQ(rig.warnings.all[i].kind, expected[i].kind);
        EXPECT_EQ(rig.warnings.all[i].value, expected[i].value);
        EXPECT_EQ(rig.warnings.all[i].limit, expected[i].limit);
        EXPECT_EQ(rig.warnings.all[i].cause, backpressure_cause::driver);
    }
}

// DF-83, SC-31, SC-32: a window is a length of time, whatever the resolution. As late as the window
// is not too late; a tick more is, and that ends when less than 0.8 of it is left.
TEST(pressing, DF_83_windows_of_10_50_and_100_ms) {
    struct row {
        std::int64_t window_ms;
        std::int64_t resolution_ms;
    };
    constexpr row rows[] = {{10, 1}, {50, 2}, {100, 5}};
    for (const row& r : rows) {
        pressed<scheduler_rig> rig([&](scheduler_options& o) {
            small(o);
            o.config.resolution = ms(r.resolution_ms);
            o.config.catch_up = ms(r.window_ms);
        });
        const auto window = static_cast<std::uint32_t>(r.window_ms / r.resolution_ms);
        EXPECT_EQ(rig->catch_up_window(), window);
        rig.fall_behind(window);
        EXPECT_EQ(rig.state(), backpressure_state::normal);
        EXPECT_TRUE(rig.once(1, timer_priority::low).has_value());
        rig.pass(1);
        rig.fall_behind(window + 1);
        EXPECT_EQ(rig.state(), backpressure_state::backpressure);
        EXPECT_EQ(rig.refusal(timer_priority::normal).cause, backpressure_cause::driver);
        rig.fall_behind(window * 4 / 5);
        EXPECT_EQ(rig.state(), backpressure_state::backpressure);
        rig.fall_behind(window * 4 / 5 - 1);
        EXPECT_EQ(rig.state(), backpressure_state::normal);
        EXPECT_TRUE(rig.once(1, timer_priority::low).has_value());
        EXPECT_EQ(rig.warnings.count, 2u);  // once in, and once out
    }
}

// TC-X20, TC-X22, BP-3: low and normal are refused, high is not; what is there goes on.
TEST(pressing, TC_X20_above_the_window_only_high_is_accepted) {
    pressed<served_rig> rig;
    ASSERT_TRUE(rig->add({.mode = job_mode::fixed_rate,
                          .first = ms(10),
                          .period = ms(10),
                          .to = rig.who,
                          .priority = timer_priority::low},
                         number{2})
                    .has_value());
    rig.fall_behind(6);
    EXPECT_TRUE(journal().is({1}));
    for (const timer_priority p : {timer_priority::low, timer_priority::normal}) {
        const auto why = rig.refusal(p);
        EXPECT_EQ(why.code, scheduler_errc::backpressured);
        EXPECT_EQ(why.cause, backpressure_cause::driver);
        EXPECT_EQ(why.value, 1);
        EXPECT_EQ(why.limit, 4);
    }
    EXPECT_EQ(rig->active_count(), 1u);  // SC-2
    EXPECT_TRUE(rig.once(1, timer_priority::high).has_value());
    rig.pass(3);
    EXPECT_TRUE(journal().is({1, 2}));
    rig.pass(10);
    EXPECT_TRUE(journal().is({2}));
    EXPECT_EQ(rig.state(), backpressure_state::normal);
    // Once in, and once out; and that it was late.
    ASSERT_EQ(rig.warnings.count, 3u);
    EXPECT_EQ(rig.warnings.all[0].kind, scheduler_warning_kind::backpressure_state);
    EXPECT_EQ(rig.warnings.all[0].value, 1);
    EXPECT_EQ(rig.warnings.all[1].kind, scheduler_warning_kind::drift_exceeded);
    EXPECT_EQ(rig.warnings.all[2].kind, scheduler_warning_kind::backpressure_state);
    EXPECT_EQ(rig.warnings.all[2].value, 0);
    const auto m = rig->metrics();
    EXPECT_EQ(m.active, 1u);
    EXPECT_EQ(m.periodic, 1u);
    EXPECT_EQ(m.fired, 4u);
    EXPECT_EQ(m.missed, 0u);
    EXPECT_EQ(m.cancelled, 0u);
    EXPECT_EQ(m.dropped, 0u);
    EXPECT_EQ(m.rejected_total(), 2u);
    EXPECT_EQ(m.rejected[static_cast<unsigned>(scheduler_errc::backpressured)], 2u);
    EXPECT_EQ(m.backpressured[static_cast<unsigned>(backpressure_cause::driver)], 2u);
    EXPECT_EQ(m.quota, 8u);
    EXPECT_EQ(m.backlog, 0u);
    EXPECT_EQ(m.backlog_peak, 6u);
    EXPECT_EQ(m.window, 5u);
    EXPECT_EQ(m.above_window, 1u);
    EXPECT_EQ(m.drift_compensations, 1u);
    EXPECT_EQ(m.overflow, 0u);
    EXPECT_EQ(m.pending_commands, 0u);
    EXPECT_EQ(m.lateness.total_us, 6'000u);
}

// TC-X21, TC-X22, TC-X18, BP-9: the adaptive quota, and the way back.
TEST(pressing, TC_X21_beyond_the_adaptive_quota_it_rejects) {
    pressed<scheduler_rig> rig;
    rig.fall_behind(6);
    cancellable held[4];
    for (cancellable& h : held) {
        const auto made = rig.once(1'000, timer_priority::high);
        ASSERT_TRUE(made.has_value());
        h = *made;
    }
    const auto fifth = rig.refusal(timer_priority::high);
    EXPECT_EQ(fifth.code, scheduler_errc::backpressured);
    EXPECT_EQ(fifth.cause, backpressure_cause::adaptive_quota);
    EXPECT_EQ(fifth.value, 4);
    EXPECT_EQ(fifth.limit, 4);
    EXPECT_EQ(rig.state(), backpressure_state::rejecting);
    EXPECT_TRUE(held[0].cancel());
    rig.pass(4);
    EXPECT_EQ(rig.refusal(timer_priority::high).cause, backpressure_cause::adaptive_quota);
    rig.pass(1);
    EXPECT_TRUE(rig.once(1'000, timer_priority::high).has_value());
    EXPECT_EQ(rig.state(), backpressure_state::backpressure);
    const auto m = rig->metrics();
    EXPECT_EQ(m.active, 4u);
    EXPECT_EQ(m.fired, 1u);
    EXPECT_EQ(m.cancelled, 1u);
    EXPECT_EQ(m.rejected_total(), 2u);
    EXPECT_EQ(m.backpressured[static_cast<unsigned>(backpressure_cause::adaptive_quota)], 2u);
    EXPECT_EQ(m.backlog_peak, 6u);
    EXPECT_EQ(rig.warnings.of(scheduler_warning_kind::quota_reached), 1u);
}

// BP-9, BP-2: in normal a used-up quota is quota_exceeded, and changes no state; told once.
TEST(pressing, BP_9_in_normal_the_quota_changes_no_state) {
    pressed<scheduler_rig> rig;
    cancellable last;
    for (unsigned i = 0; i < 8; ++i) {
        const auto made = rig.once(1'000, timer_priority::low);
        ASSERT_TRUE(made.has_value());
        last = *made;
    }
    for (unsigned i = 0; i < 3; ++i)
        EXPECT_EQ(rig.refusal(timer_priority::high).code, scheduler_errc::quota_exceeded);
    EXPECT_EQ(rig.state(), backpressure_state::normal);
    ASSERT_EQ(rig.warnings.count, 1u);
    EXPECT_EQ(rig.warnings.all[0].kind, scheduler_warning_kind::quota_reached);
    EXPECT_EQ(rig.warnings.all[0].value, 8);
    EXPECT_EQ(rig.warnings.all[0].limit, 4);
    EXPECT_TRUE(last.cancel());
    EXPECT_TRUE(rig.once(1'000, timer_priority::low).has_value());
    (void)rig.refusal(timer_priority::low);
    EXPECT_EQ(rig.warnings.count, 2u);  // accepted in between
}

/// Stalled twice in a row.
template <class Rig>
void begin_to_reject(Rig& rig) {
    rig.fall_behind(11);
    rig.fall_behind(11);
    EXPECT_EQ(rig.state(), backpressure_state::rejecting);
}

// BP-3: rejecting refuses everything but what goes on with a timer that was there.
TEST(pressing, BP_3_rejecting_refuses_all_but_what_goes_on) {
    pressed<scheduler_rig> rig;
    ASSERT_TRUE(rig->schedule_at_fixed_rate(ms(30), ms(1), rig.who, number{5}).has_value());
    begin_to_reject(rig);
    journal().clear();
    for (const timer_priority p :
         {timer_priority::low, timer_priority::normal, timer_priority::high}) {
        const auto why = rig.refusal(p);
        EXPECT_EQ(why.code, scheduler_errc::backpressured);
        EXPECT_EQ(why.cause, backpressure_cause::driver);
    }
    tactus::timer_target to{.who = rig.who};
    EXPECT_FALSE(rig->arm(to, ms(1)).has_value());
    to.goes_on = true;
    const auto goes_on = rig->arm(to, ms(100));
    ASSERT_TRUE(goes_on.has_value());
    EXPECT_TRUE(rig->cancel(*goes_on));
    // Periodic timers that are there come as before.
    rig.pass(8);
    EXPECT_TRUE(journal().is({5, 5, 5}));
}

class fixed_load final : public tactus::backpressure_probe {
public:
    [[nodiscard]] std::optional<std::uint32_t> load_permille() noexcept override {
        ++asked;
        return load;
    }
    std::uint32_t load = 0;
    unsigned asked = 0;
};

// BP-4, BP-5: the gauge engages after two ticks, is asked once per tick, and clears after two.
TEST(pressing, BP_5_a_full_mailbox_refuses_in_the_name_of_the_gauge) {
    fixed_load probe;
    pressed<served_rig> rig;
    ASSERT_TRUE(rig->gauge()->register_probe("mailbox", probe).has_value());
    probe.load = 800;
    cancellable kept[2];
    for (cancellable& k : kept) {  // two ticks; several requests in each
        rig.pass(1);
        for (unsigned i = 0; i < 3; ++i) {
            auto made = rig.once(1'000, timer_priority::low);
            if (made)
                k = *made;
        }
    }
    EXPECT_EQ(probe.asked, 2u);
    EXPECT_EQ(rig.state(), backpressure_state::backpressure);
    EXPECT_EQ(rig.refusal(timer_priority::normal).cause, backpressure_cause::gauge);
    EXPECT_TRUE(rig.once(1'000, timer_priority::high).has_value() || rig->active_count() >= 4);
    probe.load = 799;
    rig.pass(1);
    (void)rig.refusal(timer_priority::normal);
    rig.pass(1);
    EXPECT_TRUE(rig.once(1'000, timer_priority::normal).has_value());
    EXPECT_EQ(rig.state(), backpressure_state::normal);
    EXPECT_EQ(probe.asked, 4u);
    ASSERT_EQ(rig.warnings.of(scheduler_warning_kind::backpressure_state), 2u);
    EXPECT_EQ(rig.warnings.all[0].cause, backpressure_cause::gauge);
    // What is pushed is applied at the next tick.
    rig->gauge()->push(tactus::gauge_event::engage);
    rig.pass(1);
    EXPECT_EQ(rig.refusal(timer_priority::low).cause, backpressure_cause::gauge);
}

// SC-38, BP-5: when nobody has looked for an hour, and the load is gone, the first who comes is
// accepted.
TEST(pressing, SC_38_an_idle_hour_clears_the_gauge) {
    fixed_load probe;
    pressed<served_rig> rig;
    ASSERT_TRUE(rig->gauge()->register_probe("mailbox", probe).has_value());
    probe.load = 900;
    rig.pass(1);
    ASSERT_TRUE(rig.once(1'000, timer_priority::normal).has_value());
    rig.pass(1);
    ASSERT_EQ(rig.refusal(timer_priority::normal).cause, backpressure_cause::gauge);
    rig.jump(1'000);
    probe.load = 0;
    rig.time.advance(ms(3'600'000));
    EXPECT_TRUE(rig.once(1'000, timer_priority::normal).has_value());
    EXPECT_EQ(rig.state(), backpressure_state::normal);
    journal().clear();
}

// SC-38: nothing was due for an hour: no catch-up, no drift, no warning.
TEST(pressing, SC_38_an_idle_hour_is_no_backlog) {
    pressed<served_rig> rig;
    ASSERT_TRUE(rig.once(3'600'000, timer_priority::normal).has_value());
    rig.jump(3'600'000);
    rig.jump(3'600'000);
    ASSERT_TRUE(rig.once(1, timer_priority::low).has_value());
    rig.jump(1);
    EXPECT_TRUE(journal().is({1, 1}));
    EXPECT_EQ(rig.warnings.count, 0u);
    const auto m = rig->metrics();
    EXPECT_EQ(m.backlog_peak, 0u);
    EXPECT_EQ(m.drift_compensations, 0u);
    EXPECT_EQ(m.lateness.total_us, 0u);
}

// BP-9: the profile unbounded has no adaptive quota, and who is refused is not told of one.
TEST(pressing, BP_9_without_bounds_no_quota_is_named) {
    if (tactus::port::has_interrupts)
        return;  // a device has bounds
    pressed<scheduler_rig> rig([](scheduler_options& o) {
        o.config.profile = tactus::scheduler_profile::unbounded;
        o.config.catch_up = ms(5);
    });
    rig.fall_behind(6);
    const auto why = rig.refusal(timer_priority::normal);
    EXPECT_EQ(why.code, scheduler_errc::backpressured);
    EXPECT_EQ(why.limit, 0);
    journal().clear();
}

// SC-33: a clock that is set by hand has no excuse. Who steps over a deadline is told by how much;
// who comes to it is not.
TEST(pressing, SC_33_a_clock_set_by_hand_has_a_budget_of_nothing) {
    pressed<served_rig> rig;
    ASSERT_TRUE(rig.once(2, timer_priority::normal).has_value());
    rig.pass(1);
    rig.pass(1);
    EXPECT_TRUE(journal().is({1}));
    EXPECT_EQ(rig.warnings.count, 0u);
    ASSERT_TRUE(rig.once(2, timer_priority::normal).has_value());
    rig.jump(5);
    EXPECT_TRUE(journal().is({1}));
    ASSERT_EQ(rig.warnings.count, 1u);
    EXPECT_EQ(rig.warnings.all[0].kind, scheduler_warning_kind::drift_exceeded);
    EXPECT_EQ(rig.warnings.all[0].value, ms(3).ns());
    EXPECT_EQ(rig.warnings.all[0].limit, 0);
    EXPECT_EQ(rig->metrics().drift_max_ns, static_cast<std::uint64_t>(ms(3).ns()));
}

// SC-30, TC-X17: after 10 s all comes at once, in order, and time is what has passed.
TEST(pressing, TC_X17_a_stall_of_10_s_loses_nothing) {
    pressed<scheduler_rig> rig;
    tactus::mailbox_index who = rig.who;
    for (const std::uint32_t delay : {9'000u, 2'000u, 1u, 10'000u})
        ASSERT_TRUE(rig->schedule_once(ms(delay), who, number{delay}).has_value());
    ASSERT_TRUE(rig->schedule_with_fixed_delay(ms(3'000), ms(5), who, number{3}).has_value());
    ASSERT_TRUE(rig->schedule_at_fixed_rate(ms(4'000), ms(1'000), who, number{4}).has_value());
    rig.jump(10'000);
    EXPECT_TRUE(journal().is({1, 2'000, 3, 4, 9'000, 10'000}));
    // The 6 runs that were missed are told, and that it was behind; it was not so twice.
    ASSERT_EQ(rig.warnings.count, 2u);
    EXPECT_EQ(rig.warnings.all[0].kind, scheduler_warning_kind::backpressure_state);
    EXPECT_EQ(rig.warnings.all[1].kind, scheduler_warning_kind::burst_fire);
    EXPECT_EQ(rig.warnings.all[1].value, 6);
    ASSERT_TRUE(rig.once(3, timer_priority::high).has_value());
    rig.pass(2);
    EXPECT_TRUE(journal().is({}));
    rig.pass(3);
    EXPECT_TRUE(journal().is({1, 3}));
    rig.jump(995);
    EXPECT_EQ(journal().at(journal().count() - 1), 4);  // on its grid
}

/// Cancels another when it is woken.
class cancels_another final : public tactus::waker {
public:
    void wake() noexcept override { did = other.cancel(); }
    cancellable other;
    bool did = false;
};

// SC-32: so many ticks at once, half of them under pressure: what is later can still be cancelled.
TEST(pressing, SC_32_work_is_done_in_chunks) {
    struct row {
        std::int64_t delay;  // of the other
        std::uint32_t jump;
        bool is_cancelled;
    };
    // Chunks of 4, window 5: at 6 and more ticks late, chunks of 2.
    constexpr row rows[] = {{4, 5, false}, {5, 5, true}, {2, 8, false}, {3, 8, true}};
    for (const row& r : rows) {
        pressed<scheduler_rig> rig([](scheduler_options& o) {
            small(o);
            o.config.chunk_ticks = 4;
        });
        cancels_another first;
        ASSERT_TRUE(rig->schedule_wake(ms(1), first).has_value());
        const auto other = rig.once(r.delay, timer_priority::normal);
        ASSERT_TRUE(other.has_value());
        first.other = *other;
        rig.jump(r.jump);
        EXPECT_EQ(first.did, r.is_cancelled);
        EXPECT_EQ(journal().count(), r.is_cancelled ? 0u : 1u);
    }
}

// SC-23, SC-32: what is folded is folded over the whole advance, however many chunks it has.
TEST(pressing, SC_23_folding_is_over_all_chunks) {
    pressed<scheduler_rig> rig([](scheduler_options& o) {
        small(o);
        o.config.chunk_ticks = 4;
    });
    ASSERT_TRUE(rig->add({.mode = job_mode::fixed_rate,
                          .first = ms(1),
                          .period = ms(1),
                          .to = rig.who,
                          .backlog_limit = 100,
                          .burst_threshold = 100},
                         number{7})
                    .has_value());
    ASSERT_TRUE(rig.once(30, timer_priority::normal).has_value());
    rig.jump(40);
    EXPECT_TRUE(journal().is({7, 1}));
    EXPECT_EQ(rig->counted().missed, 39u);
}

}  // namespace
