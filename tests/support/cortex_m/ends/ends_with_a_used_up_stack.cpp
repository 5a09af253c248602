// SPDX-License-Identifier: Apache-2.0
//
// A test that goes down to the end of its stack is not believed.
#include <cstdint>

#include "portable_test.hpp"

extern "C" std::uint32_t tactus_stack_limit[];

TEST(ending, touches_the_last_word_of_the_stack) {
    *static_cast<volatile std::uint32_t*>(tactus_stack_limit) = 0;
}
