// SPDX-License-Identifier: Apache-2.0
//
// Samples: how full mailboxes and dispatchers are, published on the event stream while somebody
// subscribes them, of each object at most once per second (OH-3). Nothing is collected otherwise.
//
// They are looked at, not counted: each number was right at some moment (see dump.hpp). The system
// guardian takes them, a few mailboxes per turn; a world without timers, or without services, has
// none.
#pragma once

#include <cstdint>

#include <tactus/actor/actor_ref.hpp>
#include <tactus/dispatch/lane.hpp>
#include <tactus/time/instant.hpp>

namespace tactus::inline v0 {

struct mailbox_sample {
    any_ref ref;
    std::uint32_t user_len = 0;    // of an unbounded one what its last run left, and 1 for more
    std::uint32_t system_len = 0;  // sent and not handled yet
    std::uint32_t capacity = 0;    // 0: it has no bounds
    std::uint32_t percent = 0;     // of the capacity
    instant at;
};

struct dispatcher_sample {
    static constexpr std::size_t lanes = 3;

    std::uint32_t dispatcher = 0;      // its number
    std::uint32_t queued[lanes] = {};  // mailboxes that wait: cancel, timed, ready
    std::uint32_t running = 0;         // workers that run a mailbox
    std::uint32_t workers = 0;
    std::uint32_t parked = 0;    // workers whose executor refuses them
    std::uint32_t rejected = 0;  // submissions of workers given up since it was made
    instant at;
};

/// Between two samples of one object.
inline constexpr duration sample_interval = duration::from_s(1);

}  // namespace tactus::inline v0
