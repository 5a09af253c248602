// SPDX-License-Identifier: Apache-2.0
//
// What a failed check means, in words: for the host only. A test compares the table with the checks
// of the code.
#pragma once

namespace tactus::inline v0::port {

struct check_text {
    const char* module;
    unsigned id;
    const char* text;
    const char* anchor = "checks-check";  // in docs/troubleshooting.md
};

/// Null: an unknown check, such as one of the program's own.
[[nodiscard]] const check_text* find_check_text(const char* module, unsigned id) noexcept;

}  // namespace tactus::inline v0::port
