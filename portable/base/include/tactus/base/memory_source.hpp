// SPDX-License-Identifier: Apache-2.0
//
// Where blocks of any size come from: payloads too large for an envelope, and whatever else is rare
// enough not to have a pool. Handed in by whoever builds the system; the hosted runtime has one
// over the heap, bare metal one over an array or none.
//
// Thread safety: the implementation's to give; the kernel calls from any thread.
#pragma once

#include <cstddef>

namespace tactus::inline v0 {

class memory_source {
public:
    memory_source(const memory_source&) = delete;
    memory_source& operator=(const memory_source&) = delete;

    /// A block, or nullptr when there is none. `alignment` is a power of two.
    [[nodiscard]] virtual void* allocate(std::size_t size, std::size_t alignment) noexcept = 0;
    /// Requires: the block came from allocate with the same size and alignment.
    virtual void release(void* block, std::size_t size, std::size_t alignment) noexcept = 0;

protected:
    memory_source() = default;
    ~memory_source() = default;
};

/// A block in which nothing was made yet: given back if the constructor throws.
struct unused_block {
    memory_source& memory;
    void* place;  // null: it is used
    std::size_t size;
    std::size_t alignment;
    unused_block(memory_source& of, void* block, std::size_t bytes, std::size_t aligned) noexcept
        : memory(of), place(block), size(bytes), alignment(aligned) {}
    unused_block(const unused_block&) = delete;
    unused_block& operator=(const unused_block&) = delete;
    ~unused_block() {
        if (place != nullptr)
            memory.release(place, size, alignment);
    }
};

}  // namespace tactus::inline v0
