// SPDX-License-Identifier: Apache-2.0
//
// No test at all: a run in which nothing ran has not passed.
#include "portable_test.hpp"
