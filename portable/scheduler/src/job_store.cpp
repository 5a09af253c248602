// SPDX-License-Identifier: Apache-2.0
//
// Cells for jobs.
#include <tactus/scheduler/job_store.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace tactus::inline v0 {

using detail::job;

const char* name_of(job_state state) noexcept {
    static constexpr const char* names[job_state_count] = {"pending", "scheduled", "executing",
                                                           "completed", "cancelled"};
    const auto i = static_cast<std::size_t>(state);
    return i < job_state_count ? names[i] : "unknown";
}

const char* name_of(job_end why) noexcept {
    static constexpr const char* names[job_end_count] = {
        "as_asked", "receiver_terminated", "failed", "backlog_exceeded", "dropped", "closed"};
    const auto i = static_cast<std::size_t>(why);
    return i < job_end_count ? names[i] : "unknown";
}

job_store::job_store(const options& o, scheduler& home) noexcept
    : memory_(*o.memory),
      cells_(reinterpret_cast<job*>(o.memory->data())),
      home_(home),
      capacity_(o.capacity),
      spares_max_(o.spares) {
    TACTUS_CHECK(1, o.memory->size_max() >= bytes(o.capacity));
}

job* job_store::take_fresh() noexcept {
    if (made_ == capacity_)
        return nullptr;
    if (memory_.size() < bytes(made_ + 1) && !memory_.resize(bytes(made_ + 1)))
        return nullptr;
    void* const where = cells_ + made_;
    job* cell = nullptr;
    if (past_.had(made_)) {
        cell = ::new (where) job(job::in_old_cell{});
        // Relaxed: who reads it finds that it is none of its own, as before.
        if (made_ >= retained)
            cell->word.store(past_.first_word().bits(), std::memory_order_relaxed);
    } else {
        cell = ::new (where) job;
    }
    cell->home = &home_;
    ++made_;
    ++used_;
    return cell;
}

void job_store::give(job& cell) noexcept {
    --used_;
    const job_word word(cell.word.load(std::memory_order_relaxed));
    if (word.is_last_use()) {
        ++retired_;
        return;
    }
    // By its address: this is done for every timer, and its index is a division.
    const auto offset =
        reinterpret_cast<std::uintptr_t>(&cell) - reinterpret_cast<std::uintptr_t>(cells_);
    if (can_give_back && offset >= bytes(retained))
        past_.note(word);
    turn_ = (turn_ + 1) % lists;
    cell.next.write(free_[turn_]);
    free_[turn_] = &cell;
}

bool job_store::give_back() noexcept {
    if (used_ != 0)
        return false;
    if (!holds_more_than_retained())
        return true;
    // A retired cell would come back to life.
    if (retired_ != 0 || !memory_.forget(bytes(retained))) {
        past_.stay();
        return true;
    }
    past_.forget(std::exchange(made_, 0));
    std::ranges::fill(free_, nullptr);
    turn_ = 0;
    return true;
}

job* job_store::take_spare() noexcept {
    const port::lock_guard held(mutex_);
    wanted_.store(1, std::memory_order_relaxed);
    job* const cell = spare_;
    if (cell != nullptr) {
        spare_ = cell->next.read();
        --spare_count_;
        ++taken_;
    }
    return cell;
}

std::uint32_t job_store::refill(std::uint32_t places) noexcept {
    const port::lock_guard held(mutex_);
    wanted_.store(0, std::memory_order_relaxed);
    const std::uint32_t taken = std::exchange(taken_, 0);
    const std::uint32_t left = places > taken ? places - taken : 0;
    while (spare_count_ < left && spare_count_ < spares_max_) {
        job* const cell = take();
        if (cell == nullptr)
            break;
        cell->next.write(spare_);
        spare_ = cell;
        ++spare_count_;
    }
    aside_ = spare_count_;
    return taken;
}

std::uint32_t job_store::take_back() noexcept {
    const port::lock_guard held(mutex_);
    while (spare_ != nullptr) {
        job* const cell = spare_;
        spare_ = cell->next.read();
        give(*cell);
    }
    spare_count_ = 0;
    aside_ = 0;
    return std::exchange(taken_, 0);
}

}  // namespace tactus::inline v0
