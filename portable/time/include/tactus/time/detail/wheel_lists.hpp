// SPDX-License-Identifier: Apache-2.0
//
// The lists of a timer wheel: one per slot, linked by index through the nodes, with occupancy
// bitmaps.
//
// Linking touches the new node and the tail, which is only written, never read, so that nothing
// waits for it. With 16-bit links a list keeps its tail only, whose `next` is then the head: two
// bytes less per slot, and a device has no cache to wait for.
//
// A long list is a chain of cache misses, each waiting for the one before. So a list remembers the
// last few nodes it was given, and nodes carry a hint to a node a few places on, in the direction
// in which the list will be walked; the walker prefetches it and the misses overlap. Slots above
// level 0 are emptied from the tail, pushing to the front of the slots below, which are empty then:
// that keeps the order, and when a node is pushed those behind it are known. So an appended node
// gets its hint for nothing, and only level 0, which fires from the head, is hinted forwards. A
// hint may be stale: it is only ever prefetched.
//
// Slots above level 0 also remember their earliest deadline, so that next_deadline() need not walk.
// When that entry leaves, whoever asks next takes a census of the slot: how many entries each tick
// of its first occupied block of 256 has. The census is kept up to date, so further departures from
// that block cost nothing; the next walk is due when the block is empty.
//
// Invariants
//   L1  bit s of occupied(l) is set exactly when the list of slot (l, s) is not empty
//   L2  nodes are in the order they were appended
//   L3  if earliest_known, earliest is the least deadline_low in the list (slots above level 0)
//   L4  census_ counts exactly the entries of slot census_.where with deadline_low / 256 ==
//       census_.block, and that slot has none in an earlier block
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

    explicit wheel_lists(node_slab& nodes) noexcept : nodes_(nodes.data()) {}

    [[nodiscard]] bool empty(unsigned where) const noexcept { return lists_[where].tail == none; }
    [[nodiscard]] Index head(unsigned where) const noexcept { return lists_[where].head(nodes_); }
    /// The node after `index` in its list, or none.
    [[nodiscard]] Index after(Index index) const noexcept {
        const node& n = nodes_[index];
        return lists_[n.where].tail == index ? none : n.next;
    }

    /// Occupied slots of one wheel level.
    [[nodiscard]] const bitmap<slots_per_level>& occupied(std::size_t level) const noexcept {
        return occupied_[level];
    }

    /// Links a node behind all others of the list.
    void append(unsigned where, Index index) noexcept {
        list& l = lists_[where];
        node& n = nodes_[index];
        n.where = static_cast<std::uint16_t>(where);
        note_arrival(where, n.deadline_low);
        if (l.tail == none) [[unlikely]]
            start(l, where, index);
        else
            l.append(nodes_, n, index);
    }

    /// Links a node before all others of the list.
    void push_front(unsigned where, Index index) noexcept {
        list& l = lists_[where];
        node& n = nodes_[index];
        n.where = static_cast<std::uint16_t>(where);
        note_arrival(where, n.deadline_low);
        if (l.tail == none)
            start(l, where, index);
        else
            l.push_front(nodes_, n, index, where < slots_per_level);
    }

    void unlink(Index index) noexcept {
        const node& n = nodes_[index];
        list& l = lists_[n.where];
        l.remove(nodes_, n, index);
        note_departure(n.where, n.deadline_low);
        if (l.tail == none) [[unlikely]]
            occupied_[n.where / slots_per_level].clear(n.where % slots_per_level);
    }

    /// Takes the first node out, or returns none.
    [[nodiscard]] Index pop_front(unsigned where) noexcept {
        list& l = lists_[where];
        const Index index = l.head(nodes_);
        if (index == none)
            return none;
        prefetch_ahead(index);
        if (l.tail == index) {
            l.tail = none;
            occupied_[where / slots_per_level].clear(where % slots_per_level);
        } else {
            l.drop_head(nodes_, nodes_[index].next);
        }
        return index;
    }

    /// Empties a list and calls visit(index) for each node that was in it, in order; visit may link
    /// the node elsewhere.
    template <class Visit>
    void drain(unsigned where, Visit&& visit) noexcept {
        Index i = head(where);
        const Index last = take(where);
        while (i != none) {
            const Index next = i == last ? none : nodes_[i].next;
            visit(i);
            i = next;
        }
    }

    /// The same from the tail to the head.
    template <class Visit>
    void drain_backwards(unsigned where, Visit&& visit) noexcept {
        for (Index i = take(where); i != none;) {
            const Index previous = nodes_[i].prev;
            prefetch_ahead(i);
            visit(i);
            i = previous;
        }
    }

    /// Asks the cache for the nodes before and after `index`; what is in no list has none.
    void fetch_neighbours(Index index) const noexcept {
        port::prefetch(&nodes_[nodes_[index].prev]);
        port::prefetch(&nodes_[nodes_[index].next]);
    }

    /// Asks the cache for the node that the hint of `index` names.
    void prefetch_ahead(Index index) const noexcept {
        if constexpr (has_hints)
            port::prefetch(&nodes_[nodes_[index].hint]);
    }

    /// The least deadline_low in a list that is not empty. All deadlines of a wheel slot share
    /// their upper half.
    [[nodiscard]] std::uint32_t earliest(unsigned where) const noexcept {
        const list& l = lists_[where];
        if (l.knows_earliest())
            return l.earliest_deadline();
        if constexpr (has_hints) {
            if (census_.where != where || census_.ticks.empty())
                take_census(where);
            l.learn(census_.earliest());
            return census_.earliest();
        }
        std::uint32_t least = nodes_[l.tail].deadline_low;
        for (Index i = l.tail; i != none; i = nodes_[i].prev) {
            prefetch_ahead(i);
            if (nodes_[i].deadline_low < least)
                least = nodes_[i].deadline_low;
        }
        l.learn(least);
        return least;
    }

