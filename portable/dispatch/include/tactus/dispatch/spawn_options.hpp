// SPDX-License-Identifier: Apache-2.0
//
// What is said about an actor when it is spawned, and why that may fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <tactus/dispatch/lane.hpp>
#include <tactus/dispatch/suspend_limit.hpp>
#include <tactus/mailbox/mailbox_options.hpp>
#include <tactus/mailbox/user_queue.hpp>
#include <tactus/port/port.hpp>
#include <tactus/time/instant.hpp>

namespace tactus::inline v0 {

class resolve_error;

namespace detail {

/// A type for each member: two members of one empty type would have two addresses.
template <int>
struct left_out {
    [[nodiscard]] static constexpr bool empty() noexcept { return true; }
};
/// A member that only systems with a resolver need. Devices have none, and it takes no place there.
template <class T, int Member>
using with_resolver = std::conditional_t<port::has_interrupts, left_out<Member>, T>;

}  // namespace detail

/// A field that has its default value is not said. In an actor_system deployment, dispatcher and
/// defaults say the rest, each field by itself; see resolver.hpp.
struct spawn_options {
    std::uint8_t priority = default_priority;
    capability_set requirement = {};  // of its mailbox, beside what the actor's class requires
    mailbox_options mailbox = {};     // each field of it by itself, too
    message_order* order = nullptr;   // of the priority kinds; outlives the actor
    std::uint32_t dispatcher = 0;     // by number; 0: not said, and without a resolver the first
    // LN-8: what it is sent without a deadline gets one, so much later; zero: none. Needs a clock.
    duration deadline = duration::zero();
    // CO-6: of each suspension that is given no limit of its own; in whole milliseconds. One that
    // is not positive, or longer than 12 days, is none.
    suspend_limit suspending = {};
    // By id or alias, instead of the number and of the mailbox's kind. Not copied: they live until
    // the actor is spawned. Refused where there is no resolver; the bare kernel ignores them.
    [[no_unique_address]] detail::with_resolver<std::string_view, 0> dispatcher_id = {};
    [[no_unique_address]] detail::with_resolver<std::string_view, 1> mailbox_id = {};

    /// True: every field has its default value. Inline, so that it costs nothing where it is known.
    [[nodiscard, gnu::always_inline]] constexpr bool says_nothing() const noexcept {
        return priority == default_priority && requirement.empty() &&
               mailbox == mailbox_options{} && order == nullptr && dispatcher == 0 &&
               deadline == duration::zero() && suspending == suspend_limit{} &&
               dispatcher_id.empty() && mailbox_id.empty();
    }
};

struct spawn_error {
    enum class kind : std::uint8_t {
        slots_exhausted,           // as many actors as the system may have
        shutting_down,             // nothing new is taken
        refused,                   // by a spawn middleware; `reason` is its. Or an id without a
                                   // resolver
        constructor_failed,        // the state's constructor threw
        capacity_zero,             // a mailbox that could never take a message
        capacity_too_large,        // see mailbox_gate::capacity_max
        order_missing,             // a priority mailbox needs an order of messages
        memory_exhausted,          // no memory for the mailbox's queue
        unknown_dispatcher,        // there is none with that number or id
        dispatcher_already_owned,  // it is pinned, and belongs to another actor
        // of actors
        name_invalid,     // see name_fault
        name_taken,       // a sibling has it
        parent_stopping,  // takes no children any more
        mailbox_unfit,    // lacks what is required, or none is known for that
        // of the resolver
        unknown_mailbox,         // there is none with that id
        alias_chain_too_deep,    // more than 20 aliases one after the other; or a loop
        dispatcher_unavailable,  // it cannot be made: its executor or threads are missing
        // of hosted systems
        forked_child,  // this process was forked: the system is in its parent
        draining,      // the system drains: it takes no actors from outside any more
    };
    kind what;
    const char* reason;  // as failure::what; what the resolver says has the ids, and stays
    /// The id, the requirement and the resolver's own kind; lives as long as the process. Null: the
    /// resolver did not refuse it, or the process has kept a thousand different ones.
    [[no_unique_address]] detail::with_resolver<const resolve_error*, 2> resolver_error = {};
};
inline constexpr std::size_t spawn_error_count = 19;
[[nodiscard]] const char* name_of(spawn_error::kind what) noexcept;

}  // namespace tactus::inline v0
