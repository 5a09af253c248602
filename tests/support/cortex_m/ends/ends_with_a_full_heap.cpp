// SPDX-License-Identifier: Apache-2.0
//
// malloc says so when the heap is used up; new, which cannot, traps.
#include <tactus/port/memory_use.hpp>
#include <tactus/port/semihosting.hpp>

#include <cstdlib>

int main() {
    void* volatile last = nullptr;
    do {
        last = std::malloc(64);
    } while (last != nullptr);
    if (tactus::port::heap_used() < 64 * 3)
        return 1;
    char* volatile bytes = new char[64];
    return bytes[0];
}
