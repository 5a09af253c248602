// SPDX-License-Identifier: Apache-2.0
//
// The rows of the sections `system` and `coordinated_shutdown`.
#include "schema.hpp"

#include "duration_text.hpp"

#include <array>
#include <limits>

namespace tactus::inline v0::config {
namespace {

constexpr std::uint32_t all_of_them = std::numeric_limits<std::uint32_t>::max();

complaint read_flag(const value& v, bool& to) {
    if (v.is != shape::boolean)
        return "expected true or false, " + found(v);
    to = v.number != 0;
    return {};
}
complaint read_flag(const value& v, std::optional<bool>& to) {
    return read_flag(v, to.emplace());
}
complaint read_at_limit(const value& v, system_setting::at_limit& to) {
    using enum system_setting::at_limit;
    return read_name(v, {{"abort", abort}, {"detach", detach}}, to);
}
complaint read_level(const value& v, log_level& to) {
    using enum log_level;
    return read_name(v,
                     {{name_of(off), off},
                      {name_of(error), error},
                      {name_of(warning), warning},
                      {name_of(info), info},
                      {name_of(debug), debug}},
                     to);
}
complaint read_max(const value& v, std::uint32_t& to) {
    if (v.is == shape::text && v.text == "unlimited") {
        to = all_of_them;
        return {};
    }
    if (v.is != shape::integer || v.number < 0 || v.number >= all_of_them)
        return "expected an integer from 0 to 4294967294 or \"unlimited\", " + found(v);
    to = static_cast<std::uint32_t>(v.number);
    return {};
}
complaint read_exit_code(const value& v, int& to) {
    if (v.is != shape::integer || v.number < 0 || v.number > 255)
        return "expected an integer from 0 to 255, " + found(v);
    to = static_cast<int>(v.number);
    return {};
}
complaint read_phase_names(const value& v, std::optional<std::vector<std::string>>& to) {
    if (v.is != shape::array)
        return "expected a list of phases, " + found(v);
    to.emplace();
    for (const value& name : v.parts) {
        if (name.is != shape::text || name.text.empty())
            return "expected names of phases in the list, " + found(name);
        to->push_back(name.text);
    }
    return {};
}

std::string show(bool b) {
    return b ? "true" : "false";
}

using y = system_setting;
using c = shutdown_setting;
using p = phase_setting;

constexpr auto system_rows = std::to_array<field<y>>({
    {"shutdown_limit", "duration",
     [](const value& v, y& s) { return read_timeout(v, s.shutdown_limit); },
     [](const y& s) { return quoted(to_text(s.shutdown_limit)); },
     "how long the destructor waits for the actors' end"},
    {"on_shutdown_limit", R"("abort" or "detach")",
     [](const value& v, y& s) { return read_at_limit(v, s.on_shutdown_limit); },
     [](const y& s) {
         return quoted(s.on_shutdown_limit == y::at_limit::abort ? "abort" : "detach");
     },
     "what it does when actors are left: end the process, or leave their threads behind"},
    {"log_level", "name of a level", [](const value& v, y& s) { return read_level(v, s.level); },
     [](const y& s) { return quoted(name_of(s.level)); },
     "what is logged: this, and what is worse"},
    {"log_unhandled", "true or false",
     [](const value& v, y& s) { return read_flag(v, s.log_unhandled); },
     [](const y& s) { return show(s.log_unhandled); },
     "a line of the level debug for every unhandled message"},
    {"signals", "true or false", [](const value& v, y& s) { return read_flag(v, s.signals); },
     [](const y& s) { return show(s.signals); },
     "SIGTERM and SIGINT run the coordinated shutdown; the second one ends the process"},
});

constexpr auto dead_letter_rows = std::to_array<field<y>>({
    {"max", "integer, 0 to 4294967294, or \"unlimited\"",
     [](const value& v, y& s) { return read_max(v, s.dead_letters_max); },
     [](const y& s) { return std::to_string(s.dead_letters_max); },
     "lines about lost messages before it is quiet; 0: none"},
    {"suspend", "duration or \"none\"",
     [](const value& v, y& s) { return read_duration(v, s.dead_letters_suspend); },
     [](const y& s) { return quoted(to_text(s.dead_letters_suspend)); },
     "how long it is quiet; none: for good"},
    {"during_shutdown", "true or false",
     [](const value& v, y& s) { return read_flag(v, s.dead_letters_during_shutdown); },
     [](const y& s) { return show(s.dead_letters_during_shutdown); },
     "lines while a shutdown ends the system"},
});

constexpr auto shutdown_rows = std::to_array<field<c>>({
    {"default_timeout", "duration",
     [](const value& v, c& s) { return read_timeout(v, s.default_timeout); },
     [](const c& s) { return quoted(to_text(s.default_timeout)); },
     "of phases that say nothing about it"},
    {"limit", "duration or \"none\"",
     [](const value& v, c& s) {
         return v.is == shape::text && v.text == "none" ? read_duration(v, s.limit)
                                                        : read_timeout(v, s.limit);
     },
     [](const c& s) { return quoted(to_text(s.limit)); },
     "of the whole shutdown; none: the sum of the phases"},
    {"run_by_terminate", "true or false",
     [](const value& v, c& s) { return read_flag(v, s.run_by_terminate); },
     [](const c& s) { return show(s.run_by_terminate); }, "`terminate()` runs it"},
    {"terminate_system", "true or false",
     [](const value& v, c& s) { return read_flag(v, s.terminate_system); },
     [](const c& s) { return show(s.terminate_system); }, "its last phase ends the actors"},
    {"exit", "true or false", [](const value& v, c& s) { return read_flag(v, s.exit); },
     [](const c& s) { return show(s.exit); }, "the process ends after it"},
    {"exit_code", "integer, 0 to 255",
     [](const value& v, c& s) { return read_exit_code(v, s.exit_code); },
     [](const c& s) { return std::to_string(s.exit_code); },
     "what it ends with, unless the reason says otherwise"},
});

constexpr auto phase_rows = std::to_array<field<p>>({
    {"timeout", "duration",
     [](const value& v, p& s) { return read_timeout(v, s.timeout.emplace()); },
     [](const p&) { return std::string(); }, "how long its tasks may take"},
    {"recover", "true or false", [](const value& v, p& s) { return read_flag(v, s.recover); },
     [](const p&) { return std::string("true"); },
     "false: a task that fails or is late ends the shutdown"},
    {"enabled", "true or false", [](const value& v, p& s) { return read_flag(v, s.enabled); },
     [](const p&) { return std::string("true"); }, "false: its tasks are skipped"},
    {"depends_on", "list of phases",
     [](const value& v, p& s) { return read_phase_names(v, s.depends_on); },
     [](const p&) { return std::string(); }, "which phases run before it"},
});

}  // namespace

complaint read_timeout(const value& v, duration& to) {
    duration d;
    if (auto wrong = read_duration(v, d))
        return wrong;
    if (d <= duration::zero() || d == duration::max())
        return "expected a time of more than nothing, and not for ever, " + found(v);
    to = d;
    return {};
}

std::span<const field<system_setting>> system_fields() {
    return system_rows;
}
std::span<const field<system_setting>> dead_letter_fields() {
    return dead_letter_rows;
}
std::span<const field<shutdown_setting>> shutdown_fields() {
    return shutdown_rows;
}
std::span<const field<phase_setting>> phase_fields() {
    return phase_rows;
}

}  // namespace tactus::inline v0::config
