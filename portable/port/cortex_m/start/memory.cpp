// SPDX-License-Identifier: Apache-2.0
//
// The heap that closes: every way to allocate that the compiler and the C library know ends here.
//
// Replacing the reentrant entry points of newlib as well keeps its own allocator out of the image;
// _sbrk, from which that would take its memory, traps to prove it.
#include <tactus/port/memory_use.hpp>

#include <tactus/base/check.hpp>

#include <cstring>
#include <new>

#include "linker_symbols.hpp"

namespace {

TACTUS_CHECK_MODULE("heap");

constexpr std::size_t granule = alignof(std::max_align_t);

constinit std::size_t used = 0;
constinit bool closed = false;

// nullptr: the region is used up. The alignment is a power of two.
void* take(std::size_t size, std::size_t alignment = granule) noexcept {
    TACTUS_CHECK(1, !closed);
    const auto region = reinterpret_cast<std::uintptr_t>(tactus_heap_begin);
    const auto region_end = reinterpret_cast<std::uintptr_t>(tactus_heap_end);
    const std::uintptr_t first = (region + used + alignment - 1) & ~(alignment - 1);
    if (first > region_end || size > region_end - first)
        return nullptr;
    used = first - region + size;
    return reinterpret_cast<void*>(first);
}

void* take_or_trap(std::size_t size, std::size_t alignment = granule) noexcept {
    void* const memory = take(size, alignment);
    TACTUS_CHECK(3, memory != nullptr);
    return memory;
}

void give_back(const void* memory) noexcept {
    TACTUS_CHECK(2, !closed || memory == nullptr);
}

void* take_zeroed(std::size_t count, std::size_t size) noexcept {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes))
        return nullptr;
    void* const memory = take(bytes);
    if (memory != nullptr)
        std::memset(memory, 0, bytes);
    return memory;
}

// The old size is not known, so the copy may take bytes of the neighbour along: harmless, it only
// reads, and never beyond what was handed out.
void* take_again(void* memory, std::size_t size) noexcept {
    const std::size_t end = used;
    void* const moved = take(size);
    if (moved == nullptr || memory == nullptr)
        return moved;
    const auto handed_out =
        static_cast<std::size_t>(tactus_heap_begin + end - static_cast<const std::byte*>(memory));
    std::memcpy(moved, memory, size < handed_out ? size : handed_out);
    return moved;
}

}  // namespace

namespace tactus::inline v0::port {

void heap_close() noexcept {
    closed = true;
}

std::size_t heap_used() noexcept {
    return used;
}

std::size_t static_size() noexcept {
    return static_cast<std::size_t>(tactus_data_end - tactus_data_begin + tactus_bss_end -
                                    tactus_bss_begin) *
           sizeof(std::uint32_t);
}

std::size_t stack_peak() noexcept {
    const volatile std::uint32_t* word = tactus_stack_limit;
    while (word != tactus_stack_top && *word == stack_paint)
        ++word;
    return static_cast<std::size_t>(tactus_stack_top - word) * sizeof *word;
}

std::size_t stack_size() noexcept {
    return static_cast<std::size_t>(tactus_stack_top - tactus_stack_limit) * sizeof(std::uint32_t);
}

}  // namespace tactus::inline v0::port

extern "C" {

struct _reent;

void* malloc(std::size_t size) {
    return take(size);
}
void free(void* memory) {
    give_back(memory);
}
void* calloc(std::size_t count, std::size_t size) {
    return take_zeroed(count, size);
}
void* realloc(void* memory, std::size_t size) {
    return take_again(memory, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
    return take(size, alignment);
}
void* memalign(std::size_t alignment, std::size_t size) {
    return take(size, alignment);
}

void* _malloc_r(_reent*, std::size_t size) {
    return take(size);
}
void _free_r(_reent*, void* memory) {
    give_back(memory);
}
void* _calloc_r(_reent*, std::size_t count, std::size_t size) {
    return take_zeroed(count, size);
}
void* _realloc_r(_reent*, void* memory, std::size_t size) {
    return take_again(memory, size);
}

void* _sbrk(std::ptrdiff_t) {
    tactus::fatal(tactus_check_module, 4);
}

}  // extern "C"

void* operator new(std::size_t size) {
    return take_or_trap(size);
}
void* operator new[](std::size_t size) {
    return take_or_trap(size);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    return take_or_trap(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
    return take_or_trap(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return take(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    return take(size);
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return take(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return take(size, static_cast<std::size_t>(alignment));
}

void operator delete(void* memory) noexcept {
    give_back(memory);
}
void operator delete[](void* memory) noexcept {
    give_back(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    give_back(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
    give_back(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
    give_back(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
    give_back(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    give_back(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
    give_back(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
    give_back(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
    give_back(memory);
}
