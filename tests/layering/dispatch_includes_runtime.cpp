// SPDX-License-Identifier: Apache-2.0
//
// Must not compile as a source of dispatch: runtime lies above it, and its headers are not on the
// include path.
#include <tactus/runtime/steady_clock.hpp>
