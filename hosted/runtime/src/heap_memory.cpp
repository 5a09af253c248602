// SPDX-License-Identifier: Apache-2.0
//
// Blocks from operator new, refused instead of thrown.
#include <tactus/runtime/heap_memory.hpp>

#include <new>

namespace tactus::inline v0::runtime {

// The aligned ones cost several times as much, and nearly nobody needs them.
void* heap_memory::allocate(std::size_t size, std::size_t alignment) noexcept {
    if (alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__)
        return ::operator new(size, std::nothrow);
    return ::operator new(size, std::align_val_t{alignment}, std::nothrow);
}

void heap_memory::release(void* block, std::size_t, std::size_t alignment) noexcept {
    if (alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
        ::operator delete(block);
        return;
    }
    ::operator delete(block, std::align_val_t{alignment});
}

}  // namespace tactus::inline v0::runtime
