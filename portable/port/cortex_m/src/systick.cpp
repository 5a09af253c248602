// SPDX-License-Identifier: Apache-2.0
//
// SysTick driver over its four registers, and its interrupt handler.
#include <tactus/port/systick.hpp>

#include <tactus/base/check.hpp>

namespace tactus::inline v0::port::systick {

namespace {

TACTUS_CHECK_MODULE("systick");

struct registers {
    std::uint32_t control;
    std::uint32_t reload;
    std::uint32_t current;  // any write sets it to 0
    std::uint32_t calibration;
};
constexpr std::uint32_t control_enable = 1u << 0;
constexpr std::uint32_t control_interrupt = 1u << 1;
constexpr std::uint32_t control_core_clock = 1u << 2;

constexpr std::uint32_t pend_systick = 1u << 26;
constexpr std::uint32_t unpend_systick = 1u << 25;

volatile registers& timer() noexcept {
    return *reinterpret_cast<volatile registers*>(0xe000e010);
}
volatile std::uint32_t& interrupt_control() noexcept {
    return *reinterpret_cast<volatile std::uint32_t*>(0xe000ed04);
}

// Written while stopped or while interrupts are masked, read by the handler.
constinit tick_hook hook;
// Shared: the handler adds, anybody reads. E-tick in <tactus/port/port.hpp>.
constinit event_count counted;

}  // namespace

void start(const options& o) noexcept {
    TACTUS_CHECK(
        1, o.cycles_per_tick >= cycles_per_tick_min && o.cycles_per_tick <= cycles_per_tick_max);
    TACTUS_CHECK(2, !running());
    hook = o.on_tick;
    counted.add(o.first_count - counted.read());
    timer().reload = o.cycles_per_tick - 1;
    timer().current = 0;
    interrupt_control() = unpend_systick;
    // A barrier for the compiler: the handler must find the hook.
    asm volatile("dsb" ::: "memory");
    timer().control = control_enable | control_interrupt | control_core_clock;
    // The counter leaves 0 with its first cycle. From then on 0 means the end of a tick.
    while (timer().current == 0) {
    }
}

void stop() noexcept {
    const critical_section section;
    timer().control = 0;
    interrupt_control() = unpend_systick;
    asm volatile("dsb" ::: "memory");
}

bool running() noexcept {
    return (timer().control & control_enable) != 0;
}

bool attach(const tick_hook& h) noexcept {
    const critical_section section;
    if (!running() || hook.call != nullptr)
        return false;
    hook = h;
    return true;
}

void detach() noexcept {
    const critical_section section;
    hook = {};
}

event_count::word count() noexcept {
    return counted.read();
}

reading read() noexcept {
    for (;;) {
        const event_count::word before = counted.read();
        std::uint32_t left = timer().current;
        const bool uncounted = (interrupt_control() & pend_systick) != 0;
        if (uncounted)
            left = timer().current;  // the first reading may be from before the end of the tick
        else if (left == 0 && running())
            continue;  // the one cycle in which the tick may or may not be counted already
        if (counted.read() != before)
            continue;  // the handler ran in between
        return {before + uncounted, left == 0 ? 0 : timer().reload + 1 - left};
    }
}

}  // namespace tactus::inline v0::port::systick

extern "C" void SysTick_Handler() {
    using namespace tactus::port::systick;
    counted.add(1);
    if (hook.call != nullptr)
        hook.call(hook.context);
}
