// SPDX-License-Identifier: Apache-2.0
//
// Memory plan: how many bytes of an arena some blocks take, added up when compiling (PT-7).
//
// Whoever takes blocks of a memory source when it is built says which, so that a device knows
// before it starts how large its arena must be. The sum is what the blocks take in the worst order:
// sizes in whole granules, and for each block with a larger alignment what may be lost in front of
// it.
#pragma once

#include <cstddef>

namespace tactus::inline v0 {

class memory_plan {
public:
    /// Blocks of an arena begin at multiples of this, and have a multiple of it.
    static constexpr std::size_t granule = alignof(std::max_align_t) < 2 * sizeof(void*)
                                               ? 2 * sizeof(void*)
                                               : alignof(std::max_align_t);

    [[nodiscard]] static constexpr std::size_t rounded(std::size_t size) noexcept {
        return (size + granule - 1) / granule * granule;
    }

    constexpr memory_plan& block(std::size_t size, std::size_t alignment,
                                 std::size_t count = 1) noexcept {
        const std::size_t lost = alignment > granule ? alignment - granule : 0;
        bytes_ += count * (rounded(size) + lost);
        return *this;
    }
    /// One block with so many T.
    template <class T>
    constexpr memory_plan& array(std::size_t count) noexcept {
        return block(count * sizeof(T), alignof(T));
    }
    /// So many blocks with one T each.
    template <class T>
    constexpr memory_plan& objects(std::size_t count = 1) noexcept {
        return block(sizeof(T), alignof(T), count);
    }
    constexpr memory_plan& plus(const memory_plan& other) noexcept {
        bytes_ += other.bytes_;
        return *this;
    }

    [[nodiscard]] constexpr std::size_t bytes() const noexcept { return bytes_; }

private:
    std::size_t bytes_ = 0;
};

}  // namespace tactus::inline v0
