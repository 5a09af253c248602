// SPDX-License-Identifier: Apache-2.0
//
// Ticket: which registration of a mailbox is meant, and whether it still waits (LN-3).
//
// One 32-bit word per mailbox: a number, raised by every registration, and a phase. An entry in a
// lane carries the whole word; taking it is one compare-and-swap, so of two entries for one mailbox
// one is dispatched and the other skipped. A number that comes round again (after 2^30
// registrations, while an entry waited all that time) makes an old entry count for the present
// registration: one dispatch per registration still holds.
//
//   phase    means                                written by
//   apart    idle, or running                     take, withdraw
//   queued   waits in ready or timed              issue: who won the scheduled bit; move
//   urgent   waits in cancel                      issue, promote: who pushed a system message
//   first    waits in cancel, highest priority    the same
//
// A ticket belongs to one life of its slot, and so to one dispatcher (life.hpp).
#pragma once

#include <cstdint>

#include <tactus/dispatch/lane.hpp>
#include <tactus/port/port.hpp>

namespace tactus::inline v0::ticket {

using word = port::atomic<std::uint32_t>;

inline constexpr std::uint32_t phase_mask = 3;
inline constexpr std::uint32_t apart = 0;
inline constexpr std::uint32_t queued = 1;
inline constexpr std::uint32_t urgent = 2;
inline constexpr std::uint32_t first = 3;
inline constexpr std::uint32_t number_one = 4;

// "ticket": what the registering thread knew, and through the state word what the last owner did,
//    happens before what the next owner does. Promotions are read-modify-writes in between and
//    carry it on.
inline constexpr port::edge edge{"ticket-taken"};

/// A new registration. Requires: the caller won the scheduled bit, or runs the mailbox.
[[nodiscard]] inline std::uint32_t issue(word& w, lane where, bool highest = false) noexcept {
    // Nobody else writes while the phase is apart.
    const std::uint32_t number = (w.load(std::memory_order_relaxed) & ~phase_mask) + number_one;
    const std::uint32_t phase = where != lane::cancel ? queued : highest ? first : urgent;
    const std::uint32_t next = number | phase;
    w.store(next, edge.release());
    return next;
}

/// Does the ticket wait where a promotion moves it to the cancel lane? One that waits in cancel is
/// given a new place there only when its priority rises, which it does once: to the highest.
[[nodiscard]] constexpr bool can_rise(std::uint32_t t, bool highest) noexcept {
    return (t & phase_mask) == queued || (highest && (t & phase_mask) == urgent);
}

/// Gives the registration with the ticket `seen` a new ticket: that, or 0 when it does not wait any
/// more, or has another ticket. The entry with `seen` is left behind.
[[nodiscard]] inline std::uint32_t replace(word& w, std::uint32_t seen,
                                           std::uint32_t phase) noexcept {
    const std::uint32_t next = ((seen & ~phase_mask) + number_one) | phase;
    return w.compare_exchange_strong(seen, next, edge.acq_rel(), std::memory_order_relaxed) ? next
                                                                                            : 0;
}

/// Moves the registration with the ticket `seen` to the cancel lane: see replace. Requires:
/// can_rise(seen, highest).
[[nodiscard]] inline std::uint32_t promote(word& w, std::uint32_t seen, bool highest) noexcept {
    return replace(w, seen, highest ? first : urgent);
}

/// Moves the registration with the ticket `seen` to another place of the ready lane: see replace.
/// Requires: the phase of `seen` is queued.
[[nodiscard]] inline std::uint32_t move(word& w, std::uint32_t seen) noexcept {
    return replace(w, seen, queued);
}

/// True when the entry's registration still waited; the caller is the owner then.
[[nodiscard]] inline bool take(word& w, std::uint32_t of_entry) noexcept {
    std::uint32_t seen = of_entry;
    return w.compare_exchange_strong(seen, of_entry & ~phase_mask, edge.acquire(),
                                     std::memory_order_relaxed);
}

/// True when the mailbox waited in a lane; it does not any more, and the caller is the owner.
[[nodiscard]] inline bool withdraw(word& w) noexcept {
    std::uint32_t seen = w.load(std::memory_order_relaxed);
    while ((seen & phase_mask) != apart) {
        if (w.compare_exchange_weak(seen, seen & ~phase_mask, edge.acquire(),
                                    std::memory_order_relaxed))
            return true;
    }
    return false;
}

/// A look: does the entry still count?
[[nodiscard]] inline bool current(const word& w, std::uint32_t of_entry) noexcept {
    return w.load(std::memory_order_relaxed) == of_entry;
}

}  // namespace tactus::inline v0::ticket
