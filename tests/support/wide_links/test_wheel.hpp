// SPDX-License-Identifier: Apache-2.0
//
// The wheel under test: 32-bit links. The folder narrow_links has the other; the build chooses by
// include path.
#pragma once

#include <tactus/time/timer_wheel.hpp>

namespace tactus_test {

using test_wheel = tactus::timer_wheel;

}  // namespace tactus_test
