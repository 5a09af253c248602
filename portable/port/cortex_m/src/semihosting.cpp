// SPDX-License-Identifier: Apache-2.0
//
// Semihosting requests, as the "Semihosting for AArch32 and AArch64" specification numbers them.
#include <tactus/port/semihosting.hpp>

namespace tactus::inline v0::port::semihosting {

namespace {

enum class operation : std::uint32_t {
    write0 = 0x04,         // prints zero-terminated text
    exit_extended = 0x20,  // ends with a reason and a status
};
constexpr std::uintptr_t application_exit = 0x20026;

void request(operation what, const void* argument) noexcept {
    register auto r0 asm("r0") = static_cast<std::uint32_t>(what);
    register const void* r1 asm("r1") = argument;
    asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

}  // namespace

void write(const char* text) noexcept {
    request(operation::write0, text);
}

void write(const char* bytes, std::size_t size) noexcept {
    // By pieces through a zero-terminated buffer: writing to a handle would need opening one first.
    char piece[33];
    while (size != 0) {
        std::size_t used = 0;
        while (used < sizeof piece - 1 && size != 0) {
            piece[used++] = *bytes++;
            --size;
        }
        piece[used] = '\0';
        write(piece);
    }
}

void write_decimal(std::uint64_t number) noexcept {
    char digits[21];
    char* first = digits + sizeof digits - 1;
    *first = '\0';
    do {
        *--first = static_cast<char>('0' + static_cast<char>(number % 10));
        number /= 10;
    } while (number != 0);
    write(first);
}

void write_hex(std::uint32_t number) noexcept {
    char digits[] = "0x00000000";
    for (char* digit = digits + sizeof digits - 2; number != 0; number >>= 4)
        *digit-- = "0123456789abcdef"[number & 15];
    write(digits);
}

void exit(int status) noexcept {
    const std::uintptr_t block[] = {application_exit, static_cast<std::uintptr_t>(status)};
    for (;;)
        request(operation::exit_extended, block);
}

}  // namespace tactus::inline v0::port::semihosting
