// SPDX-License-Identifier: Apache-2.0
//
// State engine: the one word that says who may run a mailbox (ME).
//
// Each transition is a named function whose result must be used: it says what the caller owes. The
// scheduled bit is the right to own the mailbox, from the moment it is queued in a lane to the end
// of the run; exactly one caller wins it between two idles.
//
// What an owner did before run_ended() happens before what the next owner does: whoever wins the
// scheduled bit acquires it, and the lanes carry it on.
//
// Thread safety: everything from any thread, except run_ended and finish_close (the owner).
#pragma once

#include <cstdint>

#include <tactus/base/check.hpp>
#include <tactus/mailbox/state_word.hpp>
#include <tactus/port/port.hpp>

namespace tactus::inline v0 {

/// What a caller of request_schedule knows: there is a user message; the mailbox is filling up
/// (MB-5); there is a system message.
enum class schedule_hint : std::uint8_t { user, backpressure, system };

class state_engine {
public:
    /// For who owns the mailbox, or knows that it has not ended: whatever life it is.
    static constexpr std::uint32_t any_life = 0xffff'ffff;

    /// ME-1: true for the one caller that must now put the mailbox into a lane. Without a life: for
    /// callers that have pushed a message, which the life that is there must see (life.hpp, L2).
    [[nodiscard, gnu::always_inline]] bool request_schedule(schedule_hint hint) noexcept {
        return request_schedule(hint, any_life);
    }
    /// The same for callers that have looked for work: false in another life (life.hpp, L1).
    [[nodiscard, gnu::always_inline]] bool request_schedule(schedule_hint hint,
                                                            std::uint32_t life) noexcept {
        std::uint32_t seen = word_.load(wake.seq_cst());
        for (;;) {
            if (is_another(seen, life))
                return false;
            const auto [next, owed] = hint == schedule_hint::system ? state_word::system_work(seen)
                                                                    : state_word::user_work(seen);
            if (owed != mailbox_owed::submit)
                return false;
            // The look above has the order that "wake" needs; what a failure sees is newer.
            if (word_.compare_exchange_weak(seen, next, handover.acquire(),
                                            std::memory_order_relaxed))
                return true;
        }
    }

    /// ME-2: true when user messages are held back from now on and were not before. A suspension
    /// beyond suspension_count_max of its kind is not counted: the mailbox is held back already,
    /// and suspension_count_max resumes let it go.
    [[nodiscard]] bool suspend(suspension why, std::uint32_t life = any_life) noexcept {
        return count_suspension(why, life) == suspend_step::held;
    }
    /// Like suspend; false when the suspension was not counted, because the mailbox is closed, in
    /// another life, or suspended as often as can be counted. For callers that resume it later.
    [[nodiscard]] bool try_suspend(suspension why, std::uint32_t life = any_life) noexcept {
        const suspend_step done = count_suspension(why, life);
        return done == suspend_step::held || done == suspend_step::counted;
    }

    /// ME-2: true when user messages are not held back any more; the caller then looks for work and
    /// offers it. A resume too many is tolerated.
    [[nodiscard]] bool resume(suspension why, std::uint32_t life = any_life) noexcept {
        std::uint32_t seen = word_.load(std::memory_order_relaxed);
        for (;;) {
            if (is_another(seen, life))
                return false;
            const auto [next, owed] = state_word::resume(seen, why);
            // Also when nothing changes: the look at the queues that follows needs the order.
            if (word_.compare_exchange_weak(seen, next, wake.seq_cst(), std::memory_order_relaxed))
                return owed == mailbox_owed::changed;
        }
    }

    /// ME-3: the owner gives the mailbox up: look_again, or finalize (it is still the owner then).
    /// Requires: the caller owns the scheduled bit (check state_engine:2).
    [[nodiscard]] mailbox_owed run_ended() noexcept {
        return (give_up() & state_word::closing) != 0 ? mailbox_owed::finalize
                                                      : mailbox_owed::look_again;
    }
    /// Like run_ended, and returns the word as the owner left it: whether a close was requested,
    /// and the life that the owner's look for work names.
    [[nodiscard]] std::uint32_t give_up() noexcept {
        // A subtraction, because it is one instruction; the bit is set. In a closing mailbox nobody
        // can win the bit again, so losing it does not matter there.
        const std::uint32_t before = word_.fetch_sub(state_word::scheduled, wake.seq_cst());
        TACTUS_CHECK(2, (before & state_word::scheduled) != 0);
        return before;
    }

