// SPDX-License-Identifier: Apache-2.0
//
// What a job is asked for with, whatever it carries.
#pragma once

#include <cstdint>
#include <string_view>

#include <tactus/mailbox/mailbox_index.hpp>
#include <tactus/scheduler/execution_batch.hpp>
#include <tactus/scheduler/timer_policy.hpp>
#include <tactus/time/instant.hpp>

namespace tactus::inline v0 {

struct job_request {
    job_mode mode = job_mode::one_shot;
    duration first;
    duration period = {};  // of periodic jobs
    mailbox_index to = {};
    mailbox_index sender = {};
    timer_priority priority = timer_priority::normal;
    // Number of the dispatcher a function runs on; none: the calling actor's, else the first
    // (SC-9).
    std::uint16_t executor = timer_affinity::no_dispatcher;
    // Of fixed rate.
    std::uint32_t backlog_limit = no_backlog_limit;
    std::uint32_t burst_threshold = 2;
    bool each = false;
    // Of fixed delay.
    bool after_sent = false;
    std::uint64_t metadata = 0;
    bool goes_on = false;   // continues one that was there (BP-3)
    bool replaces = false;  // has the place of another, who gives it up only if there is no more
    std::string_view label = {};  // of an actor's periodic timer, on a host: warnings show it

    [[nodiscard]] static constexpr job_request once(duration delay,
                                                    timer_priority priority) noexcept {
        return {.first = delay, .priority = priority};
    }
    [[nodiscard]] static constexpr job_request at_fixed_rate(duration initial, duration interval,
                                                             const fixed_rate_options& o) noexcept {
        return {.mode = job_mode::fixed_rate,
                .first = initial,
                .period = interval,
                .priority = o.priority,
                .backlog_limit = o.backlog_limit,
                .burst_threshold = o.burst_threshold,
                .each = o.catch_up == catch_up_rule::each};
    }
    [[nodiscard]] static constexpr job_request with_fixed_delay(
        duration initial, duration delay, const fixed_delay_options& o) noexcept {
        return {.mode = job_mode::fixed_delay,
                .first = initial,
                .period = delay,
                .priority = o.priority,
                .after_sent = o.after == delay_after::sent,
                .metadata = o.metadata};
    }

    [[nodiscard]] constexpr job_request send(mailbox_index whom,
                                             mailbox_index from) const noexcept {
        job_request r = *this;
        r.to = whom;
        r.sender = from;
        return r;
    }
    [[nodiscard]] constexpr job_request run_on(std::uint16_t dispatcher) const noexcept {
        job_request r = *this;
        r.executor = dispatcher;
        return r;
    }
};

}  // namespace tactus::inline v0
