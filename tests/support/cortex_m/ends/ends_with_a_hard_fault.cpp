// SPDX-License-Identifier: Apache-2.0
//
// An undefined instruction: the fault handler says where and ends with status 71.
#include "portable_test.hpp"

TEST(ending, faults) {
    asm volatile("udf #0");
}
