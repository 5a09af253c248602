// SPDX-License-Identifier: Apache-2.0
//
// Checks: assertions that stay on in release builds and name themselves by a number.
//
// A failed check prints `module:id` and ends the program through `fatal()`, which the port defines
// (print and abort on the host, print over semihosting and stop on a microcontroller). There are no
// message strings: a microcontroller has no room for them, and `module:id` finds the line in the
// source.
//
// Each file (or class) says its short name once with TACTUS_CHECK_MODULE; ids are unique within the
// module.
#pragma once

namespace tactus::inline v0 {

/// Ends the program: our code is wrong and must not go on. Defined by the port. Never returns.
[[noreturn]] void fatal(const char* module, unsigned id) noexcept;

}  // namespace tactus::inline v0

/// Names the module of the checks that follow: inside a class, or at namespace scope of a `.cpp`
/// file.
#define TACTUS_CHECK_MODULE(name) \
    [[maybe_unused]] static constexpr const char* tactus_check_module = name

/// Fails the program with `module:id` unless `condition` holds. On in every build.
#define TACTUS_CHECK(id, condition)                   \
    do {                                              \
        if (!(condition)) [[unlikely]]                \
            ::tactus::fatal(tactus_check_module, id); \
    } while (false)

/// As TACTUS_CHECK, but only in builds without NDEBUG: for checks that would cost on a hot path.
#ifdef NDEBUG
#define TACTUS_DEBUG_CHECK(id, condition) \
    do {                                  \
        (void)sizeof(!(condition));       \
    } while (false)
#else
#define TACTUS_DEBUG_CHECK(id, condition) TACTUS_CHECK(id, condition)
#endif
