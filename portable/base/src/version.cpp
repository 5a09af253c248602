// SPDX-License-Identifier: Apache-2.0
//
// The version comes from the build (project(VERSION) in the top CMakeLists.txt), so that it is
// written in one place.
#include <tactus/base/version.hpp>

namespace tactus::inline v0 {

version_number version() noexcept {
    return {TACTUS_VERSION_MAJOR, TACTUS_VERSION_MINOR, TACTUS_VERSION_PATCH, TACTUS_VERSION_TEXT};
}

}  // namespace tactus::inline v0
