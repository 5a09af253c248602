// SPDX-License-Identifier: Apache-2.0
//
// The delivery that was made last, for whoever looks at a scheduler from outside (SD-6).
//
// Thread safety: none; the scheduler's owner notes, and who asks does so through the owner.
#pragma once

#include <optional>

#include <tactus/scheduler/execution_batch.hpp>

namespace tactus::inline v0 {

class last_batch_holder {
public:
    /// Requires: it has at least one run, as every delivery.
    void note(const execution_batch& batch) noexcept { last_ = batch; }
    /// Nothing before the first delivery.
    [[nodiscard]] std::optional<execution_batch> last_batch() const noexcept {
        return last_.runs == 0 ? std::nullopt : std::optional(last_);
    }

private:
    execution_batch last_{.runs = 0};
};

}  // namespace tactus::inline v0
