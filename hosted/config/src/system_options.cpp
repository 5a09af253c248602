// SPDX-License-Identifier: Apache-2.0
//
// What a file says about phases is said over the default ones.
#include <tactus/config/system_options.hpp>

#include "document.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace tactus::inline v0::config {
namespace {

std::chrono::nanoseconds to_std(duration d) {
    return d == duration::max() ? std::chrono::nanoseconds::max()
                                : std::chrono::nanoseconds(d.ns());
}

void say(const phase_setting& said, std::vector<shutdown_phase>& all) {
    auto at = std::ranges::find(all, said.name, &shutdown_phase::name);
    if (at == all.end())
        at = all.insert(at, shutdown_phase{.name = said.name});
    if (said.timeout)
        at->timeout = to_std(*said.timeout);
    at->recover = said.recover.value_or(at->recover);
    at->enabled = said.enabled.value_or(at->enabled);
    at->depends_on = said.depends_on.value_or(at->depends_on);
}

/// The section a fault is in: that of a phase it names, or all of it.
std::pair<std::size_t, std::string> place_of(const shutdown_setting& s, const shutdown_error& e) {
    if (e.what == shutdown_error::kind::contradiction)
        return {s.line, "coordinated_shutdown.terminate_system"};
    for (const phase_setting& p : s.phases) {
        if (p.depends_on && e.text.find(p.name) != std::string::npos)
            return {p.line, under("coordinated_shutdown.phases", p.name)};
    }
    return {s.line, "coordinated_shutdown"};
}

std::optional<config_error> fault_of_timers(const settings& from, const scheduler_config& c) {
    const scheduler_setting& s = from.scheduler;
    const bool is_custom = c.profile == scheduler_profile::custom;
    if (s.custom_line != 0 && !is_custom)
        return config_error{from.file, s.custom_line, "scheduler.custom",
                            "is for the profile 'custom', and here it is '" +
                                std::string(name_of(c.profile)) + "'"};
    const auto fine = validate(c);
    if (fine)
        return {};
    char text[200];
    const std::string said(describe(fine.error(), text));
    // "resolution: a tick of 0 ns ..."
    const std::size_t mark = said.find(": ");
    const std::string_view field = fine.error().field;
    const bool is_in_custom = field == "timers" || field == "overflow" || field == "tasks";
    return config_error{from.file, s.line,
                        under(is_in_custom ? "scheduler.custom" : "scheduler", field),
                        said.substr(mark + 2)};
}

/// The keys of a policy are those of its section.
std::optional<config_error> fault_of_policy(const settings& from, std::size_t line,
                                            const std::string& section, const timer_policy& p) {
    const auto fine = validate(p);
    if (fine)
        return {};
    char text[200];
    return config_error{from.file, line, under(section, fine.error().field),
                        std::string(describe(fine.error(), text))};
}

std::optional<config_error> read_policies(const settings& from, actor_system::options& to) {
    const scheduler_setting& s = from.scheduler;
    const timer_policy usual = from.timer_policy();
    to.timer_policy = usual;
    if (auto wrong = fault_of_policy(from, s.line, "scheduler", usual))
        return wrong;
    const auto add = [&](const timer_policy_setting& said, const timer_policy& base,
                         std::string_view section, std::string_view of,
                         timer_policy& p) -> std::optional<config_error> {
        p = said.said_over(base);
        return fault_of_policy(from, said.line, under(section, of), p);
    };
    timer_policy_rules& rules = to.timer_policies;
    for (const auto& [id, said] : s.dispatcher_policies) {
        if (auto wrong =
                add(said, usual, "scheduler.policies.dispatchers", id, rules.dispatchers[id]))
            return wrong;
    }
    for (const auto& [guardian, said] : s.guardian_policies) {
        if (auto wrong = add(said, usual, "scheduler.policies.guardians", name_of(guardian),
                             rules.guardians[guardian]))
            return wrong;
    }
    for (const auto& [subsystem, said] : s.subsystem_policies) {
        const bool is_runtime = subsystem == timer_subsystem::runtime;
        const std::string name =
            is_runtime ? "runtime" : std::to_string(static_cast<std::uint16_t>(subsystem));
        if (auto wrong = add(said, is_runtime ? timer_policy::of(timer_priority::high) : usual,
                             "scheduler.policies.subsystems", name, rules.subsystems[subsystem]))
            return wrong;
    }
    return {};
}

}  // namespace

std::expected<actor_system::options, config_error> system_options(const settings& from) {
    actor_system::options o;
    const system_setting& y = from.system;
    o.shutdown_limit = to_std(y.shutdown_limit);
    o.then = y.on_shutdown_limit == system_setting::at_limit::abort
                 ? actor_system::at_limit::abort
                 : actor_system::at_limit::detach;
    o.log_level = y.level;
    o.log_unhandled = y.log_unhandled;
    o.shutdown_on_signals = y.signals;
    o.dead_letters = {.max = y.dead_letters_max,
                      .suspend = to_std(y.dead_letters_suspend),
                      .during_shutdown = y.dead_letters_during_shutdown};

    const shutdown_setting& c = from.coordinated_shutdown;
    o.shutdown.default_timeout = to_std(c.default_timeout);
    if (c.limit != duration::max())
        o.shutdown.limit = to_std(c.limit);
    o.shutdown.run_by_terminate = c.run_by_terminate;
    o.shutdown.terminate_system = c.terminate_system;
    o.shutdown.exit = c.exit;
    o.shutdown.exit_code = c.exit_code;
    for (const phase_setting& p : c.phases)
        say(p, o.shutdown.phases);
    if (const auto wrong = fault_of(o.shutdown)) {
        auto [line, key] = place_of(c, *wrong);
        return std::unexpected(config_error{from.file, line, std::move(key), wrong->text});
    }

    o.scheduler = from.timers();
    o.on_close_tasks = from.scheduler.on_close_tasks;
    o.drift_budget_percent = from.scheduler.drift_budget_percent.value_or(o.drift_budget_percent);
    o.driver_stops = from.scheduler.driver_stops;
    if (auto wrong = fault_of_timers(from, o.scheduler))
        return std::unexpected(std::move(*wrong));
    if (auto wrong = read_policies(from, o))
        return std::unexpected(std::move(*wrong));

    for (const dispatcher_setting& d : from.dispatchers) {
        if (d.id == default_dispatcher_id)
            o.dispatcher = d.config;
    }
    o.rules = from.rules();
    o.guardian_strategy = supervision_defaults(from.preset.value_or(system_preset::tactus));
    o.pacing = o.guardian_strategy.pacing;
    o.names = [kept = std::make_shared<const settings>(from)](
                  resolver& to) -> std::expected<void, std::string> {
        if (const auto filled = fill(*kept, to); !filled)
            return std::unexpected(filled.error().message());
        return {};
    };
    return o;
}

std::expected<actor_system::options, config_error> read_system_options(const std::string& file) {
    const auto read = read_settings(file);
    if (!read)
        return std::unexpected(read.error());
    return system_options(*read);
}

}  // namespace tactus::inline v0::config
