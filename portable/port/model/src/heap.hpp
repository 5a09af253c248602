// SPDX-License-Identifier: Apache-2.0
//
// Memory of one execution: an arena for each thread, so that an address depends on what its thread
// did and not on the schedule, and the ranges that must not be touched.
//
// Nothing is used twice within an execution: a use after free finds the dead object, and an address
// that comes again (ABA) has to come from the program's own pool.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "operation.hpp"

namespace tactus::inline v0::port::model::detail {

class arena {
public:
    /// Zeroed memory. Requires: alignment is a power of two.
    [[nodiscard]] void* take(std::size_t size, std::size_t alignment) {
        for (;; ++chunk_, used_ = 0) {
            if (chunk_ == chunks_.size())
                add(std::max(chunk_size, size + alignment));
            const auto base = reinterpret_cast<std::uintptr_t>(chunks_[chunk_].memory.get());
            const std::uintptr_t at = (base + used_ + alignment - 1) & ~(alignment - 1);
            if (at + size > base + chunks_[chunk_].size)
                continue;
            used_ = at + size - base;
            void* memory = reinterpret_cast<void*>(at);
            std::memset(memory, 0, size);
            return memory;
        }
    }
    void clear() noexcept {
        chunk_ = 0;
        used_ = 0;
    }

private:
    static constexpr std::size_t chunk_size = 64 * 1024;
    struct chunk {
        std::unique_ptr<std::byte[]> memory;
        std::size_t size;
    };
    void add(std::size_t size) {
        chunks_.push_back({std::make_unique_for_overwrite<std::byte[]>(size), size});
    }

    std::vector<chunk> chunks_;
    std::size_t chunk_ = 0;
    std::size_t used_ = 0;
};

struct allocation {
    const std::byte* begin;
    std::size_t size;
    std::uint8_t maker;
    bool freed = false;
    std::uint8_t freer = 0;
    where at;
    where freed_at{};
};

struct poisoned_range {
    const std::byte* begin;
    const std::byte* end;
    std::uint8_t thread;
    where at;
};

class poison_map {
public:
    void clear() noexcept { ranges_.clear(); }
    [[nodiscard]] const poisoned_range* find(const void* address) const noexcept {
        const auto* at = static_cast<const std::byte*>(address);
        for (const poisoned_range& r : ranges_)
            if (at >= r.begin && at < r.end)
                return &r;
        return nullptr;
    }
    void add(const poisoned_range& r) { ranges_.push_back(r); }
    void remove(const std::byte* begin, const std::byte* end) {
        for (std::size_t i = ranges_.size(); i-- > 0;) {
            const poisoned_range old = ranges_[i];
            if (old.end <= begin || old.begin >= end)
                continue;
            ranges_.erase(ranges_.begin() + static_cast<std::ptrdiff_t>(i));
            if (old.begin < begin)
                ranges_.push_back({old.begin, begin, old.thread, old.at});
            if (old.end > end)
                ranges_.push_back({end, old.end, old.thread, old.at});
        }
    }

private:
    std::vector<poisoned_range> ranges_;
};

}  // namespace tactus::inline v0::port::model::detail
