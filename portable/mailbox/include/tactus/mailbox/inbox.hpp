// SPDX-License-Identifier: Apache-2.0
//
// Inbox: where senders leave envelopes for one mailbox. Lock-free, many senders, one owner.
//
// A stack: push puts an envelope on top with one compare-and-swap; the owner takes the whole stack
// with one exchange and reverses it, so a cache line crosses the cores once per batch. What a
// sender did before push() is visible to the owner once take_all() returns the envelope.
//
// All zero means closed. So memory that was never opened, or was given back to the system and reads
// as zeros, refuses every sender: a late one cannot leave anything behind in it.
//
// Invariants
//   I1  the head is closed (null), empty (a mark), or the newest envelope of a chain that ends with
//       the empty mark
//   I2  only the owner takes, opens and closes; a push never leaves the closed state
//
// Thread safety: push and looks_empty from any thread; the rest is the owner's.
#pragma once

#include <cstdint>

#include <tactus/mailbox/envelope.hpp>
#include <tactus/port/port.hpp>

namespace tactus::inline v0 {

enum class pushed : std::uint8_t {
    behind_others,  // somebody else has seen to it that the owner looks
    first,          // the inbox was empty: the sender now tells the state engine
    closed,         // not taken; the envelope is still the sender's
};

/// A stack of intrusive nodes with a closed state: the inbox, and the system queue.
template <class Node>
class closable_stack {
public:
    /// Callable from any thread.
    [[nodiscard]] pushed push(Node& node) noexcept {
        Node* seen = head_.load(std::memory_order_relaxed);  // a guess; the exchange verifies it
        do {
            if (seen == nullptr) [[unlikely]]
                return pushed::closed;
            node.next.write(seen);
        } while (!head_.compare_exchange_weak(seen, &node, published.seq_cst(),
                                              std::memory_order_relaxed));
        return seen == empty_mark() ? pushed::first : pushed::behind_others;
    }

    /// True when the owner would find nothing: empty, or closed. Callable from any thread; who has
    /// just given up ownership sees every push that did not see that.
    [[nodiscard]] bool looks_empty() const noexcept {
        Node* seen = head_.load(published.seq_cst());
        return seen == empty_mark() || seen == nullptr;
    }
    [[nodiscard]] bool closed() const noexcept {
        return head_.load(std::memory_order_relaxed) == nullptr;
    }

    /// Takes everything: the oldest first, linked by next, the last one's is null. Null when empty.
    /// Owner only.
    [[nodiscard]] Node* take_all() noexcept {
        std::uint32_t count = 0;
        return take_all(count);
    }
    /// As above; `count` becomes the number of nodes.
    [[nodiscard]] Node* take_all(std::uint32_t& count) noexcept {
        count = 0;
        Node* seen = head_.load(std::memory_order_relaxed);
        if (seen == empty_mark() || seen == nullptr)
            return nullptr;
        return reversed(head_.exchange(empty_mark(), taken.acquire()), count);
    }

    /// As take_all, for who makes it known in another word, before, that something is set aside
    /// (see mailbox_gate): whoever then finds the stack empty finds that too. Owner, or under the
    /// lock that the owner takes as well.
    [[nodiscard]] Node* set_aside() noexcept {
        Node* seen = head_.load(std::memory_order_relaxed);
        if (seen == empty_mark() || seen == nullptr)
            return nullptr;
        // A sender may set aside while the owner closes: closed stays closed.
        while (!head_.compare_exchange_weak(seen, empty_mark(), aside.acq_rel(),
                                            std::memory_order_relaxed)) {
            if (seen == nullptr)
                return nullptr;
        }
        std::uint32_t count = 0;
        return reversed(seen, count);
    }

    /// Refuses everybody from now on and takes what was there, the oldest first. Owner only.
    [[nodiscard]] Node* close() noexcept {
        std::uint32_t count = 0;
        return reversed(head_.exchange(nullptr, taken.acquire()), count);
    }

    /// Accepts from now on. Owner only. Requires: closed.
    void open() noexcept { head_.store(empty_mark(), opened.release()); }

private:
    /// An address no node has.
    [[nodiscard]] static Node* empty_mark() noexcept {
        return reinterpret_cast<Node*>(std::uintptr_t{1});
    }

    [[nodiscard]] static Node* reversed(Node* newest, std::uint32_t& count) noexcept {
        if (newest == nullptr)
            return nullptr;
        Node* done = nullptr;
        while (newest != empty_mark()) {
            Node* older = newest->next.read();
            port::prefetch(newest + 1);
            port::prefetch(newest - 1);
            newest->next.write(done);
            done = newest;
            newest = older;
            ++count;
        }
        return done;
    }

    // The newest node. Written by senders (push) and the owner (take_all, close, open).
    // "taken": push's release -> take_all's and close's acquire exchange. Each push is a
    //    read-modify-write and continues the release sequence below it: one acquire covers the
    //    chain.
    // "published" adds to that: push, then a look at the state word, against giving up the
    //    scheduled bit, then looks_empty. The two words must be seen in one order, or a wake-up is
    //    lost.
    // "opened": what prepared the mailbox happens before the first push.
    static constexpr port::edge published{"stack-published"};
    static constexpr port::edge taken{"stack-taken"};
    // "aside": what a sender set aside -> who finds the stack empty. Also "taken".
    static constexpr port::edge opened{"stack-opened"};
    static constexpr port::edge aside{"stack-aside"};
    port::atomic<Node*> head_{nullptr};
};

using inbox = closable_stack<envelope>;

}  // namespace tactus::inline v0
