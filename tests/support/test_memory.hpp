// SPDX-License-Identifier: Apache-2.0
//
// Memory for kernel tests: blocks of one static array, counted, and refused when told so.
//
// First fit over a table of blocks: small enough for a board, and what is not given back shows.
// Free bytes hold a pattern, so a write to a released block shows as well.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <tactus/base/memory_source.hpp>

#include "portable_test.hpp"

namespace tactus_test {

template <unsigned Blocks>
class basic_test_memory final : public tactus::memory_source {
public:
    /// Requires: `bytes` is aligned to 16.
    explicit basic_test_memory(std::span<std::byte> bytes) noexcept
        : bytes_(bytes), used_to_(bytes.data()) {
        std::fill(bytes_.begin(), bytes_.end(), free_byte);
    }

    [[nodiscard]] void* allocate(std::size_t size, std::size_t alignment) noexcept override {
        if (refusing || allowance == 0) {
            ++refused;
            return nullptr;
        }
        --allowance;
        // The first gap that has room: blocks are few.
        std::byte* at = aligned(bytes_.data(), alignment);
        for (bool moved = true; moved;) {
            moved = false;
            for (const block& b : blocks_) {
                if (b.from != nullptr && at < b.to && at + size > b.from) {
                    at = aligned(b.to, alignment);
                    moved = true;
                }
            }
        }
        if (at + size > bytes_.data() + bytes_.size())
            return nullptr;
        for (block& b : blocks_) {
            if (b.from == nullptr) {
                late_writes_ += std::count_if(at, at + size, is_written);
                b = {at, at + size};
                used_to_ = std::max(used_to_, b.to);
                live_bytes += size;
                ++live_blocks;
                if (live_bytes > peak_bytes)
                    peak_bytes = live_bytes;
                return at;
            }
        }
        return nullptr;
    }
    void release(void* from, std::size_t size, std::size_t) noexcept override {
        for (block& b : blocks_) {
            if (b.from == from && b.to == b.from + size) {
                std::fill(b.from, b.to, free_byte);
                b = {};
                live_bytes -= size;
                --live_blocks;
                return;
            }
        }
        ++wrong_releases;
    }

    /// Bytes that were written to after their block was released.
    [[nodiscard]] std::size_t late_writes() const noexcept {
        auto found = late_writes_ + std::count_if(bytes_.data(), used_to_, is_written);
        for (const block& b : blocks_)
            found -= std::count_if(b.from, b.to, is_written);
        return static_cast<std::size_t>(found);
    }

    bool refusing = false;
    std::size_t allowance = ~std::size_t{0};  // how many more blocks
    std::size_t live_bytes = 0;
    std::size_t live_blocks = 0;
    std::size_t peak_bytes = 0;
    std::size_t wrong_releases = 0;
    std::size_t refused = 0;  // because it was told so

private:
    struct block {
        std::byte* from = nullptr;
        std::byte* to = nullptr;
    };
    static constexpr std::byte free_byte{0xdb};
    [[nodiscard]] static bool is_written(std::byte b) noexcept { return b != free_byte; }
    [[nodiscard]] static std::byte* aligned(std::byte* p, std::size_t alignment) noexcept {
        const auto gap = -reinterpret_cast<std::uintptr_t>(p) & (alignment - 1);
        return p + gap;
    }

    std::span<std::byte> bytes_;
    std::byte* used_to_;  // the end of the highest block so far
    std::ptrdiff_t late_writes_ = 0;
    block blocks_[Blocks];
};
using test_memory = basic_test_memory<board::roomy ? 1'024 : 64>;

}  // namespace tactus_test
