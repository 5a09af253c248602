// SPDX-License-Identifier: Apache-2.0
//
// Job store: the cells of jobs, in one memory region that may grow; they never move.
//
// Who holds the command lock takes and gives as it likes. Others have a few spare cells, under a
// lock of their own, which the holder replaces when it is told that they run out; so a
// registration never has to wait for the lock unless they have (SC-6). The holder puts aside no
// more of them than there are places for timers, and learns how many were taken: who has one has a
// place.
//
// Free cells are a stack: what was used last is in the cache. Below the top it is not, and links
// from each to the next would be a chain of misses, each waiting for the one before. So the stack
// is several lists that take turns, and a cell is linked to the one that many places below: when
// it is taken, that one is fetched, and is there when its turn comes.
//
// When none is in use the memory of all but a few can be given back (past_cells.hpp).
//
// Invariants
//   J1  every cell below made_ is in use, free, spare or retired, and one of them
//   J2  a cell's generation moves on at every use, also when it was given back in between; one
//       whose generations are used up is retired
//   J3  the top of the stack is the head of free_[turn_], the next below that of the list before,
//       and so on round; a list is empty when its turn comes only if all are
//
// Thread safety: see above; at() and word_at() from any thread, for an index that was given out.
#pragma once

#include <cstdint>

#include <tactus/base/check.hpp>
#include <tactus/base/memory_region.hpp>
#include <tactus/port/port.hpp>
#include <tactus/scheduler/job.hpp>
#include <tactus/scheduler/past_cells.hpp>

namespace tactus::inline v0 {

class job_store {
    using job = detail::job;

public:
    struct options {
        memory_region* memory = nullptr;  // outlives the store
        std::uint32_t capacity = 0;       // cells it may ever have
        std::uint32_t spares = 0;         // for who finds the lock taken
    };

    /// Bytes the region must be able to hold.
    [[nodiscard]] static constexpr std::size_t bytes(std::size_t cells) noexcept {
        return cells * sizeof(job);
    }

    /// Requires: the region can hold that many cells (check job_store:1).
    job_store(const options& o, scheduler& home) noexcept;
    job_store(const job_store&) = delete;
    job_store& operator=(const job_store&) = delete;

    /// Null: there is none, or no memory. The holder.
    [[nodiscard]] job* take() noexcept {
        job* const cell = free_[turn_];
        if (cell == nullptr) [[unlikely]]
            return take_fresh();
        job* const below = cell->next.read();
        free_[turn_] = below;
        turn_ = (turn_ - 1) % lists;
        ++used_;
        fetch(below);
        return cell;
    }
    /// The holder.
    void give(job& cell) noexcept;

    /// Null: there is none at hand. Any thread but the holder.
    [[nodiscard]] job* take_spare() noexcept;
    /// Somebody took one, or found none. Relaxed: who did so says it before it leaves its job for
    /// the holder, who sees both.
    [[nodiscard]] bool wants_spares() const noexcept {
        return wanted_.load(std::memory_order_relaxed) != 0;
    }
    /// How many were taken since this or take_back() was last asked. Puts others aside, so that
    /// with those taken they are no more than `places`. The holder.
    [[nodiscard]] std::uint32_t refill(std::uint32_t places) noexcept;
    /// The same; none is aside any more. The holder.
    [[nodiscard]] std::uint32_t take_back() noexcept;
    /// So many were aside then: of them some may have been taken. The holder.
    [[nodiscard]] std::uint32_t aside_count() const noexcept { return aside_; }

    /// There is something to give back, if none is in use. The holder.
    [[nodiscard]] bool holds_more_than_retained() const noexcept {
        return can_give_back && made_ > retained && past_.can_forget();
    }
    /// When that is to be done; the holder's to say.
    [[nodiscard]] instant give_back_at() const noexcept { return past_.planned(); }
    void plan_giving_back(instant at) noexcept { past_.plan(at); }
    /// It could not be done, and now none is in use, or only such as were aside. The holder.
    [[nodiscard]] bool owes_giving_back() const noexcept {
        return past_.is_owed() && used_ <= aside_;
    }
    void owe_giving_back() noexcept { past_.owe(); }
    /// Gives back the memory of all but a few. False: some are in use. Requires: none is aside. The
    /// holder.
    [[nodiscard]] bool give_back() noexcept;

    /// Of a cell that is in use, or free.
    [[nodiscard]] job& at(std::uint32_t index) const noexcept { return cells_[index]; }
    /// Also of a cell whose memory was given back: for who has a handle and no more.
    [[nodiscard]] const port::atomic<job_word::stored>& word_at(
        std::uint32_t index) const noexcept {
        const auto* const cell = reinterpret_cast<const std::byte*>(cells_ + index);
        return *reinterpret_cast<const port::atomic<job_word::stored>*>(cell + detail::word_offset);
    }
    [[nodiscard]] std::uint32_t index_of(const job& cell) const noexcept {
        return static_cast<std::uint32_t>(&cell - cells_);
    }
    /// Cells there are; the holder.
    [[nodiscard]] std::uint32_t made_count() const noexcept { return made_; }
    [[nodiscard]] std::uint32_t used_count() noexcept {
        const port::lock_guard held(mutex_);
        return used_ - spare_count_;
    }
    /// Cells that can still be taken, if there is memory; the holder.
    [[nodiscard]] std::uint32_t free_count() const noexcept { return capacity_ - retired_ - used_; }
    [[nodiscard]] std::uint32_t retired_count() const noexcept { return retired_; }
    [[nodiscard]] std::uint32_t capacity() const noexcept { return capacity_; }

    /// Cells that keep their memory. A device gives back nothing.
    static constexpr std::uint32_t retained = 4096;
    static constexpr bool can_give_back = !port::has_interrupts;

private:
    /// Lists the stack is made of, so many cells are fetched ahead: a power of two.
    static constexpr std::uint32_t lists = port::cache_line < 8 ? 1 : 4;

    [[nodiscard]] job* take_fresh() noexcept;
    /// What a registration writes: see job.
    static void fetch(const job* cell) noexcept {
        if (lists > 1 && cell != nullptr) {
            port::prefetch(cell);
            port::prefetch(reinterpret_cast<const std::byte*>(cell) + port::cache_line);
        }
    }

    TACTUS_CHECK_MODULE("job_store");

    memory_region& memory_;
    job* const cells_;
    scheduler& home_;
    const std::uint32_t capacity_;
    const std::uint32_t spares_max_;
    // The holder's.
    job* free_[lists] = {};
    std::uint32_t turn_ = 0;
    std::uint32_t made_ = 0;
    std::uint32_t used_ = 0;  // spares included
    std::uint32_t retired_ = 0;
    std::uint32_t aside_ = 0;
    [[no_unique_address]] detail::past_cells<can_give_back> past_;
    // Anybody's.
    port::atomic<std::uint32_t> wanted_{1};
    port::mutex mutex_;
    job* spare_ = nullptr;
    std::uint32_t spare_count_ = 0;
    std::uint32_t taken_ = 0;
};

}  // namespace tactus::inline v0
