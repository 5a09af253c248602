// SPDX-License-Identifier: Apache-2.0
//
// Mailbox block: what a mailbox has that is not plain: a queue of its kind, a gate when it is
// bounded, and whether its senders have been warned.
//
// A slot gets one when its first such life begins, and keeps it: senders that are late find it
// whatever the slot is by then (see mailbox_gate). Plain mailboxes, first in first out and
// unbounded, have none and pay nothing.
//
// Thread safety: the gate says for itself; warn() from any thread; the rest is the owner's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include <tactus/base/memory_source.hpp>
#include <tactus/mailbox/mailbox_gate.hpp>
#include <tactus/mailbox/mailbox_options.hpp>
#include <tactus/mailbox/user_queue.hpp>
#include <tactus/port/port.hpp>

namespace tactus::inline v0 {

/// What came of putting messages before all others.
enum class prepended : std::uint8_t {
    done,
    not_a_deque,  // the kind has no such place
    full,         // not room for all of them; nothing is evicted, whatever the strategy
    no_memory,    // for the queue to grow
};
inline constexpr std::size_t prepended_count = 4;
[[nodiscard]] const char* name_of(prepended result) noexcept;

class mailbox_block {
public:
    explicit mailbox_block(memory_source& memory) noexcept : memory_(memory) {}
    ~mailbox_block() { end_queue(); }
    mailbox_block(const mailbox_block&) = delete;
    mailbox_block& operator=(const mailbox_block&) = delete;

    /// Begins a life. Requires: `order` for the priority kinds (check mailbox_block:1).
    void open(const mailbox_options& o, std::uint32_t generation, message_order* order) noexcept;

    [[nodiscard]] const mailbox_options& options() const noexcept { return options_; }
    [[nodiscard]] mailbox_gate& gate() noexcept { return gate_; }
    [[nodiscard]] const mailbox_gate& gate() const noexcept { return gate_; }
    [[nodiscard]] user_queue& queue() noexcept { return *queue_; }

    // ---- owner

    /// The next message; its credit is given back. Null when there is none, or the queue is broken.
    [[nodiscard]] envelope* next(inbox& in) noexcept;
    /// Moves what the inbox has to the queue, unless senders evict it, and says how many messages
    /// wait, about.
    [[nodiscard]] std::uint32_t fetch(inbox& in) noexcept;
    /// The deadline of the next message, if it has one.
    [[nodiscard]] std::optional<std::int64_t> first_deadline(inbox& in) noexcept;
    [[nodiscard]] bool empty() noexcept { return queue_->size() == 0 && !gate_.has_aside(); }
    /// Gives back credits that were kept to give them back together. At the end of a run.
    void settle(inbox& in) noexcept {
        if (owed_ != 0)
            leave(in);
    }
    /// MB-3, MB-7: all of `batch`, in its order, before everything that is queued; or an error, and
    /// the batch is as it was.
    [[nodiscard]] prepended prepend(envelope_list& batch) noexcept;
    /// RG-4: makes a broken queue usable. Messages that lost their order, or found no place, go to
    /// `lost`, and their credits are given back. Signals that the runtime owes stay, instead of the
    /// newest messages of a deque; of other kinds they go to `first`, the newest first, and the
    /// caller puts them before everything else.
    void mend(inbox& in, envelope_list& lost, envelope_list& first) noexcept;
    /// A message of a priority mailbox that a sender evicted from the queue; null: no more. Its
    /// credit is that sender's.
    [[nodiscard]] envelope* take_evicted() noexcept { return evicted_.pop(); }
    /// What is left goes to `sink`: the queue in its order, then what was set aside; whoever waits
    /// at the gate is told. Requires: the inbox is closed.
    template <class Sink>
    void close(Sink&& sink) noexcept {
        while (envelope* e = queue_->take_unreadable())
            sink(*e);
        while (envelope* e = queue_->pop())
            sink(*e);
        while (envelope* e = unplaced_.pop())
            sink(*e);
        while (envelope* e = evicted_.pop())
            sink(*e);
        if (options_.is_bounded())
            gate_.close(sink);
        end_queue();
    }

    /// Tells the time, now and then, while warned(): a second after the last event the next message
    /// above the threshold makes another.
    void time_passed(instant now) noexcept;

    // ---- senders

    struct pressure {
        std::uint32_t length = 0;
        std::uint32_t capacity = 0;
        std::uint32_t percent = 0;  // 0: nothing worth an event
    };
    /// MB-5: after entering: how full it is, when that is worth an event.
    [[nodiscard]] pressure warn() noexcept;
    [[nodiscard]] bool warned() const noexcept {
        return warned_.load(std::memory_order_relaxed) != 0;
    }

private:
    TACTUS_CHECK_MODULE("mailbox_block");

    static constexpr std::uint32_t together_max = 16;  // credits given back at once
    static constexpr std::uint32_t calm_percent = 50;

    /// The credit of a message that was meant for an earlier life went with that.
    [[nodiscard]] bool has_credit(const envelope& e) const noexcept {
        return options_.is_bounded() && e.generation() == generation_ && !e.owed();
    }
    void leave(inbox& in) noexcept;
    void fetch_aged(inbox& in) noexcept;
    [[nodiscard]] envelope* pop_aged() noexcept;
    /// A message that has left the queue. False: it was evicted, and is not the caller's.
    [[nodiscard]] bool claim(envelope& e, const priority_queue::aged& was) noexcept;
    [[nodiscard]] bool is_by_age() const noexcept {
        return !port::has_interrupts && evictable_ == evictable::by_age;
    }
    [[nodiscard]] priority_queue& by_priority() noexcept {
        return static_cast<priority_queue&>(*queue_);
    }
    void end_queue() noexcept;
    void warn_again() noexcept {
        warned_at_ = instant::never();
        warned_.store(0, std::memory_order_relaxed);
    }

    memory_source& memory_;
    mailbox_options options_;
    mailbox_gate gate_;
    port::atomic<std::uint32_t> warn_at_{0};  // messages; 0: never. Atomic: see the gate's settings
    port::atomic<std::uint32_t> warned_{0};
    user_queue* queue_ = nullptr;
    envelope_list unplaced_;      // taken from the inbox when the queue broke down
    std::uint32_t owed_ = 0;      // credits not given back yet
    std::uint32_t together_ = 1;  // credits given back at once
    bool looks_always_ = false;   // newer messages may come before those in the queue
    // What senders may evict of what waits. All: it stays at the gate, and the queue has only what
    // was put before it. By age: it is in the queue, and its age at the gate. But some: those that
    // a device's queue has stay.
    enum class evictable : std::uint8_t { none, but_some, by_age, all };
    static constexpr std::uint32_t taken_at_once_max = 64;  // of but_some
    struct no_list {                                        // of a device
        [[nodiscard]] static bool push(envelope&) noexcept { return false; }
        [[nodiscard]] static envelope* pop() noexcept { return nullptr; }
    };
    evictable evictable_ = evictable::none;
    // Evicted by age, and no longer in the queue.
    [[no_unique_address]] std::conditional_t<port::has_interrupts, no_list, envelope_list> evicted_;
    std::uint32_t generation_ = 0;
    instant warned_at_ = instant::never();  // when the owner first saw it; never: not yet

    static constexpr std::size_t queue_size =
        std::max({sizeof(envelope_list), sizeof(envelope_deque), sizeof(priority_queue),
                  sizeof(control_queue)});
    alignas(std::max_align_t) std::byte storage_[queue_size];
};

}  // namespace tactus::inline v0
