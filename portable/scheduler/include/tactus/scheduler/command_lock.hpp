// SPDX-License-Identifier: Apache-2.0
//
// Command lock: a lock whose holder also does what others came for meanwhile (SC-6).
//
// Who finds it free goes in and does its work; who finds it taken leaves a note (a node) for the
// holder and goes away. The holder does what was left, oldest first, before it lets go. Nobody
// waits, and nothing is left behind: the lock and the list of notes are one word, so letting go
// succeeds only when there is no note.
//
//     null         free
//     `nothing`    held, nothing left
//     a node       held; the newest note
//
// Notes that were left by calls that ended before another call began are done before that one's.
//
// Where there are interrupts there is one thread: only a handler, or who is inside, could find the
// lock taken, and would wait for ever. So nobody waits there (check command_lock:1), and handlers
// are refused before they come here.
//
// Thread safety: any thread; not from interrupt handlers. A node is left at most once at a time.
#pragma once

#include <cstdint>

#include <tactus/base/check.hpp>
#include <tactus/port/port.hpp>

namespace tactus::inline v0 {

/// `Node` lends a member `port::plain<Node*> next`, and is aligned to 2 at least.
template <class Node>
class command_lock {
public:
    command_lock() = default;
    command_lock(const command_lock&) = delete;
    command_lock& operator=(const command_lock&) = delete;

    /// False: it is taken.
    [[nodiscard]] bool try_enter() noexcept {
        Node* seen = nullptr;
        return word_.compare_exchange_strong(seen, nothing(), entered.acquire(),
                                             std::memory_order_relaxed);
    }
    /// Waits. Not by who is inside.
    void enter() noexcept {
        while (!try_enter()) {
            TACTUS_CHECK(1, !port::has_interrupts);
            for (unsigned i = 0; i < spins && word_.load(std::memory_order_relaxed) != nullptr; ++i)
                port::pause();
            if (word_.load(std::memory_order_relaxed) != nullptr)
                port::yield();
        }
    }
    /// True: the caller is inside. False: the node was left for who is, and will be applied.
    [[nodiscard]] bool enter_or_leave(Node& node) noexcept {
        Node* seen = word_.load(std::memory_order_relaxed);
        for (;;) {
            if (seen == nullptr) {
                if (word_.compare_exchange_weak(seen, nothing(), entered.acquire(),
                                                std::memory_order_relaxed))
                    return true;
            } else {
                node.next.write(seen);
                if (word_.compare_exchange_weak(seen, &node, left.release(),
                                                std::memory_order_relaxed))
                    return false;
            }
        }
    }
    /// Lets go; false when something was left: do_left() first. Requires: the caller is inside.
    [[nodiscard]] bool try_leave() noexcept {
        Node* seen = nothing();
        return word_.compare_exchange_strong(seen, nullptr, entered.release(),
                                             std::memory_order_relaxed);
    }
    /// Does what was left so far, oldest first, by calling apply(Node&). Requires: the caller is
    /// inside, and stays there.
    template <class Apply>
    void do_left(Apply&& apply) noexcept {
        if (word_.load(std::memory_order_relaxed) == nothing()) [[likely]]
            return;
        Node* node = reversed(word_.exchange(nothing(), left.acquire()));
        while (node != nullptr) {
            Node* const next = node->next.read();
            apply(*node);
            node = next;
        }
    }

private:
    TACTUS_CHECK_MODULE("command_lock");
    static constexpr unsigned spins = 64;

    /// No node is there.
    [[nodiscard]] static Node* nothing() noexcept {
        return reinterpret_cast<Node*>(std::uintptr_t{1});
    }
    [[nodiscard]] static Node* reversed(Node* newest) noexcept {
        Node* oldest = nullptr;
        while (newest != nothing()) {
            Node* const next = newest->next.read();
            newest->next.write(oldest);
            oldest = newest;
            newest = next;
        }
        return oldest;
    }

    // "entered": what the last holder did is seen by the next.
    static constexpr port::edge entered{"commands-entered"};
    // "left": a note is written before the holder reads it.
    static constexpr port::edge left{"commands-left"};
    port::atomic<Node*> word_{nullptr};
};

}  // namespace tactus::inline v0