    /// ME-5: finalize when the caller is elected, which makes it the owner; nothing when the runner
    /// is, or when somebody asked before.
    [[nodiscard]] mailbox_owed request_close(std::uint32_t life = any_life) noexcept {
        std::uint32_t seen = word_.load(std::memory_order_relaxed);
        for (;;) {
            if (is_another(seen, life))
                return mailbox_owed::nothing;
            const auto [next, owed] = state_word::request_close(seen);
            if (next == seen)
                return owed;
            if (word_.compare_exchange_weak(seen, next, handover.acquire(),
                                            std::memory_order_relaxed))
                return owed;
        }
    }

    /// The elected owner has drained the queues; the mailbox is closed. Requires: elected (check
    /// state_engine:3).
    void finish_close() noexcept {
        // Relaxed: the next owner is who opens it again, and gets it from the registry.
        const std::uint32_t life = word_.load(std::memory_order_relaxed) & state_word::life_mask;
        const std::uint32_t before =
            word_.exchange(state_word::closed | life, std::memory_order_relaxed);
        TACTUS_CHECK(3, (before & state_word::closing) != 0);
    }

    /// Opens a mailbox that nobody knows yet, owned by the caller when `scheduled`.
    void open(bool scheduled, std::uint32_t life = 0) noexcept {
        word_.store((scheduled ? state_word::scheduled : 0) | life, handover.release());
    }
    /// A mailbox that was never opened is closed.
    void begin_closed() noexcept {
        word_.store(state_word::closed, std::memory_order_relaxed);  // nobody else knows it
    }

    /// A look, for the owner and for diagnostics; it orders nothing.
    [[nodiscard]] std::uint32_t word() const noexcept {
        return word_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] mailbox_state state() const noexcept { return state_word::state_of(word()); }
    [[nodiscard]] bool closed() const noexcept { return (word() & state_word::closed) != 0; }
    /// A close was requested, or has happened.
    [[nodiscard]] bool closing() const noexcept {
        return (word() & (state_word::closing | state_word::closed)) != 0;
    }
    [[nodiscard]] bool scheduled() const noexcept { return (word() & state_word::scheduled) != 0; }
    [[nodiscard]] bool suspended() const noexcept { return (word() & state_word::suspended) != 0; }
    [[nodiscard]] std::uint32_t suspend_count(suspension why) const noexcept {
        return state_word::count(word(), why);
    }
    /// User messages may be handled: open, not suspended, no close requested.
    [[nodiscard]] bool should_process() const noexcept {
        constexpr std::uint32_t ignored = state_word::scheduled | state_word::life_mask;
        return (word_.load(std::memory_order_relaxed) & ~ignored) == 0;
    }

private:
    enum class suspend_step : std::uint8_t { held, counted, closed, full };
    [[nodiscard]] suspend_step count_suspension(suspension why, std::uint32_t life) noexcept {
        std::uint32_t seen = word_.load(std::memory_order_relaxed);
        for (;;) {
            if (is_another(seen, life))
                return suspend_step::closed;
            const auto [next, owed] = state_word::suspend(seen, why);
            if (next == seen)
                return suspend_step::closed;
            if (state_word::count(seen, why) == state_word::suspension_count_max)
                return suspend_step::full;
            // Relaxed: nobody becomes the owner by it, and "handover" passes through.
            if (word_.compare_exchange_weak(seen, next, std::memory_order_relaxed,
                                            std::memory_order_relaxed))
                return owed == mailbox_owed::changed ? suspend_step::held : suspend_step::counted;
        }
    }

    TACTUS_CHECK_MODULE("state_engine");

    [[nodiscard]] static constexpr bool is_another(std::uint32_t word,
                                                   std::uint32_t life) noexcept {
        return life != any_life && (word & state_word::life_mask) != life;
    }

    // Written by: senders and whoever suspends, resumes or closes (compare-and-swap), the owner.
    // "handover": what an owner did, up to run_ended (or open), happens before what the next owner
    //    does. Changes in between are read-modify-writes and carry it on.
    // "wake": giving up the bit, then looking at the queues, against pushing, then looking at the
    //    word: the word and the queue's head must be seen in one order by both, or a message stays
    //    behind with nobody to run it. The same for resume.
    static constexpr port::edge handover{"state-handover"};
    static constexpr port::edge wake{"state-wake"};
    port::atomic<std::uint32_t> word_{0};
};

}  // namespace tactus::inline v0
