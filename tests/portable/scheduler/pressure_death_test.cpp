// SPDX-License-Identifier: Apache-2.0
//
// Checks of what the owner of the wheel and who closes it must keep.
#include <tactus/scheduler/backpressure.hpp>
#include <tactus/scheduler/on_close_tasks.hpp>

#include <gtest/gtest.h>

#include <array>
#include <optional>

#include <tactus/dispatch/arena.hpp>

namespace tactus {
namespace {

// SC-31
TEST(backpressure_death, a_window_of_zero_ends_the_program) {
    EXPECT_DEATH(backpressure({.window = 0}), "backpressure:1");
}

// SC-37
TEST(backpressure_death, chunks_of_zero_end_the_program) {
    EXPECT_DEATH(backpressure({.chunk_ticks = 0}), "backpressure:2");
}

// SC-38
TEST(backpressure_death, ticks_that_go_back_end_the_program) {
    backpressure p({.start = 10});
    EXPECT_DEATH((void)p.observe({.now = 9}), "backpressure:3");
}

class still_clock final : public clock {
public:
    [[nodiscard]] instant now() const noexcept override { return instant::epoch(); }
    [[nodiscard]] clock_kind kind() const noexcept override { return clock_kind::deterministic; }
};

// SH-2
TEST(on_close_tasks_death, destroying_them_while_they_run_ends_the_program) {
    alignas(16) std::array<std::byte, 1'024> bytes{};
    arena memory(bytes);
    std::optional<on_close_tasks> tasks(std::in_place, memory, 2u);
    ASSERT_TRUE(tasks->add([&tasks] { tasks.reset(); }, close_priority::user));
    EXPECT_DEATH((void)tasks->run(still_clock(), 1_s, nullptr), "on_close_tasks:1");
}

}  // namespace
}  // namespace tactus
