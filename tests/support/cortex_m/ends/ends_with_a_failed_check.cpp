// SPDX-License-Identifier: Apache-2.0
//
// A failed check names itself and ends the program with status 70.
#include <tactus/base/check.hpp>

#include "portable_test.hpp"

namespace {

TACTUS_CHECK_MODULE("ending");

}  // namespace

TEST(ending, fails_a_check) {
    volatile bool holds = false;
    TACTUS_CHECK(12, holds);
}
