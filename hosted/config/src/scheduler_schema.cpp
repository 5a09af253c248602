// SPDX-License-Identifier: Apache-2.0
//
// The rows of the section `scheduler` (SC-26, SC-31, SC-37). Whether the values go together is
// asked when all are read: validate() of a scheduler_config.
#include "schema.hpp"

#include "duration_text.hpp"

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
complaint read_profile(const value& v, std::optional<scheduler_profile>& to) {
    using enum scheduler_profile;
    return read_name(v,
                     {{name_of(micro), micro},
                      {name_of(tiny), tiny},
                      {name_of(small), small},
                      {name_of(standard), standard},
                      {name_of(large), large},
                      {name_of(unbounded), unbounded}},
                     to.emplace());
}
complaint read_ticks(const value& v, std::optional<std::uint32_t>& to) {
    constexpr auto most = std::numeric_limits<std::uint32_t>::max();
    if (v.is != shape::integer || v.number < 0 || v.number > most)
        return "expected an integer from 1 to 4294967295, " + found(v);
    to = static_cast<std::uint32_t>(v.number);
    return {};
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
     [](const value& v, s& to) { return read_ticks(v, to.chunk_ticks); },
     [](const s&) { return std::to_string(usual.chunk_ticks); },
     "ticks that are processed at once at most"},
    {"shutdown_timeout", "duration",
     [](const value& v, s& to) { return read_time(v, to.shutdown_timeout); },
     [](const s&) { return quoted(to_text(usual.shutdown_timeout)); },
     "how long tasks of the close may take"},
    {"fixed_rate_catch_up", R"("fold" or "each")",
     [](const value& v, s& to) { return read_catch_up(v, to.fixed_rate_catch_up); },
     [](const s&) { return quoted(name_of(catch_up_rule::fold)); },
     "what becomes of periods that were missed: one run for all, or each; pekko: each"},
    {"fixed_delay_after", R"("handled" or "sent")",
     [](const value& v, s& to) { return read_after(v, to.fixed_delay_after); },
     [](const s&) { return quoted(name_of(delay_after::handled)); },
     "when the next wait of a fixed delay begins; pekko: sent"},
});

}  // namespace

std::span<const field<scheduler_setting>> scheduler_fields() {
    return rows;
}

scheduler_config scheduler_setting::over(system_preset preset) const noexcept {
    scheduler_config c = scheduler_defaults(preset).config;
    c.resolution = resolution.value_or(c.resolution);
    c.zero_delay = zero_delay.value_or(c.zero_delay);
    c.profile = profile.value_or(c.profile);
    if (catch_up)
        c.catch_up = catch_up;
    c.chunk_ticks = chunk_ticks.value_or(c.chunk_ticks);
    c.shutdown_timeout = shutdown_timeout.value_or(c.shutdown_timeout);
    return c;
}

timer_policy scheduler_setting::policy_over(system_preset preset) const noexcept {
    timer_policy p = scheduler_defaults(preset).policy;
    p.fixed_rate.catch_up = fixed_rate_catch_up.value_or(p.fixed_rate.catch_up);
    p.fixed_delay.after = fixed_delay_after.value_or(p.fixed_delay.after);
    return p;
}

}  // namespace tactus::inline v0::config
