// SPDX-License-Identifier: Apache-2.0
//
// Must not compile as a source of base: time lies above it, and its headers are not on the
// include path.
#include <tactus/time/instant.hpp>
