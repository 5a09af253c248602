// SPDX-License-Identifier: Apache-2.0
//
// Lane heap: entries ordered by a key, equal keys by registration number. Owner only; whoever
// shares it locks.
//
// The key is a deadline (earliest first) or 255 - priority (highest first); either way the least
// key comes first, and the number keeps equals in the order they came.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <tactus/base/check.hpp>
#include <tactus/base/memory_plan.hpp>
#include <tactus/base/memory_source.hpp>
#include <tactus/dispatch/lane.hpp>

namespace tactus::inline v0 {

struct keyed_entry {
    std::int64_t key = 0;
    std::uint64_t number = 0;
    lane_entry entry;

    [[nodiscard]] constexpr bool before(const keyed_entry& other) const noexcept {
        return key != other.key ? key < other.key : number < other.number;
    }
};

/// Which of `count` equals a drawn number chooses. Requires: `count` is not 0.
[[nodiscard]] constexpr std::uint64_t tie_break(std::uint64_t hint, std::uint64_t count) noexcept {
    return hint % count;
}

class lane_heap {
public:
    /// Requires: the source has room for `capacity` entries (check lane_heap:1).
    lane_heap(memory_source& memory, std::uint32_t capacity) noexcept;
    ~lane_heap();
    lane_heap(const lane_heap&) = delete;
    lane_heap& operator=(const lane_heap&) = delete;

    /// What it takes when it is built.
    [[nodiscard]] static constexpr memory_plan plan(std::uint32_t capacity) noexcept {
        return memory_plan().array<keyed_entry>(capacity);
    }

    [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    /// Requires: not empty.
    [[nodiscard]] const keyed_entry& top() const noexcept { return entries_[0]; }

    template <class IsStale>
    void push(const keyed_entry& e, IsStale&& is_stale) noexcept {
        if (size_ == capacity_) [[unlikely]] {
            if (!grow())
                drop_if(is_stale);
            TACTUS_CHECK(2, size_ < capacity_);
        }
        entries_[size_] = e;
        sift_up(size_++);
    }
    /// Makes room for one more, dropping what is stale before asking for memory; false when neither
    /// helps.
    template <class IsStale>
    [[nodiscard]] bool make_room(IsStale&& is_stale) noexcept {
        if (size_ < capacity_) [[likely]]
            return true;
        drop_if(is_stale);
        // Half full or more: the next such search would come soon.
        return (size_ > capacity_ / 2 && grow()) || size_ < capacity_;
    }
    /// Requires: not empty.
    [[nodiscard]] keyed_entry pop() noexcept {
        const keyed_entry first = entries_[0];
        entries_[0] = entries_[--size_];
        sift_down(0);
        return first;
    }

    /// The entry with the least number, whatever its key. Of more than look_max entries it looks at
    /// so many only, from `start` modulo their count on: it runs under a lock. Requires: not empty.
    [[nodiscard]] lane_entry pop_oldest(std::uint32_t start) noexcept;
    static constexpr std::uint32_t look_max = 256;

    /// Of the first entry and those with an equal key, in the order of their numbers, the one at
    /// `hint` modulo their count; an invalid entry when there is none. Stale ones met on the way
    /// are dropped and do not count.
    ///
    /// Candidates are kept in the cells that popping sets free, so no memory is needed: the first
    /// candidate in the last cell, the next before it.
    template <class IsStale>
    [[nodiscard]] lane_entry pop_equal(std::uint64_t hint, IsStale&& is_stale) noexcept {
        std::uint32_t end = size_;  // candidates are in [size_, end)
        std::int64_t key = 0;
        while (size_ > 0 && (end == size_ || top().key == key)) {
            const keyed_entry e = pop();
            if (is_stale(e.entry)) {
                for (std::uint32_t i = size_; i + 1 < end; ++i)
                    entries_[i] = entries_[i + 1];
                --end;
                continue;
            }
            key = e.key;
            entries_[size_] = e;
        }
        const std::uint32_t count = end - size_;
        if (count == 0)
            return {};
        const auto index = static_cast<std::uint32_t>(tie_break(hint, count));
        std::swap(entries_[end - 1], entries_[end - 1 - index]);
        while (size_ + 1 < end)
            sift_up(size_++);
        return entries_[end - 1].entry;
    }

    template <class IsStale>
    void drop_if(IsStale&& is_stale) noexcept {
        std::uint32_t kept = 0;
        for (std::uint32_t i = 0; i < size_; ++i) {
            if (!is_stale(entries_[i].entry))
                entries_[kept++] = entries_[i];
        }
        size_ = kept;
        for (std::uint32_t i = size_ / 2; i-- > 0;)
            sift_down(i);
    }

private:
    TACTUS_CHECK_MODULE("lane_heap");

    void sift_up(std::uint32_t at) noexcept;
    void sift_down(std::uint32_t at) noexcept;
    [[nodiscard]] bool grow() noexcept;

    memory_source& memory_;
    keyed_entry* entries_ = nullptr;
    std::uint32_t capacity_;
    std::uint32_t size_ = 0;
};

}  // namespace tactus::inline v0
