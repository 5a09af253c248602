// SPDX-License-Identifier: Apache-2.0
//
// What a hosted system says in its log by itself: messages that nobody handled, a few at a time
// (EV-2), and what became of actors that failed, one line per decision (SV-5).
//
//     decision    level
//     resume      warning
//     others      error
//
// Thread safety: any thread.
#pragma once

#include <tactus/actor/actor_world.hpp>
#include <tactus/actor/dead_letter_log.hpp>

namespace tactus::inline v0::runtime {

class system_listener {
public:
    system_listener(logger& to, const dead_letter_log::options& letters) noexcept
        : to_(to), letters_(letters) {}

    void lost(actor_world& world, any_ref to, any_ref from, const message_type& type,
              dead_letter_cause cause) noexcept;
    /// `each`: with a line of the level debug for every one (C-EVT-3).
    void unhandled(actor_world& world, any_ref who, envelope& message, bool each) noexcept;
    void supervised(actor_world& world, const world_events::decision& d) noexcept;
    void hook_failed(actor_world& world, any_ref who, const char* hook,
                     const failure_cause& why) noexcept;
    void guardian_failed(const failure_cause& why) noexcept;
    /// Of a shutdown that ends the system.
    void begin_shutdown() noexcept { letters_.begin_shutdown(); }

private:
    void note(actor_world& world, any_ref to, any_ref from, const lost_message& what) noexcept;

    logger& to_;
    dead_letter_log letters_;
};

}  // namespace tactus::inline v0::runtime
