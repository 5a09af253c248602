// SPDX-License-Identifier: Apache-2.0
//
// Must not compile as a source of runtime: the test kit is for tests, and nothing of the product
// uses it.
#include <tactus/test_kit/kit.hpp>
