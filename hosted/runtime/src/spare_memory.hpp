// SPDX-License-Identifier: Apache-2.0
//
// Spare memory: a reserve for requests that must not be refused.
//
// The layers below treat a refused request while a system is built, and one for a lane, as a bug
// (a check). On a host memory may run out, so such requests come here when the heap refuses them.
// The reserve is mapped at construction: using it later never asks the operating system.
//
// Blocks of the reserve are not given out again. The owner asks was_used() after construction and
// throws what it built away.
//
// Thread safety: any thread.
#pragma once

#include <atomic>
#include <cstddef>

#include <tactus/base/memory_source.hpp>
#include <tactus/runtime/heap_memory.hpp>
#include <tactus/runtime/virtual_memory.hpp>

namespace tactus::inline v0::runtime {

class spare_memory {
public:
    explicit spare_memory(std::size_t bytes) noexcept
        : region_(bytes), usable_(region_.resize(region_.size_max())) {}

    /// False: there are no addresses for it.
    [[nodiscard]] bool usable() const noexcept { return usable_ && region_.size_max() != 0; }
    [[nodiscard]] bool was_used() const noexcept {
        return taken_.load(std::memory_order_relaxed) != 0;
    }
    /// Null when the reserve is used up.
    [[nodiscard]] void* take(std::size_t size, std::size_t alignment) noexcept;
    [[nodiscard]] bool owns(const void* block) const noexcept {
        const auto* at = static_cast<const std::byte*>(block);
        return at >= region_.data() && at < region_.data() + region_.size_max();
    }

    /// The heap, and the reserve behind it until settle().
    class source final : public memory_source {
    public:
        explicit source(spare_memory& behind) noexcept : behind_(behind) {}
        [[nodiscard]] void* allocate(std::size_t size, std::size_t alignment) noexcept override;
        void release(void* block, std::size_t size, std::size_t alignment) noexcept override;
        /// From here on it refuses what the heap refuses.
        void settle() noexcept { settled_.store(true, std::memory_order_relaxed); }

    private:
        [[gnu::noinline]] void* allocate_or_take(std::size_t size, std::size_t alignment) noexcept;

        spare_memory& behind_;
        heap_memory heap_;
        std::atomic<bool> settled_{false};  // stands alone
    };

private:
    virtual_memory region_;
    const bool usable_;
    std::atomic<std::size_t> taken_{0};  // a count; blocks are handed over by their users
};

}  // namespace tactus::inline v0::runtime
