// SPDX-License-Identifier: Apache-2.0
//
// What is said about an actor when it is spawned.
#pragma once

#include <cstdint>

#include <tactus/dispatch/lane.hpp>
#include <tactus/mailbox/mailbox_options.hpp>
#include <tactus/mailbox/user_queue.hpp>
#include <tactus/time/instant.hpp>

namespace tactus::inline v0 {

struct spawn_options {
    std::uint8_t priority = default_priority;
    mailbox_options mailbox = {};
    message_order* order = nullptr;  // of the priority kinds; outlives the actor
    std::uint32_t dispatcher = 0;    // by number; 0 is the system's first
    // LN-8: what it is sent without a deadline gets one, so much later; zero: none. Needs a clock.
    duration deadline = duration::zero();
};

}  // namespace tactus::inline v0
