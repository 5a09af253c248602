// SPDX-License-Identifier: Apache-2.0
//
// Goal: what was wrong once stays right. Method: the shortest program for each fault.
#include <cstdint>
#include <optional>

#include "wheel_fixture.hpp"

using tactus_test::at_ms;
using tactus_test::at_ns;

namespace {

tactus_test::wheel_memory<64> memory;
tactus_test::wheel_box box;

constexpr tactus::duration ms(std::int64_t n) noexcept {
    return tactus::duration::from_ms(n);
}

// Gives what it has but refuses to have more, or to shrink, and counts how often it was asked.
class stubborn_memory final : public tactus::memory_region {
public:
    explicit stubborn_memory(tactus::memory_region& whole, std::size_t usable) noexcept {
        data_ = whole.data();
        size_ = usable;
        size_max_ = whole.size_max();
    }
    [[nodiscard]] bool resize(std::size_t bytes) noexcept override {
        ++asked;
        return bytes == size_;
    }
    unsigned asked = 0;
};

}  // namespace

// TW-6, TW-7: a sink that asks leaves no stale answer behind.
TEST(timer_wheel_regression, next_deadline_asked_by_a_sink_is_forgotten_afterwards) {
    auto& wheel = box.make(memory.options());
    ASSERT_TRUE(wheel.insert(at_ms(0), ms(5), 1).has_value());
    ASSERT_TRUE(wheel.insert(at_ms(0), ms(7), 2).has_value());
    std::optional<tactus::tick> said[2];
    std::size_t calls = 0;
    ASSERT_TRUE(
        wheel
            .advance(at_ms(10),
                     [&](const tactus::expired_timer&) { said[calls++] = wheel.next_deadline(); })
            .has_value());
    EXPECT_EQ(said[0], std::optional<tactus::tick>(10));  // the second one is still to fire
    EXPECT_EQ(said[1], std::optional<tactus::tick>());
    EXPECT_EQ(wheel.next_deadline(), std::optional<tactus::tick>());
    ASSERT_TRUE(wheel.insert(at_ms(10), ms(100), 3).has_value());
    EXPECT_EQ(wheel.next_deadline(), std::optional<tactus::tick>(110));
}

// TW-3: a deadline that is past fires at the next advance, though its tick has not ended.
TEST(timer_wheel_regression, a_deadline_within_the_tick_that_has_begun_is_due) {
    auto options = memory.options();
    options.start = at_ns(10'500'000);
    auto& wheel = box.make(options);
    ASSERT_TRUE(wheel.insert(at_ns(10'500'000), ms(0), 1).has_value());
    ASSERT_TRUE(wheel.insert(at_ns(10'500'000), tactus::duration::from_us(-200), 2).has_value());
    ASSERT_TRUE(wheel.insert(at_ns(10'500'000), tactus::duration::from_us(1), 3).has_value());
    tactus_test::fired_log<> fired;
    ASSERT_TRUE(wheel.advance(at_ns(10'900'000), fired).has_value());
    EXPECT_EQ(fired.count, 2u);
    EXPECT_EQ(wheel.next_deadline(), std::optional<tactus::tick>(11));
}

// TW-4, TW-5, TW-6: emptying again and again asks the memory once, not each time.
TEST(timer_wheel_regression, a_region_that_keeps_its_memory_is_asked_once_per_growth) {
    auto options = memory.options();
    stubborn_memory nodes(*options.nodes, options.nodes->size_max());
    options.nodes = &nodes;
    options.retained = 2;
    auto& wheel = box.make(options);
    tactus::timer_handle handles[8];
    for (unsigned round = 0; round < 3; ++round) {
        for (auto& handle : handles) {
            const auto made = wheel.insert(at_ms(0), ms(5), 0);
            ASSERT_TRUE(made.has_value());
            handle = *made;
        }
        for (const auto& handle : handles)
            EXPECT_TRUE(wheel.cancel(handle));
        EXPECT_TRUE(wheel.advance(at_ms(round), [](const auto&) {}).has_value());
    }
    EXPECT_EQ(nodes.asked, 1u);
}

// UP-6: memory that does not grow is a refusal with a name of its own, not a lack of capacity.
TEST(timer_wheel_regression, memory_that_does_not_grow_is_named) {
    auto options = memory.options();
    stubborn_memory nodes(*options.nodes, tactus_test::test_wheel::node_bytes(1));
    options.nodes = &nodes;
    auto& wheel = box.make(options);
    ASSERT_TRUE(wheel.insert(at_ms(0), ms(5), 0).has_value());
    const auto refused = wheel.insert(at_ms(0), ms(5), 0);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error(), (tactus::timer_error{tactus::timer_errc::memory_exhausted, 1, 64}));
}

// One region has one user: the wheel would write its overflow over its nodes.
TEST(timer_wheel_regression, the_same_region_cannot_serve_twice) {
    auto options = memory.options();
    options.overflow = options.nodes;
    const auto refused = tactus_test::test_wheel::validate(options);
    ASSERT_TRUE(refused.has_value());
    EXPECT_EQ(refused->code, tactus::timer_errc::overflow_memory_too_small);
}

// TW-10: asked by a sink, what is left of the group fires next.
TEST(timer_wheel_regression, next_deadline_in_the_middle_of_a_group_is_now) {
    auto options = memory.options();
    options.coalescing = {.window = ms(10), .group_min = 3};
    auto& wheel = box.make(options);
    for (const int delay : {5, 6, 7, 18, 19})
        ASSERT_TRUE(wheel.insert(at_ms(0), ms(delay), static_cast<unsigned>(delay)).has_value());
    std::optional<tactus::tick> said[3];
    std::size_t calls = 0;
    ASSERT_TRUE(
        wheel
            .advance(at_ms(7),
                     [&](const tactus::expired_timer&) { said[calls++] = wheel.next_deadline(); })
            .has_value());
    ASSERT_EQ(calls, 3u);
    EXPECT_EQ(said[0], std::optional<tactus::tick>(7));
    EXPECT_EQ(said[1], std::optional<tactus::tick>(7));
    EXPECT_EQ(said[2], std::optional<tactus::tick>(18));
}

