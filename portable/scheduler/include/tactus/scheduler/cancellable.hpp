// SPDX-License-Identifier: Apache-2.0
//
// Cancellable: what a job is cancelled by, and asked with (CN-1, CN-7). A value: copies name the
// same job, a stale one cancels nothing, and it may be kept longer than its system.
//
// What became of a job is known for as long as its cell remembers: on the host the last 24 uses of
// the cell, on devices the current one. A handle that was asked to cancel it remembers for ever
// whether it is cancelled, by itself or by another; of others it is known after that only that it
// is over.
//
// CN-7: on the host a cell whose generations are used up is not used again. A device has too few
// cells for that: there they begin anew after 2^24 uses of a cell, so that a stale handle would
// name a job again after so many others of its cell, for as long as that one lasts.
//
// Thread safety: as a value.
#pragma once

#include <cstdint>
#include <optional>

#include <tactus/scheduler/execution_batch.hpp>
#include <tactus/scheduler/job_word.hpp>

namespace tactus::inline v0 {

class scheduler;

class cancellable {
public:
    /// Names nothing.
    cancellable() = default;

    /// True: this call cancelled it, and it does not run (again). False: it has run or is running,
    /// was cancelled before, or its system has ended.
    bool cancel() noexcept;
    /// True from a successful cancel on, whoever's that was: see above for how long.
    [[nodiscard]] bool is_cancelled() const noexcept {
        return is_cancelled_ || state() == job_state::cancelled;
    }
    /// True from its normal end on.
    [[nodiscard]] bool is_completed() const noexcept { return state() == job_state::completed; }
    /// Nothing: too long ago, or its system has ended.
    [[nodiscard]] std::optional<job_state> state() const noexcept;
    /// Why it has ended; nothing while it has not, or when its cell went to another job.
    [[nodiscard]] std::optional<job_end> end() const noexcept;
    [[nodiscard]] job_id id() const noexcept { return job_id_of(index_, generation_); }
    /// It names a job.
    explicit operator bool() const noexcept { return generation_ != 0; }

    friend bool operator==(const cancellable& a, const cancellable& b) noexcept {
        return a.serial_ == b.serial_ && a.index_ == b.index_ && a.generation_ == b.generation_;
    }

    [[nodiscard]] static constexpr job_id job_id_of(std::uint32_t index,
                                                    std::uint32_t generation) noexcept {
        return (job_id{generation} << 32U) | index;
    }

private:
    friend class scheduler;
    cancellable(std::uint32_t system, std::uint32_t serial, std::uint32_t index,
                std::uint32_t generation) noexcept
        : serial_(serial), index_(index), generation_(generation), system_(system) {}

    std::uint32_t serial_ = 0;  // of its scheduler
    std::uint32_t index_ = 0;
    std::uint32_t generation_ = 0;
    std::uint32_t system_ = 0;
    bool is_cancelled_ = false;
};

}  // namespace tactus::inline v0
