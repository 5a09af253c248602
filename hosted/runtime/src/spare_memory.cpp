// SPDX-License-Identifier: Apache-2.0
//
// Blocks of the reserve, one behind the other.
#include "spare_memory.hpp"

namespace tactus::inline v0::runtime {

void* spare_memory::take(std::size_t size, std::size_t alignment) noexcept {
    constexpr std::size_t page = 4096;  // the region's own alignment
    if (alignment > page)
        return nullptr;
    std::size_t seen = taken_.load(std::memory_order_relaxed);
    for (;;) {
        const std::size_t at = (seen + alignment - 1) & ~(alignment - 1);
        if (at > region_.size_max() || size > region_.size_max() - at)
            return nullptr;
        // Relaxed: the range alone is claimed, and its bytes were never written.
        if (taken_.compare_exchange_weak(seen, at + size + 1, std::memory_order_relaxed,
                                         std::memory_order_relaxed))
            return region_.data() + at;
    }
}

void* spare_memory::source::allocate(std::size_t size, std::size_t alignment) noexcept {
    if (settled_.load(std::memory_order_relaxed)) [[likely]]
        return heap_.allocate(size, alignment);
    return allocate_or_take(size, alignment);
}

void* spare_memory::source::allocate_or_take(std::size_t size, std::size_t alignment) noexcept {
    void* const block = heap_.allocate(size, alignment);
    return block != nullptr ? block : behind_.take(size, alignment);
}

void spare_memory::source::release(void* block, std::size_t size, std::size_t alignment) noexcept {
    if (!behind_.owns(block)) [[likely]]
        heap_.release(block, size, alignment);
}

}  // namespace tactus::inline v0::runtime
