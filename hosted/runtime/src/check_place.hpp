// SPDX-License-Identifier: Apache-2.0
//
// Where a check failed: the actor whose turn it is, its message, the thread.
#pragma once

namespace tactus::inline v0::runtime {

/// From now on failed checks say it.
void describe_failed_checks() noexcept;

}  // namespace tactus::inline v0::runtime
