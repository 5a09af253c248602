// SPDX-License-Identifier: Apache-2.0
//
// Mailbox gate: who may still put a message into a bounded mailbox, and who waits to (MB-1, MB-2).
//
// A sender takes a credit before it pushes to the inbox; the owner gives it back when it takes the
// message out to handle it. One word holds the credits taken, whether anybody waits, and a mark of
// the mailbox's life, so taking is one compare-and-swap that fails when the life has ended.
//
//   bits    meaning
//   0-20    credits taken; all ones: shut, no life goes on here
//   21      somebody waits: full for everybody else
//   22-     the life: its generation, or the lower bits of it; the word is as wide as a pointer
//
// ABA
//   With 64 bits the mark is the whole generation, which never comes round: a sender that is late
//   by any number of lives gets `ended`. With 32 bits the mark has 10, and a sender stalled for
//   exactly a multiple of 1,024 lives would take a credit of the wrong life, which stays taken
//   until that life ends. Words of 32 bits are those of cores without threads, where only interrupt
//   handlers stall a sender: they would have to spawn and end that many actors within one send. A
//   port with threads needs the wider word (static_assert).
//
// Who waits leaves its envelope with its place in the line. The owner that gives a credit back
// pushes the first one's envelope to the inbox itself: so waiters are served strictly in order, a
// tell cannot overtake an offer, and nobody has to wake up for the queue to move on.
//
// With drop_oldest messages wait here, under the lock, until each is handed to its handler, so that
// a sender evicts the oldest of all. The owner moves them out of the inbox, and so does a sender
// that evicts. With an order of messages the owner has them, and their ages are here: no order is
// asked under the lock (mailbox_block).
//
// A gate belongs to a slot for as long as the system lives, whatever lives the slot has: a sender
// delayed across the end of one finds a gate, not a hole. Credits of a life that has ended are
// forgotten with it; the owner gives back only those of envelopes of its own generation. Between
// two bounded lives the gate is shut, whatever the slot is meanwhile: nobody waits at a gate that
// has no owner.
//
// Invariants
//   T1  credits taken <= capacity, unless shut; each belongs to one message of this life; signals
//       that the runtime owes have none (envelope::is_owed)
//   T2  the waiting bit is set exactly while the line is not empty; both change under the lock
//   T3  while the bit is set, credits taken == capacity, except under the lock
//
// Thread safety: enter, wait, cancel and evict from any thread; open, leave, take and close are the
// owner's.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

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
    duration limit;                                   // set by wait: the mailbox's push timeout
    gate_waiter* next = nullptr;                      // under the gate's lock
    gate_waiter* previous = nullptr;                  // under the gate's lock
    bool listed = false;                              // under the gate's lock
};

class mailbox_gate {
public:
    static constexpr std::uint32_t capacity_max = (1U << 21) - 2;

    enum class entry : std::uint8_t {
        entered,  // the caller has a credit
        full,     // no credit, or somebody waits
        ended,    // the life meant is over
    };

    [[nodiscard]] std::uint32_t capacity() const noexcept {
        return count_in(settings_.load(std::memory_order_relaxed));
    }
    [[nodiscard]] overflow when_full() const noexcept {
        return static_cast<overflow>((settings_.load(std::memory_order_relaxed) & ~keeps_control) >>
                                     overflow_shift);
    }
    /// Messages that hold a credit; 0 while shut.
    [[nodiscard]] std::uint32_t taken() const noexcept {
        const word seen = word_.load(std::memory_order_relaxed);
        return is_shut(seen) ? 0 : count_in(seen);
    }
    [[nodiscard]] bool anybody_waits() const noexcept {
        return (word_.load(std::memory_order_relaxed) & waiting) != 0;
    }

    /// Begins a life. Requires: nobody waits, 0 < capacity <= capacity_max (check mailbox_gate:1).
    void open(std::uint32_t generation, const mailbox_options& o) noexcept;

