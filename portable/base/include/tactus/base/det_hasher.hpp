// SPDX-License-Identifier: Apache-2.0
//
// Deterministic hash (DT-1): the same bytes give the same 64 bits everywhere, in every build.
//
// Each byte multiplies the state and is then xored in; `finish` applies murmur3's finaliser.
// Integers are fed as their little-endian bytes and sizes as 8 bytes, whatever the machine's own
// order and width. `finish` does not change the state, so a running hash can be looked at any time.
//
// For fingerprints of schedules and states. Not for hash tables with hostile keys, and not
// cryptographic.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace tactus::inline v0 {

class det_hasher {
public:
    constexpr void add_byte(std::uint8_t byte) noexcept { state_ = (state_ * multiplier) ^ byte; }

    constexpr void add_bytes(std::span<const std::uint8_t> bytes) noexcept {
        for (const std::uint8_t byte : bytes)
            add_byte(byte);
    }

    /// Feeds an integer of fixed width as its little-endian bytes. `std::size_t` and friends go
    /// through add_size.
    template <std::integral T>
    constexpr void add(T value) noexcept {
        if constexpr (std::same_as<T, bool>) {
            add_byte(value ? 1 : 0);
        } else {
            auto rest = static_cast<std::make_unsigned_t<T>>(value);
            for (std::size_t i = 0; i < sizeof(T); ++i) {
                add_byte(static_cast<std::uint8_t>(rest & 0xff));
                if constexpr (sizeof(T) > 1)
                    rest = static_cast<std::make_unsigned_t<T>>(rest >> 8);
            }
        }
    }

    /// Feeds a size as 8 bytes, so that 32-bit and 64-bit machines agree.
    constexpr void add_size(std::size_t size) noexcept { add(static_cast<std::uint64_t>(size)); }

    [[nodiscard]] constexpr std::uint64_t finish() const noexcept {
        std::uint64_t h = state_;
        h ^= h >> 33;
        h *= 0xff51afd7ed558ccd;
        h ^= h >> 33;
        h *= 0xc4ceb9fe1a85ec53;
        h ^= h >> 33;
        return h;
    }

private:
    static constexpr std::uint64_t start = 0x16f11fe89b0d677c;
    static constexpr std::uint64_t multiplier = 0x517cc1b727220a95;

    std::uint64_t state_ = start;
};

}  // namespace tactus::inline v0
