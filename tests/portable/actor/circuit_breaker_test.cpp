// SPDX-License-Identifier: Apache-2.0
//
// Goal: when a circuit breaker lets calls pass, and what it tells (C-PAT-1 to C-PAT-3). Method: a
// clock that is set by hand.
#include <tactus/actor/circuit_breaker.hpp>

#include <tactus/time/manual_clock.hpp>

#include <expected>
#include <string_view>

#include "portable_test.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used

namespace {

struct counted final : breaker_events {
    void opened() noexcept override { ++opened_count; }
    void half_opened() noexcept override { ++half_opened_count; }
    void closed() noexcept override { ++closed_count; }
    void call_succeeded(duration t) noexcept override {
        ++succeeded;
        took = t;
    }
    void call_failed(duration) noexcept override { ++failed; }
    void call_timed_out(duration) noexcept override { ++timed_out; }
    void call_refused(duration r) noexcept override {
        ++refused;
        remaining = r;
    }
    int opened_count = 0;
    int half_opened_count = 0;
    int closed_count = 0;
    int succeeded = 0;
    int failed = 0;
    int timed_out = 0;
    int refused = 0;
    duration took = duration::zero();
    duration remaining = duration::zero();
};

struct fixture {
    explicit fixture(std::uint32_t factor = 1) noexcept
        : breaker({.time = &time,
                   .max_failures = 3,
                   .call_timeout = duration::from_ms(100),
                   .reset_timeout = duration::from_s(1),
                   .reset_factor = factor,
                   .reset_timeout_max = duration::from_s(5),
                   .events = &said}) {}
    void pass(std::int64_t ms) noexcept { time.advance(duration::from_ms(ms)); }
    void open() noexcept {
        for (int i = 0; i < 3; ++i)
            breaker.fail();
    }
    bool passes() noexcept { return breaker.try_call().has_value(); }  // and fails

    manual_clock time{duration::from_ns(1)};
    counted said;
    circuit_breaker breaker;
};

}  // namespace

// C-PAT-1: closed, calls pass; failures in a row open it, a success between begins anew.
TEST(circuit_breaker, closed_it_counts_failures_in_a_row) {
    fixture f;
    EXPECT_TRUE(f.breaker.state() == breaker_state::closed);
    auto first = f.breaker.try_call();
    EXPECT_TRUE(first.has_value());
    f.pass(5);
    first->succeed();
    first->fail();  // said already
    EXPECT_EQ(f.said.succeeded, 1);
    EXPECT_TRUE(f.said.took == duration::from_ms(5));
    EXPECT_EQ(f.said.failed, 0);
    f.breaker.fail();
    f.breaker.try_call()->fail();
    EXPECT_EQ(f.breaker.failure_count(), 2u);
    f.breaker.try_call()->succeed();
    EXPECT_EQ(f.breaker.failure_count(), 0u);
    f.breaker.fail();
    f.breaker.fail();
    EXPECT_TRUE(f.breaker.state() == breaker_state::closed);
    EXPECT_EQ(f.said.opened_count, 0);
    EXPECT_TRUE(f.passes());  // it ends without a word: a failure
    EXPECT_TRUE(f.breaker.state() == breaker_state::open);
    EXPECT_EQ(f.said.opened_count, 1);
    EXPECT_EQ(f.said.failed, 2);
}

// C-PAT-1: what takes too long has failed, even if it ends well.
TEST(circuit_breaker, closed_a_call_that_takes_too_long_has_failed) {
    fixture f;
    for (int i = 0; i < 3; ++i) {
        auto call = f.breaker.try_call();
        f.pass(i == 0 ? 100 : 101);
        call->succeed();
    }
    EXPECT_EQ(f.said.succeeded, 1);  // exactly in time
    EXPECT_EQ(f.said.timed_out, 2);
    EXPECT_EQ(f.breaker.failure_count(), 2u);
}

// C-PAT-1: what is a failure can be said: a value, an error, a predicate.
TEST(circuit_breaker, calls_through_it) {
    fixture f;
    const auto value = f.breaker.with([] { return 5; });
    EXPECT_TRUE(value.has_value() && *value == 5);
    using answer = std::expected<int, int>;
    const auto wrong = f.breaker.with([]() -> answer { return std::unexpected(7); });
    EXPECT_TRUE(wrong.has_value() && !wrong->has_value());
    EXPECT_EQ(f.breaker.failure_count(), 1u);
    const auto odd = [](int n) { return n % 2 != 0; };
    (void)f.breaker.with([] { return 3; }, odd);
    EXPECT_EQ(f.breaker.failure_count(), 2u);
    (void)f.breaker.with([] { return 3; }, odd);
    bool called = false;
    const auto refused = f.breaker.with([&] {
        called = true;
        return 1;
    });
    EXPECT_FALSE(called);
    EXPECT_TRUE(!refused && refused.error().remaining == duration::from_s(1));
}

