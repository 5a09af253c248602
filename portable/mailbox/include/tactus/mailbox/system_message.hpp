// SPDX-License-Identifier: Apache-2.0
//
// System messages: what the runtime tells an actor about its life, and the lists they form.
//
// A system message cannot fail for memory: its node is part of the cell or of the watch entry that
// causes it, made when the actor was spawned or the watch began (SQ-3). What cannot be embedded
// uses an envelope of the reserve (SQ-5).
//
// A chain is either newest first, as it lies in the queue, or oldest first, as it is handled; two
// types, so that nobody handles one in the wrong order. What is put off is in a ring.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tactus/base/check.hpp>
#include <tactus/mailbox/mailbox_index.hpp>
#include <tactus/port/port.hpp>

namespace tactus::inline v0 {

enum class system_kind : std::uint8_t {
    create,
    recreate,
    suspend,
    resume,
    terminate,
    supervise,
    watch,
    unwatch,
    failed,
    death_watch_notification,
    receive_timeout,
    continuation,  // a coroutine to resume: counts against throughput, held while supervised
    go_on,         // work that takes several runs: see slot::begin_work
};
inline constexpr std::size_t system_kind_count = 13;
[[nodiscard]] const char* name_of(system_kind kind) noexcept;

/// One system message. Embedded in what causes it; in at most one queue at a time.
struct system_message {
    port::plain<system_message*> next;   // null exactly while it is in no chain, or the last of one
    port::plain<mailbox_index> subject;  // the other actor it is about, if any
    port::plain<void*> data;             // what the kind says
    /// Called once when it was handled or refused, and the node is free again; may be null.
    void (*done)(system_message&) noexcept = nullptr;
    system_kind kind = system_kind::create;
    bool linked = false;         // in a queue; a second push before it was handled is a bug
    std::uint16_t instance = 0;  // of a cell only, where it counts instances; would be padding
    // Of the receiver, as in an envelope: who was late is not taken for a sender to the next life.
    port::plain<std::uint32_t> generation;
};

/// Handled in this order.
class oldest_first {
public:
    constexpr oldest_first() = default;
    explicit constexpr oldest_first(system_message* head) noexcept : head_(head) {}

    [[nodiscard]] constexpr bool empty() const noexcept { return head_ == nullptr; }
    [[nodiscard]] constexpr system_message* head() const noexcept { return head_; }
    [[nodiscard]] std::size_t size() const noexcept;
    /// Takes the first one out, unlinked. Null when empty.
    [[nodiscard]] system_message* pop() noexcept {
        system_message* first = head_;
        if (first != nullptr) {
            head_ = first->next.read();
            first->next.write(nullptr);
            first->linked = false;
        }
        return first;
    }

    friend constexpr bool operator==(const oldest_first&, const oldest_first&) = default;

private:
    system_message* head_ = nullptr;
};

/// Pushed in this order.
class newest_first {
public:
    constexpr newest_first() = default;
    explicit constexpr newest_first(system_message* head) noexcept : head_(head) {}

    [[nodiscard]] constexpr bool empty() const noexcept { return head_ == nullptr; }
    [[nodiscard]] constexpr system_message* head() const noexcept { return head_; }
    [[nodiscard]] std::size_t size() const noexcept { return oldest_first(head_).size(); }
    [[nodiscard]] newest_first tail() const noexcept { return newest_first(head_->next.read()); }
    /// Requires: `m` is in no chain (check system_list:1).
    void push(system_message& m) noexcept;
    /// Links rewritten in place; this list is empty afterwards.
    [[nodiscard]] oldest_first reverse() noexcept { return reverse_onto({}); }
    /// As reverse, in front of `rest`.
    [[nodiscard]] oldest_first reverse_onto(oldest_first rest) noexcept;

private:
    TACTUS_CHECK_MODULE("system_list");

    system_message* head_ = nullptr;
};

/// Added at one end, and taken at the other: a ring that is known by its newest.
class system_ring {
public:
    [[nodiscard]] bool empty() const noexcept { return newest_ == nullptr; }
    /// Requires: `m` is in no chain.
    void push(system_message& m) noexcept;
    /// Takes the oldest one out, unlinked. Requires: not empty.
    [[nodiscard]] system_message& pop() noexcept;
    /// All of them, in front of `rest`; the ring is empty afterwards.
    [[nodiscard]] oldest_first take_onto(oldest_first rest) noexcept;

private:
    system_message* newest_ = nullptr;
};

}  // namespace tactus::inline v0
