// SPDX-License-Identifier: Apache-2.0
//
// What is said about an actor when it is spawned, and why that may fail.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tactus/dispatch/lane.hpp>
#include <tactus/dispatch/suspend_limit.hpp>
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
    // CO-6: of each suspension that is given no limit of its own; in whole milliseconds. One that
    // is not positive, or longer than 12 days, is none.
    suspend_limit suspending = {};
};

struct spawn_error {
    enum class kind : std::uint8_t {
        slots_exhausted,           // as many actors as the system may have
        shutting_down,             // nothing new is taken
        refused,                   // by a spawn middleware; `reason` is its
        constructor_failed,        // the state's constructor threw
        capacity_zero,             // a mailbox that could never take a message
        capacity_too_large,        // see mailbox_gate::capacity_max
        order_missing,             // a priority mailbox needs an order of messages
        memory_exhausted,          // no memory for the mailbox's queue
        unknown_dispatcher,        // there is none with that number
        dispatcher_already_owned,  // it is pinned, and belongs to another actor
        // of actors
        name_invalid,     // see name_fault
        name_taken,       // a sibling has it
        parent_stopping,  // takes no children any more
        mailbox_unfit,    // lacks what the actor requires
    };
    kind what;
    const char* reason;  // as failure::what
};
inline constexpr std::size_t spawn_error_count = 14;
[[nodiscard]] const char* name_of(spawn_error::kind what) noexcept;

}  // namespace tactus::inline v0
