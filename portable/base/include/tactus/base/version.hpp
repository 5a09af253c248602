// SPDX-License-Identifier: Apache-2.0
//
// The version of the library that was linked, for users who report a problem or check a shared
// installation.
#pragma once

namespace tactus::inline v0 {

struct version_number {
    unsigned major;
    unsigned minor;
    unsigned patch;
    const char* text;  // "major.minor.patch"
};

/// The version of the library that is linked; constant, callable from anywhere.
[[nodiscard]] version_number version() noexcept;

}  // namespace tactus::inline v0
