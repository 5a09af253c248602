// SPDX-License-Identifier: Apache-2.0
//
// PT-3: read-modify-writes of main and of an interrupt handler on the same cell lose nothing.
//
// Method: SysTick fires every few hundred instructions while main works in a loop of varying
// length, so over thousands of interrupts every gap between two instructions of the work is hit.
// The handler changes the cell in a way that can be told from what main does; at the end the sum
// must be exact.
#include <tactus/port/systick.hpp>

#include <cstdint>

#include "portable_test.hpp"

namespace port = tactus::port;
using std::memory_order_acq_rel;
using std::memory_order_relaxed;

namespace {

constexpr std::uint32_t interrupts_wanted = 4'000;
constexpr std::uint32_t cycles_per_interrupt = 97;

/// Runs `work` over and over while SysTick calls `handler`; returns how often each ran.
struct run_counts {
    std::uint32_t main = 0;
    std::uint32_t interrupts = 0;
};
template <class Work>
run_counts race(void (*handler)(void*) noexcept, void* context, Work work) noexcept {
    run_counts counts;
    port::systick::start({.cycles_per_tick = cycles_per_interrupt, .on_tick = {handler, context}});
    std::uint32_t wander = 1;
    while (port::systick::count() < interrupts_wanted) {
        work();
        ++counts.main;
        wander = wander * 1'664'525 + 1'013'904'223;
        for (std::uint32_t i = wander >> 29; i != 0; --i)
            asm volatile("nop");
    }
    port::systick::stop();
    counts.interrupts = port::systick::count();
    return counts;
}

template <class T>
void additions_on_both_sides_add_up() {
    port::atomic<T> cell(T{0});
    const run_counts counts = race(
        [](void* c) noexcept {
            static_cast<port::atomic<T>*>(c)->fetch_add(T{3}, memory_order_relaxed);
        },
        &cell, [&] { cell.fetch_add(T{1}, memory_order_relaxed); });
    EXPECT_GE(counts.interrupts, interrupts_wanted);
    EXPECT_GT(counts.main, interrupts_wanted);
    const auto sum = static_cast<T>(counts.main + 3 * counts.interrupts);
    EXPECT_EQ(cell.load(memory_order_relaxed), sum);
    TEST_LOG("additions by main:", counts.main);
    TEST_LOG("additions by the handler:", counts.interrupts);
}

}  // namespace

// PT-3
TEST(atomic_and_interrupts, additions_on_both_sides_add_up) {
    additions_on_both_sides_add_up<std::uint32_t>();
}

// PT-3
TEST(atomic_and_interrupts, additions_to_narrow_cells_add_up) {
    additions_on_both_sides_add_up<std::uint16_t>();
    additions_on_both_sides_add_up<std::uint8_t>();
}

// PT-3
TEST(atomic_and_interrupts, compare_exchange_loops_add_up) {
    port::atomic<std::uint32_t> cell(0);
    const auto add = [](port::atomic<std::uint32_t>& c, std::uint32_t n) noexcept {
        std::uint32_t seen = c.load(memory_order_relaxed);
        while (
            !c.compare_exchange_weak(seen, seen + n, memory_order_acq_rel, memory_order_relaxed)) {
        }
    };
    static constexpr auto add_there = add;
    const run_counts counts =
        race([](void* c) noexcept { add_there(*static_cast<port::atomic<std::uint32_t>*>(c), 5); },
             &cell, [&] { add(cell, 1); });
    EXPECT_EQ(cell.load(memory_order_relaxed), counts.main + 5 * counts.interrupts);
}

// PT-3: what one side puts in, somebody takes out, exactly once.
TEST(atomic_and_interrupts, exchange_hands_everything_over_once) {
    struct shared {
        port::atomic<std::uint32_t> box{0};
        std::uint32_t overwritten = 0;  // handler only
    } s;
    std::uint32_t received = 0;
    const run_counts counts = race(
        [](void* c) noexcept {
            auto& there = *static_cast<shared*>(c);
            if (there.box.exchange(1, memory_order_acq_rel) != 0)
                ++there.overwritten;
        },
        &s, [&] { received += s.box.exchange(0, memory_order_acq_rel); });
    received += s.box.exchange(0, memory_order_acq_rel);
    EXPECT_EQ(received + s.overwritten, counts.interrupts);
    EXPECT_GT(received, 0u);
}

