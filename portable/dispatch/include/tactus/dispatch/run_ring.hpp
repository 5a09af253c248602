// SPDX-License-Identifier: Apache-2.0
//
// Run ring: a worker's queue of ready mailboxes. The owner pushes and pops, in order; thieves take
// half of it at once.
//
// The head word holds two positions: `real`, where the owner pops, and `steal`, which lags behind
// while a thief copies what it has claimed; the owner does not write over cells from `steal` on. So
// the cells themselves are plain. One thief at a time; another finds the ring busy and goes on.
//
// The word is as wide as a pointer, the widest a portable atomic can be, and a position half of
// that: with 32 bits a thief that slept between looking and claiming cannot meet the same head
// again (with 16, on small cores, it could; there are no thieves there).
//
// A ring of a system with one worker is not shared: then the owner needs no read-modify-writes.
//
// Invariants
//   R1  tail - steal <= capacity; cells [real, tail) wait, cells [steal, real) are being copied
//   R2  only the owner writes tail; only who moved real over a cell reads it
//
// Thread safety: push, pop and spill_half belong to the owner; steal_half and looks_empty to
// anyone.
#pragma once

#include <cstdint>

#include <tactus/base/check.hpp>
#include <tactus/dispatch/lane.hpp>
#include <tactus/port/port.hpp>

namespace tactus::inline v0 {

class run_ring {
public:
    using cell = port::plain<lane_entry>;
    static constexpr std::uint32_t capacity_max = 1U << 15;

    /// Requires: `capacity` is a power of two and at most capacity_max (checks run_ring:1,
    /// run_ring:2); `cells` outlives the ring.
    run_ring(cell* cells, std::uint32_t capacity, bool shared) noexcept
        : cells_(cells), mask_(capacity - 1), shared_(shared) {
        TACTUS_CHECK(1, capacity > 0 && (capacity & (capacity - 1)) == 0);
        TACTUS_CHECK(2, capacity <= capacity_max);
    }
    run_ring(const run_ring&) = delete;
    run_ring& operator=(const run_ring&) = delete;

    /// False when there is no room; `spill_half` makes some. Owner only.
    [[nodiscard]] bool push(lane_entry e) noexcept {
        const std::uint32_t tail = tail_.load(std::memory_order_relaxed);
        // Acquire: the thief has read the cell that is written now.
        positions* const head = head_.load(claimed.acquire());
        if (distance(steal_of(head), tail) > mask_) [[unlikely]]
            return false;
        cells_[tail & mask_].write(e);
        const std::uint32_t next = (tail + 1) & position_mask;
        // A read-modify-write, because a look at the sleeping workers follows (see idle_workers).
        if (shared_)
            tail_.exchange(next, filled.seq_cst());
        else
            tail_.store(next, std::memory_order_relaxed);
        return true;
    }

    /// The oldest, or an invalid entry. Owner only.
    [[nodiscard]] lane_entry pop() noexcept {
        const std::uint32_t tail = tail_.load(std::memory_order_relaxed);
        if (!shared_) {
            const std::uint32_t real = real_of(head_.load(std::memory_order_relaxed));
            if (real == tail)
                return {};
            const std::uint32_t next = (real + 1) & position_mask;
            head_.store(pack(next, next), std::memory_order_relaxed);
            return cells_[real & mask_].read();
        }
        head_word head = head_.load(std::memory_order_relaxed);
        for (;;) {
            const std::uint32_t real = real_of(head);
            if (real == tail)
                return {};
            const std::uint32_t next = (real + 1) & position_mask;
            const std::uint32_t steal = steal_of(head) == real ? next : steal_of(head);
            // Its own cells: nothing to acquire.
            if (head_.compare_exchange_weak(head, pack(steal, next), std::memory_order_relaxed,
                                            std::memory_order_relaxed))
                return cells_[real & mask_].read();
        }
    }

