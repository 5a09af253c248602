// SPDX-License-Identifier: Apache-2.0
//
// Backpressure: the worked examples, every transition and every non-transition, every boundary.
#include <tactus/scheduler/backpressure.hpp>

#include <array>
#include <initializer_list>

#include "portable_test.hpp"

namespace tactus {
namespace {

using state = backpressure_state;
using cause = backpressure_cause;
using event = backpressure_event;
using warning = scheduler_warning_kind;
constexpr auto high = timer_priority::high;

// A scheduler whose ticks are pulled: what is late is what has passed since the last pull.
class machine {
public:
    explicit machine(const backpressure::options& o = {.window = 5,
                                                       .quota = 8,
                                                       .adaptive_quota = 4})
        : pressure(o), now(o.start) {}

    state pull(std::uint64_t backlog, bool gauge = false) {
        now += backlog == 0 ? 1 : backlog;
        return see(backlog, gauge);
    }
    state see(std::uint64_t backlog, bool gauge = false) {
        told = pressure.observe(
            {.now = now, .backlog = backlog, .active = active, .gauge_engaged = gauge});
        return pressure.state();
    }
    std::expected<void, scheduler_error> ask(timer_priority priority) {
        const auto answer = pressure.admit({.priority = priority, .active = active, .now = now});
        told = answer.warnings;
        active += answer.result ? 1 : 0;
        return answer.result;
    }
    bool refused(timer_priority priority, scheduler_errc code, cause why) {
        const auto answer = ask(priority);
        return !answer && answer.error().code == code && answer.error().cause == why;
    }
    bool said(std::initializer_list<warning> kinds) const {
        if (kinds.size() != told.all().size())
            return false;
        auto at = told.all().begin();
        for (const warning kind : kinds) {
            if (at++->kind != kind)
                return false;
        }
        return true;
    }
    // By way of what leads there.
    void enter(state wanted) {
        if (wanted != state::normal)
            pull(6);
        if (wanted == state::rejecting) {
            pull(11);
            pull(11);
        }
        EXPECT_EQ(pressure.state(), wanted);
    }

