// SPDX-License-Identifier: Apache-2.0
//
// Mailbox gate: who may still put a message into a bounded mailbox, and who waits to (MB-1, MB-2).
//
// A sender takes a credit before it pushes to the inbox; the owner gives it back when it takes the
// message out to handle it. One word holds the credits taken, whether anybody waits, and a mark of
// the mailbox's life, so taking is one compare-and-swap that fails when the life has ended.
//
//   bits    meaning
//   0-20    credits taken
//   21      somebody waits: full for everybody else
//   22-31   the life, the lower bits of its generation
//
// Who waits leaves its envelope with its place in the line. The owner that gives a credit back
// pushes the first one's envelope to the inbox itself: so waiters are served strictly in order, a
// tell cannot overtake an offer, and nobody has to wake up for the queue to move on.
//
// A gate belongs to a slot for as long as the system lives, whatever lives the slot has: a sender
// delayed across the end of one finds a gate, not a hole. Credits of a life that has ended are
// forgotten with it; the owner gives back only those of envelopes of its own generation.
//
// Invariants
//   T1  credits taken <= capacity
//   T2  the waiting bit is set exactly while the line is not empty; both change under the lock
//   T3  while the bit is set, credits taken == capacity, except under the lock
//
// Thread safety: enter, wait, cancel and evict from any thread; open, leave, take and close are the
// owner's.
#pragma once

#include <cstdint>

#include <tactus/base/check.hpp>
#include <tactus/mailbox/inbox.hpp>
#include <tactus/mailbox/mailbox_options.hpp>
#include <tactus/mailbox/user_queue.hpp>
#include <tactus/port/port.hpp>

namespace tactus::inline v0 {

/// A place in the line before a full mailbox. Made by who waits; must not move or end while listed.
struct gate_waiter {
    enum class outcome : std::uint8_t { waiting, accepted, closed };

    envelope* carried = nullptr;                      // the waiter's again unless accepted
    void (*served)(gate_waiter&) noexcept = nullptr;  // called once, without the lock; not after
                                                      // cancel said true
    outcome decided = outcome::waiting;               // written before `served` is called
    gate_waiter* next = nullptr;                      // under the gate's lock
    gate_waiter* previous = nullptr;                  // under the gate's lock
    bool listed = false;                              // under the gate's lock
};

class mailbox_gate {
public:
    static constexpr std::uint32_t capacity_max = (1U << 21) - 1;
    static constexpr std::uint32_t taken_per_run_max = 64;  // of drop_oldest

    enum class entry : std::uint8_t {
        entered,  // the caller has a credit
        full,     // no credit, or somebody waits
        ended,    // the life meant is over
    };

    [[nodiscard]] std::uint32_t capacity() const noexcept {
        return settings_.load(std::memory_order_relaxed) & count_mask;
    }
    [[nodiscard]] overflow when_full() const noexcept {
        return static_cast<overflow>(settings_.load(std::memory_order_relaxed) >> overflow_shift);
    }
    /// Messages that hold a credit.
    [[nodiscard]] std::uint32_t taken() const noexcept {
        return word_.load(std::memory_order_relaxed) & count_mask;
    }
    [[nodiscard]] bool anybody_waits() const noexcept {
        return (word_.load(std::memory_order_relaxed) & waiting) != 0;
    }

    /// Begins a life. Requires: nobody waits, 0 < capacity <= capacity_max (check mailbox_gate:1).
    void open(std::uint32_t generation, std::uint32_t capacity, overflow strategy) noexcept;

