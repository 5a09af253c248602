// SPDX-License-Identifier: Apache-2.0
//
// Lone run: what travels in the envelope of a message that goes alone, because no cell was left for
// it (BT-3): which job it is of, and what it stands for.
//
// It names its job, and holds nothing: the job may have ended, and its cell be another's. A fixed
// delay that waits for its run is armed again when the message is gone, if it is still there
// (SC-24).
#pragma once

#include <cstdint>

#include <tactus/mailbox/envelope_guard.hpp>
#include <tactus/scheduler/execution_batch.hpp>

namespace tactus::inline v0::detail {

struct lone_run {
    /// More are not told apart.
    static constexpr std::uint32_t missed_max = (std::uint32_t{1} << 27U) - 1;

    execution_batch batch;
    timer_priority priority = timer_priority::normal;
    bool arms_again = false;  // its job waits for its end

    [[nodiscard]] std::uint32_t index() const noexcept {
        return static_cast<std::uint32_t>(batch.job);
    }
    [[nodiscard]] std::uint32_t generation() const noexcept {
        return static_cast<std::uint32_t>(batch.job >> 32U);
    }

    [[nodiscard]] envelope_note note_for(note_reader& reader) const noexcept {
        const std::uint32_t missed =
            batch.missed_runs < missed_max ? batch.missed_runs : missed_max;
        return {.reader = &reader,
                .words = {index(), generation(),
                          missed << 5U | (arms_again ? 16U : 0U) |
                              static_cast<std::uint32_t>(priority) << 2U |
                              static_cast<std::uint32_t>(batch.mode)}};
    }
    [[nodiscard]] static lone_run of(const envelope_note& note) noexcept {
        const std::uint32_t bits = note.words[2];
        const std::uint32_t missed = bits >> 5U;
        return {.batch = {.runs = missed + 1,
                          .missed_runs = missed,
                          .mode = static_cast<job_mode>(bits & 3U),
                          .job = job_id{note.words[1]} << 32U | note.words[0]},
                .priority = static_cast<timer_priority>(bits >> 2U & 3U),
                .arms_again = (bits & 16U) != 0};
    }
};

}  // namespace tactus::inline v0::detail
