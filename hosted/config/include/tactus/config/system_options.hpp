// SPDX-License-Identifier: Apache-2.0
//
// From a file to a system: what an actor_system is to be given (EV-2, EV-3, EV-4, DR-3).
//
//     auto how = config::read_system_options("app.toml");
//     if (!how)
//         return complain(how.error().message());
//     tactus::actor_system system("demo", *how);
//
// Dispatchers, mailboxes and deployments of the file are the system's, too: an actor runs where its
// path is deployed, unless its options say otherwise.
#pragma once

#include <expected>
#include <string>

#include <tactus/config/settings.hpp>
#include <tactus/runtime/actor_system.hpp>

namespace tactus::inline v0::config {

/// What the settings say; the rest is as by default. Phases that cannot be sorted, and a shutdown
/// that contradicts itself, are refused with a line.
[[nodiscard]] std::expected<actor_system::options, config_error> system_options(
    const settings& from);
/// read_settings, and then that.
[[nodiscard]] std::expected<actor_system::options, config_error> read_system_options(
    const std::string& file);

}  // namespace tactus::inline v0::config
