// SPDX-License-Identifier: Apache-2.0
//
// Arena: a memory source over an array, for systems without a heap (PT-7).
//
// Free blocks are a list in the order of their addresses; a block is taken from the first that has
// room, and joins its neighbours when it comes back. Blocks carry nothing: whoever gives one back
// says how large it is. So a device that takes and gives the same sizes, as actors do, finds them
// again.
//
// Invariants
//   A1  free blocks are in the order of their addresses, and no two touch
//   A2  a block begins at a multiple of the granule, and has a multiple of it
//
// Thread safety: any thread; not from interrupt handlers. A walk over the free blocks is as long as
// there are of them, with interrupts masked on a device: actors that live as long as the system
// leave few.
#pragma once

#include <cstddef>
#include <span>

#include <tactus/base/check.hpp>
#include <tactus/base/memory_plan.hpp>
#include <tactus/base/memory_source.hpp>
#include <tactus/port/port.hpp>

namespace tactus::inline v0 {

class arena final : public memory_source {
public:
    /// The bytes outlive the arena; what does not fill whole granules is left out.
    explicit arena(std::span<std::byte> bytes) noexcept;

    [[nodiscard]] void* allocate(std::size_t size, std::size_t alignment) noexcept override;
    /// Requires: the block lies in the arena (check arena:1), and no part of it is free already
    /// (checks arena:2, arena:3).
    void release(void* block, std::size_t size, std::size_t alignment) noexcept override;

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// Bytes that are taken now, and that were at the most.
    [[nodiscard]] std::size_t used() const noexcept;
    [[nodiscard]] std::size_t peak() const noexcept;
    /// How many blocks were refused.
    [[nodiscard]] std::size_t refused() const noexcept;

private:
    TACTUS_CHECK_MODULE("arena");

    struct gap {
        std::size_t size;
        gap* next;
    };
    static_assert(sizeof(gap) <= memory_plan::granule);

    /// Takes `size` bytes out of the gap that `*link` leads to, `before` bytes behind its begin.
    [[nodiscard]] static void* cut(gap** link, std::size_t before, std::size_t size) noexcept;

    std::byte* begin_;
    std::size_t size_ = 0;
    mutable port::mutex mutex_;
    // Under the lock.
    gap* first_ = nullptr;
    std::size_t used_ = 0;
    std::size_t peak_ = 0;
    std::size_t refused_ = 0;
};

}  // namespace tactus::inline v0