    /// Takes a credit, or all of several.
    [[nodiscard]] entry enter(std::uint32_t generation, std::uint32_t count = 1) noexcept {
        word seen = word_.load(std::memory_order_relaxed);
        for (;;) {
            if ((seen & life_mask) != life_of(generation))
                return entry::ended;
            if ((seen & waiting) != 0 || count_in(seen) + count > capacity())
                return is_shut(seen) ? entry::ended : entry::full;
            // Relaxed: a credit carries nothing; the inbox publishes the message.
            if (word_.swap(seen, seen + count, std::memory_order_relaxed))
                return entry::entered;
        }
    }
    /// Is there room? For who has said that it waits for some: when there is none, whoever gives
    /// credits back afterwards knows of it ("room").
    [[nodiscard]] bool has_room(std::uint32_t generation) noexcept {
        const word seen = word_.change([](word now) { return now; }, room.release());
        return !goes_on(seen, generation) || ((seen & waiting) == 0 && count_in(seen) < capacity());
    }
    /// As enter; puts the caller in the line when it is full (`w.carried` is its envelope), and the
    /// result is full then.
    [[nodiscard]] entry wait(std::uint32_t generation, gate_waiter& w) noexcept;
    /// Leaves the line. False when it was served meanwhile: `served` was called, or is about to be.
    [[nodiscard]] bool cancel(gate_waiter& w) noexcept;

    struct eviction {
        entry result;
        // Whose credit the caller has now. Null: there was room after all, or it is the owner's to
        // drop.
        envelope* out;
    };
    /// For drop_oldest, when full: makes room by taking out the oldest message that waits here. A
    /// control-aware mailbox gives no control message away (TC-M15), and none gives away a signal
    /// that the runtime owes. `full` when nothing may go:
    /// then messages may have moved from `in` to the side, and the caller looks for work again.
    [[nodiscard]] eviction evict(inbox& in, std::uint32_t generation) noexcept;

    // ---- owner

    /// Gives credits back; whoever waits gets them, with its envelope pushed to `in`.
    void leave(std::uint32_t count, inbox& in) noexcept {
        // The bit is in the same word, so it cannot be missed. Acquire: see has_room.
        const word before = word_.change([count](word now) { return now - count; }, room.acquire());
        if ((before & waiting) != 0) [[unlikely]]
            serve(in);
    }
    /// For drop_oldest: the next message, out of reach of senders; nullptr: there is none. Control
    /// messages of a control-aware mailbox come first.
    [[nodiscard]] envelope* take(inbox& in) noexcept;
    /// The deadline of the message that take would return, if it has one.
    [[nodiscard]] std::optional<std::int64_t> first_deadline(inbox& in) noexcept;
    // Of drop_oldest with an order, on hosts: `ages` belongs to the owner's queue.

    /// From now on those in `ages` are evicted first. When the life begins.
    void evict_by(age_list& ages) noexcept;
    /// As take, for the owner's queue. A message that may be evicted has a place in `ages` from
    /// then on, with that number; without memory for it, it has none, and stays.
    [[nodiscard]] envelope* take(inbox& in, age_list& ages, std::uint64_t number,
                                 std::uint32_t& place) noexcept;
    /// It is about to be handled, or lost. False: it was evicted, and is to be dropped.
    [[nodiscard]] bool claim(age_list& ages, std::uint32_t place, std::uint64_t number) noexcept;
    /// What `drop(has)` takes out of the owner's queue: has(place, number) is false for those that
    /// were evicted. Nothing when `count` messages are too many to look for a few.
    template <class Drop>
    [[nodiscard]] bool drop_evicted(const age_list& ages, std::uint32_t count,
                                    Drop&& drop) noexcept {
        const port::lock_guard held(mutex_);
        if (ages.evicted_count() == 0 || ages.evicted_count() < count / rest_per_evicted)
            return false;
        drop();
        return true;
    }
    /// Messages set aside by evict: they are older than the inbox. A look.
    [[nodiscard]] bool has_aside() const noexcept {
        return aside_count_.load(std::memory_order_relaxed) != 0;
    }
    /// Ends the life: nobody enters, whoever waits is told. What is set aside goes to `sink`, the
    /// oldest first. After the inbox was closed.
    template <class Sink>
    void close(Sink&& sink) noexcept {
        gate_waiter* line = end_life();
        while (envelope* e = pop_aside())
            sink(*e);
        note_aside();
        tell(line);
    }

private:
    TACTUS_CHECK_MODULE("mailbox_gate");

    using word = std::uintptr_t;

