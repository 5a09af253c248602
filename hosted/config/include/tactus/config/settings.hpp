// SPDX-License-Identifier: Apache-2.0
//
// Settings: dispatchers, mailboxes, aliases, deployments and requirements, the log and the end of a
// system from one TOML or JSON file that the program names (DR-3, DR-6).
//
//     auto read = config::read_settings("app.toml");
//     resolver names({.memory = &heap, .rules = read->rules()});
//     auto filled = config::fill(*read, names);
//
// There is no search path and no environment. What is not understood is refused, with file, line
// and key: unknown keys (and what may have been meant), values of the wrong kind or out of range.
// Files are regular files of well-formed UTF-8, at most 1 MiB, nested at most 8 deep.
// docs/dispatchers.md has the table of settings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tactus/actor/log.hpp>
#include <tactus/dispatch/dispatch_rules.hpp>
#include <tactus/dispatch/dispatcher_config.hpp>
#include <tactus/dispatch/resolver.hpp>
#include <tactus/mailbox/mailbox_options.hpp>
#include <tactus/scheduler/driver_keeper.hpp>
#include <tactus/scheduler/scheduler_config.hpp>
#include <tactus/scheduler/scheduler_defaults.hpp>
#include <tactus/time/instant.hpp>

namespace tactus::inline v0::config {

inline constexpr std::size_t file_size_max = 1'048'576;
inline constexpr std::size_t depth_max = 8;

struct config_error {
    std::string file;
    std::size_t line = 0;  // from 1; 0: the file as a whole
    std::string key;       // with its sections, "dispatchers.worker.throughput"; may be empty
    std::string text;

    /// "app.toml:12: dispatchers.worker.troughput: unknown key, did you mean 'throughput'?"
    [[nodiscard]] std::string message() const;
};

struct dispatcher_setting {
    std::string id;
    std::size_t line = 0;
    dispatcher_config config = {};  // its mailbox is empty: see below
    std::string mailbox = {};
};
struct mailbox_setting {
    std::string id;
    std::size_t line = 0;
    mailbox_options options = {};
};
struct alias_setting {
    std::string alias;
    std::size_t line = 0;
    std::string target = {};
};
struct deployment_setting {
    std::string path;
    std::size_t line = 0;
    std::string dispatcher = {};
    std::string mailbox = {};
};
struct requirement_setting {
    capability_set required;
    std::size_t line = 0;
    std::string mailbox = {};
};

/// How the system ends and what it logs; see system_options.hpp.
struct system_setting {
    enum class at_limit { abort, detach };
    duration shutdown_limit = duration::from_s(10);
    at_limit on_shutdown_limit = at_limit::detach;
    log_level level = log_level::info;
    bool log_unhandled = false;
    bool signals = false;
    std::uint32_t dead_letters_max = 10;  // the largest there is: all of them
    duration dead_letters_suspend = duration::from_s(5 * 60);
    bool dead_letters_during_shutdown = false;
    friend bool operator==(const system_setting&, const system_setting&) = default;
};
/// What is not said is as it is by default, or, of a phase that is not there by default, as that of
/// a phase that says nothing.
struct phase_setting {
    std::string name;
    std::size_t line = 0;
    std::optional<duration> timeout = {};
    std::optional<bool> recover = {};
    std::optional<bool> enabled = {};
    std::optional<std::vector<std::string>> depends_on = {};
};
struct shutdown_setting {
    std::size_t line = 0;  // of its section; 0: there is none
    duration default_timeout = duration::from_s(5);
    duration limit = duration::max();  // none: the sum of the phases
    bool run_by_terminate = true;
    bool terminate_system = true;
    bool exit = false;
    int exit_code = 0;
    std::vector<phase_setting> phases = {};
};

/// A policy of timers (SC-5): of the section itself, or of a dispatcher, guardian or subsystem.
struct timer_policy_setting {
    std::size_t line = 0;  // of its section or table; 0: there is none
    std::optional<timer_priority> priority = {};
    std::optional<std::uint32_t> backlog_limit = {};
    std::optional<std::uint32_t> burst_threshold = {};
    std::optional<catch_up_rule> fixed_rate_catch_up = {};
    std::optional<delay_after> fixed_delay_after = {};

