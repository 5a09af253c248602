// SPDX-License-Identifier: Apache-2.0
//
// The log of one actor: the system's logger, with the actor's path and dispatcher as fields (AC-5,
// EV-4).
//
//     context().log().info("the door is open");
//
// A text is a text: who has numbers builds one, with text_buffer, or on a host with std::format,
// and asks passes() first. The path is looked up when a line is written, not before.
//
// Thread safety: a value, usable from any thread as long as the system lives.
#pragma once

#include <string_view>

#include <tactus/actor/log.hpp>
#include <tactus/mailbox/mailbox_index.hpp>

namespace tactus::inline v0 {

class actor_world;

class actor_log {
public:
    actor_log(actor_world& world, mailbox_index who) noexcept : world_(&world), who_(who) {}

    /// One comparison; false where the system has no log.
    [[nodiscard]] bool passes(log_level level) const noexcept;
    void write(log_level level, std::string_view text) const noexcept;

    void error(std::string_view text) const noexcept { write(log_level::error, text); }
    void warning(std::string_view text) const noexcept { write(log_level::warning, text); }
    void info(std::string_view text) const noexcept { write(log_level::info, text); }
    void debug(std::string_view text) const noexcept { write(log_level::debug, text); }

private:
    actor_world* world_;
    mailbox_index who_;
};

}  // namespace tactus::inline v0
