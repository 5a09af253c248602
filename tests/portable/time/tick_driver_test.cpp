// SPDX-License-Identifier: Apache-2.0
//
// Goal: every reason a tick driver does not start or stops has a name and a text (TS-8, SD-5), and
// the manual driver is one like any other: it counts, it acts, it tells, and it can break (SC-34).
// Method: a host that records what is asked of it.
#include <tactus/time/manual_driver.hpp>
#include <tactus/time/tick_driver.hpp>

#include <string_view>

#include "portable_test.hpp"

using tactus::driver_listener;
using tactus::duration;
using tactus::instant;
using tactus::manual_clock;
using tactus::manual_driver;
using tactus::tick_driver_error;
using tactus::tick_driver_error_count;
using tactus::tick_driver_metrics;
using tactus::tick_source;

namespace {

struct recording_host final : tactus::tick_host {
    explicit recording_host(const tactus::clock& c) : of(&c) {}

    const tactus::clock& time() const noexcept override { return *of; }
    duration resolution() const noexcept override { return tick_length; }
    tick_source* ticks() noexcept override { return source; }
    bool acts() const noexcept override { return driven; }
    instant next_act() noexcept override { return due; }
    bool act(instant now) noexcept override {
        ++act_count;
        acted_at = now;
        due = instant::never();
        return true;
    }
    void driver_stopped(tick_driver_error why) noexcept override {
        ++stop_count;
        cause = why;
    }

    const tactus::clock* of;
    duration tick_length = duration::from_ms(1);
    tick_source* source = nullptr;
    bool driven = true;
    instant due = instant::never();
    unsigned act_count = 0;
    instant acted_at;
    unsigned stop_count = 0;
    tick_driver_error cause{};
};

struct last_metrics final : driver_listener {
    bool measured(const tick_driver_metrics& what) noexcept override {
        ++count;
        last = what;
        return true;
    }
    unsigned count = 0;
    tick_driver_metrics last;
};

tick_driver_error refusal(manual_driver& d, recording_host& to) {
    const auto begun = d.start(to);
    EXPECT_FALSE(begun.has_value());
    return begun ? tick_driver_error{} : begun.error();
}

}  // namespace

// TS-8, SD-5
TEST(tick_driver_error, TS_8_every_value_has_a_name_and_a_text_of_its_own) {
    for (std::size_t i = 0; i < tick_driver_error_count; ++i) {
        const auto one = static_cast<tick_driver_error>(i);
        EXPECT_TRUE(std::string_view(name_of(one)) != "unknown");
        EXPECT_TRUE(std::string_view(text_of(one)).size() > 10);
        for (std::size_t j = 0; j < i; ++j) {
            const auto other = static_cast<tick_driver_error>(j);
            EXPECT_TRUE(std::string_view(name_of(one)) != name_of(other));
            EXPECT_TRUE(std::string_view(text_of(one)) != text_of(other));
        }
    }
    const auto beyond = static_cast<tick_driver_error>(tick_driver_error_count);
    EXPECT_TRUE(std::string_view(name_of(beyond)) == "unknown");
    EXPECT_TRUE(std::string_view(text_of(beyond)) == "unknown");
    EXPECT_TRUE(std::string_view(name_of(tick_driver_error::spawn_failed)) == "spawn_failed");
    EXPECT_TRUE(std::string_view(name_of(tick_driver_error::drift_exceeded)) == "drift_exceeded");
}

// TS-8, SC-34: handle_unavailable, unsupported_environment, unsupported_executor and
// invalid_resolution.
TEST(manual_driver, TS_8_says_why_it_does_not_start) {
    manual_clock time;
    const manual_clock other;
    manual_driver driver(time);

    recording_host elsewhere(other);
    EXPECT_EQ(refusal(driver, elsewhere), tick_driver_error::unsupported_environment);
    recording_host finer(time);
    finer.tick_length = duration::from_ns(100);
    EXPECT_EQ(refusal(driver, finer), tick_driver_error::invalid_resolution);
    recording_host idle(time);
    idle.driven = false;
    EXPECT_EQ(refusal(driver, idle), tick_driver_error::unsupported_executor);

    recording_host host(time);
    EXPECT_TRUE(driver.start(host).has_value());
    EXPECT_EQ(refusal(driver, host), tick_driver_error::handle_unavailable);
    driver.stop();
    driver.stop();
    EXPECT_TRUE(driver.start(host).has_value());
    EXPECT_EQ(host.stop_count, 0u);
}

