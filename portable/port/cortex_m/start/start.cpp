// SPDX-License-Identifier: Apache-2.0
//
// Start-up: vector table, memory, constructors, main; and what happens after a fault.
//
// Objects of static storage are never destroyed: a device does not end, and registering destructors
// would cost memory. main's result becomes the exit status of the emulation.
//
// Handlers carry their customary names and are weak: whoever defines SysTick_Handler, in the port's
// driver or elsewhere, has it in the table. The table and the reset handler are linked as objects,
// not from a library, and kept by the linker script.
#include <tactus/base/check.hpp>
#include <tactus/port/semihosting.hpp>

#include <cstddef>
#include <cstdint>

#include "linker_symbols.hpp"

namespace semihosting = tactus::port::semihosting;

int main();

extern "C" {

[[gnu::used, noreturn]] void Reset_Handler() {
    // Everything below the present frame; the compiler must not keep anything there meanwhile.
    std::uint32_t* here = nullptr;
    asm volatile("mov %0, sp" : "=r"(here));
    for (std::uint32_t* word = tactus_stack_limit; word < here; ++word)
        *static_cast<volatile std::uint32_t*>(word) = stack_paint;
    const std::uint32_t* from = tactus_data_load;
    for (std::uint32_t* word = tactus_data_begin; word != tactus_data_end; ++word)
        *static_cast<volatile std::uint32_t*>(word) = *from++;
    for (std::uint32_t* word = tactus_bss_begin; word != tactus_bss_end; ++word)
        *static_cast<volatile std::uint32_t*>(word) = 0;
    for (auto* construct = tactus_init_begin; construct != tactus_init_end; ++construct)
        (*construct)();
    semihosting::exit(main());
}

// Finds the frame that the fault pushed and starts a fresh stack: the old one may be what is
// broken. Only instructions that the M0 has too.
[[gnu::naked, gnu::used]] void HardFault_Handler() {
    asm volatile(
        "movs r0, #4\n\t"
        "mov r1, lr\n\t"
        "tst r1, r0\n\t"
        "beq 1f\n\t"
        "mrs r0, psp\n\t"
        "b 2f\n"
        "1:\n\t"
        "mrs r0, msp\n"
        "2:\n\t"
        "ldr r1, =tactus_stack_top\n\t"
        "mov sp, r1\n\t"
        "bl tactus_report_fault\n\t"
        ".ltorg");
}

[[gnu::used, noreturn]] void tactus_report_fault(const std::uint32_t* frame) {
    constexpr std::size_t pushed_pc = 6;
    semihosting::write("tactus: hard fault");
    if (frame >= tactus_stack_limit && frame + 8 <= tactus_stack_top) {
        semihosting::write(" at ");
        semihosting::write_hex(frame[pushed_pc]);
    } else {
        semihosting::write(", stack pointer ");
        semihosting::write_hex(reinterpret_cast<std::uintptr_t>(frame));
    }
    semihosting::write("\n");
    semihosting::exit(71);
}

[[gnu::used]] void tactus_unexpected_interrupt() {
    std::uint32_t number = 0;
    asm volatile("mrs %0, ipsr" : "=r"(number));
    tactus::fatal("interrupt", number);
}

[[gnu::weak]] void NMI_Handler() {
    tactus_unexpected_interrupt();
}
[[gnu::weak]] void SVC_Handler() {
    tactus_unexpected_interrupt();
}
[[gnu::weak]] void PendSV_Handler() {
    tactus_unexpected_interrupt();
}
[[gnu::weak]] void SysTick_Handler() {
    tactus_unexpected_interrupt();
}

// What the compiler and the C library call, cut down to what a device needs.
void* __dso_handle = nullptr;
int __aeabi_atexit(void*, void (*)(void*), void*) {
    return 0;
}
int __cxa_atexit(void (*)(void*), void*, void*) {
    return 0;
}
[[noreturn]] void __cxa_pure_virtual() {
    tactus::fatal("pure_virtual", 1);
}
[[noreturn]] void abort() {
    tactus::fatal("abort", 1);
}
[[noreturn]] void _exit(int status) {
    semihosting::exit(status);
}
int _write(int, const char* bytes, int size) {
    semihosting::write(bytes, static_cast<std::size_t>(size));
    return size;
}

}  // extern "C"

namespace {

using handler = void (*)();

constexpr std::size_t device_interrupts = 32;

struct vector_table {
    const std::uint32_t* stack_top;
    handler core[15];
    handler device[device_interrupts];
};

constexpr vector_table make_vectors() noexcept {
    vector_table t{};
    t.stack_top = tactus_stack_top;
    for (handler& h : t.core)
        h = tactus_unexpected_interrupt;
    for (handler& h : t.device)
        h = tactus_unexpected_interrupt;
    t.core[0] = Reset_Handler;
    t.core[1] = NMI_Handler;
    t.core[2] = HardFault_Handler;
    t.core[10] = SVC_Handler;
    t.core[13] = PendSV_Handler;
    t.core[14] = SysTick_Handler;
    return t;
}

[[gnu::used, gnu::section(".vectors")]] constinit const vector_table vectors = make_vectors();

}  // namespace
