// SPDX-License-Identifier: Apache-2.0
//
// The lists of a timer wheel: one per slot, linked by index through the nodes, with occupancy
// bitmaps.
//
// A list knows its tail only. The tail's `next` is the head, the head's `prev` is none: appending
// touches the new node and the tail, which was touched last and is therefore near; taking from the
// front or the middle is O(1) too.
//
// A long list is a chain of cache misses, each waiting for the one before. So a list remembers the
// last few nodes appended; appending gives the oldest of them a hint to the new node. Whoever walks
// the list prefetches the hint, and the misses overlap. A hint may be stale: it is only ever
// prefetched.
//
// Slots above level 0 also remember their earliest deadline, so that next_deadline() need not walk.
// When that entry leaves, the slot's earliest is unknown until somebody asks, who then walks once.
//
// Invariants
//   L1  bit s of occupied(l) is set exactly when the list of slot (l, s) is not empty
//   L2  nodes are in the order they were appended
//   L3  if earliest_known, earliest is the least deadline_low in the list (slots above level 0)
//
// Thread safety: none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <tactus/base/bitmap.hpp>
#include <tactus/base/slab.hpp>
#include <tactus/port/port.hpp>
#include <tactus/time/detail/timer_node.hpp>

namespace tactus::inline v0::detail {

template <class Index>
class wheel_lists {
public:
    using node = timer_node<Index>;
    using node_slab = slab<node, Index>;
    static constexpr Index none = node_slab::none;
    static constexpr bool has_hints = sizeof(Index) == 4;

    explicit wheel_lists(node_slab& nodes) noexcept : nodes_(nodes) {}

    [[nodiscard]] bool empty(std::uint16_t where) const noexcept {
        return lists_[where].tail == none;
    }
    [[nodiscard]] Index head(std::uint16_t where) const noexcept {
        const Index tail = lists_[where].tail;
        return tail == none ? none : nodes_[tail].next;
    }
    [[nodiscard]] Index tail(std::uint16_t where) const noexcept { return lists_[where].tail; }

    /// Occupied slots of one wheel level.
    [[nodiscard]] const bitmap<slots_per_level>& occupied(std::size_t level) const noexcept {
        return occupied_[level];
    }

    void append(std::uint16_t where, Index index) noexcept {
        list& l = lists_[where];
        node& n = nodes_[index];
        n.where = where;
        if (l.tail == none) {
            n.next = index;
            n.prev = none;
            l.start(index, n.deadline_low);
            occupied_[where / slots_per_level].set(where % slots_per_level);
            return;
        }
        node& last = nodes_[l.tail];
        n.next = last.next;
        n.prev = l.tail;
        last.next = index;
        const Index far = l.extend(index, n.deadline_low);
        if constexpr (has_hints)
            nodes_[far].hint = index;
    }

    void unlink(Index index) noexcept {
        const node& n = nodes_[index];
        list& l = lists_[n.where];
        if (l.tail == index) {
            l.tail = n.prev;
            if (n.prev == none) {
                occupied_[n.where / slots_per_level].clear(n.where % slots_per_level);
                return;
            }
            nodes_[n.prev].next = n.next;
        } else {
            nodes_[n.prev == none ? l.tail : n.prev].next = n.next;
            nodes_[n.next].prev = n.prev;
        }
        l.forget(n.deadline_low);
    }

    /// Takes the whole list away from its slot and returns its head, or none. Walk it with `next`,
    /// which ends at the head again; appending a node elsewhere while walking is fine once its
    /// `next` was read.
    [[nodiscard]] Index detach(std::uint16_t where) noexcept {
        list& l = lists_[where];
        if (l.tail == none)
            return none;
        const Index first = nodes_[l.tail].next;
        l.tail = none;
        occupied_[where / slots_per_level].clear(where % slots_per_level);
        return first;
    }

    /// Asks the cache for the node that the hint of `index` names.
    void prefetch_ahead(Index index) const noexcept {
        if constexpr (has_hints)
            port::prefetch(&nodes_[nodes_[index].hint]);
    }

    /// The least deadline_low in a list that is not empty. All deadlines of a wheel slot share
    /// their upper half.
    [[nodiscard]] std::uint32_t earliest(std::uint16_t where) const noexcept {
        const list& l = lists_[where];
        if (l.knows_earliest())
            return l.earliest_deadline();
        const Index first = nodes_[l.tail].next;
        std::uint32_t least = nodes_[first].deadline_low;
        for (Index i = nodes_[first].next; i != first; i = nodes_[i].next) {
            prefetch_ahead(i);
            if (nodes_[i].deadline_low < least)
                least = nodes_[i].deadline_low;
        }
        l.learn(least);
        return least;
    }

private:
    // 32-bit links: what is known about a list fills half a cache line.
    struct far_list {
        static constexpr std::size_t remembered = 5;

        Index tail = none;
        mutable std::uint32_t earliest = 0;
        mutable std::uint16_t earliest_known = 0;
        std::uint16_t oldest = 0;
        std::array<Index, remembered> recent{};

        void start(Index index, std::uint32_t deadline) noexcept {
            tail = index;
            earliest = deadline;
            earliest_known = 1;
            recent.fill(index);
        }
        // Returns the node that is now `remembered` places behind.
        Index extend(Index index, std::uint32_t deadline) noexcept {
            tail = index;
            if (deadline < earliest)
                earliest = deadline;
            const Index far = recent[oldest];
            recent[oldest] = index;
            oldest = static_cast<std::uint16_t>(oldest + 1 == remembered ? 0 : oldest + 1);
            return far;
        }
        void forget(std::uint32_t deadline) noexcept {
            if (deadline == earliest)
                earliest_known = 0;
        }
        [[nodiscard]] bool knows_earliest() const noexcept { return earliest_known != 0; }
        [[nodiscard]] std::uint32_t earliest_deadline() const noexcept { return earliest; }
        void learn(std::uint32_t deadline) const noexcept {
            earliest = deadline;
            earliest_known = 1;
        }
    };

    // 16-bit links: two bytes per slot; a walk over the few timers of a device is short.
    struct near_list {
        Index tail = none;

        void start(Index index, std::uint32_t) noexcept { tail = index; }
        Index extend(Index index, std::uint32_t) noexcept {
            tail = index;
            return index;
        }
        void forget(std::uint32_t) noexcept {}
        [[nodiscard]] bool knows_earliest() const noexcept { return false; }
        [[nodiscard]] std::uint32_t earliest_deadline() const noexcept { return 0; }
        void learn(std::uint32_t) const noexcept {}
    };

    using list = std::conditional_t<has_hints, far_list, near_list>;

    node_slab& nodes_;
    std::array<bitmap<slots_per_level>, level_count + 1>
        occupied_{};  // the last: the lists that are no slots
    std::array<list, list_count> lists_{};
};

}  // namespace tactus::inline v0::detail