private:
    [[gnu::noinline]] void start(auto& l, unsigned where, Index index) noexcept {
        nodes_[index].prev = none;
        l.start(nodes_[index], index);
        occupied_[where / slots_per_level].set(where % slots_per_level);
    }

    void note_arrival(unsigned where, std::uint32_t deadline_low) noexcept {
        if constexpr (has_hints) {
            if (where == census_.where) [[unlikely]]
                census_.add(deadline_low);
        }
    }
    void note_departure(unsigned where, std::uint32_t deadline_low) noexcept {
        if constexpr (has_hints) {
            if (where == census_.where) [[unlikely]]
                census_.remove(deadline_low);
        }
    }
    void take_census(unsigned where) const noexcept {
        census_.begin(where);
        for (Index i = lists_[where].tail; i != none; i = nodes_[i].prev) {
            prefetch_ahead(i);
            census_.count_in(nodes_[i].deadline_low);
        }
    }

    // Forgets a list, and returns its tail.
    [[nodiscard]] Index take(unsigned where) noexcept {
        if constexpr (has_hints) {
            if (where == census_.where)
                census_.end();
        }
        const Index last = lists_[where].tail;
        lists_[where].tail = none;
        occupied_[where / slots_per_level].clear(where % slots_per_level);
        return last;
    }

    // How many entries of one slot are due at each tick of its first occupied block of 256 ticks.
    struct slot_census {
        static constexpr unsigned nowhere = ~0u;
        static constexpr unsigned block_bits = 8;

        unsigned where = nowhere;
        std::uint32_t block = 0;
        bitmap<256> ticks{};
        std::array<std::uint32_t, 256> counts{};

        void begin(unsigned slot) noexcept {
            clear();
            where = slot;
            block = ~std::uint32_t{0};
        }
        void end() noexcept { where = nowhere; }

        // While walking: an earlier block makes all that was counted so far worthless.
        void count_in(std::uint32_t deadline) noexcept {
            if (deadline >> block_bits < block) {
                clear();
                block = deadline >> block_bits;
            }
            if (deadline >> block_bits == block)
                count(deadline);
        }
        void add(std::uint32_t deadline) noexcept {
            if (deadline >> block_bits == block)
                count(deadline);
            else if (deadline >> block_bits < block)
                end();  // L4: an earlier block, of which nothing is known
        }
        void remove(std::uint32_t deadline) noexcept {
            if (deadline >> block_bits == block && --counts[deadline % 256] == 0)
                ticks.clear(deadline % 256);
        }
        [[nodiscard]] std::uint32_t earliest() const noexcept {
            return block << block_bits | static_cast<std::uint32_t>(ticks.first_from(0));
        }

    private:
        void count(std::uint32_t deadline) noexcept {
            ++counts[deadline % 256];
            ticks.set(deadline % 256);
        }
        void clear() noexcept {
            ticks = {};
            counts.fill(0);
        }
    };
    struct no_census {};

    // 32-bit links: half a cache line.
    struct alignas(32) far_list {
        static constexpr std::size_t remembered = 4;  // a power of two

        Index first = none;
        Index tail = none;
        mutable std::uint32_t earliest = 0;
        mutable std::uint16_t earliest_known = 0;
        std::uint16_t oldest = 0;
        std::array<Index, remembered> recent{};

        [[nodiscard]] Index head(const node*) const noexcept { return tail == none ? none : first; }
        void start(node& n, Index index) noexcept {
            first = index;
            tail = index;
            earliest = n.deadline_low;
            earliest_known = 1;
            recent.fill(index);
        }
        void append(node* nodes, node& n, Index index) noexcept {
            n.prev = tail;
            nodes[tail].next = index;
            tail = index;
            n.hint = remember(n, index);
        }
        void push_front(node* nodes, node& n, Index index, bool walked_forwards) noexcept {
            n.prev = none;
            n.next = first;
            nodes[first].prev = index;
            first = index;
            const Index behind = remember(n, index);
            if (walked_forwards)
                n.hint = behind;
            else
                nodes[behind].hint = index;
        }
        void drop_head(node* nodes, Index second) noexcept {
            first = second;
            nodes[second].prev = none;
        }
        // Returns the node that came `remembered` before this one.
        Index remember(const node& n, Index index) noexcept {
            if (n.deadline_low < earliest)
                earliest = n.deadline_low;
            const Index old = recent[oldest];
            recent[oldest] = index;
            oldest = (oldest + 1u) % remembered;
            return old;
        }
        void remove(node* nodes, const node& n, Index index) noexcept {
            if (n.prev == none)
                first = n.next;
            else
                nodes[n.prev].next = n.next;
            if (tail == index)
                tail = n.prev;
            else
                nodes[n.next].prev = n.prev;
            if (n.deadline_low == earliest)
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

        [[nodiscard]] Index head(const node* nodes) const noexcept {
            return tail == none ? none : nodes[tail].next;
        }
        void start(node& n, Index index) noexcept {
            n.next = index;
            tail = index;
        }
        void append(node* nodes, node& n, Index index) noexcept {
            n.prev = tail;
            n.next = nodes[tail].next;
            nodes[tail].next = index;
            tail = index;
        }
        void drop_head(node* nodes, Index second) noexcept {
            nodes[tail].next = second;
            nodes[second].prev = none;
        }
        void push_front(node* nodes, node& n, Index index, bool) noexcept {
            n.prev = none;
            n.next = nodes[tail].next;
            nodes[n.next].prev = index;
            nodes[tail].next = index;
        }
        void remove(node* nodes, const node& n, Index index) noexcept {
            nodes[n.prev == none ? tail : n.prev].next = n.next;
            if (tail == index)
                tail = n.prev;
            else
                nodes[n.next].prev = n.prev;
        }
        [[nodiscard]] bool knows_earliest() const noexcept { return false; }
        [[nodiscard]] std::uint32_t earliest_deadline() const noexcept { return 0; }
        void learn(std::uint32_t) const noexcept {}
    };

    using list = std::conditional_t<has_hints, far_list, near_list>;

    node* nodes_;  // the slab's cells, which never move
    std::array<bitmap<slots_per_level>, level_count + 1>
        occupied_{};  // last: lists that are no slots
    std::array<list, list_count> lists_{};
    [[no_unique_address]] mutable std::conditional_t<has_hints, slot_census, no_census> census_{};
};

}  // namespace tactus::inline v0::detail
