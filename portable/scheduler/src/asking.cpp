// SPDX-License-Identifier: Apache-2.0
//
// Asking: what a request may say, and what it leaves to others: policies and the dispatcher (SC-3,
// SC-5, SC-9, SC-14).
#include <tactus/scheduler/scheduler.hpp>

#include <tactus/dispatch/turn.hpp>

namespace tactus::inline v0 {

using detail::job_kind;

std::optional<scheduler_error> scheduler::fault_of(duration d, const char* field) const noexcept {
    const bool is_period = field[0] == 'p';
    const bool is_usable =
        d > duration::zero() || (!is_period && zero_delay_ == zero_delay_rule::next_tick);
    if (is_usable && d <= maximum_delay_)
        return std::nullopt;
    return scheduler_error{.code = scheduler_errc::invalid_delay,
                           .field = field,
                           .value = d.ns(),
                           .limit = maximum_delay_.ns()};
}

std::optional<scheduler_error> scheduler::fault_of(const job_request& r,
                                                   job_kind kind) const noexcept {
    if (const auto fault = fault_of(r.first, "delay"))
        return fault;
    // SC-9: it would fail at every run. Of a message it is only where policies look.
    if (kind == job_kind::function && r.executor != timer_affinity::no_dispatcher &&
        kernel_->dispatcher_at(r.executor) == nullptr)
        return no_dispatcher_at(r.executor);
    if (r.mode == job_mode::one_shot)
        return std::nullopt;
    if (r.mode == job_mode::fixed_rate ? !fixed_rate_ : !fixed_delay_)  // SC-14
        return scheduler_error{.code = scheduler_errc::unsupported_mode,
                               .value = static_cast<int>(r.mode)};
    if (const auto fault = fault_of(r.period, "period"))
        return fault;
    const auto invalid = [](const char* field, std::int64_t value, std::int64_t limit) {
        return scheduler_error{.code = scheduler_errc::invalid_options,
                               .field = field,
                               .value = value,
                               .limit = limit};
    };
    if (r.mode == job_mode::fixed_rate) {
        if (r.backlog_limit == 0)
            return invalid("backlog_limit", 0, 1);
        if (r.burst_threshold == 0)
            return invalid("burst_threshold", 0, 1);
        if (r.burst_threshold > r.backlog_limit)
            return invalid("burst_threshold", r.burst_threshold, r.backlog_limit);
    }
    return std::nullopt;
}

scheduler_error scheduler::no_dispatcher_at(std::uint16_t number) const noexcept {
    std::uint32_t last = number;
    while (last > 0 && kernel_->dispatcher_at(last) == nullptr)
        --last;
    return {.code = scheduler_errc::invalid_options,
            .field = "dispatcher",
            .value = number,
            .limit = last};
}

// SC-9
std::uint16_t scheduler::callers_dispatcher() const noexcept {
    const turn* const t = turn::current();
    const bool is_ours = t != nullptr && &t->system() == kernel_;
    return is_ours ? static_cast<std::uint16_t>(t->place().dispatcher_number()) : 0;
}

timer_policy scheduler::find_policy(timer_affinity from) const noexcept {
    if (from.dispatcher == timer_affinity::no_dispatcher)
        from.dispatcher = callers_dispatcher();
    return services_->policy_of(from);
}

}  // namespace tactus::inline v0