// Without overflow, so near must be near: at the end of a turn, too.
TEST(timer_wheel_regression, DF_26_near_is_a_matter_of_distance_not_of_the_turn) {
    constexpr tactus::tick turn = tactus::tick{1} << 32;
    constexpr std::int64_t distances[] = {1,      11,        255,        256,        300,
                                          70'000, 1'000'000, 17'000'000, 86'000'000, 86'400'000};
    for (const tactus::tick before : {tactus::tick{1}, tactus::tick{10}, tactus::tick{256},
                                      tactus::tick{100'000}, tactus::tick{20'000'000}}) {
        auto options = memory.options();
        options.start = at_ms(turn - before);
        options.overflow_max = 0;
        options.overflow = nullptr;
        auto& wheel = box.make(options);
        for (const std::int64_t d : distances) {
            EXPECT_FALSE(wheel.would_overflow(options.start, ms(d)));
            ASSERT_TRUE(
                wheel.insert(options.start, ms(d), static_cast<std::uint64_t>(d)).has_value());
        }
        EXPECT_TRUE(wheel.would_overflow(options.start, ms(86'400'001)));
        EXPECT_FALSE(wheel.insert(options.start, ms(86'400'001), 0).has_value());
        for (const std::int64_t d : distances) {
            const tactus::tick due = turn - before + static_cast<tactus::tick>(d);
            EXPECT_EQ(wheel.next_deadline(), std::optional<tactus::tick>(due));
            tactus_test::fired_log<> fired;
            ASSERT_TRUE(wheel.advance(at_ms(due - 1), fired).has_value());
            EXPECT_EQ(fired.count, 0u);
            ASSERT_TRUE(wheel.advance(at_ms(due), fired).has_value());
            ASSERT_EQ(fired.count, 1u);
            EXPECT_EQ(fired.payloads[0], static_cast<std::uint64_t>(d));
            EXPECT_EQ(fired.deadlines[0], due);
        }
    }
}

// With all that slots can hold: the last level comes round, and what is beyond waits in overflow.
TEST(timer_wheel_regression, DF_26_the_last_level_comes_round) {
    constexpr tactus::tick turn = tactus::tick{1} << 32;
    constexpr tactus::tick slot = tactus::tick{1} << 24;
    auto options = memory.options();
    options.start = at_ms(turn - slot / 2);
    options.max_wheel_duration = tactus::duration::max();
    options.max_timer_duration = tactus::duration::max();
    auto& wheel = box.make(options);
    const auto add = [&](tactus::tick due, std::uint64_t payload) {
        return wheel.insert(options.start, at_ms(due) - options.start, payload).has_value();
    };
    ASSERT_TRUE(add(2 * turn - slot, 4));  // the position's own slot, of the next turn
    EXPECT_EQ(wheel.overflow_size(), 1u);
    ASSERT_TRUE(add(2 * turn - slot - 1, 3));  // the last slot there is
    ASSERT_TRUE(add(turn + 5 * slot, 2));
    ASSERT_TRUE(add(turn - 1, 1));
    EXPECT_EQ(wheel.overflow_size(), 1u);
    tactus_test::fired_log<> fired;
    for (const tactus::tick due :
         {turn - 1, turn + 5 * slot, 2 * turn - slot - 1, 2 * turn - slot}) {
        EXPECT_EQ(wheel.next_deadline(), std::optional<tactus::tick>(due));
        ASSERT_TRUE(wheel.advance(at_ms(due), fired).has_value());
    }
    ASSERT_EQ(fired.count, 4u);
    for (std::size_t i = 0; i < 4; ++i)
        EXPECT_EQ(fired.payloads[i], i + 1);
}

// The wheel stands where it was when something is still due: near is near now. Older ones of the
// same deadline, which were far, stay in front.
// DF-27
TEST(timer_wheel_regression, DF_27_near_is_a_matter_of_now_after_a_pause) {
    constexpr std::int64_t hour = 3'600'000;
    auto options = memory.options();
    options.overflow_max = 2;
    auto& wheel = box.make(options);
    ASSERT_TRUE(wheel.insert(at_ms(0), ms(10), 1).has_value());
    ASSERT_TRUE(wheel.insert(at_ms(0), ms(30 * hour + 1'000), 3).has_value());
    ASSERT_TRUE(wheel.insert(at_ms(0), ms(60 * hour), 5).has_value());
    EXPECT_EQ(wheel.overflow_size(), 2u);
    const auto now = at_ms(30 * hour);
    EXPECT_FALSE(wheel.would_overflow(now, ms(1'000)));
    ASSERT_TRUE(wheel.insert(now, ms(1'000), 4).has_value());
    EXPECT_EQ(wheel.overflow_size(), 1u);
    const auto moved = wheel.insert(now, ms(1), 2);
    ASSERT_TRUE(moved.has_value());
    ASSERT_TRUE(wheel.reschedule(*moved, now, ms(500)).has_value());
    EXPECT_TRUE(wheel.would_overflow(now, ms(25 * hour)));
    tactus_test::fired_log<> fired;
    ASSERT_TRUE(wheel.advance(at_ms(61 * hour), fired).has_value());
    ASSERT_EQ(fired.count, 5u);
    for (std::size_t i = 0; i < 5; ++i)
        EXPECT_EQ(fired.payloads[i], i + 1);
}
