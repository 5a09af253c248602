// SPDX-License-Identifier: Apache-2.0
//
// Entry queue: a FIFO of lane entries that grows when it must. Owner only; whoever shares it locks.
//
// A ring in a block of a memory source, doubled when full. Where memory is fixed it is made large
// enough at the start, one place per mailbox: of the entries waiting anywhere at most one per
// mailbox counts, so when it is full and cannot grow, dropping stale ones makes room.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include <tactus/base/check.hpp>
#include <tactus/base/memory_plan.hpp>
#include <tactus/base/memory_source.hpp>
#include <tactus/dispatch/lane.hpp>

namespace tactus::inline v0 {

class entry_queue {
public:
    /// `capacity` is rounded up to a power of two. Requires: the source has that much (check
    /// entry_queue:1).
    entry_queue(memory_source& memory, std::uint32_t capacity) noexcept;
    ~entry_queue();
    entry_queue(const entry_queue&) = delete;
    entry_queue& operator=(const entry_queue&) = delete;

    /// What it takes when it is built.
    [[nodiscard]] static constexpr memory_plan plan(std::uint32_t capacity) noexcept {
        return memory_plan().array<lane_entry>(std::bit_ceil(capacity));
    }

    [[nodiscard]] std::uint32_t size() const noexcept { return tail_ - head_; }
    [[nodiscard]] bool empty() const noexcept { return head_ == tail_; }
    [[nodiscard]] std::uint32_t capacity() const noexcept { return mask_ + 1; }

    /// `is_stale(entry)` is asked only when there is no room and no memory.
    template <class IsStale>
    void push(lane_entry e, IsStale&& is_stale) noexcept {
        if (size() > mask_) [[unlikely]] {
            if (!grow())
                drop_if(is_stale);
            TACTUS_CHECK(2, size() <= mask_);
        }
        entries_[tail_++ & mask_] = e;
    }
    /// As push, but in front of all others.
    template <class IsStale>
    void push_front(lane_entry e, IsStale&& is_stale) noexcept {
        push(e, is_stale);  // makes room
        --tail_;
        entries_[--head_ & mask_] = e;
    }
    /// Requires: not empty.
    [[nodiscard]] lane_entry pop() noexcept { return entries_[head_++ & mask_]; }
    /// The last that was pushed. Requires: not empty.
    [[nodiscard]] lane_entry pop_newest() noexcept { return entries_[--tail_ & mask_]; }
    [[nodiscard]] lane_entry front() const noexcept { return entries_[head_ & mask_]; }

    template <class IsStale>
    void drop_if(IsStale&& is_stale) noexcept {
        const std::uint32_t end = tail_;
        tail_ = head_;
        for (std::uint32_t at = head_; at != end; ++at) {
            const lane_entry e = entries_[at & mask_];
            if (!is_stale(e))
                entries_[tail_++ & mask_] = e;
        }
    }

private:
    TACTUS_CHECK_MODULE("entry_queue");

    [[nodiscard]] bool grow() noexcept;
    [[nodiscard]] lane_entry* allocate(std::size_t count) noexcept;

    memory_source& memory_;
    lane_entry* entries_;
    std::uint32_t mask_;
    std::uint32_t head_ = 0;
    std::uint32_t tail_ = 0;
};

}  // namespace tactus::inline v0
