// SPDX-License-Identifier: Apache-2.0
//
// Goal: what the wheel refuses, what it promises about handles, and what it says about itself:
// TW-4, TW-5, TW-6, TW-9, TW-11, and the errors of timer_error.hpp with their numbers.
// Method: each limit from both sides; after every refusal the wheel is as it was.
#include <array>
#include <span>
#include <string_view>

#include "wheel_rig.hpp"

using tactus::duration;
using tactus::instant;
using tactus::tick;
using tactus::timer_errc;
using tactus::timer_error;
using tactus::timer_handle;
using tactus_test::at_ms;
using tactus_test::at_ns;
using tactus_test::rig;
using tactus_test::test_wheel;

namespace {

constexpr tick two_24 = tick{1} << 24;
constexpr tick two_32 = tick{1} << 32;

bool refused_with(const std::optional<timer_error>& got, timer_errc code, std::int64_t value,
                  std::int64_t limit) {
    if (!got)
        return false;
    const bool good = *got == timer_error{code, value, limit};
    if (!good) {
        TEST_LOG("code", got->code);
        TEST_LOG("value", got->value);
        TEST_LOG("limit", got->limit);
    }
    return good;
}

template <class T>
bool refused_with(const std::expected<T, timer_error>& got, timer_errc code, std::int64_t value,
                  std::int64_t limit) {
    return refused_with(got ? std::optional<timer_error>() : std::optional(got.error()), code,
                        value, limit);
}

// Memory for the tests that bring their own, one at a time.
constexpr std::size_t spare_timers = 40;
alignas(16) std::byte spare_bytes[test_wheel::node_bytes(spare_timers)];

std::span<std::byte> spare(std::size_t count) {
    return std::span<std::byte>(spare_bytes).first(count);
}

// A region that gives memory back, over bytes of its own.
class shrinking_memory final : public tactus::memory_region {
public:
    explicit shrinking_memory(std::span<std::byte> bytes) noexcept {
        data_ = bytes.data();
        size_max_ = bytes.size();
    }
    [[nodiscard]] bool resize(std::size_t bytes) noexcept override {
        if (bytes > size_max_)
            return false;
        size_ = bytes;
        return true;
    }
};

// Says it can have all of its bytes, then refuses to grow beyond two nodes.
class stubborn_memory final : public tactus::memory_region {
public:
    explicit stubborn_memory(std::span<std::byte> bytes) noexcept {
        data_ = bytes.data();
        size_ = test_wheel::node_bytes(2);
        size_max_ = bytes.size();
    }
    [[nodiscard]] bool resize(std::size_t bytes) noexcept override { return bytes <= size_; }
};

}  // namespace

// TW-5
TEST(timer_wheel_limits, a_node_takes_at_most_32_bytes) {
    EXPECT_LE(tactus::timer_wheel::node_bytes(1), 32u);
    EXPECT_LE(tactus::small_timer_wheel::node_bytes(1), 32u);
    EXPECT_EQ(test_wheel::node_bytes(10), 10 * test_wheel::node_bytes(1));
    EXPECT_EQ(test_wheel::overflow_bytes(10), 10 * test_wheel::overflow_bytes(1));
}

// TW-4
TEST(timer_wheel_limits, stale_fired_and_default_handles_name_nothing) {
    auto& wheel = rig().make();
    const auto fired = rig().add(5, 1);
    const auto cancelled = rig().add(5, 2);
    EXPECT_TRUE(wheel.cancel(cancelled));
    EXPECT_TRUE(rig().fires(5, {1}));
    EXPECT_FALSE(wheel.pending(fired));
    EXPECT_FALSE(wheel.pending(cancelled));
    EXPECT_FALSE(wheel.cancel(fired));
    EXPECT_FALSE(wheel.cancel(cancelled));
    EXPECT_FALSE(wheel.pending(timer_handle{}));
    rig().add(9, 3);
    EXPECT_FALSE(wheel.cancel(fired));
    EXPECT_FALSE(wheel.cancel(cancelled));
    EXPECT_FALSE(wheel.pending(timer_handle{}));
    EXPECT_TRUE(rig().fires(9, {3}));
}

// TW-4: "stale, fired or unknown handles return false".
TEST(timer_wheel_limits, cancelling_a_default_handle_returns_false) {
    auto& wheel = rig().make();
    EXPECT_FALSE(wheel.cancel(timer_handle{}));
    rig().add(9, 3);
    EXPECT_FALSE(wheel.cancel(timer_handle{}));
    EXPECT_FALSE(wheel.reschedule(timer_handle{}, rig().now(), duration::from_ms(1)).has_value());
    EXPECT_TRUE(rig().fires(9, {3}));
}