// C-PAT-2: open, calls are refused at once with the time that is left; what is said changes
// nothing; then it is half open.
TEST(circuit_breaker, open_it_refuses_until_the_time_has_come) {
    fixture f;
    f.open();
    f.pass(400);
    const auto refused = f.breaker.try_call();
    EXPECT_TRUE(!refused && refused.error().remaining == duration::from_ms(600));
    EXPECT_EQ(f.said.refused, 1);
    EXPECT_TRUE(f.said.remaining == duration::from_ms(600));
    f.breaker.succeed();
    f.breaker.fail();
    EXPECT_TRUE(f.breaker.state() == breaker_state::open);
    f.pass(599);
    EXPECT_TRUE(f.breaker.state() == breaker_state::open);
    EXPECT_EQ(f.said.half_opened_count, 0);
    f.pass(1);
    EXPECT_TRUE(f.breaker.state() == breaker_state::half_open);
    EXPECT_EQ(f.said.half_opened_count, 1);
}

// C-PAT-2: the reset time grows with every trial that fails, up to a limit, and is the first one
// again after a success.
TEST(circuit_breaker, open_the_reset_time_grows) {
    fixture f(2);
    f.open();
    for (const int wanted_ms : {1'000, 2'000, 4'000, 5'000, 5'000}) {
        const auto refused = f.breaker.try_call();
        EXPECT_TRUE(!refused && refused.error().remaining == duration::from_ms(wanted_ms));
        f.pass(wanted_ms);
        EXPECT_TRUE(f.breaker.state() == breaker_state::half_open);
        f.breaker.fail();
    }
    f.pass(5'000);
    f.breaker.succeed();
    EXPECT_TRUE(f.breaker.state() == breaker_state::closed);
    f.open();
    EXPECT_TRUE(f.breaker.try_call().error().remaining == duration::from_s(1));
}

// C-PAT-3: half open, one call passes and decides; a second one beside it is refused.
TEST(circuit_breaker, half_open_one_call_decides) {
    fixture f;
    f.open();
    f.pass(1'000);
    {
        auto trial = f.breaker.try_call();
        EXPECT_TRUE(trial.has_value());
        const auto second = f.breaker.try_call();
        EXPECT_TRUE(!second && second.error().remaining == duration::zero());
        trial->succeed();
    }
    EXPECT_TRUE(f.breaker.state() == breaker_state::closed);
    EXPECT_EQ(f.said.closed_count, 1);
    EXPECT_EQ(f.said.failed, 0);
    // A failure, a late success, or no word at all open it again.
    for (int how = 0; how < 3; ++how) {
        f.open();
        f.pass(1'000);
        auto trial = f.breaker.try_call();
        EXPECT_TRUE(trial.has_value());
        if (how == 0)
            trial->fail();
        if (how > 0)
            f.pass(101);
        if (how == 1)
            trial->succeed();
        EXPECT_TRUE(f.breaker.state() == breaker_state::open);
        if (how == 2)
            trial->succeed();  // too late to matter
        EXPECT_TRUE(f.breaker.state() == breaker_state::open);
        f.pass(1'000);
        f.breaker.succeed();
        EXPECT_TRUE(f.breaker.state() == breaker_state::closed);
    }
}

// A call that began in an earlier state says nothing about this one.
TEST(circuit_breaker, old_calls_do_not_count) {
    fixture f;
    auto old = f.breaker.try_call();
    f.open();
    f.pass(1'000);
    EXPECT_TRUE(f.breaker.state() == breaker_state::half_open);
    old->fail();
    EXPECT_TRUE(f.breaker.state() == breaker_state::half_open);
    EXPECT_EQ(f.said.timed_out, 1);  // but it is told
}

// The table: one row per pair that can come up, and a name for every state.
TEST(circuit_breaker, the_table_is_whole) {
    std::uint32_t seen = 0;
    for (std::size_t i = 0; i < circuit_breaker::row_count; ++i) {
        const circuit_breaker::row& r = circuit_breaker::rows[i];
        const std::uint32_t pair =
            1U << (static_cast<unsigned>(r.from) * circuit_breaker::event_count +
                   static_cast<unsigned>(r.on));
        EXPECT_EQ(seen & pair, 0u);
        seen |= pair;
    }
    EXPECT_EQ(circuit_breaker::row_count, 6u);
    EXPECT_TRUE(std::string_view(name_of(breaker_state::half_open)) == "half_open");
}