    /// As wide as a pointer, which is the widest that portable atomics are.
    class atomic_word {
    public:
        explicit atomic_word(word initial) noexcept : value_(packed_from(initial)) {}
        [[nodiscard]] word load(std::memory_order order) const noexcept {
            return word_from(value_.load(order));
        }
        void store(word to, std::memory_order order) noexcept {
            value_.store(packed_from(to), order);
        }
        /// False, and `seen` is what there is, when it was not `seen`, or for no reason.
        [[nodiscard]] bool swap(word& seen, word to, std::memory_order order) noexcept {
            packed* now = packed_from(seen);
            const bool done = value_.compare_exchange_weak(now, packed_from(to), order,
                                                           std::memory_order_relaxed);
            seen = word_from(now);
            return done;
        }
        /// Returns what there was.
        template <class To>
        word change(To&& to, std::memory_order order) noexcept {
            word seen = load(std::memory_order_relaxed);  // a guess; the swap verifies it
            while (!swap(seen, to(seen), order)) {
            }
            return seen;
        }

    private:
        struct packed;  // a pointer that points nowhere
        [[nodiscard]] static packed* packed_from(word w) noexcept {
            return reinterpret_cast<packed*>(w);
        }
        [[nodiscard]] static word word_from(packed* p) noexcept {
            return reinterpret_cast<word>(p);
        }
        port::atomic<packed*> value_;
    };

    static constexpr word count_mask = (word{1} << 21) - 1;
    static constexpr word waiting = word{1} << 21;
    static constexpr unsigned life_shift = 22;
    static constexpr word life_mask = ~((word{1} << life_shift) - 1);
    static constexpr std::uint32_t overflow_shift = 24;
    static constexpr std::uint32_t keeps_control = 1U << 31;
    static_assert(sizeof(word) > 4 || port::has_interrupts);  // see ABA

    [[nodiscard]] static constexpr word life_of(std::uint32_t generation) noexcept {
        return word{generation} << life_shift;
    }
    [[nodiscard]] static constexpr std::uint32_t count_in(word seen) noexcept {
        return static_cast<std::uint32_t>(seen & count_mask);
    }
    [[nodiscard]] static constexpr bool is_shut(word seen) noexcept {
        return (seen & count_mask) == count_mask;
    }
    [[nodiscard]] static constexpr bool goes_on(word seen, std::uint32_t generation) noexcept {
        return (seen & life_mask) == life_of(generation) && !is_shut(seen);
    }
    static constexpr std::uint32_t rest_per_evicted = 8;

    void set_aside(inbox& in) noexcept;
    void note_aside() noexcept {
        // Relaxed: who looks has seen the inbox emptied, which comes after (see inbox::set_aside).
        aside_count_.store(aside_.size() + control_aside_.size(), std::memory_order_relaxed);
    }
    [[nodiscard]] envelope* pop_aside() noexcept {
        envelope* e = control_aside_.pop();
        return e != nullptr ? e : aside_.pop();
    }
    [[nodiscard]] bool spares_control() const noexcept {
        return (settings_.load(std::memory_order_relaxed) & keeps_control) != 0;
    }
    /// Of the owner's queue, if it has any.
    struct host_ages {
        age_list* list = nullptr;
        [[nodiscard]] bool evict_oldest() const noexcept {
            return list != nullptr && list->evict_oldest();
        }
    };
    struct no_ages {
        static inline age_list* list = nullptr;  // named by code that a device leaves out
        [[nodiscard]] static bool evict_oldest() noexcept { return false; }
    };
    using ages_of_queue = std::conditional_t<port::has_interrupts, no_ages, host_ages>;

    void serve(inbox& in) noexcept;
    void end_waiting() noexcept;
    void append(gate_waiter& w) noexcept;
    void unlink(gate_waiter& w) noexcept;
    [[nodiscard]] gate_waiter* end_life() noexcept;
    static void tell(gate_waiter* line) noexcept;

    // "room": who waits for room elsewhere said so before the owner, who gives credits back, looks.
    static constexpr port::edge room{"gate-room"};
    atomic_word word_{count_mask};  // shut
    // Capacity and strategy; atomic, because a sender of an earlier life may read them.
    port::atomic<std::uint32_t> settings_{0};
    port::atomic<std::uint32_t> aside_count_{0};

    // Under the lock.
    port::mutex mutex_;
    gate_waiter* first_ = nullptr;
    gate_waiter* last_ = nullptr;
    duration push_timeout_;
    envelope_list aside_;
    envelope_list control_aside_;  // of a control-aware mailbox: not evicted
    [[no_unique_address]] ages_of_queue ages_;
};

}  // namespace tactus::inline v0
