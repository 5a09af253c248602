// SPDX-License-Identifier: Apache-2.0
//
// What came of sending.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tactus::inline v0 {

/// Why a message was not taken; `accepted` when it was.
enum class sent : std::uint8_t {
    accepted,
    pool_exhausted,        // no envelope, or no memory for a large payload
    recipient_terminated,  // the reference is stale, or the mailbox closed
    shutdown,              // the system takes nothing any more
    no_system,             // there is no such system, or not any more
    construction_failed,   // the message's copy or move constructor threw
    mailbox_full,          // no room, and the message is the caller's again
    dropped,               // no room: it became a dead letter, as the mailbox's strategy says
    would_block,           // no room, and this thread must not wait
    timed_out,             // no room in time: it became a dead letter
    forked_child,          // this process was forked: the system is in its parent
    draining,              // the system drains: it takes nothing from outside any more
};
inline constexpr std::size_t sent_result_count = 12;
[[nodiscard]] const char* name_of(sent result) noexcept;

}  // namespace tactus::inline v0
