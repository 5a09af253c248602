// SPDX-License-Identifier: Apache-2.0
//
// Must not compile as a source of time: mailbox lies beside it, and its headers are not on the
// include path.
#include <tactus/mailbox/mailbox.hpp>
