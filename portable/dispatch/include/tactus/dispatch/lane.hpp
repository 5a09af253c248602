// SPDX-License-Identifier: Apache-2.0
//
// Lanes: the three queues a mailbox with work can wait in, and the eight bytes that wait there.
//
// An entry is a value {slot, ticket}, so nothing is linked and nothing has to be found again: an
// entry whose ticket is no longer the mailbox's is skipped when it comes up.
#pragma once

#include <cstdint>

namespace tactus::inline v0 {

enum class lane : std::uint8_t {
    cancel,  // system messages wait, or the actor is terminating
    timed,   // woken by a message with a deadline
    ready,   // everything else
};
inline constexpr std::uint8_t lane_stolen =
    3;  // in schedule certificates: ready, and of another worker
[[nodiscard]] const char* name_of(lane l) noexcept;

/// Which order the lanes keep (DT-3, DT-4): see docs/determinism.md.
enum class lane_mode : std::uint8_t {
    standard,  // the order of LN-4
    parity,    // the order of the conformance vectors' workers
    lab,       // the order of the vectors' lab scheduler: the caller draws, see lab_driver
};

inline constexpr std::uint8_t default_priority = 128;
inline constexpr std::uint8_t highest_priority = 255;

struct lane_entry {
    std::uint32_t slot = 0;    // slot number within the system
    std::uint32_t ticket = 0;  // 0 is no ticket: see ticket.hpp

    [[nodiscard]] constexpr bool valid() const noexcept { return ticket != 0; }
    friend constexpr bool operator==(const lane_entry&, const lane_entry&) = default;
};
static_assert(sizeof(lane_entry) == 8);

/// Where a mailbox is to wait.
struct lane_place {
    lane where = lane::ready;
    std::uint8_t priority = default_priority;
    std::int64_t deadline = 0;  // timed only; nanoseconds of the system's clock
};

}  // namespace tactus::inline v0