    backpressure pressure;
    tick now;
    std::uint32_t active = 0;
    pressure_warnings told;
};

// SC-32, TC-X05: the worked example, literally.
TEST(backpressure, the_worked_example_with_a_window_of_5) {
    machine m;
    EXPECT_EQ(m.pull(4), state::normal);
    EXPECT_EQ(m.pressure.mode(), tick_mode::normal);
    EXPECT_EQ(m.pressure.status(), tick_status{});
    EXPECT_EQ(m.pull(5), state::normal);
    EXPECT_EQ(m.pressure.mode(), tick_mode::catch_up);
    EXPECT_EQ(m.pressure.status(), tick_status{});
    EXPECT_TRUE(m.said({}));
    EXPECT_EQ(m.pull(6), state::backpressure);
    EXPECT_EQ(m.pressure.status(), (tick_status{tick_state::backpressured, 6}));
    EXPECT_TRUE(m.said({warning::backpressure_state}));
    EXPECT_EQ(m.pull(10), state::backpressure);
    EXPECT_TRUE(m.said({}));
    EXPECT_EQ(m.pull(11), state::backpressure);
    EXPECT_EQ(m.pressure.status(), (tick_status{tick_state::backpressured, 11}));
    EXPECT_EQ(m.pull(11), state::rejecting);
    EXPECT_EQ(m.pressure.status(), (tick_status{tick_state::stalled, 11}));
    EXPECT_TRUE(m.said({warning::driver_catch_up_exceeded, warning::backpressure_state}));
    EXPECT_EQ(m.told.all()[0].value, 11);
    EXPECT_EQ(m.told.all()[0].limit, 5);
    EXPECT_EQ(m.told.all()[1].cause, cause::driver);
    EXPECT_EQ(m.pull(3), state::rejecting);
    EXPECT_EQ(m.pull(2), state::backpressure);
    EXPECT_TRUE(m.said({warning::backpressure_state}));
    EXPECT_EQ(m.told.all()[0].value, 1);
    EXPECT_EQ(m.told.all()[0].limit, 1);
    EXPECT_EQ(m.pull(3), state::normal);
    EXPECT_TRUE(m.said({warning::backpressure_state}));
    EXPECT_EQ(m.told.all()[0].value, 0);
    EXPECT_EQ(m.told.all()[0].limit, 0);
    EXPECT_EQ(m.told.all()[0].cause, cause::driver);
    EXPECT_EQ(m.pressure.cause(), cause::none);
    EXPECT_EQ(m.pressure.backlog_peak(), 11u);
    EXPECT_EQ(m.pressure.above_window_count(), 4u);
}

// SC-32: it stays under pressure while the gauge is engaged.
TEST(backpressure, the_gauge_holds_what_the_driver_began) {
    machine m;
    m.enter(state::rejecting);
    m.pull(3);
    EXPECT_EQ(m.pull(2, true), state::backpressure);
    EXPECT_EQ(m.pull(3, true), state::backpressure);
    EXPECT_EQ(m.pressure.cause(), cause::gauge);
    EXPECT_EQ(m.pull(4), state::backpressure);
    EXPECT_EQ(m.pressure.cause(), cause::driver);
    EXPECT_EQ(m.pull(3), state::normal);
}

// BP-3, BP-4, BP-9: where each event leads, written down again.
TEST(backpressure, the_table_says_what_is_specified) {
    constexpr auto n = state::normal;
    constexpr auto b = state::backpressure;
    constexpr auto r = state::rejecting;
    constexpr state to[3][6] = {
        // behind, engaged, stalled, no_quota, recovered, calm
        {b, b, r, n, n, n},
        {b, b, r, r, b, n},
        {r, r, r, r, b, r},
    };
    for (std::size_t s = 0; s < backpressure_state_count; ++s) {
        for (std::size_t e = 0; e < backpressure_event_count; ++e) {
            const backpressure_row& row = row_of(static_cast<state>(s), static_cast<event>(e));
            EXPECT_EQ(row.from, static_cast<state>(s));
            EXPECT_EQ(row.on, static_cast<event>(e));
            EXPECT_EQ(row.to, to[s][e]);
            EXPECT_TRUE(row.to <= row.from || row.cause != cause::none);
        }
    }
}

// Brings the event about; false where nothing can in this state.
bool provoke(machine& m, state in, event e) {
    m.now += 20;
    switch (e) {
    case event::behind:
        m.see(6);
        return true;
    case event::engaged:
        m.see(3, true);
        return true;
    case event::stalled:
        if (in == state::normal)
            return false;  // the first of the two has led out of it
        m.see(20);
        m.pull(11);
        return true;
    case event::no_quota:
        m.active = in == state::normal ? 8 : 4;
        EXPECT_FALSE(m.ask(high).has_value());
        return true;
    case event::recovered:
        if (in == state::normal)
            return false;  // has not led anywhere
        m.see(19, true);   // nothing of the 20 ticks was idle
        m.pull(3, true);
        m.pull(2, in == state::backpressure);
        return true;
    case event::calm:
        m.see(3);
        return true;
    }
    return false;
}

// BP-3, BP-4: every transition and every non-transition of the table, by what brings it about.
TEST(backpressure, inputs_lead_where_the_table_says) {
    for (const backpressure_row& row : backpressure_rows) {
        machine m({.window = 5, .quota = 8, .adaptive_quota = 4, .cooldown_ticks = 5});
        m.enter(row.from);
        if (!provoke(m, row.from, row.on))
            continue;
        if (m.pressure.state() != row.to)
            TEST_LOG("row", &row - backpressure_rows.data());
        EXPECT_EQ(m.pressure.state(), row.to);
        EXPECT_EQ(m.pressure.state() == state::normal, m.pressure.cause() == cause::none);
    }
}

// TC-X20, BP-3: above the window only high priority is accepted; it is told once.
TEST(backpressure, above_the_window_only_high_priority_is_accepted) {
    machine m;
    m.active = 2;
    EXPECT_EQ(m.pull(6), state::backpressure);
    EXPECT_TRUE(m.said({warning::backpressure_state}));
    EXPECT_EQ(m.told.all()[0].value, 1);
    EXPECT_EQ(m.told.all()[0].cause, cause::driver);
    EXPECT_TRUE(m.refused(timer_priority::low, scheduler_errc::backpressured, cause::driver));
    EXPECT_TRUE(m.refused(timer_priority::normal, scheduler_errc::backpressured, cause::driver));
    EXPECT_TRUE(m.said({}));
    EXPECT_TRUE(m.ask(high).has_value());
    EXPECT_EQ(m.active, 3u);
    EXPECT_EQ(m.pull(6), state::backpressure);
    EXPECT_TRUE(m.said({}));
    EXPECT_EQ(m.pressure.refused_count(cause::driver), 2u);
}

// BP-3: the gauge alone does the same, and the error says so.
TEST(backpressure, an_engaged_gauge_refuses_in_its_name) {
    machine m;
    EXPECT_EQ(m.pull(1, true), state::backpressure);
    EXPECT_EQ(m.told.all()[0].cause, cause::gauge);
    EXPECT_TRUE(m.refused(timer_priority::normal, scheduler_errc::backpressured, cause::gauge));
    EXPECT_TRUE(m.ask(high).has_value());
    EXPECT_EQ(m.pull(1), state::normal);
    EXPECT_EQ(m.pressure.refused_count(cause::gauge), 1u);
}

// TC-X21, BP-9, BP-4: quota 8; the 5th is refused, 4 ticks later too, after 5 accepted.
TEST(backpressure, the_adaptive_quota_rejects_until_it_is_free_and_cool) {
    machine m;
    m.pull(0, true);
    for (int i = 0; i < 4; ++i)
        EXPECT_TRUE(m.ask(high).has_value());
    const auto fifth = m.ask(high);
    ASSERT_FALSE(fifth.has_value());
    EXPECT_EQ(fifth.error().code, scheduler_errc::backpressured);
    EXPECT_EQ(fifth.error().cause, cause::adaptive_quota);
    EXPECT_EQ(fifth.error().value, 4);
    EXPECT_EQ(fifth.error().limit, 4);
    EXPECT_EQ(m.pressure.state(), state::rejecting);
    EXPECT_TRUE(m.said({warning::backpressure_state, warning::quota_reached}));
    EXPECT_EQ(m.told.all()[0].cause, cause::adaptive_quota);
    EXPECT_EQ(m.told.all()[1].value, 8);
    EXPECT_EQ(m.told.all()[1].limit, 4);
    m.active = 3;
    for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(m.pull(0, true), state::rejecting);
        EXPECT_TRUE(m.refused(high, scheduler_errc::backpressured, cause::adaptive_quota));
        EXPECT_TRUE(m.said({}));
    }
    EXPECT_EQ(m.pull(0, true), state::backpressure);
    EXPECT_TRUE(m.ask(high).has_value());
    EXPECT_EQ(m.pressure.refused_count(cause::adaptive_quota), 5u);
}

// BP-4: the cooldown alone does not free it.
TEST(backpressure, a_used_up_quota_rejects_as_long_as_it_is) {
    machine m;
    m.active = 4;
    m.pull(0, true);
    EXPECT_FALSE(m.ask(high).has_value());
    for (int i = 0; i < 20; ++i)
        EXPECT_EQ(m.pull(0, true), state::rejecting);
    m.active = 3;
    EXPECT_EQ(m.pull(0, true), state::backpressure);
}

// BP-4, SC-38: the cooldown counts ticks that passed, not looks.
TEST(backpressure, the_cooldown_counts_elapsed_ticks) {
    for (const std::uint32_t cooldown : {0u, 1u, 5u, 9u}) {
        machine m({.window = 5, .cooldown_ticks = cooldown});
        m.pull(11);
        m.pull(11);
        const tick from = m.now;
        while (m.pressure.state() == state::rejecting) {
            m.pull(0);
            m.see(0);
            m.see(0);
        }
        EXPECT_EQ(m.now - from, cooldown == 0 ? 1 : cooldown);
    }
}

// BP-4: another stall while it rejects begins the cooldown again, and rejects in the driver's name.
TEST(backpressure, a_stall_begins_the_cooldown_again) {
    machine m;
    m.active = 4;
    m.pull(0, true);
    EXPECT_FALSE(m.ask(high).has_value());
    EXPECT_EQ(m.pressure.cause(), cause::adaptive_quota);
    m.active = 0;
    m.pull(11);
    EXPECT_EQ(m.pressure.state(), state::backpressure);
    m.active = 4;
    EXPECT_FALSE(m.ask(high).has_value());
    m.pull(11);
    EXPECT_EQ(m.pressure.cause(), cause::driver);
    EXPECT_TRUE(m.said({warning::driver_catch_up_exceeded}));
    m.pull(11);
    EXPECT_TRUE(m.said({}));
    for (int i = 0; i < 4; ++i)
        EXPECT_EQ(m.pull(0), state::rejecting);
    EXPECT_EQ(m.pull(0), state::backpressure);
}

// BP-2, BP-9, TC-X18: exact at quota - 1 and quota; no state changes.
TEST(backpressure, in_normal_the_quota_is_exact) {
    machine m;
    m.active = 7;
    EXPECT_TRUE(m.ask(timer_priority::low).has_value());
    const auto full = m.ask(high);
    ASSERT_FALSE(full.has_value());
    EXPECT_EQ(full.error().code, scheduler_errc::quota_exceeded);
    EXPECT_EQ(full.error().cause, cause::none);
    EXPECT_EQ(full.error().value, 8);
    EXPECT_EQ(full.error().limit, 8);
    EXPECT_TRUE(m.said({warning::quota_reached}));
    EXPECT_EQ(m.told.all()[0].value, 8);
    EXPECT_EQ(m.told.all()[0].limit, 4);
    EXPECT_EQ(m.pressure.state(), state::normal);
    EXPECT_EQ(m.pressure.refused_count(cause::none), 1u);
    EXPECT_FALSE(m.ask(high).has_value());
    EXPECT_TRUE(m.said({}));
    m.active = 7;
    EXPECT_TRUE(m.ask(high).has_value());
    EXPECT_FALSE(m.ask(high).has_value());
    EXPECT_TRUE(m.said({warning::quota_reached}));
}

// BP-9: no quota, no adaptive quota.
TEST(backpressure, the_unbounded_profile_has_no_adaptive_quota) {
    scheduler_config config;
    config.profile = scheduler_profile::unbounded;
    backpressure p(config, 0);
    (void)p.observe({.now = 33, .backlog = 33});
    EXPECT_EQ(p.state(), state::backpressure);
    EXPECT_TRUE(p.admit({.priority = high, .active = 1'000'000'000, .now = 33}).result.has_value());
    config.profile = scheduler_profile::micro;
    EXPECT_EQ(backpressure(config, 0).quota(), 64u);
    EXPECT_EQ(backpressure(config, 0).adaptive_quota(), 32u);
    EXPECT_EQ(backpressure(config, 0).window(), 32u);
}

// SC-32: chunks are halved under pressure, and never nothing.
TEST(backpressure, chunks_are_halved_under_pressure) {
    machine m({.window = 5, .chunk_ticks = 1'024});
    EXPECT_EQ(m.pressure.chunk_ticks(), 1'024u);
    m.pull(6);
    EXPECT_EQ(m.pressure.chunk_ticks(), 512u);
    m.pull(11);
    m.pull(11);
    EXPECT_EQ(m.pressure.chunk_ticks(), 512u);
    machine one({.window = 5, .chunk_ticks = 1});
    one.pull(6);
    EXPECT_EQ(one.pressure.chunk_ticks(), 1u);
}

// SC-38: "in a row" is about ticks. Twice at one tick is once; with idle time between it is not.
TEST(backpressure, twice_in_a_row_means_two_ticks_without_idle_ones_between) {
    machine m;
    m.pull(11);
    m.see(11);
    m.see(12);
    EXPECT_EQ(m.pressure.state(), state::backpressure);
    m.now += 1 + 1 + 11;
    EXPECT_EQ(m.see(11), state::backpressure);
    m.now += 1 + 11;
    EXPECT_EQ(m.see(11), state::rejecting);
    EXPECT_EQ(m.pressure.above_window_count(), 3u);
}

// SC-38: a look at the same tick that finds less takes nothing back.
TEST(backpressure, a_second_look_at_a_tick_relaxes_nothing) {
    machine m;
    m.pull(11);
    EXPECT_EQ(m.see(0), state::backpressure);
    EXPECT_EQ(m.pressure.backlog(), 11u);
    EXPECT_EQ(m.pull(11), state::rejecting);
}

// SC-38: an idle hour and then a timer: no catch-up, no warning, and nobody is refused.
TEST(backpressure, idle_time_is_calm_although_nobody_looked) {
    machine m;
    m.now += 3'600'000;
    EXPECT_EQ(m.see(0), state::normal);
    EXPECT_EQ(m.pressure.mode(), tick_mode::normal);
    EXPECT_TRUE(m.said({}));
    m.enter(state::rejecting);
    m.now += 3'600'000;
    EXPECT_EQ(m.see(0), state::normal);
    EXPECT_TRUE(m.said({warning::backpressure_state, warning::backpressure_state}));
    EXPECT_TRUE(m.ask(timer_priority::low).has_value());
}

// BP-4: 0.8 windows and half a window, for each window.
TEST(backpressure, the_boundaries_hold_for_each_window) {
    for (std::uint32_t w = 1; w <= 32; ++w) {
        for (std::uint64_t b = 0; b <= 3 * w; ++b) {
            backlog_judge judge(w);
            judge.look(b);
            EXPECT_EQ(judge.mode() == tick_mode::catch_up, 5 * b > 4 * w);
            EXPECT_EQ(judge.is_calm(b), 5 * b < 4 * w);
            EXPECT_EQ(judge.is_recovered(b), 2 * b < w);
            EXPECT_EQ(judge.status().state, b > w ? tick_state::backpressured : tick_state::ok);
            judge.look(b);
            EXPECT_EQ(judge.status().state == tick_state::stalled, b > 2 * w);
        }
    }
    // Where a product of it would wrap to something small.
    const backlog_judge judge(32);
    EXPECT_FALSE(judge.is_calm(~std::uint64_t{0} / 10 + 1));
    EXPECT_FALSE(judge.is_recovered(std::uint64_t{1} << 63));
    EXPECT_EQ(judge.mode_of(~std::uint64_t{0} / 10 + 1), tick_mode::catch_up);
}

}  // namespace
}  // namespace tactus
