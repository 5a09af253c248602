// SPDX-License-Identifier: Apache-2.0
//
// Making: a scheduler from its options, and its end.
#include <tactus/scheduler/scheduler.hpp>

#include <limits>

namespace tactus::inline v0 {

TACTUS_CHECK_MODULE("scheduler");
namespace {

/// Handles of two schedulers tell apart.
std::uint32_t next_serial() noexcept {
    static port::atomic<std::uint32_t> last{0};
    const std::uint32_t mine = last.fetch_add(1, std::memory_order_relaxed) + 1;
    return mine != 0 ? mine : last.fetch_add(1, std::memory_order_relaxed) + 1;
}

/// SC-3.
duration longest(duration resolution) noexcept {
    return resolution * std::int64_t{std::numeric_limits<std::int32_t>::max()};
}

std::uint32_t timers_of(const scheduler_options& o) noexcept {
    const std::uint32_t bounded = capacity_of(o.config).timers;
    return bounded == scheduler_capacity::unlimited ? o.timers_max : bounded;
}

timer_wheel_options wheel_of(const scheduler_options& o) noexcept {
    timer_wheel_options w;
    const std::uint32_t overflow = capacity_of(o.config).overflow;
    w.resolution = o.config.resolution;
    w.start = o.time->now();
    w.timers_max = timers_of(o);
    if (overflow != scheduler_capacity::unlimited)
        w.overflow_max = overflow;
    w.nodes = o.nodes;
    w.overflow = o.overflow;
    w.max_timer_duration = longest(o.config.resolution);
    return w;
}

}  // namespace

detail::scheduler_state::scheduler_state(const scheduler_options& o, scheduler& of) noexcept
    : time_(*o.time),
      scale_(o.config.resolution),
      maximum_delay_(longest(o.config.resolution)),
      memory_(o.memory),
      slot_(o.slot),
      listener_(o.listener),
      services_(o.services),
      shutdown_timeout_(o.config.shutdown_timeout),
      diagnostics_capacity_(o.config.diagnostics_capacity),
      serial_(next_serial()),
      quota_(capacity_of(o.config).timers),
      timers_limit_(timers_of(o)),
      overflow_limit_(capacity_of(o.config).overflow),
      zero_delay_(o.config.zero_delay),
      clock_kind_(o.config.clock),
      fixed_rate_(o.fixed_rate),
      fixed_delay_(o.fixed_delay),
      wheel_(wheel_of(o)),
      store_({.memory = o.jobs, .capacity = scheduler::cells_for(timers_of(o)), .spares = spares},
             of),
      pressure_(o.config, scale_.floor(o.time->now())),
      sure_below_(timers_limit_),
      observed_at_(scale_.floor(o.time->now())) {}

scheduler::scheduler(const scheduler_options& o) noexcept : detail::scheduler_state(o, *this) {
    if (services_ != nullptr)
        services_->drift.set_budget({.clock = clock_kind_, .resolution = scale_.resolution()});
    TACTUS_CHECK(1, validate(o.config).has_value());
}

scheduler::~scheduler() {
    (void)close();
}

}  // namespace tactus::inline v0
