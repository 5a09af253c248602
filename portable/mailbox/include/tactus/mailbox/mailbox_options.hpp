// SPDX-License-Identifier: Apache-2.0
//
// Mailbox options: which kind of user queue an actor has, how much it holds, and what happens to a
// message that does not fit (MB-1, MB-4, MB-12).
#pragma once

#include <cstddef>
#include <cstdint>

#include <tactus/time/instant.hpp>

namespace tactus::inline v0 {

/// In what order user messages are handled.
enum class mailbox_kind : std::uint8_t {
    fifo,             // as they came
    deque,            // as they came; the actor may put some before all others (stash)
    priority,         // by a comparator; among equals in no particular order
    stable_priority,  // by a comparator; among equals as they came
    control_aware,    // control messages first; as they came within each
};
inline constexpr std::size_t mailbox_kind_count = 5;
[[nodiscard]] const char* name_of(mailbox_kind kind) noexcept;

/// What happens to a message that finds a bounded mailbox full.
enum class overflow : std::uint8_t {
    drop_oldest,  // the oldest that was not handed to its handler becomes a dead letter
    drop_newest,  // the new one becomes a dead letter
    reject,       // try_tell gives it back and publishes nothing; tell makes it a dead letter
    dead_letter,  // the new one becomes a dead letter
    block,        // offer waits; try_tell gives it back; tell makes it a dead letter, would_block
};
inline constexpr std::size_t overflow_count = 5;
[[nodiscard]] const char* name_of(overflow strategy) noexcept;

/// What a queue can do; an actor or a dispatcher may require some of it.
enum class capability : std::uint8_t {
    mpsc = 1,               // many senders, one owner
    deque = 2,              // the owner may put messages before all others
    blocking = 4,           // offer waits for room
    multiple_consumer = 8,  // several owners may take from one queue
    bounded = 16,           // never holds more than its capacity
    control_aware = 32,     // control messages pass others
    unbounded = 64,         // always takes another
};
inline constexpr std::size_t capability_count = 7;
[[nodiscard]] const char* name_of(capability c) noexcept;

class capability_set {
public:
    constexpr capability_set() noexcept = default;
    constexpr capability_set(capability one) noexcept  // NOLINT: one is a set
        : bits_(static_cast<std::uint8_t>(one)) {}

    [[nodiscard]] constexpr bool has(capability_set all) const noexcept {
        return (bits_ & all.bits_) == all.bits_;
    }
    [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }
    [[nodiscard]] constexpr capability_set without(capability_set some) const noexcept {
        capability_set rest;
        rest.bits_ = static_cast<std::uint8_t>(bits_ & ~unsigned{some.bits_});
        return rest;
    }
    /// What `required` has and this has not; the one with the lowest value. Requires: !has.
    [[nodiscard]] constexpr capability first_missing(capability_set required) const noexcept {
        const unsigned missing = required.bits_ & ~unsigned{bits_};
        return static_cast<capability>(missing & (~missing + 1));
    }
    friend constexpr capability_set operator|(capability_set a, capability_set b) noexcept {
        capability_set sum;
        sum.bits_ = static_cast<std::uint8_t>(a.bits_ | b.bits_);
        return sum;
    }
    friend constexpr bool operator==(capability_set, capability_set) = default;

private:
    std::uint8_t bits_ = 0;
};
constexpr capability_set operator|(capability a, capability b) noexcept {
    return capability_set(a) | capability_set(b);
}

struct mailbox_options {
    static constexpr std::uint32_t unbounded = 0xffff'ffff;
    static constexpr std::uint32_t default_capacity = 1'000;  // of a mailbox asked to be bounded

    mailbox_kind kind = mailbox_kind::fifo;
    overflow when_full = overflow::dead_letter;
    std::uint8_t pressure_percent = 75;            // 0: no pressure events
    std::uint32_t capacity = unbounded;            // 0 is refused
    duration push_timeout = duration::from_s(10);  // of offer, where none is given
    std::uint32_t stash_capacity = unbounded;

    /// MB-12: as bounded mailboxes are where nothing else is said.
    [[nodiscard]] static constexpr mailbox_options bounded() noexcept {
        mailbox_options o;
        o.capacity = default_capacity;
        return o;
    }
    [[nodiscard]] constexpr bool is_bounded() const noexcept { return capacity != unbounded; }
    [[nodiscard]] constexpr capability_set capabilities() const noexcept {
        capability_set all = capability::mpsc;
        all = all | (is_bounded() ? capability::bounded : capability::unbounded);
        if (kind == mailbox_kind::deque)
            all = all | capability::deque;
        if (kind == mailbox_kind::control_aware)
            all = all | capability::control_aware;
        if (is_bounded() && when_full == overflow::block)
            all = all | capability::blocking;
        return all;
    }
    /// Nothing that the shortest way of a message does not do.
    [[nodiscard]] constexpr bool is_plain() const noexcept {
        return kind == mailbox_kind::fifo && !is_bounded();
    }
    friend constexpr bool operator==(const mailbox_options&, const mailbox_options&) = default;
};

}  // namespace tactus::inline v0
