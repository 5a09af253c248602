// SPDX-License-Identifier: Apache-2.0
//
// Handles of jobs: each finds the scheduler of its system, if there still is one.
#include <tactus/scheduler/cancellable.hpp>

#include <tactus/dispatch/system_table.hpp>
#include <tactus/dispatch/worker.hpp>
#include <tactus/scheduler/scheduler.hpp>

namespace tactus::inline v0 {

namespace {

/// The scheduler of a system, for as long as it is looked at.
class visited {
public:
    explicit visited(std::uint32_t system_number) noexcept {
        const worker* w = worker::current();
        if (w != nullptr && w->system().system_number() == system_number)
            found_ = &w->system();
        else
            found_ = visit_.emplace(system_number).system();
    }
    [[nodiscard]] scheduler* get() const noexcept {
        timer_phase* const timers = found_ != nullptr ? found_->timers() : nullptr;
        return timers != nullptr ? timers->as_scheduler() : nullptr;
    }

private:
    std::optional<system_table::visit> visit_;
    actor_scheduler* found_ = nullptr;
};

}  // namespace

bool cancellable::cancel() noexcept {
    if (is_cancelled_ || generation_ == 0)
        return false;
    const visited in(system_);
    return in.get() != nullptr && in.get()->cancel(*this);
}

std::optional<job_end> cancellable::end() const noexcept {
    if (generation_ == 0)
        return std::nullopt;
    const visited in(system_);
    return in.get() != nullptr ? in.get()->end_of(*this) : std::nullopt;
}

std::optional<job_state> cancellable::state() const noexcept {
    if (generation_ == 0)
        return std::nullopt;
    const visited in(system_);
    return in.get() != nullptr ? in.get()->state_of(*this) : std::nullopt;
}

}  // namespace tactus::inline v0