    /// What is said, over `p`.
    [[nodiscard]] timer_policy said_over(timer_policy p) const noexcept;
};
template <class Origin>
struct timer_policy_entry {
    Origin of;
    timer_policy_setting setting;
};

/// What is not said is as the preset says, or as it is by default.
struct scheduler_setting : timer_policy_setting {
    std::optional<duration> resolution = {};
    std::optional<zero_delay_rule> zero_delay = {};
    std::optional<scheduler_profile> profile = {};
    std::optional<duration> catch_up = {};
    std::optional<std::uint32_t> chunk_ticks = {};
    std::optional<std::uint32_t> adaptive_quota_divisor = {};
    std::optional<std::uint32_t> cooldown_ticks = {};
    std::optional<std::uint32_t> diagnostics_capacity = {};
    std::optional<duration> shutdown_timeout = {};
    std::optional<std::uint32_t> on_close_tasks = {};
    std::optional<std::uint32_t> drift_budget_percent = {};
    std::size_t custom_line = 0;     // of its table; 0: there is none
    scheduler_capacity custom = {};  // of the profile custom
    driver_policy driver_stops = {};
    std::vector<timer_policy_entry<std::string>> dispatcher_policies = {};  // by id
    std::vector<timer_policy_entry<timer_guardian>> guardian_policies = {};
    std::vector<timer_policy_entry<timer_subsystem>> subsystem_policies = {};

    /// All of it, over the defaults of the preset.
    [[nodiscard]] scheduler_config over(system_preset preset) const noexcept;
    /// The same of options of timers.
    [[nodiscard]] timer_policy policy_over(system_preset preset) const noexcept;
};

/// What a file says, in the order in which it says it.
struct settings {
    std::string file;
    std::optional<system_preset> preset = {};
    std::vector<dispatcher_setting> dispatchers = {};
    std::vector<mailbox_setting> mailboxes = {};
    std::vector<alias_setting> aliases = {};
    std::vector<deployment_setting> deployments = {};
    std::vector<requirement_setting> requirements = {};
    system_setting system = {};
    shutdown_setting coordinated_shutdown = {};
    scheduler_setting scheduler = {};

    /// Of the preset, for the resolver's options.
    [[nodiscard]] dispatch_rules rules() const noexcept {
        return dispatch_rules::of(preset.value_or(system_preset::tactus));
    }
    /// The same for timers (SC-26).
    [[nodiscard]] scheduler_config timers() const noexcept {
        return scheduler.over(preset.value_or(system_preset::tactus));
    }
    [[nodiscard]] tactus::timer_policy timer_policy() const noexcept {
        return scheduler.policy_over(preset.value_or(system_preset::tactus));
    }
};

enum class format { toml, json };

/// The format is that of the name: `.toml` or `.json`.
[[nodiscard]] std::expected<settings, config_error> read_settings(const std::string& file);
/// The same from memory; `file` is what errors call it.
[[nodiscard]] std::expected<settings, config_error> parse_settings(std::string_view text, format as,
                                                                   std::string_view file);

/// Adds all of it; the ids of DR-3, which are there already, are replaced. What stands before a
/// refused line has been added. A preset in the file must be the one the resolver was built with.
[[nodiscard]] std::expected<void, config_error> fill(const settings& from, resolver& to);

/// The keys that are understood, for people.
struct setting_info {
    std::string_view section;  // empty: at the top
    std::string_view key;      // "<id>" and the like where any is
    std::string_view value;
    std::string otherwise;  // the default as the file would say it; empty: none
    std::string_view meaning;
};
[[nodiscard]] std::vector<setting_info> known_settings();

}  // namespace tactus::inline v0::config
