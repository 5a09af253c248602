// SPDX-License-Identifier: Apache-2.0
//
// Configuration of a scheduler: defaults are valid, and each limit is where it is said to be.
#include <tactus/scheduler/scheduler_config.hpp>

#include <array>
#include <string_view>

#include <tactus/base/det_rng.hpp>

#include "portable_test.hpp"

namespace tactus {
namespace {

using errc = scheduler_config_errc;

constexpr std::array clock_kinds{clock_kind::deterministic, clock_kind::realtime_host,
                                 clock_kind::realtime_hardware};

struct expected_error {
    errc code;
    std::string_view field;
    std::int64_t value;
    std::int64_t limit;
};

bool refused_with(const scheduler_config& config, const expected_error& e) {
    const auto result = validate(config);
    return !result && result.error().code == e.code && result.error().field == e.field &&
           result.error().value == e.value && result.error().limit == e.limit;
}

// A hosted one on every board: bounded, so that growing is not what is refused.
scheduler_config bounded() {
    scheduler_config c;
    c.profile = scheduler_profile::standard;
    return c;
}

scheduler_config custom(scheduler_capacity capacity) {
    scheduler_config c;
    c.profile = scheduler_profile::custom;
    c.custom = capacity;
    return c;
}

// TC-X04
TEST(scheduler_config, the_defaults_of_each_clock_kind_are_valid) {
    for (const clock_kind kind : clock_kinds)
        EXPECT_TRUE(validate(scheduler_config::for_clock(kind)).has_value());
    EXPECT_TRUE(validate(scheduler_config{}).has_value());
}

// SC-31
TEST(scheduler_config, the_default_window_follows_from_the_clock) {
    EXPECT_EQ(catch_up_ticks(scheduler_config::for_clock(clock_kind::realtime_host)), 32u);
    EXPECT_EQ(catch_up_ticks(scheduler_config::for_clock(clock_kind::deterministic)), 32u);
    EXPECT_EQ(catch_up_ticks(scheduler_config::for_clock(clock_kind::realtime_hardware)), 3u);
    scheduler_config c = bounded();
    c.resolution = 10_ms;
    EXPECT_EQ(catch_up_ticks(c), 5u);
    c.resolution = 15_ms;
    EXPECT_EQ(catch_up_ticks(c), 4u);
}

// SC-37: every resolution from 100 us up passes with defaults.
TEST(scheduler_config, every_resolution_passes_with_the_default_window) {
    for (const clock_kind kind : clock_kinds) {
        scheduler_config c = scheduler_config::for_clock(kind);
        for (const duration d : {1_ns, 999_ns, 100_us, 101_us, 1562500_ns, 10_ms, 999_ms, 1_s}) {
            c.resolution = d;
            EXPECT_TRUE(validate(c).has_value());
            EXPECT_GE(catch_up_ticks(c), 1u);
        }
    }
}

// TC-S51, SC-37
TEST(scheduler_config, a_resolution_of_zero_or_above_a_second_is_refused) {
    scheduler_config c = bounded();
    c.resolution = 0_ns;
    EXPECT_TRUE(refused_with(c, {errc::invalid_resolution, "resolution", 0, 1}));
    c.resolution = -1_ns;
    EXPECT_TRUE(refused_with(c, {errc::invalid_resolution, "resolution", -1, 1}));
    c.resolution = 1_s + 1_ns;
    EXPECT_TRUE(
        refused_with(c, {errc::invalid_resolution, "resolution", 1'000'000'001, 1'000'000'000}));
}

// TC-X19
TEST(scheduler_config, the_window_in_ticks_is_rounded_up) {
    scheduler_config c = bounded();
    c.resolution = 10_ms;
    c.catch_up = 10_ms;
    EXPECT_EQ(catch_up_ticks(c), 1u);
    c.catch_up = 50_ms;
    EXPECT_EQ(catch_up_ticks(c), 5u);
    c.catch_up = 100_ms;
    EXPECT_EQ(catch_up_ticks(c), 10u);
    c.catch_up = 100_ms + 1_ns;
    EXPECT_EQ(catch_up_ticks(c), 11u);
    c.catch_up = 1_ns;
    EXPECT_EQ(catch_up_ticks(c), 1u);
    EXPECT_EQ(window_in_ticks(duration::max(), 1_ns), std::uint64_t{9'223'372'036'854'775'807});
    EXPECT_EQ(window_in_ticks(duration::min(), 1_ns), 0u);
}

// TC-X19: for random pairs, n is ceil(window / resolution) when (n - 1) r < w <= n r.
TEST(scheduler_config, random_windows_are_rounded_up_and_refused_above_the_limit) {
    for (std::uint64_t seed = 1; seed <= tactus_test::board::random_operations / 20; ++seed) {
        det_rng rng(seed);
        scheduler_config c = bounded();
        c.clock = rng.next_bool() ? clock_kind::realtime_hardware : clock_kind::realtime_host;
        const std::uint64_t r = 1 + rng.below(rng.next_bool() ? 1'000'000'000 : 1'000);
        const std::uint64_t w = 1 + rng.below(rng.next_bool() ? 40 * r : std::uint64_t{1} << 62);
        c.resolution = duration::from_ns(static_cast<std::int64_t>(r));
        c.catch_up = duration::from_ns(static_cast<std::int64_t>(w));
        const std::uint64_t n = catch_up_ticks(c);
        const std::uint64_t limit = c.clock == clock_kind::realtime_hardware ? 8 : 32;
        const bool rounded = (n - 1) * r < w && w <= n * r;
        const bool right =
            n <= limit
                ? validate(c).has_value()
                : refused_with(c, {errc::catch_up_window_too_large, "catch_up",
                                   static_cast<std::int64_t>(n), static_cast<std::int64_t>(limit)});
        if (!rounded || !right)
            TEST_LOG("seed", seed);
        ASSERT_TRUE(rounded);
        ASSERT_TRUE(right);
    }
}

// SC-31
TEST(scheduler_config, a_window_above_the_limit_of_its_clock_is_refused) {
    scheduler_config c = bounded();
    c.catch_up = 32_ms;
    EXPECT_TRUE(validate(c).has_value());
    c.catch_up = 32_ms + 1_ns;
    EXPECT_TRUE(refused_with(c, {errc::catch_up_window_too_large, "catch_up", 33, 32}));
    c.clock = clock_kind::realtime_hardware;
    c.catch_up = 8_ms;
    EXPECT_TRUE(validate(c).has_value());
    c.catch_up = 9_ms;
    EXPECT_TRUE(refused_with(c, {errc::catch_up_window_too_large, "catch_up", 9, 8}));
    c.catch_up = 0_ms;
    EXPECT_TRUE(refused_with(c, {errc::invalid_catch_up_window, "catch_up", 0, 1}));
}

// SC-37
TEST(scheduler_config, numbers_that_cannot_be_zero_are_refused) {
    scheduler_config c = bounded();
    c.chunk_ticks = 0;
    EXPECT_TRUE(refused_with(c, {errc::invalid_chunk, "chunk_ticks", 0, 1}));
    c = bounded();
    c.adaptive_quota_divisor = 0;
    EXPECT_TRUE(refused_with(c, {errc::invalid_divisor, "adaptive_quota_divisor", 0, 1}));
    c = bounded();
    c.diagnostics_capacity = 0;
    EXPECT_TRUE(
        refused_with(c, {errc::invalid_diagnostics_capacity, "diagnostics_capacity", 0, 1}));
    c.diagnostics_capacity = (1U << 20U) + 1;
    EXPECT_TRUE(refused_with(
        c, {errc::capacity_out_of_range, "diagnostics_capacity", (1U << 20U) + 1, 1U << 20U}));
    c = bounded();
    c.shutdown_timeout = 0_ns;
    EXPECT_TRUE(refused_with(c, {errc::invalid_shutdown_timeout, "shutdown_timeout", 0, 1}));
    c = bounded();
    c.chunk_ticks = 1;
    c.adaptive_quota_divisor = 1;
    c.diagnostics_capacity = 1;
    c.shutdown_timeout = 1_ns;
    c.cooldown_ticks = 0;
    EXPECT_TRUE(validate(c).has_value());
}

// SC-34
TEST(scheduler_config, manual_ticks_are_for_tests) {
    scheduler_config c = bounded();
    c.clock = clock_kind::deterministic;
    EXPECT_TRUE(refused_with(c, {errc::manual_ticks_in_production, "clock", 0, 1}));
    c.use = scheduler_use::test;
    EXPECT_TRUE(validate(c).has_value());
    EXPECT_EQ(runner_mode_of(clock_kind::deterministic), runner_mode::manual);
    EXPECT_EQ(runner_mode_of(clock_kind::realtime_host), runner_mode::async_host);
    EXPECT_EQ(runner_mode_of(clock_kind::realtime_hardware), runner_mode::hardware);
}

// BP-1
TEST(scheduler_config, custom_profiles_keep_to_their_ranges) {
    constexpr auto out = errc::capacity_out_of_range;
    EXPECT_TRUE(validate(custom({1, 0, 1})).has_value());
    EXPECT_TRUE(validate(custom({1, 1, 1})).has_value());
    EXPECT_TRUE(validate(custom({25'600, 6'400, 1'024})).has_value());
    EXPECT_TRUE(refused_with(custom({0, 0, 1}), {out, "timers", 0, 1}));
    EXPECT_TRUE(refused_with(custom({25'601, 0, 1}), {out, "timers", 25'601, 25'600}));
    EXPECT_TRUE(refused_with(custom({8, 9, 1}), {out, "overflow", 9, 8}));
    EXPECT_TRUE(refused_with(custom({25'600, 6'401, 1}), {out, "overflow", 6'401, 6'400}));
    EXPECT_TRUE(refused_with(custom({8, 8, 0}), {out, "tasks", 0, 1}));
    EXPECT_TRUE(refused_with(custom({8, 8, 1'025}), {out, "tasks", 1'025, 1'024}));
    EXPECT_EQ(capacity_of(custom({8, 7, 6})), (scheduler_capacity{8, 7, 6}));
}

// BP-1
TEST(scheduler_config, profiles_have_their_capacities) {
    constexpr std::array<scheduler_capacity, 5> table{{{64, 16, 8},
                                                       {2'048, 512, 128},
                                                       {4'096, 1'024, 256},
                                                       {10'240, 2'560, 512},
                                                       {25'600, 6'400, 1'024}}};
    for (std::size_t i = 0; i < table.size(); ++i) {
        scheduler_config c;
        c.profile = static_cast<scheduler_profile>(i);
        EXPECT_EQ(capacity_of(c), table[i]);
        EXPECT_TRUE(validate(c).has_value());
    }
    EXPECT_EQ(capacity_of(scheduler_profile::unbounded).timers, scheduler_capacity::unlimited);
    EXPECT_EQ(scheduler_config{}.profile,
              port::has_interrupts ? scheduler_profile::micro : scheduler_profile::unbounded);
}

// BP-1
TEST(scheduler_config, what_has_no_heap_cannot_grow) {
    scheduler_config c = scheduler_config::for_clock(clock_kind::realtime_hardware);
    c.profile = scheduler_profile::unbounded;
    EXPECT_TRUE(refused_with(c, {errc::unsupported_profile, "profile", 5, 4}));
}

// BP-3, BP-9
TEST(scheduler_config, the_adaptive_quota_is_a_part_of_the_quota) {
    EXPECT_EQ(adaptive_quota_of(8, 2), 4u);
    EXPECT_EQ(adaptive_quota_of(9, 2), 4u);
    EXPECT_EQ(adaptive_quota_of(8, 1), 8u);
    EXPECT_EQ(adaptive_quota_of(1, 2), 1u);
    EXPECT_EQ(adaptive_quota_of(scheduler_capacity::unlimited, 2), scheduler_capacity::unlimited);
}

// SC-37, SD-5: field, value and limit.
TEST(scheduler_config, errors_say_field_value_and_limit) {
    char room[120];
    EXPECT_EQ(describe({errc::catch_up_window_too_large, "catch_up", 33, 32}, room),
              std::string_view("catch_up: a window of 33 ticks exceeds the limit of 32 ticks"));
    EXPECT_EQ(describe({errc::invalid_resolution, "resolution", -5, 1}, room),
              std::string_view("resolution: a tick of -5 ns, but it has 1 ns to 1000000000 ns: "
                               "nearest is 1 ns"));
    EXPECT_EQ(describe({errc::capacity_out_of_range, "timers", 25'601, 25'600}, room),
              std::string_view("timers: 25601 is out of range, nearest is 25600"));
    EXPECT_EQ(describe({errc::unsupported_profile, "profile", 5, 4}, room),
              std::string_view("profile: unbounded needs a hosted system, the most here is large"));
    EXPECT_EQ(describe({errc::invalid_chunk, "chunk_ticks", 0, 1}, std::span(room).first(9)),
              std::string_view("chunk_tic"));
    for (std::size_t i = 0; i < scheduler_config_errc_count; ++i) {
        const scheduler_config_error e{static_cast<errc>(i), "x", 1, 2};
        EXPECT_GT(describe(e, room).size(), 10u);
    }
}

}  // namespace
}  // namespace tactus