// SC-34, TS-4: ticks by hand go the way of all ticks.
TEST(manual_driver, SC_34_counts_its_ticks_and_does_what_is_due) {
    manual_clock time;
    manual_driver driver(time);
    recording_host host(time);
    tick_source source;
    host.source = &source;
    auto lease = source.acquire();
    EXPECT_TRUE(driver.start(host).has_value());
    EXPECT_EQ(driver.kind(), tactus::clock_kind::deterministic);
    EXPECT_TRUE(std::string_view(driver.name()) == "manual");

    host.due = instant::epoch() + duration::from_ms(3);
    EXPECT_EQ(driver.advance(duration::from_us(1'500)), 1u);
    EXPECT_EQ(lease.pending(), 1u);
    EXPECT_EQ(host.act_count, 0u);
    EXPECT_EQ(driver.advance(duration::from_us(1'500)), 2u);
    EXPECT_EQ(lease.pending(), 3u);
    EXPECT_EQ(host.act_count, 1u);
    EXPECT_EQ(host.acted_at, time.now());
    EXPECT_EQ(driver.advance_to(instant::epoch() + duration::from_ms(10)), 7u);
    EXPECT_EQ(host.act_count, 1u);
    EXPECT_EQ(driver.metrics().wakeups, 10u);
    EXPECT_EQ(driver.metrics().acts, 1u);
    EXPECT_EQ(driver.jitter(), duration());
    driver.stop();
    EXPECT_EQ(driver.advance(duration::from_ms(5)), 5u);
    EXPECT_EQ(lease.pending(), 10u);
}

// TS-4: a jump of more ticks than the source takes at once.
TEST(manual_driver, counts_a_jump_of_fifty_days) {
    manual_clock time;
    manual_driver driver(time);
    recording_host host(time);
    tick_source source;
    host.source = &source;
    host.driven = false;
    EXPECT_TRUE(driver.start(host).has_value());
    const auto jump = duration::from_s(std::int64_t{50} * 24 * 3'600);
    if (!tactus::port::has_interrupts) {  // there nobody may look so seldom
        auto lease = source.acquire();
        EXPECT_EQ(driver.advance(jump), 4'320'000'000u);
        EXPECT_EQ(lease.pending(), 4'320'000'000u);
    }
    EXPECT_EQ(host.act_count, 0u);
    driver.stop();
}

// TS-7: once a second, while somebody wants to know.
TEST(manual_driver, TS_7_tells_its_metrics_every_second_while_somebody_listens) {
    manual_clock time;
    manual_driver driver(time);
    recording_host host(time);
    EXPECT_TRUE(driver.start(host).has_value());
    (void)driver.advance(duration::from_s(3));
    last_metrics told;
    driver.listen(&told);
    (void)driver.advance(duration::from_ms(1));
    EXPECT_EQ(told.count, 1u);
    (void)driver.advance(duration::from_ms(999));
    EXPECT_EQ(told.count, 1u);
    (void)driver.advance(duration::from_ms(1));
    EXPECT_EQ(told.count, 2u);
    EXPECT_EQ(told.last.wakeups, 4'001u);
    driver.listen(nullptr);
    (void)driver.advance(duration::from_s(9));
    EXPECT_EQ(told.count, 2u);
}

// TS-7: who ends is not told any more; who listens instead is.
TEST(manual_driver, TS_7_forgets_who_listened) {
    manual_clock time;
    manual_driver driver(time);
    recording_host host(time);
    EXPECT_TRUE(driver.start(host).has_value());
    last_metrics before;
    last_metrics after;
    driver.listen(&before);
    driver.listen(&after);
    driver.forget(before);
    (void)driver.advance(duration::from_s(1));
    EXPECT_EQ(before.count, 0u);
    EXPECT_EQ(after.count, 1u);
    driver.forget(after);
    (void)driver.advance(duration::from_s(9));
    EXPECT_EQ(after.count, 1u);
}

// TS-8: a stop by itself is told, once, with its cause; one that was asked for is not.
TEST(manual_driver, TS_8_one_that_breaks_tells_its_host) {
    manual_clock time;
    manual_driver driver(time);
    recording_host host(time);
    EXPECT_TRUE(driver.start(host).has_value());
    driver.break_down(tick_driver_error::driver_stopped);
    EXPECT_EQ(host.stop_count, 1u);
    EXPECT_EQ(host.cause, tick_driver_error::driver_stopped);
    driver.break_down(tick_driver_error::driver_stopped);
    EXPECT_EQ(host.stop_count, 1u);
    host.due = instant::epoch();
    (void)driver.advance(duration::from_ms(5));
    EXPECT_EQ(host.act_count, 0u);
    driver.stop();
    EXPECT_TRUE(driver.start(host).has_value());
    (void)driver.advance(duration::from_ms(1));
    EXPECT_EQ(host.act_count, 1u);
}
