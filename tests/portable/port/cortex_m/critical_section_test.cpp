// SPDX-License-Identifier: Apache-2.0
//
// PT-3: a critical section keeps interrupts pending until the outermost one ends. The interrupt is
// PendSV, which a test can pend whenever it likes.
#include <tactus/port/port.hpp>

#include <cstdint>

#include "portable_test.hpp"

namespace port = tactus::port;

namespace {

constinit port::atomic<std::uint32_t> taken{0};

std::uint32_t taken_count() noexcept {
    return taken.load(std::memory_order_relaxed);  // one core: the handler's store is the last one
}

void pend() noexcept {
    *reinterpret_cast<volatile std::uint32_t*>(0xe000ed04) = 1u << 28;
    asm volatile("dsb\n\tisb" ::: "memory");
}

std::uint32_t primask() noexcept {
    std::uint32_t value = 0;
    asm volatile("mrs %0, primask" : "=r"(value)::"memory");
    return value;
}

}  // namespace

extern "C" void PendSV_Handler() {
    taken.fetch_add(1, std::memory_order_relaxed);
}

// The test itself works: outside a section the interrupt comes at once.
TEST(critical_section, without_one_an_interrupt_is_taken_at_once) {
    const std::uint32_t before = taken_count();
    pend();
    EXPECT_EQ(taken_count(), before + 1);
    EXPECT_EQ(primask(), 0u);
}

// PT-3
TEST(critical_section, delays_interrupts_until_it_ends) {
    const std::uint32_t before = taken_count();
    {
        const port::critical_section section;
        EXPECT_EQ(primask(), 1u);
        pend();
        EXPECT_EQ(taken_count(), before);
    }
    asm volatile("isb" ::: "memory");
    EXPECT_EQ(taken_count(), before + 1);
    EXPECT_EQ(primask(), 0u);
}

// PT-3
TEST(critical_section, nests) {
    const std::uint32_t before = taken_count();
    {
        const port::critical_section outer;
        {
            const port::critical_section inner;
            pend();
            EXPECT_EQ(taken_count(), before);
        }
        asm volatile("isb" ::: "memory");
        EXPECT_EQ(primask(), 1u);
        EXPECT_EQ(taken_count(), before);
    }
    asm volatile("isb" ::: "memory");
    EXPECT_EQ(taken_count(), before + 1);
    EXPECT_EQ(primask(), 0u);
}

// PT-3: a masked read-modify-write inside a section must not open it.
TEST(critical_section, atomics_inside_leave_it_closed) {
    const std::uint32_t before = taken_count();
    {
        const port::critical_section section;
        pend();
        port::atomic<std::uint32_t> cell(1);
        cell.fetch_add(1, std::memory_order_relaxed);
        std::uint32_t seen = 2;
        EXPECT_TRUE(cell.compare_exchange_strong(seen, 3, std::memory_order_relaxed,
                                                 std::memory_order_relaxed));
        EXPECT_EQ(cell.exchange(4, std::memory_order_relaxed), 3u);
        EXPECT_EQ(taken_count(), before);
    }
    asm volatile("isb" ::: "memory");
    EXPECT_EQ(taken_count(), before + 1);
}
