// SPDX-License-Identifier: Apache-2.0
//
// Memory that is given: a contiguous range that may grow and shrink at its end but never moves.
//
// Portable code owns no heap; whoever builds an object hands it regions. On bare metal and for
// bounded profiles that is `fixed_memory` over an array; on a hosted system
// `tactus::runtime::virtual_memory` reserves addresses and commits pages on demand, so that a slab
// grows to millions of cells without moving one.
//
// Thread safety: none; a region has one user.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <tactus/base/check.hpp>

namespace tactus::inline v0 {

class memory_region {
public:
    memory_region(const memory_region&) = delete;
    memory_region& operator=(const memory_region&) = delete;

    /// First byte; constant for the life of the region, aligned to at least 16.
    [[nodiscard]] std::byte* data() const noexcept { return data_; }
    /// Bytes usable now.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// Bytes it can ever have.
    [[nodiscard]] std::size_t size_max() const noexcept { return size_max_; }

    /// Makes at least `bytes` usable (it may round up), or releases what lies beyond. False:
    /// refused, nothing changed. Bytes below both the old and the new size keep their contents.
    [[nodiscard]] virtual bool resize(std::size_t bytes) noexcept = 0;
    /// Gives back what lies beyond `bytes` until it is written to again: it stays usable, and reads
    /// as zeros. False: it keeps its memory, and nothing changed.
    [[nodiscard]] virtual bool forget(std::size_t) noexcept { return false; }

protected:
    memory_region() = default;
    ~memory_region() = default;  // regions are never deleted through this type

    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t size_max_ = 0;
};

/// A region over memory the caller owns; it is all usable from the start and is never released.
/// Requires: it is aligned to 16 bytes, as `alignas(16) std::array<std::byte, n>` (check
/// fixed_memory:1).
class fixed_memory final : public memory_region {
public:
    static constexpr std::size_t alignment = 16;

    explicit fixed_memory(std::span<std::byte> bytes) noexcept {
        TACTUS_CHECK(1, reinterpret_cast<std::uintptr_t>(bytes.data()) % alignment == 0);
        data_ = bytes.data();
        size_ = bytes.size();
        size_max_ = bytes.size();
    }

    [[nodiscard]] bool resize(std::size_t bytes) noexcept override { return bytes <= size_max_; }

private:
    TACTUS_CHECK_MODULE("fixed_memory");
};

}  // namespace tactus::inline v0
