// SPDX-License-Identifier: Apache-2.0
//
// Says that an atomic is made where one of the same type was that other threads may still read.
#pragma once

namespace tactus::inline v0::port {

struct reused_type {};
inline constexpr reused_type reused;

}  // namespace tactus::inline v0::port
