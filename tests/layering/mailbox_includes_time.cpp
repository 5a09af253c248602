// SPDX-License-Identifier: Apache-2.0
//
// Must not compile as a source of mailbox: time lies beside it, and its headers are not on the
// include path.
#include <tactus/time/instant.hpp>