    /// Takes a credit.
    [[nodiscard]] entry enter(std::uint32_t generation) noexcept {
        std::uint32_t seen = word_.load(std::memory_order_relaxed);
        for (;;) {
            if ((seen & life_mask) != life_of(generation))
                return entry::ended;
            if ((seen & waiting) != 0 || (seen & count_mask) >= capacity())
                return entry::full;
            // Relaxed: a credit carries nothing; the inbox publishes the message.
            if (word_.compare_exchange_weak(seen, seen + 1, std::memory_order_relaxed,
                                            std::memory_order_relaxed))
                return entry::entered;
        }
    }
    /// As enter; puts the caller in the line when it is full (`w.carried` is its envelope), and the
    /// result is full then.
    [[nodiscard]] entry wait(std::uint32_t generation, gate_waiter& w) noexcept;
    /// Leaves the line. False when it was served meanwhile: `served` was called, or is about to be.
    [[nodiscard]] bool cancel(gate_waiter& w) noexcept;

    /// For drop_oldest, when full: takes out the oldest message no run has taken, for which `may_go`
    /// says so; the caller has its credit, and `in` keeps its order. Null when there is none.
    template <class Test>
    [[nodiscard]] envelope* evict(inbox& in, std::uint32_t generation, Test&& may_go) noexcept {
        const port::lock_guard held(mutex_);
        if ((word_.load(std::memory_order_relaxed) & life_mask) != life_of(generation))
            return nullptr;
        set_aside(in);
        envelope* out = aside_.take_first(may_go);
        note_aside();
        return out;
    }

    // ---- owner

    /// Gives credits back; whoever waits gets them, with its envelope pushed to `in`.
    void leave(std::uint32_t count, inbox& in) noexcept {
        // Relaxed: see enter. The bit is in the same word, so it cannot be missed.
        const std::uint32_t before = word_.fetch_sub(count, std::memory_order_relaxed);
        if ((before & waiting) != 0) [[unlikely]]
            serve(in);
    }
    /// For drop_oldest: moves at most `max` of the oldest to the owner's queue. False: it is broken.
    [[nodiscard]] bool take(inbox& in, user_queue& to, std::uint32_t max) noexcept;
    /// Messages set aside by evict: they are older than the inbox. A look.
    [[nodiscard]] bool has_aside() const noexcept {
        return aside_count_.load(std::memory_order_relaxed) != 0;
    }
    /// Ends the life: nobody enters, whoever waits is told. What is set aside goes to `sink`, the
    /// oldest first. After the inbox was closed.
    template <class Sink>
    void close(Sink&& sink) noexcept {
        gate_waiter* line = end_life();
        while (envelope* e = aside_.pop())
            sink(*e);
        note_aside();
        tell_closed(line);
    }

private:
    TACTUS_CHECK_MODULE("mailbox_gate");

    static constexpr std::uint32_t count_mask = capacity_max;
    static constexpr std::uint32_t waiting = 1U << 21;
    static constexpr std::uint32_t life_shift = 22;
    static constexpr std::uint32_t life_mask = ~((1U << life_shift) - 1);
    static constexpr std::uint32_t overflow_shift = 24;

    [[nodiscard]] static constexpr std::uint32_t life_of(std::uint32_t generation) noexcept {
        return generation << life_shift;
    }
    void set_aside(inbox& in) noexcept;
    void note_aside() noexcept {
        // Relaxed: who looks has seen the inbox emptied, which comes after (see inbox::set_aside).
        aside_count_.store(aside_.size(), std::memory_order_relaxed);
    }
    void serve(inbox& in) noexcept;
    void append(gate_waiter& w) noexcept;
    void unlink(gate_waiter& w) noexcept;
    [[nodiscard]] gate_waiter* end_life() noexcept;
    static void tell_closed(gate_waiter* line) noexcept;

    port::atomic<std::uint32_t> word_{0};
    // Capacity and strategy; atomic, because a sender of an earlier life may read them.
    port::atomic<std::uint32_t> settings_{0};
    port::atomic<std::uint32_t> aside_count_{0};

    // Under the lock.
    port::mutex mutex_;
    gate_waiter* first_ = nullptr;
    gate_waiter* last_ = nullptr;
    envelope_list aside_;
};

}  // namespace tactus::inline v0
