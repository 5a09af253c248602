// SPDX-License-Identifier: Apache-2.0
//
// PT-3: free traps after start; before, it does nothing, and nullptr may always be released.
#include <cstdlib>

#include "portable_test.hpp"

namespace {

void* allocate_twice() noexcept {
    void* volatile first = std::malloc(8);
    std::free(first);
    return std::malloc(8);
}
void* volatile early = allocate_twice();

}  // namespace

TEST(ending, releases) {
    ASSERT_TRUE(early != nullptr);
    void* volatile nothing = nullptr;
    std::free(nothing);
    std::free(early);
}
