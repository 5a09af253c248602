// SPDX-License-Identifier: Apache-2.0
//
// A binary heap, least key first.
#include <tactus/dispatch/lane_heap.hpp>

#include <limits>
#include <new>
#include <utility>

namespace tactus::inline v0 {

lane_heap::lane_heap(memory_source& memory, std::uint32_t capacity) noexcept
    : memory_(memory), capacity_(capacity) {
    void* block = memory_.allocate(capacity_ * sizeof(keyed_entry), alignof(keyed_entry));
    TACTUS_CHECK(1, block != nullptr);
    entries_ = ::new (block) keyed_entry[capacity_];
}

lane_heap::~lane_heap() {
    memory_.release(entries_, capacity_ * sizeof(keyed_entry), alignof(keyed_entry));
}

void lane_heap::sift_up(std::uint32_t at) noexcept {
    while (at > 0) {
        const std::uint32_t parent = (at - 1) / 2;
        if (!entries_[at].before(entries_[parent]))
            return;
        std::swap(entries_[at], entries_[parent]);
        at = parent;
    }
}

void lane_heap::sift_down(std::uint32_t at) noexcept {
    for (;;) {
        std::uint32_t least = at;
        for (std::uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < size_; ++child) {
            if (entries_[child].before(entries_[least]))
                least = child;
        }
        if (least == at)
            return;
        std::swap(entries_[at], entries_[least]);
        at = least;
    }
}

lane_entry lane_heap::pop_oldest(std::uint32_t start) noexcept {
    std::uint32_t at = start % size_;
    std::uint32_t oldest = at;
    for (std::uint32_t left = size_ < look_max ? size_ : look_max; left != 0; --left) {
        if (entries_[at].number < entries_[oldest].number)
            oldest = at;
        if (++at == size_)
            at = 0;
    }
    entries_[oldest].key = std::numeric_limits<std::int64_t>::min();
    sift_up(oldest);
    return pop().entry;
}

bool lane_heap::grow() noexcept {
    const std::uint32_t wanted = capacity_ * 2;
    void* block = memory_.allocate(wanted * sizeof(keyed_entry), alignof(keyed_entry));
    if (block == nullptr)
        return false;
    auto* wider = ::new (block) keyed_entry[wanted];
    for (std::uint32_t i = 0; i < size_; ++i)
        wider[i] = entries_[i];
    memory_.release(entries_, capacity_ * sizeof(keyed_entry), alignof(keyed_entry));
    entries_ = wider;
    capacity_ = wanted;
    return true;
}

}  // namespace tactus::inline v0
