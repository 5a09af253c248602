// SPDX-License-Identifier: Apache-2.0
//
// Slab: cells of one type in contiguous memory, found by 32-bit index, protected by generations.
//
// A handle is {index, generation}. A cell's generation is odd while the cell is in use and even
// while it is free; it moves on at every acquire and release, so a handle is good for exactly one
// use of a cell, and neither a stale handle nor one made up by hand matches a cell that is free. A
// cell whose generation would come back to where it started is retired: it is never used again, and
// `retired_count` says so.
//
// The cell type is a plain struct that lends the slab two members: `generation` (32 bits) and
// `next` (the free link while the cell is free, the owner's to use otherwise). So a cell has no
// hidden overhead.
//
// Free cells are a stack. With 32-bit indices there may be millions, and most are in no cache: so
// that who acquires many need not wait for one after the other, the stack is four lists that take
// turns, a cell is linked to the fourth below it, and ahead() names one before its turn.
//
// Invariants
//   S1  cells [0, fresh_) have been used at least once; the others are untouched memory
//   S2  the free lists hold exactly the cells below fresh_ that are neither in use nor retired; the
//       head of free_[turn_] is the top of the stack, that of the list before it the next below,
//       and so on round
//   S3  after release_memory() no generation handed out before is handed out again for the same
//       index
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <type_traits>

#include <tactus/base/check.hpp>
#include <tactus/base/memory_region.hpp>

namespace tactus::inline v0 {

/// Names one use of one slab cell. Value-initialised it names nothing.
struct slab_handle {
    std::uint32_t index = 0;
    std::uint32_t generation = 0;

    friend constexpr bool operator==(const slab_handle&, const slab_handle&) = default;
};

template <class Cell, class Index>
class slab {
    static_assert(std::is_unsigned_v<Index> && sizeof(Index) <= 4);
    static_assert(std::is_trivially_copyable_v<Cell> && std::is_trivially_destructible_v<Cell>);

public:
    /// The index that names no cell: the end of a list, or "exhausted".
    static constexpr Index none = std::numeric_limits<Index>::max();
    /// The largest capacity that an index of this width can name.
    static constexpr std::size_t capacity_limit = none;

    struct options {
        memory_region* memory = nullptr;     // outlives the slab
        std::size_t capacity = 0;            // cells it may ever have in use
        std::uint32_t first_generation = 0;  // even; where every cell starts
        std::uint32_t generation_count =
            0;  // even; how far a generation may move before the cell retires, 0: all
    };

    /// Requires: memory set, 0 < capacity <= capacity_limit, and the region can hold that many
    /// cells.
    explicit slab(const options& o) noexcept
        : memory_(o.memory),
          cells_(reinterpret_cast<Cell*>(o.memory->data())),
          capacity_(o.capacity),
          usable_(usable_cells()),
          first_generation_(o.first_generation),
          retire_at_(o.first_generation + o.generation_count),
          fresh_generation_(o.first_generation) {
        TACTUS_CHECK(1, o.capacity > 0);
        TACTUS_CHECK(2, o.capacity <= capacity_limit);
        TACTUS_CHECK(3, o.memory->size_max() >= o.capacity * sizeof(Cell));
        TACTUS_CHECK(4, o.first_generation % 2 == 0);
        TACTUS_CHECK(5, o.generation_count % 2 == 0);
        forget_free();
    }

    slab(const slab&) = delete;
    slab& operator=(const slab&) = delete;

    [[nodiscard]] Cell& operator[](Index index) noexcept { return cells_[index]; }
    [[nodiscard]] const Cell& operator[](Index index) const noexcept { return cells_[index]; }
    /// The first cell; cells never move.
    [[nodiscard]] Cell* data() noexcept { return cells_; }

    /// Takes a free cell, or `none` when capacity or memory is exhausted. The cell's other members
    /// are unspecified.
    [[nodiscard]] Index acquire() noexcept {
        Index index = free_[turn_];
        if (index != none) [[likely]] {
            free_[turn_] = static_cast<Index>(cells_[index].next);
            turn_ = static_cast<Index>((turn_ - 1u) % lists);
        } else {
            index = take_fresh();
            if (index == none) [[unlikely]]
                return none;
        }
        ++cells_[index].generation;
        ++live_count_;
        return index;
    }

    /// After acquire(): a cell that one of the next few will give, or none.
    [[nodiscard]] Index ahead() const noexcept { return free_[(turn_ + 1u) % lists]; }

    /// Gives a cell back; every handle to it is stale from now on.
    void release(Index index) noexcept {
        Cell& cell = cells_[index];
        TACTUS_DEBUG_CHECK(6, cell.generation % 2 == 1);
        ++cell.generation;
        --live_count_;
        if (cell.generation == retire_at_) [[unlikely]] {
            ++retired_count_;
            if (retired_end_ <= index)
                retired_end_ = std::size_t{index} + 1;
            return;
        }
        push_free(index);
    }