// TW-4: the tag is where handles start, so two wheels with tags of their own do not share handles.
TEST(timer_wheel_limits, wheels_with_different_tags_give_different_handles) {
    auto o = rig().options(4);
    o.tag = 7;
    rig().make(o);
    const auto seven = rig().add(5, 1);
    rig().make(o);
    EXPECT_TRUE(rig().add(5, 1) == seven);
    o.tag = 8;
    auto& wheel = rig().make(o);
    EXPECT_FALSE(rig().add(5, 1) == seven);
    EXPECT_FALSE(wheel.pending(seven));
    o.tag.reset();
    rig().make(o);
    const auto untagged = rig().add(5, 1);
    rig().make(o);
    EXPECT_FALSE(rig().add(5, 1) == untagged);
}

// TW-5
TEST(timer_wheel_limits, a_moved_timer_keeps_its_handle_and_fires_only_at_its_new_time) {
    for (const tick from : {tick{0}, tick{5}, tick{300}, tick{70'000}, two_24, two_32 + 5}) {
        for (const tick to : {tick{0}, tick{9}, tick{400}, tick{80'000}, two_24 + 9, two_32 + 9}) {
            auto& wheel = rig().make();
            const auto handle = rig().add(from, 1);
            EXPECT_TRUE(rig().move(handle, to));
            EXPECT_TRUE(wheel.pending(handle));
            EXPECT_EQ(wheel.size(), 1u);
            EXPECT_EQ(wheel.overflow_size(), to >= two_32 ? 1u : 0u);
            EXPECT_TRUE(rig().next_is(to));
            if (to > 0) {
                EXPECT_TRUE(rig().fires(to - 1, {}));
            }
            EXPECT_TRUE(rig().fires(to, {1}));
            EXPECT_FALSE(wheel.pending(handle));
            EXPECT_TRUE(rig().fires(2 * two_32, {}));
        }
    }
}

// TW-5: a moved timer is ordered as if registered at the move, also when its deadline stays.
TEST(timer_wheel_limits, a_moved_timer_goes_behind_those_of_its_deadline) {
    auto o = rig().options();
    o.max_wheel_duration = duration::from_ms(100'000);
    for (const tick deadline : {tick{0}, tick{5}, tick{300}, tick{70'000}, tick{200'000}}) {
        auto& wheel = rig().make(o);
        const auto first = rig().add(deadline, 1);
        rig().add(deadline, 2);
        const auto third = rig().add(deadline, 3);
        const auto sequence = wheel.sequence();
        EXPECT_TRUE(rig().move(first, deadline));
        EXPECT_EQ(wheel.sequence(), sequence + 1);
        EXPECT_TRUE(rig().move(third, deadline));
        EXPECT_TRUE(rig().fires(deadline, {2, 1, 3}));
    }
}

// TW-5, T: "update with a stale handle registers nothing".
TEST(timer_wheel_limits, moving_a_stale_handle_registers_nothing) {
    auto& wheel = rig().make();
    const auto handle = rig().add(5, 1);
    EXPECT_TRUE(wheel.cancel(handle));
    const auto refused = wheel.reschedule(handle, rig().now(), duration::from_ms(1));
    EXPECT_TRUE(refused_with(refused, timer_errc::unknown_timer, handle.index(), 0));
    EXPECT_TRUE(rig().bare());
    const auto reused = rig().add(7, 2);
    EXPECT_EQ(reused.index(), handle.index());
    EXPECT_FALSE(rig().move(handle, 1));
    EXPECT_TRUE(rig().next_is(7));
    EXPECT_TRUE(rig().fires(7, {2}));
    EXPECT_FALSE(rig().move(reused, 8));
    EXPECT_TRUE(rig().bare());
}

// TW-5, TW-9: a refused move leaves the timer as it was, place in the order included.
TEST(timer_wheel_limits, a_refused_move_leaves_the_timer_as_it_was) {
    auto o = rig().options();
    o.max_timer_duration = duration::from_ms(1000);
    o.max_wheel_duration = duration::from_ms(500);
    o.overflow_max = 1;
    auto& wheel = rig().make(o);
    const auto near = rig().add(400, 1);
    rig().add(400, 2);
    const auto far = rig().add(800, 3);
    const auto sequence = wheel.sequence();
    EXPECT_TRUE(refused_with(wheel.reschedule(near, rig().now(), duration::from_ms(1001)),
                             timer_errc::duration_exceeded, 1'001'000'000, 1'000'000'000));
    EXPECT_TRUE(refused_with(wheel.reschedule(near, rig().now(), duration::from_ms(900)),
                             timer_errc::overflow_exceeded, 1, 1));
    EXPECT_TRUE(refused_with(wheel.reschedule(far, rig().now(), duration::from_ms(1001)),
                             timer_errc::duration_exceeded, 1'001'000'000, 1'000'000'000));
    EXPECT_EQ(wheel.sequence(), sequence);
    EXPECT_TRUE(wheel.pending(near));
    EXPECT_TRUE(wheel.pending(far));
    EXPECT_TRUE(rig().next_is(400));
    EXPECT_TRUE(rig().fires(400, {1, 2}));
    EXPECT_TRUE(rig().fires(800, {3}));
}

// TW-5: a timer that waits in overflow may move within a full overflow: it takes its own place.
TEST(timer_wheel_limits, a_timer_moves_within_a_full_overflow) {
    auto o = rig().options();
    o.max_wheel_duration = duration::from_ms(500);
    o.overflow_max = 2;
    auto& wheel = rig().make(o);
    const auto first = rig().add(800, 1);
    rig().add(900, 2);
    EXPECT_EQ(wheel.overflow_size(), 2u);
    EXPECT_TRUE(rig().move(first, 900));
    EXPECT_EQ(wheel.overflow_size(), 2u);
    EXPECT_TRUE(rig().next_is(900));
    EXPECT_TRUE(rig().fires(899, {}));
    EXPECT_TRUE(rig().fires(900, {2, 1}));
}

// TW-9
TEST(timer_wheel_limits, the_maximum_duration_is_exact_to_the_nanosecond) {
    auto& wheel = rig().make(rig().default_options());
    constexpr std::int64_t week = 7LL * 24 * 3600 * 1'000'000'000;
    EXPECT_TRUE(wheel.insert(at_ns(0), duration::from_ns(week), 1).has_value());
    const auto refused = wheel.insert(at_ns(0), duration::from_ns(week + 1), 2);
    EXPECT_TRUE(refused_with(refused, timer_errc::duration_exceeded, week + 1, week));
    EXPECT_EQ(refused.error().delay().ns(), week + 1);
    EXPECT_EQ(refused.error().max().ns(), week);
    EXPECT_TRUE(refused_with(wheel.insert(at_ns(0), duration::max(), 3),
                             timer_errc::duration_exceeded, INT64_MAX, week));
    EXPECT_EQ(wheel.size(), 1u);
    EXPECT_EQ(wheel.sequence(), 1u);
    EXPECT_TRUE(rig().fires_at(at_ns(week - 1), {}));
    EXPECT_TRUE(rig().fires_at(at_ns(week), {1}));
}

// TW-9: the limit is one of the delay, not of the distance from where the wheel stands.
TEST(timer_wheel_limits, the_maximum_duration_counts_from_registration) {
    auto o = rig().options();
    o.max_timer_duration = duration::from_ms(1000);
    auto& wheel = rig().make(o);
    EXPECT_TRUE(wheel.insert(at_ms(5000), duration::from_ms(1000), 1).has_value());
    EXPECT_FALSE(wheel.insert(at_ms(0), duration::from_ms(1001), 2).has_value());
    EXPECT_TRUE(rig().fires(5999, {}));
    EXPECT_TRUE(rig().fires(6000, {1}));
}

// TW-9: a maximum of zero accepts only what is due at once; negative delays never exceed.
TEST(timer_wheel_limits, a_maximum_of_zero_accepts_only_immediate_timers) {
    auto o = rig().options();
    o.max_timer_duration = duration::zero();
    auto& wheel = rig().make(o);
    rig().add(0, 1);
    EXPECT_TRUE(wheel.insert(at_ms(0), duration::from_ns(-1), 2).has_value());
    EXPECT_TRUE(refused_with(wheel.insert(at_ms(0), duration::from_ns(1), 3),
                             timer_errc::duration_exceeded, 1, 0));
    EXPECT_TRUE(rig().fires(0, {1, 2}));
}

// TW-5
TEST(timer_wheel_limits, a_full_wheel_refuses_and_goes_on) {
    auto& wheel = rig().make(rig().options(3));
    EXPECT_EQ(wheel.capacity(), 3u);
    rig().add(0, 1);
    rig().add(10, 2);
    const auto last = rig().add(two_32 + 1, 3);
    const auto sequence = wheel.sequence();
    EXPECT_TRUE(refused_with(wheel.insert(at_ms(0), duration::from_ms(5), 4),
                             timer_errc::capacity_exceeded, 3, 3));
    EXPECT_EQ(wheel.sequence(), sequence);
    EXPECT_EQ(wheel.size(), 3u);
    EXPECT_TRUE(wheel.cancel(last));
    rig().add(7, 5);
    EXPECT_TRUE(rig().fires(10, {1, 5, 2}));
}

// TW-8
TEST(timer_wheel_limits, without_overflow_far_timers_are_refused) {
    auto o = rig().options(4);
    o.max_wheel_duration = duration::from_ms(1000);
    o.overflow_max = 0;
    o.overflow = nullptr;
    EXPECT_FALSE(test_wheel::validate(o).has_value());
    auto& wheel = rig().make(o);
    rig().add(1000, 1);
    EXPECT_TRUE(refused_with(wheel.insert(at_ms(0), duration::from_ms(1001), 2),
                             timer_errc::overflow_exceeded, 0, 0));
    EXPECT_EQ(wheel.size(), 1u);
    EXPECT_TRUE(rig().fires(1, {}));
    rig().add(1001, 3);
    EXPECT_TRUE(rig().fires(2000, {1, 3}));
}

// TW-8
TEST(timer_wheel_limits, a_small_overflow_fills_and_empties) {
    auto o = rig().options(8);
    o.max_wheel_duration = duration::from_ms(1000);
    o.overflow_max = 2;
    auto& wheel = rig().make(o);
    const auto first = rig().add(1001, 1);
    rig().add(5000, 2);
    EXPECT_TRUE(refused_with(wheel.insert(at_ms(0), duration::from_ms(3000), 3),
                             timer_errc::overflow_exceeded, 2, 2));
    EXPECT_EQ(wheel.size(), 2u);
    rig().add(1000, 4);
    EXPECT_TRUE(wheel.cancel(first));
    rig().add(3000, 5);
    EXPECT_EQ(wheel.overflow_size(), 2u);
    EXPECT_TRUE(rig().fires(2500, {4}));
    EXPECT_EQ(wheel.overflow_size(), 1u);
    rig().add(3600, 6);
    EXPECT_EQ(wheel.overflow_size(), 2u);
    EXPECT_TRUE(rig().fires(9000, {5, 6, 2}));
}

// insert(): "Nothing has changed then", where time stands included: an earlier instant can still be
// advanced to.
TEST(timer_wheel_limits, a_refused_registration_changes_nothing) {
    auto o = rig().options(4);
    o.max_wheel_duration = duration::from_ms(1000);
    o.max_timer_duration = duration::from_ms(5000);
    o.overflow_max = 0;
    o.overflow = nullptr;
    auto& wheel = rig().make(o);
    EXPECT_TRUE(refused_with(wheel.insert(at_ms(100), duration::from_ms(6000), 1),
                             timer_errc::duration_exceeded, 6'000'000'000, 5'000'000'000));
    EXPECT_EQ(wheel.now(), 0u);
    EXPECT_TRUE(refused_with(wheel.insert(at_ms(100), duration::from_ms(2000), 1),
                             timer_errc::overflow_exceeded, 0, 0));
    EXPECT_EQ(wheel.now(), 0u);
    EXPECT_EQ(wheel.sequence(), 0u);
    EXPECT_TRUE(rig().bare());
    EXPECT_TRUE(rig().fires(50, {}));
}

// TW-6
TEST(timer_wheel_limits, an_empty_wheel_has_no_next_deadline) {
    auto& wheel = rig().make();
    EXPECT_FALSE(wheel.next_deadline().has_value());
    EXPECT_TRUE(rig().fires(1000, {}));
    EXPECT_FALSE(wheel.next_deadline().has_value());
    const auto handle = rig().add(1500, 1);
    EXPECT_TRUE(wheel.cancel(handle));
    EXPECT_FALSE(wheel.next_deadline().has_value());
}

// TW-6: one slot of a level holds many deadlines; the earliest is exact after each cancel and move.
TEST(timer_wheel_limits, next_deadline_is_exact_within_one_slot_of_every_level) {
    for (const tick span : {tick{256}, tick{65'536}, two_24}) {
        auto& wheel = rig().make();
        const tick base = span * 3;
        const tick step = span / 8;
        const auto fifth = rig().add(base + 5 * step, 5);
        const auto first = rig().add(base + 1 * step, 1);
        const auto third = rig().add(base + 3 * step, 3);
        const auto second = rig().add(base + 2 * step, 2);
        EXPECT_TRUE(rig().next_is(base + step));
        EXPECT_TRUE(wheel.cancel(first));
        EXPECT_TRUE(rig().next_is(base + 2 * step));
        EXPECT_TRUE(rig().move(second, base + 4 * step));
        EXPECT_TRUE(rig().next_is(base + 3 * step));
        EXPECT_TRUE(wheel.cancel(third));
        EXPECT_TRUE(rig().next_is(base + 4 * step));
        EXPECT_TRUE(rig().move(fifth, base));
        EXPECT_TRUE(rig().next_is(base));
        EXPECT_TRUE(rig().fires(base + 4 * step - 1, {5}));
        EXPECT_TRUE(rig().next_is(base + 4 * step));
        EXPECT_TRUE(rig().fires(base + 4 * step, {2}));
    }
}

// TW-6: with every level and overflow occupied, taking the earliest away shows the next.
TEST(timer_wheel_limits, next_deadline_is_the_minimum_over_all_levels_and_overflow) {
    auto& wheel = rig().make();
    constexpr tick deadlines[] = {0,      7,          9,          300,        310,       70'000,
                                  70'300, two_24 * 2, two_24 * 5, two_32 + 1, two_32 + 2};
    timer_handle handles[std::size(deadlines)] = {};
    for (std::size_t i = std::size(deadlines); i-- > 0;) {
        handles[i] = rig().add(deadlines[i], i);
        EXPECT_TRUE(rig().next_is(deadlines[i]));
    }
    for (std::size_t i = 0; i < std::size(deadlines); ++i) {
        EXPECT_TRUE(rig().next_is(deadlines[i]));
        EXPECT_TRUE(wheel.cancel(handles[i]));
    }
    EXPECT_TRUE(rig().bare());
}

// TW-6: in overflow.
TEST(timer_wheel_limits, next_deadline_is_exact_in_overflow) {
    auto o = rig().options();
    o.max_wheel_duration = duration::from_ms(100);
    auto& wheel = rig().make(o);
    rig().add(5000, 1);
    const auto early = rig().add(3000, 2);
    EXPECT_TRUE(rig().next_is(3000));
    EXPECT_TRUE(wheel.cancel(early));
    EXPECT_TRUE(rig().next_is(5000));
    EXPECT_TRUE(rig().fires(4950, {}));
    EXPECT_TRUE(rig().next_is(5000));
    rig().add(5040, 3);
    EXPECT_TRUE(rig().next_is(5000));
}

// TW-6: asking costs nothing and changes nothing; advancing to what it says fires something.
TEST(timer_wheel_limits, advancing_from_deadline_to_deadline_fires_each_time) {
    auto& wheel = rig().make();
    for (std::size_t i = 0; i < 30; ++i)
        rig().add((tick{1} << i) + i % 3, i);
    std::size_t total = 0;
    while (const auto next = wheel.next_deadline()) {
        EXPECT_TRUE(next == wheel.next_deadline());
        if (*next > wheel.now() + 1) {
            EXPECT_TRUE(rig().fires(*next - 1, {}));
        }
        const auto fired = wheel.advance(at_ms(*next), [](const auto&) {});
        ASSERT_TRUE(fired.has_value());
        ASSERT_GT(*fired, 0u);
        total += *fired;
    }
    EXPECT_EQ(total, 30u);
}

// TW-11: with a region that can shrink, the last cancel gives back what is above the retained
// minimum.
TEST(timer_wheel_limits, the_last_cancel_releases_memory_above_the_retained_minimum) {
    constexpr std::size_t timers = spare_timers;
    shrinking_memory nodes(spare_bytes);
    auto o = rig().options(timers);
    o.nodes = &nodes;
    o.overflow_max = 32;
    o.max_wheel_duration = duration::from_ms(1000);
    o.retained = 4;
    auto& wheel = rig().make(o);
    std::array<timer_handle, timers> handles{};
    for (unsigned round = 0; round < 3; ++round) {
        for (std::size_t i = 0; i < timers; ++i)
            handles[i] = rig().add(i * 60, i);
        EXPECT_EQ(wheel.usable_count(), timers);
        EXPECT_EQ(wheel.size(), timers);
        for (std::size_t i = 0; i + 1 < timers; ++i)
            EXPECT_TRUE(wheel.cancel(handles[i]));
        EXPECT_EQ(wheel.usable_count(), timers);
        EXPECT_TRUE(wheel.cancel(handles[timers - 1]));
        EXPECT_TRUE(rig().bare());
        EXPECT_EQ(wheel.usable_count(), 4u);
        EXPECT_EQ(nodes.size(), test_wheel::node_bytes(4));
        for (const auto handle : handles)
            EXPECT_FALSE(wheel.cancel(handle));
    }
    // Handles given out before memory went away and came back stay stale.
    rig().add(1, 1);
    for (const auto handle : handles)
        EXPECT_FALSE(wheel.pending(handle));
    EXPECT_TRUE(rig().fires(1, {1}));
    rig().make();  // lets go of the memory above
}

TEST(timer_wheel_limits, a_refusing_region_limits_the_wheel_and_nothing_breaks) {
    stubborn_memory stubborn(spare_bytes);
    auto o = rig().options(spare_timers);
    o.nodes = &stubborn;
    auto& wheel = rig().make(o);
    rig().add(5, 1);
    rig().add(5, 2);
    const auto refused = wheel.insert(at_ms(0), duration::from_ms(5), 3);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, timer_errc::memory_exhausted);
    EXPECT_TRUE(rig().fires(5, {1, 2}));
    rig().make();
}

// validate and create
TEST(timer_wheel_limits, a_resolution_must_be_positive) {
    auto o = rig().options();
    EXPECT_FALSE(test_wheel::validate(o).has_value());
    o.resolution = duration::zero();
    EXPECT_TRUE(refused_with(test_wheel::validate(o), timer_errc::invalid_resolution, 0, 1));
    o.resolution = duration::from_ns(-5);
    EXPECT_TRUE(refused_with(test_wheel::validate(o), timer_errc::invalid_resolution, -5, 1));
    o.resolution = duration::min();
    EXPECT_TRUE(
        refused_with(test_wheel::validate(o), timer_errc::invalid_resolution, INT64_MIN, 1));
    o.resolution = duration::from_ns(1);
    EXPECT_FALSE(test_wheel::validate(o).has_value());
    o.resolution = duration::max();
    EXPECT_FALSE(test_wheel::validate(o).has_value());
}

TEST(timer_wheel_limits, a_capacity_must_be_given_and_fit_the_links) {
    auto o = rig().options(0);
    EXPECT_TRUE(refused_with(test_wheel::validate(o), timer_errc::invalid_capacity, 0, 1));
    if constexpr (test_wheel::timers_limit < SIZE_MAX) {
        o.timers_max = test_wheel::timers_limit + 1;
        EXPECT_TRUE(refused_with(test_wheel::validate(o), timer_errc::capacity_too_large,
                                 static_cast<std::int64_t>(test_wheel::timers_limit + 1),
                                 static_cast<std::int64_t>(test_wheel::timers_limit)));
    }
    o.timers_max = tactus::small_timer_wheel::timers_limit + 1;
    const auto narrow = tactus::small_timer_wheel::validate(o);
    ASSERT_TRUE(narrow.has_value());
    EXPECT_EQ(narrow->code, timer_errc::capacity_too_large);
}

TEST(timer_wheel_limits, more_overflow_than_timers_is_refused) {
    auto o = rig().options(4);
    o.overflow_max = 4;
    EXPECT_FALSE(test_wheel::validate(o).has_value());
    o.overflow_max = 5;
    EXPECT_TRUE(refused_with(test_wheel::validate(o), timer_errc::capacity_too_large, 5, 4));
}

TEST(timer_wheel_limits, regions_must_be_given_and_large_enough) {
    const auto needed_nodes = static_cast<std::int64_t>(test_wheel::node_bytes(4));
    const auto needed_overflow = static_cast<std::int64_t>(test_wheel::overflow_bytes(4));
    auto o = rig().options(4);
    tactus::fixed_memory short_nodes(spare(test_wheel::node_bytes(4) - 1));
    o.nodes = &short_nodes;
    EXPECT_TRUE(refused_with(test_wheel::validate(o), timer_errc::node_memory_too_small,
                             needed_nodes - 1, needed_nodes));
    o.nodes = nullptr;
    EXPECT_TRUE(
        refused_with(test_wheel::validate(o), timer_errc::node_memory_too_small, 0, needed_nodes));
    tactus::fixed_memory exact_nodes(spare(test_wheel::node_bytes(4)));
    o.nodes = &exact_nodes;
    EXPECT_FALSE(test_wheel::validate(o).has_value());
    tactus::fixed_memory short_overflow(spare(test_wheel::overflow_bytes(4) - 1));
    o.overflow = &short_overflow;
    EXPECT_TRUE(refused_with(test_wheel::validate(o), timer_errc::overflow_memory_too_small,
                             needed_overflow - 1, needed_overflow));
    o.overflow = nullptr;
    EXPECT_TRUE(refused_with(test_wheel::validate(o), timer_errc::overflow_memory_too_small, 0,
                             needed_overflow));
    o.overflow = &short_overflow;
    o.overflow_max = 3;
    EXPECT_FALSE(test_wheel::validate(o).has_value());
    o.overflow = nullptr;
    o.overflow_max = 0;
    EXPECT_FALSE(test_wheel::validate(o).has_value());
}

// create() returns what validate() says. The wheel that succeeds is large; only hosts have the
// stack for it.
TEST(timer_wheel_limits, create_refuses_what_validate_refuses) {
    auto o = rig().options(4);
    if constexpr (tactus_test::board::roomy) {
        o.resolution = duration::zero();
        EXPECT_TRUE(refused_with(test_wheel::create(o), timer_errc::invalid_resolution, 0, 1));
        o = rig().options(0);
        EXPECT_TRUE(refused_with(test_wheel::create(o), timer_errc::invalid_capacity, 0, 1));
        o = rig().options(4);
        auto made = test_wheel::create(o);
        ASSERT_TRUE(made.has_value());
        EXPECT_EQ(made->capacity(), 4u);
        const auto handle = made->insert(at_ms(0), duration::from_ms(5), 1);
        ASSERT_TRUE(handle.has_value());
        EXPECT_TRUE(made->cancel(*handle));
    }
}

// A tick longer than max_wheel_duration leaves nothing to the wheel but what is due now; all waits
// in overflow and fires on time.
TEST(timer_wheel_limits, a_tick_longer_than_the_wheel_works_through_overflow) {
    auto o = rig().options();
    o.resolution = duration::from_s(48 * 3600);
    o.max_wheel_duration = duration::from_s(24 * 3600);
    rig().make(o);
    rig().add(2, 2);
    rig().add(1, 1);
    rig().add(2, 3);
    rig().add(0, 0);
    EXPECT_TRUE(rig().next_is(0));
    EXPECT_TRUE(rig().fires(0, {0}));
    EXPECT_TRUE(rig().fires(1, {1}));
    EXPECT_TRUE(rig().fires(2, {2, 3}));
    o.resolution = duration::max();
    auto& wheel = rig().make(o);
    EXPECT_TRUE(wheel.insert(at_ns(0), duration::from_ns(1), 1).has_value());
    EXPECT_TRUE(rig().next_is(1));
    EXPECT_TRUE(rig().fires_at(at_ns(INT64_MAX - 1), {}));
    EXPECT_TRUE(rig().fires_at(at_ns(INT64_MAX), {1}));
}

// TS-1, TW-3: no deadline beyond the end of time; the longest that fits is named.
TEST(timer_wheel_limits, a_deadline_beyond_the_end_of_time_is_refused) {
    auto o = rig().options();
    o.resolution = duration::from_ns(1);
    o.start = at_ns(UINT64_MAX - 10);
    auto& wheel = rig().make(o);
    EXPECT_TRUE(refused_with(wheel.insert(o.start, duration::from_ns(11), 1),
                             timer_errc::deadline_overflow, 11, 10));
    EXPECT_TRUE(refused_with(wheel.insert(o.start, duration::max(), 1),
                             timer_errc::deadline_overflow, INT64_MAX, 10));
    EXPECT_TRUE(refused_with(wheel.insert(instant::never(), duration::from_ns(1), 1),
                             timer_errc::deadline_overflow, 1, 0));
    EXPECT_TRUE(rig().bare());
    const auto last = wheel.insert(o.start, duration::from_ns(10), 2);
    ASSERT_TRUE(last.has_value());
    EXPECT_TRUE(refused_with(wheel.reschedule(*last, o.start, duration::from_ns(11)),
                             timer_errc::deadline_overflow, 11, 10));
    EXPECT_TRUE(rig().fires_at(instant::never(), {2}));
}

// TW-3: at a coarse tick the last, incomplete tick of time begins before the end but the next one
// never does: what is accepted can fire, what cannot fire is refused.
TEST(timer_wheel_limits, what_is_accepted_near_the_end_of_time_fires) {
    auto o = rig().options();
    const std::uint64_t last_tick = UINT64_MAX / 1'000'000;
    o.start = at_ns((last_tick - 5) * 1'000'000);
    for (const std::int64_t delay : {4'999'999LL, 5'000'000LL, 5'000'001LL, 5'500'000LL}) {
        auto& wheel = rig().make(o);
        const auto made = wheel.insert(o.start, duration::from_ns(delay), 1);
        if (made) {
            EXPECT_TRUE(rig().next_is(last_tick));
            EXPECT_TRUE(rig().fires_at(instant::never(), {1}));
        } else {
            EXPECT_GT(delay, 5'000'000);
            EXPECT_TRUE(refused_with(made, timer_errc::deadline_overflow, delay, 5'000'000));
        }
    }
}

TEST(timer_wheel_limits, time_does_not_go_back) {
    auto& wheel = rig().make();
    rig().add(20, 1);
    rig().add(5, 2);
    EXPECT_TRUE(rig().fires_at(at_ns(10'500'000), {2}));
    rig().add(10, 3);
    unsigned calls = 0;
    const auto count = [&](const auto&) { ++calls; };
    EXPECT_TRUE(
        refused_with(wheel.advance(at_ns(9'999'999), count), timer_errc::time_went_back, 9, 10));
    EXPECT_TRUE(refused_with(wheel.advance(at_ms(0), count), timer_errc::time_went_back, 0, 10));
    EXPECT_EQ(calls, 0u);
    EXPECT_EQ(wheel.now(), 10u);
    EXPECT_EQ(wheel.size(), 2u);
    EXPECT_TRUE(rig().next_is(10));
    // The same tick is not back, even if the instant is.
    EXPECT_TRUE(rig().fires_at(at_ms(10), {3}));
    EXPECT_TRUE(rig().fires(20, {1}));
}

TEST(timer_wheel_limits, the_start_option_is_where_time_begins) {
    auto o = rig().options();
    o.start = at_ns(1'234'567'890);
    auto& wheel = rig().make(o);
    EXPECT_EQ(wheel.now(), 1234u);
    EXPECT_EQ(wheel.scale().resolution(), duration::from_ms(1));
    EXPECT_TRUE(refused_with(wheel.advance(at_ms(1233), [](const auto&) {}),
                             timer_errc::time_went_back, 1233, 1234));
    EXPECT_TRUE(rig().fires(1234, {}));
}

namespace {

char buffer[160];
char part[160];

constexpr timer_errc all_codes[] = {timer_errc::invalid_resolution,
                                    timer_errc::invalid_capacity,
                                    timer_errc::capacity_too_large,
                                    timer_errc::node_memory_too_small,
                                    timer_errc::overflow_memory_too_small,
                                    timer_errc::duration_exceeded,
                                    timer_errc::deadline_overflow,
                                    timer_errc::capacity_exceeded,
                                    timer_errc::overflow_exceeded,
                                    timer_errc::memory_exhausted,
                                    timer_errc::unknown_timer,
                                    timer_errc::time_went_back};
constexpr std::string_view all_names[] = {
    "invalid_resolution",        "invalid_capacity",  "capacity_too_large", "node_memory_too_small",
    "overflow_memory_too_small", "duration_exceeded", "deadline_overflow",  "capacity_exceeded",
    "overflow_exceeded",         "memory_exhausted",  "unknown_timer",      "time_went_back"};
static_assert(std::size(all_names) == std::size(all_codes));
static_assert(static_cast<std::size_t>(timer_errc::time_went_back) + 1 == std::size(all_codes));

bool contains(std::string_view text, std::string_view wanted) {
    return text.find(wanted) != std::string_view::npos;
}

}  // namespace

TEST(timer_error_text, every_code_has_its_name) {
    for (std::size_t i = 0; i < std::size(all_codes); ++i)
        EXPECT_TRUE(std::string_view(to_text(all_codes[i])) == all_names[i]);
}

TEST(timer_error_text, every_description_has_its_numbers) {
    for (const timer_errc code : all_codes) {
        const auto text = describe(timer_error{code, 12345, 67890}, buffer);
        EXPECT_TRUE(text.data() == buffer);
        EXPECT_GT(text.size(), 10u);
        EXPECT_LT(text.size(), sizeof buffer);
        if (!contains(text, "12345"))
            TEST_LOG("no value in code", code);
        EXPECT_TRUE(contains(text, "12345"));
        const bool has_limit = code != timer_errc::invalid_resolution &&
                               code != timer_errc::invalid_capacity &&
                               code != timer_errc::unknown_timer;
        if (has_limit && !contains(text, "67890"))
            TEST_LOG("no limit in code", code);
        EXPECT_TRUE(!has_limit || contains(text, "67890"));
    }
}

TEST(timer_error_text, the_documented_sentence_is_written) {
    const timer_error error{timer_errc::duration_exceeded, 7'200'000'000'000, 3'600'000'000'000};
    EXPECT_TRUE(describe(error, buffer) ==
                "delay of 7200000000000 ns exceeds the maximum of 3600000000000 ns");
}

TEST(timer_error_text, extreme_numbers_are_written_in_full) {
    EXPECT_TRUE(
        contains(describe(timer_error{timer_errc::invalid_resolution, INT64_MIN, 1}, buffer),
                 "-9223372036854775808"));
    EXPECT_TRUE(contains(describe(timer_error{timer_errc::duration_exceeded, INT64_MAX, 0}, buffer),
                         "9223372036854775807"));
    EXPECT_TRUE(contains(describe(timer_error{timer_errc::invalid_capacity, 0, 1}, buffer), "0"));
    EXPECT_TRUE(describe(timer_error{timer_errc::time_went_back, -3, -2}, buffer) ==
                "tick 18446744073709551613 lies before the current tick 18446744073709551614");
}

TEST(timer_error_text, descriptions_are_cut_to_the_room_given) {
    char(&whole)[160] = buffer;
    for (const timer_errc code : all_codes) {
        const timer_error error{code, -12345, 67890};
        const std::string_view full = describe(error, whole);
        for (std::size_t room = 0; room <= full.size() + 2; ++room) {
            for (char& c : part)
                c = '#';
            const auto text = describe(error, std::span<char>(part, room));
            EXPECT_TRUE(text == full.substr(0, room));
            EXPECT_EQ(part[room], '#');
        }
    }
}

TEST(timer_error_text, errors_compare_by_all_their_parts) {
    const timer_error a{timer_errc::duration_exceeded, 2, 1};
    EXPECT_TRUE(a == (timer_error{timer_errc::duration_exceeded, 2, 1}));
    EXPECT_FALSE(a == (timer_error{timer_errc::deadline_overflow, 2, 1}));
    EXPECT_FALSE(a == (timer_error{timer_errc::duration_exceeded, 3, 1}));
    EXPECT_FALSE(a == (timer_error{timer_errc::duration_exceeded, 2, 2}));
}
