// SPDX-License-Identifier: Apache-2.0
//
// The rows of the section `scheduler` (SC-26, SC-31, SC-37, BP-1, TS-7). Whether the values go
// together is asked when all are read: validate() of a scheduler_config.
#include "schema.hpp"

#include "duration_text.hpp"

#include <tactus/scheduler/drift_watch.hpp>

#include <array>
#include <limits>

namespace tactus::inline v0::config {
namespace {

using s = scheduler_setting;

constexpr scheduler_config usual = {};

complaint read_time(const value& v, std::optional<duration>& to) {
    return read_timeout(v, to.emplace());
}
complaint read_zero_delay(const value& v, std::optional<zero_delay_rule>& to) {
    using enum zero_delay_rule;
    return read_name(v, {{"reject", reject}, {"next_tick", next_tick}}, to.emplace());
}
complaint read_catch_up(const value& v, std::optional<catch_up_rule>& to) {
    using enum catch_up_rule;
    return read_name(v, {{name_of(fold), fold}, {name_of(each), each}}, to.emplace());
}
complaint read_after(const value& v, std::optional<delay_after>& to) {
    using enum delay_after;
    return read_name(v, {{name_of(handled), handled}, {name_of(sent), sent}}, to.emplace());
}
complaint read_priority(const value& v, std::optional<timer_priority>& to) {
    using enum timer_priority;
    return read_name(v, {{name_of(high), high}, {name_of(normal), normal}, {name_of(low), low}},
                     to.emplace());
}
complaint read_profile(const value& v, std::optional<scheduler_profile>& to) {
    using enum scheduler_profile;
    return read_name(v,
                     {{name_of(micro), micro},
                      {name_of(tiny), tiny},
                      {name_of(small), small},
                      {name_of(standard), standard},
                      {name_of(large), large},
                      {name_of(unbounded), unbounded},
                      {name_of(custom), custom}},
                     to.emplace());
}
complaint read_count(const value& v, std::uint32_t& to, char least = '0') {
    constexpr auto most = std::numeric_limits<std::uint32_t>::max();
    if (v.is != shape::integer || v.number < 0 || v.number > most)
        return std::string("expected an integer from ") + least + " to 4294967295, " + found(v);
    to = static_cast<std::uint32_t>(v.number);
    return {};
}
/// At least 1, which is asked with the rest.
complaint read_positive(const value& v, std::optional<std::uint32_t>& to) {
    return read_count(v, to.emplace(), '1');
}
complaint read_between(const value& v, std::optional<std::uint32_t>& to, std::uint32_t least,
                       std::uint32_t most) {
    if (v.is != shape::integer || v.number < least || v.number > most)
        return "expected an integer from " + std::to_string(least) + " to " + std::to_string(most) +
               ", " + found(v);
    to = static_cast<std::uint32_t>(v.number);
    return {};
}
complaint read_reaction(const value& v, driver_policy::kind& to) {
    using enum driver_policy::kind;
    return read_name(v, {{"retry", retry}, {"fail_fast", fail_fast}}, to);
}

constexpr auto rows = std::to_array<field<s>>({
    {"resolution", "duration, 1ns to 1s",
     [](const value& v, s& to) { return read_time(v, to.resolution); },
     [](const s&) { return quoted(to_text(usual.resolution)); },
     "the length of a tick; pekko: 10ms"},
    {"zero_delay", R"("reject" or "next_tick")",
     [](const value& v, s& to) { return read_zero_delay(v, to.zero_delay); },
     [](const s&) { return quoted("reject"); },
     "what a delay of zero is: an error, or the next tick; pekko: next_tick"},
    {"profile", "name of a profile",
     [](const value& v, s& to) { return read_profile(v, to.profile); },
     [](const s&) { return quoted(name_of(usual.profile)); }, "how many timers there may be"},
    {"catch_up", "duration", [](const value& v, s& to) { return read_time(v, to.catch_up); },
     [](const s&) { return std::string(); },
     "how late timers may be before new ones are refused; otherwise 50ms, at most 32 ticks"},
    {"chunk_ticks", "integer, 1 to 4294967295",
     [](const value& v, s& to) { return read_positive(v, to.chunk_ticks); },
     [](const s&) { return std::to_string(usual.chunk_ticks); },
     "ticks that are processed at once at most"},
    {"adaptive_quota_divisor", "integer, 1 to 4294967295",
     [](const value& v, s& to) { return read_positive(v, to.adaptive_quota_divisor); },
     [](const s&) { return std::to_string(usual.adaptive_quota_divisor); },
     "under backpressure so many times fewer timers than the profile has"},
    {"cooldown_ticks", "integer, 0 to 4294967295",
     [](const value& v, s& to) { return read_count(v, to.cooldown_ticks.emplace()); },
     [](const s&) { return std::to_string(usual.cooldown_ticks); },
     "how long timers are rejected at least"},
    {"diagnostics_capacity", "integer, 1 to 1048576",
     [](const value& v, s& to) { return read_positive(v, to.diagnostics_capacity); },
     [](const s&) { return std::to_string(usual.diagnostics_capacity); },
     "events in the queue of who subscribes"},
    {"shutdown_timeout", "duration",
     [](const value& v, s& to) { return read_time(v, to.shutdown_timeout); },
     [](const s&) { return quoted(to_text(usual.shutdown_timeout)); },
     "how long tasks of the close may take"},
    {"on_close_tasks", "integer, 1 to 1024",
     [](const value& v, s& to) {
         return read_between(v, to.on_close_tasks, 1, scheduler_capacity_max.tasks);
     },
     [](const s&) { return std::string(); },
     "how many on-close tasks there may be; otherwise as the profile says"},
    {"drift_budget_percent", "integer, 0 to 100",
     [](const value& v, s& to) {
         return read_between(v, to.drift_budget_percent, 0, drift_watch::percent_max);
     },
     [](const s&) { return std::to_string(drift_watch::default_percent); },
     "how late a tick may be processed without a warning, of the resolution; three times the "
     "driver's jitter, if that is more"},
});

using policy = timer_policy_setting;
constexpr auto policy_rows = std::to_array<field<policy>>({
    {"fixed_rate_catch_up", R"("fold" or "each")",
     [](const value& v, policy& to) { return read_catch_up(v, to.fixed_rate_catch_up); },
     [](const policy&) { return quoted(name_of(catch_up_rule::fold)); },
     "what becomes of periods that were missed: one run for all, or each; pekko: each"},
    {"fixed_delay_after", R"("handled" or "sent")",
     [](const value& v, policy& to) { return read_after(v, to.fixed_delay_after); },
     [](const policy&) { return quoted(name_of(delay_after::handled)); },
     "when the next wait of a fixed delay begins; pekko: sent"},
    {"priority", R"("high", "normal" or "low")",
     [](const value& v, policy& to) { return read_priority(v, to.priority); },
     [](const policy&) { return quoted(name_of(timer_priority::normal)); },
     "of timers of every mode: high alone is accepted under backpressure"},
    {"backlog_limit", "integer, 1 to 4294967295",
     [](const value& v, policy& to) { return read_positive(v, to.backlog_limit); },
     [](const policy&) { return std::to_string(no_backlog_limit); },
     "a fixed rate that missed more runs is cancelled; 4294967295: none is"},
    {"burst_threshold", "integer, 1 to backlog_limit",
     [](const value& v, policy& to) { return read_positive(v, to.burst_threshold); },
     [](const policy&) { return std::to_string(fixed_rate_options{}.burst_threshold); },
     "a fixed rate that missed more runs at once is warned of"},
});

using capacity = scheduler_capacity;
constexpr auto custom_rows = std::to_array<field<capacity>>({
    {"timers", "integer, 1 to 25600",
     [](const value& v, capacity& to) { return read_count(v, to.timers, '1'); },
     [](const capacity&) { return std::string(); }, "of the profile custom: how many there may be"},
    {"overflow", "integer, 0 to 6400",
     [](const value& v, capacity& to) { return read_count(v, to.overflow); },
     [](const capacity& of) { return std::to_string(of.overflow); },
     "of these, how many may be more than a day away"},
    {"tasks", "integer, 1 to 1024",
     [](const value& v, capacity& to) { return read_count(v, to.tasks, '1'); },
     [](const capacity&) { return std::string(); }, "on-close tasks"},
});

using reaction = driver_policy;
constexpr auto driver_stops_rows = std::to_array<field<reaction>>({
    {"what", "\"retry\" or \"fail_fast\"",
     [](const value& v, reaction& to) { return read_reaction(v, to.what); },
     [](const reaction&) { return quoted("retry"); },
     "a driver that stops by itself is started again, or the system ends"},
    {"attempts", "integer, 0 to 4294967295",
     [](const value& v, reaction& to) { return read_count(v, to.attempts); },
     [](const reaction& of) { return std::to_string(of.attempts); },
     "how often in a row; then the system ends"},
    {"apart", "duration", [](const value& v, reaction& to) { return read_timeout(v, to.apart); },
     [](const reaction& of) { return quoted(to_text(of.apart)); }, "how long after each other"},
});

}  // namespace

std::span<const field<scheduler_setting>> scheduler_fields() {
    return rows;
}
std::span<const field<timer_policy_setting>> timer_policy_fields() {
    return policy_rows;
}
std::span<const field<scheduler_capacity>> custom_profile_fields() {
    return custom_rows;
}
std::span<const field<driver_policy>> driver_stops_fields() {
    return driver_stops_rows;
}

scheduler_config scheduler_setting::over(system_preset preset) const noexcept {
    scheduler_config c = scheduler_defaults(preset).config;
    c.resolution = resolution.value_or(c.resolution);
    c.zero_delay = zero_delay.value_or(c.zero_delay);
    c.profile = profile.value_or(c.profile);
    if (catch_up)
        c.catch_up = catch_up;
    c.chunk_ticks = chunk_ticks.value_or(c.chunk_ticks);
    c.custom = custom;
    c.adaptive_quota_divisor = adaptive_quota_divisor.value_or(c.adaptive_quota_divisor);
    c.cooldown_ticks = cooldown_ticks.value_or(c.cooldown_ticks);
    c.diagnostics_capacity = diagnostics_capacity.value_or(c.diagnostics_capacity);
    c.shutdown_timeout = shutdown_timeout.value_or(c.shutdown_timeout);
    return c;
}

timer_policy scheduler_setting::policy_over(system_preset preset) const noexcept {
    return said_over(scheduler_defaults(preset).policy);
}

timer_policy timer_policy_setting::said_over(timer_policy p) const noexcept {
    if (priority) {
        p.one_shot = *priority;
        p.fixed_rate.priority = *priority;
        p.fixed_delay.priority = *priority;
    }
    p.fixed_rate.backlog_limit = backlog_limit.value_or(p.fixed_rate.backlog_limit);
    p.fixed_rate.burst_threshold = burst_threshold.value_or(p.fixed_rate.burst_threshold);
    p.fixed_rate.catch_up = fixed_rate_catch_up.value_or(p.fixed_rate.catch_up);
    p.fixed_delay.after = fixed_delay_after.value_or(p.fixed_delay.after);
    return p;
}

}  // namespace tactus::inline v0::config
