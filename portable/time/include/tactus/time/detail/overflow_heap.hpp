// SPDX-License-Identifier: Apache-2.0
//
// Overflow of a timer wheel: entries too far away for a slot, in a binary heap by (deadline tick,
// sequence).
//
// Each node knows its place in the heap, so that removing from the middle is O(log n) and leaves no
// tombstone (TW-8). Sequences are compared around the circle: the counter may wrap (TW-12).
//
// Invariant
//   H1  entry i is not later than entries 2i+1 and 2i+2, and nodes[entry.node].next == i
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tactus/base/memory_region.hpp>
#include <tactus/base/slab.hpp>
#include <tactus/time/detail/timer_node.hpp>
#include <tactus/time/tick_scale.hpp>

namespace tactus::inline v0::detail {

template <class Index>
class overflow_heap {
public:
    using node_slab = slab<timer_node<Index>, Index>;

    struct entry {
        tick deadline;
        std::uint64_t sequence;
        Index node;
    };

    overflow_heap(node_slab& nodes, memory_region* memory, std::size_t capacity) noexcept
        : nodes_(nodes),
          memory_(memory),
          entries_(memory == nullptr ? nullptr : reinterpret_cast<entry*>(memory->data())),
          capacity_(capacity) {}

    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
    [[nodiscard]] const entry& top() const noexcept { return entries_[0]; }

    /// Makes sure that the next push succeeds. False: full, or no memory.
    [[nodiscard]] bool reserve_one() noexcept {
        if (count_ == capacity_)
            return false;
        const std::size_t room = memory_->size() / sizeof(entry);
        if (count_ < room)
            return true;
        std::size_t wanted = room < 32 ? 64 : room * 2;
        if (wanted > capacity_)
            wanted = capacity_;
        return memory_->resize(wanted * sizeof(entry));
    }

    /// Requires: reserve_one() said yes.
    void push(const entry& e) noexcept {
        nodes_[e.node].where = in_overflow;
        sift_up(count_++, e);
    }

    /// Takes the node's entry out.
    void remove(Index node) noexcept { remove_at(nodes_[node].next); }

    entry pop() noexcept {
        const entry first = entries_[0];
        remove_at(0);
        return first;
    }

    /// Gives back memory beyond `retained` entries. Requires: empty.
    void release_memory(std::size_t retained) noexcept {
        if (memory_ != nullptr && memory_->size() > retained * sizeof(entry))
            (void)memory_->resize(retained * sizeof(entry));  // refused: it keeps what it has
    }

    /// Calls visit(entry) for every entry with a deadline up to `last`, in no particular order.
    template <class Visit>
    void for_each_until(tick last, Visit&& visit, std::size_t at = 0) const noexcept {
        if (at >= count_ || entries_[at].deadline > last)
            return;
        visit(entries_[at]);
        for_each_until(last, visit, 2 * at + 1);
        for_each_until(last, visit, 2 * at + 2);
    }

private:
    [[nodiscard]] static bool earlier(const entry& a, const entry& b) noexcept {
        if (a.deadline != b.deadline)
            return a.deadline < b.deadline;
        return static_cast<std::int64_t>(a.sequence - b.sequence) < 0;
    }

    void put(std::size_t at, const entry& e) noexcept {
        entries_[at] = e;
        nodes_[e.node].next = static_cast<Index>(at);
    }

    void sift_up(std::size_t at, const entry& e) noexcept {
        const entry rising = e;
        while (at > 0) {
            const std::size_t parent = (at - 1) / 2;
            if (!earlier(rising, entries_[parent]))
                break;
            put(at, entries_[parent]);
            at = parent;
        }
        put(at, rising);
    }

    void sift_down(std::size_t at, const entry& e) noexcept {
        const entry sinking = e;
        for (;;) {
            std::size_t child = 2 * at + 1;
            if (child >= count_)
                break;
            if (child + 1 < count_ && earlier(entries_[child + 1], entries_[child]))
                ++child;
            if (!earlier(entries_[child], sinking))
                break;
            put(at, entries_[child]);
            at = child;
        }
        put(at, sinking);
    }

    void remove_at(std::size_t at) noexcept {
        const entry last = entries_[--count_];
        if (at == count_)
            return;
        if (at > 0 && earlier(last, entries_[(at - 1) / 2]))
            sift_up(at, last);
        else
            sift_down(at, last);
    }

    // Constant after construction.
    node_slab& nodes_;
    memory_region* memory_;  // nullptr when the capacity is 0
    entry* entries_;
    std::size_t capacity_;

    std::size_t count_ = 0;
};

}  // namespace tactus::inline v0::detail
