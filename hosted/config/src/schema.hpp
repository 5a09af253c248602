// SPDX-License-Identifier: Apache-2.0
//
// Schema: the settings of each section as rows: how one is called, read, shown and explained.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "document.hpp"

namespace tactus::inline v0::config {

/// What is wrong; nothing when all is well.
using complaint = std::optional<std::string>;

template <class Target>
struct field {
    std::string_view key;
    std::string_view value;  // what may stand there, for people
    complaint (*read)(const config::value&, Target&);
    std::string (*show)(const Target&);  // as the file would say it; empty: not at all
    std::string_view meaning;
};

[[nodiscard]] std::span<const field<dispatcher_setting>> dispatcher_fields();
[[nodiscard]] std::span<const field<mailbox_setting>> mailbox_fields();
[[nodiscard]] std::span<const field<deployment_setting>> deployment_fields();

[[nodiscard]] std::span<const field<system_setting>> system_fields();
[[nodiscard]] std::span<const field<system_setting>> dead_letter_fields();
[[nodiscard]] std::span<const field<shutdown_setting>> shutdown_fields();
[[nodiscard]] std::span<const field<phase_setting>> phase_fields();
[[nodiscard]] std::span<const field<scheduler_setting>> scheduler_fields();
[[nodiscard]] std::span<const field<timer_policy_setting>> timer_policy_fields();
[[nodiscard]] std::span<const field<scheduler_capacity>> custom_profile_fields();
[[nodiscard]] std::span<const field<driver_policy>> driver_stops_fields();

/// Settings that are right one by one and do not go together.
struct misfit {
    std::string_view key;
    std::string text;
};
/// The first, if there is one.
[[nodiscard]] std::optional<misfit> misfit_of(const dispatcher_setting& s);

// Kinds of value
[[nodiscard]] std::string found(const value& v);
[[nodiscard]] std::string quoted(std::string_view text);
/// "none" is the longest there is.
[[nodiscard]] complaint read_duration(const value& v, duration& to);
/// One that something can be waited for.
[[nodiscard]] complaint read_timeout(const value& v, duration& to);
/// The name of one of `known`.
template <class Enum>
complaint read_name(const value& v, std::initializer_list<std::pair<std::string_view, Enum>> known,
                    Enum& to) {
    std::vector<std::string_view> names;
    for (const auto& [name, what] : known) {
        if (v.is == shape::text && v.text == name) {
            to = what;
            return {};
        }
        names.push_back(name);
    }
    if (v.is == shape::text)
        return "unknown value '" + shown(v.text) + "'" + suggestion(v.text, names);
    return "expected one of the names" + suggestion({}, names) + ", " + found(v);
}
[[nodiscard]] complaint read_id(const value& v, std::string& to);
[[nodiscard]] complaint read_preset(const value& v, std::optional<system_preset>& to);
/// "deque+bounded"
[[nodiscard]] std::string to_text(capability_set set);
[[nodiscard]] complaint read_capabilities(std::string_view text, capability_set& to);

}  // namespace tactus::inline v0::config
