// SPDX-License-Identifier: Apache-2.0
//
// Memory of an entry queue: doubled, never shrunk.
#include <tactus/dispatch/entry_queue.hpp>

#include <bit>
#include <new>

namespace tactus::inline v0 {

entry_queue::entry_queue(memory_source& memory, std::uint32_t capacity) noexcept
    : memory_(memory),
      entries_(allocate(std::bit_ceil(std::size_t{capacity}))),
      mask_(std::bit_ceil(capacity) - 1) {
    TACTUS_CHECK(1, entries_ != nullptr);
}

entry_queue::~entry_queue() {
    memory_.release(entries_, capacity() * sizeof(lane_entry), alignof(lane_entry));
}

lane_entry* entry_queue::allocate(std::size_t count) noexcept {
    void* block = memory_.allocate(count * sizeof(lane_entry), alignof(lane_entry));
    return block == nullptr ? nullptr : ::new (block) lane_entry[count];
}

bool entry_queue::grow() noexcept {
    lane_entry* wider = allocate(std::size_t{capacity()} * 2);
    if (wider == nullptr)
        return false;
    const std::uint32_t count = size();
    for (std::uint32_t i = 0; i < count; ++i)
        wider[i] = entries_[(head_ + i) & mask_];
    memory_.release(entries_, capacity() * sizeof(lane_entry), alignof(lane_entry));
    entries_ = wider;
    mask_ = mask_ * 2 + 1;
    head_ = 0;
    tail_ = count;
    return true;
}

}  // namespace tactus::inline v0
