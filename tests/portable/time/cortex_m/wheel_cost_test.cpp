// SPDX-License-Identifier: Apache-2.0
//
// Goal: what the wheel costs on a device, in instructions per operation (DF-83).
// Method: under QEMU an instruction takes 16 ns of the emulator's time (tools/qemu_run), so the
// SysTick clock counts instructions. The figures are printed; the limits only catch a cost that
// depends on the number of timers.
#include <tactus/time/systick_clock.hpp>

#include <tactus/port/board.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

#include "wheel_rig.hpp"

using tactus::duration;
using tactus::instant;
using tactus::systick_clock;
using tactus::timer_handle;

namespace {

constexpr std::uint32_t instruction_ns = 16;
constexpr std::size_t timers = 32;
constexpr std::size_t rounds = 32;
constexpr std::uint32_t most = 2'000;

tactus_test::wheel_rig rig;

class cost {
public:
    explicit cost(const systick_clock& time) : time_(time) {}
    template <class Work>
    void of(Work&& work) noexcept {
        const instant before = time_.now();
        work();
        ns_ += static_cast<std::uint64_t>((time_.now() - before).ns());
    }
    [[nodiscard]] std::uint32_t instructions() const noexcept {
        return static_cast<std::uint32_t>(ns_ / instruction_ns / (timers * rounds));
    }

private:
    const systick_clock& time_;
    std::uint64_t ns_ = 0;
};

/// One delay is beyond the first level of the wheel, so that it cascades.
void measure(const char* insert_text, const char* cancel_text, const char* fire_text,
             std::uint32_t ticks) noexcept {
    const systick_clock time({.core_clock_hz = tactus::port::board::core_clock_hz,
                              .resolution = duration::from_ms(100)});
    auto& wheel = rig.make(rig.options(timers));
    std::array<timer_handle, timers> handles;
    cost insert(time);
    cost cancel(time);
    cost fire(time);
    std::size_t fired = 0;
    const auto insert_all = [&] {
        const instant now = rig.now();
        for (std::size_t i = 0; i < timers; ++i)
            handles[i] =
                *wheel.insert(now, wheel.scale().begin_of(ticks + i) - instant::epoch(), i);
    };
    for (std::size_t r = 0; r < rounds; ++r) {
        insert.of(insert_all);
        cancel.of([&] {
            for (const timer_handle h : handles)
                (void)wheel.cancel(h);
        });
        insert_all();
        const instant end = rig.begin_of(wheel.now() + ticks + timers);
        fire.of([&] {
            (void)wheel.advance(end, [&](const tactus::expired_timer&) noexcept { ++fired; });
        });
    }
    EXPECT_EQ(fired, timers * rounds);
    TEST_LOG(insert_text, insert.instructions());
    TEST_LOG(cancel_text, cancel.instructions());
    TEST_LOG(fire_text, fire.instructions());
    EXPECT_GT(insert.instructions(), 0u);
    EXPECT_LT(insert.instructions(), most);
    EXPECT_GT(cancel.instructions(), 0u);
    EXPECT_LT(cancel.instructions(), most);
    EXPECT_GT(fire.instructions(), 0u);
    EXPECT_LT(fire.instructions(), most);
}

}  // namespace

TEST(wheel_cost, DF_83_instructions_of_timers_of_the_next_ticks) {
    measure("instructions: insert", "instructions: cancel", "instructions: fire", 1);
}

TEST(wheel_cost, DF_83_instructions_of_timers_that_cascade) {
    measure("instructions: insert, far", "instructions: cancel, far",
            "instructions: cascade and fire", 5'000);
}
