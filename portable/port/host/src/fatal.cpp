// SPDX-License-Identifier: Apache-2.0
//
// Host port: the end of the program after a failed check.
#include <tactus/base/check.hpp>

#include <cstdio>
#include <cstdlib>

namespace tactus::inline v0 {

void fatal(const char* module, unsigned id) noexcept {
    std::fprintf(stderr, "tactus: check failed: %s:%u\n", module, id);
    std::fflush(stderr);
    std::abort();
}

}  // namespace tactus::inline v0
