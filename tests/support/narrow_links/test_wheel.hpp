// SPDX-License-Identifier: Apache-2.0
//
// The wheel under test: 16-bit links, as on devices. The folder wide_links has the other; the build
// chooses by include path.
#pragma once

#include <tactus/time/timer_wheel.hpp>

namespace tactus_test {

using test_wheel = tactus::small_timer_wheel;

}  // namespace tactus_test
