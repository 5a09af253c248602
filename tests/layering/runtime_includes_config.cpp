// SPDX-License-Identifier: Apache-2.0
//
// Must not compile as a source of runtime: config lies above it, and its headers are not on the
// include path.
#include <tactus/config/settings.hpp>
