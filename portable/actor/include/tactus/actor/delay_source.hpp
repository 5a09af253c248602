// SPDX-License-Identifier: Apache-2.0
//
// Delay source: a task waits for time to pass (AC-2, SC-13); see wait_awaiter.hpp.
//
// The actors of a system end before its scheduler closes, so a delay that has begun comes, or its
// coroutine is destroyed and it is cancelled. Where somebody closes it first, or there was no
// memory for it, it says so. Its cell may have gone to another by then: what was not its time is
// told by the time.
#pragma once

#include <expected>

#include <tactus/actor/wait_awaiter.hpp>
#include <tactus/scheduler/scheduler.hpp>

namespace tactus::inline v0 {

class delay_source {
public:
    struct request {
        scheduler* timers;  // null: there are none
        duration delay;
    };
    static constexpr wait_kind waits_for = wait_kind::time;
    /// SC-15: the batch of its job, one run however late; or why there was no timer for it.
    using result = std::expected<execution_batch, scheduler_error>;

    delay_source(const request& what, waker& to_wake, mailbox_index) noexcept
        : what_(what), to_wake_(to_wake) {}
    [[nodiscard]] bool start() noexcept {
        if (what_.timers == nullptr)
            return false;
        begun_ = what_.timers->now();
        made_ = what_.timers->schedule_wake(what_.delay, to_wake_);
        return made_.has_value();
    }
    // Also when the scheduler was closed first: then nobody is woken either.
    [[nodiscard]] bool give_up() noexcept {
        return made_ && (what_.timers->cancel(*made_) ||
                         what_.timers->state_of(*made_) == job_state::cancelled);
    }
    [[nodiscard]] result take() const noexcept {
        if (!made_)
            return std::unexpected(made_.error());
        const bool is_early = what_.timers->now() - begun_ < what_.delay;
        if (is_early || what_.timers->was_closed(*made_)) [[unlikely]]
            return std::unexpected(scheduler_error{
                .code = what_.timers->has_closed() ? scheduler_errc::closed
                                                   : scheduler_errc::capacity_exceeded});
        return execution_batch{.job = made_->id()};
    }

private:
    request what_;
    waker& to_wake_;
    instant begun_;
    std::expected<cancellable, scheduler_error> made_ =
        std::unexpected(scheduler_error{.code = scheduler_errc::closed});
};

}  // namespace tactus::inline v0
