// SPDX-License-Identifier: Apache-2.0
//
// Fixed bitmap with searches: which of N slots are occupied, and which comes next.
//
// 64-bit words, found by count-trailing-zeros; N is a compile-time constant, so a search over 256
// bits is at most four words and unrolls.
//
// Thread safety: none.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tactus::inline v0 {

template <std::size_t BitCount>
class bitmap {
    static_assert(BitCount > 0 && BitCount % 64 == 0, "whole words only");

public:
    /// What a search returns when no bit is set in its range.
    static constexpr std::size_t none = BitCount;

    constexpr void set(std::size_t bit) noexcept { words_[bit / 64] |= mask(bit); }
    constexpr void clear(std::size_t bit) noexcept { words_[bit / 64] &= ~mask(bit); }
    [[nodiscard]] constexpr bool test(std::size_t bit) const noexcept {
        return (words_[bit / 64] & mask(bit)) != 0;
    }

    [[nodiscard]] constexpr bool empty() const noexcept {
        std::uint64_t any = 0;
        for (const std::uint64_t word : words_)
            any |= word;
        return any == 0;
    }

    [[nodiscard]] constexpr std::size_t count() const noexcept {
        std::size_t sum = 0;
        for (const std::uint64_t word : words_)
            sum += static_cast<std::size_t>(std::popcount(word));
        return sum;
    }

    /// The lowest set bit at or above `from`, or `none`. `from` may be `BitCount` (an empty range).
    [[nodiscard]] constexpr std::size_t first_from(std::size_t from) const noexcept {
        if (from >= BitCount)
            return none;
        std::size_t word_index = from / 64;
        std::uint64_t word = words_[word_index] & (~std::uint64_t{0} << (from % 64));
        while (word == 0) {
            if (++word_index == words_.size())
                return none;
            word = words_[word_index];
        }
        return word_index * 64 + static_cast<std::size_t>(std::countr_zero(word));
    }

private:
    static constexpr std::uint64_t mask(std::size_t bit) noexcept {
        return std::uint64_t{1} << (bit % 64);
    }

    std::array<std::uint64_t, BitCount / 64> words_{};
};

}  // namespace tactus::inline v0
