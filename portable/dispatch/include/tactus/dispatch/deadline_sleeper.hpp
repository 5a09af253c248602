// SPDX-License-Identifier: Apache-2.0
//
// Deadline sleeper: one thread that sleeps until the earliest of many deadlines, which others add
// (SC-36). It is woken only for a deadline earlier than what it sleeps for; one that is cancelled
// wakes nobody: it wakes once at the time there was, and sleeps on.
//
//     for (;;) {
//         const instant at = earliest();
//         place.prepare(at);
//         if (earliest() < at)
//             place.stay();
//         else
//             (void)place.sleep_until(...);
//     }
//
// Why no wake-up is lost: adding a deadline is followed by a look at the word; going to sleep is a
// store to the word followed by a look at the deadlines. Where the deadlines are under a lock, the
// two orders agree with that lock's; where they are looked at without one, that look and these are
// seq_cst. So either the sleeper sees the deadline, or who added it sees the sleeper. Who sees it
// takes it back to `awake`, and only who did so wakes it: of many that add at once, one does.
//
// Where an address has fewer bits than an instant, any deadline is earlier.
//
// Thread safety: prepare, stay and sleep are the sleeper's; the rest is anybody's.
#pragma once

#include <cstdint>

#include <tactus/dispatch/parker.hpp>
#include <tactus/port/port.hpp>
#include <tactus/time/instant.hpp>

namespace tactus::inline v0 {

class deadline_sleeper {
public:
    /// About to sleep until `at`. It must look at the deadlines afterwards, and then sleep or stay.
    void prepare(instant at) noexcept {
        until_.store(word_of(bits_of(at, ~bits{0})), look.seq_cst());
    }
    /// Not sleeping after all.
    void stay() noexcept {
        // Relaxed: who takes it for asleep wakes it in vain.
        until_.store(awake, std::memory_order_relaxed);
    }
    /// Until an instant of the platform's monotonic clock: what is done between a look at the time
    /// and this makes it no later. False when it has come (negative: never); true when woken, also
    /// for what it has seen already.
    [[nodiscard]] bool sleep_until(std::int64_t deadline_ns) noexcept {
        const bool woken = place_.park_until(deadline_ns);
        stay();
        return woken;
    }

    /// There is a deadline at `at`, now. True: the sleeper was woken for it.
    bool deadline_added(instant at) noexcept {
        word seen = until_.load(look.seq_cst());
        while (bits_of(at, 1) < of_word(seen)) {
            // Relaxed: it only chooses who wakes. What there is to see is behind the lock, or in
            // the permit.
            if (until_.compare_exchange_weak(seen, awake, std::memory_order_relaxed,
                                             std::memory_order_relaxed)) {
                place_.unpark();
                return true;
            }
        }
        return false;
    }
    /// Wakes it, or keeps it from sleeping once.
    void call() noexcept { place_.unpark(); }

private:
    using bits = std::uintptr_t;
    /// As it lies in an atomic, which may be as wide as an address, but only as one.
    using word = const struct deadline_bits*;
    static constexpr word awake = nullptr;

    [[nodiscard]] static bits bits_of(instant at, bits otherwise) noexcept {
        if constexpr (sizeof(bits) >= sizeof(std::uint64_t))
            return static_cast<bits>(at.ns());
        else
            return otherwise;
    }
    [[nodiscard]] static word word_of(bits b) noexcept { return reinterpret_cast<word>(b); }
    [[nodiscard]] static bits of_word(word w) noexcept { return reinterpret_cast<bits>(w); }

    // Until when the sleeper sleeps. "look": see above.
    static constexpr port::edge look{"deadline-sleeper-look"};
    port::atomic<word> until_{awake};
    parker place_;
};

}  // namespace tactus::inline v0
