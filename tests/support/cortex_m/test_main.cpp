// SPDX-License-Identifier: Apache-2.0
//
// Runs every test of the image in the order of linking, on a closed heap.
//
// Exit status: 0 when at least one test ran and none failed, else 1.
#include <tactus/port/memory_use.hpp>
#include <tactus/port/semihosting.hpp>

#include "portable_test.hpp"

namespace semihosting = tactus::port::semihosting;

extern "C" {
extern const tactus_test::test_case* const tactus_tests_begin[];
extern const tactus_test::test_case* const tactus_tests_end[];
}

namespace tactus_test {

namespace {

constinit bool failed = false;  // the running test

void write(const shown& value) noexcept {
    if (value.negative)
        semihosting::write("-");
    semihosting::write_decimal(value.magnitude);
}

}  // namespace

void fail(const site& where) noexcept {
    failed = true;
    semihosting::write(where.file);
    semihosting::write(":");
    semihosting::write_decimal(where.line);
    semihosting::write(": expected ");
    semihosting::write(where.text);
    semihosting::write("\n");
}

void fail(const site& where, const shown& a, const shown& b) noexcept {
    fail(where);
    if (!a.known || !b.known)
        return;
    semihosting::write("    with ");
    write(a);
    semihosting::write(" and ");
    write(b);
    semihosting::write("\n");
}

void log(const char* text, std::uint64_t number) noexcept {
    semihosting::write(text);
    semihosting::write(" ");
    semihosting::write_decimal(number);
    semihosting::write("\n");
}

namespace {

bool passes(const test_case& test) noexcept {
    failed = false;
    test.body();
    // What lies below the stack may be damaged, so the results of this test mean nothing.
    if (tactus::port::stack_peak() == tactus::port::stack_size()) {
        semihosting::write("the stack is used up\n");
        failed = true;
    }
    semihosting::write(failed ? "FAIL " : "ok   ");
    semihosting::write(test.suite);
    semihosting::write(".");
    semihosting::write(test.name);
    semihosting::write("\n");
    return !failed;
}

}  // namespace

}  // namespace tactus_test

int main() {
    tactus::port::heap_close();
    unsigned passed_count = 0;
    unsigned failed_count = 0;
    for (auto* test = tactus_tests_begin; test != tactus_tests_end; ++test)
        ++(tactus_test::passes(**test) ? passed_count : failed_count);
    semihosting::write_decimal(passed_count);
    semihosting::write(" passed, ");
    semihosting::write_decimal(failed_count);
    semihosting::write(" failed; stack peak ");
    semihosting::write_decimal(tactus::port::stack_peak());
    semihosting::write(" of ");
    semihosting::write_decimal(tactus::port::stack_size());
    semihosting::write(" bytes\n");
    return failed_count == 0 && passed_count != 0 ? 0 : 1;
}