    /// The cell's index when the handle names its present use, else `none`.
    [[nodiscard]] Index find(slab_handle handle) const noexcept {
        if (handle.index >= fresh_ || handle.generation % 2 == 0) [[unlikely]]
            return none;
        return cells_[handle.index].generation == handle.generation
                   ? static_cast<Index>(handle.index)
                   : none;
    }

    [[nodiscard]] slab_handle handle_of(Index index) const noexcept {
        return {index, cells_[index].generation};
    }

    /// True when this slab can have given out `handle` at some time: what tells a stale handle from
    /// a foreign one.
    [[nodiscard]] bool may_have_issued(slab_handle handle) const noexcept {
        if (handle.index >= fresh_high_ || handle.generation % 2 == 0)
            return false;
        const std::uint32_t newest =
            handle.index < fresh_ ? cells_[handle.index].generation : fresh_generation_;
        return handle.generation - first_generation_ <= newest - first_generation_;
    }

    /// Forgets all cells beyond the first `retained` (and beyond the last retired one) and gives
    /// their memory back, if the region does give back. Requires: no cell in use.
    ///
    /// Cells that are forgotten start again beyond where any of them ended (S3). That ages them, so
    /// memory is given back only while generations are in the first half of their range.
    void release_memory(std::size_t retained) noexcept {
        TACTUS_CHECK(7, live_count_ == 0);
        const std::size_t kept = retained > retired_end_ ? retained : retired_end_;
        if (usable_ <= kept || usable_ <= floor_)
            return;
        // Once per growth: looking at the cells below is paid for by those who took them fresh.
        floor_ = usable_;
        std::uint32_t farthest = fresh_generation_;
        for (std::size_t i = kept; i < fresh_; ++i) {
            if (cells_[i].generation - first_generation_ > farthest - first_generation_)
                farthest = cells_[i].generation;
        }
        // Half of retire_at_ - first_generation_, where zero stands for the whole circle.
        const std::uint32_t half = ((retire_at_ - first_generation_ - 1) >> 1) + 1;
        if (farthest - first_generation_ > half || !memory_->resize(kept * sizeof(Cell)))
            return;
        usable_ = usable_cells();
        floor_ = usable_;
        if (fresh_ <= usable_)
            return;
        fresh_ = static_cast<Index>(usable_);
        fresh_generation_ = farthest;
        // Cells that stay keep their generations; the free list is rebuilt over them.
        forget_free();
        for (Index i = fresh_; i-- > 0;) {
            if (cells_[i].generation == retire_at_ && i < retired_end_)
                continue;
            push_free(i);
        }
    }

    [[nodiscard]] std::size_t live_count() const noexcept { return live_count_; }
    [[nodiscard]] std::size_t retired_count() const noexcept { return retired_count_; }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
    /// Cells for which memory is there now.
    [[nodiscard]] std::size_t usable_count() const noexcept { return usable_; }

private:
    TACTUS_CHECK_MODULE("slab");

    [[nodiscard]] std::size_t usable_cells() const noexcept {
        const std::size_t fit = memory_->size() / sizeof(Cell);
        return fit < capacity_ ? fit : capacity_;
    }

    void push_free(Index index) noexcept {
        turn_ = static_cast<Index>((turn_ + 1u) % lists);
        cells_[index].next = free_[turn_];
        free_[turn_] = index;
    }
    void forget_free() noexcept {
        for (Index& head : free_)
            head = none;
    }

    [[nodiscard]] Index take_fresh() noexcept {
        if (fresh_ == usable_ && !grow())
            return none;
        const Index index = fresh_++;
        if (fresh_high_ < fresh_)
            fresh_high_ = fresh_;
        new (&cells_[index]) Cell{};
        cells_[index].generation = fresh_generation_;
        return index;
    }

    [[nodiscard]] bool grow() noexcept {
        if (usable_ == capacity_)
            return false;
        std::size_t wanted = usable_ < 32 ? 64 : usable_ * 2;
        if (wanted > capacity_)
            wanted = capacity_;
        if (!memory_->resize(wanted * sizeof(Cell)))
            return false;
        usable_ = usable_cells();
        return true;
    }

    // Constant after construction.
    memory_region* memory_;
    Cell* cells_;
    std::size_t capacity_;

    std::size_t usable_;
    std::size_t live_count_ = 0;
    std::size_t retired_count_ = 0;
    std::size_t retired_end_ = 0;  // one beyond the last retired cell
    std::size_t floor_ = 0;        // usable_ when memory was last given back, or refused to be
    std::uint32_t first_generation_;
    std::uint32_t retire_at_;                                  // reaching it retires the cell
    std::uint32_t fresh_generation_;                           // where an untouched cell starts
    static constexpr Index lists = sizeof(Index) < 4 ? 1 : 4;  // a power of two
    Index free_[lists];
    Index turn_ = 0;        // below `lists`
    Index fresh_ = 0;       // cells below have been used
    Index fresh_high_ = 0;  // the highest fresh_ has ever been
};

}  // namespace tactus::inline v0
