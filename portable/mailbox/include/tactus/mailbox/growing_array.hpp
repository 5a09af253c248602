// SPDX-License-Identifier: Apache-2.0
//
// Growing array: an array that doubles, of a memory source; the storage of queues.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <new>

#include <tactus/base/memory_source.hpp>

namespace tactus::inline v0 {

/// The elements are plain data.
template <class Entry>
class growing_array {
public:
    explicit growing_array(memory_source& memory) noexcept : memory_(memory) {}
    ~growing_array() {
        if (entries_ != nullptr)
            memory_.release(entries_, capacity_ * sizeof(Entry), alignof(Entry));
    }
    growing_array(const growing_array&) = delete;
    growing_array& operator=(const growing_array&) = delete;

    [[nodiscard]] std::uint32_t capacity() const noexcept { return capacity_; }
    [[nodiscard]] Entry& operator[](std::uint32_t i) noexcept { return entries_[i]; }
    /// Twice as large; what `from(i)` says goes to place i, for the `count` first. False: no
    /// memory, and nothing has changed.
    template <class From>
    [[nodiscard]] bool grow(std::uint32_t count, From&& from) noexcept {
        const std::uint32_t wider = capacity_ == 0 ? first_capacity : 2 * capacity_;
        auto* fresh = static_cast<Entry*>(memory_.allocate(wider * sizeof(Entry), alignof(Entry)));
        if (fresh == nullptr)
            return false;
        for (std::uint32_t i = 0; i < count; ++i)
            ::new (&fresh[i]) Entry(from(i));
        if (entries_ != nullptr)
            memory_.release(entries_, capacity_ * sizeof(Entry), alignof(Entry));
        entries_ = fresh;
        capacity_ = wider;
        return true;
    }

private:
    static constexpr std::uint32_t first_capacity = 16;

    memory_source& memory_;
    Entry* entries_ = nullptr;
    std::uint32_t capacity_ = 0;  // a power of two, or 0
};

}  // namespace tactus::inline v0
