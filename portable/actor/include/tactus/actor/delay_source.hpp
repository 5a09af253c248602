// SPDX-License-Identifier: Apache-2.0
//
// Delay source: a task waits for time to pass (AC-2); see wait_awaiter.hpp.
#pragma once

#include <optional>

#include <tactus/actor/wait_awaiter.hpp>
#include <tactus/dispatch/timer_service.hpp>

namespace tactus::inline v0 {

class delay_source {
public:
    struct request {
        timer_service* timers;  // null: there are none
        duration delay;
    };
    static constexpr wait_kind waits_for = wait_kind::time;
    using result = bool;  // false: there was no room for a timer

    delay_source(const request& what, waker& to_wake, mailbox_index) noexcept
        : what_(what), target_{.wake = &to_wake} {}
    [[nodiscard]] bool start() noexcept {
        if (what_.timers != nullptr)
            handle_ = what_.timers->arm(target_, what_.delay);
        return handle_.has_value();
    }
    [[nodiscard]] bool give_up() noexcept { return handle_ && what_.timers->cancel(*handle_); }
    [[nodiscard]] bool take() const noexcept { return handle_.has_value(); }

private:
    request what_;
    timer_target target_;
    std::optional<timer_handle> handle_;
};

}  // namespace tactus::inline v0