    /// Takes the older half out, oldest first, into `out(entry)`; 0 when a thief is at it. Owner
    /// only.
    template <class Out>
    std::uint32_t spill_half(Out&& out) noexcept {
        return claim(tail_.load(std::memory_order_relaxed), mask_ + 1, out);
    }

    /// As spill_half, for another worker, at most `max` of them.
    template <class Out>
    std::uint32_t steal_half(std::uint32_t max, Out&& out) noexcept {
        return claim(tail_.load(filled.acquire()), max, out);
    }

    /// Callable from anyone; the order that a worker going to sleep needs.
    [[nodiscard]] bool looks_empty() const noexcept {
        const std::uint32_t tail = tail_.load(filled.seq_cst());
        return real_of(head_.load(std::memory_order_relaxed)) == tail;
    }
    [[nodiscard]] std::uint32_t size() const noexcept {
        return distance(real_of(head_.load(std::memory_order_relaxed)),
                        tail_.load(std::memory_order_relaxed));
    }
    [[nodiscard]] std::uint32_t capacity() const noexcept { return mask_ + 1; }

private:
    TACTUS_CHECK_MODULE("run_ring");

    // A pointer that points nowhere: two positions in one word.
    struct positions;
    using head_word = positions*;
    static constexpr unsigned half_bits = sizeof(head_word) * 4;
    static constexpr std::uint32_t position_mask =
        static_cast<std::uint32_t>((std::uint64_t{1} << half_bits) - 1);

    [[nodiscard]] static std::uint32_t real_of(head_word head) noexcept {
        return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(head)) & position_mask;
    }
    [[nodiscard]] static std::uint32_t steal_of(head_word head) noexcept {
        return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(head) >> half_bits);
    }
    [[nodiscard]] static head_word pack(std::uint32_t steal, std::uint32_t real) noexcept {
        return reinterpret_cast<head_word>((std::uintptr_t{steal} << half_bits) | real);
    }
    [[nodiscard]] static constexpr std::uint32_t distance(std::uint32_t from,
                                                          std::uint32_t to) noexcept {
        return (to - from) & position_mask;
    }

    template <class Out>
    std::uint32_t claim(std::uint32_t tail, std::uint32_t max, Out&& out) noexcept {
        // Relaxed until the cells are read: the tail has brought what is in them, and nobody writes
        // over them before the end of this.
        head_word head = head_.load(std::memory_order_relaxed);
        std::uint32_t count = 0;
        std::uint32_t real = 0;
        do {
            real = real_of(head);
            if (steal_of(head) != real)
                return 0;  // somebody is at it
            count = distance(real, tail);
            if (count > mask_ + 1)
                return 0;  // the tail seen is older than the head
            count -= count / 2;
            if (count > max)
                count = max;
            if (count == 0)
                return 0;
        } while (!head_.compare_exchange_weak(head, pack(real, (real + count) & position_mask),
                                              std::memory_order_relaxed,
                                              std::memory_order_relaxed));
        for (std::uint32_t i = 0; i < count; ++i)
            out(cells_[(real + i) & mask_].read());
        // The owner may have popped meanwhile: real is where it is now, steal catches up.
        head = head_.load(std::memory_order_relaxed);
        while (!head_.compare_exchange_weak(head, pack(real_of(head), real_of(head)),
                                            claimed.release(), std::memory_order_relaxed)) {
        }
        return count;
    }

    // Constant after construction.
    cell* cells_;
    std::uint32_t mask_;
    bool shared_;

    // "filled": the owner's write of a cell -> a thief's read of it; and one order of tail and the
    //    idle word for a worker going to sleep.
    // "claimed": a thief's reads of cells -> the owner's next write of them.
    static constexpr port::edge filled{"ring-filled"};
    static constexpr port::edge claimed{"ring-claimed"};
    port::atomic<head_word> head_{nullptr};  // written by the owner and by thieves
    port::atomic<std::uint32_t> tail_{0};    // written by the owner
};

}  // namespace tactus::inline v0
