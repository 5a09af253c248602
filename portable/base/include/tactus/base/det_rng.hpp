// SPDX-License-Identifier: Apache-2.0
//
// Deterministic random numbers (DT-1): xorshift64 with shifts 13, 7, 17.
//
// The stream is part of the written contract: a seed gives the same numbers on every compiler, word
// size and build. Seed 0 becomes 1, since zero is the one state xorshift never leaves. Bounded
// draws reject instead of folding, so no value is favoured; a rejected draw moves the stream like
// any other.
//
// Thread safety: none; each stream has one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace tactus::inline v0 {

class det_rng {
public:
    explicit constexpr det_rng(std::uint64_t seed) noexcept : state_(seed == 0 ? 1 : seed) {}

    [[nodiscard]] constexpr std::uint64_t next_u64() noexcept {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return state_;
    }

    /// The upper half of one draw: the lower bits of xorshift are its weaker ones.
    [[nodiscard]] constexpr std::uint32_t next_u32() noexcept {
        return static_cast<std::uint32_t>(next_u64() >> 32);
    }

    /// One draw; true when its lowest bit is set.
    [[nodiscard]] constexpr bool next_bool() noexcept { return (next_u64() & 1) != 0; }

    /// A number in [0, bound), each equally likely. A bound of 0 is taken as 1, so the result is
    /// always usable. Draws at least once, also for a bound of 1: the stream moves the same way
    /// whatever the bound.
    [[nodiscard]] constexpr std::uint64_t below(std::uint64_t bound) noexcept {
        if (bound == 0)
            bound = 1;
        // Everything from the largest multiple of bound upwards is rejected: the incomplete last
        // group.
        const std::uint64_t remainder = (~std::uint64_t{0} % bound + 1) % bound;
        for (;;) {
            const std::uint64_t drawn = next_u64();
            if (drawn <= ~std::uint64_t{0} - remainder)
                return drawn % bound;
        }
    }

    /// Fills with the little-endian bytes of successive draws; the last draw may be used in part.
    constexpr void fill(std::span<std::uint8_t> bytes) noexcept {
        for (std::size_t at = 0; at < bytes.size(); at += 8) {
            std::uint64_t drawn = next_u64();
            for (std::size_t i = at; i < bytes.size() && i < at + 8; ++i, drawn >>= 8)
                bytes[i] = static_cast<std::uint8_t>(drawn & 0xff);
        }
    }

    /// Fisher-Yates from the back: element i swaps with one of [0, i].
    template <class T>
    constexpr void shuffle(std::span<T> items) noexcept {
        for (std::size_t i = items.size(); i > 1; --i) {
            const auto other = static_cast<std::size_t>(below(i));
            std::swap(items[i - 1], items[other]);
        }
    }

    /// The state, which is also the last number drawn: enough to continue the stream elsewhere.
    [[nodiscard]] constexpr std::uint64_t state() const noexcept { return state_; }

private:
    std::uint64_t state_;
};

}  // namespace tactus::inline v0
