// SPDX-License-Identifier: Apache-2.0
//
// First fit, and joining neighbours.
#include <tactus/dispatch/arena.hpp>

#include <cstdint>
#include <new>

namespace tactus::inline v0 {
namespace {

constexpr std::size_t gap_to(const void* p, std::size_t alignment) noexcept {
    return -reinterpret_cast<std::uintptr_t>(p) & (alignment - 1);
}
std::byte* end_of(void* block, std::size_t size) noexcept {
    return static_cast<std::byte*>(block) + size;
}

}  // namespace

arena::arena(std::span<std::byte> bytes) noexcept : begin_(bytes.data()) {
    const std::size_t lost = gap_to(begin_, memory_plan::granule);
    if (bytes.size() < lost + memory_plan::granule)
        return;
    begin_ += lost;
    size_ = (bytes.size() - lost) / memory_plan::granule * memory_plan::granule;
    first_ = ::new (begin_) gap{size_, nullptr};
}

void* arena::cut(gap** link, std::size_t before, std::size_t size) noexcept {
    gap* const from = *link;
    gap* const next = from->next;
    const std::size_t behind = from->size - before - size;
    std::byte* const block = end_of(from, before);
    gap* rest = next;
    if (behind != 0)
        rest = ::new (block + size) gap{behind, next};
    if (before != 0) {
        from->size = before;
        from->next = rest;
    } else {
        *link = rest;
    }
    return block;
}

void* arena::allocate(std::size_t size, std::size_t alignment) noexcept {
    if (size <= size_) {
        // A block of nothing has an address of its own, too.
        const std::size_t taken = size == 0 ? memory_plan::granule : memory_plan::rounded(size);
        const port::lock_guard held(mutex_);
        for (gap** link = &first_; *link != nullptr; link = &(*link)->next) {
            const std::size_t before = gap_to(*link, alignment);
            if ((*link)->size < before + taken)
                continue;
            used_ += taken;
            if (used_ > peak_)
                peak_ = used_;
            return cut(link, before, taken);
        }
    }
    const port::lock_guard held(mutex_);
    ++refused_;
    return nullptr;
}

void arena::release(void* block, std::size_t size, std::size_t) noexcept {
    const std::size_t given = size == 0 ? memory_plan::granule : memory_plan::rounded(size);
    auto* const at = static_cast<std::byte*>(block);
    TACTUS_CHECK(1, at >= begin_ && at + given <= begin_ + size_);
    const port::lock_guard held(mutex_);
    gap* before = nullptr;
    gap* after = first_;
    while (after != nullptr && reinterpret_cast<std::byte*>(after) < at) {
        before = after;
        after = after->next;
    }
    TACTUS_CHECK(2, before == nullptr || end_of(before, before->size) <= at);
    TACTUS_CHECK(3, after == nullptr || at + given <= reinterpret_cast<std::byte*>(after));
    used_ -= given;
    gap* mine = ::new (block) gap{given, after};
    if (after != nullptr && at + given == reinterpret_cast<std::byte*>(after)) {
        mine->size += after->size;
        mine->next = after->next;
    }
    if (before == nullptr) {
        first_ = mine;
    } else if (end_of(before, before->size) == at) {
        before->size += mine->size;
        before->next = mine->next;
    } else {
        before->next = mine;
    }
}

std::size_t arena::used() const noexcept {
    const port::lock_guard held(mutex_);
    return used_;
}
std::size_t arena::peak() const noexcept {
    const port::lock_guard held(mutex_);
    return peak_;
}
std::size_t arena::refused() const noexcept {
    const port::lock_guard held(mutex_);
    return refused_;
}

}  // namespace tactus::inline v0