// PT-3: main owns bit 0, the handler counts in the bits above.
TEST(atomic_and_interrupts, bit_operations_leave_the_other_side_alone) {
    port::atomic<std::uint32_t> cell(0);
    std::uint32_t wrong = 0;
    const run_counts counts = race(
        [](void* c) noexcept {
            static_cast<port::atomic<std::uint32_t>*>(c)->fetch_add(2, memory_order_relaxed);
        },
        &cell,
        [&] {
            wrong += cell.fetch_or(1, memory_order_relaxed) & 1u;
            wrong += 1u - (cell.fetch_and(~1u, memory_order_relaxed) & 1u);
        });
    EXPECT_EQ(wrong, 0u);
    EXPECT_EQ(cell.load(memory_order_relaxed), 2 * counts.interrupts);
}

// PT-3: the driver counts every interrupt once, and a stopped one is silent.
TEST(systick, counts_from_where_it_is_told_and_stops) {
    constexpr port::event_count::word first = 0xfffffffe;
    port::systick::start({.cycles_per_tick = 100, .first_count = first});
    EXPECT_TRUE(port::systick::running());
    while (port::systick::count() - first < 5) {
    }
    port::systick::stop();
    EXPECT_FALSE(port::systick::running());
    const auto stopped = port::systick::count();
    EXPECT_EQ(stopped, 3u);
    for (int i = 0; i < 1'000; ++i)
        asm volatile("nop");
    EXPECT_EQ(port::systick::count(), stopped);
}

// TS-2: a reading is one moment. In a critical section the handler cannot count; the reading does.
TEST(systick, a_reading_counts_a_tick_that_is_pending) {
    constexpr std::uint32_t cycles = 10'000;
    port::systick::start({.cycles_per_tick = cycles});
    {
        const port::critical_section section;
        port::systick::reading last = port::systick::read();
        const auto first = last.ticks;
        while (last.ticks == first || last.cycles < cycles / 2) {
            const port::systick::reading next = port::systick::read();
            ASSERT_LT(next.cycles, cycles);
            ASSERT_TRUE(next.ticks > last.ticks ||
                        (next.ticks == last.ticks && next.cycles >= last.cycles));
            last = next;
        }
        EXPECT_EQ(last.ticks, first + 1);
        EXPECT_EQ(port::systick::count(), first);
    }
    port::systick::stop();
    EXPECT_EQ(port::systick::count(), 1u);
}

// TS-2: the tick ends at any place of a reading while the handler cannot run. A count of the new
// tick with a position of the old one would be nearly a whole tick ahead.
TEST(systick, a_reading_in_a_critical_section_is_one_moment) {
    constexpr std::uint32_t cycles = 499;
    port::systick::start({.cycles_per_tick = cycles});
    std::uint32_t wander = 1;
    std::uint32_t torn = 0;
    for (int round = 0; round < 1'000; ++round) {
        wander = wander * 1'664'525 + 1'013'904'223;
        for (std::uint32_t i = wander >> 26; i != 0; --i)
            asm volatile("nop");
        const port::critical_section section;
        const auto first = port::systick::read().ticks;
        port::systick::reading next = port::systick::read();
        while (next.ticks == first)
            next = port::systick::read();
        torn += next.ticks == first + 1 && next.cycles < cycles / 2 ? 0 : 1;
    }
    port::systick::stop();
    EXPECT_EQ(torn, 0u);
}

// TS-2: no torn reading over thousands of ticks, however the reading and the interrupt meet.
TEST(systick, readings_never_go_back) {
    constexpr std::uint32_t cycles = 151;
    constexpr port::event_count::word first = 0xfffffff0;
    port::systick::start({.cycles_per_tick = cycles, .first_count = first});
    std::uint32_t readings = 0;
    std::uint32_t backward = 0;
    port::systick::reading last = port::systick::read();
    while (last.ticks - first < 3'000) {
        const port::systick::reading next = port::systick::read();
        const bool forward =
            next.ticks == last.ticks ? next.cycles >= last.cycles : next.ticks - last.ticks < 1'000;
        backward += forward ? 0 : 1;
        backward += next.cycles < cycles ? 0 : 1;
        last = next;
        ++readings;
    }
    port::systick::stop();
    EXPECT_EQ(backward, 0u);
    TEST_LOG("readings:", readings);
}
