// SPDX-License-Identifier: Apache-2.0
//
// Backpressure: from what is seen to events, and from events to states.
#include <tactus/scheduler/backpressure.hpp>

#include <tactus/base/check.hpp>

namespace tactus::inline v0 {

TACTUS_CHECK_MODULE("backpressure");

using cause = backpressure_cause;
using state = backpressure_state;

void pressure_warnings::add(const scheduler_warning& w) noexcept {
    TACTUS_CHECK(4, count_ < count_max);
    warnings_[count_++] = w;
}

backpressure::backpressure(const options& o) noexcept
    : options_(o), judge_(o.window), last_(o.start) {
    TACTUS_CHECK(1, o.window >= 1);
    TACTUS_CHECK(2, o.chunk_ticks >= 1);
}

backpressure::backpressure(const scheduler_config& config, tick start) noexcept
    : backpressure(options{.window = static_cast<std::uint32_t>(catch_up_ticks(config)),
                           .quota = capacity_of(config).timers,
                           .adaptive_quota = adaptive_quota_of(capacity_of(config).timers,
                                                               config.adaptive_quota_divisor),
                           .cooldown_ticks = config.cooldown_ticks,
                           .chunk_ticks = config.chunk_ticks,
                           .start = start}) {}

std::uint32_t backpressure::chunk_ticks() const noexcept {
    if (state_ == state::normal || options_.chunk_ticks == 1)
        return options_.chunk_ticks;
    return options_.chunk_ticks / 2;
}

void backpressure::look(const observation& seen) noexcept {
    const bool was_above = judge_.backlog() > judge_.window();
    const bool same_tick = seen.now == last_;
    if (same_tick)
        judge_.look_again(seen.backlog);
    else
        judge_.look(seen.backlog);
    if (seen.backlog > backlog_peak_)
        backlog_peak_ = seen.backlog;
    if (seen.backlog > judge_.window() && !(same_tick && was_above))
        ++above_window_;
}

bool backpressure::has_recovered(const observation& seen) const noexcept {
    if (seen.now - rejecting_since_ < options_.cooldown_ticks)
        return false;
    return cause_ == cause::adaptive_quota ? seen.active < options_.adaptive_quota
                                           : judge_.is_recovered(seen.backlog);
}

pressure_warnings backpressure::observe(const observation& seen) noexcept {
    TACTUS_CHECK(3, seen.now >= last_);
    pressure_warnings out;
    // Ticks after the last observation and before the deadline that is late: nothing was due.
    const tick elapsed = seen.now - last_;
    const bool was_idle = elapsed > 1 && elapsed - 1 > seen.backlog;
    if (was_idle)
        judge_.interrupt();
    look(seen);
    last_ = seen.now;

    if (judge_.status().state == tick_state::stalled) {
        if (!stall_told_)
            out.add({.kind = scheduler_warning_kind::driver_catch_up_exceeded,
                     .cause = cause::driver,
                     .value = static_cast<std::int64_t>(seen.backlog),
                     .limit = judge_.window()});
        stall_told_ = true;
        apply(backpressure_event::stalled, seen.now, out);
        return out;
    }
    stall_told_ = false;
    if (seen.backlog > judge_.window())
        apply(backpressure_event::behind, seen.now, out);
    if (seen.gauge_engaged)
        apply(backpressure_event::engaged, seen.now, out);

    const bool calm = judge_.is_calm(seen.backlog) && !seen.gauge_engaged;
    const unsigned steps = elapsed == 0 ? 0 : was_idle ? 2 : 1;
    for (unsigned i = 0; i < steps; ++i) {
        if (state_ == state::rejecting && has_recovered(seen))
            apply(backpressure_event::recovered, seen.now, out);
        else if (calm)
            apply(backpressure_event::calm, seen.now, out);
    }
    // Which of the two holds it now; when neither does, what led here.
    if (state_ == state::backpressure && !calm)
        cause_ = judge_.is_calm(seen.backlog) ? cause::gauge : cause::driver;
    return out;
}

void backpressure::apply(backpressure_event event, tick now, pressure_warnings& out) noexcept {
    const backpressure_row& row = row_of(state_, event);
    if (row.cause != cause::none)
        cause_ = row.cause;
    if (row.to == state::rejecting && row.cause != cause::none)
        rejecting_since_ = now;
    if (row.to == state_)
        return;
    state_ = row.to;
    out.add({.kind = scheduler_warning_kind::backpressure_state,
             .cause = cause_,
             .value = state_ == state::normal ? 0 : 1,
             .limit = static_cast<std::int64_t>(state_)});
    if (state_ == state::normal)
        cause_ = cause::none;
}

backpressure::admission backpressure::refuse(const request& wanted, scheduler_errc code,
                                             std::uint32_t limit) noexcept {
    ++refused_[static_cast<std::size_t>(cause_)];
    // BP-9: without bounds there is no such quota.
    const std::uint32_t told = limit != scheduler_capacity::unlimited ? limit : 0;
    return {std::unexpected(scheduler_error{
                .code = code, .cause = cause_, .value = wanted.active, .limit = told}),
            {}};
}

backpressure::admission backpressure::admit(const request& wanted) noexcept {
    constexpr auto refused = scheduler_errc::backpressured;
    if (state_ == state::rejecting ||
        (state_ == state::backpressure && wanted.priority != timer_priority::high))
        return refuse(wanted, refused, options_.adaptive_quota);

    const bool adaptive = state_ == state::backpressure;
    const std::uint32_t limit = adaptive ? options_.adaptive_quota : options_.quota;
    if (wanted.active < limit) [[likely]] {
        quota_told_ = false;
        return {};
    }
    pressure_warnings warnings;
    apply(backpressure_event::no_quota, wanted.now, warnings);
    admission answer = refuse(wanted, adaptive ? refused : scheduler_errc::quota_exceeded, limit);
    answer.warnings = warnings;
    if (!quota_told_)
        answer.warnings.add({.kind = scheduler_warning_kind::quota_reached,
                             .cause = cause_,
                             .value = options_.quota,
                             .limit = options_.adaptive_quota});
    quota_told_ = true;
    return answer;
}

}  // namespace tactus::inline v0
