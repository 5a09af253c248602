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
