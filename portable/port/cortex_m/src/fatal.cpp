// SPDX-License-Identifier: Apache-2.0
//
// Cortex-M port: the end of the program after a failed check. Exit status 70.
#include <tactus/base/check.hpp>

#include <tactus/port/port.hpp>
#include <tactus/port/semihosting.hpp>

namespace tactus::inline v0 {

void fatal(const char* module, unsigned id) noexcept {
    // No handler runs on a state that is known to be wrong.
    const port::critical_section section;
    port::semihosting::write("tactus: check failed: ");
    port::semihosting::write(module);
    port::semihosting::write(":");
    port::semihosting::write_decimal(id);
    port::semihosting::write("\n");
    port::semihosting::exit(70);
}

}  // namespace tactus::inline v0
